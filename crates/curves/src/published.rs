//! The formulas of the original EVM384 documents, as published: what their programs did, operation by operation.
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

/// How a product in Fp2 is made: update 5 prices both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fp2Product {
    /// Three multiplications, after Karatsuba: “variant 3”.
    Karatsuba,
    /// Four multiplications and three additions or subtractions less: “variant 4”.
    Schoolbook,
}

impl Fp2Product {
    /// Both variants.
    pub const ALL: [Fp2Product; 2] = [Fp2Product::Karatsuba, Fp2Product::Schoolbook];

    /// Its multiplications, by which update 5 names it.
    pub const fn multiplications(self) -> u32 {
        match self {
            Fp2Product::Karatsuba => 3,
            Fp2Product::Schoolbook => 4,
        }
    }
}
