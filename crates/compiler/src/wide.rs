//! Fields of 257 to 430 bits on the EVM without field instructions: a value is four words, its residues.
//!
//! [`system`] has the moduli and their common constants; [`sums`] selects the values of a block that become words, and
//! those that stay sums of products until a reader needs them reduced; [`emit`] writes the words, and [`read`] reads
//! the bytes back.

pub mod emit;
pub mod read;
pub mod sums;
pub mod system;
#[cfg(test)]
mod tests;
