//! The IFMA kernel: [`super::steps`] by the instructions of AVX-512, and the loop over a plan's tables.
//!
//! The functions here are compiled for the instructions; those of the steps are inlined into them.

mod eights;
mod fours;
mod transfer;
pub(crate) mod window;

use super::Kernel;
use super::steps::companions::Companions;
use super::steps::{self, quads, stream};
use crate::line::{LINE_LIMBS, Line};
use crate::modulus_rows::{Constants, ModulusRows, ProductConstants};
use crate::rows::Rows;
use crate::tables::{BatchStep, LinearStep, Plan, QUAD_LANES, ReduceStep, SegmentKind};
pub(crate) use eights::Eights;
pub(crate) use fours::Fours;
pub(super) use transfer::{enter, leave};

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
            (10, false) => run_tables::<10, 2, false>(plan, constants, rows),
            (15, false) => run_tables::<15, 2, false>(plan, constants, rows),
            (6, true) => run_tables::<6, 1, true>(plan, constants, rows),
            (8, true) => run_tables::<8, 1, true>(plan, constants, rows),
            (10, true) => run_tables::<10, 2, true>(plan, constants, rows),
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
            (10, false) => batches::<10, 2, false>(steps, &[], constants, rows),
            (10, true) => batches::<10, 2, true>(steps, &[], constants, rows),
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
        // SAFETY: the machine has the features; the caller vouches for every row of the tables and for the constants.
        unsafe {
            let v = Eights::new();
            match segment.kind {
                SegmentKind::Linear => {
                    for step in &plan.linear[entries] {
                        steps::linear::<_, N>(v, step, rows);
                    }
                }
                SegmentKind::Carry => {
                    for step in &plan.carries[entries] {
                        steps::carry::<_, L, N>(v, step, rows);
                    }
                }
                SegmentKind::Reduce => reduce_all::<L, N>(&plan.reductions[entries], constants, rows),
                SegmentKind::Batch => {
                    batches::<L, N, QUADS>(&plan.batches[entries], &plan.linear, &constants.product, rows);
                }
            }
        }
    }
}

/// Reductions, step by step.
///
/// # Safety
/// As [`run_tables`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn reduce_all<const L: usize, const N: usize>(steps: &[ReduceStep], constants: &Constants, rows: *mut Line) {
    for step in steps {
        // SAFETY: the machine has the features; the caller vouches for the rows and the constants.
        unsafe { steps::reduce::<_, L, N>(Eights::new(), step, constants, rows) };
    }
}

/// Batches, with their companions out of the table of linear steps: those of eight limbs in streams, as far as they can. A function of its
/// own, so that the loop over segments keeps its registers.
///
/// # Safety
/// As [`run_tables`].
#[inline(never)]
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
        // SAFETY: the machine has the features; the caller vouches for the rows.
        unsafe {
            match L {
                LINE_LIMBS if !is_alone => stream(some, table, constants, rows),
                _ => batch::<L, N, QUADS>(first, &table[first.companions()], constants, rows),
            }
        }
    }
}

/// Batches that follow each other in a stream. A function of its own, for both loops over batches.
///
/// # Safety
/// As [`run_tables`]; the shape has eight limbs.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
unsafe fn stream(batches: &[BatchStep], table: &[LinearStep], constants: &ProductConstants, rows: *mut Line) {
    // SAFETY: the machine has the features; the caller vouches for the rows and the constants.
    unsafe { stream::run(Eights::new(), batches, table, constants, rows) };
}

/// One batch, with its companions.
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
    // SAFETY: the machine has the features; the caller vouches for the rows.
    unsafe {
        let (eights, fours) = (Eights::new(), Fours::new());
        let mut companions = Companions::<_, N>::new(eights, companions, L, rows);
        match (QUADS, usize::from(step.lanes)) {
            (true, 0..=QUAD_LANES) => quads::batch::<_, L, N, 1>(fours, step, constants, rows, &mut companions),
            // Two groups of rows of two lines are more than there are registers.
            (true, _) if N == 1 => quads::batch::<_, L, N, 2>(fours, step, constants, rows, &mut companions),
            _ => steps::batch::batch::<_, L, N>(eights, step, constants, rows, &mut companions),
        }
    }
}
