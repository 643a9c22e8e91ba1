//! The group `eip2537`: the seven contracts that replace precompiles, beside revm's precompiles on the same bytes.
//!
//! Before anything is timed every answer is compared with blst's. The sizes are the same with every effort, so that a quick
//! record has the lines of a full one; they are those of the page `docs/eip2537.md`.

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::group::{Group, none_missing};
use crate::bench::operations::{Engines, Job, measure_together, named};
use crate::error::LabError;
use crate::price::ANCHOR_NS;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};
use residue_isa::Revision;

/// `eip2537`.
pub const GROUP: Group = Group {
    name: "eip2537",
    summary: "the contracts that replace the precompiles of EIP-2537, beside the precompiles",
    columns: &[
        Column::microseconds("µs", Quantity::Time),
        Column::ratio("/ precompile", Quantity::Time, &["precompile"]),
        Column::whole("gas", Quantity::Gas),
        Column::ratio("gas / price", Quantity::Gas, &["precompile"]),
        Column::whole("gas by time", Quantity::GasByTime),
    ],
    missing: none_missing,
    measure,
};

/// The operations with their sizes: points, pairs or maps.
pub const OPERATIONS: [(&str, &[usize]); 7] = [
    ("g1-add", &[1]),
    ("g1-msm", &[1, 2, 16, 128]),
    ("g2-add", &[1]),
    ("g2-msm", &[1, 2, 16, 128]),
    ("pairing", &[1, 2, 4, 8, 16]),
    ("map-fp-to-g1", &[1]),
    ("map-fp2-to-g2", &[1]),
];

/// Default subjects.
const SUBJECTS: [&str; 2] = ["precompile", "eip6690-2024"];

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let effort = Effort { subjects: effort.subjects.or_of_everybody(&SUBJECTS), ..*effort };
    let mut rows = Vec::new();
    for (name, sizes) in OPERATIONS {
        observer(Progress { step: "compiling", done: 0, total: 1 });
        let task = named(name);
        let engines = Engines::of(task, &effort, &[Revision::Eip6690_2024])?;
        for &size in sizes {
            let job = Job::new(task, size, &engines)?;
            let together = measure_together(&[&job], &effort, observer)?;
            rows.extend(together.rows);
            rows.extend(together.times_ns.iter().map(|(name, times_ns)| {
                let gas: Vec<f64> = times_ns.iter().map(|time_ns| time_ns / ANCHOR_NS).collect();
                RecordRow::new(name, Quantity::GasByTime, &gas)
            }));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_compared_with_its_precompile_at_every_size() {
        let rows = measure(&Effort::SMOKE, &mut |_| ()).unwrap();
        let find = |name: &str, quantity, baseline: Option<&str>| {
            let found =
                |row: &&RecordRow| row.name == name && row.quantity == quantity && row.baseline.as_deref() == baseline;
            rows.iter().find(found).unwrap_or_else(|| panic!("{name}, {quantity}, {baseline:?}")).spread.median
        };
        for (operation, sizes) in OPERATIONS {
            for size in sizes {
                let precompile = format!("precompile/{operation}/{size}");
                for layer in ["eip6690-2024:batch", "eip6690-2024:plain"] {
                    let name = format!("{layer}/{operation}/{size}");
                    assert!(find(&name, Quantity::Time, Some(&precompile)) > 0.0);
                    let gas = [&name, &precompile].map(|name| find(name, Quantity::Gas, None));
                    let ratio = find(&name, Quantity::Gas, Some(&precompile));
                    assert!((gas[0] / gas[1] - ratio).abs() < 0.001, "{name}");
                    let [time, by_time] = [Quantity::Time, Quantity::GasByTime].map(|of| find(&name, of, None));
                    assert!((time / 10.0 - by_time).abs() < 0.01, "{name}");
                }
            }
        }
        // EIP-2537, "Gas schedule for pairing operation": 32600k + 37700.
        assert!((find("precompile/pairing/16", Quantity::Gas, None) - 559_300.0).abs() < 0.5);
    }
}
