//! Figures about whole programs: operation counts, multiplications in G1, and the case against.

use super::{Figure, Records, or_dash, ratio, shown, table};
use crate::programs::GROUP as PROGRAMS;
use crate::published::{
    AGAINST, AGAINST_SOURCE, COUNTS, COUNTS_SOURCE, F2MUL, F2MUL_SOURCE, FP12_MUL, G1_MULTIPLICATIONS, G1_SOURCE,
};
use crate::record::Quantity;
use crate::render::svg::bars::Chart;

/// Opcodes of the Miller loop and the final exponentiation.
pub fn counts(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[PROGRAMS]);
    let mut table = table(&["opcode", "Miller loop, published", "ours", "final exponentiation, published", "ours"]);
    let count = |part: &str, mnemonic: &str| {
        let group = records.group(PROGRAMS)?;
        let prefix = format!("evm384-v7/{part}/{mnemonic}");
        let is_meant = |name: &str| match mnemonic {
            "DUP" => name.strip_prefix(&prefix).is_some_and(|rest| rest.parse::<u8>().is_ok()),
            _ => name == prefix,
        };
        let rows = group.rows.iter().filter(|row| row.quantity == Quantity::Count && is_meant(&row.name));
        Some(rows.map(|row| row.spread.median).sum::<f64>())
    };
    let mut series = vec![("published".to_owned(), vec![]), ("ours".to_owned(), vec![])];
    let mut categories = Vec::new();
    for known in COUNTS {
        // Counts are far below 2⁵³.
        let published = [known.miller_loop as f64, known.final_exponentiation as f64];
        let own = ["miller_loop", "final_exponentiation"].map(|part| count(part, known.mnemonic));
        table.lines.push(vec![
            known.mnemonic.to_owned(),
            shown(published[0]),
            or_dash(own[0]),
            shown(published[1]),
            or_dash(own[1]),
        ]);
        if published[0] + published[1] > 1000.0 {
            categories.push(known.mnemonic.to_owned());
            series[0].1.push(Some(published[0] + published[1]));
            series[1].1.push(own[0].zip(own[1]).map(|(a, b)| a + b));
        }
    }
    Figure {
        id: "counts",
        title: "Opcodes executed by Miller loop and final exponentiation, version 7",
        source: COUNTS_SOURCE.to_owned(),
        explanation:
            "The formulas are the published ones; sums that the compiler finds twice it computes once, constants \
                      and loops are its own, and copies go by field additions with zero instead of MLOAD and MSTORE."
                .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "executions, both parts".to_owned(), categories, series, is_logarithmic: false }),
    }
}

/// Products in Fp2 and Fp12.
pub fn products(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[PROGRAMS]);
    let mut table = table(&["what", "published", "ours"]);
    let value = |name: &str, quantity| records.value(PROGRAMS, name, quantity);
    for (operation, published) in ["add", "sub", "mul"].into_iter().zip(FP12_MUL) {
        let own = value(&format!("program/fp12_mul/{operation}"), Quantity::Count);
        // Small numbers.
        table.lines.push(vec![format!("{operation} in a product of Fp12"), shown(published as f64), or_dash(own)]);
    }
    let mut series = vec![("variant 3, Karatsuba".to_owned(), vec![]), ("variant 4, schoolbook".to_owned(), vec![])];
    let mut categories = Vec::new();
    for part in ["miller_loop", "final_exponentiation"] {
        for mnemonic in ["MULMODMONT384", "ADDMOD384", "SUBMOD384"] {
            let [three, four] =
                [3, 4].map(|variant| value(&format!("evm384-v7/{part}.f2mul{variant}/{mnemonic}"), Quantity::Count));
            let own = three.zip(four).map(|(three, four)| four - three);
            table.lines.push(vec![
                format!("{mnemonic} of variant 4 less variant 3, {part}"),
                "–".to_owned(),
                or_dash(own),
            ]);
        }
        for model in ["model-a", "model-b"] {
            let gas = [3, 4].map(|variant| value(&format!("evm384-v7:{model}/{part}/f2mul{variant}"), Quantity::Gas));
            let own = gas[0].zip(gas[1]).map(|(three, four)| four - three);
            table.lines.push(vec![
                format!("gas of variant 4 less variant 3, {part}, {model}"),
                "–".to_owned(),
                or_dash(own),
            ]);
            categories.push(format!("{part}, {model}"));
            series[0].1.push(gas[0]);
            series[1].1.push(gas[1]);
        }
    }
    for (variant, what, muls, others) in F2MUL {
        let published = format!("{muls:+} MUL, {others:+} ADD and SUB");
        table.lines.push(vec![format!("a product of Fp2, {variant}: {what}"), published, "as published".to_owned()]);
    }
    Figure {
        id: "f2mul",
        title: "Products in Fp2: three multiplications or four",
        source: F2MUL_SOURCE.to_owned(),
        explanation:
            "The published figure shows differences of counts without numbers; ours are of the whole programs, where \
                      sums that several products share are computed once."
                .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "gas".to_owned(), categories, series, is_logarithmic: false }),
    }
}

/// Multiplications in G1 and G2 by double and add.
pub fn multiplications(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[PROGRAMS]);
    let mut table = table(&["implementation", "scalar", "µs", "gas", "ns per gas"]);
    let mut series = vec![("time".to_owned(), vec![])];
    let mut categories = Vec::new();
    let mut line = |who: String, scalar: &str, time_ns: Option<f64>, gas: Option<f64>| {
        let per_gas = time_ns.zip(gas).map(|(time_ns, gas)| time_ns / gas);
        let time_us = time_ns.map(|time_ns| time_ns / 1000.0);
        table.lines.push(vec![who.clone(), scalar.to_owned(), or_dash(time_us), or_dash(gas), or_dash(per_gas)]);
        categories.push(format!("{who}, {scalar}"));
        series[0].1.push(time_us);
    };
    for known in G1_MULTIPLICATIONS {
        // Far below 2⁵³.
        line(
            known.implementation.to_owned(),
            known.scalar,
            Some(known.time_ns as f64),
            known.gas.map(|gas| gas as f64),
        );
    }
    for (program, group) in [("g1_mul", "G1"), ("g2_mul", "G2")] {
        for (revision, schedule) in [("eip5843", "r5"), ("geth5843", "r5"), ("eip6690-2024", "eip6690")] {
            for (class, scalar) in [("worst", "worst case"), ("order", "group order")] {
                let time_ns = records.value(PROGRAMS, &format!("{revision}/{program}/{class}"), Quantity::Time);
                let gas = records.value(PROGRAMS, &format!("{revision}:{schedule}/{program}/{class}"), Quantity::Gas);
                line(format!("ours, {revision}, {group}"), scalar, time_ns, gas);
            }
        }
    }
    Figure {
        id: "g1",
        title: "Multiplication in G1 and G2 by double and add",
        source: G1_SOURCE.to_owned(),
        explanation:
            "The same formulas and the same scalars on another machine; ours also checks that the point is on its \
                      curve and ends with an inversion to affine coordinates."
                .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "µs".to_owned(), categories, series, is_logarithmic: true }),
    }
}

/// A layer; gas of two pairs, what of it is not arithmetic, what is control; gas of the precompile.
type Share<'a> = (&'a str, f64, f64, f64, f64);

/// Nanoseconds that a layer takes for a check of two pairs.
fn pairing_time(records: &Records, layer: &str) -> Option<f64> {
    records.value("pairing", &format!("{layer}/pairing/2"), Quantity::Time)
}

/// Times of contracts beside that of the precompile, `blst`.
fn beside_precompile(records: &Records, blst: Option<f64>) -> String {
    let slower = |revision: &str| {
        let ours = pairing_time(records, &format!("{revision}:batch"))?;
        Some(format!("{revision}: {:.2} times the time of the precompile", ours / blst?))
    };
    let slower: Vec<String> = ["evm384-v7", "eip6690-2024"].into_iter().filter_map(slower).collect();
    if slower.is_empty() { "–".to_owned() } else { slower.join("; ") }
}

/// Share of the subgroup checks in the library.
fn subgroup_checks(records: &Records) -> String {
    let checked = pairing_time(records, "blst:checked").zip(pairing_time(records, "blst"));
    checked.map_or("–".to_owned(), |(checked, pure)| {
        format!("subgroup checks add {:.0} % to blst", 100.0 * (checked / pure - 1.0))
    })
}

/// Control flow against arithmetic, and the precompile.
pub fn against(records: &Records) -> Figure {
    let (ours, mut missing) = records.cite(&[PROGRAMS, "pairing"]);
    let mut table = table(&["claim", "published", "ours"]);
    let value = |name: &str, quantity| records.value(PROGRAMS, name, quantity);
    let precompile = value("precompile/pairing/2", Quantity::Gas);
    let layers = [
        "evm384-v7:evmone",
        "evm384-v7:model-b",
        "evm384-v9:model-b",
        "evm384-v9:model-b-repriced",
        "eip6690-2024:eip6690",
    ];
    let mut categories = Vec::new();
    let mut series: Vec<(String, Vec<Option<f64>>)> =
        ["arithmetic", "transfer", "growth", "control"].map(|name| (name.to_owned(), vec![])).to_vec();
    let mut shares = Vec::new();
    for layer in layers {
        let name = format!("{layer}/pairing/2");
        let gas = value(&name, Quantity::Gas);
        let split = [Quantity::GasArithmetic, Quantity::GasTransfer, Quantity::GasMemory, Quantity::GasControl]
            .map(|quantity| value(&name, quantity));
        categories.push(layer.to_owned());
        series.iter_mut().zip(split).for_each(|((_, values), part)| values.push(part));
        if let (Some(gas), Some(precompile), [Some(arithmetic), _, _, Some(control)]) = (gas, precompile, split) {
            shares.push((layer, gas, gas - arithmetic, control, precompile));
        }
    }
    let each = |text: &dyn Fn(&Share<'_>) -> String| match shares.is_empty() {
        true => "–".to_owned(),
        false => shares.iter().map(|share| format!("{}: {}", share.0, text(share))).collect::<Vec<_>>().join("; "),
    };
    let blst = pairing_time(records, "precompile");
    let answers = [
        each(&|(_, gas, rest, _, _)| format!("{:.0} % is not arithmetic", 100.0 * rest / gas)),
        each(&|(_, _, rest, _, precompile)| format!("{:.2} times the precompile", rest / precompile)),
        beside_precompile(records, blst),
        subgroup_checks(records),
    ];
    for ((claim, published), own) in AGAINST.into_iter().zip(answers) {
        table.lines.push(vec![claim.to_owned(), published.to_owned(), own]);
    }
    for (layer, gas, _, _, precompile) in &shares {
        table.lines.push(vec![
            format!("gas of two pairs, {layer}"),
            shown(*precompile),
            format!("{} ({})", shown(*gas), ratio(Some(*gas), *precompile)),
        ]);
    }
    if blst.is_none() && missing.is_empty() {
        missing.push("the record of pairing has no check of two pairs".to_owned());
    }
    Figure {
        id: "against",
        title: "The case against: control flow, and ten times the precompile",
        source: AGAINST_SOURCE.to_owned(),
        explanation: "The published run was a synthetic loop in Yul; ours is a contract that replaces the precompile byte for \
                      byte, parsing and subgroup checks included, so all that is not arithmetic counts as control, loads and growth."
            .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "gas of two pairs".to_owned(), categories, series, is_logarithmic: false }),
    }
}
