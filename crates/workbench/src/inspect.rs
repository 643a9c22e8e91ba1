//! A look into one execution: a trace of every instruction, or a profile of time and gas.

pub mod flame;
pub mod frame;
pub mod profile;
pub mod trace;
