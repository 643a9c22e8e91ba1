//! The adapter, judged by a chain that other clients made, by revm itself and by a fork transition.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod chain;
mod transition;
mod world;
