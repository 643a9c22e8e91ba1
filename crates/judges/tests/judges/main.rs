//! Programs beside libraries that are slow to build.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod poseidon;
mod webassembly;
