//! a·P + b·Q on G1 for a constant P and any Q of the group, given z·Q from the check that Q is in it, z = |x|.
//!
//! b is written to the base z, b = b₀ + b₁·z + b₂·z² + b₃·z³, and z² is −φ: so b·Q = (b₀ − b₂·ω)·Q + (b₁ − b₃·ω)·(z·Q), with digits of Z[ω] to
//! the base 4 as [`crate::eisenstein`] has them, 32 of each.
//!
//! a is a comb of eight teeth, 1 and 2 times 2⁰, 2⁶⁴, 2¹²⁸ and 2¹⁹², in 32 columns that are powers of 4. Its digits are signed, c ↦ 2c − 1, as in
//! [`crate::comb`], so that columns with opposite digits are opposite: the table has those alone whose last digit is 1. All share the doublings.
//!
//! The sum starts with a multiple of a point T of small order, see [`super::torsion`]. Until it ends it is outside the group, and what is added to it is
//! in the group: no addition meets an exceptional case. The last addition takes the multiple of T away; it is one of opposite points exactly if the sum
//! is the identity.

use super::constants::constants;
use super::msm::digits::lengths;
use super::torsion::{ConstantCoordinate, torsion_point};
use crate::eisenstein::{DIGIT, DIGITS, Multiples, Table, arranged, cells, exchanged, place_from};
use crate::fixed_base::Sums;
use crate::group::{Affine, Jacobian};
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Fe, Number};
use residue_ir::{Array, Capacity, Feature, Machine, SequenceStep, WordOp};
use residue_modular::fields::Bls12_381Fp;
use ruint::aliases::U256;

/// Digits of each of both numbers in Z[ω], and columns of the comb.
const PLACES: u32 = 32;
/// The exponents of a comb's teeth in the first column, by their bits in a column.
const TEETH: [u32; 8] = [0, 1, 64, 65, 128, 129, 192, 193];

/// Parts of the loop: those of the digits for Q and for z·Q, and these.
const OF_MULTIPLE: usize = DIGITS;
const DOUBLE: usize = 2 * DIGITS;
const COLUMN: usize = DOUBLE + 1;
const PARTS: usize = COLUMN + 1;

const SUMS: Sums<Bls12_381Fp> = Sums { a: <Bls12_381Fp as Number>::ZERO };

/// P with its comb.
#[derive(Debug)]
pub struct FixedAndFree {
    /// The columns whose last digit is 1, by the others.
    columns: Vec<Vec<BigUint>>,
    /// T.
    start: Affine<Bls12_381Fp>,
    /// T/4.
    before_start: Affine<Bls12_381Fp>,
    /// Summand that completes the sum at the end.
    end: Affine<Bls12_381Fp>,
}

impl FixedAndFree {
    /// Of P, in the group and not the identity.
    pub fn new(point: Affine<Bls12_381Fp>) -> Self {
        let order = BigUint::from_bytes_be(&lengths().0.to_be_bytes::<32>());
        let half = (&order + 1u32) / 2u32;
        let times = |k: BigUint| SUMS.multiple(&(k * &half % &order), point);
        let teeth = TEETH.map(|exponent| times(BigUint::from(1u8) << exponent));
        let opposite = |point: Affine<Bls12_381Fp>| Affine::new(point.x, -point.y);
        let column = |digits: usize| {
            let sum = teeth.iter().enumerate().fold(None, |sum, (bit, &tooth)| {
                let is_positive = bit == teeth.len() - 1 || digits >> bit & 1 == 1;
                SUMS.add(sum, if is_positive { tooth } else { tooth.map(opposite) })
            });
            let Affine { x, y } = sum.expect("it is odd and below the order");
            vec![x.to_canonical(), y.to_canonical()]
        };
        let start = torsion_point::<Bls12_381Fp>();
        // The first column is not doubled.
        let doubled = SUMS.multiple(&(BigUint::from(1u8) << (2 * (PLACES - 1))), start).map(opposite);
        let torsion = BigUint::from(<Bls12_381Fp as ConstantCoordinate>::TORSION);
        let quarter = BigUint::from(4u8).modinv(&torsion).expect("it is odd");
        let lacking = times((BigUint::from(1u8) << 256u32) - 1u32);
        Self {
            columns: (0..1 << (teeth.len() - 1)).map(column).collect(),
            start,
            before_start: SUMS.multiple(&quarter, start).expect("it is not a multiple of the order"),
            end: SUMS.add(lacking, doubled).expect("they have other orders"),
        }
    }

    /// a·P + b·Q and what [`FixedAndFree::finish`] takes away, for a and b below the order, Q in the group and not the identity, and z·Q.
    /// More points of the group may be added before that.
    pub fn sum<M: Machine>(
        &self,
        machine: &M,
        [a, b]: [M::Word; 2],
        point: Affine<M::Fe>,
        multiple: Jacobian<M::Fe>,
    ) -> Jacobian<M::Fe> {
        let _scope = enter("fixed_and_free");
        let scalars = Digits { free: arranged(machine, free_digits(machine, b)), columns: columns(machine, a) };
        let three_halves = machine.constant(&constants().pairing.three_halves);
        let beta = machine.constant(&constants().beta);
        // (X, Y) of z·Q is on a curve that is isomorphic by its Z.
        let Jacobian { x, y, z: own } = multiple;
        let of_point = Multiples::new(machine, point, beta, three_halves);
        let of_multiple = Multiples::new(machine, Affine::new(x, y), beta, three_halves);
        let [first, second] = [of_point.denominator(), of_multiple.denominator()];
        let both = first * second;
        let both_squared = both.square();
        let z = both * own;
        let zz = z.square();
        let zzz = zz * z;
        let free = [
            of_point.over(Some(second * own), beta, z, [zz, zzz]),
            of_multiple.over(Some(first), beta, both, [both_squared, both_squared * both]),
        ];
        let addends = Addends { free, columns: machine.table("fixed_columns", &self.columns), zz, zzz };
        // Where instructions are long, so is code: parts and rows are beyond addresses of 16 bits.
        let sum = machine.branch(
            machine.has(Feature::PowersOfTwo),
            |machine| self.by_parts(machine, &scalars, &addends),
            |machine| self.by_lookups(machine, &scalars, &addends),
        );
        Jacobian { z: sum.z * z, ..sum }
    }

    /// By a sequence whose steps choose parts and carry rows.
    fn by_parts<M: Machine>(
        &self,
        machine: &M,
        scalars: &Digits<M::Word>,
        addends: &Addends<M::Fe>,
    ) -> Jacobian<M::Fe> {
        let digits = cells(machine, scalars.free, 0).map(|word| machine.bind(word));
        let columns = scalars.columns.in_cells(machine);
        let mut order = Vec::new();
        for at in (0..PLACES).rev() {
            order.extend(columns.steps(at));
            order.push(SequenceStep::Part(if at == PLACES - 1 { COLUMN } else { DOUBLE }));
            order.extend([place_from(&digits, at, 0), place_from(&digits, PLACES + at, OF_MULTIPLE)]);
        }
        // A column comes after every doubling.
        let then: [_; PARTS] = std::array::from_fn(|part| (part == DOUBLE).then_some(COLUMN));
        // By the sign of a column: 0 is minus.
        let cubes: Array<M::Fe> = machine.array("cubes_by_sign", Capacity::Fixed(2));
        machine.store(cubes, machine.small(0), -addends.zzz);
        machine.store(cubes, machine.small(1), addends.zzz);
        let start = addends.scaled(lifted(machine, self.start)).to_jacobian(machine.one());
        machine.sequence_of(&order, &then, start, |machine, part, sum: Jacobian<M::Fe>| match part {
            DOUBLE => twice_doubled(machine, sum),
            COLUMN => {
                let Affine { x, y }: Affine<M::Fe> = machine.take_row(addends.columns);
                let cube: M::Fe = machine.take_element(cubes);
                sum.add_mixed(Affine::new(x * addends.zz, y * cube))
            }
            digit => addends.free[digit / DIGITS].add(sum, digit % DIGITS),
        })
    }

    /// By a loop over the places.
    fn by_lookups<M: Machine>(
        &self,
        machine: &M,
        scalars: &Digits<M::Word>,
        addends: &Addends<M::Fe>,
    ) -> Jacobian<M::Fe> {
        let op = |op, a, b| machine.word_op(op, a, b);
        let nothing = lifted(machine, self.start);
        let arrays: [Array<Affine<M::Fe>>; 2] =
            ["digits_of_point", "digits_of_multiple"].map(|name| machine.array(name, Capacity::Fixed(DIGITS as u32))); // a small number
        for (array, table) in arrays.into_iter().zip(&addends.free) {
            for (digit, point) in (0u64..).zip(table.points(nothing)) {
                machine.store(array, machine.small(digit), point);
            }
        }
        let zero = DIGIT.iter().position(Option::is_none).expect("it is one of them") as u64; // widens
        let start = addends.scaled(lifted(machine, self.before_start)).to_jacobian(machine.one());
        machine.repeat(machine.small(PLACES.into()), start, |machine, turn, sum| {
            let at = machine.bind(op(WordOp::Sub, machine.small(u64::from(PLACES) - 1), turn));
            let sum = twice_doubled(machine, sum);
            let [row, sign] = scalars.columns.at(machine, at);
            let Affine { x, y } = addends.scaled(machine.lookup(addends.columns, row));
            let y = machine.branch(sign, |_| y, |_| -y);
            let sum = sum.add_mixed(Affine::new(x, y));
            (0u64..).zip(arrays).fold(sum, |sum, (number, array)| {
                let digit = machine.bind(free_digit(machine, scalars.free, at, number));
                let is_zero = op(WordOp::Eq, digit, machine.small(zero));
                machine.branch(is_zero, |_| sum, |machine| sum.add_mixed(machine.load(array, digit)))
            })
        })
    }

    /// The sum itself: Z = 0 exactly if it is the identity.
    pub fn finish<M: Machine>(&self, machine: &M, sum: Jacobian<M::Fe>) -> Jacobian<M::Fe> {
        sum.add_mixed(lifted(machine, self.end))
    }
}

/// The digits of both scalars: those of b as [`arranged`] has them.
struct Digits<W> {
    free: W,
    columns: Columns<W>,
}

/// Addends of the steps, over one denominator once [`Addends::scaled`].
struct Addends<F> {
    /// The multiples of Q and z·Q, which are.
    free: [Table<F>; 2],
    columns: residue_ir::Table<Affine<F>>,
    zz: F,
    zzz: F,
}

impl<F: Fe> Addends<F> {
    fn scaled(&self, Affine { x, y }: Affine<F>) -> Affine<F> {
        Affine::new(x * self.zz, y * self.zzz)
    }
}

/// S ↦ 4S.
fn twice_doubled<M: Machine>(machine: &M, sum: Jacobian<M::Fe>) -> Jacobian<M::Fe> {
    let three_halves = machine.constant(&constants().pairing.three_halves);
    sum.double(three_halves).double(three_halves)
}

/// The number of the digit at place `at` of Q, 0, or z·Q, 1. Of a place among 64 the lowest bit is the highest of the digit's place in the word,
/// see [`arranged`].
fn free_digit<M: Machine>(machine: &M, arranged: M::Word, at: M::Word, number: u64) -> M::Word {
    let op = |op, a, b| machine.word_op(op, a, b);
    let low = op(WordOp::Shl, op(WordOp::And, at, machine.small(1)), machine.small(7));
    let high = op(WordOp::Shl, op(WordOp::Shr, at, machine.small(1)), machine.small(2));
    let first = machine.small(u64::from(PLACES) / 2 * 4 * number);
    let bit = op(WordOp::Add, op(WordOp::Or, low, high), first);
    op(WordOp::And, op(WordOp::Shr, arranged, bit), machine.small(DIGITS as u64 - 1)) // usize to u64 widens
}

fn lifted<M: Machine>(machine: &M, Affine { x, y }: Affine<Bls12_381Fp>) -> Affine<M::Fe> {
    Affine::new(machine.constant(&x.to_canonical()), machine.constant(&y.to_canonical()))
}

/// Σ 2·4ⁱ over the places of one number: what makes digits from 0 to 3 of those from −2 to 1.
const TWOS: u64 = 0xaaaa_aaaa_aaaa_aaaa;
/// Offset of b₀ and b₁, which begin below zero: digits reach numbers from −2⁶⁴·2/3 on and up to 2⁶⁴/3.
const BELOW: u64 = 1 << 63;
/// The same of b₂ and b₃, whose opposites are digits.
const OPPOSITES_BELOW: u64 = 1 << 62;

/// b ↦ the digits of b₀, b₁, −b₂ and −b₃, 64 bits of each, with 2 added to all.
///
/// With c = Σ hᵢ·zⁱ, for the numbers hᵢ that they begin below zero, bᵢ + hᵢ are the digits to the base z of (b + c) mod r, which is below z⁴.
fn free_digits<M: Machine>(machine: &M, scalar: M::Word) -> M::Word {
    let (r, z, _) = lengths();
    let op = |op, a, b| machine.word_op(op, a, b);
    let [below, opposites_below, twos] = [BELOW, OPPOSITES_BELOW, TWOS].map(U256::from);
    let c = below * (U256::ONE + z) + opposites_below * (U256::ONE + z) * z * z;
    let mut rest = machine.bind(op(WordOp::Mod, op(WordOp::Add, scalar, machine.word(c)), machine.word(r)));
    let (least, most) = (twos - below, twos + opposites_below);
    let mut word = machine.word(least + (least << 64) + (most << 128) + (most << 192));
    for number in 0..4u64 {
        let digit = if number < 3 { op(WordOp::Mod, rest, machine.word(z)) } else { rest };
        let shifted = if number == 0 { digit } else { op(WordOp::Shl, digit, machine.small(64 * number)) };
        word = machine.bind(op(if number < 2 { WordOp::Add } else { WordOp::Sub }, word, shifted));
        if number < 3 {
            rest = machine.bind(op(WordOp::Div, rest, machine.word(z)));
        }
    }
    word
}

/// The columns of a scalar, a byte of each.
struct Columns<W> {
    /// Bits 0 to 6: the digits but the last, by which the table has columns.
    rows: W,
    /// 1 in a bit for a column whose last digit is 1.
    signs: W,
}

/// The same in cells of 16 bits, those of even bytes and those of odd ones.
struct Cells<W> {
    rows: [W; 2],
    signs: [W; 2],
}

/// a ↦ its columns. A bit of the word has a number of eight bits: bits 7 and 6 and bit 0 say which tooth it is of, the others which column. Bit 7 is
/// exchanged with bit 2 and 6 with 1, so that a column is a byte.
fn columns<M: Machine>(machine: &M, scalar: M::Word) -> Columns<M::Word> {
    let op = |op, a, b| machine.word_op(op, a, b);
    let bytes = |value: u64| (0..32usize).fold(U256::ZERO, |word, byte| word | U256::from(value) << (8 * byte));
    let word = [(7, 2), (6, 1)].into_iter().fold(scalar, |word, (high, low)| exchanged(machine, word, high, low));
    let word = machine.bind(word);
    let signs = machine.bind(op(WordOp::And, op(WordOp::Shr, word, machine.small(7)), machine.word(bytes(1))));
    // The digits of a column whose last is −1 are taken from its opposite.
    let opposites = op(WordOp::Mul, op(WordOp::Xor, signs, machine.word(bytes(1))), machine.small(0x7f));
    let rows = machine.bind(op(WordOp::Xor, word, opposites));
    Columns { rows, signs }
}

impl<W: Copy> Columns<W> {
    fn in_cells<M: Machine<Word = W>>(&self, machine: &M) -> Cells<W> {
        let op = |op, a, b| machine.word_op(op, a, b);
        let each = |value| machine.word(SequenceStep::<W>::CELLS.each(value));
        let halves = |word, value| {
            [word, op(WordOp::Shr, word, machine.small(8))].map(|word| machine.bind(op(WordOp::And, word, each(value))))
        };
        Cells { rows: halves(self.rows, 0x7f), signs: halves(self.signs, 1) }
    }

    /// The row and the sign of the column at a place.
    fn at<M: Machine<Word = W>>(&self, machine: &M, at: W) -> [W; 2] {
        let op = |op, a, b| machine.word_op(op, a, b);
        let part = |bits, left: u64| op(WordOp::Shl, op(WordOp::And, at, machine.small(bits)), machine.small(left));
        let others = op(WordOp::Shl, op(WordOp::Shr, at, machine.small(2)), machine.small(3));
        // The lower two bits of a place are bits 4 and 3 of its byte's number, and so bits 7 and 6 of a bit's.
        let bit = machine.bind(op(WordOp::Or, part(3, 6), others));
        [(self.rows, 0x7f), (self.signs, 1)]
            .map(|(word, mask)| machine.bind(op(WordOp::And, op(WordOp::Shr, word, bit), machine.small(mask))))
    }
}

impl<W: Copy> Cells<W> {
    /// Carried words of the steps for the column at place `at`: its row, and its sign.
    fn steps(&self, at: u32) -> [SequenceStep<W>; 2] {
        let byte = (at & 3) << 3 | at >> 2;
        let half = (byte % 2) as usize; // widens
        [self.rows, self.signs].map(|words| SequenceStep::Carry { word: words[half], first_bit: 16 * (byte / 2) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bls12_381::constants::{X_ABS, g1_generator};
    use crate::bls12_381::torsion::multiple;
    use num_bigint::{BigInt, Sign};
    use residue_ir::Numbers;

    fn big(word: U256) -> BigInt {
        BigInt::from_bytes_be(Sign::Plus, &word.to_be_bytes::<32>())
    }

    fn scalars() -> Vec<U256> {
        let (r, z, _) = lengths();
        let near = |word: U256| (0..5u64).map(move |k| word.wrapping_add(U256::from(k)).wrapping_sub(U256::from(2)));
        let mut scalars: Vec<U256> = near(U256::ZERO).collect();
        for word in [z, z * z, z * z * z, r, r / U256::from(2), (z * z - U256::ONE) * z, z / U256::from(2), r / z] {
            scalars.extend(near(word));
        }
        scalars.extend((3..9u64).map(|k| U256::MAX / U256::from(k)));
        scalars.into_iter().filter(|scalar| *scalar < r).collect()
    }

    #[test]
    fn digits_are_those_of_the_scalar() {
        let machine = Numbers::<Bls12_381Fp>::new(Vec::new());
        let z = BigInt::from(X_ABS);
        let r = big(lengths().0);
        for scalar in scalars() {
            let digits = free_digits(&machine, scalar);
            let word = big(digits);
            let arranged = arranged(&machine, digits);
            for (at, number) in (0..PLACES).flat_map(|at| [(at, 0u32), (at, 1)]) {
                let part = |half: u32| (&word >> (128 * half + 64 * number + 2 * at)) & BigInt::from(3);
                let found = free_digit(&machine, arranged, U256::from(at), number.into());
                assert_eq!(big(found), part(0) + part(1) * 4, "{scalar:#x}, place {at}");
            }
            let mut sum = BigInt::ZERO;
            for number in 0..4u32 {
                let sign = if number < 2 { 1 } else { -1 };
                for place in 0..PLACES {
                    let digit: BigInt = ((&word >> (64 * number + 2 * place)) & BigInt::from(3)) - 2;
                    sum += (digit * sign * z.pow(number)) << (2 * place);
                }
            }
            assert_eq!((sum - big(scalar)) % &r, BigInt::ZERO, "{scalar:#x}");
        }
    }

    #[test]
    fn the_numbers_of_a_scalar_are_within_the_reach_of_digits() {
        let [z, below, opposites_below, twos] = [X_ABS, BELOW, OPPOSITES_BELOW, TWOS].map(u128::from);
        assert!(below <= twos && twos - below + z <= 1 << 64);
        assert!(twos + opposites_below < 1 << 64 && twos + opposites_below >= z - 1);
    }

    #[test]
    fn columns_are_signed_digits_of_the_scalar() {
        let machine = Numbers::<Bls12_381Fp>::new(Vec::new());
        for scalar in scalars() {
            let columns = columns(&machine, scalar);
            let cells = columns.in_cells(&machine);
            let mut sum = BigInt::ZERO;
            for place in 0..PLACES {
                let [row, sign] = cells.steps(place).map(|step| match step {
                    SequenceStep::Carry { word, first_bit } => {
                        u32::try_from(SequenceStep::<U256>::CELLS.take(word, first_bit)).unwrap()
                    }
                    _ => unreachable!("columns are carried"),
                });
                assert!(row < 128 && sign < 2);
                assert_eq!(columns.at(&machine, U256::from(place)), [row, sign].map(U256::from), "place {place}");
                let digits = (0..8u32).map(|bit| if (row | 128) >> bit & 1 == 1 { 1 } else { -1 });
                let column = digits
                    .zip(TEETH)
                    .fold(BigInt::ZERO, |column, (digit, exponent)| column + (BigInt::from(digit) << exponent));
                sum += (if sign == 1 { column } else { -column }) << (2 * place);
            }
            assert_eq!(sum, big(scalar) * 2 - ((BigInt::from(1) << 256) - 1), "{scalar:#x}");
        }
    }

    #[test]
    fn sums_are_those_of_the_group() {
        let machine = Numbers::<Bls12_381Fp>::new(Vec::new());
        let Affine { x, y } = g1_generator();
        let [x, y] = [x, y].map(|value| Bls12_381Fp::from_canonical(&value).unwrap());
        let generator = Affine::new(x, y);
        let fixed = FixedAndFree::new(generator);
        let free = multiple(generator, &7u32.into()).unwrap();
        let of_free = multiple(free, &X_ABS.into()).unwrap();
        let scale = Bls12_381Fp::from_u64(5);
        let of_free = Jacobian { x: of_free.x * scale.square(), y: of_free.y * (scale.square() * scale), z: scale };
        let order = big(lengths().0).to_biguint().unwrap();
        let all = scalars();
        let pairs = all.iter().zip(all.iter().rev()).map(|(&a, &b)| (a, b));
        let cancelling = all.iter().map(|&a| {
            let b = (&order - big(a).to_biguint().unwrap()) * BigUint::from(7u8).modinv(&order).unwrap() % &order;
            (a, U256::from_be_slice(&b.to_bytes_be()))
        });
        for (a, b) in pairs.chain(cancelling) {
            let sum = fixed.finish(&machine, fixed.sum(&machine, [a, b], free, of_free));
            let sum_of_scalars: BigInt = big(a) + big(b) * 7;
            let expected = sum_of_scalars.to_biguint().unwrap() % &order;
            let expected = SUMS.multiple(&expected, generator);
            let found = sum
                .z
                .inverse()
                .map(|inverse| Affine::new(sum.x * inverse.square(), sum.y * (inverse.square() * inverse)));
            assert_eq!(found, expected, "{a:#x} {b:#x}");
        }
    }
}
