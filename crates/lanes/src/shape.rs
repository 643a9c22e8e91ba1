//! Shape of a row: the number of limbs of 52 bits, the width of the modulus that they hold, and constants that follow
//! from the two.
//!
//! A plan depends on the shape alone, never on the value of the modulus. Rows work modulo the *working modulus* M, an
//! odd multiple of the modulus m that reaches into the top limb: m itself if it is wide enough, else (2ᵏ − 1)·m.
//! Results modulo M are results modulo m, and only the conversions know the difference.

use residue_modular::Modulus;
use thiserror::Error;

use crate::line::{LINE_LIMBS, ROW_LIMB_BITS};

/// The widths for which kernels exist, in limbs of 52 bits: moduli up to 308, 412, 516 and 776 bits. Five limbs would hold 256 bits too, with
/// so little headroom that reductions cost more than the sixth limb.
pub const ROW_WIDTHS: [usize; 4] = [6, 8, 10, 15];
/// The widest modulus that rows hold.
pub const MODULUS_BITS_MAX: usize = ROW_WIDTHS[3] * ROW_LIMB_BITS - HEADROOM_BITS_MIN;

/// Fewest bits between M and the row's radix R = 2^(52L): room for operands up to 14·M.
const HEADROOM_BITS_MIN: usize = 4;
/// Bits of M in the top limb, at least: a quotient estimated from the top limb alone is then good to 2⁻⁹.
pub(crate) const TOP_LIMB_BITS_MIN: usize = 12;
/// Products add at most this many M to their operands.
const LIFT_MAX: i64 = 1 << 12;
/// No value inside a plan exceeds this many M in magnitude.
const RANGE_MAX: i64 = 1 << 16;

/// Layout of the slots of a modulus in rows. Two moduli of one shape share plans.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    limbs: u8,
    modulus_bits: u16,
}

/// Why a modulus has no rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ShapeError {
    /// Montgomery form needs an odd modulus.
    #[error("rows hold residues of odd moduli; this one is a power of two with {bits} bits")]
    PowerOfTwo {
        /// Bits of the modulus.
        bits: usize,
    },
    /// Rows take values from Montgomery form.
    #[error("rows take values in Montgomery form; those of this modulus of {bits} bits are canonical")]
    Canonical {
        /// Bits of the modulus.
        bits: usize,
    },
    /// Wider than every row.
    #[error("a modulus of {bits} bits is wider than the widest row, which holds {MODULUS_BITS_MAX}")]
    TooWide {
        /// Bits of the modulus.
        bits: usize,
    },
    /// Values take more bytes than a row of the modulus.
    #[error("values of {width_limbs} limbs are wider than the rows for their modulus of {bits} bits")]
    Padded {
        /// Bits of the modulus.
        bits: usize,
        /// Limbs of 64 bits of a value.
        width_limbs: usize,
    },
}

impl Shape {
    /// The shape for a modulus.
    pub fn of(modulus: &Modulus) -> Result<Self, ShapeError> {
        let (bits, width_limbs) = (modulus.bits(), modulus.width_limbs());
        if modulus.is_power_of_two() {
            return Err(ShapeError::PowerOfTwo { bits });
        }
        if modulus.is_canonical() {
            return Err(ShapeError::Canonical { bits });
        }
        let shape = Self::of_bits(bits)?;
        if width_limbs > shape.lines() * LINE_LIMBS {
            return Err(ShapeError::Padded { bits, width_limbs });
        }
        Ok(shape)
    }

    /// The shape for odd moduli of exactly `bits` bits.
    pub fn of_bits(bits: usize) -> Result<Self, ShapeError> {
        let limbs = ROW_WIDTHS
            .into_iter()
            .find(|limbs| bits + HEADROOM_BITS_MIN <= limbs * ROW_LIMB_BITS)
            .ok_or(ShapeError::TooWide { bits })?;
        let modulus_bits = bits.max((limbs - 1) * ROW_LIMB_BITS + TOP_LIMB_BITS_MIN);
        // At most 15 limbs and 776 bits: both fit.
        Ok(Self { limbs: limbs as u8, modulus_bits: modulus_bits as u16 })
    }

    /// Limbs of 52 bits; R = 2^(52·limbs).
    #[inline]
    pub fn limbs(self) -> usize {
        usize::from(self.limbs)
    }

    /// Lines of 64 bytes that a row takes.
    #[inline]
    pub fn lines(self) -> usize {
        self.limbs().div_ceil(LINE_LIMBS)
    }

    /// b with 2^(b−2) ≤ M < 2ᵇ for the working modulus M.
    #[inline]
    pub fn modulus_bits(self) -> usize {
        usize::from(self.modulus_bits)
    }

    /// h = 52·limbs − b: R > 2ʰ·M.
    #[inline]
    pub fn headroom_bits(self) -> u32 {
        // At most 776.
        (self.limbs() * ROW_LIMB_BITS - self.modulus_bits()) as u32
    }

    /// k = 2^(⌊h/2⌋ − 3), within 2 … 4096: products add k·M to both operands, so that these may be as low as −k·M.
    pub fn lift(self) -> i64 {
        (1 << (self.headroom_bits() / 2).clamp(4, 15) >> 3).min(LIFT_MAX)
    }

    /// The largest |v| of sums and differences, in M: after adding a bias that makes it at least M, v is still below R.
    pub(crate) fn range_max(self) -> i64 {
        RANGE_MAX.min((1 << (self.headroom_bits() - 1).min(40)) - 2)
    }

    /// The largest v that a reduction takes, its bias added, in M: below R, and small enough that a quotient estimated from the top limb is
    /// good to 2⁻²².
    pub(crate) fn reducible_max(self) -> i64 {
        self.operand_max().min(4 * RANGE_MAX)
    }

    /// The largest v of a lifted operand of a product or of a biased operand of a reduction, in M: v < 2ʰ·M < R.
    pub(crate) fn operand_max(self) -> i64 {
        (1 << self.headroom_bits().min(40)) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Bounds;

    #[test]
    fn shapes_follow_the_width_of_the_modulus() {
        let shape =
            |bits| Shape::of_bits(bits).map(|shape| (shape.limbs(), shape.modulus_bits(), shape.headroom_bits()));
        assert_eq!(shape(254), Ok((6, 272, 40)), "too narrow for the top limb: a multiple of the modulus");
        assert_eq!(shape(308), Ok((6, 308, 4)));
        assert_eq!(shape(309), Ok((8, 376, 40)));
        assert_eq!(shape(381), Ok((8, 381, 35)));
        assert_eq!(shape(384), Ok((8, 384, 32)));
        assert_eq!(shape(448), Ok((10, 480, 40)));
        assert_eq!(shape(512), Ok((10, 512, 8)));
        assert_eq!(shape(516), Ok((10, 516, 4)));
        assert_eq!(shape(517), Ok((15, 740, 40)));
        assert_eq!(shape(768), Ok((15, 768, 12)));
        assert_eq!(shape(MODULUS_BITS_MAX), Ok((15, 776, 4)));
        assert_eq!(shape(MODULUS_BITS_MAX + 1), Err(ShapeError::TooWide { bits: 777 }));
    }

    #[test]
    fn a_power_of_two_has_no_rows() {
        let modulus = Modulus::from_be_bytes(&[1, 0, 0]).unwrap();
        assert_eq!(Shape::of(&modulus), Err(ShapeError::PowerOfTwo { bits: 17 }));
    }

    #[test]
    fn values_wider_than_a_row_have_no_rows() {
        let modulus = |width_limbs| Modulus::at_least(3, &[101], width_limbs).unwrap();
        assert!(Shape::of(&modulus(8)).is_ok());
        assert_eq!(Shape::of(&modulus(9)), Err(ShapeError::Padded { bits: 7, width_limbs: 9 }));
    }

    #[test]
    fn ends_are_closed_under_products() {
        for bits in 2..=MODULUS_BITS_MAX {
            let shape = Shape::of_bits(bits).unwrap();
            let end = shape.end_bounds();
            let product = end.product(end, shape);
            assert!(product.high <= end.high && product.limb <= end.limb, "{bits} bits");
            assert!(Bounds::reduced().high <= end.high, "{bits} bits");
        }
    }

    #[test]
    fn limits_follow_from_the_headroom() {
        // Bits, headroom; least and greatest M of an end, lift; greatest sum, reducible value and operand.
        for (bits, headroom, [least, most, lift], [sum, reducible, operand]) in [
            (254, 40, [16, 16, 4096], [65_536, 262_144, (1 << 40) - 1]),
            (381, 35, [16, 16, 4096], [65_536, 262_144, (1 << 35) - 1]),
            (760, 20, [16, 16, 128], [65_536, 262_144, (1 << 20) - 1]),
            (764, 16, [16, 16, 32], [32_766, 65_535, 65_535]),
            (768, 12, [4, 16, 8], [2046, 4095, 4095]),
            (512, 8, [1, 16, 2], [126, 255, 255]),
            (774, 6, [1, 8, 2], [30, 63, 63]),
            (308, 4, [1, 4, 2], [6, 15, 15]),
        ] {
            let shape = Shape::of_bits(bits).unwrap();
            assert_eq!(shape.headroom_bits(), headroom, "{bits} bits");
            let end = Bounds { limb: 1 << 58, low: -least << 16, high: most << 16 };
            assert_eq!((shape.end_bounds(), shape.lift()), (end, lift), "{bits} bits");
            let limits = [shape.range_max(), shape.reducible_max(), shape.operand_max()];
            assert_eq!(limits, [sum, reducible, operand], "{bits} bits");
        }
    }
}
