//! Modular arithmetic of any width, from 3 to 2⁴⁰⁹⁶ − 1: the numbers under every crate of Residue.
//!
//! [`limbs`] has the words that long integers are made of, [`fe`] the two traits that field formulas are written over,
//! and [`fp`] the number type for fields known at compile time ([`fields`] lists them).
//!
//! All data of the EVM is public, so nothing here hides secrets: additions and products happen to be branch-free
//! because that is fastest, inversions are not.
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod bundle;
pub mod fe;
pub mod fields;
pub mod fp;
pub mod inverse;
pub mod limbs;

mod backend;

pub use bundle::Bundle;
pub use fe::{Fe, Number};
pub use fp::{Fp, PrimeField};
pub use limbs::Limb;
