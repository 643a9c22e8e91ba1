//! Contracts on P-384.

pub mod verify;
