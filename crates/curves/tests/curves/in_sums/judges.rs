//! Numbers that are computed with by sums of products.

use ark_bls12_381::Fq;
use core::ops::{Add, Mul, Neg, Sub};
use num_bigint::BigUint;
use residue_formula::{Fe, Fp2Product, Number};
use residue_ir::Numbers;

pub use crate::judges::Seeded;

/// An element of Fp of BLS12-381.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct N(crate::judges::N);

impl Add for N {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for N {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul for N {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
}

impl Neg for N {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Fe for N {
    fn fp2_product(self) -> Fp2Product {
        Fp2Product::Sums
    }
}

impl Number for N {
    const ZERO: Self = Self(crate::judges::N::ZERO);
    const ONE: Self = Self(crate::judges::N::ONE);

    fn from_canonical(value: &BigUint) -> Option<Self> {
        crate::judges::N::from_canonical(value).map(Self)
    }

    fn to_canonical(self) -> BigUint {
        self.0.to_canonical()
    }

    fn modulus() -> BigUint {
        crate::judges::N::modulus()
    }

    fn inverse(self) -> Option<Self> {
        self.0.inverse().map(Self)
    }
}

impl N {
    pub fn from_u64(value: u64) -> Self {
        Self(crate::judges::N::from_u64(value))
    }
}

pub fn numbers() -> Numbers<N> {
    Numbers::new(Vec::new())
}

pub fn fp(value: Fq) -> N {
    N(crate::judges::fp(value))
}
