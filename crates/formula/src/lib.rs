//! Interface that field formulas are generic over: elements ([`Fe`], [`Number`]), the operations on them ([`FieldOp`]),
//! groups of them ([`Bundle`]), and names for the stretches that operations come from ([`scope`]).
//!
//! Numbers implement it by computing, recorders by writing down; instruction sets, plans and programs name operations with it.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

extern crate alloc;

pub mod bundle;
pub mod fe;
pub mod op;
#[cfg(feature = "std")]
pub mod scope;

pub use bundle::Bundle;
pub use fe::{Fe, Fp2Product, Number, least_n};
pub use op::{FieldOp, PerOp};
