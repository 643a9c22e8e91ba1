//! Contracts on the EVM as it is: the precompiles that they call, and their gas.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../contracts/by_precompiles.rs"]
mod by_precompiles;
mod precompiles_page;
mod use_precompiles;
