//! A modulus with its Montgomery constants: odd or a power of two, from 3 to 2⁴⁰⁹⁶ − 1.
//!
//! The width is a property of the modulus' declaration, not of its value: 3 declared in 48 bytes has six limbs, and
//! R = 2³⁸⁴. The constants are computed at the width of the value, so that a wide declaration costs little.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use num_bigint::BigUint;
use thiserror::Error;

use crate::accelerators;
use crate::backend;
use crate::inverse;
use crate::limbs::{LIMB_BITS, LIMB_BYTES, Limb, MAX_WIDTH_LIMBS, bits, is_zero, n0_of, read_be, write_be};

/// An odd modulus or a power of two, of a given width, with its constants for Montgomery form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Modulus {
    limbs: Box<[Limb]>,
    n0: Limb,
    /// R² mod m, or 1 where residues stay in canonical form.
    to_form: Box<[Limb]>,
    kind: Kind,
}

/// The form of residues and the arithmetic on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// An odd modulus with residues in Montgomery form.
    Montgomery,
    /// A power of two with canonical residues.
    PowerOfTwo,
    /// An odd modulus with canonical residues, whose operations are calls of the machine ([`crate::accelerators`]).
    Accelerated,
}

/// Why a number is no modulus.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ModulusError {
    /// Below 3, or below a smaller minimum if given.
    #[error("the modulus {value} is too small")]
    TooSmall {
        /// The number.
        value: BigUint,
    },
    /// Even, but not a power of two.
    #[error("the modulus {value:#x} is even and not a power of two")]
    EvenNotPowerOfTwo {
        /// The number.
        value: BigUint,
    },
    /// More limbs than asked for, or more than [`MAX_WIDTH_LIMBS`].
    #[error("the modulus has {bits} bits, which does not fit {limit_bits}")]
    TooWide {
        /// Bits of the number.
        bits: u64,
        /// Bits that fit.
        limit_bits: u64,
    },
    /// A declared width of no limbs or more than [`MAX_WIDTH_LIMBS`].
    #[error("a width of {width_limbs} limbs is not among 1..={MAX_WIDTH_LIMBS}")]
    WidthOutOfRange {
        /// The width asked for.
        width_limbs: usize,
    },
}

impl Modulus {
    /// The modulus with these big-endian bytes, as wide as its value needs; leading zeros are ignored.
    pub fn from_be_bytes(bytes: &[u8]) -> Result<Self, ModulusError> {
        let significant = bytes.len() - bytes.iter().take_while(|byte| **byte == 0).count();
        if significant > MAX_WIDTH_LIMBS * LIMB_BYTES {
            let value = BigUint::from_bytes_be(bytes);
            return Err(too_wide(&value, MAX_WIDTH_LIMBS));
        }
        Self::with_width(bytes, significant.div_ceil(LIMB_BYTES).max(1))
    }

    /// The modulus with these big-endian bytes of any length, in `width_limbs` limbs, 1 to [`MAX_WIDTH_LIMBS`].
    pub fn with_width(bytes: &[u8], width_limbs: usize) -> Result<Self, ModulusError> {
        Self::at_least(3, bytes, width_limbs)
    }

    /// As [`Modulus::with_width`], for interfaces that also know the moduli 1 and 2: at least `min`, which is 1 to 3.
    pub fn at_least(min: Limb, bytes: &[u8], width_limbs: usize) -> Result<Self, ModulusError> {
        assert!((1..=3).contains(&min), "zero is no modulus");
        if !(1..=MAX_WIDTH_LIMBS).contains(&width_limbs) {
            return Err(ModulusError::WidthOutOfRange { width_limbs });
        }
        let value = || BigUint::from_bytes_be(bytes);
        let mut limbs = vec![0; width_limbs].into_boxed_slice();
        read_be(bytes, &mut limbs).ok_or_else(|| too_wide(&value(), width_limbs))?;
        if limbs[0] < min && is_zero(&limbs[1..]) {
            return Err(ModulusError::TooSmall { value: value() });
        }
        let is_power_of_two = limbs.iter().map(|limb| limb.count_ones()).sum::<u32>() == 1;
        if limbs[0].is_multiple_of(2) && !is_power_of_two {
            return Err(ModulusError::EvenNotPowerOfTwo { value: value() });
        }
        let kind = match is_power_of_two {
            true => Kind::PowerOfTwo,
            false if accelerators::are_there(width_limbs) => Kind::Accelerated,
            false => Kind::Montgomery,
        };
        let n0 = if is_power_of_two { 0 } else { n0_of(limbs[0]) };
        let to_form = if kind == Kind::Montgomery { r_squared(&limbs, n0) } else { one(width_limbs) };
        Ok(Self { limbs, n0, to_form, kind })
    }

    /// The limbs, `width_limbs` of them.
    #[inline]
    pub fn limbs(&self) -> &[Limb] {
        &self.limbs
    }

    /// The width: R = 2^(64·width).
    #[inline]
    pub fn width_limbs(&self) -> usize {
        self.limbs.len()
    }

    /// n0 = −m⁻¹ mod 2⁶⁴ for odd m; 0 for powers of two.
    #[inline]
    pub fn n0(&self) -> Limb {
        self.n0
    }

    /// Is it a power of two? Its residues are then kept in canonical form.
    #[inline]
    pub fn is_power_of_two(&self) -> bool {
        self.kind == Kind::PowerOfTwo
    }

    /// Are its residues kept in canonical form: modulo a power of two, or by accelerators?
    #[inline]
    pub fn is_canonical(&self) -> bool {
        self.kind != Kind::Montgomery
    }

    /// The form of its residues and the arithmetic on them.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Is it odd?
    #[inline]
    pub fn is_odd(&self) -> bool {
        !self.limbs[0].is_multiple_of(2)
    }

    /// Bits of the value: ⌊log₂ m⌋ + 1.
    pub fn bits(&self) -> usize {
        bits(&self.limbs)
    }

    /// The value as 8·width big-endian bytes.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.width_limbs() * LIMB_BYTES];
        write_be(&self.limbs, &mut bytes);
        bytes
    }

    /// Canonical a ↦ a·R mod m (a itself where residues are canonical). Requires a < R; the result is < m for odd m, and for
    /// a power of two if a < m. `out` and `a` have the modulus' width.
    pub fn to_mont(&self, a: &[Limb], out: &mut [Limb]) {
        self.product(a, &self.to_form, out);
    }

    /// a·R mod m ↦ canonical a (a itself where residues are canonical). Requires a < R; the result is < m if a < m.
    /// `out` and `a` have the modulus' width.
    pub fn from_mont(&self, a: &[Limb], out: &mut [Limb]) {
        let mut one = [0; MAX_WIDTH_LIMBS];
        one[0] = 1;
        self.product(a, &one[..self.width_limbs()], out);
    }

    /// Canonical a ↦ a⁻¹ mod m, canonical; `None` unless gcd(a, m) = 1. Requires a < m, of the modulus' width.
    pub fn inverse(&self, a: &[Limb]) -> Option<Vec<Limb>> {
        if self.is_power_of_two() {
            inverse::modulo_power_of_two(a, self.bits() - 1)
        } else {
            inverse::modulo_odd(a, &self.limbs)
        }
    }

    /// Factor of [`Modulus::to_mont`]: R² mod m, or 1 where residues are canonical.
    pub(crate) fn to_form(&self) -> &[Limb] {
        &self.to_form
    }

    /// (x, y) ↦ x·y·R⁻¹ mod m; where residues are canonical x·y mod m.
    fn product(&self, x: &[Limb], y: &[Limb], out: &mut [Limb]) {
        backend::kernels(self.width_limbs(), self.kind).mul.apply(x, y, &self.limbs, self.n0, out);
    }
}

/// R² mod m for odd m ≥ 3, R = 2^(64n) with n the width given.
fn r_squared(m: &[Limb], n0: Limb) -> Box<[Limb]> {
    let own_bits = bits(m);
    let own_limbs = own_bits.div_ceil(LIMB_BITS);
    let (width_limbs, m) = (m.len(), &m[..own_limbs]);
    let kernels = backend::kernels(own_limbs, Kind::Montgomery);
    // w(e) = 2ᵉ·2^(64k) mod m, with k the limbs of the value. First w(own_bits − 64k) = 2^own_bits − m, below m.
    let mut w: Vec<Limb> = m.iter().map(|limb| !limb).collect();
    w[0] += 1; // m is odd, so !m is even and this carries nowhere.
    let spare_bits = own_limbs * LIMB_BITS - own_bits;
    w[own_limbs - 1] &= Limb::MAX >> spare_bits;
    // Wanted: R² = 2^(128n) = w(128n − 64k). w(e) ↦ w(e + 1) is doubling and w(e) ↦ w(2e) a Montgomery square.
    for _ in 0..spare_bits + 2 * width_limbs - own_limbs {
        (kernels.add.limbs)(&mut w, 0, 0, 0, m, n0);
    }
    for _ in 0..LIMB_BITS.ilog2() {
        (kernels.mul.limbs)(&mut w, 0, 0, 0, m, n0);
    }
    w.resize(width_limbs, 0);
    w.into_boxed_slice()
}

fn one(width_limbs: usize) -> Box<[Limb]> {
    let mut one = vec![0; width_limbs].into_boxed_slice();
    one[0] = 1;
    one
}

fn too_wide(value: &BigUint, limit_limbs: usize) -> ModulusError {
    // At most 64 limbs: the widening is exact.
    ModulusError::TooWide { bits: value.bits(), limit_bits: (limit_limbs * LIMB_BITS) as u64 }
}
