//! Second step of planning: sums and differences stay lazy as long as the bounds allow; otherwise steps are inserted
//! that lift a value by a multiple of M, carry limbs, or reduce the range.

use alloc::vec;
use alloc::vec::Vec;

use super::values::{Definition, NONE, ValueId, Values};
use crate::block::FieldOp;
use crate::bounds::{Bias, Bounds, LIMB_MAX, UNIT};
use crate::shape::Shape;

/// Kind of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StepKind {
    /// Value of a slot at entry.
    Input(u16),
    /// x + y.
    Add,
    /// x − y.
    Sub,
    /// x + bias.
    Lift,
    /// x with limbs carried.
    Carry,
    /// x reduced, after adding the bias.
    Reduce,
    /// x·y.
    Product,
}

/// A step: the definition of one value. Operands that a step does not have are [`NONE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedStep {
    pub kind: StepKind,
    pub bias: Bias,
    pub x: ValueId,
    pub y: ValueId,
}

/// A block with every step that its execution takes.
pub(super) struct PlannedSteps {
    pub steps: Vec<PlannedStep>,
    pub outputs: Vec<(u16, ValueId)>,
}

impl PlannedSteps {
    /// Makes the values of a block explicit for rows of this shape.
    pub fn of(values: &Values, shape: Shape) -> Self {
        let mut is_output = vec![false; values.definitions.len()];
        for (_, value) in &values.outputs {
            is_output[*value as usize] = true;
        }
        let capacity = values.definitions.len() + values.definitions.len() / 4 + 16;
        let mut lazy = Lazy {
            shape,
            end: shape.end_bounds(),
            steps: Vec::with_capacity(capacity),
            bounds: Vec::with_capacity(capacity),
            now: vec![NONE; values.definitions.len()],
        };
        for (id, definition) in values.definitions.iter().enumerate() {
            if !values.is_needed[id] {
                continue;
            }
            // Counted by `ValueId`s, so it fits.
            let id = id as ValueId;
            match *definition {
                Definition::Input(slot) => {
                    let step = PlannedStep { kind: StepKind::Input(slot), bias: Bias(0), x: NONE, y: NONE };
                    lazy.define(id, step, lazy.end);
                }
                Definition::Op(FieldOp::Mul, x, y) => lazy.product(id, x, y),
                Definition::Op(kind, x, y) => lazy.sum(id, kind, x, y),
            }
            if is_output[id as usize] {
                lazy.end_within_bounds(id);
            }
        }
        let outputs = values.outputs.iter().map(|(slot, value)| (*slot, lazy.now[*value as usize])).collect();
        Self { steps: lazy.steps, outputs }
    }
}

/// From this lift on, a value that is too low for a product is reduced rather than lifted further.
const LIFT_WIDE: i64 = 64;

/// PlannedSteps so far, and by value of the block the step that now stands for it: carried and reduced values replace their originals.
struct Lazy {
    shape: Shape,
    end: Bounds,
    steps: Vec<PlannedStep>,
    bounds: Vec<Bounds>,
    now: Vec<ValueId>,
}

impl Lazy {
    fn define(&mut self, value: ValueId, step: PlannedStep, bounds: Bounds) {
        // `Plan::new` limits blocks, and at most five steps stand for one operation: it fits.
        self.now[value as usize] = self.steps.len() as ValueId;
        self.steps.push(step);
        self.bounds.push(bounds);
    }

    #[inline]
    fn bounds(&self, value: ValueId) -> Bounds {
        self.bounds[self.now[value as usize] as usize]
    }

    fn sum(&mut self, id: ValueId, kind: FieldOp, x: ValueId, y: ValueId) {
        let combine = |lazy: &Self| match kind {
            FieldOp::Sub => lazy.bounds(x) - lazy.bounds(y),
            _ => lazy.bounds(x) + lazy.bounds(y),
        };
        let mut bounds = combine(self);
        while !bounds.is_sum(self.shape) {
            let [of_x, of_y] = [self.bounds(x), self.bounds(y)];
            if bounds.limb > LIMB_MAX {
                self.carry(if of_x.limb >= of_y.limb { x } else { y });
            } else {
                self.reduce(if reach(of_x) >= reach(of_y) { x } else { y });
            }
            bounds = combine(self);
        }
        let kind = match kind {
            FieldOp::Sub => StepKind::Sub,
            _ => StepKind::Add,
        };
        let (x, y) = (self.now[x as usize], self.now[y as usize]);
        self.define(id, PlannedStep { kind, bias: Bias(0), x, y }, bounds);
    }

    fn product(&mut self, id: ValueId, x: ValueId, y: ValueId) {
        for operand in [x, y] {
            self.make_operand(operand);
        }
        let range_max = self.shape.range_max() * UNIT;
        let mut bounds = self.bounds(x).product(self.bounds(y), self.shape);
        while bounds.high > range_max {
            self.reduce(if self.bounds(x).high >= self.bounds(y).high { x } else { y });
            bounds = self.bounds(x).product(self.bounds(y), self.shape);
        }
        let (x, y) = (self.now[x as usize], self.now[y as usize]);
        self.define(id, PlannedStep { kind: StepKind::Product, bias: Bias(0), x, y }, bounds);
    }

    /// Brings a value into the range that products take.
    fn make_operand(&mut self, value: ValueId) {
        if self.bounds(value).is_operand(self.shape) {
            return;
        }
        let bias = Bias::at_least(self.bounds(value).multiples_up_to(-self.shape.lift()));
        // Where there is much room and it is used up, the value grows from round to round: reducing ends that.
        let has_grown = self.shape.lift() >= LIFT_WIDE;
        if !has_grown && self.bounds(value).biased(bias.multiple()).is_operand(self.shape) {
            self.lift(value, bias);
        } else {
            self.reduce(value);
        }
    }

    fn lift(&mut self, value: ValueId, bias: Bias) {
        let step = PlannedStep { kind: StepKind::Lift, bias, x: self.now[value as usize], y: NONE };
        self.define(value, step, self.bounds(value).biased(bias.multiple()));
    }

    fn carry(&mut self, value: ValueId) {
        let step = PlannedStep { kind: StepKind::Carry, bias: Bias(0), x: self.now[value as usize], y: NONE };
        self.define(value, step, self.bounds(value).carried());
    }

    fn reduce(&mut self, value: ValueId) {
        let bias = Bias::at_least(self.bounds(value).multiples_up_to(1));
        let step = PlannedStep { kind: StepKind::Reduce, bias, x: self.now[value as usize], y: NONE };
        self.define(value, step, Bounds::reduced());
    }

    /// Brings an output into the bounds of a plan's ends.
    fn end_within_bounds(&mut self, value: ValueId) {
        let bias = Bias::at_least(self.bounds(value).multiples_up_to(self.end.low / UNIT));
        let lifted = self.bounds(value).biased(bias.multiple());
        if lifted.high > self.end.high {
            self.reduce(value);
        } else if bias != Bias(0) {
            self.lift(value, bias);
        }
        if self.bounds(value).limb > self.end.limb {
            self.carry(value);
        }
    }
}

/// Maximum distance of a value from zero.
fn reach(bounds: Bounds) -> i64 {
    bounds.high.max(-bounds.low)
}
