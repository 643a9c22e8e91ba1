//! A look into one execution: every instruction with what it does, or where the time goes.

pub mod flame;
pub mod profile;
pub mod trace;
