//! The IFMA kernel: linear steps on whole rows, products on eight rows at a time, turned so that a vector holds one limb of each.
//!
//! A batch loads sixteen rows, transposes and carries them, multiplies in radix 2⁵² and transposes back; the tables say which rows.
//! `super::scalar` defines every step; the tests hold the two equal bit for bit.

mod product;
mod quads;
mod stream;
mod transfer;
mod vector;
mod window;

use core::arch::x86_64::*;

use super::Kernel;
use crate::modulus_rows::{Constants, ModulusRows, ProductConstants};
use crate::plan::{BatchStep, CarryStep, LinearStep, Plan, QUAD_LANES, ReduceStep, SegmentKind};
use crate::rows::{LINE_LIMBS, Line, Rows};
use crate::shape::{LIMB_MASK, ROW_LIMB_BITS};
use product::{product, turn_in};
pub(super) use transfer::{enter, leave};
use vector::{Vector, broadcast, load, store, transpose, vector};

/// Runs a plan on rows that exist. Panics unless this machine has IFMA.
pub(super) fn run(kernel: Kernel, plan: &Plan, modulus: &ModulusRows, rows: &mut Rows) {
    let lines = rows.lines_mut();
    assert!(lines.len() >= usize::from(plan.row_count) * plan.shape.lines(), "the rows reach to the plan's row count");
    assert!(Kernel::Ifma.is_available(), "the machine has AVX-512 IFMA");
    let (constants, rows) = (&modulus.constants, lines.as_mut_ptr());
    // SAFETY: the machine has the features; `rows` reaches to `row_count` rows of the shape's lines, and `Plan::new` checked that
    // tables name no others; plan and modulus have one shape, so multiples exist for every bias.
    unsafe {
        match (plan.shape.limbs(), kernel == Kernel::IfmaQuads) {
            (6, false) => run_tables::<6, 1, false>(plan, constants, rows),
            (8, false) => run_tables::<8, 1, false>(plan, constants, rows),
            (15, false) => run_tables::<15, 2, false>(plan, constants, rows),
            (6, true) => run_tables::<6, 1, true>(plan, constants, rows),
            (8, true) => run_tables::<8, 1, true>(plan, constants, rows),
            (15, true) => run_tables::<15, 2, true>(plan, constants, rows),
            (limbs, _) => unreachable!("no shape has {limbs} limbs"),
        }
    }
}

/// Runs batches without companions, for tests. Panics unless this machine has IFMA and the rows exist.
#[cfg(test)]
pub(super) fn run_batches(kernel: Kernel, constants: &ProductConstants, rows: &mut Rows, steps: &[BatchStep]) {
    let shape = rows.shape();
    let lines = rows.lines_mut();
    let named = steps.iter().flat_map(|step| [step.out, step.x, step.y].into_iter().flatten());
    let highest = named.map(usize::from).max().expect("a batch has lanes");
    assert!((highest + 1) * shape.lines() <= lines.len(), "the rows of the batches exist");
    assert!(Kernel::Ifma.is_available(), "the machine has AVX-512 IFMA");
    let rows = lines.as_mut_ptr();
    // SAFETY: the machine has the features, and the rows that the steps name exist.
    unsafe {
        match (shape.limbs(), kernel == Kernel::IfmaQuads) {
            (6, false) => batches::<6, 1, false>(steps, &[], constants, rows),
            (6, true) => batches::<6, 1, true>(steps, &[], constants, rows),
            (8, false) => batches::<8, 1, false>(steps, &[], constants, rows),
            (8, true) => batches::<8, 1, true>(steps, &[], constants, rows),
            (15, false) => batches::<15, 2, false>(steps, &[], constants, rows),
            (15, true) => batches::<15, 2, true>(steps, &[], constants, rows),
            (limbs, _) => unreachable!("no shape has {limbs} limbs"),
        }
    }
}

/// The tables of a plan, segment by segment. L limbs in N lines a row, products in groups of four or in eights.
///
/// # Safety
/// The machine has the features. Every row that the plan's tables name exists at `rows`, N lines each, and nothing else accesses them;
/// the constants are of the plan's shape, which has L limbs in N lines.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn run_tables<const L: usize, const N: usize, const QUADS: bool>(
    plan: &Plan,
    constants: &Constants,
    rows: *mut Line,
) {
    for segment in &plan.segments {
        let entries = segment.start as usize..segment.end as usize;
        // SAFETY: the caller vouches for every row of the tables and for the constants.
        unsafe {
            match segment.kind {
                SegmentKind::Linear => plan.linear[entries].iter().for_each(|step| linear::<N>(step, rows)),
                SegmentKind::Carry => plan.carries[entries].iter().for_each(|step| carry::<L, N>(step, rows)),
                SegmentKind::Reduce => reduce_all::<L, N>(&plan.reductions[entries], constants, rows),
                SegmentKind::Batch => {
                    batches::<L, N, QUADS>(&plan.batches[entries], &plan.linear, &constants.product, rows);
                }
            }
        }
    }
}

/// out = x ± y. Which sign is a mask, not a branch: signs follow no pattern that a CPU could predict. −y = (y ^ −1) + 1.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn linear<const N: usize>(step: &LinearStep, rows: *mut Line) {
    let sign = _mm512_set1_epi64(i64::from(step.sign));
    for line in 0..N {
        // SAFETY: the caller vouches for the rows.
        unsafe {
            let x = _mm512_sub_epi64(load(rows, step.x, line, N), sign);
            let y = _mm512_xor_si512(load(rows, step.y, line, N), sign);
            store(rows, step.out, line, N, _mm512_add_epi64(x, y));
        }
    }
}

/// out = x with limbs carried once.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn carry<const L: usize, const N: usize>(step: &CarryStep, rows: *mut Line) {
    // SAFETY: the caller vouches for the rows.
    unsafe {
        let x = std::array::from_fn(|line| load(rows, step.x, line, N));
        let out = carried::<L, N>(&x);
        for (line, out) in out.into_iter().enumerate() {
            store(rows, step.out, line, N, out);
        }
    }
}

/// out = x + k·M − (q − 1)·M, step by step. A function of its own, without closures, which would not be compiled for its features.
///
/// # Safety
/// As [`run_tables`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn reduce_all<const L: usize, const N: usize>(steps: &[ReduceStep], constants: &Constants, rows: *mut Line) {
    let top_limb = _mm512_set1_epi64(((L - 1) % LINE_LIMBS) as i64); // At most 7.
    let top_shift = _mm512_set1_epi64(i64::from(constants.top_shift));
    for step in steps {
        let multiple = usize::from(step.bias.0) * N;
        let mut x = [_mm512_setzero_si512(); N];
        for line in 0..N {
            // SAFETY: the caller vouches for the rows and the multiples.
            x[line] = unsafe {
                let bias = _mm512_load_si512(constants.multiples.as_ptr().add(multiple + line).cast());
                _mm512_add_epi64(load(rows, step.x, line, N), bias)
            };
        }
        let x = carried::<L, N>(&x);
        let top = _mm512_permutexvar_epi64(top_limb, x[(L - 1) / LINE_LIMBS]);
        let q =
            _mm512_madd52hi_epu64(_mm512_setzero_si512(), _mm512_srlv_epi64(top, top_shift), broadcast(constants.mu));
        for line in 0..N {
            let (negated, m) = (vector(&constants.negated_lines[line]), vector(&constants.m_lines[line]));
            let shifted = vector(&constants.shifted_lines[line]);
            let multiple = _mm512_madd52hi_epu64(_mm512_madd52lo_epu64(negated, q, m), q, shifted);
            // SAFETY: the caller vouches for the rows.
            unsafe { store(rows, step.out, line, N, _mm512_sub_epi64(x[line], multiple)) };
        }
    }
}

/// Batches, with their companions out of the table of linear steps: those of eight limbs in streams, as far as they can.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn batches<const L: usize, const N: usize, const QUADS: bool>(
    mut batches: &[BatchStep],
    table: &[LinearStep],
    constants: &ProductConstants,
    rows: *mut Line,
) {
    while let Some(first) = batches.first() {
        // Where limbs are fewer, turning takes longer than multiplying and hides nowhere.
        let followers = if L == LINE_LIMBS { usize::from(first.followers) } else { 0 };
        let is_alone = QUADS && followers == 0;
        let (some, rest) = batches.split_at(1 + followers);
        batches = rest;
        // SAFETY: the caller vouches for the rows.
        unsafe {
            match L {
                LINE_LIMBS if !is_alone => stream::run(some, table, constants, rows),
                _ => batch::<L, N, QUADS>(first, &table[first.companions()], constants, rows),
            }
        }
    }
}

/// outᵢ = xᵢ·yᵢ/R for eight rows, all read before the companions run, and written after them. Companions load and store while
/// the products multiply: each keeps busy what the other leaves idle.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn batch<const L: usize, const N: usize, const QUADS: bool>(
    step: &BatchStep,
    companions: &[LinearStep],
    constants: &ProductConstants,
    rows: *mut Line,
) {
    let mut portions = companions.chunks(companions.len().div_ceil(L).max(1));
    let between = || {
        for step in portions.next().unwrap_or_default() {
            // SAFETY: the caller vouches for the rows.
            unsafe { linear::<N>(step, rows) };
        }
    };
    if QUADS {
        // SAFETY: the caller vouches for the rows.
        unsafe {
            match usize::from(step.lanes) {
                0..=QUAD_LANES => quads::batch::<L, N, 1>(step, constants, rows, between),
                _ => quads::batch::<L, N, 2>(step, constants, rows, between),
            }
        }
        return;
    }
    // SAFETY: the caller vouches for the rows.
    let [x, y] = unsafe { [turn_in::<L, N>(&step.x, constants, rows), turn_in::<L, N>(&step.y, constants, rows)] };
    let product = product::<L>(&x, &y, constants, between);
    for line in 0..N {
        let turned = std::array::from_fn(|i| product[line * LINE_LIMBS + i]);
        for (out, row) in step.out.iter().zip(transpose(turned)) {
            // SAFETY: the caller vouches for the rows.
            unsafe { store(rows, *out, line, N, row) };
        }
    }
}

/// Every limb but the top one of L cut to 52 bits, what was above added to the next, all at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
fn carried<const L: usize, const N: usize>(x: &[Vector; N]) -> [Vector; N] {
    let zero = _mm512_setzero_si512();
    let mask = broadcast(LIMB_MASK);
    let mut carry_below = zero;
    let mut out = *x;
    for line in 0..N {
        let below_top: __mmask8 = if (line + 1) * LINE_LIMBS < L { 0xff } else { (1 << ((L - 1) % LINE_LIMBS)) - 1 };
        let carry = _mm512_maskz_srai_epi64::<{ ROW_LIMB_BITS as u32 }>(below_top, x[line]);
        let kept = _mm512_mask_and_epi64(x[line], below_top, x[line], mask);
        // One limb up: the lowest comes from the line below.
        out[line] = _mm512_add_epi64(kept, _mm512_alignr_epi64::<7>(carry, carry_below));
        carry_below = carry;
    }
    out
}
