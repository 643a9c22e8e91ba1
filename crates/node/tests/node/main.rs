//! The node, judged by a chain and by answers that another client made.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod crash;
mod development;
mod exchanges;
mod fork;
mod hostile;
mod import;
mod t8n;
mod transitions;
mod vectors;
