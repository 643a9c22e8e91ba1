//! The traits that field formulas are written over: [`Fe`] for anything that adds and multiplies, [`Number`] for values.
//!
//! A formula generic over `Fe` computes when it runs on a number and is recorded when it runs on a recorder's stand-in;
//! only formulas that need a value (inversion, comparison, conversion) require `Number`.

use core::fmt::Debug;
use core::ops::{Add, Mul, Neg, Sub};

use num_bigint::BigUint;

/// An element of a prime field, or a recorded stand-in for one.
pub trait Fe: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {
    /// a ↦ a².
    #[must_use]
    fn square(self) -> Self {
        self * self
    }

    /// a ↦ 2a.
    #[must_use]
    fn double(self) -> Self {
        self + self
    }

    /// Form of products in Fp2 of elements of this type: a recorder returns the one it was set to, numbers accept any.
    fn fp2_product(self) -> Fp2Product {
        Fp2Product::default()
    }

    /// [`least_n`] of the field.
    fn n_of_norms(self) -> u32 {
        1
    }
}

/// A prime m > 3 ↦ the least n ≥ 1 for which −n is no square modulo m, so that a² + n·b² = 0 only for a = b = 0. It is 1 for m ≡ 3 mod 4.
pub fn least_n(modulus: &BigUint) -> u32 {
    if modulus.bit(0) && modulus.bit(1) {
        return 1;
    }
    let half = modulus >> 1u32; // (m − 1)/2
    let is_square = |n: u32| (modulus - n % modulus).modpow(&half, modulus) == BigUint::from(1u8);
    // Half of all numbers are no squares, and the least of them is small: Ankeny 1952, “The least quadratic non residue”.
    (1..1000).find(|&n| !is_square(n)).expect("the modulus is a prime")
}

/// Form of a product in Fp2 as operations in Fp. EVM384's update 5 prices both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fp2Product {
    /// Three multiplications, after Karatsuba and Gauss: “variant 3”.
    #[default]
    Karatsuba,
    /// Four multiplications and fewer additions and subtractions: “variant 4”.
    Schoolbook,
    /// The same, and larger fields by sums of such products too: for interfaces that reduce a sum of products once.
    Sums,
    /// As [`Fp2Product::Karatsuba`], and products in Fp6 whole, each coefficient a sum of six products: for interfaces with fused products in Fp6.
    Fp6,
}

impl Fp2Product {
    /// The variants of update 5, which every interface has.
    pub const ALL: [Fp2Product; 2] = [Fp2Product::Karatsuba, Fp2Product::Schoolbook];
    /// These and those for interfaces with sums of products, and with products in Fp6.
    pub const EVERY: [Fp2Product; 4] =
        [Fp2Product::Karatsuba, Fp2Product::Schoolbook, Fp2Product::Sums, Fp2Product::Fp6];

    /// Its multiplications, by which update 5 names it.
    pub const fn multiplications(self) -> u32 {
        match self {
            Fp2Product::Karatsuba | Fp2Product::Fp6 => 3,
            Fp2Product::Schoolbook | Fp2Product::Sums => 4,
        }
    }
}

/// An element of a prime field whose value is known: it converts, compares and inverts.
pub trait Number: Fe + PartialEq + Debug {
    /// The neutral element of addition.
    const ZERO: Self;
    /// The neutral element of multiplication.
    const ONE: Self;

    /// The element with this canonical value; `None` unless it lies in [0, m).
    fn from_canonical(value: &BigUint) -> Option<Self>;

    /// The canonical value, in [0, m).
    fn to_canonical(self) -> BigUint;

    /// The modulus m.
    fn modulus() -> BigUint;

    /// a ↦ a⁻¹; `None` for zero. Its time depends on the value.
    fn inverse(self) -> Option<Self>;

    /// (a, e) ↦ aᵉ by square and multiply; a⁰ = 1. Its time depends on the exponent.
    #[must_use]
    fn pow(self, exponent: &BigUint) -> Self {
        let mut power = Self::ONE;
        for bit in (0..exponent.bits()).rev() {
            power = power.square();
            if exponent.bit(bit) {
                power = power * self;
            }
        }
        power
    }
}
