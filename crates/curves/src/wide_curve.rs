//! Curves y² = x³ − 3x + b whose scalars take several words: u·G + v·Q for a point and scalars at run time. Which curves there are, [`crate::p384`] and
//! [`crate::p521`] say.
//!
//! The sum goes along the digits of v, odd ones to the base 16 ([`crate::odd_multiples`]), and along those of u, for
//! which the multiples of G are constants: bytes, by a table in code of 128 multiples, or nibbles ([`Windows`]). An array holds the multiples of Q, and those of G that nibbles choose, over one denominator, and steps carry them to one part that
//! adds: that takes least code. The sum begins with a constant point T; what this adds is taken from u beforehand ([`WideCurve::to_windows`]). Additions are incomplete; a sum that meets an exceptional case ends with Z = 0, and [`WideCurve::complete`] is for that.

use crate::complete::AMinusThree;
use crate::fixed_base::Sums;
use crate::group::{Affine, Jacobian, Projective};
use crate::odd_multiples::{DIGITS, DOUBLINGS, Isomorphism, OddMultiples};
use crate::p256::{Constants, identity, shamir_onto, sign_factors, signed_bytes, word};
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Fe, Number};
use residue_ir::{Array, Capacity, Feature, Machine, SequenceStep, Table, Variable, WordOp};
use ruint::aliases::U256;
use std::marker::PhantomData;

/// A curve over the field of `F` whose scalars take `WORDS` words, two or more. Arrays of words are a number's, the most significant first.
#[derive(Debug)]
pub struct WideCurve<F, const WORDS: usize> {
    /// The constants.
    pub constants: Constants,
    field: PhantomData<fn() -> F>,
}

/// Digits of u, for which multiples of G stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// ±1, ±3, … ±255 to the base 256: a table of 128 multiples, one of which is added at every second place.
    SignedBytes,
    /// ±1, ±3, … ±15 to the base 16: a table of 8 multiples, which stand in an array with those of Q. An addition more at every second place.
    OddNibbles,
}

/// A constant below 2^(256 · `WORDS`) as words.
pub fn words<M: Machine, const WORDS: usize>(machine: &M, value: &BigUint) -> [M::Word; WORDS] {
    split(value).map(|part| machine.word(part))
}

fn split<const WORDS: usize>(value: &BigUint) -> [U256; WORDS] {
    let limit = BigUint::from(1u8) << 256;
    std::array::from_fn(|at| word(&((value >> (256 * (WORDS - 1 - at))) % &limit)))
}

/// 1 if a < b, else 0.
pub fn is_less<M: Machine, const WORDS: usize>(machine: &M, a: [M::Word; WORDS], b: [M::Word; WORDS]) -> M::Word {
    let op = |op, a, b| machine.word_op(op, a, b);
    let last = op(WordOp::Lt, a[WORDS - 1], b[WORDS - 1]);
    (0..WORDS - 1).rev().fold(last, |less, at| {
        let equal = op(WordOp::And, op(WordOp::Eq, a[at], b[at]), less);
        op(WordOp::Or, op(WordOp::Lt, a[at], b[at]), equal)
    })
}

/// a + b, which is below 2^(256 · `WORDS`).
pub fn add<M: Machine, const WORDS: usize>(machine: &M, a: [M::Word; WORDS], b: [M::Word; WORDS]) -> [M::Word; WORDS] {
    let op = |op, a, b| machine.word_op(op, a, b);
    let mut sum = a;
    let last = WORDS - 1;
    sum[last] = machine.bind(op(WordOp::Add, a[last], b[last]));
    let mut carry = op(WordOp::Lt, sum[last], b[last]);
    for at in (1..last).rev() {
        let without = machine.bind(op(WordOp::Add, a[at], b[at]));
        sum[at] = machine.bind(op(WordOp::Add, without, carry));
        carry = op(WordOp::Or, op(WordOp::Lt, without, b[at]), op(WordOp::Lt, sum[at], without));
    }
    sum[0] = op(WordOp::Add, op(WordOp::Add, a[0], b[0]), carry);
    sum
}

/// Variables of the code that makes digits: it stands once for all forms of a program, so that they have the same.
#[derive(Debug)]
pub struct Held(Vec<Variable>);

/// A word of cells: itself, or its offset in scratch memory.
#[derive(Debug, Clone, Copy)]
enum Kept<W> {
    Word(W),
    Scratch(u64),
}

impl<W: Copy> Kept<W> {
    /// Words as steps read them, in the region of their sequence.
    fn read<M: Machine<Word = W>>(machine: &M, kept: &[Self]) -> Vec<W> {
        let read = |kept: &Self| match *kept {
            Self::Word(word) => word,
            Self::Scratch(offset) => machine.scratch_word(machine.small(offset)),
        };
        kept.iter().map(read).collect()
    }
}

/// Words of cells with the digits of both scalars.
#[derive(Debug)]
struct Digits<W> {
    /// Of u nibbles, or the entries of bytes and their signs.
    of_u: Vec<Vec<Kept<W>>>,
    /// Of v.
    of_v: Vec<Kept<W>>,
}

impl<F: Number, const WORDS: usize> WideCurve<F, WORDS> {
    /// By hexadecimal digits of b, the coordinates of G and n.
    pub(crate) fn new([b, x, y, order]: [&str; 4]) -> Self {
        let number = |digits: &str| BigUint::parse_bytes(digits.as_bytes(), 16).expect("these are digits");
        let generator = Affine::new(number(x), number(y));
        Self { constants: Constants { b: number(b), generator, order: number(order) }, field: PhantomData }
    }

    /// Sums on the curve.
    pub fn sums(&self) -> Sums<F> {
        Sums { a: -(F::ONE + F::ONE + F::ONE) }
    }

    /// a/2 and 3/2.
    fn half_a_and_three_halves() -> [F; 2] {
        let three_halves = F::ONE + (F::ONE + F::ONE).inverse().expect("2 is not zero");
        [-three_halves, three_halves]
    }

    /// G as numbers.
    pub fn generator(&self) -> Affine<F> {
        let Affine { x, y } = &self.constants.generator;
        let element = |value| F::from_canonical(value).expect("it is below p");
        Affine::new(element(x), element(y))
    }

    /// Bits of a scalar.
    fn bits(&self) -> u32 {
        u32::try_from(self.constants.order.bits()).expect("a scalar has a few words")
    }

    /// Places of digits of a scalar.
    fn places(&self) -> u32 {
        self.bits().div_ceil(4)
    }

    /// Bits that these have in the first word.
    fn top_bits(&self) -> u32 {
        4 * self.places() - 256 * (WORDS as u32 - 1) // 2 or 3
    }

    /// Cells of the first word that have the windows of one row, and how many rows fill a word.
    fn top_cells(&self) -> (u32, u32) {
        let cells = self.top_bits().div_ceil(16);
        (cells, 16 / cells)
    }

    /// T = τ·G with τ = 3²⁵⁰ modulo n: no multiple of G that anybody has for a key.
    fn tau(&self) -> BigUint {
        BigUint::from(3u8).modpow(&250u32.into(), &self.constants.order)
    }

    /// Map from u to windows: (o, s) for s·(u − o) modulo n. o is the multiple of G in the sum beyond u·G + v·Q: T after all doublings, and for bytes b the
    /// excess of digits, which are 2·b − 255; s undoes the factor 2 of these.
    pub fn to_windows(&self, windows: Windows) -> (BigUint, BigUint) {
        let n = &self.constants.order;
        let doublings = BigUint::from(1u8) << (DOUBLINGS as u32 * (self.places() - 1)); // 4
        let of_start = self.tau() * doublings % n;
        match windows {
            Windows::OddNibbles => (of_start, BigUint::from(1u8)),
            Windows::SignedBytes => {
                let excess = ((BigUint::from(1u8) << (8 * self.bits().div_ceil(8))) - 1u8) % n;
                ((of_start + n - excess) % n, BigUint::from(2u8).modinv(n).expect("n is odd"))
            }
        }
    }

    /// y² − x³ + 3x − b: zero exactly if the point is on the curve.
    pub fn curve_defect<M: Machine>(&self, machine: &M, point: Affine<M::Fe>) -> M::Fe {
        let Affine { x, y } = point;
        y.square() - (x.square() - machine.constant(&3u32.into())) * x - machine.constant(&self.constants.b)
    }

    /// Variables for [`WideCurve::sum`].
    pub fn held<M: Machine>(&self, machine: &M) -> Held {
        let count = 4 * (WORDS - 1) + 4usize.div_ceil(self.top_cells().1 as usize); // u32 to usize widens
        Held((0..count).map(|_| machine.variable("held", machine.small(0))).collect())
    }

    /// The words whose cells have the windows of so many bits of a number: those of the last word, then those of the one before, and so on.
    fn cells<M: Machine>(&self, machine: &M, bits: u32, number: [M::Word; WORDS]) -> Vec<M::Word> {
        let op = |op, a, b| machine.word_op(op, a, b);
        let number = number.map(|word| machine.bind(word));
        let mask = machine.word(SequenceStep::<M::Word>::CELLS.each((1 << bits) - 1));
        let shift = |shift, word, bits: u32| if bits == 0 { word } else { op(shift, word, machine.small(bits.into())) };
        let row = |word, row: u32| op(WordOp::And, shift(WordOp::Shr, word, row * bits), mask);
        let rows = 16 / bits;
        let mut all = Vec::new();
        for &word in number[1..].iter().rev() {
            all.extend((0..rows).map(|at| row(word, at)));
        }
        // Of the first word a row has few cells: several of them fill a word.
        let (cells, in_one) = self.top_cells();
        let rows = rows.min(self.top_bits().div_ceil(bits));
        let step = in_one as usize; // u32 to usize widens
        for first in (0..rows).step_by(step) {
            let in_word = in_one.min(rows - first);
            let parts = (0..in_word).map(|at| shift(WordOp::Shl, row(number[0], first + at), 16 * cells * at));
            all.extend(parts.reduce(|one, other| op(WordOp::Or, one, other)));
        }
        all
    }

    /// The step that carries the row for the window of so many bits at place `at`, given [`WideCurve::cells`].
    fn carry<W: Copy>(&self, words: &[W], bits: u32, at: u32) -> SequenceStep<W> {
        let rows = 16 / bits;
        let (row, cell) = (at % rows, at / rows);
        let after = (cell / 16).min(WORDS as u32 - 1); // 2 or 3
        let (word, cell) = if after < WORDS as u32 - 1 {
            (row, cell % 16)
        } else {
            let (cells, in_one) = self.top_cells();
            (row / in_one, cell % 16 + row % in_one * cells)
        };
        SequenceStep::Carry { word: words[(rows * after + word) as usize], first_bit: 16 * cell } // u32 to usize widens
    }

    /// Digits of both scalars.
    fn digits_of_both<M: Machine>(
        &self,
        machine: &M,
        windows: Windows,
        [u, v]: [[M::Word; WORDS]; 2],
        held: &Held,
    ) -> Digits<M::Word> {
        let Held(variables) = held;
        let count = variables.len() as u64; // usize to u64 widens
        if WORDS > 2 {
            machine.scratch(32 * 3 * variables.len() as u32); // some ten
        }
        let of_u = match windows {
            Windows::OddNibbles => vec![self.digits(machine, u, held, (DIGITS, count))],
            Windows::SignedBytes => {
                let both = u.map(|word| signed_bytes(machine, word));
                let top_bits = 8 * self.top_bits().div_ceil(8);
                let below = machine.word((U256::ONE << top_bits as usize) - U256::ONE); // widens
                let each = [(both.map(|(entries, _)| entries), count), (both.map(|(_, signs)| signs), 2 * count)];
                let kept = each.map(|(mut number, first)| {
                    number[0] = machine.word_op(WordOp::And, number[0], below);
                    let cells = self.cells(machine, 8, number).into_iter().zip(first..);
                    cells.map(|(cells, place)| Self::keep(machine, "windows", cells, place)).collect()
                });
                kept.into()
            }
        };
        Digits { of_u, of_v: self.digits(machine, v, held, (0, 0)) }
    }

    /// Keeps a word for the steps of a sequence. Those of two words for a scalar fit the stack; others have this place in scratch memory.
    fn keep<M: Machine>(machine: &M, name: &'static str, word: M::Word, place: u64) -> Kept<M::Word> {
        if WORDS > 2 {
            machine.set_scratch(machine.small(32 * place), word);
            Kept::Scratch(32 * place)
        } else {
            Kept::Word(machine.get(machine.variable(name, word)))
        }
    }

    /// The words whose cells have the digits of a number, each with `first` added, in places from `place` on. `held` is what code for it is given and
    /// gives, as it stands once.
    fn digits<M: Machine>(
        &self,
        machine: &M,
        k: [M::Word; WORDS],
        Held(held): &Held,
        (first, place): (usize, u64),
    ) -> Vec<Kept<M::Word>> {
        held.iter().zip(k).for_each(|(&variable, word)| machine.set(variable, word));
        // A program has one curve: its points are over the program's field.
        machine.function("odd_digits", (), |machine, ()| {
            let odd = self.odd_digits(machine, std::array::from_fn(|at| machine.get(held[at])));
            let cells = self.cells(machine, 4, odd);
            held.iter().zip(cells).for_each(|(&variable, cells)| machine.set(variable, cells));
        });
        let after = machine.word(SequenceStep::<M::Word>::CELLS.each(first as u64)); // 0 or 16
        let given = held.iter().zip(place..).map(|(&variable, place)| {
            let cells = machine.get(variable);
            let moved = if first == 0 { cells } else { machine.word_op(WordOp::Or, cells, after) };
            Self::keep(machine, "digits", moved, place)
        });
        given.collect()
    }

    /// (k + 2ᵇ − 1)/2 for an odd k and the b bits of all places, and the same of k − n for an even one.
    fn odd_digits<M: Machine>(&self, machine: &M, k: [M::Word; WORDS]) -> [M::Word; WORDS] {
        let op = |op, a, b| machine.word_op(op, a, b);
        let k = k.map(|word| machine.bind(word));
        let even = machine.bind(machine.not(op(WordOp::And, k[WORDS - 1], machine.small(1))));
        // With k − n for an even one it is (n + 1)/2 less.
        let less = split::<WORDS>(&((&self.constants.order + 1u32) >> 1u32));
        let less = less.map(|part| op(WordOp::Mul, even, machine.word(part)));
        let (one, top) = (machine.small(1), machine.small(255));
        let mut digits = k;
        let mut borrow = None;
        for at in (1..WORDS).rev() {
            let half = op(WordOp::Or, op(WordOp::Shr, k[at], one), op(WordOp::Shl, k[at - 1], top));
            let (half, less) = (machine.bind(half), machine.bind(less[at]));
            let difference = op(WordOp::Sub, half, less);
            let is_less = op(WordOp::Lt, half, less);
            (digits[at], borrow) = match borrow {
                None => (difference, Some(is_less)),
                Some(borrow) => {
                    let (difference, borrow) = (machine.bind(difference), machine.bind(borrow));
                    let again = op(WordOp::Lt, difference, borrow);
                    (op(WordOp::Sub, difference, borrow), Some(op(WordOp::Or, is_less, again)))
                }
            };
        }
        let bits = machine.word(U256::ONE << (self.top_bits() as usize - 1)); // widens
        let half = op(WordOp::Add, op(WordOp::Shr, k[0], one), bits);
        let difference = op(WordOp::Sub, half, less[0]);
        digits[0] = borrow.map_or(difference, |borrow| op(WordOp::Sub, difference, borrow));
        digits
    }

    /// (u by [`WideCurve::to_windows`], v, Q) ↦ u·G + v·Q in Jacobian coordinates for scalars below n; Z = 0 says nothing. Q is on the curve.
    pub fn sum<M: Machine>(
        &self,
        machine: &M,
        windows: Windows,
        scalars: [[M::Word; WORDS]; 2],
        held: &Held,
        q: Affine<M::Fe>,
    ) -> Jacobian<M::Fe> {
        let digits = self.digits_of_both(machine, windows, scalars, held);
        let constants = Self::half_a_and_three_halves().map(|value| machine.constant(&value.to_canonical()));
        let count = match windows {
            Windows::SignedBytes => DIGITS as u32, // 16
            Windows::OddNibbles => 2 * DIGITS as u32,
        };
        let points = machine.array::<Affine<M::Fe>>("points", Capacity::Fixed(count));
        machine.reserve(points, machine.small(count.into()));
        let of = |machine: &M, model: Model<M::Fe>| match windows {
            Windows::SignedBytes => self.sum_by_bytes(machine, &digits, points, &model),
            Windows::OddNibbles => self.sum_by_nibbles(machine, &digits, points, &model),
        };
        let by_instructions = |machine: &M| {
            let [half_a, three_halves] = constants;
            let multiples = OddMultiples::new(q, half_a, three_halves);
            for nibble in 0..DIGITS {
                machine.store(points, machine.small(nibble as u64), multiples.multiple(nibble)); // usize to u64 widens
            }
            of(machine, Model::Isomorphic(multiples.curve))
        };
        let by_loops = |machine: &M| of(machine, Model::BySums(OddMultiples::store(machine, points, q, constants)));
        let with_inversion = |machine: &M| {
            OddMultiples::store_affine(machine, points, q, constants, |z| machine.invert(z));
            of(machine, Model::Same)
        };
        // Where an addition takes an instruction, products with constants are fewer, and loops take more than they spare. In words an inversion
        // takes less gas than doublings with another a, and more code.
        machine.branch(machine.has(Feature::FieldSlots), by_instructions, |machine| {
            machine.branch(machine.has(Feature::Inversion), with_inversion, by_loops)
        })
    }

    /// With [`Windows::SignedBytes`], given the multiples of Q.
    fn sum_by_bytes<M: Machine>(
        &self,
        machine: &M,
        digits: &Digits<M::Word>,
        points: Array<Affine<M::Fe>>,
        model: &Model<M::Fe>,
    ) -> Jacobian<M::Fe> {
        let odd: Vec<_> = self.sums().consecutive(self.generator(), 256).into_iter().step_by(2).collect();
        let table: Table<Affine<M::Fe>> = machine.table("generator", &odd);
        let to_y = sign_factors(machine, model.isomorphism().map_or(machine.one(), |curve| curve.to_y));
        let (double, add, add_base) = (0, 1, 2);
        let of_v = Kept::read(machine, &digits.of_v);
        let of_u: Vec<_> = digits.of_u.iter().map(|kept| Kept::read(machine, kept)).collect();
        let mut order = Vec::new();
        for at in (0..self.places()).rev() {
            let first = if at == self.places() - 1 { add } else { double };
            order.extend([self.carry(&of_v, 4, at), SequenceStep::Part(first)]);
            if at % 2 == 0 {
                order.extend(of_u.iter().map(|cells| self.carry(cells, 8, at / 2)));
                order.push(SequenceStep::Part(add_base));
            }
        }
        let start = model.start(machine, self);
        let sum = machine.sequence_of(&order, &[Some(add), None, None], start, |machine, part, sum| match part {
            part if part == add => sum.add_mixed(machine.take_element(points)),
            part if part == double => model.next_place(sum),
            _ => {
                let Affine { x, y } = machine.take_row(table);
                let y = y * machine.take_element(to_y);
                let x = model.isomorphism().map_or(x, |curve| x * curve.to_x);
                sum.add_mixed(Affine::new(x, y))
            }
        });
        model.point_of(sum)
    }

    /// With [`Windows::OddNibbles`], given the multiples of Q.
    fn sum_by_nibbles<M: Machine>(
        &self,
        machine: &M,
        digits: &Digits<M::Word>,
        points: Array<Affine<M::Fe>>,
        model: &Model<M::Fe>,
    ) -> Jacobian<M::Fe> {
        let odd: Vec<_> = self.sums().consecutive(self.generator(), DIGITS).into_iter().step_by(2).collect();
        let table = machine.table::<Affine<M::Fe>>("small_generator", &odd);
        // Element h is (2h + 1)·G, for the nibble h + 8; that for 7 − h is its opposite.
        let (first, half) = (DIGITS as u64, DIGITS as u64 / 2); // 16 and 8
        let put_images = |machine: &M, number: M::Word, [place, opposite]: [M::Word; 2]| {
            let Affine { x, y } = model.image(machine.lookup(table, number));
            machine.store(points, place, Affine::new(x, y));
            machine.store(points, opposite, Affine::new(x, -y));
        };
        if let Model::Isomorphic(_) = model {
            for number in 0..half {
                let places = [first + half + number, first + half - 1 - number];
                put_images(machine, machine.small(number), places.map(|place| machine.small(place)));
            }
        } else {
            machine.repeat(machine.small(half), (), |machine, number, ()| {
                let number = machine.bind(number);
                let place = machine.word_op(WordOp::Add, number, machine.small(first + half));
                let opposite = machine.word_op(WordOp::Sub, machine.small(first + half - 1), number);
                put_images(machine, number, [place, opposite]);
            });
        }
        let (double, add) = (0, 1);
        let [of_v, of_u] = [&digits.of_v, &digits.of_u[0]].map(|kept| Kept::read(machine, kept));
        let mut order = Vec::new();
        for at in (0..self.places()).rev() {
            let first = if at == self.places() - 1 { add } else { double };
            order.extend([
                self.carry(&of_v, 4, at),
                SequenceStep::Part(first),
                self.carry(&of_u, 4, at),
                SequenceStep::Part(add),
            ]);
        }
        let start = model.start(machine, self);
        let sum = machine.sequence_of(&order, &[Some(add), None], start, |machine, part, sum| match part {
            part if part == add => sum.add_mixed(machine.take_element(points)),
            _ => model.next_place_in_loop(machine, sum),
        });
        model.point_of(sum)
    }

    /// a ↦ a⁻¹ modulo n, by an instruction where there is one; 0 ↦ 0.
    pub fn invert_scalar<M: Machine>(&self, machine: &M, a: M::Fe) -> M::Fe {
        machine.inverse(a, |machine, a| self.inverse_power_of_scalar(machine, a))
    }

    /// a ↦ a⁻¹ = a^(n − 2) modulo n; 0 ↦ 0. n − 2 begins with many ones; the rest goes in digits to the base 16, by powers of a in an array. Runs of
    /// squarings are loops, as they would take more code than an account may have.
    fn inverse_power_of_scalar<M: Machine>(&self, machine: &M, a: M::Fe) -> M::Fe {
        let exponent = &self.constants.order - 2u32;
        let all_ones = (BigUint::from(1u8) << exponent.bits()) - 1u32;
        let low_bits = (all_ones - &exponent).bits().next_multiple_of(4);
        let squared = |a: M::Fe, count: u64| machine.repeat(machine.small(count), a, |_, _, power| power.square());
        let powers = machine.array::<M::Fe>("powers", Capacity::Fixed(16));
        machine.reserve(powers, machine.small(16));
        let mut power = machine.one();
        for exponent in 0..16 {
            machine.store(powers, machine.small(exponent), power);
            power = power * a;
        }
        // a^(2ᵇ − 1) for the leading bits b of the number of ones.
        let count = exponent.bits() - low_bits;
        let mut ones = a;
        for shift in (0..count.ilog2()).rev() {
            ones = squared(ones, count >> (shift + 1)) * ones;
            if count >> shift & 1 == 1 {
                ones = squared(ones, 1) * a;
            }
        }
        let append = |machine: &M, power: M::Fe, digit: M::Word| {
            let power = (0..4).fold(power, |power, _| power.square());
            power * machine.load(powers, digit)
        };
        // The last word in a loop, what is beyond it before that.
        let places = low_bits.min(256) / 4;
        let digit = |place: u64| (0..4).fold(0, |digit, bit| digit | u64::from(exponent.bit(4 * place + bit)) << bit);
        let start =
            (places..low_bits / 4).rev().fold(ones, |power, place| append(machine, power, machine.small(digit(place))));
        let low = machine.word(word(&(&exponent & ((BigUint::from(1u8) << (4 * places)) - 1u32))));
        machine.repeat(machine.small(places), start, |machine, turn, power| {
            let op = |op, a, b| machine.word_op(op, a, b);
            let place = op(WordOp::Mul, op(WordOp::Sub, machine.small(places - 1), turn), machine.small(4));
            append(machine, power, op(WordOp::And, op(WordOp::Shr, low, place), machine.small(15)))
        })
    }

    /// The same sum for every input, by double and add with complete formulas; u and v as they are.
    pub fn complete<M: Machine>(
        &self,
        machine: &M,
        [u, v]: [[M::Word; WORDS]; 2],
        q: Affine<M::Fe>,
    ) -> Projective<M::Fe> {
        let b = machine.constant(&self.constants.b);
        let curve = AMinusThree(move |value| b * value);
        let Affine { x, y } = &self.constants.generator;
        let g = Affine::new(machine.constant(x), machine.constant(y));
        u.into_iter().zip(v).enumerate().fold(identity(machine), |sum, (at, (u, v))| {
            let bits = if at == 0 { self.bits() - 256 * (WORDS as u32 - 1) } else { 256 }; // 2 or 3
            shamir_onto(machine, sum, bits.into(), [(u, g), (v, q)], &curve)
        })
    }
}

/// Curve that has the multiples of Q as affine points.
#[derive(Debug, Clone, Copy)]
enum Model<F> {
    /// One that is isomorphic to theirs.
    Isomorphic(Isomorphism<F>),
    /// The same, with doublings by sums.
    BySums(Isomorphism<F>),
    /// Their own.
    Same,
}

impl<F: Fe> Model<F> {
    /// The isomorphism, where it is another curve.
    fn isomorphism(&self) -> Option<&Isomorphism<F>> {
        match self {
            Self::Isomorphic(curve) | Self::BySums(curve) => Some(curve),
            Self::Same => None,
        }
    }

    /// A point of the curve on it.
    fn image(&self, point: Affine<F>) -> Affine<F> {
        self.isomorphism().map_or(point, |curve| curve.image(point))
    }

    /// T on it.
    fn start<M: Machine<Fe = F>, N: Number, const WORDS: usize>(
        &self,
        machine: &M,
        curve: &WideCurve<N, WORDS>,
    ) -> Jacobian<F> {
        let Affine { x, y } = curve.sums().multiple(&curve.tau(), curve.generator()).expect("τ is below n");
        let constant = |value: N| machine.constant(&value.to_canonical());
        self.image(Affine::new(constant(x), constant(y))).to_jacobian(machine.one())
    }

    /// The sum sixteen times.
    fn next_place(&self, sum: Jacobian<F>) -> Jacobian<F> {
        match self {
            Self::Isomorphic(curve) => curve.next_place(sum),
            Self::BySums(curve) => curve.next_place_by_sums(sum),
            Self::Same => (0..DOUBLINGS).fold(sum, |sum, _| double(sum)),
        }
    }

    /// The same in little code.
    fn next_place_in_loop<M: Machine<Fe = F>>(&self, machine: &M, sum: Jacobian<F>) -> Jacobian<F> {
        match self {
            Self::Same => machine.repeat(machine.small(DOUBLINGS as u64), sum, |_, _, sum| double(sum)), // 4
            _ => self.next_place(sum),
        }
    }

    /// A point of it on the curve.
    fn point_of(&self, sum: Jacobian<F>) -> Jacobian<F> {
        self.isomorphism().map_or(sum, |curve| Jacobian { z: sum.z * curve.z, ..sum })
    }
}

/// 2·P for a = −3: Bernstein and Lange 2007, “Explicit-Formulas Database”, dbl-2001-b, each line one sum of products and values.
fn double<F: Fe>(Jacobian { x, y, z }: Jacobian<F>) -> Jacobian<F> {
    let _scope = enter("point_doublings");
    let twice = |value: F| value + value;
    let (delta, gamma) = (z.square(), y.square());
    let z3 = twice(y * z); //                                    first, so that results take the places of X, Y and Z
    let beta = x * gamma;
    let slope = (x - delta) * (x + delta);
    let alpha = slope + slope + slope; //                        α = 3(X − Z²)(X + Z²)
    let four_beta = twice(twice(beta));
    let x3 = alpha.square() - twice(four_beta); //               X₃ = α² − 8β
    let eight_squares = twice(twice(twice(gamma.square())));
    Jacobian { x: x3, y: alpha * (four_beta - x3) - eight_squares, z: z3 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{p384, p521};
    use residue_ir::Numbers;

    /// A curve whose sums are checked.
    struct Case<F: 'static, const WORDS: usize>(&'static WideCurve<F, WORDS>);

    impl<F: Number, const WORDS: usize> Case<F, WORDS> {
        /// u·G + v·Q by all ways and as numbers, for Q = q·G.
        fn check(&self, u: &BigUint, v: &BigUint, q: &BigUint) {
            let Self(curve) = *self;
            let n = &curve.constants.order;
            let machine = Numbers::<F>::new(Vec::new());
            let key = curve.sums().multiple(q, curve.generator()).unwrap();
            let expected = curve.sums().multiple(&((u + v * q) % n), curve.generator()).unwrap();
            let is_expected = |Jacobian { x, y, z }: Jacobian<F>| {
                assert_ne!(z, F::ZERO);
                assert_eq!((x, y), (expected.x * z.square(), expected.y * z.square() * z), "{u} {v} {q}");
            };
            for windows in [Windows::SignedBytes, Windows::OddNibbles] {
                let (offset, scale) = curve.to_windows(windows);
                let moved = (u + n - offset) * scale % n;
                let scalars = [&moved, v].map(|value| words(&machine, value));
                is_expected(curve.sum(&machine, windows, scalars, &curve.held(&machine), key));
                // As on the EVM as it is, which numbers are not asked for.
                let constants = WideCurve::<F, WORDS>::half_a_and_three_halves();
                for is_affine in [true, false] {
                    let points = machine.array("points", Capacity::Fixed(32));
                    machine.reserve(points, machine.small(32));
                    let model = if is_affine {
                        OddMultiples::store_affine(&machine, points, key, constants, |z: F| z.inverse().unwrap());
                        Model::Same
                    } else {
                        Model::BySums(OddMultiples::store(&machine, points, key, constants))
                    };
                    let digits = curve.digits_of_both(&machine, windows, scalars, &curve.held(&machine));
                    is_expected(match windows {
                        Windows::SignedBytes => curve.sum_by_bytes(&machine, &digits, points, &model),
                        Windows::OddNibbles => curve.sum_by_nibbles(&machine, &digits, points, &model),
                    });
                }
            }
            let scalars = [u, v].map(|value| words(&machine, value));
            let Projective { x, y, z } = curve.complete(&machine, scalars, key);
            assert_ne!(z, F::ZERO);
            assert_eq!((x, y), (expected.x * z, expected.y * z), "{u} {v} {q}");
        }

        /// Scalars at random, with words of ones and zeros, and at both ends.
        fn check_all(&self) {
            let n = &self.0.constants.order;
            let power = |base: u32, exponent: u32| BigUint::from(base).modpow(&exponent.into(), n);
            for turn in 1..4 {
                self.check(&power(3, 351 + turn), &power(5, 290 + turn), &power(7, 270 + turn));
            }
            let [one, last] = [BigUint::from(1u8), n - 1u32];
            self.check(&one, &last, &power(11, 260));
            self.check(&last, &one, &power(13, 260));
            self.check(&BigUint::ZERO, &power(2, 300), &power(17, 230));
            for value in [n - power(2, 257), (&one << 256) - 1u8, &one << 256, (n >> 1) + 1u8, n >> 1] {
                self.check(&value, &(n - &value), &power(19, 230));
                self.check(&power(23, 150), &(value + 1u8), &power(19, 231));
            }
        }

        /// G is on the curve and n·G the identity.
        fn check_constants(&self) {
            let Self(curve) = *self;
            let machine = Numbers::<F>::new(Vec::new());
            assert_eq!(curve.curve_defect(&machine, curve.generator()), F::ZERO);
            let last = curve.sums().multiple(&(&curve.constants.order - 1u32), curve.generator()).unwrap();
            assert_eq!((last.x, last.y), (curve.generator().x, -curve.generator().y));
        }
    }

    #[test]
    fn sums_are_those_of_numbers() {
        Case(p384::curve()).check_all();
        Case(p521::curve()).check_all();
    }

    #[test]
    fn the_constants_are_of_a_curve_with_that_order() {
        Case(p384::curve()).check_constants();
        Case(p521::curve()).check_constants();
    }

    /// Sums and comparisons of numbers of three words, where each word carries or is equal.
    #[test]
    fn words_are_added_and_compared_as_numbers() {
        let machine = Numbers::<residue_modular::fields::P521Fp>::new(Vec::new());
        let parts = [U256::ZERO, U256::ONE, U256::MAX - U256::ONE, U256::MAX];
        let numbers: Vec<_> = (0..64).map(|at| [U256::from(at % 3), parts[at / 4 % 4], parts[at / 16]]).collect();
        let value = |number: [U256; 3]| {
            number
                .into_iter()
                .fold(BigUint::ZERO, |value, word| (value << 256) + BigUint::from_bytes_be(&word.to_be_bytes::<32>()))
        };
        for &a in &numbers {
            for &b in &numbers {
                assert_eq!(value(add(&machine, a, b)), value(a) + value(b));
                assert_eq!(is_less(&machine, a, b), U256::from(value(a) < value(b)));
            }
        }
    }
}
