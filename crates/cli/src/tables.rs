//! Tables and numbers for people. Colours appear only on a terminal, and not if `NO_COLOR` is set.

use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle};

use crate::output::colours_allowed;

/// A line under the headings, and nothing else drawn.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Columns of a terminal that does not say how many it has.
pub const COLUMNS: u16 = 80;

/// An empty table with bold headings. It takes the width of the terminal, if there is one.
pub fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    // The width is asked for while there is a terminal to ask.
    match table.width() {
        Some(0) => table.set_width(COLUMNS),
        Some(width) => table.set_width(width),
        None => &mut table,
    };
    if !colours_allowed() {
        table.force_no_tty();
    }
    table.set_header(headings.iter().map(|heading| Cell::new(heading).add_attribute(Attribute::Bold)));
    table
}

/// A cell at the right of its column.
pub fn right(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// A cell that says whether something went well.
pub fn verdict(text: &str, is_good: bool) -> Cell {
    Cell::new(text).fg(if is_good { Color::Green } else { Color::Red })
}

/// A number with its thousands set apart: `12 345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// A time in a readable unit.
pub fn duration(ns: u64) -> String {
    let [us, ms, s] = [1e3, 1e6, 1e9].map(|unit| ns as f64 / unit); // For display, 53 bits are plenty.
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{us:.2} µs"),
        1_000_000..1_000_000_000 => format!("{ms:.2} ms"),
        _ => format!("{s:.2} s"),
    }
}

/// A share of a whole in percent; empty of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) } // For display.
}

/// A ratio of durations as text: `1.20 ×`.
pub fn times_as_long(ratio: f64) -> String {
    format!("{ratio:.2} ×")
}

/// Hexadecimal, its middle left out if it is long.
pub fn short_hex(bytes: &[u8]) -> String {
    const SHOWN_BYTES: usize = 1024;
    if bytes.len() <= SHOWN_BYTES {
        return crate::output::hex(bytes);
    }
    let (start, end) = (&bytes[..32], &bytes[bytes.len() - 32..]);
    format!("0x{}…{} ({} bytes)", hex::encode(start), hex::encode(end), bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!([999, 1_500, 2_345_678, 3_000_000_000].map(duration), ["999 ns", "1.50 µs", "2.35 ms", "3.00 s"]);
        assert_eq!(percent(1, 8), "12.5 %");
        assert_eq!(percent(0, 0), "");
        assert_eq!(times_as_long(1.5), "1.50 ×");
    }
}
