//! What a block executes when its instructions run one by one, and about how long that takes.

use super::tuning::{DISPATCH_CYCLES, PRODUCT_CYCLES, PRODUCT_LIMBS, STEP_CYCLES, SUM_CYCLES, TRACE_ENTRY_CYCLES};

/// Instructions and operations of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Instructions of each kind, in the order of [`residue_isa::Arithmetic::ALL`].
    pub instructions: [u32; 3],
    /// Operations of each kind: lanes of the instructions.
    pub operations: [u32; 3],
}

impl Work {
    /// Number of operations.
    pub fn operation_count(&self) -> u32 {
        self.operations.iter().sum()
    }

    /// What it takes without a plan, about, on values of so many limbs: as a scalar trace, or by instructions.
    pub fn scalar_cycles(&self, limbs: usize, has_trace: bool) -> u64 {
        let limbs = limbs as u64; // At most 16.
        // Products grow with the square of the width, down to what surrounds them.
        let product = SUM_CYCLES + (PRODUCT_CYCLES - SUM_CYCLES) * limbs * limbs / PRODUCT_LIMBS.pow(2);
        let [adds, subs, products] = self.operations.map(u64::from);
        let operations = SUM_CYCLES * (adds + subs) + product * products;
        match has_trace {
            true => TRACE_ENTRY_CYCLES + operations + STEP_CYCLES * u64::from(self.operation_count()),
            false => operations + DISPATCH_CYCLES * self.instructions.iter().copied().map(u64::from).sum::<u64>(),
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
    fn products_take_longer_on_wider_values() {
        let work = Work { instructions: [0, 0, 10], operations: [0, 0, 10] };
        assert_eq!(work.scalar_cycles(6, false), 10 * (PRODUCT_CYCLES + DISPATCH_CYCLES));
        let [narrow, wide] = [4, 12].map(|limbs| work.scalar_cycles(limbs, true));
        assert!(2 * narrow < 10 * PRODUCT_CYCLES + TRACE_ENTRY_CYCLES + 600 && wide > 3 * 10 * PRODUCT_CYCLES);
    }
}
