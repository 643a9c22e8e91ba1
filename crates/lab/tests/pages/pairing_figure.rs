//! `docs/pairing.svg`, which README shows, is drawn from the newest record of `residue bench pairing` on the machine that README names.
//!
//! `RESIDUE_WRITE_TABLES=1 cargo test -p residue-lab --test pages` draws it anew.

use std::fs;

use residue_lab::Quantity;
use residue_lab::render::svg::bars::Chart;

use crate::quotes::{Quoted, ZEN5};

const FIGURE: &str = "docs/pairing.svg";
/// Pairs in a check.
const SIZES: [usize; 5] = [1, 2, 4, 8, 16];
/// Subjects of the record, as they are called in the figure.
const SERIES: [(&str, &str); 3] = [
    ("precompile", "the precompile, which is blst"),
    ("evm384-v7:batch", "bytecode under evm384-v7"),
    ("eip6690-2024:batch", "bytecode under eip6690-2024"),
];

#[test]
fn the_figure_is_drawn_from_the_newest_record() {
    let record = Quoted::newest(ZEN5, "pairing").record;
    let time_us = |layer: &str, size: &usize| {
        record.find(&format!("{layer}/pairing/{size}"), Quantity::Time, None).unwrap().spread.median / 1000.0
    };
    let series = SERIES.map(|(layer, name)| {
        (name.to_owned(), SIZES.iter().map(|size| Some(time_us(layer, size))).collect::<Vec<_>>())
    });
    let chart = Chart {
        unit: "µs".to_owned(),
        categories: SIZES.map(|size| format!("{size} pair{}", if size == 1 { "" } else { "s" })).to_vec(),
        series: series.to_vec(),
        is_logarithmic: false,
    };
    let drawn = chart.to_svg("Times of the pairing check as bytecode and by the precompile", true);
    if std::env::var_os(residue_pages::WRITE).is_some() {
        fs::write(residue_pages::path(FIGURE), drawn).unwrap();
        return;
    }
    assert_eq!(residue_pages::read(FIGURE), drawn, "{}=1 and this test draw it anew", residue_pages::WRITE);
}
