//! The judge of plans: derives every bound again from the finished tables, and holds real values to it.
//!
//! [`check`] knows nothing of the planner's values and steps, only of rows and of the theorems in [`crate::bounds`]. It
//! checks the operands of each step against its requirements, runs the step with the scalar kernel, and compares the
//! result with the proved bounds.

use alloc::vec;
use alloc::vec::Vec;

use num_bigint::{BigInt, BigUint};
use thiserror::Error;

use crate::bounds::{Bounds, LIMB_MAX, UNIT};
use crate::kernel::scalar;
use crate::line::ROW_LIMB_BITS;
use crate::modulus_rows::ModulusRows;
use crate::rows::Rows;
use crate::shape::Shape;
use crate::tables::{BATCH_LANES, BatchStep, LinearStep, Plan, SegmentKind};

/// A promise that a plan or a row breaks.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Violation {
    /// A step may produce or read values outside its bounds.
    #[error("step {step}: {requirement} does not hold for {bounds:?}")]
    Unproved {
        /// Number of the step in order of execution.
        step: usize,
        /// Required bounds.
        requirement: &'static str,
        /// Known bounds.
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
    /// A batch that may be read before the one in front of it is written reads a result of it.
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
        /// Proved bounds.
        bounds: Bounds,
    },
}

/// Runs a plan with the scalar kernel, proving every step's bounds and comparing every value with them. Slow. Same
/// requirements as [`Plan::run`].
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
                        let after = &plan.batches[at + 1..segment.end as usize];
                        judge.require_unread(step, after.first())?;
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

/// Proved bounds of each row.
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

    /// A row was written: compares its value with the proved bounds.
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
    use crate::block::{FieldOp, Op, SlotBlock};
    use crate::bounds::Bias;
    use crate::line::LIMB_MASK;
    use crate::line::ROW_LIMBS;
    use crate::plan::Policy;
    use crate::tables::{ReduceStep, Segment};
    use residue_modular::Modulus;

    #[test]
    fn a_batch_that_is_read_too_early_is_found() {
        let modulus = ModulusRows::new(&Modulus::from_be_bytes(&[0x1b; 48]).unwrap()).unwrap();
        let mut block = SlotBlock::new(16);
        for slot in [0..8, 8..16, 0..8, 0..8].into_iter().flatten() {
            block.push(Op { kind: FieldOp::Mul, out: slot, x: slot, y: slot }).unwrap();
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

    /// A plan without steps on `slot_count` slots, for a judge of single rows.
    fn idle(bits: u32, slot_count: u16) -> (ModulusRows, Plan, Rows) {
        let m = (BigUint::from(1u8) << bits) - 1u8;
        let modulus = ModulusRows::new(&Modulus::from_be_bytes(&m.to_bytes_be()).unwrap()).unwrap();
        let plan = Plan::new(&SlotBlock::new(slot_count), modulus.shape(), &Policy::default()).unwrap();
        let rows = Rows::new(modulus.shape(), slot_count);
        (modulus, plan, rows)
    }

    /// The row of a value: limbs carried, the top one with the value's sign.
    fn set(rows: &mut Rows, row: u16, value: &BigInt) {
        let limbs: usize = rows.shape().limbs();
        let mask = BigInt::from(LIMB_MASK);
        let mut row_limbs = [0; ROW_LIMBS];
        for (i, limb) in row_limbs[..limbs].iter_mut().enumerate() {
            let above = value >> (i * ROW_LIMB_BITS);
            *limb = i64::try_from(if i + 1 < limbs { above & &mask } else { above }).unwrap();
        }
        rows.set_row(row, &row_limbs);
    }

    #[test]
    fn a_row_keeps_each_of_its_bounds() {
        for bits in [254, 381, 768] {
            let (modulus, plan, mut rows) = idle(bits, 1);
            let limbs = plan.shape.limbs();
            let mut judge = Judge::new(&plan, &modulus, &mut rows);
            let wide = Bounds { limb: 1 << 52, low: -1 << 62, high: 1 << 62 };
            let mut fits = |limbs_of_row: [i64; ROW_LIMBS], bounds: Bounds| {
                rows.set_row(0, &limbs_of_row);
                let verdict = judge.define(&rows, 0, bounds);
                assert_eq!(judge.read(0), Ok(bounds), "what was proved is known");
                match verdict {
                    Ok(()) => true,
                    Err(Violation::OutOfBounds { step: 0, row: 0, .. }) => false,
                    Err(other) => panic!("{other}"),
                }
            };
            let only = |i: usize, limb: i64| {
                let mut row = [0; ROW_LIMBS];
                row[i] = limb;
                row
            };
            for sign in [1, -1] {
                for i in 0..limbs - 1 {
                    assert!(fits(only(i, sign * (1 << 52)), wide), "limb {i} of {bits} bits");
                    assert!(!fits(only(i, sign * ((1 << 52) + 1)), wide), "limb {i} of {bits} bits");
                }
                assert!(fits(only(limbs - 1, sign * ((1 << 54) - 1)), Bounds { limb: 0, ..wide }));
                assert!(!fits(only(limbs - 1, sign << 54), wide));
            }
            if limbs < plan.shape.lines() * 8 {
                assert!(!fits(only(limbs, 1), wide), "padding");
            }
            // Both ends of the range, to the last unit: with a low word of M, 2¹⁶ of it are whole.
            for (low, high) in [(-3 * UNIT, 5 * UNIT), (2 * UNIT, 7 * UNIT)] {
                let bounds = Bounds { limb: 1 << 52, low, high };
                let ends = [low, high].map(|end| &judge.working * end / UNIT);
                for (value, is_inside) in
                    [(&ends[0] - 1, false), (ends[0].clone(), true), (ends[1].clone(), true), (&ends[1] + 1, false)]
                {
                    set(&mut rows, 0, &value);
                    assert_eq!(judge.define(&rows, 0, bounds).is_ok(), is_inside, "{value} in {bounds:?}");
                }
            }
        }
    }

    #[test]
    fn a_sum_keeps_each_of_its_limits() {
        let (modulus, plan, mut rows) = idle(768, 3);
        let mut judge = Judge::new(&plan, &modulus, &mut rows);
        let most = plan.shape.operand_max() * UNIT;
        let mut sum = |is_sub: bool, x: Bounds, y: Bounds| {
            judge.bounds = vec![Some(x), Some(y), None];
            judge.linear(&LinearStep::new(2, 0, 1, is_sub), &mut rows).map(|()| judge.bounds[2].unwrap())
        };
        let zero = Bounds { limb: 0, low: 0, high: 0 };
        let limit = Bounds { limb: LIMB_MAX, low: -most, high: most };
        assert_eq!(sum(false, limit, zero), Ok(limit));
        assert_eq!(sum(true, limit, zero), Ok(limit));
        for beyond in [Bounds { limb: 1, ..zero }, Bounds { low: -1, ..zero }, Bounds { high: 1, ..zero }] {
            assert!(matches!(sum(false, limit, beyond), Err(Violation::Unproved { .. })), "{beyond:?}");
            assert!(matches!(sum(true, limit, beyond), Err(Violation::Unproved { .. })), "{beyond:?}");
        }
        let (x, y) = (Bounds { limb: 5, low: -1, high: 2 }, Bounds { limb: 6, low: -3, high: 5 });
        assert_eq!(sum(false, x, y), Ok(Bounds { limb: 11, low: -4, high: 7 }));
        assert_eq!(sum(true, x, y), Ok(Bounds { limb: 11, low: -6, high: 5 }));
    }

    #[test]
    fn what_a_step_requires_is_demanded() {
        let (modulus, idle, mut rows) = idle(308, 9);
        let check_of = |change: &dyn Fn(&mut Plan), rows: &Rows| {
            let mut plan = idle.clone();
            change(&mut plan);
            check(&plan, &modulus, &mut rows.clone())
        };
        let segment = |kind| Segment { kind, start: 0, end: 1 };
        let linear = |plan: &mut Plan, step: LinearStep| {
            plan.linear.push(step);
            plan.segments.push(segment(SegmentKind::Linear));
        };
        assert_eq!(check_of(&|_| (), &rows), Ok(()));
        // An end of this shape reaches from −1 to 4: doubled it is no end, and a difference of two is no operand.
        assert!(matches!(
            check_of(&|plan| linear(plan, LinearStep::new(0, 0, 0, false)), &rows),
            Err(Violation::Unproved { step: 1, requirement: "a slot within the bounds of an end", .. })
        ));
        for (x, y, required) in [(0, 1, "0 ≤ x + kM < R"), (1, 0, "0 ≤ y + kM < R")] {
            let product = |plan: &mut Plan| {
                linear(plan, LinearStep::new(0, 0, 1, true));
                let (out, x, y) = ([8; 8], [x; 8], [y; 8]);
                plan.batches.push(BatchStep { out, x, y, lanes: 1, followers: 0, companions: 0, companions_start: 0 });
                plan.segments.push(segment(SegmentKind::Batch));
            };
            let found = check_of(&product, &rows);
            assert!(matches!(found, Err(Violation::Unproved { step: 2, requirement, .. }) if requirement == required));
        }
        for (bias, is_enough) in [(0, false), (1, false), (2, true)] {
            let reduction = |plan: &mut Plan| {
                plan.reductions.push(ReduceStep { out: 0, x: 0, bias: Bias(bias) });
                plan.segments.push(segment(SegmentKind::Reduce));
            };
            assert_eq!(check_of(&reduction, &rows).is_ok(), is_enough, "{bias}");
        }
        rows.set_row(4, &modulus.constants.multiple(Bias(5)));
        assert!(matches!(check_of(&|_| (), &rows), Err(Violation::OutOfBounds { step: 0, row: 4, .. })), "at entry");
    }

    #[test]
    fn steps_are_counted_with_companions() {
        let (modulus, ..) = idle(381, 1);
        let mut block = SlotBlock::new(20);
        for slot in 0..8 {
            block.push(Op { kind: FieldOp::Mul, out: slot, x: slot, y: slot }).unwrap();
        }
        for slot in 10..15 {
            block.push(Op { kind: FieldOp::Add, out: slot, x: slot, y: slot }).unwrap();
        }
        let mut plan = Plan::new(&block, modulus.shape(), &Policy::default()).unwrap();
        let steps = plan.batches.len() + plan.linear.len() + plan.carries.len() + plan.reductions.len();
        assert!(plan.companions() > 2, "sums run along with the products");
        let start = plan.linear.len() as u32;
        let row = plan.row_count;
        plan.row_count += 1;
        plan.linear.push(LinearStep::new(0, row, 1, false));
        plan.segments.push(Segment { kind: SegmentKind::Linear, start, end: start + 1 });
        let mut rows = Rows::new(modulus.shape(), 20);
        assert_eq!(check(&plan, &modulus, &mut rows), Err(Violation::Unwritten { step: steps + 1, row }));
    }
}
