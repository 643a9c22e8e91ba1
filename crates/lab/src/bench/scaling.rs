//! The group `scaling`: growth of time with the number of pairs, the number of points, the width of the modulus, the
//! size of the code, and with the number of concurrent engines that share analyses and plans of a code.
//!
//! Pairs and points are those of the other groups, the modulus is one that no kernel has a form of its own for, and code of a
//! size is a straight run of field operations. [`crate::bench::memory`] asks the same of the memory.

mod engines;
pub(crate) mod sized;

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::group::{Group, none_missing};
use crate::bench::instructions::{Operands, measure_over};
use crate::bench::operations::{Engines, Job, measure_together, named};
use crate::error::LabError;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};
use residue_workbench::MEASURED;

/// `scaling`.
pub const GROUP: Group = Group {
    name: "scaling",
    summary: "time by number of pairs and points, width of the modulus, size of the code, and engines at once",
    columns: &[
        Column::microseconds("µs", Quantity::Time),
        Column::ratio("/ blst", Quantity::Time, &["blst"]),
        Column::microseconds("cold µs", Quantity::Cold),
        Column::nanoseconds("latency ns", Quantity::Latency),
        Column::nanoseconds("throughput ns", Quantity::Throughput),
        Column::two_decimals("of one engine's", Quantity::Speedup),
        Column::whole("gas", Quantity::Gas),
    ],
    missing: none_missing,
    measure,
};

/// Rounds where there are few things to do in one, and the fewest where there are many.
const ROUNDS_MIN: usize = 5;

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let sizes = effort.sizes;
    let mut rows = Vec::new();
    for (name, sizes) in [("pairing", sizes.pairs), ("g1-msm", sizes.points)] {
        let task = named(name);
        observer(Progress { step: "compiling", done: 0, total: 1 });
        let engines = Engines::of(task, effort, &MEASURED)?;
        for &size in sizes {
            let job = Job::new(task, size, &engines)?;
            // What takes long is measured less often: a record says how often.
            let rounds = (effort.rounds * 8 / (7 + size)).max(ROUNDS_MIN).min(effort.rounds);
            rows.extend(measure_together(&[&job], &Effort { rounds, ..*effort }, observer)?.rows);
        }
    }
    let moduli: Vec<Operands> = sizes.widths_limbs.iter().map(|&width_limbs| Operands::full(width_limbs)).collect();
    rows.extend(measure_over(&moduli, &MEASURED, effort, observer)?);
    rows.extend(sized::measure(effort, observer)?);
    rows.extend(engines::measure(effort, observer)?);
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use residue_workbench::harness::core_count;

    use super::*;
    use crate::Subjects;

    #[test]
    fn every_kind_of_growth_is_measured() {
        let subjects = Subjects::named(&["blst", "modular", "evm384-v7", "eip6690-2024"]).unwrap();
        let rows = measure(&Effort { subjects, ..Effort::SMOKE }, &mut |_| ()).unwrap();
        for (name, quantity) in [
            ("blst/pairing/1", Quantity::Time),
            ("evm384-v7:batch/g1-msm/1", Quantity::Time),
            ("eip6690-2024:plain/mul/128", Quantity::Latency),
            ("modular/add/128", Quantity::Throughput),
            ("eip6690-2024:plain/code/1024", Quantity::Time),
            ("eip6690-2024:batch/code/1024", Quantity::Cold),
            ("eip6690-2024:batch/engines/1", Quantity::Throughput),
            // A speedup by a second engine takes a second core.
            ("eip6690-2024:plain/engines/2", Quantity::Speedup),
        ] {
            if quantity == Quantity::Speedup && core_count() < 2 {
                continue;
            }
            let row = rows.iter().find(|row| row.name == name && row.quantity == quantity);
            assert!(row.is_some_and(|row| row.spread.median > 0.0), "{name} {quantity}");
        }
        assert!(!rows.iter().any(|row| row.layer() == "precompile"), "nobody asked for it");
    }
}
