//! Sums of multiples and pairing checks by a curve's precompiles, where code may call them: verifiers on chains that
//! have no field instructions.
//!
//! The pairs stand at the beginning of scratch memory, and what is summed after them.

use crate::groth16::ProofCurve;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::tower::Fp2;
use residue_formula::Number;
use residue_ir::{Feature, Machine, Variable, WordOp};
use ruint::aliases::U256;

/// A curve's precompiles.
#[derive(Debug, Clone, Copy)]
pub struct Precompiles {
    /// Precompiles for sums of multiples.
    pub sums: Sums,
    /// The pairing check.
    pub pairing: u16,
    /// Number of a key's points from which on a loop over a table of them is shorter than a call for each.
    pub loop_from: usize,
}

/// Precompiles for sums of multiples.
#[derive(Debug, Clone, Copy)]
pub enum Sums {
    /// A multiple of one point, and a sum of two (EIP-196).
    OneByOne {
        /// The sum of two points.
        add: u16,
        /// The multiple of a point.
        mul: u16,
    },
    /// All at once (EIP-2537).
    AtOnce(u16),
}

/// A point of G1, encoded.
#[derive(Debug, Clone)]
pub(crate) enum Point {
    /// In these words.
    Known(Vec<U256>),
    /// At this byte of calldata.
    Calldata(u32),
}

/// Scalar of a point.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scalar<W> {
    /// This word.
    Word(W),
    /// Value of this variable.
    Variable(Variable),
}

impl<W: Copy> Scalar<W> {
    fn word<M: Machine<Word = W>>(self, machine: &M) -> W {
        match self {
            Self::Word(word) => word,
            Self::Variable(variable) => machine.get(variable),
        }
    }
}

/// Scratch memory with room for pairs and a sum.
pub(crate) struct Scratch<'a, M: Machine, C: ProofCurve> {
    machine: &'a M,
    /// Pairs that there is room for.
    pairs: u32,
    curve: std::marker::PhantomData<C>,
}

/// Bytes of a scalar.
const SCALAR_BYTES: u32 = 32;

/// Bits of half a coordinate of EIP-2537, in a table.
const HALF_BITS: u32 = 192;

impl<'a, M: Machine, C: ProofCurve> Scratch<'a, M, C> {
    const G1_BYTES: u32 = 2 * C::ENCODING.element_bytes;
    const PAIR_BYTES: u32 = 6 * C::ENCODING.element_bytes;

    /// 1 if code may call the curve's precompiles, else 0.
    pub(crate) fn is_there(machine: &M) -> M::Word {
        // A fork that has the check has what makes sums: they came together.
        machine.has(Feature::Precompile(C::PRECOMPILES.pairing))
    }

    /// Room for so many pairs, and sums of so many terms.
    pub(crate) fn new(machine: &'a M, pairs: u32, terms: u32) -> Self {
        let sum_bytes = match C::PRECOMPILES.sums {
            Sums::OneByOne { .. } => 2 * Self::G1_BYTES + SCALAR_BYTES,
            Sums::AtOnce(_) => terms * (Self::G1_BYTES + SCALAR_BYTES),
        };
        machine.scratch(pairs * Self::PAIR_BYTES + sum_bytes);
        Self { machine, pairs, curve: std::marker::PhantomData }
    }

    fn small(&self, value: u32) -> M::Word {
        self.machine.small(value.into())
    }

    fn op(&self, op: WordOp, a: M::Word, b: M::Word) -> M::Word {
        self.machine.word_op(op, a, b)
    }

    /// Copies calldata to the pair of this number, from this element of it on.
    pub(crate) fn copy(&self, from: u32, (pair, element): (u32, u32), elements: u32) {
        let bytes = C::ENCODING.element_bytes;
        let to = pair * Self::PAIR_BYTES + element * bytes;
        self.machine.copy_calldata(self.small(to), self.small(from), self.small(elements * bytes));
    }

    fn words(&self, mut to: u32, words: &[U256]) {
        for &word in words {
            self.machine.set_scratch(self.small(to), self.machine.word(word));
            to += 32;
        }
    }

    /// Makes this the point of G1 of a pair.
    pub(crate) fn g1(&self, pair: u32, point: &Affine<C::Number>) {
        self.words(pair * Self::PAIR_BYTES, &encoded::<C>([point.x, point.y]));
    }

    /// Makes this the point of G2 of a pair.
    pub(crate) fn g2(&self, pair: u32, point: &Affine<Fp2<C::Number, C>>) {
        let parts = |value: Fp2<C::Number, C>| {
            if C::ENCODING.u_first { [value.c1, value.c0] } else { [value.c0, value.c1] }
        };
        let elements = [parts(point.x), parts(point.y)].concat();
        self.words(pair * Self::PAIR_BYTES + Self::G1_BYTES, &encoded::<C>(elements));
    }

    fn point(&self, to: u32, point: &Point) {
        match point {
            Point::Known(words) => self.words(to, words),
            &Point::Calldata(from) => {
                self.machine.copy_calldata(self.small(to), self.small(from), self.small(Self::G1_BYTES));
            }
        }
    }

    fn call(&self, address: u16, (from, bytes): (u32, u32), to: u32, output_bytes: u32) -> M::Word {
        self.machine.precompile(address, (self.small(from), self.small(bytes)), (self.small(to), output_bytes))
    }

    /// Makes the point of G1 of a pair `first` + Σ kᵢ·Pᵢ; the identity without either. `failed` does what is to be done if a point of calldata is not on the
    /// curve, or gas runs out.
    pub(crate) fn sum(
        &self,
        pair: u32,
        first: Option<&Point>,
        terms: &[(Point, Scalar<M::Word>)],
        failed: impl Fn(&M),
    ) {
        let require = |succeeded| self.machine.branch(succeeded, |_| (), |machine| failed(machine));
        let (to, sum) = (pair * Self::PAIR_BYTES, self.pairs * Self::PAIR_BYTES);
        if terms.is_empty() {
            return first.into_iter().for_each(|point| self.point(to, point));
        }
        match C::PRECOMPILES.sums {
            Sums::OneByOne { add, mul } => {
                // The sum so far, then the point, then the scalar.
                let (product, scalar) = (sum + Self::G1_BYTES, sum + 2 * Self::G1_BYTES);
                first.into_iter().for_each(|point| self.point(sum, point));
                let mut has_sum = first.is_some();
                for (number, (point, by)) in terms.iter().enumerate() {
                    self.point(product, point);
                    self.machine.set_scratch(self.small(scalar), by.word(self.machine));
                    let out = if number + 1 == terms.len() { to } else { sum };
                    let of_product = if has_sum { product } else { out };
                    require(self.call(mul, (product, Self::G1_BYTES + SCALAR_BYTES), of_product, Self::G1_BYTES));
                    if has_sum {
                        require(self.call(add, (sum, 2 * Self::G1_BYTES), out, Self::G1_BYTES));
                    }
                    has_sum = true;
                }
            }
            Sums::AtOnce(msm) => {
                let one = first.map(|point| (point, Scalar::Word(self.small(1))));
                let mut at = sum;
                for (point, by) in one.into_iter().chain(terms.iter().map(|(point, by)| (point, *by))) {
                    self.point(at, point);
                    self.machine.set_scratch(self.small(at + Self::G1_BYTES), by.word(self.machine));
                    at += Self::G1_BYTES + SCALAR_BYTES;
                }
                require(self.call(msm, (sum, at - sum), to, Self::G1_BYTES));
            }
        }
    }

    /// The same for points of a key, zeros for the identity, and the words of calldata from byte `scalars_at` on, in a loop. `check` does what is to
    /// be done with a scalar before it is used.
    pub(crate) fn sum_of_key(
        &self,
        pair: u32,
        first: Option<&Point>,
        points: &[Option<Affine<C::Number>>],
        scalars_at: u32,
        (check, failed): (impl Fn(&M, M::Word), impl Fn(&M)),
    ) {
        let elements = |point: &Option<Affine<C::Number>>| {
            point.map_or([BigUint::ZERO, BigUint::ZERO], |point| [point.x, point.y].map(|value| value.to_canonical()))
        };
        let points: Vec<[BigUint; 2]> = points.iter().map(elements).collect();
        let scalar = |number| {
            let at = self.op(WordOp::Add, self.op(WordOp::Mul, number, self.small(32)), self.small(scalars_at));
            let scalar = self.machine.bind(self.machine.calldata_word(at));
            check(self.machine, scalar);
            scalar
        };
        let (to, sum) = (pair * Self::PAIR_BYTES, self.pairs * Self::PAIR_BYTES);
        first.into_iter().for_each(|point| self.point(sum, point));
        match C::PRECOMPILES.sums {
            Sums::OneByOne { add, mul } => self.each_of_key((add, mul), (sum, to), &points, (scalar, failed)),
            Sums::AtOnce(msm) => {
                let term = Self::G1_BYTES + SCALAR_BYTES;
                let mut end = sum;
                if first.is_some() {
                    self.machine.set_scratch(self.small(sum + Self::G1_BYTES), self.small(1));
                    end += term;
                }
                self.terms_of_key(end, &points, scalar);
                end += term * u32::try_from(points.len()).expect("keys have fewer inputs: `json` checks it");
                self.machine.branch(self.call(msm, (sum, end - sum), to, Self::G1_BYTES), |_| (), failed);
            }
        }
    }

    /// Adds the multiple of each of a key's points to the point at `sum`, and copies it to `to`.
    fn each_of_key(
        &self,
        (add, mul): (u16, u16),
        (sum, to): (u32, u32),
        points: &[[BigUint; 2]],
        (scalar, failed): (impl Fn(M::Word) -> M::Word, impl Fn(&M)),
    ) {
        let (product, scalar_to) = (sum + Self::G1_BYTES, sum + 2 * Self::G1_BYTES);
        let rows: Vec<Vec<BigUint>> = points.iter().map(|point| point.to_vec()).collect();
        let table = self.machine.table::<[M::Fe; 2]>("key_points", &rows);
        let count = self.machine.small(points.len() as u64); // usize to u64 widens
        self.machine.repeat(count, (), |machine, number, ()| {
            let number = machine.bind(number);
            let scalar = scalar(number);
            machine.put_scratch(product, C::ENCODING.element_bytes, &machine.lookup(table, number));
            machine.set_scratch(self.small(scalar_to), scalar);
            let multiplied = self.call(mul, (product, Self::G1_BYTES + SCALAR_BYTES), product, Self::G1_BYTES);
            let multiplied = machine.bind(multiplied);
            let added = self.call(add, (sum, 2 * Self::G1_BYTES), sum, Self::G1_BYTES);
            machine.branch(self.op(WordOp::And, added, multiplied), |_| (), &failed);
        });
        for byte in (0..Self::G1_BYTES).step_by(32) {
            let word = self.machine.bind(self.machine.scratch_word(self.small(sum + byte)));
            self.machine.set_scratch(self.small(to + byte), word);
        }
    }

    /// Writes a key's points as EIP-2537 encodes them from `start` on, each with its scalar. The table has halves of coordinates, over a modulus that is
    /// one word: words of the program's own field are dear.
    fn terms_of_key(&self, start: u32, points: &[[BigUint; 2]], scalar: impl Fn(M::Word) -> M::Word) {
        let halves = |value: &BigUint| [value >> HALF_BITS, value % (BigUint::from(1u8) << HALF_BITS)];
        let rows: Vec<Vec<BigUint>> = points.iter().map(|point| point.iter().flat_map(halves).collect()).collect();
        let modulus = (BigUint::from(1u8) << 256u32) - 1u32;
        self.machine.over("key_points", &modulus, |machine| {
            let table = machine.table::<[M::Fe; 4]>("key_points", &rows);
            let count = machine.small(points.len() as u64); // usize to u64 widens
            machine.repeat(count, (), |machine, number, ()| {
                let number = machine.bind(number);
                let scalar = scalar(number);
                let offset = self.op(WordOp::Mul, number, self.small(Self::G1_BYTES + SCALAR_BYTES));
                let to = machine.bind(self.op(WordOp::Add, offset, self.small(start)));
                let place = |byte: u32| self.op(WordOp::Add, to, self.small(byte));
                let halves = machine.lookup(table, number).map(|half| machine.word_of(half, 0));
                for (coordinate, halves) in (0..).zip(halves.chunks(2)) {
                    let [high, low] = [0, 1].map(|half| machine.bind(halves[half]));
                    let byte = coordinate * C::ENCODING.element_bytes;
                    machine.set_scratch(place(byte), self.op(WordOp::Shr, high, self.small(256 - HALF_BITS)));
                    let shifted = self.op(WordOp::Shl, high, self.small(HALF_BITS));
                    machine.set_scratch(place(byte + 32), self.op(WordOp::Or, shifted, low));
                }
                machine.set_scratch(place(Self::G1_BYTES), scalar);
            });
        });
    }

    /// Returns 1 if the product of the pairings of all pairs is one; 0 if it is not, or if a point is none of its group.
    pub(crate) fn return_check(&self) {
        let succeeded = self.call(C::PRECOMPILES.pairing, (0, self.pairs * Self::PAIR_BYTES), 0, 32);
        // Where it failed the word is another, and masked.
        let is_one = self.machine.scratch_word(self.small(0));
        self.machine.return_word(self.machine.word_op(WordOp::And, succeeded, is_one));
    }
}

/// A constant point of G1.
pub(crate) fn known<C: ProofCurve>(point: &Affine<C::Number>) -> Point {
    Point::Known(encoded::<C>([point.x, point.y]))
}

/// Elements of Fp as they are encoded, in words.
fn encoded<C: ProofCurve>(elements: impl IntoIterator<Item = C::Number>) -> Vec<U256> {
    let bytes: Vec<u8> = elements.into_iter().flat_map(|value| C::ENCODING.encoded(&value.to_canonical())).collect();
    bytes.chunks(32).map(U256::from_be_slice).collect()
}
