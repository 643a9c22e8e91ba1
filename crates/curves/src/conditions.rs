//! Conditions on field values, gathered so that one comparison decides many of them.
//!
//! Comparing costs much more than arithmetic, so conditions of the form “these values are zero” and “this value is not”
//! are folded: where −n is no square, a² + n·b² = 0 in Fp only if a = b = 0; and a·b ≠ 0 only if neither is 0. For p ≡ 3 mod 4, n = 1.

use crate::tower::times_small;
use residue_formula::{Fe, bundle};
use residue_ir::{Machine, WordOp};

/// Holds if `vanishing` is zero and `invertible` is not.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<F> {
    /// Zero exactly if every value that should be is.
    pub vanishing: F,
    /// Not zero exactly if no value that should not be is.
    pub invertible: F,
}

bundle!(Conditions { vanishing: F, invertible: F });

/// A value that is zero exactly if all of `values` are, of which there is at least one.
/// The first half is folded with the second until one is left: lanes of one instruction square and add them.
pub fn all_vanish<F: Fe>(values: &[F]) -> F {
    let mut values = values.to_vec();
    while values.len() > 1 {
        let odd = values.len() % 2;
        let rest = values.split_off(values.len() - odd);
        let squares: Vec<F> = values.iter().map(|&value| value.square()).collect();
        let (first, second) = squares.split_at(squares.len() / 2);
        let norm = |(&a, &b): (&F, &F)| a + times_small(b, b.n_of_norms());
        values = first.iter().zip(second).map(norm).chain(rest).collect();
    }
    values.pop().expect("there is at least one value")
}

impl<F: Fe> Conditions<F> {
    /// Conditions that always hold: the start of a loop over conditions.
    pub fn none<M: Machine<Fe = F>>(machine: &M) -> Self {
        Self { vanishing: machine.zero(), invertible: machine.one() }
    }

    /// Holds if these do and `value` is zero.
    #[must_use]
    pub fn and_vanishes(self, value: F) -> Self {
        Self { vanishing: all_vanish(&[self.vanishing, value]), ..self }
    }

    /// Holds if both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { invertible: self.invertible * other.invertible, ..self.and_vanishes(other.vanishing) }
    }

    /// 1 if the conditions hold, else 0.
    pub fn hold<M: Machine<Fe = F>>(self, machine: &M) -> M::Word {
        let vanishes = machine.is_zero(self.vanishing);
        let invertible = machine.not(machine.is_zero(self.invertible));
        machine.word_op(WordOp::And, vanishes, invertible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_formula::Number;
    use residue_ir::Numbers;
    use residue_modular::fields::{Bls12_377Fp, Bls12_381Fp};
    use ruint::aliases::U256;

    #[test]
    fn conditions_hold_only_if_all_do() {
        judged(Bls12_381Fp::from_u64);
        judged(Bls12_377Fp::from_u64);
    }

    /// If −1 is a square, 1² + √−1² = 0.
    #[test]
    fn squares_that_cancel_do_not_vanish() {
        let five = Bls12_377Fp::from_u64(5);
        let root = five.pow(&((Bls12_377Fp::modulus() - 1u32) / 4u32));
        let one = Bls12_377Fp::ONE;
        assert_eq!(root.square() + one, Bls12_377Fp::ZERO);
        assert_ne!(all_vanish(&[one, root]), Bls12_377Fp::ZERO);
        assert_eq!(five.n_of_norms(), 5);
        assert_eq!(Bls12_381Fp::ONE.n_of_norms(), 1);
    }

    fn judged<N: Number>(number: impl Fn(u64) -> N) {
        let machine = Numbers::<N>::new(Vec::new());
        for case in 0..32u64 {
            let bit = |index: u64| number(case >> index & 1);
            let first = Conditions { vanishing: all_vanish(&[bit(0), bit(1)]), invertible: bit(2) };
            let both = first.and(Conditions { vanishing: bit(3), invertible: bit(4) });
            let expected = case == 0b1_0100;
            assert_eq!(both.hold(&machine), U256::from(expected), "case {case:#07b}");
            assert_eq!(Conditions::none(&machine).and(both).hold(&machine), U256::from(expected));
            assert_eq!(first.and_vanishes(bit(3)).hold(&machine), U256::from(case & 0b1111 == 0b0100));
        }
    }
}
