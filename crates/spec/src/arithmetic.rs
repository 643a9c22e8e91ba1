//! The arithmetic of the EVM384 family on n-byte values: defined for all operands, also those not below the modulus,
//! an even or zero modulus and any r_inv. B = 2^(8n).
//!
//! Source: the EVM384 family's shared definitions (evmone branches `evm384-v1` to `evm384-v9`, `lib/evmone/instructions`;
//! EIP draft `evm384` of ewasm/EIPs), with exact integers in place of limbs.

use crate::word::two_to;
use num_bigint::BigUint;

/// Bits of a limb, in which the Montgomery reduction proceeds.
const LIMB_BITS: u64 = 64;

/// (x, y) ↦ x + y, less m once if that is ≥ m, mod B. Any x, y, m < B.
pub fn add(x: &BigUint, y: &BigUint, m: &BigUint, size_bytes: u64) -> BigUint {
    let s = x + y; // s = x + y
    let s = if s >= *m { s - m } else { s };
    s % two_to(8 * size_bytes)
}

/// (x, y) ↦ x − y, plus m once if that is negative, mod B. Any x, y, m < B.
pub fn sub(x: &BigUint, y: &BigUint, m: &BigUint, size_bytes: u64) -> BigUint {
    let b = two_to(8 * size_bytes);
    if x >= y {
        return (x - y) % b;
    }
    // x − y + m may still be negative, but never below −B.
    (x + m + &b - y) % b
}

/// (x, y) ↦ x·y reduced limb by limb with r_inv, less m once if that is ≥ m, mod B.
/// For odd m with r_inv = −m⁻¹ mod 2⁶⁴ and x·y < m·B this is x·y·B⁻¹ mod m. `size_bytes` is a multiple of 8.
pub fn mont_mul(x: &BigUint, y: &BigUint, m: &BigUint, r_inv: u64, size_bytes: u64) -> BigUint {
    let limbs = size_bytes / 8;
    let mut t = x * y; // t = x·y
    for i in 0..limbs {
        let t_i = (&t >> (LIMB_BITS * i)) % two_to(LIMB_BITS); // limb i of t
        let u_i = t_i * r_inv % two_to(LIMB_BITS); // uᵢ = tᵢ·r_inv mod 2⁶⁴
        t += (u_i * m) << (LIMB_BITS * i); // t = t + uᵢ·m·2⁶⁴ⁱ
    }
    let r = t >> (8 * size_bytes); // r = ⌊t / B⌋
    let r = if r >= *m { r - m } else { r };
    r % two_to(8 * size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas on one-limb values, where they can be followed by hand. B = 2⁶⁴.
    const SIZE: u64 = 8;

    fn check(operation: fn(&BigUint, &BigUint, &BigUint, u64) -> BigUint, x: u64, y: u64, m: u64, expected: u64) {
        let big = BigUint::from;
        assert_eq!(operation(&big(x), &big(y), &big(m), SIZE), big(expected), "{x} {y} mod {m}");
    }

    #[test]
    fn addition_subtracts_the_modulus_once() {
        check(add, 3, 5, 11, 8);
        check(add, 6, 5, 11, 0);
        check(add, 10, 10, 11, 9);
        check(add, 30, 30, 11, 49); // once only
        check(add, 11, 0, 11, 0);
        check(add, 3, 5, 0, 8); // m = 0
        check(add, u64::MAX, 2, 0, 1); // (x + y) mod B
        check(add, u64::MAX, u64::MAX, u64::MAX, u64::MAX); // carry out, result = m
        check(add, u64::MAX, u64::MAX, 1, u64::MAX - 2); // 2⁶⁵ − 2 − 1 mod 2⁶⁴
    }

    #[test]
    fn subtraction_adds_the_modulus_once() {
        check(sub, 5, 3, 11, 2);
        check(sub, 3, 5, 11, 9);
        check(sub, 11, 0, 11, 11); // negation of zero as the programs write it: the result is m
        check(sub, 0, 30, 11, 0u64.wrapping_sub(19)); // once only, then mod B
        check(sub, 3, 5, 0, u64::MAX - 1); // m = 0
        check(sub, 100, 1, 11, 99); // no reduction without a borrow
    }

    #[test]
    fn montgomery_product_is_the_formula_for_any_modulus_and_constant() {
        let product = |x: u64, y: u64, m: u64, r_inv: u64| {
            let big = BigUint::from;
            mont_mul(&big(x), &big(y), &big(m), r_inv, SIZE)
        };
        // m = 3: −3⁻¹ mod 2⁶⁴ = 0x5555…55, and B = 1 mod 3, so the product is x·y mod 3.
        assert_eq!(product(2, 2, 3, 0x5555_5555_5555_5555), BigUint::from(1u8));
        assert_eq!(product(2, 1, 3, 0x5555_5555_5555_5555), BigUint::from(2u8));
        // m = 0: ⌊x·y / B⌋.
        assert_eq!(product(1 << 63, 6, 0, 77), BigUint::from(3u8));
        // Even m: t = 1, u = 5 mod 2⁶⁴, t + u·m = 1 + 5·2⁶³ = 2.5·2⁶⁴ + 1, floor 2, not ≥ 2⁶³.
        assert_eq!(product(1, 1, 1 << 63, 5), BigUint::from(2u8));
        // Wrong constant: t = 6, u = 0, nothing cancels, ⌊6 / B⌋ = 0.
        assert_eq!(product(2, 3, 7, 0), BigUint::from(0u8));
        // Carry out of B: x = y = m = B − 1, r_inv = 1: t = B² − 2B + 1, t₀ = 1, u = 1, t + m = B² − B, r = B − 1 = m ↦ 0.
        assert_eq!(product(u64::MAX, u64::MAX, u64::MAX, 1), BigUint::from(0u8));
        // x = y = B − 1, m = 3, right constant: t₀ = 1, u = 0x5555…55, t + 3u = B² − B, r = B − 1, less 3 once.
        assert_eq!(product(u64::MAX, u64::MAX, 3, 0x5555_5555_5555_5555), BigUint::from(u64::MAX - 3));
    }

    #[test]
    fn montgomery_product_agrees_with_division_for_six_limbs() {
        let p = BigUint::parse_bytes(
            b"1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
            16,
        )
        .unwrap();
        let r_inv = 0x89f3_fffc_fffc_fffd;
        assert_eq!(&p * r_inv % two_to(64), BigUint::from(u64::MAX));
        let b = two_to(384);
        let (mut x, mut y) = (BigUint::from(3u8), &p - 5u8);
        for _ in 0..50 {
            let r = mont_mul(&x, &y, &p, r_inv, 48);
            assert!(r < p);
            assert_eq!(&r * &b % &p, &x * &y % &p);
            (x, y) = (y, r);
        }
    }
}
