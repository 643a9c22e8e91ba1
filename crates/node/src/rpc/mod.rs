//! The methods, one file for a namespace, and the table of them.

pub mod blocks;
pub mod build;
pub mod call;
pub mod cheats;
pub mod debug;
pub mod dump;
pub mod error;
pub mod fees;
pub mod filters;
pub mod forks;
pub mod format;
pub mod misc;
pub mod ours;
pub mod params;
pub mod parity;
pub mod rewind;
pub mod send;
pub mod simulate;
pub mod state;
pub mod struct_logs;
pub mod transfers;

use error::{Answer, NO_METHOD, RpcError};
use params::Params;

use crate::node::Node;

/// A method.
pub type Method = fn(&Node, &Params) -> Answer;

/// All methods by their names.
pub fn methods() -> impl Iterator<Item = &'static (&'static str, Method)> {
    let tables = [
        blocks::METHODS,
        state::METHODS,
        call::METHODS,
        fees::METHODS,
        send::METHODS,
        filters::METHODS,
        simulate::METHODS,
        debug::METHODS,
        parity::METHODS,
        cheats::METHODS,
        rewind::METHODS,
        dump::METHODS,
        misc::METHODS,
        build::METHODS,
        forks::METHODS,
        ours::METHODS,
    ];
    tables.into_iter().flatten()
}

/// Answers one request.
pub fn answer(node: &Node, method: &str, params: &Params) -> Answer {
    match methods().find(|(name, _)| *name == method) {
        Some((_, call)) => call(node, params),
        None => Err(RpcError::new(NO_METHOD, format!("the method {method} does not exist/is not available"))),
    }
}
