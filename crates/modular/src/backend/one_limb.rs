//! One limb: sums, differences and Montgomery products of values below the modulus, which take fewer steps than those of any words.
//!
//! x·y − u·m with u = (x·y)·m⁻¹ mod 2⁶⁴ has a low half of zero, so the high halves decide: those of x·y and of u·m are
//! below m, and so their difference is above −m. m is added if it is negative.

use core::cell::Cell;

use super::{Kernel, array};
use crate::context::Strided;
use crate::limbs::Limb;

/// Odd moduli, values below them.
pub(crate) struct Add;

/// Odd moduli, values below them.
pub(crate) struct Sub;

/// Odd moduli, x·y < m·2⁶⁴.
pub(crate) struct MontMul;

/// x − y, plus m where that is below zero.
#[inline(always)]
const fn difference(x: Limb, y: Limb, m: Limb) -> Limb {
    let (difference, is_below) = x.overflowing_sub(y);
    difference.wrapping_add(if is_below { m } else { 0 })
}

/// x + y mod m as x − (m − y), for x, y < m.
#[inline(always)]
pub(crate) const fn add(x: Limb, y: Limb, m: Limb) -> Limb {
    difference(x, m.wrapping_sub(y), m)
}

/// x − y mod m, for x, y < m.
#[inline(always)]
pub(crate) const fn sub(x: Limb, y: Limb, m: Limb) -> Limb {
    difference(x, y, m)
}

/// x·y·2⁻⁶⁴ mod m, for x·y < m·2⁶⁴ and n0 = −m⁻¹ mod 2⁶⁴.
#[inline(always)]
pub(crate) const fn mont_mul(x: Limb, y: Limb, m: Limb, n0: Limb) -> Limb {
    let product = x as u128 * y as u128;
    let u = (product as Limb).wrapping_mul(n0.wrapping_neg()); // Of the low half.
    let multiple = u as u128 * m as u128;
    difference((product >> 64) as Limb, (multiple >> 64) as Limb, m) // Both fit.
}

/// `operation` on the slots of each lane, in turn. Panics unless all lie inside the limbs. Neighbours need no look at each index.
#[inline(always)]
pub(crate) fn on_lanes(
    limbs: &mut [Limb],
    [out, x, y]: [Strided; 3],
    count: usize,
    operation: impl Fn(Limb, Limb) -> Limb,
) {
    let reach = count.saturating_sub(1);
    let last = [out, x, y].map(|operand| operand.index + operand.stride * reach).into_iter().max();
    assert!(last.is_some_and(|last| last < limbs.len()), "operands lie inside the limbs");
    let cells = Cell::from_mut(limbs).as_slice_of_cells();
    let neighbours = |operand: Strided| &cells[operand.index..][..count];
    match [out, x, y].map(|operand| operand.stride) {
        [1, 1, 1] => {
            for ((out, x), y) in neighbours(out).iter().zip(neighbours(x)).zip(neighbours(y)) {
                out.set(operation(x.get(), y.get()));
            }
        }
        [1, 1, 0] => {
            let y = cells[y.index].get();
            for (out, x) in neighbours(out).iter().zip(neighbours(x)) {
                out.set(operation(x.get(), y));
            }
        }
        strides => {
            let mut places = [out, x, y].map(|operand| operand.index);
            for _ in 0..count {
                let [out, x, y] = places;
                cells[out].set(operation(cells[x].get(), cells[y].get()));
                for (place, stride) in places.iter_mut().zip(strides) {
                    *place += stride;
                }
            }
        }
    }
}

impl Kernel for Add {
    #[inline(always)]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], _n0: Limb) {
        limbs[out] = add(limbs[x], limbs[y], array::<1>(m, 0)[0]);
    }

    #[inline(always)]
    fn run_lanes(limbs: &mut [Limb], lanes: [Strided; 3], count: usize, m: &[Limb], _n0: Limb) {
        let m = array::<1>(m, 0)[0];
        on_lanes(limbs, lanes, count, |x, y| add(x, y, m));
    }
}

impl Kernel for Sub {
    #[inline(always)]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], _n0: Limb) {
        limbs[out] = sub(limbs[x], limbs[y], array::<1>(m, 0)[0]);
    }

    #[inline(always)]
    fn run_lanes(limbs: &mut [Limb], lanes: [Strided; 3], count: usize, m: &[Limb], _n0: Limb) {
        let m = array::<1>(m, 0)[0];
        on_lanes(limbs, lanes, count, |x, y| sub(x, y, m));
    }
}

impl Kernel for MontMul {
    #[inline(always)]
    fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], n0: Limb) {
        limbs[out] = mont_mul(limbs[x], limbs[y], array::<1>(m, 0)[0], n0);
    }

    #[inline(always)]
    fn run_lanes(limbs: &mut [Limb], lanes: [Strided; 3], count: usize, m: &[Limb], n0: Limb) {
        let m = array::<1>(m, 0)[0];
        on_lanes(limbs, lanes, count, |x, y| mont_mul(x, y, m, n0));
    }
}
