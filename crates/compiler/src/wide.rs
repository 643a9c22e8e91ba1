//! Fields of 257 to 768 bits on the EVM without field instructions: a value is four words, or up to eight: its residues.
//!
//! [`system`] has the moduli and what they have in common; [`sums`] says which values of a block become words, and which stay sums of products
//! until something wants them reduced; [`emit`] writes the words, by [`emission`], [`calls`] has what subroutines make, and [`read`] reads the bytes back.

pub mod calls;
pub mod emission;
pub mod emit;
pub mod read;
pub mod sums;
pub mod system;
#[cfg(test)]
mod tests;
