//! What a block executes when its instructions run one by one, and about how long that takes.

use super::tuning::{DISPATCH_CYCLES, PRODUCT_CYCLES, PRODUCT_LIMBS, STEP_CYCLES, SUM_CYCLES, TRACE_ENTRY_CYCLES};
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
        let limbs = limbs as u64; // At most 12.
        // Products grow with the square of the width, down to what surrounds them.
        let product = SUM_CYCLES + (PRODUCT_CYCLES - SUM_CYCLES) * limbs * limbs / PRODUCT_LIMBS.pow(2);
        let PerOp([adds, subs, products]) = self.operations.map(u64::from);
        let operations = SUM_CYCLES * (adds + subs) + product * products;
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
        // Sums take 16 cycles; a product 16, and 100 for six limbs that grow with the square; an instruction 12; a step 3 and a trace 128.
        let sums = 16 * 12;
        for (limbs, product) in [(1, 18), (4, 60), (6, 116), (12, 416), (16, 727)] {
            assert_eq!(work.scalar_cycles(limbs, false), sums + 11 * product + 12 * 9, "{limbs}");
            assert_eq!(work.scalar_cycles(limbs, true), 128 + sums + 11 * product + 3 * 23, "{limbs}");
        }
    }

    #[test]
    fn cycles_are_numbers_with_a_sign() {
        assert_eq!([0, 7, 1 << 62].map(signed), [0, 7, 1 << 62]);
        assert_eq!([1 << 63, u64::MAX].map(signed), [i64::MAX / 4; 2]);
    }
}
