//! What has no outcome: what a program may do that is not defined, each kind with its name in the list of `docs/ir.md`.

use num_bigint::BigUint;
use ruint::aliases::U256;
use thiserror::Error;

/// Why a verified program has no outcome on an input.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoOutcome {
    /// What an element holds before it is stored is not defined.
    #[error("element {index} of array `{array}` is loaded before it is stored")]
    Unstored {
        /// The array's name.
        array: String,
        /// The element.
        index: U256,
    },
    /// What an element past the capacity of its array is, is not defined.
    #[error("element {index} of array `{array}`, which has {capacity}")]
    PastCapacity {
        /// The array's name.
        array: String,
        /// The element.
        index: U256,
        /// How many it has.
        capacity: u32,
    },
    /// What an element is that no room was made for, is not defined.
    #[error("element {index} of array `{array}`, of which there is room for {room}")]
    NoRoom {
        /// The array's name.
        array: String,
        /// The element.
        index: U256,
        /// How many elements there is room for.
        room: U256,
    },
    /// What indices are that their cells have no room for is not defined.
    #[error("indices of {index_bits} bits in cells of {bits}: {indices:#x} has others")]
    Cells {
        /// The word.
        indices: U256,
        /// Bits of a cell.
        bits: u32,
        /// Bits of an index.
        index_bits: u32,
    },
    /// What a variable holds as indices of an array that was not set to such is not defined.
    #[error("variable `{variable}` is read as what it was not set to")]
    Indices {
        /// The variable's name.
        variable: String,
    },
    /// Which part follows is not defined.
    #[error("one of {parts} parts of a sequence is chosen by {number}")]
    Choice {
        /// The parts that there are.
        parts: usize,
        /// The number.
        number: U256,
    },
    /// What such a countdown does is not defined.
    #[error("a countdown of {turns} turns is entered at {count}")]
    Countdown {
        /// The turns that there are.
        turns: usize,
        /// Those that were asked for.
        count: U256,
    },
    /// What such a sequence does is not defined.
    #[error("the first {count} times {each} steps of a sequence that has {steps}")]
    Steps {
        /// The steps that there are.
        steps: usize,
        /// How many are counted as one.
        each: usize,
        /// Those that were asked for.
        count: U256,
    },
    /// What a table gives there is not defined.
    #[error("element {index} of table `{table}`, which has {count}")]
    NoElement {
        /// The table's name.
        table: String,
        /// The element.
        index: U256,
        /// How many it has.
        count: usize,
    },
    /// What a subprogram over such a modulus does is not defined.
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
    /// What a second entry over a given modulus does is not defined.
    #[error("subprogram `{0}`, whose modulus is given, is entered twice")]
    Twice(String),
    /// An element is made of words, or read in Montgomery form, only if they are below the modulus.
    #[error("an element is made of {number:#x}, which is not below the modulus {modulus:#x}")]
    NotBelow {
        /// What was to be one.
        number: BigUint,
        /// The modulus.
        modulus: BigUint,
    },
    /// A word has 32 bytes to hash.
    #[error("{0} bytes of a word are hashed, which has 32")]
    HashedBytes(U256),
    /// What scratch memory holds after its end is not defined.
    #[error("scratch memory is used after its end: at byte {0}")]
    Scratch(U256),
    /// There are none here: a branch on what the interface has says what is computed instead.
    #[error("the precompile at {0:#x} is called")]
    Precompile(u32),
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
            Self::TooLong(_) => "turns",
        }
    }
}
