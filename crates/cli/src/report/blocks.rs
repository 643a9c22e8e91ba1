//! The blocks of field instructions in a code, and the plans that the batch engine made of them.

use comfy_table::Table;
use residue_engine::BlockExplained;

use crate::tables::{grouped, percent, right, table};

/// Lanes of a batch.
const LANES: usize = 8;

/// A line for each block: for a run of instructions, and for the runs that follow it in whatever way is decided, once they are joined.
pub fn to_table(blocks: &[BlockExplained]) -> Table {
    let headings = [
        "block",
        "runs",
        "add",
        "sub",
        "mul",
        "batches",
        "streamed",
        "lanes filled",
        "reductions",
        "bytes",
        "cycles",
        "one by one",
    ];
    let mut rows = table(&headings);
    for block in blocks {
        let operations = block.operations.map(right);
        let mut cells = vec![format!("{:#06x}", block.code.start).into(), right(block.runs)];
        cells.extend(operations.0);
        match block.plan {
            None => {
                let way = if block.trace_steps.is_some() { "scalar trace" } else { "one by one" };
                cells.extend([way, "", "", "", "", ""].map(right));
            }
            Some(plan) => cells.extend([
                right(plan.batches),
                right(plan.streamed),
                // usize to u64 widens.
                right(percent(plan.products as u64, (plan.batches * LANES) as u64)),
                right(plan.reductions),
                right(grouped(plan.table_bytes as u64)),
                right(grouped(plan.predicted_cycles)),
            ]),
        }
        cells.push(right(grouped(block.scalar_cycles)));
        rows.add_row(cells);
    }
    rows
}
