//! Signatures on Baby Jubjub; [`crate::multiples`] has its multiples.

pub mod eddsa;
