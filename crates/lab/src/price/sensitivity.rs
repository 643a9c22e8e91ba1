//! Sensitivity of prices to choices: the anchor, and for relative prices the pivot.

use super::ANCHORS_NS;
use super::model::Model;
use super::runtimes::{Pivot, Runtime, Runtimes};

/// Prices of every opcode under every choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Choices, each with the nanoseconds that a gas stands for.
    pub choices: Vec<(String, f64)>,
    /// For each opcode: its name and width, and the price before rounding under each choice.
    pub lines: Vec<(String, Vec<f64>)>,
}

/// The table of field arithmetic.
pub fn sensitivity(runtimes: &Runtimes) -> Sensitivity {
    let anchors = ANCHORS_NS.iter().map(|&anchor_ns| (format!("{anchor_ns} ns per gas"), anchor_ns));
    let pivots = runtimes.pivots.iter().map(|pivot: &Pivot| (pivot.name.clone(), pivot.ns_per_gas()));
    let choices: Vec<(String, f64)> = anchors.chain(pivots.filter(|(_, ns)| ns.is_finite() && *ns > 0.0)).collect();
    let line = |runtime: &Runtime| {
        let prices = choices.iter().map(|(_, ns_per_gas)| {
            // Particle gas is the price before rounding, to thousandths.
            Model::Particle.price(runtime.time_ns, *ns_per_gas).0 as f64 / 1000.0
        });
        (format!("{}/{}", runtime.mnemonic, runtime.width_bits), prices.collect())
    };
    let arithmetic = runtimes.opcodes.iter().filter(|runtime| runtime.operation.is_some());
    let lines = arithmetic.map(line).collect();
    Sensitivity { choices, lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_fall_as_a_gas_stands_for_more() {
        let table = sensitivity(&Runtimes::published());
        let names: Vec<&str> = table.choices.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["10 ns per gas", "25 ns per gas", "27 ns per gas", "33.3 ns per gas"]);
        let (name, prices) = &table.lines[2];
        assert_eq!((name.as_str(), prices.as_slice()), ("MULMODMONT384/384", &[4.36, 1.744, 1.615, 1.31][..]));
    }
}
