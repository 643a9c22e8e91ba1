//! Straight-line field blocks eight lanes at a time: planner, bounds, executors.
//!
//! A [`SlotBlock`] is a block of bytecode: additions, subtractions and products on numbered slots. [`Plan::new`] turns
//! it into batches of up to eight products with linear phases between, for every modulus of one [`Shape`];
//! [`Plan::run`] executes it on [`Rows`], the slots in row form: 52-bit limbs, Montgomery form with R = 2^(52L), signed
//! and lazily reduced within bounds proved at planning.
//!
//! ```
//! use residue_lanes::{ModulusRows, Op, FieldOp, Plan, Policy, Rows, SlotBlock};
//! use residue_modular::Modulus;
//!
//! let mut block = SlotBlock::new(3);
//! block.push(Op { kind: FieldOp::Add, out: 2, x: 0, y: 1 })?; // s2 = s0 + s1
//! block.push(Op { kind: FieldOp::Mul, out: 0, x: 2, y: 2 })?; // s0 = s2²
//!
//! let modulus = ModulusRows::new(&Modulus::from_be_bytes(&[101])?)?;
//! let plan = Plan::new(&block, modulus.shape(), &Policy::default())?;
//! let mut rows = Rows::new(modulus.shape(), 3);
//! let (mut seven_and_five, mut out) = ([0; 16], [0; 8]);
//! (seven_and_five[7], seven_and_five[15]) = (7, 5);
//! rows.store(&modulus, 0, &seven_and_five)?;
//! plan.run(&modulus, &mut rows);
//! rows.load(&modulus, 0, &mut out);
//! assert_eq!(out, [0, 0, 0, 0, 0, 0, 0, 144 - 101]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![deny(unsafe_code)]
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only vector kernels read some tables"))]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

extern crate alloc;

pub mod block;
pub mod bounds;
pub mod check;
mod conversions;
mod estimate;
mod line;
pub mod locks;
pub mod modulus_rows;
pub mod plan;
mod plan_error;
pub mod rows;
pub mod shape;
mod tables;
mod transfer;

#[allow(unsafe_code, reason = "kernels call CPU instructions that the compiler does not emit by itself")]
mod kernel;

pub use block::{Digest, FieldOp, Fp6Op, Op, SlotBlock, SumOp};
pub use check::{Violation, check};
pub use kernel::Kernel;
pub use modulus_rows::{Form, ModulusRows};
pub use plan::{Explanation, Policy};
pub use plan_error::PlanError;
pub use rows::Rows;
pub use shape::{Shape, ShapeError};
pub use tables::Plan;
pub use transfer::ByteOrder;
