//! Arithmetic modulo a power of two of up to 64 limbs: residues in canonical form, results masked by m − 1.

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
        write_masked(&mut limbs[out..out + m.len()], &sum, m);
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
        write_masked(&mut limbs[out..out + m.len()], &difference, m);
    }
}

/// (x, y) ↦ x·y mod m: the lower half of the product.
pub(crate) struct Mul;

impl Kernel for Mul {
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], _n0: Limb) {
        let width = m.len();
        let mut product = [0; MAX_WIDTH_LIMBS];
        for i in 0..width {
            let mut carry = 0;
            for (t, y) in product[i..width].iter_mut().zip(&limbs[y..y + width]) {
                (*t, carry) = mac(*t, limbs[x + i], *y, carry);
            }
        }
        write_masked(&mut limbs[out..out + width], &product, m);
    }
}

/// v ↦ v mod m, into `out`.
fn write_masked(out: &mut [Limb], v: &[Limb], m: &[Limb]) {
    let mut borrow = 1;
    for ((limb, v), m) in out.iter_mut().zip(v).zip(m) {
        let mask;
        (mask, borrow) = sbb(*m, 0, borrow);
        *limb = v & mask;
    }
}
