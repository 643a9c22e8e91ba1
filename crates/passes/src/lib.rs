//! Machine-independent passes over field programs, for all compilers of programs.
//!
//! [`specialise`] resolves feature tests; [`simplify`] is common subexpression and dead-code elimination; [`multiples`]
//! makes small multiples; [`rows`] joins neighbouring statements that one instruction or loop can do; [`liveness`]
//! computes the live values; [`allocate`] places values in slots, given the cost of operations on slots ([`Cost`]);
//! [`threads`] cuts rows of calls by the placement; [`derived`] makes constants of each other; [`moves`] orders
//! parallel moves; [`sums`] finds sums of products for one instruction, [`fp2`] products in Fp2 and [`fp6`] those in
//! Fp6; [`fused`] gathers the operations found; [`choices`] is if-conversion, and [`comparisons`] rewrites questions
//! about a difference as comparisons of two values; [`spill`] keeps values in memory where slots are too few.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod allocate;
pub mod choices;
pub mod comparisons;
pub mod derived;
pub mod fp2;
pub mod fp6;
pub mod fused;
pub mod liveness;
pub mod moves;
pub mod multiples;
pub mod rows;
pub mod simplify;
pub mod slots;
pub mod specialise;
pub mod spill;
pub mod sums;
pub mod threads;

pub use allocate::{Allocation, Cost, Placement, TooFewSlots, allocate};
pub use multiples::SmallMultiples;
pub use rows::{Limits, Row, Rows};
pub use slots::{Slot, SlotOp};
