//! The commands as a user calls them.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod bench;
mod check;
mod choices;
mod compare;
mod dialects;
mod formats;
mod formulas;
mod fractional;
mod gas;
mod interfaces;
mod lab;
mod main_job;
mod program;
mod raw_code;
mod report;
mod run;
mod statetest;
mod support;
mod text;
mod trace_profile;
mod usage;
mod wasm;
