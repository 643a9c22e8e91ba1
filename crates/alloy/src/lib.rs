//! The engine for code that is written over alloy-evm: reth, block builders, the node of this project.
//!
//! [`FieldEvmFactory`] is an `alloy_evm::EvmFactory` whose EVMs know the field instructions, from a block time on if so wanted, so a fork
//! transition switches them on. It keeps the bounds of reth's `ConfigureEvm`, so it goes where `EthEvmFactory` goes, such as into
//! `EthBlockExecutorFactory`. [`ChainRules`] are the forks and the blob schedule of a genesis file, in the form that alloy-evm's executors ask.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

mod evm;
mod factory;
mod rules;
mod selfdestructs;

pub use evm::{FieldBlockEvm, FieldContext};
pub use factory::{Activation, FactoryError, FieldEvmFactory, precompiles};
pub use rules::{ChainRules, RulesError};
pub use selfdestructs::Selfdestructs;

/// The alloy-evm that this crate is built on.
pub use alloy_evm;
