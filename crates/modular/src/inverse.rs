//! Inversion modulo any modulus of any width: binary extended Euclid for odd moduli, Newton's iteration for powers of two.
//! Running time depends on the values.

use alloc::vec;
use alloc::vec::Vec;

use crate::limbs::{Limb, add_assign, halve_assign, is_zero, less_than, sub_assign};

/// a ↦ a⁻¹ mod m for odd m ≥ 3; `None` unless gcd(a, m) = 1. Requires a < m, both of one width; the result is < m.
/// Canonical form in and out. Binary extended Euclid: Knuth, TAOCP vol. 2, §4.5.2, exercise 39, kept modulo m.
pub fn modulo_odd(a: &[Limb], m: &[Limb]) -> Option<Vec<Limb>> {
    assert!(m.first().is_some_and(|low| low % 2 == 1), "the modulus is odd");
    assert!(less_than(a, m), "the operand is below the modulus");
    if is_zero(a) {
        return None;
    }
    // a·x = u mod m and a·y = v mod m throughout; v is odd, and gcd(u, v) = gcd(a, m).
    let (mut u, mut v) = (a.to_vec(), m.to_vec());
    let (mut x, mut y) = (vec![0; m.len()], vec![0; m.len()]);
    x[0] = 1;
    while !is_zero(&u) {
        while u[0].is_multiple_of(2) {
            halve_assign(&mut u, 0);
            halve_modulo(&mut x, m);
        }
        if less_than(&u, &v) {
            core::mem::swap(&mut u, &mut v);
            core::mem::swap(&mut x, &mut y);
        }
        sub_assign(&mut u, &v);
        if sub_assign(&mut x, &y) == 1 {
            add_assign(&mut x, m);
        }
    }
    let is_one = v[0] == 1 && is_zero(&v[1..]);
    is_one.then_some(y)
}

/// a ↦ a⁻¹ mod 2^bits; `None` for even a. Requires 1 ≤ bits ≤ 64 × the width of a; canonical form in and out.
/// Newton's iteration x ↦ x(2 − ax), which doubles the correct bits.
pub fn modulo_power_of_two(a: &[Limb], bits: usize) -> Option<Vec<Limb>> {
    let width_limbs = a.len();
    assert!((1..=64 * width_limbs).contains(&bits), "the power of two fits the width");
    if a[0].is_multiple_of(2) {
        return None;
    }
    let mut x = vec![0; width_limbs];
    // a·a = 1 mod 8: three bits are right, and in a limb 48, 96, … after 4, 5 steps.
    x[0] = (0..5).fold(a[0], |x, _| x.wrapping_mul(2u64.wrapping_sub(a[0].wrapping_mul(x))));
    let mut bits_right = 64;
    while bits_right < bits {
        let mut two_minus = vec![0; width_limbs];
        two_minus[0] = 2;
        sub_assign(&mut two_minus, &mul_low(a, &x));
        x = mul_low(&x, &two_minus);
        bits_right *= 2;
    }
    mask_to_bits(&mut x, bits);
    Some(x)
}

/// a ↦ a⁻¹ mod 2^bits for odd a, and (a + 1)⁻¹ for even a: what `invmodx` of evmone's branch `evmmax-vectorized` computes bit
/// by bit. There b starts as 1; each bit is that of b, after which b ↦ ⌊(b − bit·a) / 2⌋, and for even a this is
/// (b − bit·(a + 1)) / 2. Requires 1 ≤ bits ≤ 64 × the width of a.
pub fn modulo_power_of_two_of_any(a: &[Limb], bits: usize) -> Vec<Limb> {
    let mut odd = a.to_vec();
    odd[0] |= 1;
    modulo_power_of_two(&odd, bits).expect("the number is odd")
}

/// (a, b) ↦ a·b mod 2^(64·width), both of one width.
pub(crate) fn mul_low(a: &[Limb], b: &[Limb]) -> Vec<Limb> {
    let mut product = vec![0; a.len()];
    for (i, ai) in a.iter().enumerate() {
        let mut carry = 0;
        for (p, bj) in product[i..].iter_mut().zip(b) {
            (*p, carry) = crate::limbs::mac(*p, *ai, *bj, carry);
        }
    }
    product
}

/// a ↦ a mod 2^bits.
pub(crate) fn mask_to_bits(a: &mut [Limb], bits: usize) {
    for (position, limb) in a.iter_mut().enumerate() {
        let kept = bits.saturating_sub(64 * position);
        if kept < 64 {
            *limb &= (1 << kept) - 1;
        }
    }
}

/// a ↦ a/2 mod m, for odd m and a < m.
fn halve_modulo(a: &mut [Limb], m: &[Limb]) {
    let carry = if a[0] % 2 == 1 { add_assign(a, m) } else { 0 };
    halve_assign(a, carry);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_residue_of_a_small_odd_modulus() {
        for m in (3..200u64).step_by(2) {
            for a in 0..m {
                let expected = (0..m).find(|b| a * b % m == 1);
                assert_eq!(modulo_odd(&[a, 0], &[m, 0]).map(|v| v[0]), expected, "{a} mod {m}");
            }
        }
    }

    /// As evmone does it, at the width of a: bits shifted in from above never reach the result.
    fn bit_by_bit(a: &[Limb], bits: usize) -> Vec<Limb> {
        let (mut b, mut result) = (vec![0; a.len()], vec![0; a.len()]);
        b[0] = 1;
        for i in 0..bits {
            if b[0] % 2 == 1 {
                sub_assign(&mut b, a);
                result[i / 64] |= 1 << (i % 64);
            }
            halve_assign(&mut b, 0);
        }
        result
    }

    #[test]
    fn any_number_has_the_inverse_that_it_has_bit_by_bit() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 33
        };
        for width_limbs in 1..9 {
            for _ in 0..40 {
                let mut a: Vec<Limb> = (0..width_limbs).map(|_| random()).collect();
                a[0] &= [u64::MAX, !1, 0][random() as usize % 3]; // The remainder fits.
                let bits = 1 + random() as usize % (64 * width_limbs); // It fits, too.
                assert_eq!(modulo_power_of_two_of_any(&a, bits), bit_by_bit(&a, bits), "{a:x?} mod 2^{bits}");
            }
        }
    }

    #[test]
    fn every_residue_of_a_small_power_of_two() {
        for bits in 1..9 {
            for a in 0..1u64 << bits {
                let expected = (0..1u64 << bits).find(|b| (a * b) & ((1 << bits) - 1) == 1);
                assert_eq!(modulo_power_of_two(&[a, 0], bits).map(|v| v[0]), expected, "{a} mod 2^{bits}");
            }
        }
    }
}
