//! Contracts on P-521, which is secp521r1.

pub mod verify;
