//! Every published table with the figure that shows it again, so that none is forgotten.

use super::{
    ADJUSTMENT, AGAINST_SOURCE, CALLS_SOURCE, COUNTS, COUNTS_SOURCE, ENGINES, ENGINES_SOURCE, F2MUL, F2MUL_SOURCE,
    F6M_MUL, FP12_MUL, G1_MULTIPLICATIONS, G1_SOURCE, GAS, GAS_SOURCE, INTERFACES, INTERFACES_SOURCE, KECCAK_RELATIVE,
    MODELS, MODELS_SOURCE, RUNTIMES, RUNTIMES_SOURCE, SYNTHETIC_CALLS, WIDTHS_6690, WIDTHS_6690_SOURCE,
};

/// A published table.
#[derive(Debug, Clone, Copy)]
pub struct PublishedTable {
    /// The document, with the place.
    pub source: &'static str,
    /// The id of the figure that shows it again.
    pub figure: &'static str,
    /// Its values, in the units of the figure.
    pub values: fn() -> Vec<f64>,
}

const fn table(source: &'static str, figure: &'static str, values: fn() -> Vec<f64>) -> PublishedTable {
    PublishedTable { source, figure, values }
}

/// Numbers here are far below 2⁵³.
fn number(value: u64) -> f64 {
    value as f64
}

/// The tables, in the order of the documents.
pub const TABLES: &[PublishedTable] = &[
    table(MODELS_SOURCE, "prices", || MODELS.iter().flat_map(|(_, prices)| *prices).collect()),
    table(RUNTIMES_SOURCE, "runtimes", || {
        let times = RUNTIMES.iter().flat_map(|(_, times)| *times);
        times.chain(KECCAK_RELATIVE.map(|(_, relative)| relative)).chain([6.4, 5.6, 43.6]).collect()
    }),
    table(COUNTS_SOURCE, "counts", || {
        COUNTS.iter().flat_map(|count| [count.miller_loop, count.final_exponentiation]).map(number).collect()
    }),
    table(F2MUL_SOURCE, "f2mul", || {
        let less = F2MUL.iter().flat_map(|(_, _, muls, others)| [muls.unsigned_abs(), others.unsigned_abs()]);
        FP12_MUL.into_iter().chain(less).map(number).collect()
    }),
    table(GAS_SOURCE, "gas", || {
        GAS.iter().flat_map(|gas| [gas.miller_loop, gas.final_exponentiation]).map(number).collect()
    }),
    table(GAS_SOURCE, "options", || vec![161_654.0, 259_713.0]),
    table(INTERFACES_SOURCE, "interfaces", || {
        INTERFACES.iter().flat_map(|interface| [interface.time_ms, number(interface.gas)]).collect()
    }),
    table(CALLS_SOURCE, "calls", || {
        F6M_MUL.into_iter().chain(SYNTHETIC_CALLS).map(number).chain([ADJUSTMENT]).collect()
    }),
    table(ENGINES_SOURCE, "engines", || ENGINES.iter().flat_map(|(_, least, most)| [*least, *most]).collect()),
    table(G1_SOURCE, "g1", || {
        let times = G1_MULTIPLICATIONS.iter().map(|known| number(known.time_ns) / 1000.0);
        times.chain(G1_MULTIPLICATIONS.iter().filter_map(|known| known.gas).map(number)).collect()
    }),
    table(WIDTHS_6690_SOURCE, "widths", || WIDTHS_6690.iter().flat_map(|(_, prices)| prices.map(f64::from)).collect()),
    table(AGAINST_SOURCE, "against", || vec![118_800.0, 602_533.0, 364_933.0]),
];
