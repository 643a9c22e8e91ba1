//! judge
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]
pub mod differential;
pub mod generate;
pub mod history;
pub mod invent;
pub mod minimise;
pub mod mode;
pub mod player;
pub mod saved;
pub mod search;
pub mod stage;
pub mod verdict;
