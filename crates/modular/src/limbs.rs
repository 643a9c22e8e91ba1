//! Long integers as slices of 64-bit limbs, least significant first: the few steps everything else is built from.

/// One machine word of a long integer.
pub type Limb = u64;

/// Bits of a limb.
pub const LIMB_BITS: usize = 64;
/// Bytes of a limb.
pub const LIMB_BYTES: usize = 8;
/// The widest modulus, in limbs: 4096 bits.
pub const MAX_WIDTH_LIMBS: usize = 64;

/// (a, b, carry) ↦ (low, carry) of a + b + carry. The carry is 0 or 1.
#[inline(always)]
pub const fn adc(a: Limb, b: Limb, carry: Limb) -> (Limb, Limb) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry);
    (sum, (first | second) as Limb)
}

/// (a, b, borrow) ↦ (low, borrow) of a − b − borrow. The borrow is 0 or 1.
#[inline(always)]
pub const fn sbb(a: Limb, b: Limb, borrow: Limb) -> (Limb, Limb) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(borrow);
    (difference, (first | second) as Limb)
}

/// (t, a, b, carry) ↦ (low, high) of t + a·b + carry, which never exceeds two limbs.
#[inline(always)]
pub const fn mac(t: Limb, a: Limb, b: Limb, carry: Limb) -> (Limb, Limb) {
    let wide = t as u128 + a as u128 * b as u128 + carry as u128;
    // Narrowing on purpose: the two halves of the 128-bit value.
    (wide as Limb, (wide >> LIMB_BITS) as Limb)
}

/// a ↦ a + b over equal widths; returns the carry.
pub fn add_assign(a: &mut [Limb], b: &[Limb]) -> Limb {
    assert_eq!(a.len(), b.len(), "operands of one width");
    let mut carry = 0;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, carry) = adc(*a, *b, carry);
    }
    carry
}

/// a ↦ a − b over equal widths; returns the borrow.
pub fn sub_assign(a: &mut [Limb], b: &[Limb]) -> Limb {
    assert_eq!(a.len(), b.len(), "operands of one width");
    let mut borrow = 0;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, borrow) = sbb(*a, *b, borrow);
    }
    borrow
}

/// a ↦ (a + top·2⁶⁴ⁿ) / 2, rounded down; `top` is 0 or 1.
pub fn halve_assign(a: &mut [Limb], top: Limb) {
    let mut from_above = top;
    for limb in a.iter_mut().rev() {
        let low_bit = *limb & 1;
        *limb = (*limb >> 1) | (from_above << (LIMB_BITS - 1));
        from_above = low_bit;
    }
}

/// Is a < b? Both have the same width.
pub fn less_than(a: &[Limb], b: &[Limb]) -> bool {
    assert_eq!(a.len(), b.len(), "operands of one width");
    let mut borrow = 0;
    for (a, b) in a.iter().zip(b) {
        (_, borrow) = sbb(*a, *b, borrow);
    }
    borrow == 1
}

/// Is every limb zero?
pub fn is_zero(a: &[Limb]) -> bool {
    a.iter().all(|limb| *limb == 0)
}

/// Bits up to the highest set one; 0 for zero.
pub fn bits(a: &[Limb]) -> usize {
    match a.iter().rposition(|limb| *limb != 0) {
        None => 0,
        // A limb has at most 64 leading zeros: the widening is exact.
        Some(top) => (top + 1) * LIMB_BITS - a[top].leading_zeros() as usize,
    }
}

/// −m⁻¹ mod 2⁶⁴ for odd m₀ = m mod 2⁶⁴, by Newton's iteration x ↦ x(2 − m₀x), which doubles the correct bits.
/// For even m₀ the result means nothing.
pub const fn n0_of(m0: Limb) -> Limb {
    let mut inverse = m0; // m₀·m₀ = 1 mod 8: three bits are right.
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(m0.wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg()
}

/// Reads big-endian bytes of any length into limbs; `None` if the value does not fit.
pub fn read_be(bytes: &[u8], out: &mut [Limb]) -> Option<()> {
    let (head, whole) = bytes.as_rchunks::<LIMB_BYTES>();
    let mut first = [0; LIMB_BYTES];
    first[LIMB_BYTES - head.len()..].copy_from_slice(head);
    let mut limbs = whole.iter().rev().chain([&first]).map(|bytes| Limb::from_be_bytes(*bytes));
    for limb in out {
        *limb = limbs.next().unwrap_or(0);
    }
    limbs.all(|limb| limb == 0).then_some(())
}

/// Writes limbs as big-endian bytes; `out` has eight bytes for each limb, or fewer for the top one, whose upper bytes are
/// then left out.
pub fn write_be(limbs: &[Limb], out: &mut [u8]) {
    assert_eq!(out.len().div_ceil(LIMB_BYTES), limbs.len(), "eight bytes a limb");
    for (chunk, limb) in out.rchunks_mut(LIMB_BYTES).zip(limbs) {
        chunk.copy_from_slice(&limb.to_be_bytes()[LIMB_BYTES - chunk.len()..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_cross_every_limb() {
        let mut a = [Limb::MAX; 3];
        assert_eq!(add_assign(&mut a, &[1, 0, 0]), 1);
        assert_eq!(a, [0; 3]);
        assert_eq!(sub_assign(&mut a, &[1, 0, 0]), 1);
        assert_eq!(a, [Limb::MAX; 3]);
        assert_eq!(mac(Limb::MAX, Limb::MAX, Limb::MAX, Limb::MAX), (Limb::MAX, Limb::MAX));
    }

    #[test]
    fn n0_is_the_negated_inverse_of_every_odd_limb_tried() {
        for m0 in (1..10_000u64).step_by(2).chain([u64::MAX, 0xb9fe_ffff_ffff_aaab]) {
            assert_eq!(m0.wrapping_mul(n0_of(m0)), u64::MAX, "{m0:#x}");
        }
    }

    #[test]
    fn bytes_round_trip_and_reject_what_does_not_fit() {
        let bytes: Vec<u8> = (1..=16).collect();
        let mut limbs = [0; 2];
        assert_eq!(read_be(&bytes, &mut limbs), Some(()));
        assert_eq!(limbs, [0x090a_0b0c_0d0e_0f10, 0x0102_0304_0506_0708]);
        let mut back = [0; 16];
        write_be(&limbs, &mut back);
        assert_eq!(back.as_slice(), bytes);
        assert_eq!(read_be(&bytes, &mut limbs[..1]), None);
        assert_eq!(read_be(&[0, 0, 0, 0, 0, 0, 0, 0, 7], &mut limbs[..1]), Some(()));
        assert_eq!(limbs[0], 7);
    }

    #[test]
    fn bits_counts_to_the_highest_set_one() {
        assert_eq!((bits(&[0, 0]), bits(&[1, 0]), bits(&[0, 1]), bits(&[0, 1 << 63])), (0, 1, 65, 128));
    }
}
