//! Products modulo M on eight rows turned: reading and carrying rows, multiplying in radix 2⁵², Montgomery reduction.

use core::arch::x86_64::*;

use super::vector::{Turned, Vector, broadcast, load, transpose};
use crate::modulus_rows::ProductConstants;
use crate::plan::BATCH_LANES;
use crate::rows::{LINE_LIMBS, Line, ROW_LIMBS};
use crate::shape::{LIMB_MASK, ROW_LIMB_BITS};

/// Eight rows turned and lifted, limbs carried one after the other: the low 52 bits of each are then the words of the value.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) unsafe fn turn_in<const L: usize, const N: usize>(
    from: &[u16; BATCH_LANES],
    constants: &ProductConstants,
    rows: *mut Line,
) -> Turned {
    let mut turned = [_mm512_setzero_si512(); ROW_LIMBS];
    for line in 0..N {
        // SAFETY: the caller vouches for the rows.
        let lines = from.map(|row| unsafe { load(rows, row, line, N) });
        turned[line * LINE_LIMBS..][..LINE_LIMBS].copy_from_slice(&transpose(lines));
    }
    for i in 0..L {
        turned[i] = _mm512_add_epi64(turned[i], broadcast(constants.lift[i]));
        if i > 0 {
            turned[i] = _mm512_add_epi64(turned[i], _mm512_srai_epi64::<{ ROW_LIMB_BITS as u32 }>(turned[i - 1]));
        }
    }
    turned
}

/// Rows of one line, turned, as [`turn_in`] leaves them.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn lifted<const L: usize>(
    turned: &[Vector; LINE_LIMBS],
    constants: &ProductConstants,
) -> [Vector; LINE_LIMBS] {
    let mut out = [_mm512_setzero_si512(); LINE_LIMBS];
    for i in 0..L {
        out[i] = _mm512_add_epi64(turned[i], broadcast(constants.lift[i]));
        if i > 0 {
            out[i] = _mm512_add_epi64(out[i], _mm512_srai_epi64::<{ ROW_LIMB_BITS as u32 }>(out[i - 1]));
        }
    }
    out
}

/// (x, y) ↦ (xy + uM)/R in eight lanes; `super::scalar::product` says what the limbs are. `between` is called L times on the way.
///
/// The accumulators below the radix start at 2⁵² − 1: shifting one right by 52 then gives the carry of tᵢ + low(u·M₀), which is never
/// computed, and starting u at n0 makes up for the seed.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn product<const L: usize>(
    x: &Turned,
    y: &Turned,
    constants: &ProductConstants,
    mut between: impl FnMut(),
) -> Turned {
    let mut t = begin::<L>(x, y[0]);
    between();
    for i in 1..L {
        t = next_window::<L>(&t, x, y[i - 1], Some(y[i]), constants);
        between();
    }
    carried_products::<L>(&next_window::<L>(&t, x, y[L - 1], None, constants))
}

/// The first window: seeds, with low(x·y).
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn begin<const L: usize>(x: &[Vector], y: Vector) -> Turned {
    let mut t = [_mm512_setzero_si512(); ROW_LIMBS];
    t[..L].fill(broadcast(LIMB_MASK));
    add_low::<L>(&mut t, x, y);
    t
}

/// Products as they leave: carried once. Sums of products then rarely need a step of their own for it.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn carried_products<const L: usize>(t: &Turned) -> Turned {
    let mut out = *t;
    for i in 0..L - 1 {
        out[i] = _mm512_and_si512(t[i], broadcast(LIMB_MASK));
    }
    for i in 1..L {
        out[i] = _mm512_add_epi64(out[i], _mm512_srli_epi64::<{ ROW_LIMB_BITS as u32 }>(t[i - 1]));
    }
    out
}

/// t += low(x·y), y one word.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn add_low<const L: usize>(t: &mut Turned, x: &[Vector], y: Vector) {
    for j in 0..L {
        t[j] = _mm512_madd52lo_epu64(t[j], x[j], y);
    }
}

/// t += high(u·M) + low(u·M) one limb up: two passes, so that no sum waits for the one before it.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn add_multiple<const L: usize>(t: &mut Turned, u: Vector, constants: &ProductConstants) {
    for j in 0..L {
        t[j] = _mm512_madd52hi_epu64(t[j], u, broadcast(constants.m[j]));
    }
    for j in 0..L - 1 {
        t[j] = _mm512_madd52lo_epu64(t[j], u, broadcast(constants.m[j + 1]));
    }
}

/// x ↦ (x + uM)/R in eight lanes, x carried and u < R: [`product`] with one, at half the work.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn reduced<const L: usize>(x: &Turned, constants: &ProductConstants) -> Turned {
    let mut t = [_mm512_setzero_si512(); ROW_LIMBS];
    let seed = broadcast(LIMB_MASK);
    for j in 0..L {
        t[j] = _mm512_add_epi64(_mm512_and_si512(x[j], seed), seed);
    }
    for _ in 0..L {
        let n0 = broadcast(constants.n0);
        let u = _mm512_madd52lo_epu64(n0, t[0], n0);
        let carry = _mm512_srli_epi64::<{ ROW_LIMB_BITS as u32 }>(t[0]);
        for j in 0..L {
            t[j] = if j + 1 < L { t[j + 1] } else { _mm512_setzero_si512() };
        }
        t[0] = _mm512_add_epi64(t[0], carry);
        add_multiple::<L>(&mut t, u, constants);
    }
    t
}

/// A window of accumulators that has low(x·y) ↦ the next one up, with high(x·y), u·M and low(x·y′) added.
/// What waits for u comes last: the next u waits for it.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn next_window<const L: usize>(
    t: &Turned,
    x: &[Vector],
    y: Vector,
    y_next: Option<Vector>,
    constants: &ProductConstants,
) -> Turned {
    let n0 = broadcast(constants.n0);
    let u = _mm512_madd52lo_epu64(n0, t[0], n0);
    let carry = _mm512_srli_epi64::<{ ROW_LIMB_BITS as u32 }>(t[0]);
    let mut next = [_mm512_setzero_si512(); ROW_LIMBS];
    for j in 0..L {
        let above = if j + 1 < L { t[j + 1] } else { _mm512_setzero_si512() };
        next[j] = _mm512_madd52hi_epu64(above, x[j], y);
    }
    next[0] = _mm512_add_epi64(next[0], carry);
    if let Some(y) = y_next {
        add_low::<L>(&mut next, x, y);
    }
    add_multiple::<L>(&mut next, u, constants);
    next
}
