//! Sums and differences of products with one Montgomery reduction.

use crate::limbs::{Limb, less_than, mac, sub_assign};

/// The widest modulus, in limbs.
pub const WIDTH_LIMBS_MAX: usize = 12;
/// The most products.
pub const PRODUCTS_MAX: usize = 6;

/// Limbs of the sum: twice those of a modulus and one for what the products carry.
type Sum = [Limb; 2 * WIDTH_LIMBS_MAX + 1];

/// Products (is subtracted, x, y) ↦ Σ ± x·y·R⁻¹ mod m into `out`, for odd m of `out`'s width, at most [`WIDTH_LIMBS_MAX`] limbs, R = 2^(64n)
/// and n0 = −m⁻¹ mod 2⁶⁴. Requires x, y < m, at most [`PRODUCTS_MAX`] of them; the result is < m.
pub fn montgomery(products: &[(bool, &[Limb], &[Limb])], m: &[Limb], n0: Limb, out: &mut [Limb]) {
    assert!(products.len() <= PRODUCTS_MAX, "the sum has a limb for what they carry");
    match out.len() {
        1 => of_width::<1>(products, m, n0, out),
        2 => of_width::<2>(products, m, n0, out),
        3 => of_width::<3>(products, m, n0, out),
        4 => of_width::<4>(products, m, n0, out),
        5 => of_width::<5>(products, m, n0, out),
        6 => of_width::<6>(products, m, n0, out),
        7 => of_width::<7>(products, m, n0, out),
        8 => of_width::<8>(products, m, n0, out),
        9 => of_width::<9>(products, m, n0, out),
        10 => of_width::<10>(products, m, n0, out),
        11 => of_width::<11>(products, m, n0, out),
        12 => of_width::<12>(products, m, n0, out),
        _ => panic!("moduli have 1 to {WIDTH_LIMBS_MAX} limbs"),
    }
}

fn of_width<const N: usize>(products: &[(bool, &[Limb], &[Limb])], m: &[Limb], n0: Limb, out: &mut [Limb]) {
    let m: &[Limb; N] = m.try_into().expect("the width is that of the modulus");
    let mut sum: Sum = [0; 2 * WIDTH_LIMBS_MAX + 1];
    for &(is_subtracted, x, y) in products {
        let x: &[Limb; N] = x.try_into().expect("values have the width of the modulus");
        let y: [Limb; N] = y.try_into().expect("values have the width of the modulus");
        // m − y is at most m, so that the sum is below 6·m² + ….
        let y = if is_subtracted { difference(m, &y) } else { y };
        add_product(&mut sum, x, &y);
    }
    // t ↦ (t + Σ uᵢ·m·2⁶⁴ⁱ)/R, < 6·m²/R + m ≤ 7m.
    for i in 0..N {
        let u = sum[i].wrapping_mul(n0);
        let mut carry = 0;
        for j in 0..N {
            (sum[i + j], carry) = mac(sum[i + j], u, m[j], carry);
        }
        carry_on(&mut sum[i + N..=2 * N], carry);
    }
    let high = &mut sum[N..=2 * N];
    while high[N] != 0 || !less_than(&high[..N], m) {
        high[N] -= sub_assign(&mut high[..N], m);
    }
    out.copy_from_slice(&high[..N]);
}

/// m − y for y ≤ m.
#[inline(always)]
fn difference<const N: usize>(m: &[Limb; N], y: &[Limb; N]) -> [Limb; N] {
    let mut difference = *m;
    sub_assign(&mut difference, y);
    difference
}

/// sum ↦ sum + x·y.
#[inline(always)]
fn add_product<const N: usize>(sum: &mut Sum, x: &[Limb; N], y: &[Limb; N]) {
    for (i, &x_limb) in x.iter().enumerate() {
        let mut carry = 0;
        for j in 0..N {
            (sum[i + j], carry) = mac(sum[i + j], x_limb, y[j], carry);
        }
        carry_on(&mut sum[i + N..=2 * N], carry);
    }
}

/// Adds a carry to the limbs, in which there is room for it.
#[inline(always)]
fn carry_on(limbs: &mut [Limb], mut carry: Limb) {
    for limb in limbs {
        let is_over;
        (*limb, is_over) = limb.overflowing_add(carry);
        if !is_over {
            return;
        }
        carry = 1;
    }
}
