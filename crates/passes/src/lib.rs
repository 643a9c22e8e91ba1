//! Passes over field programs that know no machine: what makes code of programs stands on them.
//!
//! [`specialise`] answers what a program asks of its interface; [`simplify`] shares and drops operations; [`multiples`] makes small multiples; [`rows`] finds statements that are made as one;
//! [`liveness`] says what is needed where; [`allocate`] places values in slots, given what operations on slots cost ([`Cost`]);
//! [`threads`] cuts rows of calls where places ask for it; [`derived`] makes constants of each other; [`moves`] puts parallel
//! moves in an order; [`sums`] finds sums of products that one instruction makes, [`fp2`] products in Fp2 and [`fp6`] those in Fp6; [`fused`] brings together what is found;
//! [`choices`] leaves branches that only choose with nothing else to do, and [`comparisons`] asks of two values what is asked of their difference.

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
pub mod sums;
pub mod threads;

pub use allocate::{Allocation, Cost, Placement, TooFewSlots, allocate};
pub use multiples::SmallMultiples;
pub use rows::{Limits, Row, Rows};
pub use slots::{Slot, SlotOp};
