//! Batches of eight products: rows in, turned and lifted; products; rows out.

use super::companions::Between;
use super::product::{lifted, product};
use crate::kernel::vectors::Lines;
use crate::line::LINE_LIMBS;
use crate::modulus_rows::ProductConstants;
use crate::tables::{BATCH_LANES, BatchStep};

/// outᵢ = xᵢ·yᵢ/R for eight rows, all read before `between` runs, L times on the way, and written after it.
///
/// # Safety
/// Every row that the step names exists at `rows`, N lines each, and nothing else accesses them while this function reads or writes; a row
/// has L limbs in N lines.
#[inline(always)]
pub(crate) unsafe fn batch<V: Lines, const L: usize, const N: usize>(
    v: V,
    step: &BatchStep,
    constants: &ProductConstants<V::Word>,
    rows: V::Rows,
    between: &mut impl Between,
) {
    // SAFETY: the caller vouches for the rows.
    let (x, y) =
        unsafe { (turn_in::<V, L, N>(v, &step.x, constants, rows), turn_in::<V, L, N>(v, &step.y, constants, rows)) };
    let product = product(v, &x, &y, constants, between);
    for line in 0..N {
        let out = transpose(v, &line_of(v, &product, line));
        for lane in 0..BATCH_LANES {
            // SAFETY: the caller vouches for the rows.
            unsafe { v.store(rows, step.out[lane], line, N, out[lane]) };
        }
    }
}

/// Eight rows turned and lifted, as [`lifted`] leaves them.
///
/// # Safety
/// As [`batch`].
#[inline(always)]
pub(crate) unsafe fn turn_in<V: Lines, const L: usize, const N: usize>(
    v: V,
    from: &[u16; BATCH_LANES],
    constants: &ProductConstants<V::Word>,
    rows: V::Rows,
) -> [V::Vector; L] {
    let mut turned = [v.literal(0); L];
    for line in 0..N {
        // SAFETY: the caller vouches for the rows.
        let limbs = transpose(v, &unsafe { load_lines(v, from, rows, line, N) });
        for i in 0..LINE_LIMBS.min(L - line * LINE_LIMBS) {
            turned[line * LINE_LIMBS + i] = limbs[i];
        }
    }
    lifted(v, &turned, constants)
}

/// One line each of eight rows.
///
/// # Safety
/// As [`batch`].
#[inline(always)]
pub(super) unsafe fn load_lines<V: Lines>(
    v: V,
    from: &[u16; BATCH_LANES],
    rows: V::Rows,
    line: usize,
    lines: usize,
) -> [V::Vector; LINE_LIMBS] {
    let mut out = [v.literal(0); LINE_LIMBS];
    for lane in 0..BATCH_LANES {
        // SAFETY: the caller vouches for the rows.
        out[lane] = unsafe { v.load(rows, from[lane], line, lines) };
    }
    out
}

/// The limbs of a line, zeros beyond the last.
#[inline(always)]
pub(crate) fn line_of<V: Lines, const L: usize>(v: V, turned: &[V::Vector; L], line: usize) -> [V::Vector; LINE_LIMBS] {
    let mut out = [v.literal(0); LINE_LIMBS];
    for i in 0..LINE_LIMBS.min(L - line * LINE_LIMBS) {
        out[i] = turned[line * LINE_LIMBS + i];
    }
    out
}

/// Element j of vector i ↦ element i of vector j.
#[inline(always)]
pub(crate) fn transpose<V: Lines>(v: V, rows: &[V::Vector; LINE_LIMBS]) -> [V::Vector; LINE_LIMBS] {
    eights(v, &fours(v, &pairs(v, rows)))
}

/// The first of three steps of [`transpose`]: pairs of rows, columns 0 2 4 6 of each of the four, then columns 1 3 5 7.
#[inline(always)]
pub(super) fn pairs<V: Lines>(v: V, rows: &[V::Vector; LINE_LIMBS]) -> [V::Vector; LINE_LIMBS] {
    let [a, b, c, d, e, f, g, h] = *rows;
    [
        v.first_of_pairs(a, b),
        v.first_of_pairs(c, d),
        v.first_of_pairs(e, f),
        v.first_of_pairs(g, h),
        v.second_of_pairs(a, b),
        v.second_of_pairs(c, d),
        v.second_of_pairs(e, f),
        v.second_of_pairs(g, h),
    ]
}

/// The second: of the even columns, columns 0 4 and 2 6 of rows 0 to 3, and of rows 4 to 7; then of the odd ones.
#[inline(always)]
pub(super) fn fours<V: Lines>(v: V, pairs: &[V::Vector; LINE_LIMBS]) -> [V::Vector; LINE_LIMBS] {
    let [a, b, c, d, e, f, g, h] = *pairs;
    [
        v.even_pairs(a, b),
        v.odd_pairs(a, b),
        v.even_pairs(c, d),
        v.odd_pairs(c, d),
        v.even_pairs(e, f),
        v.odd_pairs(e, f),
        v.even_pairs(g, h),
        v.odd_pairs(g, h),
    ]
}

/// The third: columns of eight rows.
#[inline(always)]
pub(super) fn eights<V: Lines>(v: V, fours: &[V::Vector; LINE_LIMBS]) -> [V::Vector; LINE_LIMBS] {
    let [a, b, c, d, e, f, g, h] = *fours;
    [
        v.even_pairs(a, c),
        v.even_pairs(e, g),
        v.even_pairs(b, d),
        v.even_pairs(f, h),
        v.odd_pairs(a, c),
        v.odd_pairs(e, g),
        v.odd_pairs(b, d),
        v.odd_pairs(f, h),
    ]
}
