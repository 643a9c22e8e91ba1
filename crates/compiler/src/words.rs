//! Blocks for the EVM without field instructions: values are words, on the stack within reach of 16 places, in memory
//! otherwise.
//!
//! [`terms`] makes words of a block's field operations: additions without reduction if bounds allow it, subtractions
//! from a multiple of the modulus, ADDMOD and MULMOD for reductions; [`signs`] selects the results that are held as
//! their negatives. [`backward`] schedules the words and the stack, from the block's end; [`schedule`] does so from the
//! beginning if that fails, and [`emit`] writes one such order. [`prices`] has what instructions cost. [`held`] chooses the form of values that
//! stay on the stack from part to part of a sequence. [`read`] reads the bytes back and compares them with the
//! program's block. [`prepare`] makes longer blocks of programs beforehand, [`inversion`] decides on inversion by a
//! precompile.

pub mod backward;
pub mod block;
pub mod emit;
pub mod field;
pub mod held;
pub mod inversion;
mod least;
#[cfg(test)]
mod optimum;
pub mod places;
pub mod prepare;
pub mod prices;
pub mod read;
pub mod schedule;
pub mod signs;
pub mod terms;
#[cfg(test)]
mod tests;
