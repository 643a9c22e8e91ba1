//! Measurements beside native libraries, in groups.
//!
//! [`groups`] is the table of them, [`group`] what one is, by the workbench's harness; [`effort`] says how much is done for the numbers, and
//! [`subjects`] whom they are of. The groups are [`instructions`], [`lanes`], [`pairing`], [`eip2537`], [`bn254`], [`evidence`], [`goals`], [`today`], [`libraries`], [`operations`],
//! [`comparison`], [`scaling`], [`memory`] and [`stock`].

mod beside;
pub mod bn254;
pub mod comparison;
pub mod effort;
pub mod eip2537;
pub mod engines;
pub mod evidence;
mod first;
mod go;
pub mod goals;
pub mod group;
pub mod groups;
pub mod instructions;
pub mod lanes;
pub mod libraries;
pub mod memory;
pub mod operations;
pub mod pairing;
pub(crate) mod process;
pub mod scaling;
pub mod stock;
pub mod subjects;
pub mod today;
