//! The engine as the EVM and as revm has it: halts, gas, frames, blocks.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod batch;
mod batch_memory;
mod code;
mod frames;
mod gas;
mod halts;
mod jumps;
mod nested;
mod paid;
mod rounded;
mod runs;
mod slot_forks;
mod stock;
mod traced;
mod transactions;
