//! The figure of the page: software, calls and MULMOD by call as multiples of the native count, on a logarithmic axis.

use std::fmt::Write as _;

use crate::machine::{Form, Width};
use crate::record::Record;
use crate::subjects::SUBJECTS;

/// The figure's file.
pub const FILE: &str = "docs/proving.svg";

/// Pixels, and the multiples at the axis' ends.
const LEFT: f64 = 130.0;
const WIDTH: f64 = 520.0;
const ROW: f64 = 30.0;
const ENDS: [f64; 2] = [0.25, 16.0];
const TICKS: [&str; 7] = ["0.25", "0.5", "1", "2", "4", "8", "16"];
/// Forms with their colours and what the legend calls them.
const SHOWN: [(Form, &str, &str); 3] = [
    (Form::Software, "#888888", "(b) software"),
    (Form::Calls, "#1f6fb2", "(c) calls"),
    (Form::WordsByCalls, "#d1762a", "(d) MULMOD by call"),
];

/// The figure of a record, as SVG. A multiple beyond an end stands at it.
pub fn svg(record: &Record) -> String {
    let x = |multiple: f64| {
        let [low, high] = ENDS;
        LEFT + WIDTH * (multiple.clamp(low, high) / low).log2() / (high / low).log2()
    };
    let subjects = SUBJECTS.iter().filter(|subject| record.of(Width::Bits64, subject.names[0], Form::Native).is_some());
    let bottom = 50.0 + ROW * subjects.clone().count() as f64; // A few.
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 700 {:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Instructions of rv64im as multiples of the native count</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        bottom + 30.0
    );
    for (place, (_, colour, name)) in SHOWN.iter().enumerate() {
        let at = LEFT + 150.0 * place as f64; // Three.
        let _ = writeln!(
            text,
            "<circle cx=\"{at:.1}\" cy=\"16\" r=\"5\" fill=\"{colour}\"/><text x=\"{:.1}\" y=\"20\">{name}</text>",
            at + 10.0
        );
    }
    for tick in TICKS {
        let at = x(tick.parse().unwrap_or(1.0));
        let line = if tick == "1" { "#000000" } else { "#dddddd" };
        let _ = writeln!(
            text,
            "<path d=\"M{at:.1} 34V{bottom:.1}\" stroke=\"{line}\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
            bottom + 16.0
        );
    }
    for (row, subject) in subjects.enumerate() {
        let y = 54.0 + ROW * row as f64; // A few.
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 10.0,
            y + 4.0,
            subject.names[1]
        );
        let of = |form| record.of(Width::Bits64, subject.names[0], form).map(|counts| counts.instructions as f64);
        let Some(native) = of(Form::Native) else { continue };
        for (form, colour, _) in SHOWN {
            if let Some(instructions) = of(form) {
                let _ = writeln!(
                    text,
                    "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{colour}\"/>",
                    x(instructions / native)
                );
            }
        }
    }
    text + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_shows_the_record() {
        let record = Record::<crate::record::Row>::parse(&residue_pages::read(crate::record::FILE)).unwrap();
        assert!(residue_pages::read(FILE) == svg(&record), "`cargo run -p residue-proving` draws {FILE} anew");
    }
}
