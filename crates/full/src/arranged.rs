//! Tables of records, as they are shown.

use comfy_table::Cell;
use residue_command::tables::{right, table};
use residue_lab::record::table::Table;

/// A table that is arranged already: the first column at the left, numbers at the right.
pub fn arranged(arranged: &Table) -> String {
    let headings: Vec<&str> = arranged.headings.iter().map(String::as_str).collect();
    let mut rows = table(&headings);
    for line in &arranged.lines {
        let cells = line.iter().enumerate();
        rows.add_row(cells.map(|(column, text)| if column == 0 { Cell::new(text) } else { right(text) }));
    }
    rows.trim_fmt()
}
