//! Proofs of the steps: [`super::steps`] runs on symbols, and what comes out is compared with what the step is for, for all operands within
//! the bounds that the plan counts with and for all moduli of a shape.
//!
//! [`splits`] has the rules by which values are known, [`facts`] what they rest on, [`symbols`] and [`machine`] the instructions. The theorems
//! are in [`products`], [`sums`] and [`transfers`], for a [`setting`] of rows and constants. That the proof assumes only what is so is shown
//! in [`meaning`], that the instructions are those of the CPU in [`hardware`], and that the proofs can fail in [`mutants`].
//!
//! Not proved here, tested against the scalar twin: the loops over a plan's tables, and how bytes lie in memory.

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
