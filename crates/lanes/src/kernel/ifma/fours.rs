//! Vectors of 256 bits: four 64-bit elements.

use core::arch::x86_64::*;

use crate::kernel::vectors::{Halves, Vectors};
use crate::line::ROW_LIMB_BITS;
use crate::line::{LINE_LIMBS, Line};

/// A machine with AVX-512 and IFMA, by vectors of 256 bits: there is one only where the instructions are.
#[derive(Clone, Copy)]
pub(crate) struct Fours(());

impl Fours {
    /// # Safety
    /// The machine has AVX-512 F, DQ, VL and IFMA.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        Self(())
    }
}

// SAFETY of every block below: the machine has the instructions, or there would be no `self`.
impl Vectors for Fours {
    type Vector = __m256i;
    type Word = u64;

    #[inline(always)]
    fn literal(self, number: u64) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_set1_epi64x(number as i64) } // The same 64 bits.
    }

    #[inline(always)]
    fn broadcast(self, word: u64) -> __m256i {
        self.literal(word)
    }

    #[inline(always)]
    fn add(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_add_epi64(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_sub_epi64(x, y) }
    }

    #[inline(always)]
    fn and(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_and_si256(x, y) }
    }

    #[inline(always)]
    fn or(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_or_si256(x, y) }
    }

    #[inline(always)]
    fn above(self, x: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_srli_epi64::<{ ROW_LIMB_BITS as i32 }>(x) }
    }

    #[inline(always)]
    fn carry(self, x: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_srai_epi64::<{ ROW_LIMB_BITS as u32 }>(x) }
    }

    #[inline(always)]
    fn shifted_down(self, x: __m256i, bits: u32) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_srlv_epi64(x, _mm256_set1_epi64x(i64::from(bits))) }
    }

    #[inline(always)]
    fn shifted_up(self, x: __m256i, bits: u32) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_sllv_epi64(x, _mm256_set1_epi64x(i64::from(bits))) }
    }

    #[inline(always)]
    fn add_low(self, t: __m256i, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_madd52lo_epu64(t, x, y) }
    }

    #[inline(always)]
    fn add_high(self, t: __m256i, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_madd52hi_epu64(t, x, y) }
    }

    #[inline(always)]
    fn select(self, sign: __m256i, negative: __m256i, other: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_mask_blend_epi64(_mm256_movepi64_mask(sign), other, negative) }
    }
}

impl Halves for Fours {
    type Rows = *mut Line;

    #[inline(always)]
    unsafe fn load(self, rows: *mut Line, row: u16, half: usize, lines: usize) -> __m256i {
        // SAFETY: the caller vouches for the row, whose lines have two halves, aligned to 32 bytes.
        unsafe { _mm256_load_si256(rows.add(usize::from(row) * lines).cast::<__m256i>().add(half)) }
    }

    #[inline(always)]
    unsafe fn store(self, rows: *mut Line, row: u16, line: usize, lines: usize, halves: [__m256i; 2]) {
        const { assert!(size_of::<[__m256i; 2]>() == size_of::<[i64; LINE_LIMBS]>()) };
        // SAFETY: the caller vouches for the row; lines are aligned.
        unsafe {
            let value = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(halves[0]), halves[1]);
            _mm512_store_si512(rows.add(usize::from(row) * lines + line).cast(), value);
        }
    }

    #[inline(always)]
    fn first_of_pairs(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_unpacklo_epi64(x, y) }
    }

    #[inline(always)]
    fn second_of_pairs(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_unpackhi_epi64(x, y) }
    }

    #[inline(always)]
    fn first_pairs(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_permute2x128_si256::<0x20>(x, y) }
    }

    #[inline(always)]
    fn second_pairs(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: as said above.
        unsafe { _mm256_permute2x128_si256::<0x31>(x, y) }
    }
}
