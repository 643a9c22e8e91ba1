//! The engine judged: by programs from one start, and by histories.
//!
//! - [`differential`] runs one program on the engine and on the specification and reports where they differ; [`generate`] makes
//!   programs that reach the corners of a revision.
//! - A [`history`] is contracts with the transactions that run them one after the other, on one engine that keeps what it learns of
//!   their codes. [`invent`] makes histories from seeds; [`stage`] makes one ready, a [`player`] plays its transactions, and [`verdict`]
//!   compares how each ended ([`ending`]) in every [`mode`] with a plain engine that remembers nothing.
//! - [`search`] judges the histories of many seeds, [`saved`] lets it go on where it was interrupted, and [`minimise`] makes what it
//!   finds short. A panic is a finding ([`panics`]).
//!
//! Findings are kept as text in `histories/`, and replayed by the tests. The crate is light: neither WebAssembly nor
//! the compiler is built for it, so a change of the engine has its judge within minutes.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod differential;
pub mod ending;
pub mod generate;
pub mod history;
pub mod invent;
pub mod minimise;
pub mod mode;
pub mod panics;
pub mod player;
pub mod saved;
pub mod search;
pub mod stage;
pub mod verdict;
