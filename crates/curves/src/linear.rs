//! Addition, subtraction and negation of everything that is a fixed number of coefficients.

/// Implements `+`, `-` and unary `-` of a struct over a tower, coefficient by coefficient.
macro_rules! linear {
    ($name:ident <$tower:ident : $bound:path> { $($part:ident),+ }) => {
        impl<F: residue_formula::Fe, $tower: $bound> core::ops::Add for $name<F, $tower> {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                $name { $($part: self.$part + other.$part),+ }
            }
        }

        impl<F: residue_formula::Fe, $tower: $bound> core::ops::Sub for $name<F, $tower> {
            type Output = Self;

            fn sub(self, other: Self) -> Self {
                $name { $($part: self.$part - other.$part),+ }
            }
        }

        impl<F: residue_formula::Fe, $tower: $bound> core::ops::Neg for $name<F, $tower> {
            type Output = Self;

            fn neg(self) -> Self {
                $name { $($part: -self.$part),+ }
            }
        }
    };
}
