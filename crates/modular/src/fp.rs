//! Numbers modulo a prime known at compile time, in Montgomery form with R = 2^(64N).
//!
//! The constants n0, R and R² are computed from the modulus by the compiler, so a field is one array of limbs.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::ops::{Add, Mul, Neg, Sub};

use num_bigint::BigUint;

use crate::backend::{self, portable};
use crate::inverse;
use crate::limbs::{Limb, is_zero, less_than, n0_of, read_be, write_be};
use residue_formula::{Fe, Number, least_n};

/// A prime field of N limbs, named by a type.
pub trait PrimeField<const N: usize>: 'static {
    /// The prime, odd, least significant limb first.
    const MODULUS: [Limb; N];
    /// Name of the field in messages, e.g. `bls12-381 Fp`.
    const NAME: &'static str;
}

/// An element of the prime field `P`: always below the modulus, held in Montgomery form.
pub struct Fp<P: PrimeField<N>, const N: usize> {
    mont: [Limb; N],
    field: PhantomData<P>,
}

impl<P: PrimeField<N>, const N: usize> Fp<P, N> {
    /// n0 = −m⁻¹ mod 2⁶⁴.
    pub const N0: Limb = n0_of(P::MODULUS[0]);
    /// R mod m, R = 2^(64N): the Montgomery form of one.
    pub const R: [Limb; N] = {
        assert!(P::MODULUS[0] % 2 == 1, "a field modulus is odd");
        let mut one = [0; N];
        one[0] = 1;
        doubled::<P, N>(one)
    };
    /// R² mod m.
    pub const R2: [Limb; N] = doubled::<P, N>(Self::R);

    /// The element whose Montgomery form is `mont`; `None` unless it lies in [0, m).
    pub fn from_mont(mont: [Limb; N]) -> Option<Self> {
        less_than(&mont, &P::MODULUS).then(|| Self::of(mont))
    }

    /// The Montgomery form a·R mod m, in [0, m).
    pub const fn to_mont(self) -> [Limb; N] {
        self.mont
    }

    /// The element with these canonical limbs; `None` unless they lie in [0, m).
    pub fn from_limbs(canonical: [Limb; N]) -> Option<Self> {
        less_than(&canonical, &P::MODULUS).then(|| Self::from_reduced_limbs(canonical))
    }

    /// The canonical limbs, in [0, m).
    pub const fn to_limbs(self) -> [Limb; N] {
        let mut one = [0; N];
        one[0] = 1;
        portable::mont_mul(&self.mont, &one, &P::MODULUS, Self::N0)
    }

    /// The element with this canonical value, for constants: the compiler rejects limbs that are not below the modulus.
    pub const fn constant(canonical: [Limb; N]) -> Self {
        // x + 0 subtracts m exactly if x ≥ m.
        let reduced = portable::add(&canonical, &[0; N], &P::MODULUS);
        let mut i = 0;
        while i < N {
            assert!(reduced[i] == canonical[i], "a field constant lies below the modulus");
            i += 1;
        }
        Self::from_reduced_limbs(canonical)
    }

    /// The residue of a small integer.
    pub fn from_u64(value: u64) -> Self {
        let mut limbs = [0; N];
        limbs[0] = value;
        // R² < m makes x·R² < m·R for every x < R, so the product is reduced even where value ≥ m.
        Self::from_reduced_limbs(limbs)
    }

    /// The element with these canonical big-endian bytes of any length; `None` unless they lie in [0, m).
    pub fn from_be_bytes(bytes: &[u8]) -> Option<Self> {
        let mut limbs = [0; N];
        read_be(bytes, &mut limbs)?;
        Self::from_limbs(limbs)
    }

    /// The canonical value as 8N big-endian bytes.
    pub fn to_be_bytes(self) -> Vec<u8> {
        let mut bytes = vec![0; 8 * N];
        write_be(&self.to_limbs(), &mut bytes);
        bytes
    }

    /// Is this the neutral element of addition?
    pub fn is_zero(self) -> bool {
        is_zero(&self.mont)
    }

    const fn of(mont: [Limb; N]) -> Self {
        Self { mont, field: PhantomData }
    }

    const fn from_reduced_limbs(canonical: [Limb; N]) -> Self {
        Self::of(portable::mont_mul(&canonical, &Self::R2, &P::MODULUS, Self::N0))
    }
}

/// a ↦ a·2^(64N) mod m by doubling, for the compiler.
const fn doubled<P: PrimeField<N>, const N: usize>(mut a: [Limb; N]) -> [Limb; N] {
    let mut bit = 0;
    while bit < 64 * N {
        a = portable::add(&a, &a, &P::MODULUS);
        bit += 1;
    }
    a
}

impl<P: PrimeField<N>, const N: usize> Fe for Fp<P, N> {
    fn n_of_norms(self) -> u32 {
        if P::MODULUS[0] % 4 == 3 { 1 } else { least_n(&Self::modulus()) }
    }
}

impl<P: PrimeField<N>, const N: usize> Number for Fp<P, N> {
    const ZERO: Self = Self::of([0; N]);
    const ONE: Self = Self::of(Self::R);

    fn from_canonical(value: &BigUint) -> Option<Self> {
        let mut limbs = [0; N];
        if value.bits() > 64 * N as u64 {
            return None;
        }
        for (limb, digit) in limbs.iter_mut().zip(value.iter_u64_digits()) {
            *limb = digit;
        }
        Self::from_limbs(limbs)
    }

    fn to_canonical(self) -> BigUint {
        BigUint::from_bytes_be(&self.to_be_bytes())
    }

    fn modulus() -> BigUint {
        let mut bytes = vec![0; 8 * N];
        write_be(&P::MODULUS, &mut bytes);
        BigUint::from_bytes_be(&bytes)
    }

    fn inverse(self) -> Option<Self> {
        let inverted = inverse::modulo_odd(&self.to_limbs(), &P::MODULUS)?;
        let limbs: [Limb; N] = inverted.try_into().expect("an inverse has the width of its modulus");
        Some(Self::from_reduced_limbs(limbs))
    }
}

impl<P: PrimeField<N>, const N: usize> Add for Fp<P, N> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self::of(backend::add(&self.mont, &other.mont, &P::MODULUS))
    }
}

impl<P: PrimeField<N>, const N: usize> Sub for Fp<P, N> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self::of(backend::sub(&self.mont, &other.mont, &P::MODULUS))
    }
}

impl<P: PrimeField<N>, const N: usize> Mul for Fp<P, N> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self::of(backend::mont_mul(&self.mont, &other.mont, &P::MODULUS, Self::N0))
    }
}

impl<P: PrimeField<N>, const N: usize> Neg for Fp<P, N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

// Written out, because a derive would ask the same of `P`, which is only a name.
impl<P: PrimeField<N>, const N: usize> Clone for Fp<P, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: PrimeField<N>, const N: usize> Copy for Fp<P, N> {}

impl<P: PrimeField<N>, const N: usize> PartialEq for Fp<P, N> {
    fn eq(&self, other: &Self) -> bool {
        self.mont == other.mont
    }
}

impl<P: PrimeField<N>, const N: usize> Eq for Fp<P, N> {}

impl<P: PrimeField<N>, const N: usize> Hash for Fp<P, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.mont.hash(state);
    }
}

impl<P: PrimeField<N>, const N: usize> Default for Fp<P, N> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<P: PrimeField<N>, const N: usize> fmt::Debug for Fp<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({self})", P::NAME)
    }
}

impl<P: PrimeField<N>, const N: usize> fmt::Display for Fp<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.to_canonical())
    }
}
