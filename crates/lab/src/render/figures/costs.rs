//! Figures of update 5 about prices: the models, the gas of a pairing under each, and further options.

use residue_isa::{GasSchedule, Revision};

use super::{Figure, Records, or_dash, ratio, shown, table};
use crate::opcodes::GROUP as OPCODES;
use crate::price::{ANCHOR_NS, Model, Runtimes};
use crate::programs::{GROUP as PROGRAMS, published_gas};
use crate::published::{COUNTS, MODEL_COLUMNS, MODELS, MODELS_SOURCE};
use crate::published::{GAS_SOURCE, PairingGas};
use crate::record::Quantity;
use crate::render::svg::bars::Chart;

/// Proposed prices by model.
pub fn prices(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[OPCODES]);
    let runtimes = records.group(OPCODES).map(|record| Runtimes::of(record, Revision::Evm384V7));
    let priced = |model: Model| runtimes.as_ref().and_then(|runtimes| model.apply(runtimes, ANCHOR_NS, None).ok());
    let models = [Model::A, Model::B, Model::Particle].map(priced);
    let headings = ["instruction"].into_iter().chain(MODEL_COLUMNS).chain(["ours, A", "ours, B", "ours, at 10 ns"]);
    let mut table = table(&headings.collect::<Vec<_>>());
    let mut series = vec![("published A".to_owned(), vec![]), ("ours A".to_owned(), vec![])];
    series.extend([("published B".to_owned(), vec![]), ("ours B".to_owned(), vec![])]);
    for (mnemonic, published) in MODELS {
        let own = models.each_ref().map(|priced| {
            let price = priced.as_ref()?.schedule.base(mnemonic)?;
            Some(price.0 as f64 / 1000.0) // Small numbers.
        });
        let cells = published.iter().map(|price| shown(*price)).chain(own.map(or_dash));
        table.lines.push([mnemonic.to_owned()].into_iter().chain(cells).collect());
        if mnemonic.ends_with("384") {
            series[0].1.push(Some(published[0]));
            series[1].1.push(own[0]);
            series[2].1.push(Some(published[4]));
            series[3].1.push(own[1]);
        }
    }
    let categories = MODELS[..3].iter().map(|(mnemonic, _)| (*mnemonic).to_owned()).collect();
    Figure {
        id: "prices",
        title: "Proposed prices by model",
        source: MODELS_SOURCE.to_owned(),
        explanation:
            "Ours are of the worst operands on one machine at the same 10 ns per gas, the published ones of the \
                      mean over five laptops and servers of 2020; the repriced and fractional columns follow no stated \
                      rounding and are quoted. PUSH and the others of the EVM are not repriced by models A and B."
                .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "gas".to_owned(), categories, series, is_logarithmic: false }),
    }
}

fn gas_of(records: &Records, gas: &PairingGas, part: &str) -> Option<f64> {
    records.value(PROGRAMS, &format!("{}:{}/{part}/all", gas.revision, gas.schedule), Quantity::Gas)
}

/// Gas of the parts of a pairing under the models.
pub fn gas(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[PROGRAMS]);
    let headings = [
        "version",
        "model",
        "Miller loop, published",
        "ours",
        "ours / published",
        "final exponentiation, published",
        "ours",
        "ours / published",
    ];
    let mut table = table(&headings);
    let mut categories = Vec::new();
    let (mut published_sum, mut own_sum) = (Vec::new(), Vec::new());
    for gas in published_gas() {
        let own = [gas_of(records, gas, "miller_loop"), gas_of(records, gas, "final_exponentiation")];
        // Gas is far below 2⁵³.
        let published = [gas.miller_loop as f64, gas.final_exponentiation as f64];
        let cells = [0, 1].map(|part| [shown(published[part]), or_dash(own[part]), ratio(own[part], published[part])]);
        table
            .lines
            .push([gas.revision.to_owned(), gas.schedule.to_owned()].into_iter().chain(cells.concat()).collect());
        categories.push(format!("{}, {}", gas.revision, gas.schedule));
        published_sum.push(Some(published[0] + published[1]));
        own_sum.push(own[0].zip(own[1]).map(|(a, b)| a + b));
    }
    // Models that were not published for a version, ours alone.
    for revision in crate::programs::MODEL_REVISIONS {
        for schedule in GasSchedule::names(revision).into_iter().filter(|name| name.starts_with("model-")) {
            if published_gas().any(|gas| gas.revision == revision.name() && gas.schedule == schedule) {
                continue;
            }
            let own = ["miller_loop", "final_exponentiation"]
                .map(|part| records.value(PROGRAMS, &format!("{revision}:{schedule}/{part}/all"), Quantity::Gas));
            let cells = own.map(|own| ["–".to_owned(), or_dash(own), "–".to_owned()]);
            table.lines.push([revision.name().to_owned(), schedule].into_iter().chain(cells.concat()).collect());
        }
    }
    let series = vec![("published, whole pairing".to_owned(), published_sum), ("ours".to_owned(), own_sum)];
    Figure {
        id: "gas",
        title: "Gas of Miller loop and final exponentiation by version and model",
        source: GAS_SOURCE.to_owned(),
        explanation: "Theirs is hand-placed Huff that copies values with MLOAD and MSTORE; ours is the same formulas through \
                      the compiler, which places values so that hardly any are copied and computes common sums once. Their \
                      version 9 was version 7 without the gas of PUSH16 and did not run, ours runs."
            .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "gas".to_owned(), categories, series, is_logarithmic: false }),
    }
}

/// Savings of other ways to copy and invert, computed from opcode counts.
pub fn options(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[PROGRAMS]);
    let mut table = table(&[
        "program",
        "counts of",
        "as it is, model B",
        "copies by MCOPY",
        "copies by ADDMOD384",
        "INVERSEMOD384 at 100 gas",
        "at 300 gas",
        "at blst's time",
    ]);
    let native = records.value(PROGRAMS, "blst/inverse/native", Quantity::Time).map(|time_ns| time_ns / ANCHOR_NS);
    let b = |mnemonic: &str| MODELS.iter().find(|(name, _)| *name == mnemonic).map_or(0.0, |(_, prices)| prices[4]);
    for (part, published_gas) in [("miller_loop", 161_654.0), ("final_exponentiation", 259_713.0)] {
        // What is not executed has no row.
        let count = |mnemonic: &str| {
            let counted = records.group(PROGRAMS)?.find(&format!("evm384-v7/{part}/{mnemonic}"), Quantity::Count, None);
            Some(counted.map_or(0.0, |row| row.spread.median))
        };
        let published = |mnemonic: &str| {
            let known = COUNTS.iter().find(|count| count.mnemonic == mnemonic);
            known.map_or(0.0, |known| {
                if part == "miller_loop" { known.miller_loop as f64 } else { known.final_exponentiation as f64 }
            })
        };
        let inversion =
            |kind: &str| records.value(PROGRAMS, &format!("program/{part}/fp_inverse.{kind}"), Quantity::Count);
        // An inversion by a chain has 454 multiplications in the published program (each with its PUSH16).
        let chain = if part == "miller_loop" { Some(0.0) } else { Some(454.0) };
        let own_gas = records.value(PROGRAMS, &format!("evm384-v7:model-b/{part}/all"), Quantity::Gas);
        let lines = [
            ("published", Some(published_gas), Some(published("MLOAD")), chain),
            ("ours", own_gas, count("MLOAD"), if part == "miller_loop" { Some(0.0) } else { inversion("mul") }),
        ];
        for (who, gas, loads, chain) in lines {
            // A value of 48 bytes is two MLOAD and two MSTORE with their pushes: 4 · 3 and 4 · 3 gas.
            let copies = loads.map(|loads| loads / 2.0);
            let saved = |each: f64| {
                gas.zip(copies).map(|(gas, copies)| gas - copies * (4.0 * b("MLOAD") + 4.0 * b("PUSH") - each))
            };
            // MCOPY: 3 gas, 3 for each of two words, three pushes. ADDMOD384 with zero: its price and one PUSH16.
            let by_mcopy = saved(3.0 + 6.0 + 3.0 * b("PUSH"));
            let by_add = saved(b("ADDMOD384") + b("PUSH"));
            let inverted = |price: Option<f64>| {
                let (chain, price) = (chain?, price?);
                let saved = chain * (b("MULMODMONT384") + b("PUSH")) - if chain > 0.0 { price } else { 0.0 };
                Some(gas? - saved)
            };
            let inverses = [Some(100.0), Some(300.0), native].map(inverted);
            let cells = [gas, by_mcopy, by_add].into_iter().chain(inverses).map(or_dash);
            table.lines.push([part.to_owned(), who.to_owned()].into_iter().chain(cells).collect());
        }
    }
    Figure {
        id: "options",
        title: "Further options: copies and an inverse",
        source: "EVM384, update 5 (2021), options priced besides; computed from the counts of table 2 and from ours"
            .to_owned(),
        explanation:
            "Computed of counts, with the gas of one copy and one inverse as the figure of ways has them run: every two \
                      MLOAD count as one copy of a value. Our programs read words of memory for more than copies, so what \
                      they could save by copying otherwise is an upper bound. No part of a pairing takes a square root."
                .to_owned(),
        ours,
        missing,
        table,
        chart: None,
    }
}
