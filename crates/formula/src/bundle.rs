//! Bundles: fixed-shape groups of field values, which functions take and return, loops carry and arrays hold.

use alloc::vec::Vec;

use crate::fe::Fe;

/// A group of values of type `F` with a fixed number of them: an Fp12 element, a point, a tuple of both.
///
/// `collect` and `build` are inverse to each other and visit the values in the same order.
pub trait Bundle<F>: Sized {
    /// Number of field values in the group.
    const LEN: usize;

    /// Appends the values to `values`.
    fn collect(&self, values: &mut Vec<F>);

    /// Takes `LEN` values from `values`. Panics if there are fewer: the callers in this crate count them.
    fn build(values: &mut impl Iterator<Item = F>) -> Self;

    /// The values as a list of `LEN`.
    fn to_list(&self) -> Vec<F> {
        let mut values = Vec::with_capacity(Self::LEN);
        self.collect(&mut values);
        values
    }

    /// The group made of a list of `LEN` values.
    fn from_list(values: Vec<F>) -> Self {
        assert_eq!(values.len(), Self::LEN, "a bundle is built of exactly its own number of values");
        Self::build(&mut values.into_iter())
    }
}

impl<F: Fe> Bundle<F> for F {
    const LEN: usize = 1;

    fn collect(&self, values: &mut Vec<F>) {
        values.push(*self);
    }

    fn build(values: &mut impl Iterator<Item = F>) -> Self {
        values.next().expect("callers supply LEN values")
    }
}

impl<F: Fe> Bundle<F> for () {
    const LEN: usize = 0;

    fn collect(&self, _: &mut Vec<F>) {}

    fn build(_: &mut impl Iterator<Item = F>) -> Self {}
}

impl<F: Fe, B: Bundle<F>, const N: usize> Bundle<F> for [B; N] {
    const LEN: usize = N * B::LEN;

    fn collect(&self, values: &mut Vec<F>) {
        for part in self {
            part.collect(values);
        }
    }

    fn build(values: &mut impl Iterator<Item = F>) -> Self {
        core::array::from_fn(|_| B::build(values))
    }
}

/// Bundles of two to four parts.
macro_rules! tuples {
    ($($name:ident . $index:tt),+) => {
        impl<F: Fe, $($name: Bundle<F>),+> Bundle<F> for ($($name,)+) {
            const LEN: usize = 0 $(+ $name::LEN)+;

            fn collect(&self, values: &mut Vec<F>) {
                $(self.$index.collect(values);)+
            }

            fn build(values: &mut impl Iterator<Item = F>) -> Self {
                ($($name::build(values),)+)
            }
        }
    };
}

tuples!(A.0, B.1);
tuples!(A.0, B.1, C.2);
tuples!(A.0, B.1, C.2, D.3);

/// Implements [`Bundle`] for a struct with the type parameter `F`, or `F` and one more, and the named parts, in that order.
#[macro_export]
macro_rules! bundle {
    ($name:ident $(<$param:ident : $bound:path>)? { $($part:ident : $kind:ty),+ $(,)? }) => {
        impl<F: $crate::Fe $(, $param: $bound)?> $crate::bundle::Bundle<F> for $name<F $(, $param)?> {
            const LEN: usize = 0 $(+ <$kind as $crate::bundle::Bundle<F>>::LEN)+;

            fn collect(&self, values: &mut Vec<F>) {
                $(self.$part.collect(values);)+
            }

            fn build(values: &mut impl Iterator<Item = F>) -> Self {
                $(let $part = <$kind as $crate::bundle::Bundle<F>>::build(values);)+
                $name { $($part),+ }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::{Add, Mul, Neg, Sub};

    /// An element of the field of 97.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Small(u64);

    impl Add for Small {
        type Output = Self;

        fn add(self, other: Self) -> Self {
            Self((self.0 + other.0) % 97)
        }
    }

    impl Sub for Small {
        type Output = Self;

        fn sub(self, other: Self) -> Self {
            self + -other
        }
    }

    impl Mul for Small {
        type Output = Self;

        fn mul(self, other: Self) -> Self {
            Self(self.0 * other.0 % 97)
        }
    }

    impl Neg for Small {
        type Output = Self;

        fn neg(self) -> Self {
            Self((97 - self.0) % 97)
        }
    }

    impl Fe for Small {}

    #[derive(Debug, PartialEq)]
    struct Pair<F> {
        first: F,
        rest: [F; 2],
    }

    bundle!(Pair { first: F, rest: [F; 2] });

    /// The bundle of 10, 11, …, and back.
    fn check<B: Bundle<Small> + std::fmt::Debug + PartialEq>(len: usize, expected: B) {
        assert_eq!(B::LEN, len);
        let values: Vec<Small> = (10..10 + len as u64).map(Small).collect();
        assert_eq!(expected.to_list(), values);
        assert_eq!(B::from_list(values), expected);
        let more = vec![Small(1); len + 1];
        assert!(std::panic::catch_unwind(|| B::from_list(more)).is_err(), "more values than it has");
    }

    #[test]
    fn bundles_are_their_values_in_order() {
        let f = Small;
        check(0, ());
        check(1, f(10));
        check(3, [f(10), f(11), f(12)]);
        check(6, [[f(10), f(11), f(12)], [f(13), f(14), f(15)]]);
        check(3, (f(10), [f(11), f(12)]));
        check(4, (f(10), [f(11), f(12)], f(13)));
        check(4, ((f(10), f(11)), (), f(12), [f(13)]));
        check(3, Pair { first: f(10), rest: [f(11), f(12)] });
    }
}
