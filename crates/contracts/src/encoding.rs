//! Encoding of elements and points in calldata and output, with the code that reads and writes them.

use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::tower::{Fp2, Tower};
use residue_ir::{Bundle, Feature, Machine, WordOp};
use std::ops::Range;

/// An encoding: elements of Fp of so many bytes, big-endian, one after the other; all zeros for the identity.
#[derive(Debug, Clone, Copy)]
pub struct Encoding {
    /// Bytes of an element of Fp.
    pub element_bytes: u32,
    /// Bytes of them in front of the number, which are zero.
    pub pad_bytes: u32,
    /// True if the coefficient of u of an element of Fp2 comes first.
    pub u_first: bool,
}

impl Encoding {
    /// EIP-2537, “Fine points and encoding of base elements”.
    pub(crate) const EIP_2537: Self = Self { element_bytes: 64, pad_bytes: 16, u_first: false };

    /// EIP-196 and EIP-197, “Encoding”.
    pub(crate) const EIP_196: Self = Self { element_bytes: 32, pad_bytes: 0, u_first: true };

    /// EIP-3026, “Encoding”.
    pub(crate) const EIP_3026: Self = Self { element_bytes: 96, pad_bytes: 0, u_first: false };

    /// Parses the element of Fp that is `number` elements after `offset`.
    pub(crate) fn fp<M: Machine>(self, machine: &M, offset: M::Word, number: u32) -> M::Fe {
        let start = machine.small(u64::from(number * self.element_bytes));
        machine.parse(machine.word_op(WordOp::Add, offset, start), self.element_bytes)
    }

    /// Parses the element of Fp2 that is `number` elements of Fp after `offset`.
    pub(crate) fn fp2<M: Machine, T: Tower>(self, machine: &M, offset: M::Word, number: u32) -> Fp2<M::Fe, T> {
        let first = self.fp(machine, offset, number);
        let second = self.fp(machine, offset, number + 1);
        if self.u_first { Fp2::new(second, first) } else { Fp2::new(first, second) }
    }

    /// Parses the coordinates of a point over Fp.
    pub(crate) fn point<M: Machine>(self, machine: &M, offset: M::Word) -> Affine<M::Fe> {
        let x = self.fp(machine, offset, 0);
        Affine::new(x, self.fp(machine, offset, 1))
    }

    /// Parses the coordinates of a point over Fp2.
    pub(crate) fn twist_point<M: Machine, T: Tower>(self, machine: &M, offset: M::Word) -> Affine<Fp2<M::Fe, T>> {
        let x = self.fp2(machine, offset, 0);
        Affine::new(x, self.fp2(machine, offset, 2))
    }

    /// Not 0 if any of the elements `elements` after `offset` is not 0: whether a point is not the identity.
    pub(crate) fn any_nonzero<M: Machine>(self, machine: &M, offset: M::Word, elements: Range<u32>) -> M::Word {
        let words = elements.start * self.element_bytes / 32..elements.end * self.element_bytes / 32;
        let words = words.map(|index| {
            let at = machine.word_op(WordOp::Add, offset, machine.small(u64::from(32 * index)));
            machine.calldata_word(at)
        });
        let any = words.reduce(|any, word| machine.word_op(WordOp::Or, any, word));
        machine.bind(any.expect("a point has coordinates"))
    }

    /// The elements of a point of `point_bytes`, given the first words of all of them in one.
    pub(crate) fn padded<M: Machine, B: Bundle<M::Fe>>(
        self,
        machine: &M,
        offset: M::Word,
        point_bytes: u32,
        first: M::Word,
    ) -> B {
        machine.branch(
            machine.has(Feature::Padding),
            |machine| self.elements(machine, offset, point_bytes, 0),
            |machine| {
                let zeros = machine.small(u64::from(256 - 8 * self.pad_bytes));
                machine.require(machine.not(machine.word_op(WordOp::Shr, first, zeros)));
                self.elements(machine, offset, point_bytes, self.pad_bytes)
            },
        )
    }

    /// The elements of a point of `point_bytes`, each without its first `skipped` bytes.
    fn elements<M: Machine, B: Bundle<M::Fe>>(self, machine: &M, offset: M::Word, point_bytes: u32, skipped: u32) -> B {
        let element = |start| machine.parse(after(machine, offset, start + skipped), self.element_bytes - skipped);
        let mut elements: Vec<_> = (0..point_bytes).step_by(self.element_bytes as usize).map(element).collect(); // widens
        if self.u_first && elements.len() == 4 {
            elements.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        }
        B::from_list(elements)
    }

    /// Of each element in these bytes after `offset` the word that begins after `skipped` bytes, all in one.
    pub(crate) fn words<M: Machine>(self, machine: &M, offset: M::Word, bytes: Range<u32>, skipped: u32) -> M::Word {
        let starts = bytes.step_by(self.element_bytes as usize); // u32 to usize widens
        let words = starts.map(|at| machine.calldata_word(after(machine, offset, at + skipped)));
        words.reduce(|all, word| machine.word_op(WordOp::Or, all, word)).expect("a point has coordinates")
    }

    /// `value` as an element of Fp.
    pub(crate) fn encoded(self, value: &BigUint) -> Vec<u8> {
        let digits = value.to_bytes_be();
        let mut bytes = vec![0; self.element_bytes as usize - digits.len()]; // u32 to usize widens
        bytes.extend(digits);
        bytes
    }
}

/// A number in 32 bytes.
pub(crate) fn encoded(number: &BigUint) -> Vec<u8> {
    Encoding::EIP_196.encoded(number)
}

/// `offset` + `bytes`.
pub(crate) fn after<M: Machine>(machine: &M, offset: M::Word, bytes: u32) -> M::Word {
    if bytes == 0 { offset } else { machine.word_op(WordOp::Add, offset, machine.small(bytes.into())) }
}

/// The smaller one of two words.
pub(crate) fn at_most<M: Machine>(machine: &M, word: M::Word, limit: M::Word) -> M::Word {
    let word = machine.bind(word);
    // word, or limit where that is less: word ⊕ (word ⊕ limit) or word ⊕ 0.
    let difference = machine.word_op(WordOp::Xor, word, limit);
    let change = machine.word_op(WordOp::Mul, machine.word_op(WordOp::Lt, limit, word), difference);
    machine.word_op(WordOp::Xor, word, change)
}

/// Returns 0 unless the condition holds.
pub(crate) fn unless_return_zero<M: Machine>(machine: &M, condition: M::Word) {
    machine.branch(machine.not(condition), |machine| machine.return_word(machine.small(0)), |_| ());
}
