//! Figures of growth: time and memory by number of pairs and points, width of the modulus, size of the code, engines at once.
//! Nobody has published these, so there are none where there are no records.

use super::{Figure, Records, or_dash, table};
use crate::bench::memory::GROUP as MEMORY;
use crate::bench::scaling::GROUP as SCALING;
use crate::record::{Quantity, Record, layer_of};
use crate::render::svg::bars::Chart;

/// Layers that are drawn, of all that a table has: as many as there are colours.
const DRAWN: [&str; 5] = ["blst", "precompile", "eip6690-2024:batch", "eip6690-2024:plain", "evm384-v7:batch"];

/// One figure: a quantity of one thing by its size.
struct Growth {
    id: &'static str,
    title: &'static str,
    group: &'static str,
    /// The middle part of the names of its rows.
    thing: &'static str,
    quantity: Quantity,
    unit: &'static str,
    /// Units of the quantity in the unit that is shown.
    divisor: f64,
    explanation: &'static str,
}

const TIME_EXPLAINED: &str = "Libraries get parsed points; the precompile and the contracts parse and validate.";
const MEMORY_EXPLAINED: &str = "The most that a process of its own had resident, the program included; code and input come ready made, and \
     contracts run eight times, so that their plans are in it.";

const GROWTHS: [Growth; 9] = [
    Growth {
        id: "scaling-pairs",
        title: "Time of a pairing check by number of pairs",
        group: SCALING.name,
        thing: "pairing",
        quantity: Quantity::Time,
        unit: "µs",
        divisor: 1e3,
        explanation: TIME_EXPLAINED,
    },
    Growth {
        id: "scaling-points",
        title: "Time of a sum of multiples in G1 by number of points",
        group: SCALING.name,
        thing: "g1-msm",
        quantity: Quantity::Time,
        unit: "µs",
        divisor: 1e3,
        explanation: TIME_EXPLAINED,
    },
    Growth {
        id: "scaling-width",
        title: "Latency of a multiplication by width of the modulus in bits",
        group: SCALING.name,
        thing: "mul",
        quantity: Quantity::Latency,
        unit: "ns",
        divisor: 1.0,
        explanation: "Moduli fill their limbs to the last bit. Each product needs the one before, so a batch has one product in it.",
    },
    Growth {
        id: "scaling-code",
        title: "Time of a first execution by size of the code in bytes",
        group: SCALING.name,
        thing: "code",
        quantity: Quantity::Cold,
        unit: "µs",
        divisor: 1e3,
        explanation: "Analysis and one execution of a straight run of field operations that fills the code.",
    },
    Growth {
        id: "scaling-engines",
        title: "Pairing checks of several engines at once, beside one engine",
        group: SCALING.name,
        thing: "engines",
        quantity: Quantity::Speedup,
        unit: "times",
        divisor: 1.0,
        explanation: "Each engine runs in a thread on a core of its own; codes and plans are one cache for all of them.",
    },
    Growth {
        id: "memory-pairs",
        title: "Peak memory of a pairing check by number of pairs",
        group: MEMORY.name,
        thing: "pairing",
        quantity: Quantity::PeakMemory,
        unit: "MiB",
        divisor: MEBIBYTE,
        explanation: MEMORY_EXPLAINED,
    },
    Growth {
        id: "memory-points",
        title: "Peak memory of a sum of multiples in G1 by number of points",
        group: MEMORY.name,
        thing: "g1-msm",
        quantity: Quantity::PeakMemory,
        unit: "MiB",
        divisor: MEBIBYTE,
        explanation: MEMORY_EXPLAINED,
    },
    Growth {
        id: "memory-width",
        title: "Peak memory of 512 operations by width of the modulus in bits",
        group: MEMORY.name,
        thing: "width",
        quantity: Quantity::PeakMemory,
        unit: "MiB",
        divisor: MEBIBYTE,
        explanation: MEMORY_EXPLAINED,
    },
    Growth {
        id: "memory-code",
        title: "Peak memory of a straight run by size of its code in bytes",
        group: MEMORY.name,
        thing: "code",
        quantity: Quantity::PeakMemory,
        unit: "MiB",
        divisor: MEBIBYTE,
        explanation: MEMORY_EXPLAINED,
    },
];

const MEBIBYTE: f64 = 1_048_576.0;

/// The figures that there are records for.
pub fn all(records: &Records) -> Vec<Figure> {
    GROWTHS.iter().filter_map(|growth| growth.figure(records)).collect()
}

impl Growth {
    fn figure(&self, records: &Records) -> Option<Figure> {
        let record = records.group(self.group)?;
        let (ours, missing) = records.cite(&[self.group]);
        let (layers, sizes) = self.layers_and_sizes(record);
        let value = |layer: &str, size: usize| {
            let name = format!("{layer}/{}/{size}", self.thing);
            record.find(&name, self.quantity, None).map(|row| row.spread.median / self.divisor)
        };
        let headings: Vec<String> = sizes.iter().map(|size| format!("{size}, {}", self.unit)).collect();
        let mut table = table(&["subject"].into_iter().chain(headings.iter().map(String::as_str)).collect::<Vec<_>>());
        for layer in &layers {
            let cells = sizes.iter().map(|&size| or_dash(value(layer, size)));
            table.lines.push([layer.clone()].into_iter().chain(cells).collect());
        }
        let drawn = DRAWN.iter().filter(|drawn| layers.iter().any(|layer| layer == *drawn));
        let series =
            drawn.map(|layer| ((*layer).to_owned(), sizes.iter().map(|&size| value(layer, size)).collect())).collect();
        let chart = Chart {
            unit: self.unit.to_owned(),
            categories: sizes.iter().map(usize::to_string).collect(),
            series,
            is_logarithmic: self.quantity != Quantity::Speedup,
        };
        (!layers.is_empty()).then(|| Figure {
            id: self.id,
            title: self.title,
            source: format!("Ours alone: `residue bench {}`", self.group),
            explanation: self.explanation.to_owned(),
            ours,
            missing,
            table,
            chart: Some(chart),
        })
    }

    /// The layers that have it, as the record has them, and the sizes, ascending.
    fn layers_and_sizes(&self, record: &Record) -> (Vec<String>, Vec<usize>) {
        let (mut layers, mut sizes) = (Vec::new(), Vec::new());
        for row in record.rows.iter().filter(|row| row.quantity == self.quantity && row.baseline.is_none()) {
            let parts: Vec<&str> = row.name.split('/').collect();
            let [_, thing, size] = parts[..] else { continue };
            let Some(size) = size.parse().ok().filter(|_| thing == self.thing) else { continue };
            let layer = layer_of(&row.name).to_owned();
            if !layers.contains(&layer) {
                layers.push(layer);
            }
            sizes.push(size);
        }
        sizes.sort_unstable();
        sizes.dedup();
        (layers, sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordRow;
    use crate::record::date::Date;
    use crate::record::environment::Environment;

    #[test]
    fn sizes_ascend_and_what_is_not_measured_is_a_dash() {
        let row = |name: &str, time_ns: f64| RecordRow::new(name, Quantity::Time, &[time_ns]);
        let mut records = Records::default();
        assert!(all(&records).is_empty());
        records.add(Record {
            group: "scaling".to_owned(),
            date: Date::after_epoch(0),
            environment: Environment::default(),
            rows: vec![row("blst/pairing/16", 5e6), row("blst/pairing/2", 1e6), row("x:plain/pairing/2", 2e6)],
        });
        let figures = all(&records);
        let ids: Vec<&str> = figures.iter().map(|figure| figure.id).collect();
        assert_eq!(ids, ["scaling-pairs"]);
        assert_eq!(figures[0].table.headings, ["subject", "2, µs", "16, µs"]);
        assert_eq!(figures[0].table.lines, [["blst", "1 000", "5 000"], ["x:plain", "2 000", "–"]]);
        assert_eq!(figures[0].chart.as_ref().unwrap().series.len(), 1);
    }
}
