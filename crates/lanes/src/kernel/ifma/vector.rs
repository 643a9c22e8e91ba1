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
    let low = |i: usize| _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
    let high = |i: usize| _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    // Pairs of rows: columns 0 2 4 6, and 1 3 5 7.
    let even: [Vector; 4] = [low(0), low(1), low(2), low(3)];
    let odd: [Vector; 4] = [high(0), high(1), high(2), high(3)];
    let columns = |p: [Vector; 4]| {
        let a = _mm512_shuffle_i64x2::<0x88>(p[0], p[1]); // Columns 0, 4 of rows 0 to 3.
        let b = _mm512_shuffle_i64x2::<0xdd>(p[0], p[1]); // Columns 2, 6.
        let c = _mm512_shuffle_i64x2::<0x88>(p[2], p[3]);
        let d = _mm512_shuffle_i64x2::<0xdd>(p[2], p[3]);
        [
            _mm512_shuffle_i64x2::<0x88>(a, c),
            _mm512_shuffle_i64x2::<0x88>(b, d),
            _mm512_shuffle_i64x2::<0xdd>(a, c),
            _mm512_shuffle_i64x2::<0xdd>(b, d),
        ]
    };
    let ([c0, c2, c4, c6], [c1, c3, c5, c7]) = (columns(even), columns(odd));
    [c0, c1, c2, c3, c4, c5, c6, c7]
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
