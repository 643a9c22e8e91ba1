//! Σ sᵢ·Pᵢ on G1 for many points: doublings shared by all (Straus 1964, “Addition chains of vectors”), with the digits and tables of
//! [`crate::glv`].
//!
//! Memory has the tables, and steps of a sequence carry the addresses of the points that are added: a point takes no code of its own, where in
//! [`crate::glv::msm`] it takes 2,400 bytes. All tables are on one denominator, which is known once all multiples are: so points come in twice,
//! see [`prepare`] and [`tabulate`].
//!
//! Every digit adds a point, and 0 adds the generator: how often it does so at which place is a number m, see [`digits`], and what comes out is
//! T′ + m·G + Σ sᵢ·Pᵢ for a constant T′, see [`beyond`].
//!
//! Points may repeat and cancel. Sums begin with T of [`crate::glv::msm`], and additions are incomplete: an exceptional case makes Z = 0, which stays so to
//! the end. Who finds Z = 0 has to compute the sum once more with complete formulas, as with [`crate::glv::msm::complete`].

use super::{Bn254, constants, g1_generator};
use crate::eisenstein::{DIGITS, Multiples, exchanged, nibbles, quarter};
use crate::glv::msm::offset;
use crate::glv::{Endomorphism, PLACES};
use crate::group::{Affine, Jacobian};
use num_bigint::BigUint;
use residue_formula::Fe;
use residue_formula::scope::enter;
use residue_ir::{Array, Bundle, Machine, SequenceStep, Variable, WordOp};
use ruint::aliases::U256;

/// The points that digits of one point add.
pub type Row<F> = [Affine<F>; DIGITS];

/// A quarter of the places: the stack has no room for the steps of all.
const PART_PLACES: u32 = PLACES / 4;

/// The multiples of a point, with the product of the denominators of the points before it.
#[derive(Debug, Clone, Copy)]
pub struct Prepared<F: Fe> {
    multiples: Multiples<F>,
    before: F,
}

impl<F: Fe> Bundle<F> for Prepared<F> {
    const LEN: usize = <(Multiples<F>, F) as Bundle<F>>::LEN;

    fn collect(&self, values: &mut Vec<F>) {
        (self.multiples, self.before).collect(values);
    }

    fn build(values: &mut impl Iterator<Item = F>) -> Self {
        let (multiples, before) = Bundle::build(values);
        Self { multiples, before }
    }
}

/// s ↦ what [`sum`] takes of s, and Σ 4ⁱ over the places i where its digit is 0.
pub fn digits<M: Machine>(machine: &M, scalar: M::Word) -> [M::Word; 2] {
    let op = |op, a, b| machine.word_op(op, a, b);
    let digits = machine.bind(Bn254.split(machine, scalar, false));
    // Both parts of a digit have 2 added: where both bits of both are 1 and 0.
    let lower_bits = (0..128).fold(U256::ZERO, |mask, _| mask << 2usize | U256::ONE);
    let upper = op(WordOp::Shr, digits, machine.small(1));
    let lower_is_0 = op(WordOp::Xor, digits, machine.word(U256::MAX));
    let twos = machine.bind(op(WordOp::And, op(WordOp::And, upper, lower_is_0), machine.word(lower_bits)));
    let zeros = machine.bind(op(WordOp::And, twos, op(WordOp::Shr, twos, machine.small(128))));
    // Of the number of a bit, bit 7 says whether it is of a or b, 6 to 1 at which place, 0 which of its digit: a place's four bits become
    // neighbours, and the upper two bits of the place say which of the four bits of a cell.
    let arranged =
        [(7, 1), (6, 3), (5, 2)].into_iter().fold(digits, |word, (high, low)| exchanged(machine, word, high, low));
    [arranged, zeros]
}

/// Stores what point `number` takes, which lies on the curve and is not the identity, given the product of the denominators of those before
/// it, 1 for the first; and gives that of all so far. The points that are added have the order r and differ by multiples that r does not
/// divide: it is not zero.
pub fn prepare<M: Machine>(
    machine: &M,
    prepared: Array<Prepared<M::Fe>>,
    number: M::Word,
    point: Affine<M::Fe>,
    before: M::Fe,
) -> M::Fe {
    // What a function gives is in slots one after the other, as memory takes it.
    let (row, product) = machine.function("row_multiples", (point, before), |machine, (point, before)| {
        let _scope = enter("multiple_table");
        let [beta, three_halves] =
            [&constants().beta, &constants().pairing.three_halves].map(|value| machine.constant(value));
        let multiples = Multiples::new(machine, point, beta, three_halves);
        (Prepared { multiples, before }, before * multiples.denominator())
    });
    machine.store(prepared, number, row);
    product
}

/// Stores the table of point `number` over the denominator `z`, which [`prepare`] gave for the last point, given the product of the denominators of those
/// after it, 1 for the last; and gives that with its own.
pub fn tabulate<M: Machine>(
    machine: &M,
    prepared: Array<Prepared<M::Fe>>,
    rows: Array<Row<M::Fe>>,
    number: M::Word,
    z: M::Fe,
    after: M::Fe,
) -> M::Fe {
    let given: Prepared<M::Fe> = machine.load(prepared, number);
    let (row, after) = machine.function("row_table", (given, z, after), |machine, (given, z, after)| {
        let _scope = enter("multiple_table");
        let Prepared { multiples, before } = given;
        let powers = [z.square(), z.square() * z];
        let table = multiples.over(Some(before * after), machine.constant(&constants().beta), z, powers);
        let Affine { x, y } = g1_generator();
        let nothing = Affine::new(machine.constant(&x) * powers[0], machine.constant(&y) * powers[1]);
        (table.points(nothing), after * multiples.denominator())
    });
    machine.store(rows, number, row);
    after
}

/// T′ + m·G + Σ sᵢ·Pᵢ, given the [`digits`] of all sᵢ and the tables of all Pᵢ over the denominator `z`; Z = 0 says nothing. At most sixteen
/// points.
pub fn sum<M: Machine>(machine: &M, digits: &[Variable], rows: Array<Row<M::Fe>>, z: M::Fe) -> Jacobian<M::Fe> {
    let _scope = enter("sum_by_rows");
    let zz = z.square();
    let Affine { x, y } = offset(machine, &Bn254, &1u32.into());
    let begin = Affine::new(x * zz, y * (zz * z)).to_jacobian(machine.one());
    let own = machine.repeat(machine.small((PLACES / PART_PLACES).into()), begin, |machine, turn, sum| {
        let bit = quarter(machine, turn);
        let words: Vec<_> = (0u64..)
            .zip(digits)
            .map(|(number, &word)| nibbles(machine, machine.get(word), Some(bit), number * DIGITS as u64)) // widens
            .collect();
        let mut order = Vec::new();
        for at in (0..PART_PLACES).rev() {
            // After the exchange the bits of a cell's number are, from the highest on, 0, 2, 1 and 3 of the place.
            let bit = |number: u32| at >> number & 1;
            let cell = bit(0) << 3 | bit(2) << 2 | bit(1) << 1 | bit(3);
            order.extend(words.iter().map(|&word| SequenceStep::Carry { word, first_bit: 16 * cell }));
            order.push(SequenceStep::Part(0));
        }
        machine.sequence_of(&order, &[None], sum, |machine, _, sum| {
            let three_halves = machine.constant(&constants().pairing.three_halves);
            let sum = sum.double(three_halves).double(three_halves);
            digits.iter().fold(sum, |sum, _| sum.add_mixed(machine.take_part(rows)))
        })
    });
    Jacobian { z: own.z * z, ..own }
}

/// −T′ of [`sum`].
pub fn beyond<M: Machine>(machine: &M) -> Affine<M::Fe> {
    let Affine { x, y } = offset(machine, &Bn254, &(BigUint::from(1u8) << (2 * PLACES)));
    Affine::new(x, -y)
}
