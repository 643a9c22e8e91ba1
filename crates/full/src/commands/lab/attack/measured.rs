//! Measurements of `residue lab attack` without a search: cycles through many contracts, and each instruction by
//! itself.

use anyhow::Result;
use residue_lab::attack::CODE_BYTES_MAX;
use residue_lab::attack::cycle::{Cycle, Cycled, cycle as cycle_through};
use residue_lab::attack::extremes::{Extreme, extremes};
use serde_json::{Value, json};

use super::{AttackArgs, rules};
use crate::recording::Recording;
use residue_command::output;
use residue_command::tables::{right, table};
use residue_command::verdict::Verdict;

/// Contracts of a cycle, turns through them, and rounds: thorough, and in a hurry.
const THOROUGH: (u16, u64, usize) = (2000, 3, 5);
const QUICK: (u16, u64, usize) = (100, 2, 1);
/// Instructions of a revision that are shown; JSON and records have all.
const SHOWN: usize = 8;

/// Measures cycles.
pub fn cycle(args: &AttackArgs, json: bool) -> Result<Verdict> {
    let (contracts, turns, rounds) = if args.quick { QUICK } else { THOROUGH };
    let cycles: Vec<Cycle> = rules(args)?
        .into_iter()
        .map(|(revision, schedule)| Cycle { revision, schedule, contracts, code_bytes: CODE_BYTES_MAX, turns, rounds })
        .collect();
    let recording = Recording::new(args.record.as_deref());
    let measured = recording.measure("cycle", json, |observer| cycle_through(&cycles, observer))?;
    let Some((cycled, mut record)) = measured else { return Ok(Verdict::Bad) };
    recording.keep(&mut record)?;
    if json {
        output::json(&json!({ "cycles": cycled.iter().map(cycle_object).collect::<Vec<_>>() }))?;
    } else {
        let mut rows = table(&["revision", "contracts", "hold", "ns per gas", "plain", "ratio", "first time", "plain"]);
        for cycled in &cycled {
            let [later, first] = [cycled.later, cycled.first].map(|both| both.map(|one| format!("{:.1}", one.median)));
            let [[later, later_plain], [first, first_plain]] = [later, first];
            rows.add_row(vec![
                cycled.revision.name().into(),
                right(cycled.contracts.to_string()),
                cycled.content.name().into(),
                right(later),
                right(later_plain),
                right(format!("{:.2}", cycled.ratio())),
                right(first),
                right(first_plain),
            ]);
        }
        output::result(&rows.trim_fmt())?;
    }
    Ok(Verdict::Good)
}

fn cycle_object(cycled: &Cycled) -> Value {
    let both = |[batch, plain]: [residue_workbench::statistics::Spread; 2]| json!({ "batch": batch.median, "plain": plain.median });
    json!({
        "revision": cycled.revision.name(),
        "content": cycled.content.name(),
        "contracts": cycled.contracts,
        "ns_per_gas": both(cycled.later),
        "first_ns_per_gas": both(cycled.first),
        "ratio": cycled.ratio(),
    })
}

/// Measures instructions.
pub fn instructions(args: &AttackArgs, json: bool) -> Result<Verdict> {
    let rules = rules(args)?;
    let rounds = if args.quick { 1 } else { 5 };
    let recording = Recording::new(args.record.as_deref());
    let measured = recording.measure("extremes", json, |observer| extremes(&rules, args.gas, rounds, observer))?;
    let Some((found, mut record)) = measured else { return Ok(Verdict::Bad) };
    recording.keep(&mut record)?;
    let object = |extreme: &Extreme| {
        json!({
            "revision": extreme.revision.name(),
            "instruction": extreme.name,
            "plain_ns_per_gas": extreme.ns_per_gas.median,
        })
    };
    if json {
        output::json(&json!({ "instructions": found.iter().map(object).collect::<Vec<_>>() }))?;
        return Ok(Verdict::Good);
    }
    let mut rows = table(&["revision", "instruction", "ns per gas without blocks"]);
    for (revision, _) in &rules {
        for extreme in found.iter().filter(|extreme| extreme.revision == *revision).take(SHOWN) {
            let ns_per_gas = right(format!("{:.1}", extreme.ns_per_gas.median));
            rows.add_row(vec![revision.name().into(), extreme.name.as_str().into(), ns_per_gas]);
        }
    }
    output::result(&rows.trim_fmt())?;
    Ok(Verdict::Good)
}
