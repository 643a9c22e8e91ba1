//! No outcome: the undefined behaviour of programs, each kind with its name in the list of `docs/ir.md`.

use crate::account::Account;
use num_bigint::BigUint;
use ruint::aliases::U256;
use thiserror::Error;

/// Why a verified program has no outcome on an input.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoOutcome {
    /// An element is not defined before it is stored.
    #[error("element {index} of array `{array}` is loaded before it is stored")]
    Unstored {
        /// The array's name.
        array: String,
        /// The element.
        index: U256,
    },
    /// An element past the capacity of its array is not defined.
    #[error("element {index} of array `{array}`, which has {capacity}")]
    PastCapacity {
        /// The array's name.
        array: String,
        /// The element.
        index: U256,
        /// Their number.
        capacity: u32,
    },
    /// An element without room is not defined.
    #[error("element {index} of array `{array}`, of which there is room for {room}")]
    NoRoom {
        /// The array's name.
        array: String,
        /// The element.
        index: U256,
        /// The number of elements with room.
        room: U256,
    },
    /// Indices without room in their cells are not defined.
    #[error("indices of {index_bits} bits in cells of {bits}: {indices:#x} has others")]
    Cells {
        /// The word.
        indices: U256,
        /// Bits of a cell.
        bits: u32,
        /// Bits of an index.
        index_bits: u32,
    },
    /// A variable that was not set to indices of an array is not defined as such.
    #[error("variable `{variable}` is read as what it was not set to")]
    Indices {
        /// The variable's name.
        variable: String,
    },
    /// The next part is not defined.
    #[error("one of {parts} parts of a sequence is chosen by {number}")]
    Choice {
        /// The parts that there are.
        parts: usize,
        /// The number.
        number: U256,
    },
    /// Such a countdown is not defined.
    #[error("a countdown of {turns} turns is entered at {count}")]
    Countdown {
        /// The turns that there are.
        turns: usize,
        /// Those that were asked for.
        count: U256,
    },
    /// Such a sequence is not defined.
    #[error("the first {count} times {each} steps of a sequence that has {steps}")]
    Steps {
        /// The steps that there are.
        steps: usize,
        /// The number counted as one.
        each: usize,
        /// Those that were asked for.
        count: U256,
    },
    /// The table is not defined there.
    #[error("element {index} of table `{table}`, which has {count}")]
    NoElement {
        /// The table's name.
        table: String,
        /// The element.
        index: U256,
        /// Their number.
        count: usize,
    },
    /// A subprogram over such a modulus is not defined.
    #[error(
        "subprogram `{subprogram}` is entered over {modulus:#x}, which is not odd, above 1 and of at most {limbs} limbs"
    )]
    Modulus {
        /// The subprogram's name.
        subprogram: String,
        /// The modulus.
        modulus: BigUint,
        /// The limbs it may have.
        limbs: u32,
    },
    /// A second entry over a given modulus is not defined.
    #[error("subprogram `{0}`, whose modulus is given, is entered twice")]
    Twice(String),
    /// An element is made of words, or read in Montgomery form, only if they are below the modulus.
    #[error("an element is made of {number:#x}, which is not below the modulus {modulus:#x}")]
    NotBelow {
        /// The text that was given.
        number: BigUint,
        /// The modulus.
        modulus: BigUint,
    },
    /// A word has 32 bytes to hash.
    #[error("{0} bytes of a word are hashed, which has 32")]
    HashedBytes(U256),
    /// Scratch memory after its end is not defined.
    #[error("scratch memory is used after its end: at byte {0}")]
    Scratch(U256),
    /// There are none here: a branch on the feature has other code instead.
    #[error("the precompile at {0:#x} is called")]
    Precompile(u32),
    /// There are none here either.
    #[error("the account at {0} is called")]
    Account(Account),
    /// It does more than was allowed.
    #[error("it takes more than {0} turns, parts and calls")]
    TooLong(u64),
}

impl NoOutcome {
    /// The name of its kind in the list of `docs/ir.md`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::PastCapacity { .. } => "capacity",
            Self::NoRoom { .. } => "room",
            Self::Unstored { .. } => "unstored",
            Self::NoElement { .. } => "row",
            Self::Cells { .. } => "cells",
            Self::Indices { .. } => "indices",
            Self::Choice { .. } => "choice",
            Self::Countdown { .. } => "countdown",
            Self::Steps { .. } => "steps",
            Self::Modulus { .. } => "modulus",
            Self::Twice(_) => "twice",
            Self::NotBelow { .. } => "element",
            Self::HashedBytes(_) => "hash",
            Self::Scratch(_) => "scratch",
            Self::Precompile(_) => "precompile",
            Self::Account(_) => "account",
            Self::TooLong(_) => "turns",
        }
    }
}
