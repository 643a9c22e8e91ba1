//! Vectors of eight 64-bit elements, and how eight lines are turned so that a vector holds one limb of each.

use core::arch::x86_64::*;

use crate::rows::{Line, ROW_LIMBS};

/// Eight 64-bit elements: a line of a row, or one limb of eight rows.
pub(super) type Vector = __m512i;
/// Eight rows turned: limb i of all of them in vector i.
pub(super) type Turned = [Vector; ROW_LIMBS];

/// Element j of vector i ↦ element i of vector j.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn transpose(rows: [Vector; 8]) -> [Vector; 8] {
    eights(&fours(&pairs(&rows)))
}

/// The first of three steps of [`transpose`]: pairs of rows, columns 0 2 4 6 of each of the four, then columns 1 3 5 7.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn pairs(rows: &[Vector; 8]) -> [Vector; 8] {
    let low = |i: usize| _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
    let high = |i: usize| _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    [low(0), low(1), low(2), low(3), high(0), high(1), high(2), high(3)]
}

/// The second: of the even columns, columns 0 4 and 2 6 of rows 0 to 3, and of rows 4 to 7; then of the odd ones.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn fours(pairs: &[Vector; 8]) -> [Vector; 8] {
    let low = |i: usize| _mm512_shuffle_i64x2::<0x88>(pairs[2 * i], pairs[2 * i + 1]);
    let high = |i: usize| _mm512_shuffle_i64x2::<0xdd>(pairs[2 * i], pairs[2 * i + 1]);
    [low(0), high(0), low(1), high(1), low(2), high(2), low(3), high(3)]
}

/// The third: columns of eight rows.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn eights(fours: &[Vector; 8]) -> [Vector; 8] {
    let low = |i: usize| _mm512_shuffle_i64x2::<0x88>(fours[i], fours[i + 2]);
    let high = |i: usize| _mm512_shuffle_i64x2::<0xdd>(fours[i], fours[i + 2]);
    [low(0), low(4), low(1), low(5), high(0), high(4), high(1), high(5)]
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn broadcast(word: u64) -> Vector {
    _mm512_set1_epi64(word as i64) // The same 64 bits.
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn vector(line: &Line) -> Vector {
    // SAFETY: a line is 64 bytes, aligned.
    unsafe { _mm512_load_si512(core::ptr::from_ref(line).cast()) }
}

/// # Safety
/// The row exists at `rows`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) unsafe fn load(rows: *const Line, row: u16, line: usize, lines: usize) -> Vector {
    // SAFETY: the caller vouches for the row; lines are aligned.
    unsafe { _mm512_load_si512(rows.add(usize::from(row) * lines + line).cast()) }
}

/// # Safety
/// The row exists at `rows`, and nothing else accesses it.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) unsafe fn store(rows: *mut Line, row: u16, line: usize, lines: usize, value: Vector) {
    // SAFETY: the caller vouches for the row; lines are aligned.
    unsafe { _mm512_store_si512(rows.add(usize::from(row) * lines + line).cast(), value) }
}
