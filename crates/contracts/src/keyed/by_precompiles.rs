//! Sums of multiples and pairing checks by a curve's precompiles, where code may call them: verifiers on chains that
//! have no field instructions.
//!
//! The pairs stand at the beginning of scratch memory, and what is summed after them.

use crate::groth16::ProofCurve;
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
