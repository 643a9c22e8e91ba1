//! The formulas of towers as sums of products in Fp, on numbers that ask for them: judged as all others are.

mod judges;
#[path = "towers.rs"]
mod towers;
