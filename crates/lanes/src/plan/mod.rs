//! Plans: slot blocks compiled for lanes. Tables of batches and linear phases over numbered rows, and the bounds at
//! both ends.
//!
//! Planning renames slots to values (`values`), keeps sums lazy as far as the bounds allow (`lazy`), orders steps so that products come in
//! eights (`order`), and gives values rows (`place`). A plan knows the [`Shape`] of the modulus, not the modulus.

use alloc::vec::Vec;

mod explanation;
mod lazy;
mod order;
mod place;
mod policy;
#[cfg(test)]
mod tests;
mod values;

use crate::block::SlotBlock;
use crate::kernel::{self, Kernel};
use crate::modulus_rows::ModulusRows;
use crate::plan_error::{OPERATIONS_MAX, PlanError};
use crate::rows::Rows;
use crate::shape::Shape;
use crate::tables::Plan;

pub use explanation::Explanation;
pub use policy::Policy;

impl Plan {
    /// Plans a block for moduli of a shape.
    pub fn new(block: &SlotBlock, shape: Shape, policy: &Policy) -> Result<Self, PlanError> {
        let count = block.ops().len();
        if count > OPERATIONS_MAX {
            return Err(PlanError::TooManyOperations { count });
        }
        let values = values::Values::of(block);
        let steps = lazy::PlannedSteps::of(&values, shape);
        let order = order::Order::of(&steps.steps, policy, shape);
        let mut plan = Self {
            shape,
            source: block.digest(),
            slot_count: block.slot_count(),
            row_count: block.slot_count(),
            constants: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            segments: Vec::with_capacity(order.runs.len() + 1),
            linear: Vec::with_capacity(order.steps.len()),
            carries: Vec::new(),
            reductions: Vec::new(),
            batches: Vec::new(),
        };
        place::place(&steps, &order, &mut plan)?;
        plan.shrink();
        assert!(plan.rows_named().all(|row| row < plan.row_count), "every row of the tables exists");
        Ok(plan)
    }

    /// Executes the plan with the fastest kernel of this machine.
    ///
    /// `rows` must have the plan's slot count, and rows and modulus its shape; anything else panics.
    #[inline]
    pub fn run(&self, modulus: &ModulusRows, rows: &mut Rows) {
        self.run_with(Kernel::best(), modulus, rows);
    }

    /// [`Plan::run`] with the kernel given. Panics if this machine does not have it.
    pub fn run_with(&self, kernel: Kernel, modulus: &ModulusRows, rows: &mut Rows) {
        assert_eq!(self.shape, modulus.shape(), "plan and modulus have one shape");
        assert_eq!(self.shape, rows.shape(), "plan and rows have one shape");
        assert_eq!(self.slot_count, rows.slot_count(), "plan and rows have the same slots");
        rows.reserve(self.row_count);
        self.set_constants(modulus, rows);
        kernel::run(kernel, self, modulus, rows);
    }

    /// Fills the rows that hold multiples of M.
    pub(crate) fn set_constants(&self, modulus: &ModulusRows, rows: &mut Rows) {
        for (row, bias) in &self.constants {
            rows.set_row(*row, &modulus.constants.multiple(*bias));
        }
    }
}
