//! Report of an execution: the JSON object, and a table for people. One place, so that all commands say the same.

mod blocks;

use comfy_table::{CellAlignment, Table};
use residue_workbench::Machine;
use residue_workbench::{Execution, Setup};
use serde_json::Value;

use crate::input::MemoryRange;
use crate::output::hex;
use crate::tables::{duration, grouped, percent, right, short_hex, table, times_as_long, verdict};

/// Mnemonics that the table for people shows one by one.
const OPS_SHOWN: usize = 12;

/// The JSON object of an execution.
pub fn to_json(setup: &Setup, execution: &Execution, memory: Option<&MemoryRange>, machine: &Machine) -> Value {
    let memory = memory.map(|range| range.of(&execution.ended.memory));
    residue_workbench::report::execution(setup, execution, memory.as_deref(), machine)
}

/// The tables of an execution.
pub fn to_text(setup: &Setup, execution: &Execution, memory: Option<&MemoryRange>, machine: &Machine) -> String {
    let mut parts = vec![result_table(setup, execution).trim_fmt()];
    if let Some(counted) = &execution.counted {
        parts.push(String::new());
        parts.push(ops_table(&counted.ops).trim_fmt());
    }
    if let Some(found) = &execution.blocks {
        parts.push(String::new());
        parts.push(blocks::to_table(found).trim_fmt());
    }
    parts.push(String::new());
    parts.push(format!("output  {}", short_hex(&execution.ended.output)));
    if let Some(range) = memory {
        parts.push(format!("memory  {}", hex(&range.of(&execution.ended.memory))));
    }
    parts.push(format!("machine {}", machine.to_line()));
    parts.join("\n")
}

fn result_table(setup: &Setup, execution: &Execution) -> Table {
    let ended = &execution.ended;
    let rules = format!("{}, schedule {}, {}", setup.revision, setup.schedule.name(), setup.fork);
    let mut rows = table(&["", &format!("engine {}", setup.kind.name()), &rules]);
    rows.add_row(vec!["halt".into(), verdict(ended.halt, ended.is_success).set_alignment(CellAlignment::Right)]);
    rows.add_row(vec!["gas used".into(), right(grouped(ended.gas_used))]);
    if let Some(counted) = &execution.counted {
        let split = counted.gas_split;
        for (name, gas) in [
            ("  arithmetic", split.arithmetic),
            ("  transfer", split.transfer),
            ("  memory", split.memory),
            ("  control", split.control),
        ] {
            rows.add_row(vec![name.into(), right(grouped(gas)), right(percent(gas, ended.gas_used))]);
        }
    }
    rows.add_row(vec!["code".into(), right(format!("{} bytes", grouped(execution.code_bytes as u64)))]);
    rows.add_row(vec!["memory".into(), right(format!("{} bytes", grouped(ended.memory.len() as u64)))]);
    if let Some(times) = execution.times {
        let warm = format!("median of {}", times.rounds);
        rows.add_row(vec!["time".into(), right(duration(times.time_ns)), warm.into()]);
        rows.add_row(vec!["first time".into(), right(duration(times.cold_ns)), "with analysis".into()]);
        if let Some(native) = times.native {
            let ratio = format!("the code takes {}", times_as_long(native.ratio));
            rows.add_row(vec!["native".into(), right(duration(native.time_ns)), ratio.into()]);
        }
    }
    rows
}

/// Executed instructions, the most frequent first.
fn ops_table(ops: &[(&str, u64)]) -> Table {
    let mut ops = ops.to_vec();
    ops.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let total: u64 = ops.iter().map(|&(_, count)| count).sum();
    let mut rows = table(&["instruction", "executed", ""]);
    let mut row = |name: &str, count| {
        rows.add_row(vec![name.into(), right(grouped(count)), right(percent(count, total))]);
    };
    let (shown, others) = ops.split_at(ops.len().min(OPS_SHOWN));
    for &(mnemonic, count) in shown {
        row(mnemonic, count);
    }
    if !others.is_empty() {
        row("others", others.iter().map(|&(_, count)| count).sum());
    }
    row("all", total);
    rows
}
