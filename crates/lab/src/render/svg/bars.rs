//! Bar charts: a group of bars for each category, one bar for each series, small enough to be read on a phone.

use std::fmt::Write as _;

use residue_workbench::svg::escaped;

/// Values by category and series.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Unit of the values.
    pub unit: String,
    /// The categories, from the top.
    pub categories: Vec<String>,
    /// Name and values of each series; none where there is no value.
    pub series: Vec<(String, Vec<Option<f64>>)>,
    /// True for a logarithmic scale, for values of different orders of magnitude.
    pub is_logarithmic: bool,
}

const WIDTH: f64 = 420.0;
const BAR: f64 = 13.0;
const LABEL: f64 = 17.0;
const LEFT: f64 = 4.0;
/// Room at the right for the number after a bar.
const NUMBER: f64 = 78.0;

/// Styles of a chart that stands alone; a page that has charts inside says this once.
pub const STYLE: &str = ".chart text{font:12px system-ui,sans-serif;fill:#1a1a1a}.chart .s0{fill:#4477aa}\
    .chart .s1{fill:#cc6633}.chart .s2{fill:#228833}.chart .s3{fill:#aa3377}.chart .s4{fill:#888}\
    @media(prefers-color-scheme:dark){.chart text{fill:#e8e8e8}.chart .s0{fill:#77aadd}.chart .s1{fill:#ee9966}\
    .chart .s2{fill:#66bb77}.chart .s3{fill:#dd77aa}.chart .s4{fill:#aaa}}";

impl Chart {
    /// True if there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        !self.series.iter().flat_map(|(_, values)| values).flatten().any(|value| *value > 0.0)
    }

    /// The drawing as an SVG element; with its style inside if it stands alone.
    pub fn to_svg(&self, title: &str, stands_alone: bool) -> String {
        let values =
            || self.series.iter().flat_map(|(_, values)| values.iter().flatten().copied()).filter(|v| *v > 0.0);
        let most = values().fold(0.0, f64::max).max(1e-9);
        let least = values().fold(f64::INFINITY, f64::min).min(most);
        let mut text = String::new();
        let mut top = 4.0;
        for (number, (name, _)) in self.series.iter().enumerate() {
            let _ = writeln!(
                text,
                "<rect class=\"s{number}\" x=\"{LEFT}\" y=\"{top}\" width=\"10\" height=\"10\"/>\
                 <text x=\"{}\" y=\"{}\">{}, {}</text>",
                LEFT + 15.0,
                top + 9.5,
                escaped(name),
                escaped(&self.unit)
            );
            top += LABEL;
        }
        top += 4.0;
        for (index, category) in self.categories.iter().enumerate() {
            let _ = writeln!(
                text,
                "<text x=\"{LEFT}\" y=\"{}\" font-weight=\"600\">{}</text>",
                top + 11.0,
                escaped(category)
            );
            top += LABEL;
            for (number, (name, values)) in self.series.iter().enumerate() {
                let Some(value) = values.get(index).copied().flatten().filter(|value| *value >= 0.0) else { continue };
                let share = if self.is_logarithmic && value > 0.0 {
                    // The least value is a tenth of the width, so that it is seen.
                    0.1 + 0.9 * (value / least).ln() / (most / least).ln().max(1e-9)
                } else {
                    value / most
                };
                let width = (share.clamp(0.0, 1.0) * (WIDTH - LEFT - NUMBER)).max(1.0);
                let _ = writeln!(
                    text,
                    "<rect class=\"s{number}\" x=\"{LEFT}\" y=\"{top}\" width=\"{width:.1}\" height=\"{}\"><title>{}, {}: {}</title></rect>\
                     <text x=\"{:.1}\" y=\"{}\">{}</text>",
                    BAR - 2.0,
                    escaped(category),
                    escaped(name),
                    number_text(value),
                    LEFT + width + 4.0,
                    top + 10.0,
                    number_text(value)
                );
                top += BAR;
            }
            top += 5.0;
        }
        let style = if stands_alone { format!("<style>{STYLE}</style>") } else { String::new() };
        let note = if self.is_logarithmic { " (logarithmic)" } else { "" };
        format!(
            "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {WIDTH} {top:.0}\" \
             aria-label=\"{}{note}\">{style}\n{text}</svg>\n",
            escaped(title)
        )
    }
}

/// Short enough to stand after a bar.
fn number_text(value: f64) -> String {
    match value {
        v if v <= 0.0 => "0".to_owned(),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.1} k", v / 1e3),
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_values_and_gaps_are_left_out() {
        let mut chart = Chart {
            unit: "ns".to_owned(),
            categories: vec!["a<b".to_owned(), "c".to_owned()],
            series: vec![
                ("ours".to_owned(), vec![Some(10.0), None]),
                ("published".to_owned(), vec![Some(5.0), Some(1000.0)]),
            ],
            is_logarithmic: false,
        };
        let svg = chart.to_svg("t & u", true);
        assert!(svg.contains("a&lt;b") && svg.contains("t &amp; u") && svg.contains("<style>"), "{svg}");
        assert_eq!(svg.matches("<title>").count(), 3);
        let longest = format!("width=\"{:.1}\"", WIDTH - LEFT - NUMBER);
        assert!(svg.contains(&longest), "{svg}");
        chart.is_logarithmic = true;
        assert!(chart.to_svg("t", false).contains("logarithmic") && !chart.is_empty());
        chart.series.clear();
        assert!(chart.is_empty());
    }
}
