//! The node, judged by a chain and by answers that another client made.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod crash;
mod development;
mod dump;
mod exchanges;
mod folder;
mod fork;
mod histories;
mod hostile;
mod import;
mod overrides;
mod pending;
mod protocol;
mod rewind;
mod t8n;
mod traces;
mod transitions;
mod vectors;
