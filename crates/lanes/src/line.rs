//! Limbs of 52 bits, and the lines of 64 bytes that make up rows.

use residue_modular::Limb;

/// Bits of a row's limb, and of the words that the IFMA instructions multiply.
pub const ROW_LIMB_BITS: usize = 52;
/// 2⁵² − 1.
pub const LIMB_MASK: u64 = (1 << ROW_LIMB_BITS) - 1;

/// Limbs of a line.
pub(crate) const LINE_LIMBS: usize = 8;

/// 64 aligned bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Line(pub [i64; LINE_LIMBS]);

/// Limbs of the widest row, padding included.
pub(crate) const ROW_LIMBS: usize = 2 * LINE_LIMBS;
pub(crate) const ZERO_LINE: Line = Line([0; LINE_LIMBS]);

/// 64-bit limbs ↦ 52-bit limbs. Requires a value below 2^(52·16).
pub(crate) fn unpack(value: &[Limb]) -> [i64; ROW_LIMBS] {
    let mut limbs = [0; ROW_LIMBS];
    let count = (64 * value.len()).div_ceil(ROW_LIMB_BITS);
    for (i, out) in limbs.iter_mut().enumerate().take(count) {
        let (limb, bit) = (i * ROW_LIMB_BITS / 64, i * ROW_LIMB_BITS % 64);
        let at = |limb: usize| u128::from(value.get(limb).copied().unwrap_or(0));
        let window = (at(limb) | at(limb + 1) << 64) >> bit;
        *out = (window as u64 & LIMB_MASK) as i64; // The low 52 bits of the window.
    }
    limbs
}

/// 52-bit limbs ↦ 64-bit limbs. Requires limbs in [0, 2⁵²) and a value that fits `out`.
pub(crate) fn pack(limbs: &[i64], out: &mut [Limb]) {
    let (mut window, mut bits) = (0u128, 0);
    let mut limbs = limbs.iter();
    for out in out {
        while bits < 64
            && let Some(limb) = limbs.next()
        {
            window |= (*limb as u128) << bits; // Limbs are not negative.
            bits += ROW_LIMB_BITS;
        }
        *out = window as u64; // The low half.
        window >>= 64;
        bits = bits.saturating_sub(64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn limbs_of_52_bits_hold_the_bits_of_limbs_of_64() {
        for width in [1, 4, 6, 8, 12, 13] {
            let value: Vec<Limb> = (1..=width as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            for value in [value, vec![u64::MAX; width], vec![0; width]] {
                let limbs = unpack(&value);
                let sum = |limbs: &[u64], bits: usize| {
                    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << bits) + limb)
                };
                let words = limbs.map(|limb| u64::try_from(limb).unwrap());
                assert!(words.iter().all(|word| *word <= LIMB_MASK));
                assert_eq!(sum(&words, ROW_LIMB_BITS), sum(&value, 64));
                let mut back = vec![1; width];
                pack(&limbs, &mut back);
                assert_eq!(back, value);
            }
        }
    }
}
