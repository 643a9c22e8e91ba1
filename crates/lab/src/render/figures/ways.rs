//! The options that update 5 of EVM384 prices besides, run: ways to copy, to invert and to take a square root.

use super::{Figure, Records, or_dash, table};
use crate::price::ANCHOR_NS;
use crate::programs::GROUP as PROGRAMS;
use crate::programs::options::{COPY_WAYS, OPERATIONS};
use crate::record::Quantity;
use crate::render::svg::bars::Chart;

/// Gas and time of each way; natively what an instruction would take.
pub fn ways(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[PROGRAMS]);
    let mut table = table(&["operation", "way", "gas, model A", "gas, model B", "ns", "gas at 10 ns"]);
    let mut categories = Vec::new();
    let mut series = vec![("model B".to_owned(), vec![]), ("time at 10 ns per gas".to_owned(), vec![])];
    let mut line = |operation: &str, layer: &str, way: &str, named: &str| {
        let part = format!("{operation}/{way}");
        let gas = ["model-a", "model-b"]
            .map(|model| records.value(PROGRAMS, &format!("{layer}:{model}/{part}"), Quantity::Gas));
        let time_ns = records.value(PROGRAMS, &format!("{layer}/{part}"), Quantity::Time);
        let at_anchor = time_ns.map(|time_ns| time_ns / ANCHOR_NS);
        let cells = [gas[0], gas[1], time_ns, at_anchor].map(or_dash);
        table.lines.push([operation.to_owned(), named.to_owned()].into_iter().chain(cells).collect());
        categories.push(format!("{operation}, {named}"));
        series[0].1.push(gas[1]);
        series[1].1.push(at_anchor);
    };
    let copies = ["two MLOAD and two MSTORE", "MCOPY", "ADDMOD384 with zero"];
    for (way, named) in COPY_WAYS.into_iter().zip(copies) {
        line("copy", "evm384-v7", way, named);
    }
    for operation in OPERATIONS {
        line(operation, "evm384-v7", "chain", "chain of MULMODMONT384");
        line(operation, "evm384-v7", "modexp", "precompile MODEXP");
        line(operation, "blst", "native", "an instruction as fast as blst");
    }
    Figure {
        id: "ways",
        title: "Ways to copy, to invert and to take a square root, version 7",
        source: "EVM384, update 5 (2021), options priced besides, which it did not run".to_owned(),
        explanation: "Run on one value of 48 bytes, pushes included: copies one instruction after the other, chains as the \
                      compiler and the batch engine run them. MODEXP is priced by EIP-7883 for any modulus and exponent, \
                      which is why it costs many times a chain; an instruction would take the time of blst's routine."
            .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "gas".to_owned(), categories, series, is_logarithmic: true }),
    }
}
