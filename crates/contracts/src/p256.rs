//! Contracts on P-256.

pub mod verify;
