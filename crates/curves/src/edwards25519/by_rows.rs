//! u·B + v·P along digits from −8 to 7 to the base 16 of both scalars: code for one turn, with four doublings and an addition of each point, which finds what
//! it adds in rows that the step carries. The multiples of P are in memory, those of B in code; 0 is a row too, as sums are complete.

use super::apart::{DIGITS, PLACES, ZERO_DIGIT};
use super::{Addend, addend, base_numbers, double, identity, twice_d};
use crate::group::{Affine, Projective};
use crate::windows::digits;
use num_bigint::BigUint;
use residue_formula::Number;
use residue_ir::{Array, Capacity, Machine, SequenceStep, Table, WordOp};
use residue_modular::fields::Curve25519Fp;

/// The places go in so many turns of a loop: code for the steps of one serves all.
const QUARTERS: u32 = 4;
const QUARTER: u32 = PLACES / QUARTERS;

/// (u, v, P) ↦ u·B + v·P for scalars below 2²⁵³ and a point of the curve.
pub(super) fn sum<M: Machine>(machine: &M, u: M::Word, v: M::Word, point: Affine<M::Fe>) -> Projective<M::Fe> {
    let of_point = multiples(machine, point);
    let of_base: Table<[M::Fe; 3]> = machine.table("base_multiples", &base_rows());
    let scalars = [v, u].map(|scalar| digits(machine, scalar, 0));
    let start = identity(machine).projective();
    machine.repeat(machine.small(QUARTERS.into()), start, |machine, turn, sum| {
        // Cells of four places of each of four words: those of this quarter come to be the highest.
        let bits = machine.bind(machine.word_op(WordOp::Mul, turn, machine.small((QUARTER * 4).into())));
        let scalars = scalars.map(|words| words.map(|word| machine.word_op(WordOp::Shl, word, bits)));
        let mut order = Vec::new();
        for at in (PLACES - QUARTER..PLACES).rev() {
            let carry = |words: [M::Word; 4]| {
                let word = words[(at % 4) as usize]; // u32 to usize widens
                SequenceStep::Carry { word, first_bit: at / 4 * 16 }
            };
            order.extend(scalars.map(carry));
            order.push(SequenceStep::Part(0));
        }
        machine.sequence_of(&order, &[None], sum, |machine, _, sum| {
            let [minus, plus, t, z] = machine.take_element(of_point);
            let first = Addend { minus, plus, t, z: Some(z) };
            let [minus, plus, t] = machine.take_row(of_base);
            let second = Addend { minus, plus, t, z: None };
            let sum = (0..3).fold(double(sum), |sum, _| double(sum.projective())).extended();
            sum.add(first, false).extended().add(second, false).projective()
        })
    })
}

/// d·P as right operands, by digits d with 8 added, and 8·P beside them: a loop makes both signs.
fn multiples<M: Machine>(machine: &M, point: Affine<M::Fe>) -> Array<[M::Fe; 4]> {
    let (once, twice_d) = (addend(machine, point), twice_d(machine));
    let room = DIGITS + 1;
    let all = machine.array("multiples", Capacity::Fixed(room as u32)); // 17
    let (small, zero) = (|number: usize| machine.small(number as u64), identity(machine)); // usize to u64 widens
    machine.reserve(all, small(room));
    machine.store(all, small(ZERO_DIGIT), [zero.y, zero.y, zero.t, zero.z + zero.z]);
    machine.repeat(small(ZERO_DIGIT), zero, |machine, turn, before| {
        let turn = machine.bind(turn);
        let multiple = before.add(once, false).extended();
        let Addend { minus, plus, t, .. } = multiple.addend(twice_d);
        let z = multiple.z + multiple.z;
        let at = |op, number: usize| machine.word_op(op, machine.small(number as u64), turn); // the same
        machine.store(all, at(WordOp::Add, ZERO_DIGIT + 1), [minus, plus, t, z]);
        machine.store(all, at(WordOp::Sub, ZERO_DIGIT - 1), [plus, minus, -t, z]);
        multiple
    });
    all
}

/// The same of B, of which Z is 1.
fn base_rows() -> Vec<Vec<BigUint>> {
    let (zero, one) = (Curve25519Fp::ZERO, Curve25519Fp::ONE);
    let multiples = base_numbers(ZERO_DIGIT);
    let negative = multiples.iter().rev().map(|&[minus, plus, t]| [plus, minus, -t]);
    let positive = multiples[..DIGITS - ZERO_DIGIT - 1].iter().copied();
    let rows = negative.chain([[one, one, zero]]).chain(positive);
    rows.map(|row| row.map(|value| value.to_canonical()).to_vec()).collect()
}
