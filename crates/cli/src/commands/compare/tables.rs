//! The tables of a comparison: revisions as rows, since there are many; gas and size first, operation counts below.

use residue_workbench::Machine;
use residue_workbench::op_classes::OpClasses;

use super::{ComparedRow, Comparison, LeftOut};
use crate::tables::{duration, grouped, right, short_hex, table, times_as_long, verdict};

/// Headings of [`costs`].
const COSTS: [&str; 7] = ["gas", "arithmetic", "transfer", "growth", "control", "code bytes", "memory bytes"];

impl Comparison {
    /// The tables for people.
    pub(super) fn to_text(&self, machine: &Machine) -> String {
        let mut parts = vec![
            format!("{}: {}", self.compared.name(), self.compared.summary()),
            format!("input of {} bytes; {}", grouped(self.input.len() as u64), self.native_line()),
            String::new(),
            self.costs_table(),
            String::new(),
            self.executed_table(),
        ];
        if !self.left_out.is_empty() {
            parts.push(String::new());
            let mut left_out = table(&["left out", "because"]);
            for LeftOut { revision, reason, .. } in &self.left_out {
                left_out.add_row([revision.name(), reason]);
            }
            parts.push(left_out.trim_fmt());
        }
        parts.extend([String::new(), machine.to_line()]);
        parts.join("\n")
    }

    /// One table in Markdown, with what was left out below it.
    pub(super) fn to_markdown(&self) -> String {
        let is_timed = self.rows.iter().any(|row| row.execution.times.is_some());
        let times: &[&str] = if is_timed { &["time", "time / native"] } else { &[] };
        let numbers: Vec<&str> = [&COSTS, &OpClasses::HEADINGS[..], times].concat();
        let mut lines = vec![
            format!("| revision | schedule | result | {} |", numbers.join(" | ")),
            format!("|---|---|---|{}", "---:|".repeat(numbers.len())),
        ];
        for row in &self.rows {
            let mut cells = vec![row.setup.revision.name().into(), self.schedule(row), self.result(row)];
            cells.extend(costs(row).map(shown));
            cells.extend(executed(row).map(shown));
            if is_timed {
                cells.extend(times_of(row));
            }
            lines.push(format!("| {} |", cells.join(" | ")));
        }
        if !self.left_out.is_empty() {
            lines.push(String::new());
            lines.push("Left out:".to_owned());
            lines.push(String::new());
        }
        for LeftOut { revision, reason, .. } in &self.left_out {
            lines.push(format!("- {revision}: {reason}"));
        }
        lines.join("\n")
    }

    fn native_line(&self) -> String {
        match &self.native {
            None => match &self.expected {
                Some(output) => format!("no precompile; evaluated it returns {}", short_hex(output)),
                None => "no precompile; evaluated it refuses the input".to_owned(),
            },
            Some(Ok(native)) => {
                let output = short_hex(&native.output);
                format!("the precompile charges {} gas and returns {output}", grouped(native.gas_used))
            }
            Some(Err(error)) => error.to_string(),
        }
    }

    fn costs_table(&self) -> String {
        let headings = ["revision", "schedule", "result"].into_iter().chain(COSTS).chain(["time", "time / native"]);
        let mut rows = table(&headings.collect::<Vec<_>>());
        for row in &self.rows {
            let mut cells = vec![
                row.setup.revision.name().into(),
                self.schedule(row).into(),
                verdict(&self.result(row), row.agrees),
            ];
            cells.extend(costs(row).map(|number| right(shown(number))));
            cells.extend(times_of(row).map(right));
            rows.add_row(cells);
        }
        rows.trim_fmt()
    }

    fn executed_table(&self) -> String {
        let headings = ["executed", "schedule"].into_iter().chain(OpClasses::HEADINGS);
        let mut rows = table(&headings.collect::<Vec<_>>());
        for row in &self.rows {
            let mut cells = vec![row.setup.revision.name().into(), self.schedule(row).into()];
            cells.extend(executed(row).map(|number| right(shown(number))));
            rows.add_row(cells);
        }
        rows.trim_fmt()
    }

    /// Reference for the results, in words.
    fn judge(&self) -> &'static str {
        if self.native.is_some() { "as native" } else { "as evaluated" }
    }

    /// The schedule of a row, with the formulas if they were asked for.
    fn schedule(&self, row: &ComparedRow) -> String {
        let schedule = row.setup.schedule.name();
        match row.f2mul.filter(|_| self.is_choice_shown) {
            Some(multiplications) => format!("{schedule}, f2mul {multiplications}"),
            None => schedule.to_owned(),
        }
    }

    /// Agreement of a row's result with the reference.
    fn result(&self, row: &ComparedRow) -> String {
        let ended = &row.execution.ended;
        match (row.agrees, &row.execution.disagreement) {
            (true, _) if !ended.is_success => format!("{}, {}", ended.halt, self.judge()),
            (true, _) => self.judge().to_owned(),
            (false, Some(disagreement)) => format!("engines disagree: {disagreement}"),
            (false, None) if ended.is_success => "DIFFERS".to_owned(),
            (false, None) => ended.halt.to_owned(),
        }
    }
}

/// Gas, its parts, and sizes; none where it is not known.
fn costs(row: &ComparedRow) -> [Option<u64>; 7] {
    let split = row.execution.counted.as_ref().map(|counted| counted.gas_split);
    [
        Some(row.execution.ended.gas_used),
        split.map(|split| split.arithmetic),
        split.map(|split| split.transfer),
        split.map(|split| split.memory),
        split.map(|split| split.control),
        u64::try_from(row.execution.code_bytes).ok(),
        u64::try_from(row.execution.ended.memory.len()).ok(),
    ]
}

/// Executed instructions by class.
fn executed(row: &ComparedRow) -> [Option<u64>; 8] {
    match row.classes() {
        Some(classes) => classes.cells().map(Some),
        None => [None; 8],
    }
}

/// The time, and how many times as long as the native library it is.
fn times_of(row: &ComparedRow) -> [String; 2] {
    let times = row.execution.times;
    let ratio = times.and_then(|times| times.native).map(|native| times_as_long(native.ratio));
    [times.map_or(String::new(), |times| duration(times.time_ns)), ratio.unwrap_or_default()]
}

fn shown(number: Option<u64>) -> String {
    number.map_or(String::new(), grouped)
}
