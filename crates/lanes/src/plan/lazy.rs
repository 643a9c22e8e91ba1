//! Second step of planning: sums and differences stay lazy as long as the bounds allow; where they do not, steps are inserted that
//! add a multiple of M, carry limbs, or reduce the range.

use super::values::{Definition, NONE, ValueId, Values};
use crate::block::OpKind;
use crate::bounds::{Bias, Bounds, UNIT};
use crate::shape::Shape;

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StepKind {
    /// What a slot holds at entry.
    Input(u16),
    /// x + y + bias.
    Add,
    /// x − y + bias.
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
pub(super) struct Step {
    pub kind: StepKind,
    pub bias: Bias,
    pub x: ValueId,
    pub y: ValueId,
}

/// A block with every step that its execution takes.
pub(super) struct Steps {
    pub steps: Vec<Step>,
    pub outputs: Vec<(u16, ValueId)>,
}

impl Steps {
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
            let uses = values.uses[id];
            if !uses.any {
                continue;
            }
            // Counted by `ValueId`s, so it fits.
            let id = id as ValueId;
            match *definition {
                Definition::Input(slot) => {
                    let step = Step { kind: StepKind::Input(slot), bias: Bias(0), x: NONE, y: NONE };
                    lazy.define(id, step, lazy.end);
                }
                Definition::Op(OpKind::Mul, x, y) => lazy.product(id, x, y),
                Definition::Op(kind, x, y) => lazy.sum(id, kind, x, y, uses.product, is_output[id as usize]),
            }
            if is_output[id as usize] {
                lazy.end_within_bounds(id);
            }
        }
        let outputs = values.outputs.iter().map(|(slot, value)| (*slot, lazy.now[*value as usize])).collect();
        Self { steps: lazy.steps, outputs }
    }
}

/// Steps so far, and by value of the block the step that now stands for it: carried and reduced values replace their originals.
struct Lazy {
    shape: Shape,
    end: Bounds,
    steps: Vec<Step>,
    bounds: Vec<Bounds>,
    now: Vec<ValueId>,
}

impl Lazy {
    fn define(&mut self, value: ValueId, step: Step, bounds: Bounds) {
        // `Plan::new` limits blocks, and at most five steps stand for one operation: it fits.
        self.now[value as usize] = self.steps.len() as ValueId;
        self.steps.push(step);
        self.bounds.push(bounds);
    }

    #[inline]
    fn bounds(&self, value: ValueId) -> Bounds {
        self.bounds[self.now[value as usize] as usize]
    }

    fn sum(&mut self, id: ValueId, kind: OpKind, x: ValueId, y: ValueId, for_product: bool, for_output: bool) {
        let combine = |lazy: &Self| match kind {
            OpKind::Sub => lazy.bounds(x).sub(lazy.bounds(y)),
            _ => lazy.bounds(x).add(lazy.bounds(y)),
        };
        let mut bounds = combine(self);
        // Biased operands may exceed what a sum may be, so a single look would not do.
        while !bounds.is_sum(self.shape) || bounds.biased(1).limb > crate::bounds::LIMB_MAX {
            if bounds.low < -self.shape.range_max() * UNIT || bounds.high > self.shape.range_max() * UNIT {
                self.reduce(if reach(self.bounds(x)) >= reach(self.bounds(y)) { x } else { y });
            } else {
                self.carry(if self.bounds(x).limb >= self.bounds(y).limb { x } else { y });
            }
            bounds = combine(self);
        }
        let mut bias = Bias(0);
        if bounds.low < 0 && (for_product || for_output) {
            bias = Bias::at_least(bounds.multiples_to_zero());
            let biased = bounds.biased(bias.multiple());
            // An output that must be reduced anyway gets its bias there.
            if !for_product && biased.high > self.end.high {
                bias = Bias(0);
            }
        }
        let step = match kind {
            OpKind::Sub => StepKind::Sub,
            _ => StepKind::Add,
        };
        let (x, y) = (self.now[x as usize], self.now[y as usize]);
        self.define(id, Step { kind: step, bias, x, y }, bounds.biased(bias.multiple()));
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
        self.define(id, Step { kind: StepKind::Product, bias: Bias(0), x, y }, bounds);
    }

    /// A value that a product takes as operand is not negative. Sums know beforehand; this is for inputs of older versions.
    fn make_operand(&mut self, value: ValueId) {
        let bounds = self.bounds(value);
        if bounds.low < 0 {
            let bias = Bias::at_least(bounds.multiples_to_zero());
            let step = Step { kind: StepKind::Lift, bias, x: self.now[value as usize], y: NONE };
            self.define(value, step, bounds.biased(bias.multiple()));
        }
        debug_assert!(self.bounds(value).is_operand(self.shape), "lifted values are operands");
    }

    fn carry(&mut self, value: ValueId) {
        let step = Step { kind: StepKind::Carry, bias: Bias(0), x: self.now[value as usize], y: NONE };
        self.define(value, step, self.bounds(value).carried());
    }

    fn reduce(&mut self, value: ValueId) {
        let bias = Bias::at_least(self.bounds(value).multiples_to_zero() + 1);
        let step = Step { kind: StepKind::Reduce, bias, x: self.now[value as usize], y: NONE };
        self.define(value, step, Bounds::reduced());
    }

    /// Brings an output into the bounds of a plan's ends.
    fn end_within_bounds(&mut self, value: ValueId) {
        let bounds = self.bounds(value);
        if bounds.low < 0 || bounds.high > self.end.high {
            self.reduce(value);
        } else if bounds.limb > self.end.limb {
            self.carry(value);
        }
    }
}

/// How far a value may be from zero.
fn reach(bounds: Bounds) -> i64 {
    bounds.high.max(-bounds.low)
}
