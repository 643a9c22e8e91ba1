//! judge
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]
pub mod differential;
pub mod generate;
pub mod history;
pub mod invent;
pub mod mode;
pub mod player;
pub mod stage;
pub mod verdict;
