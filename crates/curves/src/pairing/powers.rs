//! Products and powers in Fp12 as functions, for final exponentiations. Powers in the cyclotomic subgroup are taken three times as
//! large, see [`crate::tower::cyclotomic`], or a power of three times.

use super::{Family, PairingCurve, in_short_code};
use crate::ladder::{ladder, signed_digits_of};
use crate::tower::cyclotomic::compressed::{Compressed, is_compressible};
use crate::tower::cyclotomic::cyclotomic_square_tripled;
use crate::tower::fp12::Multiplicand;
use crate::tower::{Fp12, Tower};
use num_bigint::BigUint;
use residue_formula::{Fe, bundle};
use residue_ir::{Bundle, Feature, Machine};

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

    /// Of 3ⁿ·g.
    pub(super) fn of<M: Machine<Fe = F>>(machine: &M, multiple: Multiple<F, C>) -> Self {
        let g = multiple.element(machine);
        if multiple.threes == 1 { Self { g, tripled: multiple.value } } else { Self::new(g) }
    }
}

/// 3ⁿ·g.
#[derive(Clone, Copy)]
pub(super) struct Multiple<F, C> {
    pub(super) value: Fp12<F, C>,
    /// n.
    pub(super) threes: usize,
}

impl<F: Fe, C: PairingCurve> Multiple<F, C> {
    /// Of 3g.
    pub(super) fn tripled(value: Fp12<F, C>) -> Self {
        Self { value, threes: 1 }
    }

    /// The same of another element: a product or a conjugate.
    pub(super) fn map(self, map: impl FnOnce(Fp12<F, C>) -> Fp12<F, C>) -> Self {
        Self { value: map(self.value), ..self }
    }

    /// g.
    pub(super) fn element<M: Machine<Fe = F>>(self, machine: &M) -> Fp12<F, C> {
        self.value.scale(machine.constant(&C::constants().thirds[self.threes - 1]))
    }
}

/// |x| ends in this many zero bits, before a last bit 1 if x is an odd one of the family BLS: a power by |x| ends in as many squarings.
pub(super) const fn tail<C: PairingCurve>() -> u32 {
    if is_odd::<C>() { (C::FAMILY.x_abs() - 1).trailing_zeros() } else { C::FAMILY.x_abs().trailing_zeros() }
}

/// True if a power by |x| ends in a product.
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
    square_tail(machine, tail::<C>(), power_of_x_head(machine, power))
}

/// 3g ↦ 3g^(2ⁿ) for g in the cyclotomic subgroup and n of at least [`tail`] − 1, which is long for an odd x: where an interface inverts, squarings are compressed and
/// brought back with one inverse.
pub(super) fn square_tail<M: Machine, C: PairingCurve>(
    machine: &M,
    count: u32,
    tripled: Fp12<M::Fe, C>,
) -> Fp12<M::Fe, C> {
    if !is_odd::<C>() || !is_compressible::<C>() {
        return square_repeatedly(machine, count, tripled);
    }
    let run = tail::<C>() - 1;
    let whole = |machine: &M| square_repeatedly(machine, count, tripled);
    let by_inverse = |machine: &M| {
        let start = square_repeatedly(machine, count - run, tripled);
        machine.function("fp12_compressed_tail", start, |machine, start| {
            let state = in_runs(machine, &COMPRESSED_SQUARINGS, run, Compressed::new(start), Compressed::square);
            let norm = state.norm();
            machine.branch(
                machine.is_zero(norm),
                |machine| square_repeatedly(machine, run, start),
                |machine| decompress(machine, state, C::invert(machine, norm.double().double())),
            )
        })
    };
    machine.branch(machine.has(Feature::Inversion), by_inverse, whole)
}

/// (3g, 1/(4·norm)) ↦ 3g, see [`Compressed::decompress`].
pub(super) fn decompress<M: Machine, C: PairingCurve>(
    machine: &M,
    element: Compressed<M::Fe, C>,
    inverse: M::Fe,
) -> Fp12<M::Fe, C> {
    let third = machine.constant(&C::constants().third);
    element.decompress(inverse, third, machine.constant(&BigUint::from(3u8)))
}

/// The runs of compressed squarings that are functions.
pub(super) const COMPRESSED_SQUARINGS: [(u32, &str); 2] =
    [(1, "fp12_compressed_square"), (8, "fp12_compressed_square_8")];

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
    in_runs(machine, &SQUARINGS, count, tripled, cyclotomic_square_tripled)
}

/// `step` done `count` times, in runs that are functions: their lengths, the first one 1, and their names.
pub(super) fn in_runs<M: Machine, S: Bundle<M::Fe>>(
    machine: &M,
    runs: &[(u32, &'static str)],
    count: u32,
    state: S,
    step: impl Fn(S) -> S + Copy,
) -> S {
    let (mut left, mut state) = (count, state);
    while let Some(last) = runs.iter().rposition(|&(length, _)| length <= left) {
        state = run(machine, &runs[..=last], state, step);
        left -= runs[last].0;
    }
    state
}

/// The last of `runs`.
fn run<M: Machine, S: Bundle<M::Fe>>(
    machine: &M,
    runs: &[(u32, &'static str)],
    state: S,
    step: impl Fn(S) -> S + Copy,
) -> S {
    let Some((&(length, name), before)) = runs.split_last() else { return state };
    machine.function(name, state, |machine, state| {
        let own = length - before.last().map_or(0, |&(length, _)| length);
        let state = (0..own).fold(state, |state, _| step(state));
        run(machine, before, state, step)
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
    let here = |machine: &M, f: Fp12<M::Fe, C>| f.frobenius(&C::constants().gamma.each_ref().map(|g| g.lift(machine)));
    in_short_code(machine, |machine| machine.function("fp12_frobenius", f, here), |machine| here(machine, f))
}

/// f ↦ f^(p²).
pub fn frobenius_squared<M: Machine, C: PairingCurve>(machine: &M, f: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    let here = |machine: &M, f: Fp12<M::Fe, C>| {
        f.frobenius_squared(&C::constants().delta.each_ref().map(|d| machine.constant(d)))
    };
    in_short_code(machine, |machine| machine.function("fp12_frobenius_squared", f, here), |machine| here(machine, f))
}
