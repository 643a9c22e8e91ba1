//! The record of trace area, as a file of comments and comma-separated rows, and the table that is made of it.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use residue_pages::grouped;

use crate::area::Area;
use crate::machine::Form;
use crate::record::{Cells, Record, thousands, times};
use crate::subjects::SUBJECTS;

/// The record, from the project's folder.
pub const FILE: &str = "records/riscv/2026-11-28-sp1.txt";
/// Part of the page that is made of it.
pub const PART: &str = "proving-area";

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AreaRow {
    /// Name of the call.
    pub subject: String,
    /// Name of the form.
    pub form: String,
    /// Numbers of the executor.
    pub area: Area,
}

impl Cells for AreaRow {
    const COLUMNS: &'static str = "subject,form,instructions,cells,gas,mul256,fp384";

    fn subject(&self) -> &str {
        &self.subject
    }

    fn print(&self) -> String {
        let Self { subject, form, area } = self;
        let Area { instructions, cells, gas, products_256, operations_384 } = area;
        format!("{subject},{form},{instructions},{cells},{gas},{products_256},{operations_384}")
    }

    fn read(cells: &[&str]) -> Result<Self> {
        let numbers: Vec<u64> = cells[2..].iter().map(|cell| cell.parse()).collect::<Result<_, _>>()?;
        let [instructions, cells_of_trace, gas, products_256, operations_384] = numbers[..] else {
            bail!("{} numbers in place of five", numbers.len());
        };
        let area = Area { instructions, cells: cells_of_trace, gas, products_256, operations_384 };
        Ok(Self { subject: cells[0].to_owned(), form: cells[1].to_owned(), area })
    }
}

impl Record<AreaRow> {
    /// Area of a run, if it is in the record.
    pub fn of(&self, subject: &str, form: Form) -> Option<Area> {
        self.rows.iter().find(|row| row.subject == subject && row.form == form.name()).map(|row| row.area)
    }

    /// The table of the page.
    pub fn table(&self) -> String {
        let mut text = self.heading(FILE);
        text.push_str(
            "\n**Trace area**, in millions of cells; in brackets what of (a) that is; last, of (c), instructions in thousands and calls.\n\n\
             | call | (a) native | (b) software | (c) calls | today's EVM | (d) MULMOD by call | cells an instruction, (a) | instructions of (c) | calls of (c) |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        );
        for subject in SUBJECTS {
            let of = |form| self.of(subject.names[0], form);
            let native = of(Form::Native);
            let [_, _, forms @ ..] = Form::ALL;
            let cells = forms.map(|form| match (of(form), native.filter(|_| form != Form::Native)) {
                (None, _) => "–".to_owned(),
                (Some(area), None) => millions(area.cells),
                (Some(area), Some(native)) => format!("{} ({})", millions(area.cells), times(area.cells, native.cells)),
            });
            let each = native.map_or("–".to_owned(), |area| times(area.cells, area.instructions));
            let calls = of(Form::Calls).unwrap_or_default();
            let _ = writeln!(
                text,
                "| {} | {} | {each} | {} | {} |",
                subject.names[1],
                cells.join(" | "),
                thousands(calls.instructions),
                grouped(calls.products_256 + calls.operations_384)
            );
        }
        text
    }
}

/// Millions with a decimal below a hundred.
fn millions(number: u64) -> String {
    match number {
        0..100_000_000 => format!("{:.1}", number as f64 / 1e6), // Far below 2⁵³.
        _ => grouped((number + 500_000) / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_written_and_bad_lines_are_named() {
        let area = Area { instructions: 5, cells: 150, gas: 2, products_256: 1, operations_384: 7 };
        let row = AreaRow { subject: "g1-add".to_owned(), form: "calls".to_owned(), area };
        let record = Record { environment: vec![("rustc".to_owned(), "1.95".to_owned())], rows: vec![row] };
        assert_eq!(Record::<AreaRow>::parse(&record.text()).unwrap(), record);
        for bad in ["g1-add,calls,5", "a,b,1,2,3,4,x", "# rustc"] {
            let text = format!("{}\n{bad}\n", AreaRow::COLUMNS);
            assert!(format!("{:#}", Record::<AreaRow>::parse(&text).unwrap_err()).contains("line 2"), "{bad}");
        }
        assert_eq!([49_999, 99_960_000, 123_600_000].map(millions), ["0.0", "100.0", "124"]);
    }

    #[test]
    fn the_page_shows_the_record() {
        let record = Record::<AreaRow>::parse(&residue_pages::read(FILE)).unwrap();
        for subject in SUBJECTS {
            assert!(record.of(subject.names[0], Form::Calls).is_some(), "{} is not in it", subject.names[0]);
        }
        residue_pages::hold(crate::record::PAGE, PART, &record.table());
    }
}
