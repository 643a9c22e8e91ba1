//! Figures of updates 1 to 4: versions of the interface, and engines.

use super::{Figure, Records, or_dash, table};
use crate::programs::GROUP as PROGRAMS;
use crate::published::{
    ADJUSTMENT, CALLS_SOURCE, ENGINES, ENGINES_SOURCE, F6M_MUL, INTERFACES, INTERFACES_SOURCE, SYNTHETIC_CALLS,
};
use crate::record::{Quantity, RecordRow};
use crate::render::svg::bars::Chart;

/// The synthetic loop under the versions of EVM384.
pub fn interfaces(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[PROGRAMS]);
    let mut table =
        table(&["version", "published in", "published ms", "ours ms", "published gas", "ours gas", "our schedule"]);
    let mut series = vec![("published".to_owned(), vec![]), ("ours".to_owned(), vec![])];
    let mut categories = Vec::new();
    let versions = ["v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v12"];
    for version in versions {
        let published: Vec<_> = INTERFACES.iter().filter(|interface| interface.version == version).collect();
        let revision = format!("evm384-{version}");
        let time_ms =
            records.value(PROGRAMS, &format!("{revision}/synthetic_loop/all"), Quantity::Time).map(|ns| ns / 1e6);
        let gas = records.group(PROGRAMS).and_then(|record| {
            let is_meant =
                |name: &str| name.starts_with(&format!("{revision}:")) && name.ends_with("/synthetic_loop/all");
            record.rows.iter().find(|row| row.quantity == Quantity::Gas && is_meant(&row.name))
        });
        let schedule = gas.and_then(|row| row.name.split([':', '/']).nth(1)).unwrap_or("–").to_owned();
        let gas = gas.map(|row| row.spread.median);
        let languages: Vec<Option<_>> =
            if published.is_empty() { vec![None] } else { published.into_iter().map(Some).collect() };
        for interface in &languages {
            table.lines.push(vec![
                version.to_owned(),
                interface.map_or("–", |interface| interface.language).to_owned(),
                or_dash(interface.map(|interface| interface.time_ms)),
                or_dash(time_ms),
                or_dash(interface.map(|interface| interface.gas as f64)), // Far below 2⁵³.
                or_dash(gas),
                schedule.clone(),
            ]);
        }
        categories.push(version.to_owned());
        let fastest = languages.iter().flatten().map(|interface| interface.time_ms).reduce(f64::min);
        series[0].1.push(fastest);
        series[1].1.push(time_ms);
    }
    Figure {
        id: "interfaces",
        title: "Versions of the interface on the synthetic loop",
        source: INTERFACES_SOURCE.to_owned(),
        explanation: "The published programs differ in language and in how they keep values, ours is one program through one \
                      compiler, so the differences that are left are those of the interfaces; versions 10 and 12 have prices of \
                      their own, and their values are in the table with the schedule named."
            .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "ms".to_owned(), categories, series, is_logarithmic: true }),
    }
}

/// Calls of a run of two pairings in WebAssembly beside the synthetic loop, and how many loops it takes.
pub fn calls(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&["comparison"]);
    let mut table = table(&["program", "mul", "add", "sub", "synthetic loops"]);
    let published = |name: &str, [mul, add, sub]: [u64; 3], loops: Option<f64>| {
        let counts = [mul, add, sub].map(|count| Some(count as f64)); // Far below 2⁵³.
        [name.to_owned()].into_iter().chain(counts.into_iter().chain([loops]).map(or_dash)).collect::<Vec<_>>()
    };
    table.lines.push(published("f6m_mul, published", F6M_MUL, None));
    table.lines.push(published("1350 times f6m_mul, published", F6M_MUL.map(|count| 1350 * count), Some(1.0)));
    table.lines.push(published("two pairings in WebAssembly, published", SYNTHETIC_CALLS, Some(ADJUSTMENT)));
    let mut categories = vec!["published, WebAssembly".to_owned()];
    let mut values = vec![Some(ADJUSTMENT)];
    let rows = records.group("comparison").into_iter().flat_map(|record| &record.rows);
    for row in rows.filter(|row| row.quantity == Quantity::Adjustment) {
        let of = |quantity| records.value("comparison", &row.name, quantity);
        let counts = [Quantity::OpsMul, Quantity::OpsAdd, Quantity::OpsSub].map(of);
        let loops = Some(row.spread.median);
        let cells = counts.into_iter().chain([loops]).map(or_dash);
        let engine = format!("ours, {}", row.layer());
        table.lines.push([format!("{engine}: check of two pairs")].into_iter().chain(cells).collect());
        categories.push(engine);
        values.push(loops);
    }
    Figure {
        id: "calls",
        title: "Field operations of two pairings, and how many synthetic loops they take",
        source: CALLS_SOURCE.to_owned(),
        explanation: "Ours is the contract with parsing and subgroup checks, by formulas that share squarings between pairs and \
                      decide the final exponentiation without computing it, so that it has fewer operations; each engine runs the \
                      same program of both kinds, and a loop of additions suits some better than others."
            .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart {
            unit: "synthetic loops".to_owned(),
            categories,
            series: vec![("two pairings".to_owned(), values)],
            is_logarithmic: false,
        }),
    }
}

/// Two pairings natively, in WebAssembly and in the EVM.
pub fn engines(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[PROGRAMS, "pairing", "comparison"]);
    let mut table = table(&["engine", "ms", "times native in the same column"]);
    let mut categories = Vec::new();
    let mut series = vec![("published".to_owned(), vec![]), ("ours".to_owned(), vec![])];
    let (_, least, most) = ENGINES[0];
    let native = (least + most) / 2.0;
    for (engine, least, most) in ENGINES {
        let middle = (least + most) / 2.0;
        let range = if least < most { format!("{least}–{most}") } else { format!("{least}") };
        table.lines.push(vec![engine.to_owned(), range, format!("{:.2}", middle / native)]);
        categories.push(engine.to_owned());
        series[0].1.push(Some(middle));
        series[1].1.push(None);
    }
    let of = |group: &str, name: &str| records.value(group, name, Quantity::Time).map(|ns| ns / 1e6);
    let blst = of("pairing", "blst/pairing/2");
    let mut line = |engine: String, time_ms: Option<f64>| {
        let times = time_ms.zip(blst).map_or("–".to_owned(), |(ms, blst)| format!("{:.2}", ms / blst));
        table.lines.push(vec![format!("ours: {engine}"), or_dash(time_ms), times]);
        categories.push(format!("ours: {engine}"));
        series[0].1.push(None);
        series[1].1.push(time_ms);
    };
    line("blst, pairings only".to_owned(), blst);
    line("the precompile (blst), with parsing and checks".to_owned(), of(PROGRAMS, "precompile/pairing/2"));
    line("evm384-v7, published program, nothing validated".to_owned(), of(PROGRAMS, "evm384-v7/pairing_eq/2"));
    line("evm384-v7, contract with checks".to_owned(), of(PROGRAMS, "evm384-v7/pairing/2"));
    line("eip6690-2024, contract with checks".to_owned(), of(PROGRAMS, "eip6690-2024/pairing/2"));
    let is_module = |row: &&RecordRow| {
        let is_time = row.quantity == Quantity::Time && row.baseline.is_none();
        is_time && row.name.starts_with("wasm") && row.name.ends_with("/pairing/2")
    };
    for row in records.group("comparison").iter().flat_map(|record| record.rows.iter().filter(is_module)) {
        line(row.name.trim_end_matches("/pairing/2").to_owned(), Some(row.spread.median / 1e6));
    }
    Figure {
        id: "engines",
        title: "Two pairings natively, in WebAssembly and in the EVM",
        source: ENGINES_SOURCE.to_owned(),
        explanation:
            "Only ratios within a column can be compared: the native code of 2020 was another library, and machines differ."
                .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "ms".to_owned(), categories, series, is_logarithmic: true }),
    }
}
