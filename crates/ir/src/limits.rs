//! Limits of programs, for every target, and their table on the page of the text form.

use crate::hash::HASHED_BYTES_MAX;
use crate::machine::SequenceStep;
use crate::program::Control;

/// Bits of a modulus.
pub const MODULUS_BITS_MAX: u64 = 4096;

/// Maximum number of values of a function. Allocation takes memory by the square of their number: 512 MiB for this
/// many.
pub const VALUES_MAX: u32 = 1 << 16;

/// Maximum nesting of regions within a function: a deeper text cannot exhaust the stack of its reader.
pub const REGIONS_MAX: usize = 64;

/// Maximum nesting of calls and regions: recursion over a program needs no more stack. No code can call so deep, as the
/// EVM's stack has 1,024 words.
pub const NESTING_MAX: usize = 1000;

/// Parts of a word's expression. A word that is used twice counts twice, so that without a limit a short text
/// could ask for more work than any machine can do.
pub const WORD_PARTS_MAX: usize = 1000;

/// Bytes of a field element in calldata or output: more than eight times the longest modulus.
pub const ELEMENT_BYTES_MAX: u32 = 4096;

/// Elements that one fill may have.
pub const FILLED_MAX: u32 = 1 << 16;

/// Bytes of an element in scratch memory.
pub const SCRATCH_ELEMENT_BYTES_MAX: u32 = 32;

/// Elements in scratch memory end there at most, so that addresses in code fit 32 bits.
pub const SCRATCH_END_MAX: u64 = 1 << 24;

/// Words of one vector of lanes.
pub const LANE_WORDS_MAX: u32 = 1024;

/// Steps of one transform of words of lanes. Code has each of them once, so that no account could have more.
pub const LANE_STEPS_MAX: usize = 1 << 14;

/// Words that a program returns: as many as hold the longest modulus, and as many again.
pub const WORDS_RETURNED_MAX: usize = 32;

/// Bytes of an output whose length is known at run time.
pub const RETURNED_BYTES_MAX: u32 = 1 << 16;

/// A limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The quantity that is limited, as the page says it.
    pub of: &'static str,
    /// The most that there may be of it.
    pub most: u64,
}

/// Every limit of a program.
pub const LIMITS: [Limit; 19] = [
    limit("bits of a modulus", MODULUS_BITS_MAX),
    limit("values of a function", VALUES_MAX as u64), // u32 to u64 widens
    limit("regions in each other, in a function", REGIONS_MAX as u64), // usize to u64 widens
    limit("calls and regions in each other, in a program", NESTING_MAX as u64), // usize to u64 widens
    limit("parts of a word's expression, what is used twice counted twice", WORD_PARTS_MAX as u64), // usize to u64 widens
    limit("turns of a `countdown`", Control::TURNS_MAX as u64), // usize to u64 widens
    limit("steps of a `sequence`, a `row` counted as two", Control::STEPS_MAX as u64), // usize to u64 widens
    limit("parts that a word chooses among", SequenceStep::<()>::CHOICES_MAX as u64), // usize to u64 widens
    limit("elements of a `fill`", FILLED_MAX as u64),           // u32 to u64 widens
    limit("bytes of an element in calldata or output", ELEMENT_BYTES_MAX as u64), // u32 to u64 widens
    limit("bytes of an element in scratch memory", SCRATCH_ELEMENT_BYTES_MAX as u64), // u32 to u64 widens
    limit("byte of scratch memory where elements end", SCRATCH_END_MAX),
    limit("words of `lanes`", LANE_WORDS_MAX as u64), // u32 to u64 widens
    limit("steps of `lanes`", LANE_STEPS_MAX as u64), // usize to u64 widens
    limit("words of `return_words`", WORDS_RETURNED_MAX as u64), // usize to u64 widens
    limit("bytes that `return_last` may be `of`", RETURNED_BYTES_MAX as u64), // u32 to u64 widens
    limit("bytes that `sha256` or `keccak256` hashes: more fail", HASHED_BYTES_MAX as u64), // u32 to u64 widens
    limit("address of a precompile", u16::MAX as u64), // u16 to u64 widens
    limit("any other count, number or size in a text", u32::MAX as u64), // u32 to u64 widens
];

const fn limit(of: &'static str, most: u64) -> Limit {
    Limit { of, most }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_limit() {
        let row = |Limit { of, most }: &Limit| format!("| {of} | {} |\n", residue_pages::grouped(*most));
        let rows: String = LIMITS.iter().map(row).collect();
        residue_pages::hold("docs/ir.md", "limits of programs", &format!("| | at most |\n|---|---:|\n{rows}"));
    }
}
