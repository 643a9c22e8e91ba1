//! The group `comparison`: native, precompile, WebAssembly and EVM on the programs of 2020, in the same rounds.
//!
//! The pairing check of two pairs is our contract; the synthetic loop and the multiple of a point of G1 are the published
//! programs. How many synthetic loops a pairing check takes, which was assumed to be 1.25, is measured for every engine.

use residue_isa::Revision;
use residue_workbench::statistics::ratios;

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::go;
use crate::bench::group::Group;
use crate::bench::operations::{Engines, Job, Task, measure_together, missing_libraries, named};
use crate::error::LabError;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow, layer_of};

/// `comparison`.
pub const GROUP: Group = Group {
    name: "comparison",
    summary: "native, precompile, WebAssembly and EVM: pairing check, synthetic loop, G1 multiplication",
    columns: &[
        Column::microseconds("µs", Quantity::Time),
        Column::ratio("/ blst", Quantity::Time, &["blst"]),
        Column::microseconds("start µs", Quantity::StartUp),
        Column::whole("gas", Quantity::Gas),
        Column::whole("add", Quantity::OpsAdd),
        Column::whole("sub", Quantity::OpsSub),
        Column::whole("mul", Quantity::OpsMul),
        Column::two_decimals("synthetic loops", Quantity::Adjustment),
    ],
    missing: missing_libraries,
    measure,
};

/// The programs with their sizes: the pairing check first, then the synthetic loop that it is compared with.
const PROGRAMS: [(&str, usize); 3] = [("pairing", 2), ("synthetic-loop", 1350), ("g1-mul", 1)];

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let mut ready: Vec<(&'static Task, usize, Engines)> = Vec::new();
    for (done, (name, size)) in PROGRAMS.into_iter().enumerate() {
        observer(Progress { step: "compiling", done, total: PROGRAMS.len() });
        let task = named(name);
        ready.push((task, size, Engines::of(task, effort, Revision::ALL)?));
    }
    let jobs = ready.iter().map(|(task, size, engines)| Job::new(task, *size, engines));
    let jobs: Vec<Job<'_>> = jobs.collect::<Result<_, _>>()?;
    let together = measure_together(&jobs.iter().collect::<Vec<_>>(), effort, observer)?;
    let mut rows = together.rows;
    let times_of = |name: &str| together.times_ns.iter().find(|(other, _)| other == name).map(|(_, times)| times);
    for (name, times) in &together.times_ns {
        let layer = layer_of(name);
        let [pairing, synthetic] = [&jobs[0], &jobs[1]].map(|job| job.name_in(layer));
        if *name == pairing
            && let Some(synthetic) = times_of(&synthetic)
        {
            rows.push(RecordRow::new(name, Quantity::Adjustment, &ratios(times, synthetic)));
        }
    }
    let asked: Vec<_> = jobs.iter().map(Job::asked).collect::<Result<_, _>>()?;
    rows.extend(go::rows(effort, &asked)?);
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use residue_wasm::EngineKind;

    use super::*;
    use crate::Subjects;

    #[test]
    fn the_table_has_every_engine_and_the_adjustment_is_measured() {
        let subjects = ["blst", "precompile", "wasmi", "wasmtime", "eip6690-2024", "evm384-v0"];
        let subjects = Subjects::named(&subjects).unwrap();
        let rows = measure(&Effort { subjects, ..Effort::SMOKE }, &mut |_| ()).unwrap();
        let find = |name: &str, quantity| rows.iter().find(|row| row.name == name && row.quantity == quantity);
        let compiled = EngineKind::Wasmtime.is_built_in().then_some("wasmtime:host-functions");
        for layer in ["wasmi:self-contained", "eip6690-2024:plain", "eip6690-2024:batch"].into_iter().chain(compiled) {
            let adjustment = find(&format!("{layer}/pairing/2"), Quantity::Adjustment).unwrap();
            assert!(adjustment.spread.median > 0.0, "{layer}");
            assert!(find(&format!("{layer}/synthetic-loop/1350"), Quantity::Time).is_some(), "{layer}");
        }
        assert!(find("arkworks/pairing/2", Quantity::Time).is_none());
        assert!(
            find("evm384-v0:plain/g1-mul/1", Quantity::Gas).is_some()
                && find("evm384-v0:batch/g1-mul/1", Quantity::Gas).is_none()
        );
        // EVM384, update 2: f6m_mul has 18 products, 50 sums and 20 differences, and the loop has 1350 turns.
        for (quantity, count) in [(Quantity::OpsMul, 18.0), (Quantity::OpsAdd, 50.0), (Quantity::OpsSub, 20.0)] {
            for layer in ["wasmi:host-functions", "eip6690-2024:plain"] {
                let counted = find(&format!("{layer}/synthetic-loop/1350"), quantity).unwrap().spread.median;
                // Parsing and returning multiply with constants too.
                assert!((counted - 1350.0 * count).abs() <= 24.0, "{layer} {quantity}: {counted}");
            }
        }
    }
}
