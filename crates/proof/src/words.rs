//! Words of a program that are values: each is an operation on two words of which it is known what they are. Code that does the same operation has the
//! same value. `coq/CheckFlow.v` does the same.

use crate::sum::Atom;
use residue_ir::Value;
use residue_isa::opcode::evm as op;
use ruint::aliases::U256;
use std::sync::Arc;

/// Words of a program that are values: each is looked for in all of them.
pub(crate) const WORDS_MAX: usize = 256;

/// A word that an operation reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// A number.
    Number(U256),
    /// Bytes of calldata.
    Size,
    /// A value, which may be p or more.
    Value(Atom),
    /// The OR of values, without so many lowest bits.
    Bits(Arc<[Atom]>, u16),
}

/// A value that is a word.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamedWord {
    /// The value.
    pub value: Value,
    /// The opcode of the operation.
    pub opcode: u8,
    /// The word on top of the stack.
    pub first: Part,
    /// The word below it; of CALLDATALOAD how many bytes more than a word are read.
    pub second: Part,
}

/// Gas of an instruction that is an operation on two words.
pub(crate) const fn gas_of(opcode: u8) -> Option<u64> {
    match opcode {
        op::MUL | op::DIV | op::MOD => Some(5),
        op::ADD | op::SUB | op::LT | op::GT | op::EQ | op::AND | op::OR | op::SHR => Some(3),
        _ => None,
    }
}

/// The operation that gives the same of exchanged words.
const fn turned(opcode: u8) -> Option<u8> {
    match opcode {
        op::LT => Some(op::GT),
        op::GT => Some(op::LT),
        op::ADD | op::MUL | op::EQ | op::AND | op::OR => Some(opcode),
        _ => None,
    }
}

/// The value that an operation on two words is.
pub(crate) fn find(words: &[NamedWord], opcode: u8, first: &Part, second: &Part) -> Option<Value> {
    let named = |opcode: u8, first: &Part, second: &Part| {
        let is_it = |word: &&NamedWord| word.opcode == opcode && word.first == *first && word.second == *second;
        words.iter().find(is_it).map(|word| word.value)
    };
    named(opcode, first, second).or_else(|| named(turned(opcode)?, second, first))
}
