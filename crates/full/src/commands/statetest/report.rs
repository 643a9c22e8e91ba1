//! Summary of a run, for people and as JSON.

use std::collections::BTreeMap;

use residue_statetest::{Counts, Difference, Failure, Fault, Place, Report, Rules, Subject, Use, batching_name};
use serde_json::{Map, Value, json};

use residue_command::tables::{grouped, right, table};

/// Failures that are shown to people.
const FAILURES_SHOWN: usize = 20;
/// Files and parts of files without state tests that are shown to people.
const OTHERS_SHOWN: usize = 10;

/// One line: how many entries came to what.
pub fn sentence(report: &Report) -> String {
    let Counts { passed, uses, skipped, failed } = report.total;
    let [all, passed, uses, skipped, failed] = [report.total.all(), passed, uses, skipped, failed].map(grouped);
    let (files, tests) = (grouped(report.files), grouped(report.tests));
    format!(
        "{all} entries of {tests} tests in {files} files: {passed} passed, {failed} failed, {skipped} skipped, {uses} use opcodes of a revision"
    )
}

/// The tables and lists.
pub fn text(report: &Report, subjects: &[Subject], seconds: f64) -> String {
    let mut parts = vec![counts("folder", report.by_folder.iter().map(|(name, counts)| (name.as_str(), *counts)))];
    parts.push(counts("fork", report.by_fork.iter().map(|(fork, counts)| (fork.name.as_str(), *counts))));
    let skipped = report.skip_reasons();
    let skipped = skipped.iter().map(|(reason, count)| format!("  {}: {reason}", grouped(*count)));
    parts.extend(list("Skipped:\n", skipped));
    let uses = report.uses_by_opcode();
    let uses = uses.iter().map(|((revision, opcode), count)| match opcode {
        Some((opcode, mnemonic)) => format!("  {revision}: {} execute {opcode:#04x}, {mnemonic}", grouped(*count)),
        None => format!("  {revision}: {} jump to a target that its immediates move", grouped(*count)),
    });
    parts.extend(list("Entries with opcodes of a revision, which do something else under it:\n", uses));
    if !report.spared.is_empty() {
        parts.push(format!(
            "{} entries execute so much that they ran under one revision of each family; --revision all has no exception.",
            grouped(report.spared.len() as u64) // Widens.
        ));
    }
    let others = report.others.iter().take(OTHERS_SHOWN).map(|(path, what)| format!("  {}: {what}", path.display()));
    let more = report.others.len().saturating_sub(OTHERS_SHOWN);
    let more = (more > 0).then(|| format!("  and {} more, which --json has", grouped(more as u64))); // Widens.
    parts.extend(list("Left out:\n", others.chain(more)));
    parts.extend(failures(report));
    parts.push(format!("{}, under {}, in {seconds:.1} s", sentence(report), rules(subjects)));
    parts.join("\n\n")
}

/// Everything.
pub fn json(report: &Report, subjects: &[Subject], seconds: f64) -> Value {
    let with_place = |place: &Place, more: Value| {
        let mut object = place_json(place);
        object.extend(more.as_object().cloned().unwrap_or_default());
        Value::Object(object)
    };
    let mut skipped: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (place, reason) in &report.skipped {
        skipped.entry(reason).or_default().push(Value::Object(place_json(place)));
    }
    let failed = report
        .failed
        .iter()
        .flat_map(|(place, failures)| failures.iter().map(move |failure| with_place(place, failure_json(failure))));
    let uses = report.uses.iter().map(|(place, uses)| {
        let uses = uses.iter().map(|(revision, used)| use_json(revision.name(), used));
        with_place(place, json!({ "uses": uses.collect::<Vec<_>>() }))
    });
    let refused = report
        .refused
        .iter()
        .map(|(place, expected, reason)| with_place(place, json!({ "expected": expected, "reason": reason })));
    let by_fork = report.by_fork.iter().map(|(fork, counts)| (fork.name.clone(), counts_json(*counts)));
    let by_folder = report.by_folder.iter().map(|(folder, counts)| (folder.clone(), counts_json(*counts)));
    json!({
        "success": report.total.failed == 0 && report.unreadable.is_empty(),
        "files": report.files,
        "tests": report.tests,
        "entries": counts_json(report.total),
        "folders": by_folder.collect::<Map<_, _>>(),
        "forks": by_fork.collect::<Map<_, _>>(),
        "rules": subjects.iter().map(subject_json).collect::<Vec<_>>(),
        "failures": failed.collect::<Vec<_>>(),
        "skips": skipped.into_iter().map(|(reason, entries)| json!({
            "reason": reason, "count": entries.len(), "entries": entries,
        })).collect::<Vec<_>>(),
        "uses": uses.collect::<Vec<_>>(),
        "refused": refused.collect::<Vec<_>>(),
        "spared": report.spared.iter().map(|place| Value::Object(place_json(place))).collect::<Vec<_>>(),
        "others": report.others.iter().map(|(path, what)| json!({ "file": path, "what": what })).collect::<Vec<_>>(),
        "unreadable": report.unreadable.iter().map(|error| json!({
            "file": error.path(), "message": error.to_string(),
        })).collect::<Vec<_>>(),
        "seconds": seconds,
    })
}

fn counts<'a>(heading: &str, rows: impl Iterator<Item = (&'a str, Counts)>) -> String {
    let mut counts = table(&[heading, "entries", "passed", "use opcodes", "skipped", "failed"]);
    for (name, row) in rows {
        let numbers = [row.all(), row.passed, row.uses, row.skipped, row.failed];
        let cells = numbers.map(|number| if number == 0 { right("") } else { right(grouped(number)) });
        counts.add_row([comfy_table::Cell::new(name)].into_iter().chain(cells));
    }
    counts.trim_fmt()
}

fn list(heading: &str, lines: impl Iterator<Item = String>) -> Option<String> {
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| format!("{heading}{}", lines.join("\n")))
}

fn failures(report: &Report) -> Option<String> {
    let shown = report.failed.iter().take(FAILURES_SHOWN).map(|(place, failures)| {
        let Place { path, test, fork, indexes, .. } = place;
        let index = format!("{},{},{}", indexes.data, indexes.gas, indexes.value);
        let mut lines = vec![format!("  {}: {test}, {}, index {index}", path.display(), fork.name)];
        for Failure { rules, fault, differences } in failures {
            lines.push(format!("    {rules}: {fault}"));
            lines.extend(differences.iter().map(|difference| format!("      {difference}")));
        }
        lines.join("\n")
    });
    let more = report.failed.len().saturating_sub(FAILURES_SHOWN);
    let more = (more > 0).then(|| format!("  and {more} more, which --json has"));
    list("Failed:\n", shown.chain(more))
}

/// Under what the entries ran.
fn rules(subjects: &[Subject]) -> String {
    let engines: usize = subjects.iter().map(|subject| subject.engines.len()).sum();
    match subjects.len() {
        0 => "stock rules".to_owned(),
        1 => format!("stock rules and {}, {engines} executions of it", subjects[0].revision),
        count => format!("stock rules and {count} revisions, {engines} executions of them"),
    }
}

fn place_json(place: &Place) -> Map<String, Value> {
    let Place { path, test, fork, indexes, .. } = place;
    let mut object = Map::new();
    object.insert("file".to_owned(), json!(path));
    object.insert("test".to_owned(), json!(test));
    object.insert("fork".to_owned(), json!(fork.name));
    object.insert("index".to_owned(), json!({ "data": indexes.data, "gas": indexes.gas, "value": indexes.value }));
    object
}

fn counts_json(counts: Counts) -> Value {
    let Counts { passed, uses, skipped, failed } = counts;
    json!({ "all": counts.all(), "passed": passed, "uses": uses, "skipped": skipped, "failed": failed })
}

fn subject_json(subject: &Subject) -> Value {
    let batchings = subject.engines.iter().map(|engine| batching_name(engine.config().batching));
    json!({ "revision": subject.revision.name(), "batching": batchings.collect::<Vec<_>>() })
}

fn failure_json(failure: &Failure) -> Value {
    let (revision, batching) = match failure.rules {
        Rules::Stock => (None, None),
        Rules::Revision(revision, batching) => (Some(revision.name()), Some(batching)),
    };
    let mut object = json!({
        "revision": revision,
        "batching": batching,
        "message": failure.fault.to_string(),
        "differences": failure.differences,
    });
    if let Fault::Fields { differences } = &failure.fault {
        let field = |Difference { field, got, expected }: &Difference| json!({ "field": field, "expected": expected, "got": got });
        object["fields"] = differences.iter().map(field).collect();
    }
    let what = match failure.fault {
        Fault::Root { got, expected } => Some(("root", got, expected)),
        Fault::Logs { got, expected } => Some(("logs", got, expected)),
        _ => None,
    };
    if let Some((what, got, expected)) = what {
        object[format!("expected_{what}")] = json!(expected.to_string());
        object[format!("got_{what}")] = json!(got.to_string());
    }
    object
}

fn use_json(revision: &str, used: &Use) -> Value {
    match used {
        Use::Executes { opcode, mnemonic, pc } => {
            json!({ "revision": revision, "opcode": format!("{opcode:#04x}"), "mnemonic": mnemonic, "pc": pc })
        }
        Use::Jumps { pc, target } => json!({ "revision": revision, "pc": pc, "target": target }),
    }
}
