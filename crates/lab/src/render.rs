//! Records for people: figures beside published values, a page of all of them, and the tables of a page of its own.

pub mod baselines;
pub mod design;
pub mod evidence;
pub mod figures;
pub mod goals;
pub mod report;
pub mod svg;
