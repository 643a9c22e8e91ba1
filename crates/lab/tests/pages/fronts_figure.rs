//! `docs/fronts.svg`, which `docs/deploy.md` shows, is drawn from `dist/fronts.json`.
//!
//! `RESIDUE_WRITE_TABLES=1 cargo test -p residue-lab --test pages fronts` draws it anew.

use std::fs;

use residue_lab::render::svg::panels::{Mark, Panel, Panels};
use residue_pages::grouped;
use serde_json::Value;

const FIGURE: &str = "docs/fronts.svg";
/// Limits in bytes, and gas beside that of the fastest form.
const LIMITS: [(f64, &str); 4] = [(8192.0, "8"), (16_384.0, "16"), (24_576.0, "24"), (65_536.0, "64")];
const GAS: [(f64, &str); 3] = [(1.0, "1"), (1.5, "1.5"), (2.0, "2")];

/// A contract with more than one point.
fn panel(front: &Value) -> Option<Panel> {
    let points: Vec<[u64; 2]> = serde_json::from_value(front["points"].clone()).unwrap();
    let [.., [_, fastest]] = points[..] else { return None };
    let mark = |&[bytes, gas]: &[u64; 2]| Mark {
        x: bytes as f64,
        y: gas as f64 / fastest as f64,
        told: format!("{} bytes, {} gas", grouped(bytes), grouped(gas)),
    };
    let title = front["contract"].as_str().unwrap().to_owned();
    (points.len() > 1).then(|| Panel { title, marks: points.iter().map(mark).collect() })
}

#[test]
fn the_fronts_are_drawn_from_the_file() {
    let held: Value = serde_json::from_str(&residue_pages::read("dist/fronts.json")).unwrap();
    let named = |(value, name): (f64, &str)| (value, name.to_owned());
    let panels = Panels {
        axes: "To the right bytes of code, in units of 1,024; upwards gas of the example beside that of the fastest form within 65,536 bytes"
            .to_owned(),
        columns: LIMITS.map(named).to_vec(),
        rows: GAS.map(named).to_vec(),
        panels: held["fronts"].as_array().unwrap().iter().filter_map(panel).collect(),
    };
    // A contract has several forms in one way alone: in formulas, or by precompiles.
    assert!(panels.panels.iter().is_sorted_by(|a, b| a.title != b.title), "{panels:?}");
    let drawn = panels.to_svg("Pareto fronts of bytes and gas, a panel for each contract");
    if std::env::var_os(residue_pages::WRITE).is_some() {
        fs::write(residue_pages::path(FIGURE), drawn).unwrap();
        return;
    }
    assert_eq!(residue_pages::read(FIGURE), drawn, "{}=1 and this test draw it anew", residue_pages::WRITE);
}
