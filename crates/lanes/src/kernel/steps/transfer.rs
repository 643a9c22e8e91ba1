//! Values between words of 64 bits and limbs of 52, and below the modulus, in every lane.

use crate::kernel::vectors::Vectors;
use crate::line::ROW_LIMBS;
use crate::line::{LIMB_MASK, ROW_LIMB_BITS};
use crate::modulus_rows::ProductConstants;

/// Bits of a word of a value in bytes.
pub(crate) const WORD_BITS: usize = 64;

/// Words of 64 bits ↦ limbs of 52. Requires values below 2^(52L).
#[inline(always)]
pub(crate) fn unpacked<V: Vectors, const L: usize>(v: V, words: &[V::Vector; ROW_LIMBS]) -> [V::Vector; L] {
    let mut limbs = [v.literal(0); L];
    for i in 0..L {
        let (word, bit) = (i * ROW_LIMB_BITS / WORD_BITS, i * ROW_LIMB_BITS % WORD_BITS);
        let mut window = v.shifted_down(words[word], bit as u32); // Below 64.
        if bit + ROW_LIMB_BITS > WORD_BITS {
            window = v.or(window, v.shifted_up(words[word + 1], (WORD_BITS - bit) as u32)); // At most 51.
        }
        limbs[i] = v.and(window, v.literal(LIMB_MASK));
    }
    limbs
}

/// Limbs of 52 bits ↦ words of 64. Requires carried limbs.
#[inline(always)]
pub(crate) fn packed<V: Vectors, const L: usize>(v: V, limbs: &[V::Vector; L]) -> [V::Vector; ROW_LIMBS] {
    let mut words = [v.literal(0); ROW_LIMBS];
    for k in 0..(L * ROW_LIMB_BITS).div_ceil(WORD_BITS) {
        let (limb, bit) = (k * WORD_BITS / ROW_LIMB_BITS, k * WORD_BITS % ROW_LIMB_BITS);
        words[k] = v.shifted_down(limbs[limb], bit as u32); // Below 52.
        let mut filled = ROW_LIMB_BITS - bit;
        for above in limb + 1..L {
            if filled >= WORD_BITS {
                break;
            }
            words[k] = v.or(words[k], v.shifted_up(limbs[above], filled as u32)); // Below 64.
            filled += ROW_LIMB_BITS;
        }
    }
    words
}

/// Limbs of values below 2m, to be carried ↦ the carried limbs of v mod m.
#[inline(always)]
pub(crate) fn canonical<V: Vectors, const L: usize>(
    v: V,
    x: &[V::Vector; L],
    constants: &ProductConstants<V::Word>,
) -> [V::Vector; L] {
    let mut carried = *x;
    for i in 0..L - 1 {
        carried[i + 1] = v.add(carried[i + 1], v.above(carried[i]));
        carried[i] = v.and(carried[i], v.literal(LIMB_MASK));
    }
    let (borrow, difference) = less_m(v, &carried, constants);
    let mut out = carried;
    for i in 0..L {
        out[i] = v.select(borrow, carried[i], difference[i]);
    }
    out
}

/// x ↦ ⌊(x − m)/2^(52L)⌋, which is negative where x < m, and the carried limbs of x − m where it is not. Requires carried limbs.
#[inline(always)]
pub(crate) fn less_m<V: Vectors, const L: usize>(
    v: V,
    x: &[V::Vector; L],
    constants: &ProductConstants<V::Word>,
) -> (V::Vector, [V::Vector; L]) {
    let mut difference = *x;
    let mut borrow = v.literal(0);
    for i in 0..L {
        let limb = v.add(v.sub(x[i], v.broadcast(constants.m[i])), borrow);
        borrow = v.carry(limb);
        difference[i] = v.and(limb, v.literal(LIMB_MASK));
    }
    (borrow, difference)
}
