//! Scalars in four quarters to the base z = |x|.

use super::Window;
use crate::bls12_381::constants::X_ABS;
use residue_ir::{Machine, WordOp};
use ruint::aliases::U256;

/// Bits of a quarter of a scalar: z and all below it fit.
pub(super) const QUARTER_BITS: u32 = 64;

/// s ↦ Σ (bᵢ + h)·2^(64i), where s = Σ bᵢ·zⁱ mod r with bᵢ from −z/2 to z/2 and h = ⌊z/2⌋. With what [`added`] gives for a
/// window it is Σ vᵢ·2^(64i), where vᵢ, which is below 2⁶⁴, is bᵢ with 2ʷ⁻¹ added to each of its windows: window by window
/// it then has the numbers of buckets.
///
/// With C = h·(1 + z + z² + z³), bᵢ + h are the digits to the base z of (s + C) mod r, which is below z⁴.
pub(super) fn quarters<M: Machine>(machine: &M, scalar: M::Word) -> M::Word {
    let (r, z, h) = lengths();
    let (r, z, c) = (machine.word(r), machine.word(z), machine.word(h * (U256::ONE + z + z * z + z * z * z)));
    let reduced = machine.word_op(WordOp::Mod, scalar, r);
    let mut rest = machine.bind(machine.word_op(WordOp::Mod, machine.word_op(WordOp::Add, reduced, c), r));
    let mut digits = machine.word_op(WordOp::Mod, rest, z);
    for quarter in 1..4 {
        rest = machine.word_op(WordOp::Div, rest, z);
        let digit = if quarter < 3 {
            rest = machine.bind(rest);
            machine.word_op(WordOp::Mod, rest, z)
        } else {
            rest
        };
        let shifted = machine.word_op(WordOp::Shl, digit, machine.small(u64::from(quarter * QUARTER_BITS)));
        digits = machine.word_op(WordOp::Add, shifted, digits);
    }
    digits
}

/// Σ (2ʷ⁻¹ in each window − h)·2^(64i), which makes numbers of buckets of [`quarters`].
pub(super) fn added(window: Window) -> U256 {
    let windows = (0..QUARTER_BITS).step_by(window.bits() as usize); // u32 to usize widens
    let halves = windows.fold(U256::ZERO, |sum, bit| sum + (U256::from(window.half()) << bit as usize)); // widens too
    (0..4usize).fold(U256::ZERO, |sum, quarter| sum + ((halves - lengths().2) << (64 * quarter)))
}

/// r, z, h = ⌊z/2⌋.
pub(in crate::bls12_381) fn lengths() -> (U256, U256, U256) {
    let z = U256::from(X_ABS);
    (z * z * z * z - z * z + U256::ONE, z, z / U256::from(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::{BigInt, Sign};
    use residue_modular::fields::Bls12_381Fp;

    #[test]
    fn quarters_are_signed_digits_of_the_scalar() {
        let machine = residue_ir::Numbers::<Bls12_381Fp>::new(Vec::new());
        let z = BigInt::from(X_ABS);
        let r: BigInt = z.pow(4) - z.pow(2) + 1;
        let big = |word: U256| BigInt::from_bytes_be(Sign::Plus, &word.to_be_bytes::<32>());
        let mut scalars = vec![U256::ZERO, U256::ONE, U256::MAX, U256::MAX - U256::ONE];
        for power in 1..4 {
            let near = U256::from(X_ABS).pow(U256::from(power));
            scalars.extend([near - U256::ONE, near, near + U256::ONE, near / U256::from(2), near * U256::from(3)]);
        }
        let r_word = U256::from(X_ABS).pow(U256::from(4)) - U256::from(X_ABS).pow(U256::from(2)) + U256::ONE;
        for k in 0..8u64 {
            scalars.push(r_word + U256::from(k) - U256::from(4));
            scalars.push(r_word * U256::from(2) + U256::from(k) - U256::from(4));
            scalars.push(r_word / U256::from(2) + U256::from(k));
            scalars.push(U256::MAX / U256::from(3 + k));
        }
        for scalar in scalars {
            for window in [Window::Nibble, Window::Byte] {
                let word = big(quarters(&machine, scalar).wrapping_add(added(window)));
                let mut sum = BigInt::ZERO;
                for quarter in 0..4u32 {
                    for bit in (0..QUARTER_BITS).step_by(window.bits() as usize) {
                        let bucket = (&word >> (64 * quarter + bit)) & BigInt::from(window.buckets() - 1);
                        sum += ((bucket - window.half()) * z.pow(quarter)) << bit;
                    }
                }
                assert_eq!((sum - big(scalar)) % &r, BigInt::ZERO, "{scalar:#x}, {window:?}");
            }
        }
    }
}
