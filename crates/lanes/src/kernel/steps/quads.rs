//! Products four at a time, in vectors of half a line, one group or two groups together.
//!
//! On CPUs that execute 512-bit vectors in halves, two groups together multiply as fast as one vector of eight, are
//! turned faster, and hide each other's latency; and a batch of up to four products takes half the time.

use super::companions::Between;
use super::product::{lifted, products};
use crate::kernel::vectors::Halves;
use crate::line::LINE_LIMBS;
use crate::modulus_rows::ProductConstants;
use crate::tables::{BatchStep, QUAD_LANES};

/// Halves of a line.
const HALVES: usize = LINE_LIMBS / QUAD_LANES;

/// outᵢ = xᵢ·yᵢ/R for the first K groups of four rows, all read before `between` runs, L times on the way, and written after it.
///
/// # Safety
/// As [`super::batch::batch`].
#[inline(always)]
pub(crate) unsafe fn batch<V: Halves, const L: usize, const N: usize, const K: usize>(
    v: V,
    step: &BatchStep,
    constants: &ProductConstants<V::Word>,
    rows: V::Rows,
    between: &mut impl Between,
) {
    let mut x = [[v.literal(0); L]; K];
    let mut y = x;
    for k in 0..K {
        let (x_rows, y_rows) = (&step.x.as_chunks().0[k], &step.y.as_chunks().0[k]);
        // SAFETY: the caller vouches for the rows.
        unsafe {
            x[k] = turn_in::<V, L, N>(v, x_rows, constants, rows);
            y[k] = turn_in::<V, L, N>(v, y_rows, constants, rows);
        }
    }
    let product = products(v, &x, &y, constants, between);
    for k in 0..K {
        let out: &[u16; QUAD_LANES] = &step.out.as_chunks().0[k];
        for line in 0..N {
            // Whole lines: a load of 512 bits would wait for two stores of 256 to reach the cache.
            let low = turned_half(v, &product[k], HALVES * line);
            let high = turned_half(v, &product[k], HALVES * line + 1);
            for lane in 0..QUAD_LANES {
                // SAFETY: the caller vouches for the rows.
                unsafe { v.store(rows, out[lane], line, N, [low[lane], high[lane]]) };
            }
        }
    }
}

/// Half a line of four rows, turned back.
#[inline(always)]
fn turned_half<V: Halves, const L: usize>(v: V, product: &[V::Vector; L], half: usize) -> [V::Vector; QUAD_LANES] {
    let mut turned = [v.literal(0); QUAD_LANES];
    for i in 0..QUAD_LANES.min(L.saturating_sub(half * QUAD_LANES)) {
        turned[i] = product[half * QUAD_LANES + i];
    }
    transpose(v, turned)
}

/// Four rows turned and lifted, limbs carried one after the other.
///
/// # Safety
/// As [`batch`].
#[inline(always)]
unsafe fn turn_in<V: Halves, const L: usize, const N: usize>(
    v: V,
    from: &[u16; QUAD_LANES],
    constants: &ProductConstants<V::Word>,
    rows: V::Rows,
) -> [V::Vector; L] {
    let mut turned = [v.literal(0); L];
    for half in 0..HALVES * N {
        let mut halves = [v.literal(0); QUAD_LANES];
        for lane in 0..QUAD_LANES {
            // SAFETY: the caller vouches for the rows.
            halves[lane] = unsafe { v.load(rows, from[lane], half, N) };
        }
        let halves = transpose(v, halves);
        for i in 0..QUAD_LANES.min(L.saturating_sub(half * QUAD_LANES)) {
            turned[half * QUAD_LANES + i] = halves[i];
        }
    }
    lifted(v, &turned, constants)
}

/// Element j of vector i ↦ element i of vector j.
#[inline(always)]
fn transpose<V: Halves>(v: V, rows: [V::Vector; QUAD_LANES]) -> [V::Vector; QUAD_LANES] {
    let [a, b, c, d] = rows;
    let (even_ab, odd_ab) = (v.first_of_pairs(a, b), v.second_of_pairs(a, b)); // Columns 0, 2; and 1, 3.
    let (even_cd, odd_cd) = (v.first_of_pairs(c, d), v.second_of_pairs(c, d));
    [
        v.first_pairs(even_ab, even_cd),
        v.first_pairs(odd_ab, odd_cd),
        v.second_pairs(even_ab, even_cd),
        v.second_pairs(odd_ab, odd_cd),
    ]
}
