//! A record of runs, as a file of comments and comma-separated rows, and the tables that are made of it.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use residue_pages::grouped;

use crate::machine::{Counts, Form, Width};
use crate::subjects::SUBJECTS;

/// The record that the page shows, from the project's folder. The lab reads all records that end in .csv: those are of times.
pub const FILE: &str = "records/riscv/2026-11-28-proving.txt";
/// The page, and the name of its part that is made of the record.
pub const PAGE: &str = "docs/proving.md";
/// Part of the page.
pub const PART: &str = "proving";

const COLUMNS: &str = "machine,subject,form,instructions,cycles,mul256,add256,sub256,mul384,add384,sub384";
/// Instructions that a call is taken to be worth, in the table of sensitivity.
const WEIGHTS: [u64; 4] = [1, 10, 100, 1000];

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Name of the width.
    pub machine: String,
    /// Name of the call.
    pub subject: String,
    /// Name of the form.
    pub form: String,
    /// Its counts.
    pub counts: Counts,
}

/// A run as a row of comma-separated cells.
pub trait Cells: Sized {
    /// Names of the cells.
    const COLUMNS: &'static str;

    /// Name of the call.
    fn subject(&self) -> &str;

    /// The row.
    fn print(&self) -> String;

    /// Of the cells of a row, as many as there are columns.
    fn read(cells: &[&str]) -> Result<Self>;
}

/// Runs with what they depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<R = Row> {
    /// Names and values, in their order.
    pub environment: Vec<(String, String)>,
    /// The runs.
    pub rows: Vec<R>,
}

/// The record's place on this machine.
pub fn path() -> PathBuf {
    residue_pages::path(FILE)
}

impl<R: Cells> Record<R> {
    /// As a file.
    pub fn text(&self) -> String {
        let environment = self.environment.iter().map(|(name, value)| format!("# {name}: {value}\n"));
        let rows = self.rows.iter().map(|row| format!("{}\n", row.print()));
        environment.chain([format!("{}\n", R::COLUMNS)]).chain(rows).collect()
    }

    /// Of a file's text. An error names the line that is not of that form.
    pub fn parse(text: &str) -> Result<Self> {
        let mut record = Self { environment: Vec::new(), rows: Vec::new() };
        for (number, line) in text.lines().enumerate() {
            let at = || format!("line {}: {line:?}", number + 1);
            if let Some(comment) = line.strip_prefix("# ") {
                let (name, value) = comment.split_once(": ").with_context(at)?;
                record.environment.push((name.to_owned(), value.to_owned()));
            } else if line != R::COLUMNS {
                let cells: Vec<&str> = line.split(',').collect();
                let is_whole = cells.len() == R::COLUMNS.split(',').count();
                ensure!(is_whole, "{}: {} cells in place of those of {}", at(), cells.len(), R::COLUMNS);
                record.rows.push(R::read(&cells).with_context(at)?);
            }
        }
        Ok(record)
    }

    /// Puts runs in the place of all others of their calls, in the order of tables.
    pub fn replace(&mut self, rows: Vec<R>) {
        self.rows.retain(|known| rows.iter().all(|row| row.subject() != known.subject()));
        self.rows.extend(rows);
        self.rows.sort_by_key(|row| SUBJECTS.iter().position(|subject| subject.names[0] == row.subject()));
    }

    /// First line below a part of the page: the record's file, and what its runs depend on.
    pub fn heading(&self, file: &str) -> String {
        let environment: Vec<String> =
            self.environment.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        format!("[Record](../{file}). {}.\n", environment.join("; "))
    }
}

impl Cells for Row {
    const COLUMNS: &'static str = COLUMNS;

    fn subject(&self) -> &str {
        &self.subject
    }

    fn print(&self) -> String {
        let Self { machine, subject, form, counts } = self;
        let calls = counts.calls.map(|calls| calls.to_string()).join(",");
        format!("{machine},{subject},{form},{},{},{calls}", counts.instructions, counts.cycles)
    }

    fn read(cells: &[&str]) -> Result<Self> {
        let numbers: Vec<u64> = cells[3..].iter().map(|cell| cell.parse()).collect::<Result<_, _>>()?;
        let mut calls = [0; 6];
        calls.copy_from_slice(&numbers[2..]);
        let counts = Counts { instructions: numbers[0], cycles: numbers[1], calls };
        let [machine, subject, form] = [cells[0], cells[1], cells[2]].map(str::to_owned);
        Ok(Self { machine, subject, form, counts })
    }
}

impl Record {
    /// Counts of a run, if it is in the record.
    pub fn of(&self, width: Width, subject: &str, form: Form) -> Option<Counts> {
        let is_it = |row: &&Row| row.machine == width.name() && row.subject == subject && row.form == form.name();
        self.rows.iter().find(is_it).map(|row| row.counts)
    }

    /// All tables of the page.
    pub fn tables(&self) -> String {
        let mut text = self.heading(FILE);
        for width in Width::ALL {
            self.instructions(width, &mut text);
        }
        self.calls(&mut text);
        self.sensitivity(&mut text);
        self.cycles(&mut text);
        text
    }

    fn instructions(&self, width: Width, text: &mut String) {
        let _ = write!(
            text,
            "\n**Instructions, {}**, in thousands; in brackets what of (a) that is.\n\n\
             | call | (a) native | (b) software | (c) calls | today's EVM | (d) MULMOD by call |\n|---|---:|---:|---:|---:|---:|\n",
            width.name()
        );
        for subject in SUBJECTS {
            let native = self.of(width, subject.names[0], Form::Native).map(|counts| counts.instructions);
            let [_, _, forms @ ..] = Form::ALL;
            let cells = forms.map(|form| match self.of(width, subject.names[0], form) {
                None => "–".to_owned(),
                Some(Counts { instructions, .. }) => match native.filter(|_| form != Form::Native) {
                    None => thousands(instructions),
                    Some(native) => format!("{} ({})", thousands(instructions), times(instructions, native)),
                },
            });
            let _ = writeln!(text, "| {} | {} |", subject.names[1], cells.join(" | "));
        }
    }

    fn calls(&self, text: &mut String) {
        text.push_str(
            "\n**Calls**, the same on both machines.\n\n\
             | call | (c) products | sums and differences | bits | instructions, rv64im, in thousands | jump targets of them | others a call | (d) MULMOD |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
        );
        for subject in SUBJECTS {
            let Some(counts) = self.of(Width::Bits64, subject.names[0], Form::Calls) else { continue };
            let [narrow, wide] = [&counts.calls[..3], &counts.calls[3..]];
            let bits = match (narrow.iter().sum::<u64>() > 0, wide.iter().sum::<u64>() > 0) {
                (true, false) => "256",
                (false, true) => "384",
                _ => "both",
            };
            let [products, add, sub] = [0, 1, 2].map(|kind| narrow[kind] + wide[kind]);
            let words = self.of(Width::Bits64, subject.names[0], Form::WordsByCalls);
            let words = words.map_or("–".to_owned(), |counts| grouped(counts.calls[0]));
            let all: u64 = counts.calls.iter().sum();
            let analysis = self.of(Width::Bits64, subject.names[0], Form::Analysis).unwrap_or_default().instructions;
            let each = counts.instructions.saturating_sub(analysis).checked_div(all).unwrap_or_default();
            let [instructions, analysis] = [counts.instructions, analysis].map(thousands);
            let [products, sums] = [products, add + sub].map(grouped);
            let cells = [products, sums, bits.to_owned(), instructions, analysis, grouped(each), words];
            let _ = writeln!(text, "| {} | {} |", subject.names[1], cells.join(" | "));
        }
    }

    fn sensitivity(&self, text: &mut String) {
        let _ = write!(
            text,
            "\n**If a call costs as much as N instructions**, (c) as a multiple of (a), rv64im; last, the N at which they are equal.\n\n| call |{} equal at N |\n|---|{}---:|\n",
            WEIGHTS.map(|weight| format!(" N = {} |", grouped(weight))).concat(),
            "---:|".repeat(WEIGHTS.len())
        );
        for subject in SUBJECTS {
            let of = |form| self.of(Width::Bits64, subject.names[0], form);
            let (Some(native), Some(counts)) = (of(Form::Native), of(Form::Calls)) else { continue };
            let calls: u64 = counts.calls.iter().sum();
            // A call is one instruction already.
            let others = counts.instructions - calls;
            let cells = WEIGHTS.map(|weight| format!(" {} |", times(others + weight * calls, native.instructions)));
            let equal = native.instructions.checked_sub(others).and_then(|left| left.checked_div(calls));
            let equal = equal.map_or("never".to_owned(), grouped);
            let _ = writeln!(text, "| {} |{} {equal} |", subject.names[1], cells.concat());
        }
    }

    fn cycles(&self, text: &mut String) {
        text.push_str(
            "\n**Cycles as ckb-vm prices instructions**, in thousands, rv64im: (a), (b), and (c) with 500 for a call.\n\n\
             | call | (a) | (b) | (c) | library of (a) |\n|---|---:|---:|---:|---|\n",
        );
        for subject in SUBJECTS {
            let cells = [Form::Native, Form::Software, Form::Calls].map(|form| {
                self.of(Width::Bits64, subject.names[0], form)
                    .map_or("–".to_owned(), |counts| thousands(counts.cycles))
            });
            let _ = writeln!(text, "| {} | {} | {} |", subject.names[1], cells.join(" | "), subject.library);
        }
    }
}

pub(crate) fn thousands(number: u64) -> String {
    grouped((number + 500) / 1000)
}

/// a / b with two decimals below ten, one below a hundred.
pub(crate) fn times(a: u64, b: u64) -> String {
    let ratio = a as f64 / b as f64; // Far below 2⁵³.
    let decimals = if ratio < 10.0 { 2 } else { usize::from(ratio < 100.0) };
    format!("{ratio:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_written_and_bad_lines_are_named() {
        let row = Row {
            machine: "rv64im".to_owned(),
            subject: "g1-add".to_owned(),
            form: "calls".to_owned(),
            counts: Counts { instructions: 5, cycles: 9, calls: [0, 1, 2, 3, 4, 5] },
        };
        let record = Record { environment: vec![("rustc".to_owned(), "1.95: x".to_owned())], rows: vec![row] };
        assert_eq!(Record::<Row>::parse(&record.text()).unwrap(), record);
        for bad in ["rv64im,g1-add,calls,5", "a,b,c,1,2,3,4,5,6,7,x", "# rustc"] {
            let text = format!("{COLUMNS}\n{bad}\n");
            assert!(format!("{:#}", Record::<Row>::parse(&text).unwrap_err()).contains("line 2"), "{bad}");
        }
    }

    #[test]
    fn the_page_shows_the_record() {
        let record = Record::<Row>::parse(&residue_pages::read(FILE)).unwrap();
        for subject in SUBJECTS {
            assert!(
                record.of(Width::Bits32, subject.names[0], Form::Calls).is_some(),
                "{} is not in it",
                subject.names[0]
            );
        }
        residue_pages::hold(PAGE, PART, &record.tables());
    }
}
