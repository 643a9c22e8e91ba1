//! Inversion modulo odd numbers by division steps: its time is bounded by the width of the modulus, for all values.
//!
//! D. J. Bernstein, B.-Y. Yang, "Fast constant-time gcd computation and modular inversion", TCHES 2019(3), §8, starting from δ = 1.
//! 62 steps are found at a time from the lowest limbs and then done to the numbers, which have signed limbs of 62 bits: P. Wuille, "The
//! safegcd implementation in libsecp256k1 explained", §§1 to 8. By theorem 11.2 there are at most (49d + 80) / 17 steps for numbers below
//! 2ᵈ, (49d + 57) / 17 from d = 46 on.

use crate::limbs::{LIMB_BITS, Limb};

/// Bits of a limb here.
const BITS: usize = 62;
const MASK: u64 = u64::MAX >> 2;
/// The widest modulus, in limbs of 64 bits.
pub const WIDTH_LIMBS_MAX: usize = 12;

/// Limbs below 2⁶², the lowest first, but for the highest, which is signed.
type Signed<const N: usize> = [i64; N];

/// Transition matrix of 62 steps, times 2⁶²: (f, g) ↦ (u·f + v·g, q·f + r·g).
struct Steps {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

/// a ↦ a⁻¹ mod m for odd m ≥ 3 of at most [`WIDTH_LIMBS_MAX`] limbs, into `out`; 0 unless gcd(a, m) = 1. `n0` is −m⁻¹ mod 2⁶⁴. Requires
/// a < m, all of one width; the result is < m. Canonical form in and out. Says whether there is an inverse.
pub fn invert_odd(a: &[Limb], m: &[Limb], n0: Limb, out: &mut [Limb]) -> bool {
    // The highest limb has room for the sign of numbers between −2m and m.
    match (LIMB_BITS * m.len()) / BITS + 1 {
        2 => of_width::<2>(a, m, n0, out),
        3 => of_width::<3>(a, m, n0, out),
        4 => of_width::<4>(a, m, n0, out),
        5 => of_width::<5>(a, m, n0, out),
        6 => of_width::<6>(a, m, n0, out),
        7 => of_width::<7>(a, m, n0, out),
        8 => of_width::<8>(a, m, n0, out),
        9 => of_width::<9>(a, m, n0, out),
        10 => of_width::<10>(a, m, n0, out),
        11 => of_width::<11>(a, m, n0, out),
        12 => of_width::<12>(a, m, n0, out),
        13 => of_width::<13>(a, m, n0, out),
        _ => panic!("moduli have at most {WIDTH_LIMBS_MAX} limbs"),
    }
}

fn of_width<const N: usize>(a: &[Limb], m: &[Limb], n0: Limb, out: &mut [Limb]) -> bool {
    let modulus: Signed<N> = split(m);
    // a·d = f mod m and a·e = g mod m throughout.
    let (mut d, mut e, mut f, mut g): (Signed<N>, Signed<N>, _, _) = ([0; N], [0; N], modulus, split(a));
    e[0] = 1;
    let mut length = N;
    let mut eta = -1; // −δ
    loop {
        let steps;
        (eta, steps) = sixty_two(eta, f[0] as u64, g[0] as u64); // The bits, whatever they mean.
        divide_modulo(&mut d, &mut e, &steps, &modulus, n0.wrapping_neg());
        divide(&mut f, &mut g, &steps, length);
        if g[..length].iter().all(|&limb| limb == 0) {
            break;
        }
        let (f_top, g_top) = (f[length - 1], g[length - 1]);
        if length > 1 && [f_top, g_top].iter().all(|&top| top == top >> 63) {
            length -= 1;
            // The sign goes to the limb below.
            f[length - 1] |= f_top << BITS;
            g[length - 1] |= g_top << BITS;
        }
    }
    let sign = f[length - 1] >> 63;
    let is_one = is_plus_or_minus_one(&f[..length]);
    out.fill(0);
    if is_one {
        join(&canonical(d, sign, &modulus), out);
    }
    is_one
}

/// 62 steps, as far as the lowest limbs of f and g decide them: all of them.
#[inline(always)]
fn sixty_two(mut eta: i64, mut f: u64, mut g: u64) -> (i64, Steps) {
    let (mut u, mut v, mut q, mut r) = (1_u64, 0_u64, 0_u64, 1_u64);
    let mut left = BITS as u32;
    loop {
        let zeros = (g | u64::MAX << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= i64::from(zeros);
        left -= zeros;
        if left == 0 {
            let [u, v, q, r] = [u, v, q, r].map(|factor| factor as i64); // Between −2⁶² and 2⁶².
            return (eta, Steps { u, v, q, r });
        }
        // Both are odd now. So many bits of g can be cleared at once by a multiple of f.
        let is_swapped = eta < 0;
        if is_swapped {
            eta = -eta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
        }
        let limit = u32::try_from(eta + 1).unwrap_or(u32::MAX).min(left);
        let mask = u64::MAX >> (64 - limit);
        let multiple = if is_swapped {
            // −g/f mod 2⁶, as f·(f² − 2) = −1/f mod 2⁶.
            f.wrapping_mul(g).wrapping_mul(f.wrapping_mul(f).wrapping_sub(2)) & mask & 63
        } else {
            // −g/f mod 2⁴, as f + (((f + 1) & 4) << 1) = 1/f mod 2⁴.
            let inverse = f.wrapping_add((f.wrapping_add(1) & 4) << 1);
            inverse.wrapping_neg().wrapping_mul(g) & mask & 15
        };
        g = g.wrapping_add(f.wrapping_mul(multiple));
        q = q.wrapping_add(u.wrapping_mul(multiple));
        r = r.wrapping_add(v.wrapping_mul(multiple));
    }
}

/// (d, e) ↦ the steps' matrix times (d, e), divided by 2⁶² modulo m; both between −2m and m, before and after.
/// `inverse` is m⁻¹ mod 2⁶⁴.
#[inline(always)]
fn divide_modulo<const N: usize>(
    d: &mut Signed<N>,
    e: &mut Signed<N>,
    &Steps { u, v, q, r }: &Steps,
    modulus: &Signed<N>,
    inverse: u64,
) {
    let (d_sign, e_sign) = (d[N - 1] >> 63, e[N - 1] >> 63);
    // Multiples of m that make the lowest 62 bits zero, and m once for each negative number.
    let mut of_d = (u & d_sign) + (v & e_sign);
    let mut of_e = (q & d_sign) + (r & e_sign);
    let mut carry_d = product(u, d[0]) + product(v, e[0]);
    let mut carry_e = product(q, d[0]) + product(r, e[0]);
    // Lowest bits, whatever they mean.
    let low = |carry: i128, of: i64| (inverse.wrapping_mul(carry as u64).wrapping_add(of as u64) & MASK) as i64;
    of_d -= low(carry_d, of_d);
    of_e -= low(carry_e, of_e);
    carry_d += product(modulus[0], of_d);
    carry_e += product(modulus[0], of_e);
    debug_assert!(carry_d as u64 & MASK == 0 && carry_e as u64 & MASK == 0);
    carry_d >>= BITS;
    carry_e >>= BITS;
    for i in 1..N {
        let (d_limb, e_limb, m_limb) = (d[i], e[i], modulus[i]);
        carry_d += product(u, d_limb) + product(v, e_limb) + product(m_limb, of_d);
        carry_e += product(q, d_limb) + product(r, e_limb) + product(m_limb, of_e);
        (d[i - 1], e[i - 1]) = (lowest(carry_d), lowest(carry_e));
        carry_d >>= BITS;
        carry_e >>= BITS;
    }
    // Both fit by the bounds.
    (d[N - 1], e[N - 1]) = (carry_d as i64, carry_e as i64);
}

/// (f, g) ↦ the steps' matrix times (f, g), divided by 2⁶² exactly.
#[inline(always)]
fn divide<const N: usize>(f: &mut Signed<N>, g: &mut Signed<N>, &Steps { u, v, q, r }: &Steps, length: usize) {
    let mut carry_f = (product(u, f[0]) + product(v, g[0])) >> BITS;
    let mut carry_g = (product(q, f[0]) + product(r, g[0])) >> BITS;
    for i in 1..length {
        let (f_limb, g_limb) = (f[i], g[i]);
        carry_f += product(u, f_limb) + product(v, g_limb);
        carry_g += product(q, f_limb) + product(r, g_limb);
        (f[i - 1], g[i - 1]) = (lowest(carry_f), lowest(carry_g));
        carry_f >>= BITS;
        carry_g >>= BITS;
    }
    // Both fit, as f and g are at most m in size.
    (f[length - 1], g[length - 1]) = (carry_f as i64, carry_g as i64);
}

/// d, or −d if `sign` is −1, as the number from 0 to m − 1 that it is mod m; d is between −2m and m.
fn canonical<const N: usize>(mut d: Signed<N>, sign: i64, modulus: &Signed<N>) -> Signed<N> {
    add_if_negative(&mut d, modulus);
    if sign < 0 {
        d = d.map(|limb| -limb);
        carry(&mut d);
    }
    add_if_negative(&mut d, modulus);
    d
}

fn add_if_negative<const N: usize>(d: &mut Signed<N>, modulus: &Signed<N>) {
    if d[N - 1] < 0 {
        for (limb, m_limb) in d.iter_mut().zip(modulus) {
            *limb += m_limb;
        }
        carry(d);
    }
}

/// Brings all limbs but the highest to 62 bits.
fn carry<const N: usize>(d: &mut Signed<N>) {
    for i in 0..N - 1 {
        d[i + 1] += d[i] >> BITS;
        d[i] &= MASK as i64; // Below 2⁶².
    }
}

fn is_plus_or_minus_one(f: &[i64]) -> bool {
    let (highest, below) = f.split_last().expect("a number has a limb");
    match below.split_first() {
        None => highest.unsigned_abs() == 1,
        Some((&lowest, between)) if *highest == 0 => lowest == 1 && between.iter().all(|&limb| limb == 0),
        Some(_) => *highest == -1 && below.iter().all(|&limb| limb == MASK as i64), // Below 2⁶².
    }
}

#[inline(always)]
fn product(a: i64, b: i64) -> i128 {
    i128::from(a) * i128::from(b)
}

#[inline(always)]
fn lowest(carry: i128) -> i64 {
    (carry as u64 & MASK) as i64 // The lowest 62 bits.
}

/// Limbs of 64 bits as limbs of 62.
fn split<const N: usize>(limbs: &[Limb]) -> Signed<N> {
    core::array::from_fn(|i| {
        let (from, shift) = (BITS * i / LIMB_BITS, BITS * i % LIMB_BITS);
        let limb = |at: usize| limbs.get(at).copied().unwrap_or(0);
        let high = if shift > 0 { limb(from + 1) << (LIMB_BITS - shift) } else { 0 };
        ((limb(from) >> shift | high) & MASK) as i64 // Below 2⁶².
    })
}

/// Limbs of 62 bits, none negative, as limbs of 64.
fn join<const N: usize>(signed: &Signed<N>, out: &mut [Limb]) {
    for (i, limb) in out.iter_mut().enumerate() {
        let (from, shift) = (LIMB_BITS * i / BITS, LIMB_BITS * i % BITS);
        let part = |at: usize| signed.get(at).map_or(0, |&limb| limb as u64); // None is negative.
        *limb = part(from) >> shift | part(from + 1) << (BITS - shift);
        if 2 * BITS - shift < LIMB_BITS {
            *limb |= part(from + 2) << (2 * BITS - shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inverse::modulo_odd;
    use crate::limbs::{less_than, n0_of};

    #[track_caller]
    fn check(a: &[Limb], m: &[Limb]) {
        let mut found = vec![7; m.len()];
        let has_inverse = invert_odd(a, m, n0_of(m[0]), &mut found);
        let expected = modulo_odd(a, m);
        assert_eq!(has_inverse, expected.is_some(), "{a:x?} mod {m:x?}");
        assert_eq!(found, expected.unwrap_or(vec![0; m.len()]), "{a:x?} mod {m:x?}");
    }

    #[test]
    fn every_residue_of_small_moduli_is_as_by_extended_euclid() {
        for m in (3..200_u64).step_by(2) {
            for a in 0..m {
                check(&[a], &[m]);
                check(&[a, 0, 0], &[m, 0, 0]);
            }
        }
    }

    #[test]
    fn random_residues_of_every_width_are_as_by_extended_euclid() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 33
        };
        for width_limbs in 1..=WIDTH_LIMBS_MAX {
            for round in 0..200 {
                let mut m: Vec<Limb> = (0..width_limbs).map(|_| random()).collect();
                match round % 5 {
                    0 => m.fill(u64::MAX),
                    1 => m[1..].fill(0),
                    2 => m[width_limbs - 1] >>= random() % 64,
                    _ => {}
                }
                m[0] |= 3;
                let mut a: Vec<Limb> = (0..width_limbs).map(|_| random()).collect();
                match round % 7 {
                    0 => a = m.iter().map(|limb| limb / 3).collect(),
                    1 => a[1..].fill(0),
                    2 | 3 => {
                        a = m.clone();
                        a[0] -= round % 7 - 1;
                    }
                    _ => {}
                }
                while !less_than(&a, &m) {
                    a.iter_mut().for_each(|limb| *limb >>= 1);
                }
                check(&a, &m);
            }
        }
    }
}
