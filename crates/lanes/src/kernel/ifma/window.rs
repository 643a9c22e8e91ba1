//! A window of [`super::product`] in assembly, for rows of one whole line: where much else runs along, compilers keep operands on the stack
//! and take a sixth longer.
//!
//! Each macro is one pass over the accumulators, in order, so that none is needed again before it is there.

use core::arch::asm;
use core::arch::x86_64::*;

use super::vector::{Turned, Vector, broadcast};
use crate::modulus_rows::ProductConstants;
use crate::rows::LINE_LIMBS;
use crate::shape::ROW_LIMB_BITS;

/// tⱼ += high(xⱼ·y), then tⱼ += low(xⱼ·z).
macro_rules! add_products {
    ($t:ident, $x:ident, $y:ident, $z:ident; $($j:literal $tj:ident $xj:ident),+) => {
        // SAFETY: the function has the features; nothing but registers is read or written.
        unsafe {
            asm!(
                $(concat!("vpmadd52huq {", stringify!($tj), "}, {", stringify!($xj), "}, {y}"),)+
                $(concat!("vpmadd52luq {", stringify!($tj), "}, {", stringify!($xj), "}, {z}"),)+
                $($tj = inout(zmm_reg) $t[$j],)+
                $($xj = in(zmm_reg) $x[$j],)+
                y = in(zmm_reg) $y,
                z = in(zmm_reg) $z,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
    };
}

/// tⱼ += high(u·Mⱼ), then tⱼ += low(u·Mⱼ₊₁), of which the last is not needed.
macro_rules! add_multiple {
    ($t:ident, $u:ident, $m:ident; $($j:literal $tj:ident),+; $($below:ident $above:literal),+) => {
        // SAFETY: the function has the features; the array has a limb for every index.
        unsafe {
            asm!(
                $(concat!("vpmadd52huq {", stringify!($tj), "}, {u}, qword ptr [{m} + 8*", $j, "]{{1to8}}"),)+
                $(concat!("vpmadd52luq {", stringify!($below), "}, {u}, qword ptr [{m} + 8*", $above, "]{{1to8}}"),)+
                $($tj = inout(zmm_reg) $t[$j],)+
                u = in(zmm_reg) $u,
                m = in(reg) $m.as_ptr(),
                options(pure, readonly, nostack, preserves_flags)
            );
        }
    };
}

/// As [`super::product::next_window`], which has the last one, for eight limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn window(
    t: &Turned,
    x: &[Vector; LINE_LIMBS],
    y: Vector,
    y_next: Vector,
    constants: &ProductConstants,
) -> Turned {
    let n0 = broadcast(constants.n0);
    let u = _mm512_madd52lo_epu64(n0, t[0], n0);
    let carry = _mm512_srli_epi64::<{ ROW_LIMB_BITS as u32 }>(t[0]);
    let mut next = *t;
    for j in 1..LINE_LIMBS {
        next[j - 1] = t[j];
    }
    next[0] = _mm512_add_epi64(next[0], carry);
    next[LINE_LIMBS - 1] = _mm512_setzero_si512();
    let m = &constants.m;
    add_products!(next, x, y, y_next; 0 t0 x0, 1 t1 x1, 2 t2 x2, 3 t3 x3, 4 t4 x4, 5 t5 x5, 6 t6 x6, 7 t7 x7);
    add_multiple!(next, u, m; 0 t0, 1 t1, 2 t2, 3 t3, 4 t4, 5 t5, 6 t6, 7 t7; t0 1, t1 2, t2 3, t3 4, t4 5, t5 6, t6 7);
    next
}
