//! Σ sᵢ·Pᵢ: doublings shared by several points as one (Straus 1964, “Addition chains of vectors”), with the digits and tables of [`super`].
//!
//! The tables of all these points are on one denominator. Which digit there is decides which part of a sequence comes next: 16 parts
//! for each point.
//!
//! Points may repeat and cancel, and the curve has no subgroup to begin sums outside of. Sums begin with T, a fixed multiple of the generator that
//! nobody has for a point by chance. Additions are incomplete: an exceptional case makes Z = 0, which stays so to the end, and the sum
//! is computed once more with complete formulas, see [`complete`]. To meet such a case takes points that were computed from T.

use super::{Endomorphism, PLACES};
use crate::complete::{AZero, multiply};
use crate::eisenstein::{DIGITS, Table, arranged, cells, place};
use crate::fixed_base::Sums;
use crate::group::{Affine, Jacobian, Projective};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::{Machine, SequenceStep, Variable, WordOp};

/// k·T, T = τ·G with τ = 3¹⁶⁰ modulo r: no multiple of the generator that anybody has for a point.
pub fn known_offset<E: Endomorphism>(curve: &E, k: &BigUint) -> Affine<E::Number> {
    let Affine { x, y } = curve.generator();
    let element = |value| E::Number::from_canonical(value).expect("it is below p");
    let order = curve.order();
    let multiple = k * BigUint::from(3u8).modpow(&160u32.into(), &order) % order;
    Sums { a: E::Number::ZERO }
        .multiple(&multiple, Affine::new(element(&x), element(&y)))
        .expect("r divides neither of the factors")
}

/// The same as constants.
pub(crate) fn offset<M: Machine, E: Endomorphism>(machine: &M, curve: &E, k: &BigUint) -> Affine<M::Fe> {
    let point = known_offset(curve, k);
    Affine::new(machine.constant(&point.x.to_canonical()), machine.constant(&point.y.to_canonical()))
}

/// T, which sums begin with.
pub fn start<M: Machine>(machine: &M, curve: &impl Endomorphism) -> Jacobian<M::Fe> {
    offset(machine, curve, &1u32.into()).to_jacobian(machine.one())
}

/// A scalar in a variable, and its point.
pub type Product<F> = (Variable, Affine<F>);

/// S ↦ S + Σ sᵢ·Pᵢ for points on the curve, none the identity, and any words sᵢ; Z = 0 says nothing. At most eleven points have
/// their tables in 256 slots.
pub fn add<M: Machine, E: Endomorphism, const COUNT: usize>(
    machine: &M,
    curve: &E,
    products: [Product<M::Fe>; COUNT],
    sum: Jacobian<M::Fe>,
) -> Jacobian<M::Fe> {
    // Kept in memory at first: what they are computed with would be between them on the stack.
    let arranged = products.map(|(scalar, _)| {
        machine.variable("digits", arranged(machine, curve.split(machine, machine.get(scalar), false)))
    });
    let words: Vec<_> = (0u64..)
        .zip(arranged.map(|digits| machine.get(digits)))
        .map(|(number, word)| cells(machine, word, number * DIGITS as u64)) // usize to u64 widens
        .collect();
    let double = COUNT * DIGITS;
    let mut order = Vec::new();
    for at in (0..PLACES).rev() {
        order.push(SequenceStep::Part(double));
        order.extend(words.iter().map(|words| place(words, at)));
    }
    let (beta, three_halves) = (machine.constant(&curve.beta()), curve.three_halves(machine));
    let points = products.map(|(_, point)| point);
    let (tables, z) = Table::over_one_denominator(machine, points, beta, three_halves);
    let zz = z.square();
    let Affine { x, y } = offset(machine, curve, &1u32.into());
    let begin = Affine::new(x * zz, y * (zz * z)).to_jacobian(machine.one());
    let own = machine.sequence_of(&order, &vec![None; double + 1], begin, |machine, part, sum| {
        let three_halves = curve.three_halves(machine);
        match tables.get(part / DIGITS) {
            Some(table) => table.add(sum, part % DIGITS),
            None => sum.double(three_halves).double(three_halves),
        }
    });
    let own = Jacobian { z: own.z * z, ..own };
    (sum + own.addend()).subtract_mixed(offset(machine, curve, &(BigUint::from(1u8) << (2 * PLACES))))
}

/// T + S ↦ S: one of both is done, which must end the program; neither if an exceptional case was met.
pub fn finish<M: Machine>(
    machine: &M,
    curve: &impl Endomorphism,
    sum: Jacobian<M::Fe>,
    is_point: impl FnOnce(&M, Affine<M::Fe>),
    is_identity: impl FnOnce(&M),
) {
    let t = offset(machine, curve, &1u32.into());
    let Jacobian { x, y, z } = sum.subtract_mixed(t);
    machine.branch(
        machine.not(machine.is_zero(z)),
        |machine| {
            let inverse = curve.invert(machine, z);
            let square = inverse.square();
            is_point(machine, Affine::new(x * square, y * (square * inverse)));
        },
        |_| (),
    );
    // Z = 0: S + T is ±T, or it met an exceptional case. Only for T itself is y that of T.
    let defect = sum.y - t.y * (sum.z.square() * sum.z);
    let is_t = machine.word_op(WordOp::And, machine.is_zero(defect), machine.not(machine.is_zero(sum.z)));
    machine.branch(is_t, is_identity, |_| ());
}

/// The identity, for sums with complete formulas.
pub fn identity<M: Machine>(machine: &M) -> Projective<M::Fe> {
    Projective { x: machine.zero(), y: machine.one(), z: machine.zero() }
}

/// 3b.
fn three_b<E: Endomorphism>(curve: &E) -> BigUint {
    curve.b() * 3u32 % E::Number::modulus()
}

/// S ↦ S + s·P for every input with P on the curve, by double and add with complete formulas.
pub fn complete<M: Machine>(
    machine: &M,
    curve: &impl Endomorphism,
    scalar: M::Word,
    point: Affine<M::Fe>,
    sum: Projective<M::Fe>,
) -> Projective<M::Fe> {
    let b3 = machine.constant(&three_b(curve));
    let curve = AZero(move |value| b3 * value);
    let Affine { x, y } = point;
    let point = Projective { x, y, z: machine.one() };
    sum.add_complete(multiply(machine, scalar, point, identity(machine), &curve), &curve)
}
