//! Arithmetic in plain Rust, for every machine: the fallback of faster kernels, and the reference that they are tested
//! against.
//!
//! All formulas are total: operands need not be below the modulus, the modulus may be even or zero and n0 any word.
//! Then the results are exactly those of the three definitions below, carries out of the width included.

use super::{Kernel, array};
use crate::limbs::{Limb, adc, mac, sbb};

/// (x, y) ↦ s = x + y, minus m once if s ≥ m, mod 2^(64N). With x, y < m the result is < m.
#[inline]
pub(crate) const fn add<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    let mut sum = [0; N];
    let mut carry = 0;
    let mut i = 0;
    while i < N {
        (sum[i], carry) = adc(x[i], y[i], carry);
        i += 1;
    }
    sub_if_geq(&sum, carry, m)
}

/// (x, y) ↦ d = x − y, plus m once if d < 0, mod 2^(64N). With x, y < m the result is < m.
#[inline]
pub(crate) const fn sub<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    let (mut difference, borrow) = minus(x, y);
    let mask = borrow.wrapping_neg();
    let mut carry = 0;
    let mut i = 0;
    while i < N {
        (difference[i], carry) = adc(difference[i], m[i] & mask, carry);
        i += 1;
    }
    difference
}

/// (x, y) ↦ x − y mod 2^(64N) and the borrow.
#[inline(always)]
pub(crate) const fn minus<const N: usize>(x: &[Limb; N], y: &[Limb; N]) -> ([Limb; N], Limb) {
    let mut difference = [0; N];
    let mut borrow = 0;
    let mut i = 0;
    while i < N {
        (difference[i], borrow) = sbb(x[i], y[i], borrow);
        i += 1;
    }
    (difference, borrow)
}

/// (x, y) ↦ t = (x·y + Σ uᵢ·m·2⁶⁴ⁱ) / 2^(64N) rounded down, minus m once if t ≥ m, mod 2^(64N), where uᵢ = n0 × limb i of
/// the sum so far. With m odd, n0 = −m⁻¹ mod 2⁶⁴ and x·y < m·R it is x·y·R⁻¹ mod m, < m.
/// CIOS: Koç, Acar, Kaliski 1996, "Analyzing and comparing Montgomery multiplication algorithms", §5.
#[inline]
pub(crate) const fn mont_mul<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N], n0: Limb) -> [Limb; N] {
    let mut t = [0; N];
    let mut top = 0; // Limb N of t: at most 1 between rows, since t < x + m there.
    let mut i = 0;
    while i < N {
        let mut carry = 0;
        let mut j = 0;
        while j < N {
            (t[j], carry) = mac(t[j], x[j], y[i], carry);
            j += 1;
        }
        let (high, higher) = adc(top, carry, 0);
        let u = t[0].wrapping_mul(n0);
        (_, carry) = mac(t[0], u, m[0], 0);
        let mut j = 1;
        while j < N {
            (t[j - 1], carry) = mac(t[j], u, m[j], carry);
            j += 1;
        }
        let (high, carry) = adc(high, carry, 0);
        t[N - 1] = high;
        top = higher + carry;
        i += 1;
    }
    sub_if_geq(&t, top, m)
}

/// Products (x, y) ↦ t mod 2^(64N) and what is above, for t = (Σ x·y + Σ uᵢ·m·2⁶⁴ⁱ) / 2^(64N) rounded down, where uᵢ = n0 × limb i of the sum so far.
/// At most six products: t < 8·2^(64N). With x < m, y ≤ m, m odd and n0 = −m⁻¹ mod 2⁶⁴ it is Σ x·y·R⁻¹ modulo m, and < 7m.
/// As [`mont_mul`], with a row of each product before that of m.
#[cfg(any(test, not(target_arch = "aarch64")))]
#[inline]
pub(crate) fn sum_rows<const N: usize>(terms: &[[&[Limb; N]; 2]], m: &[Limb; N], n0: Limb) -> ([Limb; N], Limb) {
    let (mut t, mut top) = ([0; N], 0);
    for i in 0..N {
        let mut over = 0;
        for [x, y] in terms {
            let mut carry = 0;
            for j in 0..N {
                (t[j], carry) = mac(t[j], x[j], y[i], carry);
            }
            (top, carry) = adc(top, carry, 0);
            over += carry;
        }
        let u = t[0].wrapping_mul(n0);
        let (_, mut carry) = mac(t[0], u, m[0], 0);
        for j in 1..N {
            (t[j - 1], carry) = mac(t[j], u, m[j], carry);
        }
        (t[N - 1], carry) = adc(top, carry, 0);
        top = over + carry;
    }
    (t, top)
}

/// v = t + top·2^(64N) ↦ v, minus m once if v ≥ m, mod 2^(64N); `top` is 0 or 1.
#[inline]
const fn sub_if_geq<const N: usize>(t: &[Limb; N], top: Limb, m: &[Limb; N]) -> [Limb; N] {
    let (mut reduced, borrow) = minus(t, m);
    // v < m exactly if the subtraction borrows and there is no top bit to lend.
    let keep = (borrow & !top).wrapping_neg();
    let mut i = 0;
    while i < N {
        reduced[i] ^= (reduced[i] ^ t[i]) & keep;
        i += 1;
    }
    reduced
}

/// Any modulus of N limbs.
pub(crate) struct Add<const N: usize>;

impl<const N: usize> Kernel for Add<N> {
    #[inline]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], _n0: Limb) {
        let sum = add(array::<N>(limbs, x), array(limbs, y), array(m, 0));
        limbs[out..out + N].copy_from_slice(&sum);
    }
}

/// Any modulus of N limbs.
pub(crate) struct Sub<const N: usize>;

impl<const N: usize> Kernel for Sub<N> {
    #[inline]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], _n0: Limb) {
        let difference = sub(array::<N>(limbs, x), array(limbs, y), array(m, 0));
        limbs[out..out + N].copy_from_slice(&difference);
    }
}

/// Any odd modulus of N limbs.
pub(crate) struct MontMul<const N: usize>;

impl<const N: usize> Kernel for MontMul<N> {
    #[inline]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], n0: Limb) {
        let product = mont_mul(array::<N>(limbs, x), array(limbs, y), array(m, 0), n0);
        limbs[out..out + N].copy_from_slice(&product);
    }
}
