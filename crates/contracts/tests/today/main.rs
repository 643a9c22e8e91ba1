//! Contracts on the EVM as it is: what they call, and what that costs.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../contracts/by_precompiles.rs"]
mod by_precompiles;
mod precompiles_page;
mod use_precompiles;
