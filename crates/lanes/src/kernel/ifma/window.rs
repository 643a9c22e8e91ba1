//! The two passes of [`crate::kernel::steps::product::next_window_of_line`] in assembly: with much other work
//! alongside, compilers spill operands to the stack and take a sixth longer.
//!
//! Each text is one pass over the accumulators, in order, and then another, so that none is needed before it is ready.
//! The tests read the texts too: proofs of a window are proofs of these instructions.

use core::arch::asm;
use core::arch::x86_64::*;

use super::Eights;
use crate::kernel::steps::companions::Companions;
use crate::kernel::steps::product::next_window_of_line;
use crate::kernel::steps::stream::{Operands, last_windows};
use crate::line::{LINE_LIMBS, Line, ROW_LIMBS};
use crate::modulus_rows::ProductConstants;
use crate::tables::BatchStep;

/// tⱼ += high(xⱼ·y), then tⱼ += low(xⱼ·z): lines of assembly.
macro_rules! products_text {
    ($($tj:ident $xj:ident),+) => {
        concat!(
            $("vpmadd52huq {", stringify!($tj), "}, {", stringify!($xj), "}, {y}\n",)+
            $("vpmadd52luq {", stringify!($tj), "}, {", stringify!($xj), "}, {z}\n",)+
        )
    };
}

/// tⱼ += high(u·Mⱼ), then tⱼ += low(u·Mⱼ₊₁), of which the last is not needed: lines of assembly.
macro_rules! multiple_text {
    ($($tj:ident $j:literal),+; $($below:ident $above:literal),+) => {
        concat!(
            $("vpmadd52huq {", stringify!($tj), "}, {u}, qword ptr [{m} + 8*", $j, "]{{1to8}}\n",)+
            $("vpmadd52luq {", stringify!($below), "}, {u}, qword ptr [{m} + 8*", $above, "]{{1to8}}\n",)+
        )
    };
}

/// The text of [`add_products`].
macro_rules! products {
    () => {
        products_text!(t0 x0, t1 x1, t2 x2, t3 x3, t4 x4, t5 x5, t6 x6, t7 x7)
    };
}

/// The text of [`add_multiple`].
macro_rules! multiple {
    () => {
        multiple_text!(t0 0, t1 1, t2 2, t3 3, t4 4, t5 5, t6 6, t7 7; t0 1, t1 2, t2 3, t3 4, t4 5, t5 6, t6 7)
    };
}

/// For the proof.
#[cfg(test)]
pub(crate) const PRODUCTS: &str = products!();
/// For the proof.
#[cfg(test)]
pub(crate) const MULTIPLE: &str = multiple!();

/// [`next_window_of_line`] by itself.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn next(
    v: Eights,
    t: &[__m512i; LINE_LIMBS],
    x: &[__m512i; LINE_LIMBS],
    y: __m512i,
    y_next: __m512i,
    constants: &ProductConstants,
) -> [__m512i; LINE_LIMBS] {
    next_window_of_line(v, t, x, y, y_next, constants)
}

/// [`last_windows`] by itself.
///
/// # Safety
/// As there.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
#[expect(clippy::too_many_arguments, reason = "references in a structure may overlap, for all that compilers know")]
pub(super) unsafe fn last<const NEXT: bool>(
    v: Eights,
    t: [__m512i; LINE_LIMBS],
    now: &Operands<__m512i>,
    companions: Companions<'_, Eights, 1>,
    next: &BatchStep,
    then: *mut Operands<__m512i>,
    constants: &ProductConstants,
    rows: *mut Line,
) -> [__m512i; LINE_LIMBS] {
    // SAFETY: the caller vouches for what is asked there.
    unsafe { last_windows::<_, NEXT>(v, t, now, companions, next, then, constants, rows) }
}

/// The same vector, computed before the following code.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn pinned(mut x: __m512i) -> __m512i {
    // SAFETY: the function has the features; the text is empty.
    unsafe { asm!("/* {x} */", x = inout(zmm_reg) x, options(nomem, nostack, preserves_flags)) };
    x
}

/// As [`crate::kernel::vectors::Lines::add_products`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn add_products(t: &mut [__m512i; LINE_LIMBS], x: &[__m512i; LINE_LIMBS], y: __m512i, z: __m512i) {
    // SAFETY: the function has the features; nothing but registers is read or written.
    unsafe {
        asm!(
            products!(),
            t0 = inout(zmm_reg) t[0],
            t1 = inout(zmm_reg) t[1],
            t2 = inout(zmm_reg) t[2],
            t3 = inout(zmm_reg) t[3],
            t4 = inout(zmm_reg) t[4],
            t5 = inout(zmm_reg) t[5],
            t6 = inout(zmm_reg) t[6],
            t7 = inout(zmm_reg) t[7],
            x0 = in(zmm_reg) x[0],
            x1 = in(zmm_reg) x[1],
            x2 = in(zmm_reg) x[2],
            x3 = in(zmm_reg) x[3],
            x4 = in(zmm_reg) x[4],
            x5 = in(zmm_reg) x[5],
            x6 = in(zmm_reg) x[6],
            x7 = in(zmm_reg) x[7],
            y = in(zmm_reg) y,
            z = in(zmm_reg) z,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
}

/// As [`crate::kernel::vectors::Lines::add_multiple`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
pub(super) fn add_multiple(t: &mut [__m512i; LINE_LIMBS], u: __m512i, m: &[u64; ROW_LIMBS]) {
    // SAFETY: the function has the features; the array has a limb for every index.
    unsafe {
        asm!(
            multiple!(),
            t0 = inout(zmm_reg) t[0],
            t1 = inout(zmm_reg) t[1],
            t2 = inout(zmm_reg) t[2],
            t3 = inout(zmm_reg) t[3],
            t4 = inout(zmm_reg) t[4],
            t5 = inout(zmm_reg) t[5],
            t6 = inout(zmm_reg) t[6],
            t7 = inout(zmm_reg) t[7],
            u = in(zmm_reg) u,
            m = in(reg) m.as_ptr(),
            options(pure, readonly, nostack, preserves_flags)
        );
    }
}
