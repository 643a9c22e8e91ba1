//! Third step of planning: the order of steps. List scheduling by height, the latency still to come after a step: linear steps run until
//! enough products are ready to fill a batch, which takes further ones along; carries and reductions wait until nothing else is
//! ready and then run together.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;

use super::lazy::{PlannedStep, StepKind};
use super::policy::{COMPANIONS_MAX, Policy};
use super::values::{NONE, ValueId};
use crate::estimate;
use crate::shape::Shape;
use crate::tables::{BATCH_LANES, QUAD_LANES, SegmentKind};

/// A run of steps of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub kind: SegmentKind,
    pub start: usize,
    pub end: usize,
    /// Of a batch: where its products end and its companions start.
    pub products_end: usize,
}

/// Every step but the inputs, in an order that respects operands.
pub(super) struct Order {
    pub steps: Vec<ValueId>,
    pub runs: Vec<Run>,
}

/// Batches of more products than this on average are left as they are.
const NARROW_LANES: usize = 6;
/// Minimum share of products for a second order to be tried: one step in this many.
const PRODUCTS_SHARE: usize = 4;

impl Order {
    /// Orders the steps of a block of a shape: where products are few at a time, in fours if the policy allows and it takes less time.
    pub fn of(steps: &[PlannedStep], policy: &Policy, shape: Shape) -> Self {
        let eights = Self::with_lanes(steps, policy, BATCH_LANES);
        let (products, batches) = eights.batches().fold((0, 0), |(sum, count), lanes| (sum + lanes, count + 1));
        // Where sums are most of the work, ordering twice would cost more than it can gain.
        let is_narrow = products <= NARROW_LANES * batches && PRODUCTS_SHARE * products >= steps.len();
        if !policy.fours || !is_narrow {
            return eights;
        }
        let cycles = |order: &Self| order.batches().map(|lanes| estimate::batch_cycles(shape, lanes)).sum::<u64>();
        let fours = Self::with_lanes(steps, policy, QUAD_LANES);
        if cycles(&fours) < cycles(&eights) { fours } else { eights }
    }

    /// The number of products of each batch.
    fn batches(&self) -> impl Iterator<Item = usize> {
        let batches = self.runs.iter().filter(|run| run.kind == SegmentKind::Batch);
        batches.map(|run| run.products_end - run.start)
    }

    /// Batches of up to `lanes` products.
    fn with_lanes(steps: &[PlannedStep], policy: &Policy, lanes: usize) -> Self {
        let mut graph = Graph::of(steps);
        let mut ready = Ready {
            steps,
            waits_for: core::mem::take(&mut graph.waits_for),
            heights: heights(steps),
            linear: BinaryHeap::new(),
            products: BinaryHeap::new(),
            late: Vec::new(),
            is_late: false,
            carries: Vec::new(),
            reductions: Vec::new(),
        };
        let mut order = Self { steps: Vec::with_capacity(steps.len()), runs: Vec::new() };
        for (id, step) in steps.iter().enumerate() {
            // Whatever is no input has operands, and waits for them.
            if matches!(step.kind, StepKind::Input(_)) {
                graph.release(id as ValueId, &mut ready);
            }
        }
        let wanted = policy.batch_fill.clamp(1, lanes);
        loop {
            let start = order.steps.len();
            while ready.product_count() < wanted
                && let Some(next) = ready.linear.pop()
            {
                order.steps.push(id_of(next));
                graph.release(id_of(next), &mut ready);
            }
            order.end_run(SegmentKind::Linear, start);
            let start = order.steps.len();
            if ready.product_count() < wanted && !ready.carries.is_empty() {
                order.steps.append(&mut ready.carries);
                order.end_run(SegmentKind::Carry, start);
                (start..order.steps.len()).for_each(|at| graph.release(order.steps[at], &mut ready));
            } else if ready.product_count() < wanted && !ready.reductions.is_empty() {
                order.steps.append(&mut ready.reductions);
                order.end_run(SegmentKind::Reduce, start);
                (start..order.steps.len()).for_each(|at| graph.release(order.steps[at], &mut ready));
            } else if ready.product_count() > 0 {
                order.steps.extend(ready.next_products(lanes));
                let products_end = order.steps.len();
                while order.steps.len() - products_end < policy.companions.min(COMPANIONS_MAX)
                    && let Some(next) = ready.linear.pop()
                {
                    order.steps.push(id_of(next));
                    graph.release(id_of(next), &mut ready);
                }
                order.end_run(SegmentKind::Batch, start);
                order.runs.last_mut().expect("a batch has products").products_end = products_end;
                ready.is_late = true;
                (start..products_end).for_each(|at| graph.release(order.steps[at], &mut ready));
                ready.is_late = false;
            } else {
                return order;
            }
        }
    }

    fn end_run(&mut self, kind: SegmentKind, start: usize) {
        let end = self.steps.len();
        if end > start {
            self.runs.push(Run { kind, start, end, products_end: end });
        }
    }
}

/// Reader graph: readers of step i are `readers[first[i]..first[i + 1]]`, twice if both operands are i.
struct Graph {
    first: Vec<u32>,
    readers: Vec<ValueId>,
    waits_for: Vec<u8>,
}

impl Graph {
    fn of(steps: &[PlannedStep]) -> Self {
        let mut first = vec![0u32; steps.len() + 1];
        let mut waits_for = vec![0u8; steps.len()];
        for (id, step) in steps.iter().enumerate() {
            for operand in operands(step) {
                first[operand as usize] += 1;
                waits_for[id] += 1;
            }
        }
        let mut sum = 0;
        for count in &mut first {
            sum += *count;
            *count = sum; // The end of each list; filling moves it to the start.
        }
        let mut readers = vec![NONE; sum as usize];
        for (id, step) in steps.iter().enumerate().rev() {
            for operand in operands(step) {
                first[operand as usize] -= 1;
                readers[first[operand as usize] as usize] = id as ValueId;
            }
        }
        Self { first, readers, waits_for }
    }

    /// A step is done: its readers wait for one operand less.
    fn release(&self, id: ValueId, ready: &mut Ready) {
        let [start, end] = [self.first[id as usize], self.first[id as usize + 1]];
        for reader in &self.readers[start as usize..end as usize] {
            let waits_for = &mut ready.waits_for[*reader as usize];
            *waits_for -= 1;
            if *waits_for == 0 {
                ready.add(*reader);
            }
        }
    }
}

/// PlannedSteps whose operands are all done.
struct Ready<'a> {
    steps: &'a [PlannedStep],
    waits_for: Vec<u8>,
    heights: Vec<u32>,
    linear: BinaryHeap<u64>,
    products: BinaryHeap<u64>,
    /// Products that became ready by those of the last batch: a batch without them may be read before that one is written.
    late: Vec<u64>,
    is_late: bool,
    carries: Vec<ValueId>,
    reductions: Vec<ValueId>,
}

impl Ready<'_> {
    /// Number of products.
    fn product_count(&self) -> usize {
        self.products.len() + self.late.len()
    }

    /// Up to `lanes` products of a batch: without late ones, if others fill it.
    fn next_products(&mut self, lanes: usize) -> impl Iterator<Item = ValueId> {
        if self.products.len() < lanes {
            self.products.extend(self.late.drain(..));
        }
        let mut products = [NONE; BATCH_LANES];
        for id in &mut products[..lanes] {
            *id = self.products.pop().map_or(NONE, id_of);
        }
        self.products.extend(self.late.drain(..));
        products.into_iter().take_while(|id| *id != NONE)
    }

    fn add(&mut self, id: ValueId) {
        // Higher first, then earlier.
        let key = u64::from(self.heights[id as usize]) << 32 | u64::from(!id);
        match self.steps[id as usize].kind {
            StepKind::Add | StepKind::Sub | StepKind::Lift => self.linear.push(key),
            StepKind::Product if self.is_late => self.late.push(key),
            StepKind::Product => self.products.push(key),
            StepKind::Carry => self.carries.push(id),
            StepKind::Reduce => self.reductions.push(id),
            StepKind::Input(_) => unreachable!("inputs wait for nothing and are never added"),
        }
    }
}

/// The step of a heap's key: its low half, complemented.
fn id_of(key: u64) -> ValueId {
    !(key as u32)
}

/// By step: cycles from its start to the end of everything that follows from it.
fn heights(steps: &[PlannedStep]) -> Vec<u32> {
    let mut heights = vec![0u32; steps.len()];
    for (id, step) in steps.iter().enumerate().rev() {
        let latency = match step.kind {
            StepKind::Input(_) => 0,
            StepKind::Add | StepKind::Sub | StepKind::Lift => 7,
            StepKind::Carry => 12,
            StepKind::Reduce => 30,
            StepKind::Product => 300,
        };
        heights[id] = heights[id].saturating_add(latency);
        for operand in operands(step) {
            let operand = operand as usize;
            heights[operand] = heights[operand].max(heights[id]);
        }
    }
    heights
}

fn operands(step: &PlannedStep) -> impl Iterator<Item = ValueId> {
    [step.x, step.y].into_iter().filter(|operand| *operand != NONE)
}
