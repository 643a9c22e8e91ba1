//! Points with labels in a plane, and a line through some of them.

use std::fmt::Write as _;

use residue_workbench::svg::escaped;

/// A point.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// Label.
    pub label: String,
}

/// The drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// Label of the horizontal axis.
    pub x: String,
    /// Label of the vertical axis.
    pub y: String,
    /// All points.
    pub points: Vec<Point>,
    /// Those that the line goes through, in its order.
    pub line: Vec<Point>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 40.0;
/// Marks on the vertical axis.
const MARKS: u32 = 5;
const STYLE: &str = ".points text{font:12px system-ui,sans-serif;fill:#1a1a1a}.points .axis{stroke:#888;fill:none}\
    .points .line{stroke:#cc6633;fill:none;stroke-width:2}.points .point{fill:#4477aa}\
    @media(prefers-color-scheme:dark){.points text{fill:#e8e8e8}.points .line{stroke:#ee9966}.points .point{fill:#77aadd}}";

impl Points {
    /// The drawing as an SVG that stands alone.
    pub fn to_svg(&self, title: &str) -> String {
        let range = |of: fn(&Point) -> f64| {
            let values = || self.points.iter().map(of);
            let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
            if high - low > 1e-9 { (low, high) } else { (low - 0.5, high + 0.5) }
        };
        let ((x_low, x_high), (y_low, y_high)) = (range(|point| point.x), range(|point| point.y));
        let x = |value: f64| LEFT + (value - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| TOP + (y_high - value) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM);
        let mut text = String::new();
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let _ = writeln!(text, "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>");
        let _ = writeln!(text, "<text x=\"4\" y=\"16\">{}</text>", escaped(&self.y));
        let _ = writeln!(text, "<text x=\"{LEFT}\" y=\"{}\">{}</text>", HEIGHT - 6.0, escaped(&self.x));
        for mark in 0..=MARKS {
            let value = y_low + (y_high - y_low) * f64::from(mark) / f64::from(MARKS);
            let _ = writeln!(text, "<text x=\"4\" y=\"{:.1}\">{value:.3}</text>", y(value) + 4.0);
        }
        let mut columns: Vec<f64> = self.points.iter().map(|point| point.x).collect();
        columns.sort_by(f64::total_cmp);
        columns.dedup();
        for column in columns {
            let _ = writeln!(text, "<text x=\"{:.1}\" y=\"{}\">{column}</text>", x(column) - 3.0, bottom + 15.0);
        }
        let line: Vec<String> = self.line.iter().map(|point| format!("{:.1},{:.1}", x(point.x), y(point.y))).collect();
        let _ = writeln!(text, "<polyline class=\"line\" points=\"{}\"/>", line.join(" "));
        for point in &self.points {
            let (x, y, label) = (x(point.x), y(point.y), escaped(&point.label));
            let _ = writeln!(
                text,
                "<circle class=\"point\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{label}: {:.4}</title></circle>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                point.y,
                x + 7.0,
                y + 4.0
            );
        }
        format!(
            "<svg class=\"points\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             aria-label=\"{}\"><style>{STYLE}</style>\n{text}</svg>\n",
            escaped(title)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_inside_and_labels_cannot_end_an_element() {
        let point = |x, y, label: &str| Point { x, y, label: label.to_owned() };
        let points = vec![point(0.0, 1.0, "none"), point(2.0, 0.5, "a<b")];
        let drawing = Points { x: "x".to_owned(), y: "y".to_owned(), line: points.clone(), points };
        let svg = drawing.to_svg("t");
        assert!(
            svg.contains("a&lt;b")
                && svg.contains("cx=\"56.0\" cy=\"28.0\"")
                && svg.contains("cx=\"490.0\" cy=\"320.0\""),
            "{svg}"
        );
        let one = Points { points: vec![point(1.0, 1.0, "one")], ..drawing };
        assert!(!one.to_svg("t").contains("NaN"));
    }
}
