//! The digits of scalars: four quarters to the base z = |x|, each in windows.

use super::layout::{Layout, Window};
use crate::bls12_381::constants::X_ABS;
use residue_ir::{Array, Bundle, Cells, Machine, Variable, WordOp};
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

/// The digits of a scalar, shifted right as windows are done. With cells of 16 bits: in variable t the windows t, t + n,
/// t + 2n … of the n that have room in a cell, one in each cell. With cells of 64 bits: in variable 0 the four quarters,
/// b₀ the lowest, and in variable 1 one window of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digits(pub(super) [Variable; 4]);

/// Layout of the indices of buckets.
pub(super) fn indices_of(layout: Layout) -> Cells {
    Cells { bits: layout.cell_bits, index_bits: layout.window.bits() }
}

/// The windows of `quarters` that begin at `bit` of each cell.
pub(super) fn indices<M: Machine>(machine: &M, layout: Layout, quarters: M::Word, bit: u32) -> M::Word {
    let cells = indices_of(layout);
    let shifted = match bit {
        0 => quarters,
        _ => machine.word_op(WordOp::Shr, quarters, machine.small(u64::from(bit))),
    };
    machine.word_op(WordOp::And, machine.word(cells.each(cells.index_max())), shifted)
}

impl Digits {
    /// Variables that hold nothing yet.
    pub(super) fn new<M: Machine>(machine: &M) -> Self {
        let variable = |name| machine.variable(name, machine.small(0));
        Self(["digits_0", "digits_1", "digits_2", "digits_3"].map(variable))
    }

    /// The variables that hold a scalar's digits between halves.
    fn held(&self, layout: Layout) -> &[Variable] {
        &self.0[..(layout.cell_bits / layout.window.bits()) as usize] // u32 to usize widens
    }

    /// Makes the variables hold the four quarters, as indices of buckets in `buckets`.
    pub(super) fn begin<M: Machine, B: Bundle<M::Fe>>(
        &self,
        machine: &M,
        layout: Layout,
        buckets: Array<B>,
        quarters: M::Word,
    ) {
        if layout.calls {
            return machine.set(self.0[0], quarters); // each window takes what is next
        }
        let quarters = machine.bind(quarters);
        for (&variable, bit) in self.held(layout).iter().zip((0..).step_by(layout.window.bits() as usize)) {
            machine.set_indices(variable, buckets, indices(machine, layout, quarters, bit), indices_of(layout));
        }
    }

    /// Makes the digits that stand `bits` higher stand where those that are done were.
    pub(super) fn advance<M: Machine>(&self, machine: &M, layout: Layout, bits: u32) {
        for &variable in self.held(layout) {
            let shifted = machine.word_op(WordOp::Shr, machine.get(variable), machine.small(u64::from(bits)));
            machine.set(variable, shifted);
        }
    }
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
