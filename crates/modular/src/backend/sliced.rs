//! The formulas of [`portable`](super::portable) over slices of up to 64 limbs, for widths without arrays of their own.

use super::Kernel;
use crate::limbs::MAX_WIDTH_LIMBS;
use crate::limbs::{Limb, adc, mac, sbb};

/// (x, y) ↦ x + y mod m.
pub(crate) struct Add;

impl Kernel for Add {
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], _n0: Limb) {
        let mut sum = [0; MAX_WIDTH_LIMBS];
        let mut carry = 0;
        for (i, limb) in sum[..m.len()].iter_mut().enumerate() {
            (*limb, carry) = adc(limbs[x + i], limbs[y + i], carry);
        }
        write_reduced(&mut limbs[out..out + m.len()], &sum, carry, m);
    }
}

/// (x, y) ↦ x − y mod m.
pub(crate) struct Sub;

impl Kernel for Sub {
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], _n0: Limb) {
        let mut difference = [0; MAX_WIDTH_LIMBS];
        let mut borrow = 0;
        for (i, limb) in difference[..m.len()].iter_mut().enumerate() {
            (*limb, borrow) = sbb(limbs[x + i], limbs[y + i], borrow);
        }
        let mask = borrow.wrapping_neg();
        let mut carry = 0;
        for ((limb, d), m) in limbs[out..out + m.len()].iter_mut().zip(&difference).zip(m) {
            (*limb, carry) = adc(*d, m & mask, carry);
        }
    }
}

/// (x, y) ↦ x·y·R⁻¹ mod m, by CIOS.
pub(crate) struct MontMul;

impl Kernel for MontMul {
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], n0: Limb) {
        let width = m.len();
        let mut t = [0; MAX_WIDTH_LIMBS];
        let t = &mut t[..width];
        let mut top = 0;
        for i in 0..width {
            let yi = limbs[y + i];
            let mut carry = 0;
            for (t, x) in t.iter_mut().zip(&limbs[x..x + width]) {
                (*t, carry) = mac(*t, *x, yi, carry);
            }
            let (high, higher) = adc(top, carry, 0);
            let u = t[0].wrapping_mul(n0);
            (_, carry) = mac(t[0], u, m[0], 0);
            for j in 1..width {
                (t[j - 1], carry) = mac(t[j], u, m[j], carry);
            }
            (t[width - 1], carry) = adc(high, carry, 0);
            top = higher + carry;
        }
        write_reduced(&mut limbs[out..out + width], t, top, m);
    }
}

/// v = t + top·2^(64n) ↦ v, minus m once if v ≥ m, mod 2^(64n), into `out`.
fn write_reduced(out: &mut [Limb], t: &[Limb], top: Limb, m: &[Limb]) {
    let mut borrow = 0;
    for ((limb, t), m) in out.iter_mut().zip(t).zip(m) {
        (*limb, borrow) = sbb(*t, *m, borrow);
    }
    let keep = (borrow & !top).wrapping_neg();
    for (limb, t) in out.iter_mut().zip(t) {
        *limb ^= (*limb ^ t) & keep;
    }
}
