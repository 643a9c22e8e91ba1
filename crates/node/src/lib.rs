//! A development node: Ethereum's JSON-RPC over a database, with the field instructions of any revision.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod chain;
pub mod envelope;
pub mod gate;
pub mod genesis;
pub mod keys;
pub mod node;
pub mod options;
pub mod pool;
pub mod remote;
pub mod rpc;
pub mod server;
pub mod store;
pub mod t8n;
pub mod trie;
