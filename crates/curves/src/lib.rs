//! Curves, written once: towers, points and pairings, whose parameters are those of a curve.
//!
//! Formulas are generic over `Fe`, so the same text computes on numbers and is recorded for the compiler. Where a program
//! loops over digits, calls a named function, compares or keeps arrays, it is generic over `Machine` instead.
//!
//! Reading order: the [`tower`], powers and multiples by constants ([`chain`], [`base_chain`], [`ladder`]), points ([`group`],
//! [`complete`], [`side_by_side`]), digits of scalars ([`odd_multiples`], [`eisenstein`], [`glv`], [`fixed_base`], [`windows`]), what has to hold of inputs
//! ([`conditions`]), the [`pairing`], the curves [`bls12_381`], [`bls12_377`], [`bw6_761`], [`bn254`], [`p256`], [`p384`] and [`p521`] by [`wide_curve`], [`secp256k1`], [`edwards25519`],
//! [`bandersnatch`] and those of [`short`] and [`twisted_edwards`], and [`published`],
//! the formulas of older programs.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

#[macro_use]
mod linear;

pub mod bandersnatch;
pub mod base_chain;
pub mod bls12;
pub mod bls12_377;
pub mod bls12_381;
pub mod bn254;
pub mod bw6_761;
pub mod chain;
pub mod comb;
pub mod complete;
pub mod conditions;
pub mod edwards25519;
pub mod eisenstein;
pub mod eisenstein_octal;
pub mod fixed_base;
pub mod glv;
pub mod group;
pub mod ladder;
pub mod odd_multiples;
pub mod one_denominator;
pub mod p256;
pub mod p384;
pub mod p521;
pub mod pairing;
pub mod published;
pub mod secp256k1;
pub mod short;
pub mod side_by_side;
pub mod tower;
pub mod twisted_edwards;
pub mod wide_curve;
pub mod windows;

pub use base_chain::pow_in_base;
pub use chain::pow_constant;
pub use conditions::Conditions;
pub use group::{Affine, Jacobian, Projective};
pub use tower::Tower;
