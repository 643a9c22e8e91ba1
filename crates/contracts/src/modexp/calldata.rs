//! Offsets and lengths of base, exponent and modulus. EIP-198, “Specification”; limits: EIP-7823.

use crate::words::Words;
use residue_ir::{Machine, Variable};

/// Bytes of the three lengths.
pub(super) const HEADER_BYTES: u64 = 96;
/// The longest that an operand may be. EIP-7823.
pub(super) const OPERAND_BYTES_MAX: u64 = 1024;
/// Bytes of a word.
const WORD_BYTES: u64 = 32;

/// A number in calldata: big-endian, aligned to bytes.
#[derive(Clone, Copy)]
pub(super) struct Operand<W> {
    pub at: W,
    pub bytes: W,
}

/// Header of calldata: offset and length of each operand.
#[derive(Clone, Copy)]
pub(super) struct Calldata<W> {
    pub base: Operand<W>,
    pub exponent: Operand<W>,
    pub modulus: Operand<W>,
}

impl<W: Copy> Calldata<W> {
    /// Reads the lengths anew.
    pub(super) fn read<M: Machine<Word = W>>(machine: &M) -> Self {
        let w = Words(machine);
        let [base, exponent, modulus] = [0, 32, 64].map(|at| machine.bind(machine.calldata_word(w.number(at))));
        let base = Operand { at: w.number(HEADER_BYTES), bytes: base };
        let exponent = Operand { at: w.add(base.at, base.bytes), bytes: exponent };
        let modulus = Operand { at: w.add(exponent.at, exponent.bytes), bytes: modulus };
        Self { base, exponent, modulus }
    }

    /// The same for the first time: halts exceptionally if a length is above the limit.
    pub(super) fn any<M: Machine<Word = W>>(machine: &M) -> Self {
        let calldata = Self::read(machine);
        calldata.check(machine);
        calldata
    }

    /// The same for numbers of a word at most: halts exceptionally if one is longer.
    pub(super) fn of_words<M: Machine<Word = W>>(machine: &M) -> Self {
        let calldata = Self::read(machine);
        let w = Words(machine);
        let is_short = |of: Operand<W>| w.is_below(of.bytes, w.number(WORD_BYTES + 1));
        machine.require(w.and(calldata.is_short_but_for_base(machine), is_short(calldata.base)));
        calldata
    }

    /// Halts exceptionally if a length is above the limit.
    pub(super) fn check<M: Machine<Word = W>>(&self, machine: &M) {
        let w = Words(machine);
        let lengths = w.or(w.or(self.base.bytes, self.exponent.bytes), self.modulus.bytes);
        let all_bits = OPERAND_BYTES_MAX.ilog2().into();
        machine.branch(
            w.high(lengths, all_bits),
            |machine| {
                let w = Words(machine);
                let within = |of: Operand<W>| w.is_below(of.bytes, w.number(OPERAND_BYTES_MAX + 1));
                machine.require(w.and(w.and(within(self.base), within(self.exponent)), within(self.modulus)));
            },
            |_| (),
        );
    }

    /// 1 if exponent and modulus have a word at most each, else 0.
    pub(super) fn is_short_but_for_base<M: Machine<Word = W>>(&self, machine: &M) -> W {
        let w = Words(machine);
        let of = |of: Operand<W>| w.is_below(of.bytes, w.number(WORD_BYTES + 1));
        w.and(of(self.exponent), of(self.modulus))
    }
}

impl<W: Copy> Operand<W> {
    /// Words after the first one, which alone may be shorter.
    pub(super) fn rest<M: Machine<Word = W>>(&self, machine: &M) -> W {
        let w = Words(machine);
        w.high(w.sub(self.bytes, w.is_below(w.number(0), self.bytes)), 5)
    }

    /// The first word: the number without its [`Self::rest`] last words.
    pub(super) fn first<M: Machine<Word = W>>(&self, machine: &M) -> W {
        let w = Words(machine);
        let rest_bytes = w.mul(self.rest(machine), w.number(WORD_BYTES));
        first_bytes(machine, self.at, w.sub(self.bytes, rest_bytes))
    }

    /// The number, if it has a word at most.
    pub(super) fn short<M: Machine<Word = W>>(&self, machine: &M) -> W {
        first_bytes(machine, self.at, self.bytes)
    }

    /// The word that `after`, at least 1, are from the end.
    pub(super) fn nth_last<M: Machine<Word = W>>(&self, machine: &M, after: W) -> W {
        let w = Words(machine);
        let back = w.mul(after, w.number(WORD_BYTES));
        machine.calldata_word(w.sub(w.add(self.at, self.bytes), back))
    }

    /// Word `number` of the number, the lowest first; 0 if it is shorter.
    pub(super) fn word<M: Machine<Word = W>>(&self, machine: &M, number: u64) -> W {
        self.word_with(machine, machine.small(number), |word| machine.bind(word))
    }

    /// The same for a number known at run time, below 2²⁵⁰, without a word that is kept: many of them may be on the stack together.
    pub(super) fn word_at<M: Machine<Word = W>>(&self, machine: &M, number: W) -> W {
        self.word_with(machine, number, |word| word)
    }

    fn word_with<M: Machine<Word = W>>(&self, machine: &M, number: W, keep: impl Fn(W) -> W) -> W {
        let w = Words(machine);
        let below = w.mul(w.number(WORD_BYTES), number);
        let left = keep(w.mul(w.is_below(below, self.bytes), w.sub(self.bytes, below)));
        let missing = w.mul(w.is_below(left, w.number(WORD_BYTES)), w.sub(w.number(WORD_BYTES), left));
        let missing_bits = keep(w.mul(missing, w.number(8)));
        let word = machine.calldata_word(w.sub(w.sub(w.add(self.at, self.bytes), w.number(WORD_BYTES)), below));
        w.shr(w.shl(word, missing_bits), missing_bits)
    }

    /// Not 0 if words above the lowest `count` are not: at least one. `any` is 0 before and after it.
    pub(super) fn above<M: Machine<Word = W>>(&self, machine: &M, any: Variable, count: u64) -> W {
        let w = Words(machine);
        let rest = machine.bind(self.rest(machine));
        let has_more = w.is_below(w.number(count - 1), rest);
        let first = w.mul(has_more, self.first(machine));
        machine.set(any, first);
        let turns = w.mul(has_more, w.sub(rest, w.number(count)));
        machine.repeat(machine.bind(turns), (), |machine, turn, ()| {
            let word = self.nth_last(machine, Words(machine).sub(rest, turn));
            machine.set(any, Words(machine).or(machine.get(any), word));
        });
        let above = machine.bind(machine.get(any));
        machine.set(any, machine.small(0));
        above
    }
}

/// The number in the first `bytes` bytes of the word of calldata at `at`.
fn first_bytes<M: Machine>(machine: &M, at: M::Word, bytes: M::Word) -> M::Word {
    let w = Words(machine);
    w.shr(machine.calldata_word(at), w.sub(w.number(256), w.mul(bytes, w.number(8))))
}

/// Does one thing or the other where base and modulus have 32 bytes each: the first if the exponent has 32 too, the second if it has not.
pub(super) fn where_words_stand<M: Machine>(machine: &M, words: impl FnOnce(&M), other_exponent: impl FnOnce(&M)) {
    let differs = |machine: &M, at| {
        let w = Words(machine);
        w.xor(machine.calldata_word(w.number(at)), w.number(WORD_BYTES))
    };
    let differ = Words(machine).or(differs(machine, 0), differs(machine, 64));
    machine.branch(
        machine.not(differ),
        |machine| machine.branch(machine.not(differs(machine, 32)), words, other_exponent),
        |_| (),
    );
}

/// Does `words` where base, exponent and modulus have 32 bytes each.
pub(super) fn in_words<M: Machine>(machine: &M, words: impl FnOnce(&M)) {
    let w = Words(machine);
    let differs = |at| w.xor(machine.calldata_word(w.number(at)), w.number(WORD_BYTES));
    let differ = w.or(w.or(differs(0), differs(64)), differs(32));
    machine.branch(differ, |_| (), words);
}

/// Offset of the exponent if the base has a word.
pub(super) const EXPONENT_AT: u64 = HEADER_BYTES + WORD_BYTES;

/// Base, exponent and modulus of one word each, which stand one after the other.
pub(super) fn numbers_in_place<M: Machine>(machine: &M) -> [M::Word; 3] {
    [HEADER_BYTES, EXPONENT_AT, EXPONENT_AT + WORD_BYTES].map(|at| machine.calldata_word(machine.small(at)))
}
