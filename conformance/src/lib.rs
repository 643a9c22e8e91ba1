//! Checks across crates: every engine, every revision, every vector.
//!
//! [`campaign`] runs many generated programs on the engine and on the specification, as `residue_judge` makes and compares them;
//! [`programs`] makes field programs to compile; [`vectors`] finds the published vectors and [`eip2537`] reads those of the BLS12-381 precompiles.
//! [`workspace`], [`layers`], [`style`], [`documents`] and [`glossary`] read the project's own files, to hold them to its rules.
//!
//! A campaign runs a fixed number of programs with fixed seeds. `RESIDUE_CASES` sets the programs of each kind and revision
//! in the main campaign, the others being parts of it; `RESIDUE_SEED` sets the first seed. A report of a disagreement names
//! the seed it came from.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod campaign;
pub mod documents;
pub mod eip2537;
pub mod glossary;
pub mod layers;
pub mod programs;
pub mod style;
pub mod vectors;
pub mod workspace;
