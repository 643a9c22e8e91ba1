//! The formulas of the original EVM384 documents, as published: the operations of their programs, one by one.
//!
//! [`f6m`] is the product of update 2, which its synthetic loop repeats; [`tower`], [`miller`] and [`final_exponentiation`]
//! are the pairing of update 5, which is blst's (`src/fp12_tower.c` and `src/pairing.c` of release 0.3): the same values
//! bit for bit, line factors included. They are here to be compared with; [`crate::bls12_381`] is what to use.

pub mod f6m;
pub mod final_exponentiation;
pub mod miller;
pub mod tower;

pub use f6m::f6m_mul;
pub use final_exponentiation::final_exponentiation;
pub use miller::miller_loop;
pub use tower::{Fp12, multiply};
