//! What a block executes when its instructions run one by one, and about how long that takes.

use super::tuning::{DISPATCH_CYCLES, PRODUCT_CYCLES, STEP_CYCLES, SUM_CYCLES, TRACE_ENTRY_CYCLES};
use residue_isa::PerOp;

/// Instructions and operations of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Instructions of each kind.
    pub instructions: PerOp<u32>,
    /// Operations of each kind: lanes of the instructions.
    pub operations: PerOp<u32>,
}

impl Work {
    /// Number of operations.
    pub fn operation_count(&self) -> u32 {
        self.operations.0.iter().sum()
    }

    /// What it takes without a plan, about, on values of so many limbs: as a scalar trace, or by instructions.
    pub fn scalar_cycles(&self, limbs: usize, has_trace: bool) -> u64 {
        // Wider values, which have no rows by themselves, take no less than the widest here.
        let at = limbs.clamp(1, PRODUCT_CYCLES.len()) - 1;
        let PerOp([adds, subs, products]) = self.operations.map(u64::from);
        let operations = SUM_CYCLES[at] * (adds + subs) + PRODUCT_CYCLES[at] * products;
        match has_trace {
            true => TRACE_ENTRY_CYCLES + operations + STEP_CYCLES * u64::from(self.operation_count()),
            false => operations + DISPATCH_CYCLES * self.instructions.0.iter().copied().map(u64::from).sum::<u64>(),
        }
    }
}

/// Cycles are far below 2⁶³.
pub(crate) fn signed(cycles: u64) -> i64 {
    i64::try_from(cycles).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_what_its_operations_its_width_and_its_form_add_up_to() {
        let work = Work { instructions: PerOp([3, 2, 4]), operations: PerOp([5, 7, 11]) };
        assert_eq!(work.operation_count(), 23);
        // An instruction takes 12 cycles besides its operations; a step 3 and a trace 128.
        for (limbs, sum, product) in [(1, 5, 6), (4, 13, 66), (6, 20, 127), (8, 27, 224), (12, 47, 550), (16, 47, 550)]
        {
            let operations = 12 * sum + 11 * product;
            assert_eq!(work.scalar_cycles(limbs, false), operations + 12 * 9, "{limbs}");
            assert_eq!(work.scalar_cycles(limbs, true), 128 + operations + 3 * 23, "{limbs}");
        }
    }

    #[test]
    fn cycles_are_numbers_with_a_sign() {
        assert_eq!([0, 7, 1 << 62].map(signed), [0, 7, 1 << 62]);
        assert_eq!([1 << 63, u64::MAX].map(signed), [i64::MAX / 4; 2]);
    }
}
