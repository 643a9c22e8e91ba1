//! Products four at a time, in vectors of 256 bits, one group or two groups together.
//!
//! Where 512-bit vectors are worked on in halves, two groups together multiply as fast as one vector of eight, are turned faster, and
//! hide each other's latency; and a batch of up to four products takes half the time. Every step is that of [`super::product`].

use core::arch::x86_64::*;

use super::vector::store;
use crate::modulus_rows::ProductConstants;
use crate::plan::{BatchStep, QUAD_LANES};
use crate::rows::{LINE_LIMBS, Line};
use crate::shape::{LIMB_MASK, ROW_LIMB_BITS};

/// Four 64-bit elements: half a line of a row, or one limb of four rows.
type Quad = __m256i;
/// Four rows turned: limb i of all of them in vector i.
type Turned<const L: usize> = [Quad; L];

/// Halves of a line.
const HALVES: usize = LINE_LIMBS / QUAD_LANES;

/// outᵢ = xᵢ·yᵢ/R for the first K groups of four rows, all read before `between` runs, which is called L times on the way, and written after it.
///
/// # Safety
/// The machine has the features. Every row that the step names exists at `rows`, N lines each, and nothing else accesses them while
/// this function reads or writes; a row has L limbs in N lines.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) unsafe fn batch<const L: usize, const N: usize, const K: usize>(
    step: &BatchStep,
    constants: &ProductConstants,
    rows: *mut Line,
    between: impl FnMut(),
) {
    let mut x = [[_mm256_setzero_si256(); L]; K];
    let mut y = x;
    for k in 0..K {
        let (x_rows, y_rows) = (&step.x.as_chunks().0[k], &step.y.as_chunks().0[k]);
        // SAFETY: the caller vouches for the rows.
        (x[k], y[k]) = unsafe { (turn_in::<L, N>(x_rows, constants, rows), turn_in::<L, N>(y_rows, constants, rows)) };
    }
    let product = product::<L, K>(&x, &y, constants, between);
    for k in 0..K {
        let out: &[u16; QUAD_LANES] = &step.out.as_chunks().0[k];
        for line in 0..N {
            // Whole lines: a load of 512 bits would wait for two stores of 256 to reach the cache.
            let halves: [_; HALVES] = std::array::from_fn(|half| turned_half(&product[k], HALVES * line + half));
            for lane in 0..QUAD_LANES {
                let row = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(halves[0][lane]), halves[1][lane]);
                // SAFETY: the caller vouches for the rows.
                unsafe { store(rows, out[lane], line, N, row) };
            }
        }
    }
}

/// Half a line of four rows, turned back.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn turned_half<const L: usize>(product: &Turned<L>, half: usize) -> [Quad; QUAD_LANES] {
    let mut turned = [_mm256_setzero_si256(); QUAD_LANES];
    for i in 0..QUAD_LANES.min(L.saturating_sub(half * QUAD_LANES)) {
        turned[i] = product[half * QUAD_LANES + i];
    }
    transpose(turned)
}

/// Where half a line of a row lies.
///
/// # Safety
/// The row exists at `rows`, `lines` lines each.
#[inline(always)]
unsafe fn half_line(rows: *mut Line, row: u16, half: usize, lines: usize) -> *mut Quad {
    // SAFETY: the caller vouches for the row, whose lines have two halves.
    unsafe { rows.add(usize::from(row) * lines).cast::<Quad>().add(half) }
}

/// Four rows turned and lifted, limbs carried one after the other.
///
/// # Safety
/// As [`batch`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn turn_in<const L: usize, const N: usize>(
    from: &[u16; QUAD_LANES],
    constants: &ProductConstants,
    rows: *mut Line,
) -> Turned<L> {
    let mut turned = [_mm256_setzero_si256(); L];
    for half in 0..HALVES * N {
        let mut halves = [_mm256_setzero_si256(); QUAD_LANES];
        for lane in 0..QUAD_LANES {
            // SAFETY: the caller vouches for the rows; halves of lines are aligned to 32 bytes.
            halves[lane] = unsafe { _mm256_load_si256(half_line(rows, from[lane], half, N)) };
        }
        let halves = transpose(halves);
        for i in 0..QUAD_LANES.min(L.saturating_sub(half * QUAD_LANES)) {
            turned[half * QUAD_LANES + i] = halves[i];
        }
    }
    for i in 0..L {
        turned[i] = _mm256_add_epi64(turned[i], broadcast(constants.lift[i]));
        if i > 0 {
            turned[i] = _mm256_add_epi64(turned[i], _mm256_srai_epi64::<{ ROW_LIMB_BITS as u32 }>(turned[i - 1]));
        }
    }
    turned
}

/// (x, y) ↦ (xy + uM)/R in all lanes, as [`super::product::product`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn product<const L: usize, const K: usize>(
    x: &[Turned<L>; K],
    y: &[Turned<L>; K],
    constants: &ProductConstants,
    mut between: impl FnMut(),
) -> [Turned<L>; K] {
    let mut t = [[_mm256_setzero_si256(); L]; K];
    for k in 0..K {
        for j in 0..L {
            t[k][j] = _mm256_madd52lo_epu64(broadcast(LIMB_MASK), x[k][j], y[k][0]);
        }
    }
    between();
    for i in 1..L {
        next_window::<L, K, false>(&mut t, x, y, i, constants);
        between();
    }
    next_window::<L, K, true>(&mut t, x, y, L, constants);
    let mut out = t;
    for k in 0..K {
        for i in 0..L - 1 {
            out[k][i] = _mm256_and_si256(t[k][i], broadcast(LIMB_MASK));
        }
        for i in 1..L {
            out[k][i] = _mm256_add_epi64(out[k][i], _mm256_srli_epi64::<{ ROW_LIMB_BITS as i32 }>(t[k][i - 1]));
        }
    }
    out
}

/// Windows of accumulators that have low(x·y[i − 1]) ↦ the next ones up, with high(x·y[i − 1]), u·M and, but for the last, low(x·y[i]) added.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn next_window<const L: usize, const K: usize, const LAST: bool>(
    t: &mut [Turned<L>; K],
    x: &[Turned<L>; K],
    y: &[Turned<L>; K],
    i: usize,
    constants: &ProductConstants,
) {
    let n0 = broadcast(constants.n0);
    let zero = _mm256_setzero_si256();
    let mut next = [[zero; L]; K];
    let mut u = [zero; K];
    for k in 0..K {
        u[k] = _mm256_madd52lo_epu64(n0, t[k][0], n0);
    }
    for j in 0..L {
        for k in 0..K {
            let above = if j + 1 < L { t[k][j + 1] } else { zero };
            next[k][j] = _mm256_madd52hi_epu64(above, x[k][j], y[k][i - 1]);
        }
    }
    if !LAST {
        for j in 0..L {
            for k in 0..K {
                next[k][j] = _mm256_madd52lo_epu64(next[k][j], x[k][j], y[k][i]);
            }
        }
    }
    for j in 0..L {
        for k in 0..K {
            next[k][j] = _mm256_madd52hi_epu64(next[k][j], u[k], broadcast(constants.m[j]));
        }
        if j == 0 {
            // The next u waits for this accumulator alone: its two products are not made to wait for each other.
            for k in 0..K {
                let carry = _mm256_srli_epi64::<{ ROW_LIMB_BITS as i32 }>(t[k][0]);
                let low = _mm256_madd52lo_epu64(carry, u[k], broadcast(constants.m[1]));
                next[k][0] = _mm256_add_epi64(next[k][0], low);
            }
        } else if j + 1 < L {
            for k in 0..K {
                next[k][j] = _mm256_madd52lo_epu64(next[k][j], u[k], broadcast(constants.m[j + 1]));
            }
        }
    }
    *t = next;
}

/// Element j of vector i ↦ element i of vector j.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn transpose(rows: [Quad; QUAD_LANES]) -> [Quad; QUAD_LANES] {
    let [a, b, c, d] = rows;
    let (even_ab, odd_ab) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)); // Columns 0, 2; and 1, 3.
    let (even_cd, odd_cd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
    [
        _mm256_permute2x128_si256::<0x20>(even_ab, even_cd),
        _mm256_permute2x128_si256::<0x20>(odd_ab, odd_cd),
        _mm256_permute2x128_si256::<0x31>(even_ab, even_cd),
        _mm256_permute2x128_si256::<0x31>(odd_ab, odd_cd),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn broadcast(word: u64) -> Quad {
    _mm256_set1_epi64x(word as i64) // The same 64 bits.
}
