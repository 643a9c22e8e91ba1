//! Blocks for the EVM without field instructions: values are words on the stack where 16 places reach, in memory otherwise.
//!
//! [`terms`] makes words of a block's field operations: additions without reduction where bounds allow it, subtractions from a multiple of
//! the modulus, ADDMOD and MULMOD where there must be a reduction; [`signs`] says which results are held as their negatives. [`backward`] finds in which order
//! they are made and what stays on the stack, from the block's end; [`schedule`] does it from the beginning where that fails, and [`emit`] says what
//! one such order costs and writes it. [`held`] says how values stay on the stack from part to part of a sequence. [`read`] reads the bytes back and compares them with the program's block.
//! [`prepare`] makes longer blocks of programs beforehand, [`inversion`] says where a precompile inverts.

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
pub mod read;
pub mod schedule;
pub mod signs;
pub mod terms;
#[cfg(test)]
mod tests;
