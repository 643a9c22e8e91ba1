//! Small panels with a line of points each, all with the same logarithmic axes.

use std::fmt::Write as _;

use residue_workbench::svg::escaped;

/// A point, with what is said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// To the right, above zero.
    pub x: f64,
    /// Upwards, above zero.
    pub y: f64,
    /// Text that is shown where a reader points at it.
    pub told: String,
}

/// A part of the drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Text above it.
    pub title: String,
    /// Points that the line goes through, in its order.
    pub marks: Vec<Mark>,
}

/// The drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Panels {
    /// Text above all panels: the axes.
    pub axes: String,
    /// Values with a vertical line, and what they are called.
    pub columns: Vec<(f64, String)>,
    /// Values with a horizontal line, and what they are called.
    pub rows: Vec<(f64, String)>,
    /// All panels, line by line.
    pub panels: Vec<Panel>,
}

/// Panels in a line.
const IN_LINE: usize = 4;
/// Pixels from a panel to the next, and of its axes.
const STEP: [f64; 2] = [184.0, 104.0];
const SIZE: [f64; 2] = [148.0, 56.0];
const LEFT: f64 = 30.0;
const TOP: f64 = 48.0;
const STYLE: &str = ".panels text{font:10px system-ui,sans-serif;fill:#1a1a1a}.panels .name{font-weight:600}.panels .x{text-anchor:middle}.panels .y{text-anchor:end}\
    .panels .grid{stroke:#ccc;fill:none}.panels .line{stroke:#cc6633;fill:none;stroke-width:1.5}.panels .point{fill:#4477aa}\
    @media(prefers-color-scheme:dark){.panels text{fill:#e8e8e8}.panels .grid{stroke:#555}.panels .line{stroke:#ee9966}\
    .panels .point{fill:#77aadd}}";

/// Place of a value between the least and the greatest, 0 to 1.
fn share(value: f64, [low, high]: [f64; 2]) -> f64 {
    (value / low).ln() / (high / low).ln().max(1e-9)
}

/// The least and the greatest of some values.
fn range(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, 1e-9], |[low, high], value| [low.min(value), high.max(value)])
}

impl Panels {
    /// The drawing as an SVG that stands alone.
    pub fn to_svg(&self, title: &str) -> String {
        let marks = || self.panels.iter().flat_map(|panel| &panel.marks);
        let xs = range(self.columns.iter().map(|column| column.0).chain(marks().map(|mark| mark.x)));
        let ys = range(self.rows.iter().map(|row| row.0).chain(marks().map(|mark| mark.y)));
        let mut text = format!("<text x=\"4\" y=\"14\">{}</text>\n", escaped(&self.axes));
        for (number, panel) in self.panels.iter().enumerate() {
            let (line, place) = (number / IN_LINE, number % IN_LINE);
            let [left, top] = [LEFT + STEP[0] * place as f64, TOP + STEP[1] * line as f64]; // A few dozen.
            let x = |value: f64| left + SIZE[0] * share(value, xs);
            let y = |value: f64| top + SIZE[1] * (1.0 - share(value, ys));
            self.grid(&mut text, (left, top), (x, y));
            let _ = writeln!(
                text,
                "<text class=\"name\" x=\"{left:.1}\" y=\"{:.1}\">{}</text>",
                top - 6.0,
                escaped(&panel.title)
            );
            let line: Vec<String> =
                panel.marks.iter().map(|mark| format!("{:.1},{:.1}", x(mark.x), y(mark.y))).collect();
            let _ = writeln!(text, "<polyline class=\"line\" points=\"{}\"/>", line.join(" "));
            for mark in &panel.marks {
                let _ = writeln!(
                    text,
                    "<circle class=\"point\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}</title></circle>",
                    x(mark.x),
                    y(mark.y),
                    escaped(&mark.told)
                );
            }
        }
        let width = LEFT + STEP[0] * IN_LINE as f64; // Four.
        let height = TOP + STEP[1] * self.panels.len().div_ceil(IN_LINE) as f64; // A few dozen.
        format!(
            "<svg class=\"panels\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             aria-label=\"{}\"><style>{STYLE}</style>\n{text}</svg>\n",
            escaped(title)
        )
    }

    /// The lines behind a panel, with what they are called.
    fn grid(&self, text: &mut String, (left, top): (f64, f64), (x, y): (impl Fn(f64) -> f64, impl Fn(f64) -> f64)) {
        let [right, bottom] = [left + SIZE[0], top + SIZE[1]];
        let (mut lines, mut names) = (String::new(), String::new());
        for (value, name) in &self.columns {
            let _ = write!(lines, "M{:.1} {top:.1}V{bottom:.1}", x(*value));
            let name = escaped(name);
            let at = bottom + 12.0;
            let _ = write!(names, "<text class=\"x\" x=\"{:.1}\" y=\"{at:.1}\">{name}</text>", x(*value));
        }
        for (value, name) in &self.rows {
            let _ = write!(lines, "M{left:.1} {:.1}H{right:.1}", y(*value));
            let (at, name) = (y(*value) + 3.0, escaped(name));
            let _ = write!(names, "<text class=\"y\" x=\"{:.1}\" y=\"{at:.1}\">{name}</text>", left - 3.0);
        }
        let _ = writeln!(text, "<path class=\"grid\" d=\"{lines}\"/>{names}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_between_the_lines_and_text_cannot_end_an_element() {
        let mark = |x, y| Mark { x, y, told: format!("{x}<{y}") };
        let panels = Panels {
            axes: "a & b".to_owned(),
            columns: vec![(1.0, "1".to_owned()), (4.0, "4".to_owned())],
            rows: vec![(1.0, "1".to_owned()), (9.0, "9".to_owned())],
            panels: vec![Panel { title: "p".to_owned(), marks: vec![mark(1.0, 9.0), mark(2.0, 3.0), mark(4.0, 1.0)] }],
        };
        let svg = panels.to_svg("t<u");
        assert!(svg.contains("a &amp; b") && svg.contains("2&lt;3") && svg.contains("t&lt;u"), "{svg}");
        // Corners, and the middle of both axes.
        assert!(svg.contains("points=\"30.0,48.0 104.0,76.0 178.0,104.0\""), "{svg}");
    }
}
