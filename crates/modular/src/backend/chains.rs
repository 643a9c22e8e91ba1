//! [`portable`](super::portable) again, with carries that stay in the carry flag: for machines whose multiplications leave the flags alone and
//! whose compiler keeps such chains, as on aarch64 (`mul`, `umulh`, `adds`, `adcs`).
//!
//! A row is added by its low halves and then by its high halves, one chain each, where [`mac`](crate::limbs::mac) lets each product finish before the
//! next: four instructions a product in place of six. Operands, moduli and n0 are any, as there, and so are results.

use super::{Kernel, array};
use crate::limbs::Limb;

/// As [`portable::add`](super::portable::add).
#[inline]
pub(crate) fn add<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    let (sum, carry) = plus(x, y);
    sub_if_geq(&sum, carry, m)
}

/// As [`portable::sub`](super::portable::sub).
#[inline]
pub(crate) fn sub<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    let (difference, is_positive) = minus(x, y);
    let mask = mask_unless(is_positive);
    plus(&difference, &m.map(|limb| limb & mask)).0
}

/// As [`portable::mont_mul`](super::portable::mont_mul).
#[inline]
pub(crate) fn mont_mul<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N], n0: Limb) -> [Limb; N] {
    let (mut t, mut top) = ([0; N], 0);
    for &y in y {
        let (high, over) = add_row(&mut t, top, x, y);
        top = reduce_row(&mut t, high, m, n0) + over;
    }
    sub_if_geq(&t, top != 0, m)
}

/// As [`portable::sum_rows`](super::portable::sum_rows).
#[inline]
pub(crate) fn sum_rows<const N: usize>(terms: &[[&[Limb; N]; 2]], m: &[Limb; N], n0: Limb) -> ([Limb; N], Limb) {
    let (mut t, mut top) = ([0; N], 0);
    for i in 0..N {
        let mut overs = 0;
        for [x, y] in terms {
            let over;
            (top, over) = add_row(&mut t, top, x, y[i]);
            overs += over;
        }
        top = reduce_row(&mut t, top, m, n0) + overs;
    }
    (t, top)
}

/// t + top·2^(64N) + x·y ↦ t, and limbs N and N + 1. The last is 0 or 1.
#[inline(always)]
fn add_row<const N: usize>(t: &mut [Limb; N], top: Limb, x: &[Limb; N], y: Limb) -> (Limb, Limb) {
    let (low, high) = halves(x, y);
    let mut carry = false;
    for j in 0..N {
        (t[j], carry) = t[j].carrying_add(low[j], carry);
    }
    // A high half is at most 2⁶⁴ − 2.
    let last = high[N - 1] + Limb::from(carry);
    carry = false;
    for j in 1..N {
        (t[j], carry) = t[j].carrying_add(high[j - 1], carry);
    }
    let (top, over) = top.carrying_add(last, carry);
    (top, over.into())
}

/// t + top·2^(64N) ↦ t = (t + top·2^(64N) + u·m) / 2⁶⁴ with u = n0·t₀, rounded down, and limb N, which is 0 or 1.
#[inline(always)]
fn reduce_row<const N: usize>(t: &mut [Limb; N], top: Limb, m: &[Limb; N], n0: Limb) -> Limb {
    let (low, high) = halves(m, t[0].wrapping_mul(n0));
    let mut carry = false;
    for j in 0..N {
        (t[j], carry) = t[j].carrying_add(low[j], carry);
    }
    let (top, first) = top.carrying_add(0, carry);
    carry = false;
    for j in 1..N {
        (t[j - 1], carry) = t[j].carrying_add(high[j - 1], carry);
    }
    let (top, second) = top.carrying_add(high[N - 1], carry);
    t[N - 1] = top;
    Limb::from(first) + Limb::from(second)
}

/// The low and the high halves of xⱼ·y.
#[inline(always)]
fn halves<const N: usize>(x: &[Limb; N], y: Limb) -> ([Limb; N], [Limb; N]) {
    let (mut low, mut high) = ([0; N], [0; N]);
    for j in 0..N {
        let product = u128::from(x[j]) * u128::from(y);
        (low[j], high[j]) = (product as Limb, (product >> 64) as Limb); // The halves fit.
    }
    (low, high)
}

/// (x, y) ↦ x + y mod 2^(64N) and the carry.
#[inline(always)]
fn plus<const N: usize>(x: &[Limb; N], y: &[Limb; N]) -> ([Limb; N], bool) {
    let (mut sum, mut carry) = ([0; N], false);
    for i in 0..N {
        (sum[i], carry) = x[i].carrying_add(y[i], carry);
    }
    (sum, carry)
}

/// (x, y) ↦ x − y mod 2^(64N), and true if it is not negative: x + ¬y + 1 carries exactly then. The compiler makes a chain of this, not of borrows.
#[inline(always)]
fn minus<const N: usize>(x: &[Limb; N], y: &[Limb; N]) -> ([Limb; N], bool) {
    let (mut difference, mut carry) = ([0; N], x[0] >= y[0]);
    difference[0] = x[0].wrapping_sub(y[0]);
    for i in 1..N {
        (difference[i], carry) = x[i].carrying_add(!y[i], carry);
    }
    (difference, carry)
}

/// v = t + top·2^(64N) ↦ v, minus m once if v ≥ m, mod 2^(64N).
#[inline(always)]
fn sub_if_geq<const N: usize>(t: &[Limb; N], top: bool, m: &[Limb; N]) -> [Limb; N] {
    let (mut reduced, is_positive) = minus(t, m);
    // By masks: a choice between arrays is made through memory.
    let keep = mask_unless(is_positive | top);
    for (reduced, t) in reduced.iter_mut().zip(t) {
        *reduced ^= (*reduced ^ t) & keep;
    }
    reduced
}

/// All ones if the flag is not set: −1 plus the carry.
#[inline(always)]
fn mask_unless(flag: bool) -> Limb {
    Limb::MAX.carrying_add(0, flag).0
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
