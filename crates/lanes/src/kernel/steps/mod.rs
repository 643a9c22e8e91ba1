//! The steps of a plan, written once over [`super::vectors`]: the IFMA kernel executes the code that the tests prove.
//!
//! A linear step, a carry and a reduction work on whole rows, a vector being a line; products on rows turned, a vector holding one limb
//! of each. `super::scalar` defines every step limb for limb; the tests hold the two equal bit for bit.
//!
//! All is inlined into functions that are compiled for the machine's features, and there is no closure, which would not be.

pub(crate) mod batch;
pub(crate) mod companions;
pub(crate) mod product;
pub(crate) mod quads;
pub(crate) mod stream;
pub(crate) mod transfer;

use super::vectors::Lines;
use crate::line::LIMB_MASK;
use crate::line::LINE_LIMBS;
use crate::modulus_rows::Constants;
use crate::tables::{CarryStep, LinearStep, ReduceStep};

/// out = x ± y. Which sign is a mask, not a branch: signs follow no pattern that a CPU could predict. −y = (y ^ −1) + 1.
///
/// # Safety
/// The rows that the step names exist at `rows`, N lines each, and nothing else accesses them.
#[inline(always)]
pub(crate) unsafe fn linear<V: Lines, const N: usize>(v: V, step: &LinearStep, rows: V::Rows) {
    let sign = v.literal(i64::from(step.sign) as u64); // The same 64 bits.
    for line in 0..N {
        // SAFETY: the caller vouches for the rows.
        unsafe {
            let x = v.sub(v.load(rows, step.x, line, N), sign);
            let y = v.xor(v.load(rows, step.y, line, N), sign);
            v.store(rows, step.out, line, N, v.add(x, y));
        }
    }
}

/// out = x with limbs carried once.
///
/// # Safety
/// As [`linear`]; rows have L limbs.
#[inline(always)]
pub(crate) unsafe fn carry<V: Lines, const L: usize, const N: usize>(v: V, step: &CarryStep, rows: V::Rows) {
    let mut x = [v.literal(0); N];
    for line in 0..N {
        // SAFETY: the caller vouches for the rows.
        x[line] = unsafe { v.load(rows, step.x, line, N) };
    }
    let out = carried::<V, L, N>(v, &x);
    for line in 0..N {
        // SAFETY: the caller vouches for the rows.
        unsafe { v.store(rows, step.out, line, N, out[line]) };
    }
}

/// out = x + k·M − (q − 1)·M with q estimated from the top limb, as [`crate::bounds::Bounds::reduced`] says.
///
/// # Safety
/// As [`carry`]; the constants are of a shape with L limbs in N lines and have a multiple for the step's bias.
#[inline(always)]
pub(crate) unsafe fn reduce<V: Lines, const L: usize, const N: usize>(
    v: V,
    step: &ReduceStep,
    constants: &Constants<V::Word, V::Line>,
    rows: V::Rows,
) {
    let mut x = [v.literal(0); N];
    for line in 0..N {
        // SAFETY: the caller vouches for the rows and the multiples.
        x[line] = unsafe {
            let bias = v.line(constants.multiples.get_unchecked(usize::from(step.bias.0) * N + line));
            v.add(v.load(rows, step.x, line, N), bias)
        };
    }
    let x = carried::<V, L, N>(v, &x);
    let top = v.everywhere(x[(L - 1) / LINE_LIMBS], (L - 1) % LINE_LIMBS);
    let q = v.add_high(v.literal(0), v.shifted_down(top, constants.top_shift), v.broadcast(constants.mu));
    for line in 0..N {
        let (negated, m) = (v.line(&constants.negated_lines[line]), v.line(&constants.m_lines[line]));
        let shifted = v.line(&constants.shifted_lines[line]);
        let multiple = v.add_high(v.add_low(negated, q, m), q, shifted);
        // SAFETY: the caller vouches for the rows.
        unsafe { v.store(rows, step.out, line, N, v.sub(x[line], multiple)) };
    }
}

/// Every limb but the top one of L cut to 52 bits, the bits above added to the next, all at a time.
#[inline(always)]
fn carried<V: Lines, const L: usize, const N: usize>(v: V, x: &[V::Vector; N]) -> [V::Vector; N] {
    let mask = v.literal(LIMB_MASK);
    let mut carry_below = v.literal(0);
    let mut out = *x;
    for line in 0..N {
        let below_top = if (line + 1) * LINE_LIMBS < L { 0xff } else { (1 << ((L - 1) % LINE_LIMBS)) - 1 };
        let carry = v.carry_in(below_top, x[line]);
        let kept = v.and_in(below_top, x[line], mask);
        // One limb up: the lowest comes from the line below.
        out[line] = v.add(kept, v.moved_up(carry, carry_below));
        carry_below = carry;
    }
    out
}
