//! Products and powers in Fp12 as functions, for final exponentiations. Powers in the cyclotomic subgroup are taken three times as
//! large, see [`crate::tower::cyclotomic`].

use super::{Family, PairingCurve};
use crate::ladder::{ladder, signed_digits_of};
use crate::tower::cyclotomic::cyclotomic_square_tripled;
use crate::tower::fp12::Multiplicand;
use crate::tower::{Fp12, Tower};
use residue_formula::{Fe, bundle};
use residue_ir::Machine;

/// g with 3g: a product by which powers are multiplied, and where a chain of tripled powers starts.
#[derive(Clone, Copy)]
pub(super) struct Power<F, C> {
    pub(super) g: Fp12<F, C>,
    pub(super) tripled: Fp12<F, C>,
}

bundle!(Power<C: Tower> { g: Fp12<F, C>, tripled: Fp12<F, C> });

impl<F: Fe, C: PairingCurve> Power<F, C> {
    /// Of g.
    pub(super) fn new(g: Fp12<F, C>) -> Self {
        Self { g, tripled: g.double() + g }
    }

    /// Of 3g.
    pub(super) fn of<M: Machine<Fe = F>>(machine: &M, tripled: Fp12<F, C>) -> Self {
        Self { g: third(machine, tripled), tripled }
    }
}

/// |x| ends in this many zero bits, before a last bit 1 if x is an odd one of the family BLS: a power by |x| ends in as many squarings.
pub(super) const fn tail<C: PairingCurve>() -> u32 {
    if is_odd::<C>() { (C::FAMILY.x_abs() - 1).trailing_zeros() } else { C::FAMILY.x_abs().trailing_zeros() }
}

/// Whether a power by |x| ends in a product.
pub(super) const fn is_odd<C: PairingCurve>() -> bool {
    matches!(C::FAMILY, Family::Bls { x_abs, .. } if x_abs % 2 == 1)
}

/// g ↦ 3g^|x| for g in the cyclotomic subgroup.
pub(super) fn power_of_x_abs<M: Machine, C: PairingCurve>(machine: &M, power: Power<M::Fe, C>) -> Fp12<M::Fe, C> {
    let even = power_of_even_part(machine, power);
    if is_odd::<C>() { multiply(machine, even, power.g) } else { even }
}

/// g ↦ 3g^(|x| − 1) or, for an even x or one of another family, 3g^|x|, for g in the cyclotomic subgroup.
pub(super) fn power_of_even_part<M: Machine, C: PairingCurve>(machine: &M, power: Power<M::Fe, C>) -> Fp12<M::Fe, C> {
    square_repeatedly(machine, tail::<C>(), power_of_x_head(machine, power))
}

/// g ↦ 3g^⌊|x|/2^[`tail`]⌋ for g in the cyclotomic subgroup, as a function. The state of the chain is three times the power.
pub(super) fn power_of_x_head<M: Machine, C: PairingCurve>(machine: &M, power: Power<M::Fe, C>) -> Fp12<M::Fe, C> {
    machine.function("fp12_power_of_x_head", power, |machine, power| match C::FAMILY {
        Family::Bls { x_abs, .. } => {
            let start = (power.tripled, power.g.multiplicand());
            let square = |machine: &M, count, (tripled, g)| (square_repeatedly(machine, count, tripled), g);
            ladder(machine, x_abs >> tail::<C>(), start, square, |machine, state| multiply_by(machine, state)).0
        }
        Family::Bn { x } => signed_power(machine, x >> tail::<C>(), power),
    })
}

/// Powers are made of products by g and by g to this: among odd numbers the one by which BN254's x takes fewest products, two to
/// make it among them.
const SECOND: i8 = 19;

/// g ↦ 3gᵏ for g in the cyclotomic subgroup.
fn signed_power<M: Machine, C: PairingCurve>(machine: &M, k: u64, power: Power<M::Fe, C>) -> Fp12<M::Fe, C> {
    let Power { g, tripled } = power;
    let multiplicand = g.multiplicand();
    let (ninth, multiplicand) = multiply_by(machine, (square_repeatedly(machine, 3, tripled), multiplicand)); // 8 + 1
    let (second, mut multiplicand) = multiply_by(machine, (square_repeatedly(machine, 1, ninth), multiplicand)); // 2·9 + 1
    let h = third(machine, second);
    let digits = signed_digits_of(k, SECOND);
    let mut state = if digits[0] == SECOND { second } else { tripled };
    // Of 3gⁱ the state is the conjugate, 3g⁻ⁱ, after a negative digit: only a change of signs takes a conjugation.
    let (mut is_inverted, mut is_second, mut waiting) = (false, false, 0);
    for &digit in &digits[1..] {
        waiting += 1;
        if digit == 0 {
            continue;
        }
        state = square_repeatedly(machine, waiting, state);
        waiting = 0;
        if is_inverted != (digit < 0) {
            state = state.conjugate();
            is_inverted = !is_inverted;
        }
        if is_second != (digit.abs() == SECOND) {
            is_second = !is_second;
            multiplicand = if is_second { h } else { g }.multiplicand();
        }
        (state, multiplicand) = multiply_by(machine, (state, multiplicand));
    }
    let state = square_repeatedly(machine, waiting, state);
    if is_inverted { state.conjugate() } else { state }
}

/// The runs of squarings that are functions. Each ends with the one before, so that no code is there twice.
const SQUARINGS: [(u32, &str); 3] =
    [(1, "fp12_cyclotomic_square"), (2, "fp12_cyclotomic_square_2"), (4, "fp12_cyclotomic_square_4")];

/// 3g ↦ 3g^(2ⁿ) for g in the cyclotomic subgroup.
pub(super) fn square_repeatedly<M: Machine, C: PairingCurve>(
    machine: &M,
    count: u32,
    tripled: Fp12<M::Fe, C>,
) -> Fp12<M::Fe, C> {
    let (mut left, mut power) = (count, tripled);
    while let Some(run) = SQUARINGS.iter().rposition(|&(length, _)| length <= left) {
        power = squarings(machine, run, power);
        left -= SQUARINGS[run].0;
    }
    power
}

/// A run of squarings by its place in [`SQUARINGS`].
fn squarings<M: Machine, C: PairingCurve>(machine: &M, run: usize, tripled: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    let (length, name) = SQUARINGS[run];
    machine.function(name, tripled, |machine, tripled| {
        let rest = run.checked_sub(1);
        let own = length - rest.map_or(0, |rest| SQUARINGS[rest].0);
        let power = (0..own).fold(tripled, |power, _| cyclotomic_square_tripled(power));
        rest.map_or(power, |rest| squarings(machine, rest, power))
    })
}

/// 3g ↦ g.
pub(super) fn third<M: Machine, C: PairingCurve>(machine: &M, tripled: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    tripled.scale(machine.constant(&C::constants().third))
}

/// (f, g) ↦ f·g, as a function.
pub fn multiply<M: Machine, C: PairingCurve>(machine: &M, f: Fp12<M::Fe, C>, g: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    machine.function("fp12_mul", (f, g), |machine, (f, g)| multiply_by(machine, (f, g.multiplicand())).0)
}

/// (f, g) ↦ (f·g, g), as a function: g stays where it is for the next product.
fn multiply_by<M: Machine, C: PairingCurve>(
    machine: &M,
    operands: (Fp12<M::Fe, C>, Multiplicand<M::Fe, C>),
) -> (Fp12<M::Fe, C>, Multiplicand<M::Fe, C>) {
    machine.function("fp12_mul_by_multiplicand", operands, |_, (f, g)| (f * g, g))
}

/// f ↦ fᵖ.
pub fn frobenius<M: Machine, C: PairingCurve>(machine: &M, f: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    f.frobenius(&C::constants().gamma.each_ref().map(|g| g.lift(machine)))
}

/// f ↦ f^(p²).
pub fn frobenius_squared<M: Machine, C: PairingCurve>(machine: &M, f: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    f.frobenius_squared(&C::constants().delta.each_ref().map(|d| machine.constant(d)))
}
