//! Proofs of the steps: [`super::steps`] runs on symbols, and the result is compared with the purpose of the step, for
//! all operands within the bounds that the plan counts with and for all moduli of a shape.
//!
//! [`splits`] has the rules about values, [`facts`] their assumptions, [`symbols`] and [`machine`] the instructions.
//! The theorems are in [`products`], [`sums`] and [`transfers`], for a [`setting`] of rows and constants. [`meaning`]
//! shows that the assumptions hold, [`hardware`] that the instructions are those of the CPU, and [`mutants`] that the
//! proofs can fail.
//!
//! Not proved here, tested against the scalar twin: the loops over a plan's tables, and the layout of bytes in memory.

#[cfg(target_arch = "x86_64")]
mod assembly;
mod facts;
#[cfg(target_arch = "x86_64")]
mod hardware;
mod machine;
mod meaning;
mod mutants;
mod polynomial;
mod products;
mod ranges;
mod setting;
mod splits;
mod sums;
mod symbols;
mod theorems;
mod transfers;
