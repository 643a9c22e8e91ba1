//! Addition, subtraction and negation of everything that is a fixed number of coefficients.

/// Implements `+`, `-` and unary `-` of a struct with one type parameter, coefficient by coefficient.
macro_rules! linear {
    ($name:ident { $($part:ident),+ }) => {
        impl<F: residue_formula::Fe> core::ops::Add for $name<F> {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                $name { $($part: self.$part + other.$part),+ }
            }
        }

        impl<F: residue_formula::Fe> core::ops::Sub for $name<F> {
            type Output = Self;

            fn sub(self, other: Self) -> Self {
                $name { $($part: self.$part - other.$part),+ }
            }
        }

        impl<F: residue_formula::Fe> core::ops::Neg for $name<F> {
            type Output = Self;

            fn neg(self) -> Self {
                $name { $($part: -self.$part),+ }
            }
        }
    };
}
