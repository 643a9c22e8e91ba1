//! JSON of code, executions, traces and profiles: one place for the command line and Python.
//!
//! The fields of an object are always the same; what is not known is null. Bytes are hexadecimal after 0x.

use residue_compiler::{BlockCheck, Compiled, SmallMultiples};
use residue_engine::{BlockExplained, Fork, accounts};
use residue_isa::FieldOp;
use serde_json::{Map, Value, json};

use crate::execution::{Execution, Setup};
use crate::inspect::profile::Profile;
use crate::inspect::trace::Executed;
use crate::machine::Machine;
use crate::variants::Trial;

/// Lower-case hexadecimal after 0x.
pub fn hex(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

/// The code, what is known of it, and what accounts of the fork take it for. `code_bytes_max` is null where they take any.
pub fn code(compiled: &Compiled, fork: Fork) -> Value {
    let (bytes, bytes_max) = (compiled.code.len(), accounts::code_bytes_max(fork));
    let check = |check: &BlockCheck| {
        let BlockCheck { function, bytes, operations, results } = check;
        json!({ "function": function, "from": bytes.start, "to": bytes.end, "operations": operations, "results": results })
    };
    let functions = compiled.source_map.functions().map(|(name, range)| (name.to_owned(), range.len().into()));
    json!({
        "revision": compiled.revision.name(),
        "code": hex(&compiled.code),
        "code_bytes": bytes,
        "code_bytes_max": bytes_max,
        "fits": fits(bytes, fork),
        "deployment_gas": deployment_gas(bytes, fork),
        "instruction_bytes": compiled.instruction_bytes,
        "slots": compiled.slots,
        "memory_bytes": compiled.memory_bytes,
        "field_instructions": compiled.field_instructions,
        "operations": compiled.operations,
        "functions": functions.collect::<Map<_, _>>(),
        "checked_blocks": compiled.checks.iter().map(check).collect::<Vec<_>>(),
    })
}

/// True if accounts of the fork hold so many bytes of code.
pub fn fits(bytes: usize, fork: Fork) -> bool {
    accounts::code_bytes_max(fork).is_none_or(|bytes_max| bytes <= bytes_max)
}

/// Gas of so many bytes of deployed code: the fork's price of a byte, without the transaction, its calldata and CREATE.
pub fn deployment_gas(bytes: usize, fork: Fork) -> u64 {
    bytes as u64 * accounts::gas_per_code_byte(fork) // usize to u64 widens
}

/// A variant of a contract, with the gas of its example.
pub fn variant(trial: &Trial) -> Value {
    let Trial { variant, compiled, gas, .. } = trial;
    json!({
        "f2mul": variant.product.multiplications(),
        "small_multiples": small_multiples(variant.multiples),
        "gas": gas,
        "code_bytes": compiled.code.len(),
    })
}

/// Method for small multiples, in words.
pub const fn small_multiples(multiples: SmallMultiples) -> &'static str {
    match multiples {
        SmallMultiples::AsWritten => "additions",
        SmallMultiples::ProductForThree => "a product for 3 additions",
        SmallMultiples::ProductForTwo => "a product for 2 additions",
    }
}

/// An execution, with `memory` if some of it was asked for. `blocks` comes only where they were explained.
pub fn execution(setup: &Setup, execution: &Execution, memory: Option<&[u8]>, machine: &Machine) -> Value {
    let ended = &execution.ended;
    let times = execution.times;
    let gas_split = execution.counted.as_ref().map(|counted| {
        let split = counted.gas_split;
        json!({
            "arithmetic": split.arithmetic,
            "transfer": split.transfer,
            "memory": split.memory,
            "control": split.control,
        })
    });
    let ops = execution.counted.as_ref().map(|counted| {
        counted.ops.iter().map(|&(mnemonic, count)| (mnemonic.to_owned(), count.into())).collect::<Map<_, _>>()
    });
    let mut object = json!({
        "success": ended.is_success,
        "halt": ended.halt,
        "output": hex(&ended.output),
        "gas_used": ended.gas_used,
        "gas_split": gas_split,
        "ops": ops,
        "code_bytes": execution.code_bytes,
        "memory_bytes": ended.memory.len(),
        "memory": memory.map(hex),
        "time_ns": times.map(|times| times.time_ns),
        "cold_ns": times.map(|times| times.cold_ns),
        "native_ns": times.and_then(|times| times.native).map(|native| native.time_ns),
        "engine": setup.kind.name(),
        "revision": setup.revision.name(),
        "schedule": setup.schedule.name(),
        "fork": setup.fork.name(),
        "machine": machine.to_json(),
    });
    if let Some(blocks) = &execution.blocks {
        object["blocks"] = blocks.iter().map(block).collect();
    }
    object
}

/// A block. `plan` is null where it runs as a scalar trace, of `trace_steps`, or one by one if that is null too.
pub fn block(block: &BlockExplained) -> Value {
    let plan = block.plan.map(|plan| {
        json!({
            "products": plan.products,
            "batches": plan.batches,
            "batches_by_lanes": plan.batches_by_lanes,
            "streamed": plan.streamed,
            "linear": plan.linear,
            "companions": plan.companions,
            "carries": plan.carries,
            "reductions": plan.reductions,
            "temporary_rows": plan.temporary_rows,
            "table_bytes": plan.table_bytes,
            "predicted_cycles": plan.predicted_cycles,
            "slots": block.slots,
            "lanes": block.lanes,
        })
    });
    json!({
        "from": block.code.start,
        "to": block.code.end,
        "runs": block.runs,
        "add": block.operations[FieldOp::Add],
        "sub": block.operations[FieldOp::Sub],
        "mul": block.operations[FieldOp::Mul],
        "scalar_cycles": block.scalar_cycles,
        "plan": plan,
        "trace_steps": block.trace_steps,
    })
}

/// A step of a trace, with where it comes from.
pub fn step(executed: &Executed, source: Option<String>) -> Value {
    let lanes = executed.lanes.iter().map(|lane| {
        let text = |part: Option<String>| part.map_or(Value::Null, Value::from);
        let places = lane.places.map(|place| text(place.map(|place| place.to_string())));
        let values = lane.values.each_ref().map(|value| text(value.as_ref().map(|value| format!("{value:#x}"))));
        let [out, x, y] = places;
        let [out_value, x_value, y_value] = values;
        json!({
            "operation": lane.operation.map(|operation| operation.to_string()),
            "out": { "at": out, "value": out_value },
            "x": { "at": x, "value": x_value },
            "y": { "at": y, "value": y_value },
        })
    });
    json!({
        "depth": executed.depth,
        "pc": executed.pc,
        "mnemonic": executed.mnemonic,
        "words": executed.words.iter().map(|word| hex(word)).collect::<Vec<_>>(),
        "lanes": lanes.collect::<Vec<_>>(),
        "gas_cost": executed.gas_cost,
        "source": source,
        "halt": executed.halt.map(|halt| halt.name()),
    })
}

/// A profile: its tree, and the table by name.
pub fn profile(profile: &Profile) -> Value {
    let timed = |time_ns: f64| profile.time_ns.map(|_| (time_ns * 10.0).round() / 10.0);
    let nodes = profile.nodes.iter().map(|node| {
        json!({
            "name": node.name,
            "parent": node.parent,
            "is_function": node.is_function,
            "calls": node.calls,
            "gas": node.gas,
            "time_ns": timed(node.time_ns),
        })
    });
    let by_name = profile.by_name().into_iter().map(|line| {
        json!({
            "name": line.name,
            "calls": line.calls,
            "gas": line.gas,
            "gas_with_callees": line.gas_with_callees,
            "time_ns": timed(line.time_ns),
            "time_with_callees_ns": timed(line.time_with_callees_ns),
        })
    });
    json!({
        "gas_used": profile.gas_used,
        "time_ns": profile.time_ns.map(f64::round),
        "by_name": by_name.collect::<Vec<_>>(),
        "nodes": nodes.collect::<Vec<_>>(),
    })
}
