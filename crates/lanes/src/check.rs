//! The judge of plans: derives every bound again from the finished tables, and holds real values to it.
//!
//! [`check`] knows nothing of the planner's values and steps, only of rows and of the theorems in [`crate::bounds`]. It demands what each
//! step requires of its operands, runs the step with the scalar kernel, and compares what came out with what was proved.

use num_bigint::{BigInt, BigUint};
use thiserror::Error;

use crate::bounds::{Bounds, LIMB_MAX, UNIT};
use crate::kernel::scalar;
use crate::modulus_rows::ModulusRows;
use crate::plan::{BATCH_LANES, BatchStep, LinearStep, Plan, SegmentKind};
use crate::rows::Rows;
use crate::shape::{ROW_LIMB_BITS, Shape};

/// A promise that a plan or a row breaks.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Violation {
    /// A step may produce or meet what it does not allow for.
    #[error("step {step}: {requirement} does not hold for {bounds:?}")]
    Unproved {
        /// Number of the step in order of execution.
        step: usize,
        /// What is required.
        requirement: &'static str,
        /// What is known.
        bounds: Bounds,
    },
    /// A step reads a row that nothing has written.
    #[error("step {step} reads row {row} before it is written")]
    Unwritten {
        /// Number of the step in order of execution.
        step: usize,
        /// The row.
        row: u16,
    },
    /// A batch that may be read before the one in front of it is written reads what that writes.
    #[error("step {step} writes row {row}, which the next batch may have read already")]
    ReadEarly {
        /// Number of the step in order of execution.
        step: usize,
        /// The row.
        row: u16,
    },
    /// A stream of batches does not end where it should.
    #[error("step {step} begins a stream of another length than the next batch continues")]
    Stream {
        /// Number of the step in order of execution.
        step: usize,
    },
    /// A value lies outside its proved bounds.
    #[error("step {step}: row {row} holds {value}, which exceeds {bounds:?}")]
    OutOfBounds {
        /// Number of the step in order of execution.
        step: usize,
        /// The row.
        row: u16,
        /// Its value.
        value: BigInt,
        /// What was proved.
        bounds: Bounds,
    },
}

/// Runs a plan with the scalar kernel, proving every step's bounds and comparing every value with them. Slow.
/// Requires what [`Plan::run`] requires.
pub fn check(plan: &Plan, modulus: &ModulusRows, rows: &mut Rows) -> Result<(), Violation> {
    let mut judge = Judge::new(plan, modulus, rows);
    for slot in 0..plan.slot_count {
        judge.define(rows, slot, plan.shape.end_bounds())?;
    }
    plan.set_constants(modulus, rows);
    for (row, bias) in &plan.constants {
        judge.define(rows, *row, Bounds { limb: 0, low: 0, high: 0 }.biased(bias.multiple()))?;
    }
    let (constants, shape) = (&modulus.constants, plan.shape);
    for segment in &plan.segments {
        for at in segment.start as usize..segment.end as usize {
            judge.step += 1;
            match segment.kind {
                SegmentKind::Linear => judge.linear(&plan.linear[at], rows)?,
                SegmentKind::Carry => {
                    let step = &plan.carries[at];
                    let x = judge.read(step.x)?;
                    scalar::carry(shape, rows, step);
                    judge.define(rows, step.out, x.carried())?;
                }
                SegmentKind::Reduce => {
                    let step = &plan.reductions[at];
                    let x = judge.read(step.x)?.biased(step.bias.multiple());
                    judge.require(x.is_reducible(shape), "M ≤ v < R and v ≤ 2¹⁸M", x)?;
                    scalar::reduce(constants, shape, rows, step);
                    judge.define(rows, step.out, Bounds::reduced())?;
                }
                SegmentKind::Batch => {
                    let step = &plan.batches[at];
                    let mut products = [Bounds::reduced(); BATCH_LANES];
                    for (lane, product) in products.iter_mut().enumerate() {
                        let [x, y] = [judge.read(step.x[lane])?, judge.read(step.y[lane])?];
                        judge.require(x.is_operand(shape), "0 ≤ x + kM < R", x)?;
                        judge.require(y.is_operand(shape), "0 ≤ y + kM < R", y)?;
                        *product = x.product(y, shape);
                    }
                    // Companions run when the batch has read its operands and before it writes.
                    let values = scalar::products(&constants.product, shape, rows, step);
                    for companion in &plan.linear[step.companions()] {
                        judge.step += 1;
                        judge.linear(companion, rows)?;
                    }
                    if step.followers > 0 {
                        let behind = &plan.batches[at + 1..segment.end as usize];
                        judge.require_unread(step, behind.first())?;
                    }
                    for lane in 0..usize::from(step.lanes) {
                        rows.set_row(step.out[lane], &values[lane]);
                        judge.define(rows, step.out[lane], products[lane])?;
                    }
                }
            }
        }
    }
    for slot in 0..plan.slot_count {
        let bounds = judge.read(slot)?;
        judge.require(bounds.is_within(shape.end_bounds()), "a slot within the bounds of an end", bounds)?;
    }
    Ok(())
}

/// What is known of each row.
struct Judge {
    shape: Shape,
    working: BigInt,
    bounds: Vec<Option<Bounds>>,
    step: usize,
}

impl Judge {
    fn new(plan: &Plan, modulus: &ModulusRows, rows: &mut Rows) -> Self {
        assert_eq!(plan.shape, modulus.shape(), "plan and modulus have one shape");
        assert_eq!(plan.shape, rows.shape(), "plan and rows have one shape");
        assert_eq!(plan.slot_count, rows.slot_count(), "plan and rows have the same slots");
        rows.reserve(plan.row_count);
        let bytes: Vec<u8> = modulus.constants.product.m.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let working = bytes
            .chunks(8)
            .rev()
            .fold(BigUint::ZERO, |sum, limb| (sum << ROW_LIMB_BITS) + BigUint::from_bytes_le(limb));
        Self { shape: plan.shape, working: working.into(), bounds: vec![None; usize::from(plan.row_count)], step: 0 }
    }

    fn linear(&mut self, step: &LinearStep, rows: &mut Rows) -> Result<(), Violation> {
        let [x, y] = [self.read(step.x)?, self.read(step.y)?];
        let sum = if step.sign < 0 { x - y } else { x + y };
        let most = self.shape.operand_max() * UNIT;
        self.require(sum.limb <= LIMB_MAX && -most <= sum.low && sum.high <= most, "a sum within range", sum)?;
        scalar::linear(rows, step);
        self.define(rows, step.out, sum)
    }

    /// Does `next`, which may be read before `batch` is written, read nothing that it writes?
    fn require_unread(&self, batch: &BatchStep, next: Option<&BatchStep>) -> Result<(), Violation> {
        let next = next.filter(|next| next.followers == batch.followers - 1);
        let next = next.ok_or(Violation::Stream { step: self.step })?;
        match batch.out.into_iter().find(|row| next.reads().any(|read| read == *row)) {
            None => Ok(()),
            Some(row) => Err(Violation::ReadEarly { step: self.step, row }),
        }
    }

    fn read(&self, row: u16) -> Result<Bounds, Violation> {
        self.bounds[usize::from(row)].ok_or(Violation::Unwritten { step: self.step, row })
    }

    fn require(&self, holds: bool, requirement: &'static str, bounds: Bounds) -> Result<(), Violation> {
        if holds { Ok(()) } else { Err(Violation::Unproved { step: self.step, requirement, bounds }) }
    }

    /// A row was written: compares what it holds with what was proved.
    fn define(&mut self, rows: &Rows, row: u16, bounds: Bounds) -> Result<(), Violation> {
        self.bounds[usize::from(row)] = Some(bounds);
        let limbs = rows.row(row);
        let (top, lower) = limbs[..self.shape.limbs()].split_last().expect("rows have limbs");
        let value = limbs.iter().rev().fold(BigInt::ZERO, |sum, limb| (sum << ROW_LIMB_BITS) + limb);
        let scaled = &value * UNIT;
        let fits = lower.iter().all(|limb| limb.unsigned_abs() <= bounds.limb)
            && top.unsigned_abs() < 1 << 54
            && limbs[self.shape.limbs()..].iter().all(|limb| *limb == 0)
            && &self.working * bounds.low <= scaled
            && scaled <= &self.working * bounds.high;
        if fits { Ok(()) } else { Err(Violation::OutOfBounds { step: self.step, row, value, bounds }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Op, OpKind, SlotBlock};
    use crate::plan::Policy;
    use residue_modular::Modulus;

    #[test]
    fn a_batch_that_is_read_too_early_is_found() {
        let modulus = ModulusRows::new(&Modulus::from_be_bytes(&[0x1b; 48]).unwrap()).unwrap();
        let mut block = SlotBlock::new(16);
        for slot in [0..8, 8..16, 0..8, 0..8].into_iter().flatten() {
            block.push(Op { kind: OpKind::Mul, out: slot, x: slot, y: slot }).unwrap();
        }
        let mut plan = Plan::new(&block, modulus.shape(), &Policy::default()).unwrap();
        let rows = Rows::new(modulus.shape(), 16);
        assert_eq!(plan.batches.iter().map(|batch| batch.followers).collect::<Vec<_>>(), [2, 1, 0, 0]);
        assert_eq!(check(&plan, &modulus, &mut rows.clone()), Ok(()));
        plan.batches[2].followers = 1;
        assert!(matches!(check(&plan, &modulus, &mut rows.clone()), Err(Violation::Stream { .. })));
        (0..3).for_each(|at| plan.batches[at].followers = 3 - at as u16);
        assert!(matches!(check(&plan, &modulus, &mut rows.clone()), Err(Violation::ReadEarly { step: 3, .. })));
    }
}
