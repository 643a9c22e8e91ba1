//! Flame graphs: a box for each function or stretch, as wide as its share, below its caller.

use std::fmt::Write as _;

use crate::inspect::profile::{Measure, Profile};
use crate::svg::escaped;

const WIDTH: f64 = 1200.0;
const ROW: f64 = 20.0;
const HEAD: f64 = 30.0;
/// Pixels of a character of the text in boxes, about.
const CHARACTER: f64 = 6.6;
/// Narrower boxes are not drawn: nobody sees them.
const BOX_WIDTH_MIN: f64 = 0.3;

/// The flame graph of a profile as a whole SVG document.
pub fn flame_graph(profile: &Profile, title: &str, measure: Measure) -> String {
    let sums = profile.with_children(measure);
    let whole: f64 =
        profile.nodes.iter().zip(&sums).filter(|(node, _)| node.parent.is_none()).map(|(_, sum)| sum).sum();
    let mut children = vec![Vec::new(); profile.nodes.len()];
    let mut roots = Vec::new();
    for (index, node) in profile.nodes.iter().enumerate() {
        match node.parent {
            Some(parent) => children[parent].push(index),
            None => roots.push(index),
        }
    }
    let mut drawing = Drawing {
        profile,
        measure,
        sums: &sums,
        children: &children,
        whole: whole.max(1e-9),
        text: String::new(),
        rows: 0,
    };
    let mut left = 0.0;
    for root in roots {
        drawing.place(root, left, 0);
        left += sums[root] / drawing.whole * WIDTH;
    }
    let Drawing { text: boxes, rows, .. } = drawing;
    let height = HEAD + ROW * rows as f64 + 8.0; // A few dozen rows.
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"11\">\n\
         <style>.flame{{stroke:#fff;stroke-width:.5}}.flame-text{{fill:#1a1a1a;pointer-events:none}}\
         .flame-title{{fill:#1a1a1a}}@media(prefers-color-scheme:dark){{.flame{{stroke:#111}}.flame-title{{fill:#eee}}}}</style>\n\
         <text class=\"flame-title\" x=\"4\" y=\"18\" font-size=\"13\">{}</text>\n{boxes}</svg>\n",
        escaped(title)
    )
}

struct Drawing<'a> {
    profile: &'a Profile,
    measure: Measure,
    sums: &'a [f64],
    children: &'a [Vec<usize>],
    whole: f64,
    text: String,
    rows: usize,
}

impl Drawing<'_> {
    fn place(&mut self, index: usize, left: f64, depth: usize) {
        let width = self.sums[index] / self.whole * WIDTH;
        if width < BOX_WIDTH_MIN {
            return;
        }
        self.rows = self.rows.max(depth + 1);
        let node = &self.profile.nodes[index];
        let top = HEAD + ROW * depth as f64; // A few dozen rows.
        let share = 100.0 * self.sums[index] / self.whole;
        let unit = match self.measure {
            Measure::Gas => format!("{:.0} gas", self.sums[index]),
            Measure::Time => format!("{:.1} µs", self.sums[index] / 1000.0),
        };
        let name = escaped(&node.name);
        let calls = if node.calls == 1 { "once".to_owned() } else { format!("{} times", node.calls) };
        let _ = write!(
            self.text,
            "<g><title>{name}: {unit}, {share:.1} %, {calls}</title>\
             <rect class=\"flame\" x=\"{left:.2}\" y=\"{top}\" width=\"{width:.2}\" height=\"{ROW}\" fill=\"{}\"/>",
            colour(&node.name)
        );
        let fits = ((width - 6.0) / CHARACTER).max(0.0) as usize; // The whole part of a small positive number.
        if fits >= 3 {
            let label: String = if node.name.chars().count() <= fits {
                name
            } else {
                escaped(&node.name.chars().take(fits - 1).chain(['…']).collect::<String>())
            };
            let _ = write!(
                self.text,
                "<text class=\"flame-text\" x=\"{:.2}\" y=\"{}\">{label}</text>",
                left + 3.0,
                top + 14.0
            );
        }
        self.text.push_str("</g>\n");
        let mut next = left;
        for &child in &self.children[index] {
            self.place(child, next, depth + 1);
            next += self.sums[child] / self.whole * WIDTH;
        }
    }
}

/// The same colour for the same name, warm and light enough for dark text.
fn colour(name: &str) -> String {
    // FNV-1a.
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("hsl({},{}%,{}%)", hash % 60, 65 + hash / 60 % 25, 62 + hash / 1500 % 14)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::profile::Node;

    #[test]
    fn boxes_have_the_width_of_their_share_and_lie_below_their_callers() {
        let node = |name: &str, parent, gas| Node {
            name: name.to_owned(),
            parent,
            is_function: true,
            calls: 2,
            gas,
            time_ns: 0.0,
        };
        let nodes = vec![node("start", None, 25), node("f<0>", Some(0), 50), node("g", Some(0), 25)];
        let profile = Profile { nodes, gas_used: 100, time_ns: None };
        let svg = flame_graph(&profile, "a & b", Measure::Gas);
        for part in [
            "a &amp; b",
            "start: 100 gas, 100.0 %",
            "x=\"0.00\" y=\"50\" width=\"600.00\"",
            "x=\"600.00\" y=\"50\" width=\"300.00\"",
            "f&lt;0&gt;: 50 gas, 50.0 %, 2 times",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }
}
