//! Instructions of a block run one by one, and their estimated time.

use super::tuning::{
    DISPATCH_CYCLES, PRODUCT_CYCLES, STEP_CYCLES, SUM_CYCLES, SUM_PERCENT, SUM_PERCENT_PER_PRODUCT, TRACE_ENTRY_CYCLES,
};
use residue_isa::PerOp;
use residue_lanes::SumOp;

/// Instructions and operations of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Instructions of each kind.
    pub instructions: PerOp<u32>,
    /// Operations of each kind: lanes of the instructions.
    pub operations: PerOp<u32>,
    /// Sums of products, by their number of products from 2 on.
    pub sums: [u32; SUM_KINDS],
    /// Copies: instructions, and their lanes.
    pub copy_instructions: u32,
    pub copy_lanes: u32,
    /// Products in Fp2: instructions, and their lanes.
    pub fp2_instructions: u32,
    pub fp2_lanes: u32,
    /// Products in Fp6, and the operations that they stand for.
    pub fp6_instructions: u32,
    pub fp6_operations: u32,
}

/// Cycles of a value copied.
const COPY_CYCLES: u64 = 5;
/// Operations of a product in Fp2: four products, a difference and a sum.
const FP2_OPERATIONS: u32 = 6;
/// Sums have 2 to 6 products.
pub(crate) const SUM_KINDS: usize = SumOp::PRODUCTS_MAX - 1;

impl Work {
    /// Number of operations.
    pub fn operation_count(&self) -> u32 {
        let of_sums = self.sums_by_products().map(|(products, count)| (2 * products - 1) * count);
        self.operations.0.iter().sum::<u32>()
            + of_sums.sum::<u32>()
            + FP2_OPERATIONS * self.fp2_lanes
            + self.fp6_operations
            + self.copy_instructions
            + self.copy_lanes
    }

    /// Estimated cycles without a plan, on values of `limbs` limbs: as a scalar trace, or by instructions.
    pub fn scalar_cycles(&self, limbs: usize, has_trace: bool) -> u64 {
        // Wider values, which have no rows by themselves, take no less than the widest here.
        let at = limbs.clamp(1, PRODUCT_CYCLES.len()) - 1;
        let PerOp([adds, subs, products]) = self.operations.map(u64::from);
        // By themselves sums have one reduction each.
        let sums = self.sums_by_products().map(|(products, count)| {
            PRODUCT_CYCLES[at] * u64::from(SUM_PERCENT + SUM_PERCENT_PER_PRODUCT * products) / 100 * u64::from(count)
        });
        let fp2 = PRODUCT_CYCLES[at] * u64::from(2 * SUM_PERCENT + 4 * SUM_PERCENT_PER_PRODUCT) / 100;
        let fp6 = PRODUCT_CYCLES[at] * u64::from(6 * SUM_PERCENT + 36 * SUM_PERCENT_PER_PRODUCT) / 100;
        let operations = SUM_CYCLES[at] * (adds + subs)
            + PRODUCT_CYCLES[at] * products
            + sums.sum::<u64>()
            + fp2 * u64::from(self.fp2_lanes)
            + fp6 * u64::from(self.fp6_instructions)
            + COPY_CYCLES * u64::from(self.copy_lanes);
        let sums = u64::from(self.sums.iter().sum::<u32>() + self.fp6_instructions);
        match has_trace {
            true => {
                let steps =
                    u64::from(self.operations.0.iter().sum::<u32>() + self.fp2_lanes + self.copy_instructions) + sums;
                TRACE_ENTRY_CYCLES + operations + STEP_CYCLES * steps
            }
            false => {
                let plain = self.instructions.0.iter().copied().map(u64::from).sum::<u64>();
                let instructions = plain + sums + u64::from(self.fp2_instructions + self.copy_instructions);
                operations + DISPATCH_CYCLES * instructions
            }
        }
    }

    /// The sums: of how many products, and how many of these.
    pub fn sums_by_products(&self) -> impl Iterator<Item = (u32, u32)> {
        (2..).zip(self.sums)
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
        let work = Work { instructions: PerOp([3, 2, 4]), operations: PerOp([5, 7, 11]), ..Work::default() };
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
    fn sums_take_a_reduction_each_by_themselves_and_operations_in_plans() {
        let work = Work { sums: [1, 0, 0, 0, 2], ..Work::default() };
        assert_eq!(work.operation_count(), 3 + 2 * 11);
        // Of six limbs: 1.54 products of 127 cycles, and twice 3.70.
        assert_eq!(work.scalar_cycles(6, false), 195 + 2 * 469 + 12 * 3);
        assert_eq!(work.scalar_cycles(6, true), 128 + 195 + 2 * 469 + 3 * 3);
    }

    #[test]
    fn products_in_fp2_take_the_time_of_two_sums() {
        let work = Work { fp2_instructions: 2, fp2_lanes: 5, ..Work::default() };
        assert_eq!(work.operation_count(), 30);
        // 3.08 products of 127 cycles.
        assert_eq!(work.scalar_cycles(6, false), 5 * 391 + 12 * 2);
        assert_eq!(work.scalar_cycles(6, true), 128 + 5 * 391 + 3 * 5);
    }

    #[test]
    fn cycles_are_numbers_with_a_sign() {
        assert_eq!([0, 7, 1 << 62].map(signed), [0, 7, 1 << 62]);
        assert_eq!([1 << 63, u64::MAX].map(signed), [i64::MAX / 4; 2]);
    }
}
