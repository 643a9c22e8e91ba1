//! Last step of planning: values get rows. A value lives from its step to its last reader; the values of a slot at
//! entry and at exit lie in the slot's own row, everything else in temporary rows, the latest freed first.

use alloc::vec;
use alloc::vec::Vec;

use super::lazy::{PlannedStep, PlannedSteps, StepKind};
use super::order::{Order, Run};
use super::values::{NONE, ValueId};
use crate::bounds::Bias;
use crate::plan_error::PlanError;
use crate::tables::{
    BATCH_LANES, BatchStep, CarryStep, LinearStep, Plan, QUAD_LANES, ReduceStep, Segment, SegmentKind,
};

/// Turns ordered steps into a plan's tables.
pub(super) fn place(steps: &PlannedSteps, order: &Order, plan: &mut Plan) -> Result<(), PlanError> {
    let slots = usize::from(plan.slot_count);
    let mut rows = Rows::new(steps, slots);
    for (id, step) in steps.steps.iter().enumerate() {
        if let StepKind::Input(slot) = step.kind {
            rows.row[id] = slot;
            rows.is_taken[usize::from(slot)] = true;
            plan.inputs.push(slot);
        }
    }
    plan.inputs.sort_unstable();
    for run in &order.runs {
        let start = plan.table_len(run.kind);
        place_run(run, &order.steps[run.start..run.end], steps, &mut rows, plan)?;
        let end = plan.table_len(run.kind);
        match plan.segments.last_mut() {
            Some(last) if last.kind == run.kind => last.end = end,
            _ => plan.segments.push(Segment { kind: run.kind, start, end }),
        }
    }
    // What could not be written to its slot's row at once is copied there now, when all inputs have been read.
    let start = plan.table_len(SegmentKind::Linear);
    for (slot, value) in &steps.outputs {
        let from = rows.row[*value as usize];
        if from != *slot {
            let zero = rows.constant_row(Bias(0))?;
            plan.linear.push(LinearStep::new(*slot, from, zero, false));
        }
        plan.outputs.push(*slot);
    }
    let end = plan.table_len(SegmentKind::Linear);
    if end > start {
        plan.segments.push(Segment { kind: SegmentKind::Linear, start, end });
    }
    plan.constants = rows.constants;
    plan.row_count = rows.count;
    find_streams(plan);
    Ok(())
}

/// Turns the steps of a run into those of the plan's table of its kind.
fn place_run(
    run: &Run,
    ids: &[ValueId],
    steps: &PlannedSteps,
    rows: &mut Rows,
    plan: &mut Plan,
) -> Result<(), PlanError> {
    match run.kind {
        SegmentKind::Linear => {
            for id in ids {
                plan.linear.push(linear(*id, steps, rows)?);
            }
        }
        SegmentKind::Carry => {
            for id in ids {
                let (out, x) = unary(*id, steps, rows)?;
                plan.carries.push(CarryStep { out, x });
            }
        }
        SegmentKind::Reduce => {
            for id in ids {
                let (out, x) = unary(*id, steps, rows)?;
                plan.reductions.push(ReduceStep { out, x, bias: steps.steps[*id as usize].bias });
            }
        }
        SegmentKind::Batch => {
            let (products, companions) = ids.split_at(run.products_end - run.start);
            let mut batch = read_batch(products, steps, rows);
            batch.companions_start = plan.table_len(SegmentKind::Linear);
            batch.companions = companions.len() as u16; // `Order` takes no more along than fit.
            for id in companions {
                plan.linear.push(linear(*id, steps, rows)?);
            }
            write_batch(&mut batch, products, rows)?;
            plan.batches.push(batch);
        }
    }
    Ok(())
}

/// Notes which batches may follow each other in a stream.
fn find_streams(plan: &mut Plan) {
    let mut is_written = vec![false; usize::from(plan.row_count)];
    for segment in plan.segments.iter().filter(|segment| segment.kind == SegmentKind::Batch) {
        for at in (segment.start as usize + 1..segment.end as usize).rev() {
            let (batch, next) = (&plan.batches[at - 1], &plan.batches[at]);
            batch.out.iter().for_each(|row| is_written[usize::from(*row)] = true);
            let is_full = |batch: &BatchStep| usize::from(batch.lanes) > QUAD_LANES;
            let follows = is_full(batch) && is_full(next) && next.reads().all(|row| !is_written[usize::from(row)]);
            batch.out.iter().for_each(|row| is_written[usize::from(*row)] = false);
            let followers = if follows { next.followers.wrapping_add(1) } else { 0 };
            plan.batches[at - 1].followers = followers;
        }
    }
}

/// Reads a linear step's operands and writes its value.
fn linear(id: ValueId, steps: &PlannedSteps, rows: &mut Rows) -> Result<LinearStep, PlanError> {
    let step = &steps.steps[id as usize];
    let x = rows.row[step.x as usize];
    let y = if step.y == NONE { rows.constant_row(step.bias)? } else { rows.row[step.y as usize] };
    rows.read(step);
    Ok(LinearStep::new(rows.write(id)?, x, y, step.kind == StepKind::Sub))
}

/// Reads the operand of a step with one and writes its value: the rows of value and operand.
fn unary(id: ValueId, steps: &PlannedSteps, rows: &mut Rows) -> Result<(u16, u16), PlanError> {
    let step = &steps.steps[id as usize];
    let x = rows.row[step.x as usize];
    rows.read(step);
    Ok((rows.write(id)?, x))
}

/// Reads the operands of eight lanes; those left over repeat the first.
fn read_batch(products: &[ValueId], steps: &PlannedSteps, rows: &mut Rows) -> BatchStep {
    let step = |lane: usize| &steps.steps[products[if lane < products.len() { lane } else { 0 }] as usize];
    let x = core::array::from_fn(|lane| rows.row[step(lane).x as usize]);
    let y = core::array::from_fn(|lane| rows.row[step(lane).y as usize]);
    for lane in 0..products.len() {
        rows.read(step(lane));
    }
    // At most eight lanes.
    let lanes = products.len() as u16;
    BatchStep { out: [0; BATCH_LANES], x, y, lanes, followers: 0, companions: 0, companions_start: 0 }
}

/// Writes the products of a batch; lanes left over go to a row that is never read.
fn write_batch(batch: &mut BatchStep, products: &[ValueId], rows: &mut Rows) -> Result<(), PlanError> {
    for (out, id) in batch.out.iter_mut().zip(products) {
        *out = rows.write(*id)?;
    }
    if products.len() < BATCH_LANES {
        batch.out[products.len()..].fill(rows.spare_row()?);
    }
    Ok(())
}

/// Free rows, and the rows of values.
struct Rows {
    row: Vec<u16>,
    /// Reads to come, an output counting as one that never comes.
    reads_left: Vec<u32>,
    /// By value: the slot it ends in.
    slot: Vec<u16>,
    is_taken: Vec<bool>,
    free: Vec<u16>,
    slots: usize,
    count: u16,
    constants: Vec<(u16, Bias)>,
    spare: Option<u16>,
}

const NO_SLOT: u16 = u16::MAX;

impl Rows {
    fn new(steps: &PlannedSteps, slots: usize) -> Self {
        let mut reads_left = vec![0; steps.steps.len()];
        let mut slot = vec![NO_SLOT; steps.steps.len()];
        for step in &steps.steps {
            for operand in [step.x, step.y].into_iter().filter(|operand| *operand != NONE) {
                reads_left[operand as usize] += 1;
            }
        }
        for (out, value) in &steps.outputs {
            reads_left[*value as usize] += 1;
            slot[*value as usize] = *out;
        }
        Self {
            row: vec![0; steps.steps.len()],
            reads_left,
            slot,
            is_taken: vec![false; slots],
            free: Vec::new(),
            slots,
            count: slots as u16, // From a `u16`.
            constants: Vec::new(),
            spare: None,
        }
    }

    /// A step has read its operands.
    fn read(&mut self, step: &PlannedStep) {
        for operand in [step.x, step.y] {
            if operand == NONE {
                continue;
            }
            let left = &mut self.reads_left[operand as usize];
            *left -= 1;
            if *left == 0 {
                let row = self.row[operand as usize];
                match usize::from(row) {
                    slot if slot < self.slots => self.is_taken[slot] = false,
                    _ => self.free.push(row),
                }
            }
        }
    }

    /// A step writes its value: into the row of the slot where it ends if that is free, else into a temporary row.
    fn write(&mut self, id: ValueId) -> Result<u16, PlanError> {
        let slot = self.slot[id as usize];
        let row = if slot != NO_SLOT && !self.is_taken[usize::from(slot)] {
            self.is_taken[usize::from(slot)] = true;
            slot
        } else {
            match self.free.pop() {
                Some(row) => row,
                None => self.fresh_row()?,
            }
        };
        self.row[id as usize] = row;
        Ok(row)
    }

    /// The row that holds a multiple of M throughout.
    fn constant_row(&mut self, bias: Bias) -> Result<u16, PlanError> {
        if let Some((row, _)) = self.constants.iter().find(|(_, other)| *other == bias) {
            return Ok(*row);
        }
        let row = self.fresh_row()?;
        self.constants.push((row, bias));
        Ok(row)
    }

    fn spare_row(&mut self) -> Result<u16, PlanError> {
        match self.spare {
            Some(row) => Ok(row),
            None => {
                let row = self.fresh_row()?;
                Ok(*self.spare.insert(row))
            }
        }
    }

    fn fresh_row(&mut self) -> Result<u16, PlanError> {
        let row = self.count;
        self.count = row.checked_add(1).ok_or(PlanError::TooManyRows)?;
        Ok(row)
    }
}
