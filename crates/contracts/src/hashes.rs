//! Hash functions in words, without field instructions.

pub mod sha512;
