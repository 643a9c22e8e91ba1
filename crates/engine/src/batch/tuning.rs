//! Constants of the batch engine that were chosen by measurement, and the bounds that follow from them. They limit the
//! time of each part; `docs/engine.md` adds them up.
//!
//! Cycles are those of one core at about 3.5 GHz. Unless noted otherwise they come from
//! `records/amd-epyc-zen4-2c/2026-11-23-lanes.csv` and `2026-11-23-attack.csv`.

/// Maximum cycles of planning, walking and analysing that a gas charged in a code's blocks pays for: about seven
/// nanoseconds, less than honest code takes for a gas when it runs one instruction at a time for the first time.
pub(crate) const CYCLES_PER_GAS_MAX: i64 = 24;
/// The same for a product of 384 bits: half of its own time. If products are dear, a gas pays for less, as it buys
/// less.
pub(crate) const CYCLES_PER_PRODUCT: i64 = 72;
/// Limbs of that product.
pub(crate) const PAYING_LIMBS: usize = 6;
/// Inverse of the share of its price that a block must have earned itself before it is planned or traced. The code's
/// credit pays for the rest.
pub(crate) const OWN_SHARE: i64 = 4;
/// Maximum credit of a code: a little more than planning the longest block takes. A transaction may spend the credit of
/// others, so this is also what one can take beyond its own gas: three tenths of a millisecond.
pub(crate) const CREDIT_CYCLES_MAX: i64 = 1 << 20;

/// Executions after which most plans and traces of a code are made, if each takes the same path: later executions are
/// warm.
pub const EXECUTIONS_TO_WARM: usize = 64;

/// Cycles of analysing a byte of code: room for a mark, or decoding it where places of values in memory are wanted.
pub(crate) const MARK_CYCLES_PER_BYTE: i64 = 1;
pub(crate) const PLACES_CYCLES_PER_BYTE: i64 = 8;
/// Cycles of walking: for making a block, for an operation, and for a run with the control flow before it.
pub(crate) const WALK_CYCLES: i64 = 1536;
pub(crate) const WALK_CYCLES_PER_OPERATION: i64 = 64;
pub(crate) const WALK_CYCLES_PER_RUN: i64 = 768;
/// Cycles of making a scalar trace, by operation.
pub(crate) const TRACE_CYCLES_PER_OPERATION: i64 = 48;
/// Cycles of making a plan: of any, and by operation.
pub(crate) const PLAN_CYCLES: i64 = 1 << 14;
pub(crate) const PLAN_CYCLES_PER_OPERATION: i64 = 400;

/// Maximum number of operations of a block, which bounds the cost of one walk and of one plan.
pub(crate) const OPERATIONS_MAX: u32 = 2048;
/// A superblock is cut after this many runs, for the same.
pub(crate) const RUNS_MAX: usize = 512;
/// A block with fewer operations than this gains nothing from a plan.
pub(crate) const PLAN_OPERATIONS_MIN: u32 = 2;
/// Values of fewer limbs gain nothing from a plan: rows for them would hold as much as those of four limbs.
pub(crate) const PLAN_LIMBS_MIN: usize = 2;
/// A block with fewer gains nothing from a scalar trace.
pub(crate) const TRACE_OPERATIONS_MIN: u32 = 8;
/// Superblocks that are kept for one place, by the words on the stack that they begin with.
pub(crate) const PATHS_MAX: usize = 6;
/// Plans that are kept for one block, by number of slots and shape of the modulus.
pub(crate) const PLANS_MAX: usize = 2;
/// Temporary rows of a plan for each row of a slot, and beside them: a block that needs more runs as its trace.
pub(crate) const TEMPORARY_ROWS_PER_SLOT: usize = 4;
pub(crate) const TEMPORARY_ROWS: usize = 192;

/// Maximum number of entries of a place between two checks for growth: while it earns, and once its state is final.
pub(crate) const SKIPPED_EARNING_MAX: u32 = 64;
pub(crate) const SKIPPED_PLAIN: u32 = 4096;
/// Entries before a place is walked for words that no superblock of it begins with, and the most of them: each walk doubles them.
pub(crate) const ENTRIES_BEFORE_WALK: u32 = 6;
pub(crate) const ENTRIES_BEFORE_WALK_MAX: u32 = 1 << 12;
/// Entries of a superblock after which the next walk of its place waits no longer than the first did.
pub(crate) const ENTRIES_AS_EXPECTED: u32 = 32;
/// Superblocks of a place that are replaced at no price, by [`crate::Engine::plan_ahead`]: then no more are walked there.
pub(crate) const FREE_REPLACED_MAX: u8 = 16;
/// Entries that one counts as where values lie in rows already: without a plan they have to move.
pub(crate) const ENTRIES_BESIDE_ROWS: u32 = 32;

/// Most instructions between two of the field.
pub(crate) const PASSED_MAX: usize = 32;
/// Most words pushed at once.
pub(crate) const PUSHED_MAX: usize = 64;
/// Most calls of subroutines within each other on a way.
pub(crate) const RETURNS_WALKED_MAX: usize = 16;
/// A run with fewer products than this for each that waits for the one before it takes less time one by one.
pub(crate) const PRODUCTS_AT_ONCE_MIN: u32 = 2;
/// Shorter dependent runs are joined all the same.
pub(crate) const DEPENDENT_PRODUCTS_MIN: u32 = 16;

/// Cycles of one product and one sum by the scalar kernels, by limbs from one on: the widths of nine to eleven have no product of their own.
/// From `examples/widths.rs` of `residue-lanes`, where each is a step of a trace.
pub(crate) const PRODUCT_CYCLES: [u64; 12] = [6, 28, 49, 66, 106, 127, 184, 224, 412, 487, 588, 550];
pub(crate) const SUM_CYCLES: [u64; 12] = [5, 8, 10, 13, 16, 20, 23, 27, 30, 36, 42, 47];
/// A sum of products by the scalar kernels, in hundredths of a product: its reduction, and each of its products. By the times of blst's assembly,
/// which `docs/evmmax-next.md` has.
pub(crate) const SUM_PERCENT: u32 = 46;
pub(crate) const SUM_PERCENT_PER_PRODUCT: u32 = 54;
/// Cycles of the dispatch of one instruction.
pub(crate) const DISPATCH_CYCLES: u64 = 12;
/// Cycles of a step of a scalar trace besides its operation, and of running one besides its steps.
pub(crate) const STEP_CYCLES: u64 = 3;
pub(crate) const TRACE_ENTRY_CYCLES: u64 = 128;
/// Cycles of looking for a range of memory among the places in rows: no gas pays for it. An instruction of EVM384 asks for four.
pub(crate) const ASKED_CYCLES: i64 = 60;
/// Ranges that are looked for after a plan has run, until all that is in rows is written back.
pub(crate) const ASKED_MAX: u32 = 64;
/// Values that move together.
pub(crate) const MOVED_TOGETHER: usize = 8;
/// Cycles of running a plan besides the plan's own: finding it, and comparing its reads with the slots in rows.
pub(crate) const PLAN_ENTRY_CYCLES: i64 = 256;
/// Cycles of making the rows of a modulus that was not met lately.
pub(crate) const MODULUS_CYCLES: i64 = 1 << 14;

/// Losses beyond all gains after which a transaction runs no more plans: seventy microseconds, and sixteen new moduli.
/// The prologue of a contract with many inputs may lose a quarter of that.
pub(crate) const LOSS_CYCLES_MAX: i64 = 1 << 18;
/// Gains beyond this are forgotten, so that no code can save up for a long time of losses.
pub(crate) const BALANCE_CYCLES_MAX: i64 = 1 << 20;

/// Bytes of all blocks, paths, plans and traces in the process: nothing more is made beyond this.
pub(crate) const BLOCK_BYTES_MAX: usize = 40 << 20;
/// Bytes of those of one code: then it begins again.
pub(crate) const CODE_BLOCK_BYTES_MAX: usize = BLOCK_BYTES_MAX / 4;
/// Bytes beyond which the codes leave that ran longest ago: three quarters of it.
pub(crate) const BLOCK_BYTES_KEPT: usize = BLOCK_BYTES_MAX / 4 * 3;
/// Bytes of all rows of a transaction, temporary ones included: beyond this the frames that wait, and the field contexts that do not run, give
/// theirs up.
pub(crate) const ROW_BYTES_MAX: usize = 8 << 20;
/// Bytes of the codes whose jump targets are kept after the transaction that met them.
pub(crate) const CODE_BYTES_KEPT: usize = 32 << 20;
/// Bytes of the codes of one transaction beside revm's: jump targets, and copies of those that end within an
/// instruction. It has room for the targets of 20,000 contracts of 24 KiB, more than 60 million gas can load.
pub(crate) const TRANSACTION_BYTES_MAX: usize = 64 << 20;

const _: () = {
    let longest = PLAN_CYCLES + PLAN_CYCLES_PER_OPERATION * OPERATIONS_MAX as i64;
    assert!(longest <= CREDIT_CYCLES_MAX, "the longest block can be paid for");
    let longest =
        WALK_CYCLES + WALK_CYCLES_PER_RUN * RUNS_MAX as i64 + WALK_CYCLES_PER_OPERATION * OPERATIONS_MAX as i64;
    assert!(longest <= CREDIT_CYCLES_MAX, "the longest walk can be paid for");
};

#[cfg(test)]
mod tests {
    use super::*;

    /// As `docs/engine.md` has them.
    #[test]
    fn bounds_are_those_that_are_promised() {
        let mib = [BLOCK_BYTES_MAX, CODE_BLOCK_BYTES_MAX, BLOCK_BYTES_KEPT, ROW_BYTES_MAX, CODE_BYTES_KEPT];
        assert_eq!(mib.map(|bytes| bytes >> 20), [40, 10, 30, 8, 32]);
        assert_eq!(TRANSACTION_BYTES_MAX >> 20, 64);
        // Seventy microseconds at 3.5 GHz are sixteen new moduli.
        assert!((245_000..270_000).contains(&LOSS_CYCLES_MAX) && LOSS_CYCLES_MAX == 16 * MODULUS_CYCLES);
        assert_eq!(BALANCE_CYCLES_MAX, 4 * LOSS_CYCLES_MAX);
        // One plan of the longest block, and a little more.
        let longest = PLAN_CYCLES + PLAN_CYCLES_PER_OPERATION * i64::from(OPERATIONS_MAX);
        assert!((longest..2 * longest).contains(&CREDIT_CYCLES_MAX));
        assert!((100..1000).contains(&(ENTRIES_BEFORE_WALK_MAX / ENTRIES_BEFORE_WALK)));
    }
}
