//! Sums Σ sᵢ·Pᵢ of points that are constants, by combs whose tables stand in code: Lim and Lee 1994, “More flexible exponentiation with
//! precomputation”.
//!
//! The bits of a scalar are the teeth of a comb: bits i, i + d, i + 2d … are column i, and a table has an element for each value of a
//! column. All digits are signed, b = 2c − 1 for a bit c, so that no element is the identity: Σ bᵢ·2ⁱ = 2s − (2^L − 1) for L bits, times P/2. What
//! that lacks stands in the point from which the sum starts. All scalars share the doublings, one a column.
//!
//! Additions are not complete: a sum that meets an exceptional case has Z = 0 at its end, and so has one that is the identity. Scalars for
//! which that happens exist for most points. So a sum with Z = 0 is computed once more, with complete formulas.

use crate::complete::AZero;
use crate::eisenstein::{exchanged, nibbles, quarter};
use crate::group::{Affine, Jacobian, Projective};
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Fe, Number};
use residue_ir::{Array, Bundle, Machine, SequenceStep, Table, Variable, WordOp};
use ruint::aliases::U256;

/// The shape of combs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comb {
    /// Bits of a column.
    teeth: u32,
    /// Columns, which are turns of the loop.
    columns: u32,
}

/// Scalars that stay on the stack, where sixteen words are within reach; others are read anew for each digit.
const KEPT_MAX: usize = 8;
/// Additions that are written out, some 170 bytes each; more of them are calls.
const WRITTEN_OUT_MAX: usize = 32;

/// A scalar that is below the order has at most so many bits.
const SCALAR_BITS: u32 = 255;

impl Comb {
    /// With so many teeth, two at least and eight at most. An element of a table takes 64 bytes of code on a curve of 256 bits, and a table has 2^teeth.
    pub fn new(teeth: u32) -> Self {
        assert!((2..=8).contains(&teeth), "{teeth} teeth: columns are gathered by products in 256 bits");
        Self { teeth, columns: SCALAR_BITS.div_ceil(teeth) }
    }

    /// Bits of a column.
    pub const fn teeth(self) -> u32 {
        self.teeth
    }

    /// Number of columns.
    pub const fn columns(self) -> u32 {
        self.columns
    }

    /// The value of column `column` of a scalar.
    pub fn digit<M: Machine>(self, machine: &M, scalar: M::Word, column: M::Word) -> M::Word {
        let Self { teeth, columns } = self;
        let op = |op, a, b| machine.word_op(op, a, b);
        let bits = |at: &dyn Fn(u32) -> u32| {
            (0..teeth).map(at).filter(|&bit| bit < 256).fold(U256::ZERO, |word, bit| word | U256::ONE << bit as usize) // widens
        };
        let apart = op(WordOp::And, op(WordOp::Shr, scalar, column), machine.word(bits(&|tooth| tooth * columns)));
        // Bit j·d times 2^(256 − teeth − j(d − 1)) is bit j of the last ones; other products are beyond them, or further below than a digit is long.
        let top = 256 - teeth;
        let factor = machine.word(bits(&|tooth| top - tooth * (columns - 1)));
        op(WordOp::Shr, op(WordOp::Mul, apart, factor), machine.small(top.into()))
    }
}

/// A scalar, and the table of its point.
type Base<W, F> = (W, Table<Affine<F>>);

/// A sum with its tables: of constant points, and one more.
#[derive(Debug)]
pub struct FixedSum<N> {
    comb: Comb,
    /// Constant summand.
    constant: Option<Affine<N>>,
    /// The points that are multiplied, by the places of their scalars.
    bases: Vec<(usize, Affine<N>)>,
    /// 3b.
    three_b: N,
    order: BigUint,
}

impl<N: Number> FixedSum<N> {
    /// P₀ + Σ sᵢ·Pᵢ on y² = x³ + b, where the points are in the group of that odd prime order, and `None` is the identity.
    pub fn new(comb: Comb, constant: Option<Affine<N>>, points: &[Option<Affine<N>>], b: N, order: BigUint) -> Self {
        let bases = points.iter().enumerate().filter_map(|(place, point)| Some((place, (*point)?))).collect();
        Self { comb, constant, bases, three_b: b + b + b, order }
    }

    fn curve(&self) -> AZero<impl Fn(N) -> N + use<'_, N>> {
        AZero(|z: N| z * self.three_b)
    }

    fn identity() -> Projective<N> {
        Projective { x: N::ZERO, y: N::ONE, z: N::ZERO }
    }

    /// (k, P) ↦ k·P.
    fn times(&self, k: &BigUint, point: Projective<N>) -> Projective<N> {
        let curve = self.curve();
        (0..k.bits()).rev().fold(Self::identity(), |multiple, bit| {
            let double = multiple.double_complete(&curve);
            if k.bit(bit) { double.add_complete(point, &curve) } else { double }
        })
    }

    /// All values of a column of the base: Σ ±2^(j·d)·P/2.
    fn elements(&self, base: Affine<N>) -> Vec<Vec<BigUint>> {
        let Comb { teeth, columns } = self.comb;
        let half = (&self.order + 1u32) / 2u32;
        let halves: Vec<_> = (0..teeth)
            .map(|tooth| self.times(&((&half << (tooth * columns)) % &self.order), projective(base)))
            .collect();
        let element = |value: u32| {
            let sum = (0..teeth).zip(&halves).fold(Self::identity(), |sum, (tooth, &half)| {
                let sign = if value >> tooth & 1 == 1 { half } else { Projective { y: -half.y, ..half } };
                sum.add_complete(sign, &self.curve())
            });
            let Affine { x, y } = affine(sum).expect("an odd multiple below the order is not the identity");
            vec![x.to_canonical(), y.to_canonical()]
        };
        (0..1 << teeth).map(element).collect()
    }

    /// 2^−d·(P₀ + Σ (2^L − 1)·Pᵢ/2): where the sum starts, as each column doubles it.
    fn start(&self) -> Option<Affine<N>> {
        let Comb { teeth, columns } = self.comb;
        let half = (&self.order + 1u32) / 2u32;
        let missing = ((BigUint::from(1u32) << (teeth * columns)) - 1u32) * &half % &self.order;
        let initial = self.constant.map_or_else(Self::identity, projective);
        let sum = self
            .bases
            .iter()
            .fold(initial, |sum, &(_, base)| sum.add_complete(self.times(&missing, projective(base)), &self.curve()));
        let shift = half.modpow(&columns.into(), &self.order);
        affine(self.times(&shift, sum))
    }

    /// The sum for these scalars, below the order: Z = 0 exactly if it is the identity.
    pub fn compute<M: Machine>(&self, machine: &M, scalars: &[M::Word], three_halves: &BigUint) -> Jacobian<M::Fe> {
        let _scope = enter("fixed_sum");
        let [zero, one] = [machine.zero(), machine.one()];
        let is_kept = self.bases.len() <= KEPT_MAX;
        let scalar_of = |place: usize| if is_kept { machine.bind(scalars[place]) } else { scalars[place] };
        let tables: Vec<Base<M::Word, M::Fe>> = self
            .bases
            .iter()
            .map(|&(place, base)| (scalar_of(place), machine.table("fixed_bases", &self.elements(base))))
            .collect();
        let start = self.start().map(|Affine { x, y }| {
            let [x, y] = [x, y].map(|value| machine.constant(&value.to_canonical()));
            Affine::new(x, y)
        });
        let first = start.map_or(Jacobian { x: one, y: one, z: zero }, |start| start.to_jacobian(one));
        let double = |sum: Jacobian<M::Fe>| sum.double(machine.constant(three_halves));
        let sum = self.each_column(machine, &tables, first, double, |machine, sum, point| {
            if self.bases.len() <= WRITTEN_OUT_MAX {
                return sum.add_mixed(point);
            }
            machine.function("fixed_sum_addition", (sum, point), |_, (sum, point): (Jacobian<M::Fe>, _)| {
                sum.add_mixed(point)
            })
        });
        machine.branch(machine.is_zero(sum.z), |machine| self.completely(machine, &tables, start), |_| sum)
    }

    /// Once more, with formulas that have no exceptions.
    fn completely<M: Machine>(
        &self,
        machine: &M,
        tables: &[Base<M::Word, M::Fe>],
        start: Option<Affine<M::Fe>>,
    ) -> Jacobian<M::Fe> {
        let [zero, one] = [machine.zero(), machine.one()];
        let three_b = machine.constant(&self.three_b.to_canonical());
        let curve = AZero(|z: M::Fe| z * three_b);
        let identity = Projective { x: zero, y: one, z: zero };
        let first = start.map_or(identity, |Affine { x, y }| Projective { x, y, z: one });
        let double = |sum: Projective<M::Fe>| sum.double_complete(&curve);
        let sum = self.each_column(machine, tables, first, double, |machine, sum, point| {
            machine.function("fixed_sum_complete_addition", (sum, point), |machine, (sum, point)| {
                let three_b = machine.constant(&self.three_b.to_canonical());
                Projective::add_mixed_complete(sum, point, &AZero(|z: M::Fe| z * three_b))
            })
        });
        let Projective { x, y, z } = sum;
        Jacobian { x: x * z, y: y * z.square(), z } // (X/Z, Y/Z) = (XZ/Z², YZ²/Z³)
    }

    /// The same sum of scalars in variables, for combs of [`ROW_TEETH`] teeth and at most sixteen points: their tables are copied to `rows`, and
    /// steps of sequences carry the addresses of the elements. A column takes half of what it takes in the loop. Z = 0 says nothing: the sum may
    /// be the identity, or have met an exceptional case.
    pub fn compute_by_rows<M: Machine>(
        &self,
        machine: &M,
        scalars: &[Variable],
        rows: Array<Row<M::Fe>>,
        three_halves: &BigUint,
    ) -> Jacobian<M::Fe> {
        let _scope = enter("fixed_sum");
        assert_eq!(self.comb, Comb::new(ROW_TEETH), "rows are those of such combs");
        let [zero, one] = [machine.zero(), machine.one()];
        let table: Vec<Vec<BigUint>> = self.bases.iter().map(|&(_, base)| self.elements(base).concat()).collect();
        if !table.is_empty() {
            machine.fill_from(rows, machine.table("fixed_bases", &table));
        }
        // In a function, as code for it is long; words that it takes and gives are in a variable.
        let held = machine.variable("columns", machine.small(0));
        let arranged: Vec<Variable> = self
            .bases
            .iter()
            .map(|&(place, _)| {
                machine.set(held, machine.get(scalars[place]));
                machine.function("fixed_sum_columns", (), |machine, ()| {
                    machine.set(held, arranged_columns(machine, machine.get(held)));
                });
                machine.variable("columns", machine.get(held))
            })
            .collect();
        let start = self.start().map(|Affine { x, y }| {
            let [x, y] = [x, y].map(|value| machine.constant(&value.to_canonical()));
            Affine::new(x, y)
        });
        let first = start.map_or(Jacobian { x: one, y: one, z: zero }, |start| start.to_jacobian(one));
        // The code for the steps of one quarter of the columns serves all.
        machine.repeat(machine.small(4), first, |machine, turn, sum| {
            let bit = quarter(machine, turn);
            let words: Vec<_> = (0u64..)
                .zip(&arranged)
                .map(|(number, &columns)| nibbles(machine, machine.get(columns), Some(bit), number << ROW_TEETH))
                .collect();
            let mut order = Vec::new();
            for column in (0..ROW_COLUMNS / 4).rev() {
                order.extend(words.iter().map(|&word| row(word, column)));
                order.push(SequenceStep::Part(0));
            }
            machine.sequence_of(&order, &[None], sum, |machine, _, sum| {
                let double = sum.double(machine.constant(three_halves));
                arranged.iter().fold(double, |sum, _| sum.add_mixed(machine.take_part(rows)))
            })
        })
    }

    /// P₀.
    pub fn constant(&self) -> Option<Affine<N>> {
        self.constant
    }

    /// The points that are multiplied, by the places of their scalars.
    pub fn bases(&self) -> &[(usize, Affine<N>)] {
        &self.bases
    }

    /// The sum from the first column on, given how it is doubled and how a point is added.
    fn each_column<M: Machine, S: Bundle<M::Fe>>(
        &self,
        machine: &M,
        tables: &[Base<M::Word, M::Fe>],
        start: S,
        double: impl Fn(S) -> S,
        add: impl Fn(&M, S, Affine<M::Fe>) -> S,
    ) -> S {
        let turns = machine.small(self.comb.columns.into());
        let last = machine.small(u64::from(self.comb.columns - 1));
        machine.repeat(turns, start, |machine, turn, sum| {
            let column = machine.bind(machine.word_op(WordOp::Sub, last, turn));
            tables.iter().fold(double(sum), |sum, &(scalar, table)| {
                let point = machine.lookup(table, self.comb.digit(machine, scalar, column));
                add(machine, sum, point)
            })
        })
    }
}

/// Teeth of combs whose columns are rows that steps carry.
pub const ROW_TEETH: u32 = 4;
/// All values of a column.
pub type Row<F> = [Affine<F>; 1 << ROW_TEETH];
/// Columns of them.
const ROW_COLUMNS: u32 = 64;

/// A scalar with its bits exchanged so that those of a column are neighbours. A bit of the word has a number of eight bits, of which the upper two say
/// of which tooth it is and the others of which column. Bits 7 and 1 of the number are exchanged, 6 and 0, 5 and 3, and 4 and 2, see [`crate::eisenstein`].
fn arranged_columns<M: Machine>(machine: &M, scalar: M::Word) -> M::Word {
    [(7, 1), (6, 0), (5, 3), (4, 2)].into_iter().fold(scalar, |word, (high, low)| exchanged(machine, word, high, low))
}

/// The step for a column of a quarter, given the word with the values of the columns of the quarter in its cells. After the exchange the bits of a bit's number
/// are, from the highest on, 1, 0, 3, 2, 5 and 4 of its column, and then its tooth: the first four are the cell, the next two say which quarter.
fn row<W>(word: W, column: u32) -> SequenceStep<W> {
    let bit = |number: u32| column >> number & 1;
    let cell = bit(1) << 3 | bit(0) << 2 | bit(3) << 1 | bit(2);
    SequenceStep::Carry { word, first_bit: 16 * cell }
}

fn projective<N: Number>(point: Affine<N>) -> Projective<N> {
    Projective { x: point.x, y: point.y, z: N::ONE }
}

/// (X : Y : Z) ↦ (X/Z, Y/Z); `None` for the identity.
fn affine<N: Number>(point: Projective<N>) -> Option<Affine<N>> {
    let inverse = point.z.inverse()?;
    Some(Affine::new(point.x * inverse, point.y * inverse))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bn254::{Bn254, g1_generator};
    use crate::pairing::PairingCurve;
    use residue_ir::{Capacity, Numbers};
    use residue_modular::fields::Bn254Fp;

    #[test]
    fn rows_and_loops_give_one_sum() {
        let element = |value: &BigUint| Bn254Fp::from_canonical(value).unwrap();
        let order = Bn254::FAMILY.order();
        let generator = g1_generator();
        let generator = Affine::new(element(&generator.x), element(&generator.y));
        let b = Bn254Fp::from_u64(3);
        let of = |comb, points: &[_]| FixedSum::new(comb, None, points, b, order.clone());
        let other = affine(of(Comb::new(4), &[]).times(&7u32.into(), projective(generator)));
        let points = [Some(generator), None, other];
        let (by_rows, by_loop) = (of(Comb::new(ROW_TEETH), &points), of(Comb::new(5), &points));
        let power = |base: u32, exponent: u32| BigUint::from(base).modpow(&exponent.into(), &order);
        let last = &order - 1u32;
        let cases = [
            [BigUint::ZERO, BigUint::ZERO],
            [1u32.into(), last.clone()],
            [last.clone(), last],
            // 7·G − 7·G, which is the identity, and a power of two in each half of the columns.
            [&order - 7u32, 1u32.into()],
            [BigUint::from(1u8) << 31, BigUint::from(1u8) << 223],
            [power(5, 300), power(11, 400)],
        ];
        for [first, second] in cases {
            let machine = Numbers::<Bn254Fp>::new(Vec::new());
            let scalars = [&first, &BigUint::ZERO, &second].map(|value| U256::from_be_slice(&value.to_bytes_be()));
            let variables = scalars.map(|scalar| machine.variable("scalar", scalar));
            let three_halves = &Bn254::constants().three_halves;
            let rows = machine.array("rows", Capacity::Fixed(2));
            let found = by_rows.compute_by_rows(&machine, &variables, rows, three_halves);
            let expected = by_loop.compute(&machine, &scalars, three_halves);
            assert_eq!(found.z == Bn254Fp::ZERO, expected.z == Bn254Fp::ZERO, "{first} {second}");
            let (zz, other_zz) = (found.z.square(), expected.z.square());
            assert_eq!(found.x * other_zz, expected.x * zz, "{first} {second}");
            assert_eq!(found.y * other_zz * expected.z, expected.y * zz * found.z, "{first} {second}");
        }
    }
}
