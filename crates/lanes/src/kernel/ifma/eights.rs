//! Vectors of 512 bits: eight 64-bit elements.

use core::arch::x86_64::*;

use super::window;
use crate::kernel::steps::companions::Companions;
use crate::kernel::steps::stream::Operands;
use crate::kernel::vectors::{Lines, Vectors};
use crate::line::ROW_LIMB_BITS;
use crate::line::{LINE_LIMBS, Line, ROW_LIMBS};
use crate::modulus_rows::ProductConstants;
use crate::tables::BatchStep;

/// A machine with AVX-512 and IFMA, by vectors of 512 bits: there is one only where the instructions are.
#[derive(Clone, Copy)]
pub(crate) struct Eights(());

impl Eights {
    /// # Safety
    /// The machine has AVX-512 F, DQ, VL and IFMA.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        Self(())
    }

    /// The elements that are not zero.
    #[inline(always)]
    pub fn non_zero(self, x: __m512i) -> __mmask8 {
        // SAFETY: the machine has the instruction, or there would be no `self`.
        unsafe { _mm512_test_epi64_mask(x, x) }
    }

    /// The elements that are negative.
    #[inline(always)]
    pub fn negative(self, x: __m512i) -> __mmask8 {
        // SAFETY: the machine has the instruction, or there would be no `self`.
        unsafe { _mm512_movepi64_mask(x) }
    }
}

// SAFETY of every block below: the machine has the instructions, or there would be no `self`.
impl Vectors for Eights {
    type Vector = __m512i;
    type Word = u64;

    #[inline(always)]
    fn literal(self, number: u64) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_set1_epi64(number as i64) } // The same 64 bits.
    }

    #[inline(always)]
    fn broadcast(self, word: u64) -> __m512i {
        self.literal(word)
    }

    #[inline(always)]
    fn add(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_add_epi64(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_sub_epi64(x, y) }
    }

    #[inline(always)]
    fn and(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_and_si512(x, y) }
    }

    #[inline(always)]
    fn or(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_or_si512(x, y) }
    }

    #[inline(always)]
    fn above(self, x: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_srli_epi64::<{ ROW_LIMB_BITS as u32 }>(x) }
    }

    #[inline(always)]
    fn carry(self, x: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_srai_epi64::<{ ROW_LIMB_BITS as u32 }>(x) }
    }

    #[inline(always)]
    fn shifted_down(self, x: __m512i, bits: u32) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_srlv_epi64(x, _mm512_set1_epi64(i64::from(bits))) }
    }

    #[inline(always)]
    fn shifted_up(self, x: __m512i, bits: u32) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_sllv_epi64(x, _mm512_set1_epi64(i64::from(bits))) }
    }

    #[inline(always)]
    fn add_low(self, t: __m512i, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_madd52lo_epu64(t, x, y) }
    }

    #[inline(always)]
    fn add_high(self, t: __m512i, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_madd52hi_epu64(t, x, y) }
    }

    #[inline(always)]
    fn select(self, sign: __m512i, negative: __m512i, other: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_mask_blend_epi64(_mm512_movepi64_mask(sign), other, negative) }
    }

    #[inline(always)]
    fn pinned<const L: usize>(self, x: &[__m512i; L]) -> [__m512i; L] {
        let mut out = *x;
        for vector in &mut out {
            // SAFETY: as said above.
            *vector = unsafe { window::pinned(*vector) };
        }
        out
    }
}

impl Lines for Eights {
    type Rows = *mut Line;
    type Line = Line;

    #[inline(always)]
    unsafe fn load(self, rows: *mut Line, row: u16, line: usize, lines: usize) -> __m512i {
        // SAFETY: the caller vouches for the row; lines are aligned.
        unsafe { _mm512_load_si512(rows.add(usize::from(row) * lines + line).cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, rows: *mut Line, row: u16, line: usize, lines: usize, value: __m512i) {
        // SAFETY: the caller vouches for the row; lines are aligned.
        unsafe { _mm512_store_si512(rows.add(usize::from(row) * lines + line).cast(), value) }
    }

    #[inline(always)]
    fn line(self, line: &Line) -> __m512i {
        // SAFETY: a line is 64 bytes, aligned.
        unsafe { _mm512_load_si512(core::ptr::from_ref(line).cast()) }
    }

    #[inline(always)]
    fn xor(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_xor_si512(x, y) }
    }

    #[inline(always)]
    fn first_of_pairs(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_unpacklo_epi64(x, y) }
    }

    #[inline(always)]
    fn second_of_pairs(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_unpackhi_epi64(x, y) }
    }

    #[inline(always)]
    fn even_pairs(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_shuffle_i64x2::<0x88>(x, y) }
    }

    #[inline(always)]
    fn odd_pairs(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_shuffle_i64x2::<0xdd>(x, y) }
    }

    #[inline(always)]
    fn carry_in(self, set: u8, x: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_maskz_srai_epi64::<{ ROW_LIMB_BITS as u32 }>(set, x) }
    }

    #[inline(always)]
    fn and_in(self, set: u8, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_mask_and_epi64(x, set, x, y) }
    }

    #[inline(always)]
    fn moved_up(self, x: __m512i, below: __m512i) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_alignr_epi64::<7>(x, below) }
    }

    #[inline(always)]
    fn everywhere(self, x: __m512i, at: usize) -> __m512i {
        // SAFETY: as said above.
        unsafe { _mm512_permutexvar_epi64(_mm512_set1_epi64(at as i64), x) } // At most 7.
    }

    #[inline(always)]
    fn window(
        self,
        t: &[__m512i; LINE_LIMBS],
        x: &[__m512i; LINE_LIMBS],
        y: __m512i,
        y_next: __m512i,
        constants: &ProductConstants,
    ) -> [__m512i; LINE_LIMBS] {
        // SAFETY: as said above.
        unsafe { window::next(self, t, x, y, y_next, constants) }
    }

    #[inline(always)]
    unsafe fn last_windows<const NEXT: bool>(
        self,
        t: [__m512i; LINE_LIMBS],
        now: &Operands<__m512i>,
        companions: Companions<'_, Self, 1>,
        next: &BatchStep,
        then: *mut Operands<__m512i>,
        constants: &ProductConstants,
        rows: *mut Line,
    ) -> [__m512i; LINE_LIMBS] {
        // SAFETY: as said above, and the caller vouches for the rest.
        unsafe { window::last::<NEXT>(self, t, now, companions, next, then, constants, rows) }
    }

    #[inline(always)]
    fn add_products(self, t: &mut [__m512i; LINE_LIMBS], x: &[__m512i; LINE_LIMBS], y: __m512i, z: __m512i) {
        // SAFETY: as said above.
        unsafe { window::add_products(t, x, y, z) }
    }

    #[inline(always)]
    fn add_multiple(self, t: &mut [__m512i; LINE_LIMBS], u: __m512i, m: &[u64; ROW_LIMBS]) {
        // SAFETY: as said above.
        unsafe { window::add_multiple(t, u, m) }
    }
}
