//! The group `memory`: peak resident memory of a process, by engine and by size of the computation.
//!
//! Each measurement is a process of its own, which is given code and input ready made, runs the code a few times and says what
//! the system counted: nothing of the compiler is in it. The growth is that peak without what the process had before its work,
//! which is the program itself; for a plain engine it is all that one frame needs, for a batch engine the plans are in it.

mod errand;

pub(crate) use errand::Errand;
pub use errand::Specification;

use residue_isa::Revision;
use residue_workbench::harness::WrongAnswer;

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::engines::EngineLayer;
use crate::bench::group::{Group, none_missing};
use crate::bench::operations::{Engines, Job, Task, bytecode, named};
use crate::bench::process::{Told, peak_bytes, refused, sent};
use crate::bench::scaling::sized::Sized;
use crate::error::LabError;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};
use errand::SPECIFICATION;
use residue_workbench::MEASURED;

/// `memory`.
pub const GROUP: Group = Group {
    name: "memory",
    summary: "peak resident memory of a process by engine, pairs, points, width of the modulus and size of the code",
    columns: &[
        Column::whole("peak bytes", Quantity::PeakMemory),
        Column::whole("growth bytes", Quantity::MemoryGrowth),
    ],
    missing: none_missing,
    measure,
};

/// Pairs of the check that everybody is compared in.
const PAIRS: usize = 2;
/// Processes of one measurement, at most.
const PROCESSES_MAX: usize = 5;

/// An errand with the name of its rows, and the answer that it has to bring.
struct Planned {
    name: String,
    errand: Errand,
    expected: Vec<u8>,
}

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    if peak_bytes().is_none() {
        // The system does not count it, so nothing is measured, which the record says.
        return Ok(Vec::new());
    }
    let planned = planned(effort)?;
    let mut rows = Vec::new();
    for (done, Planned { name, errand, expected }) in planned.iter().enumerate() {
        observer(Progress { step: "processes", done, total: planned.len() });
        let (mut peaks, mut growths) = (Vec::new(), Vec::new());
        for _ in 0..effort.cold_starts.min(PROCESSES_MAX) {
            let Told { before_bytes, peak_bytes, output } = sent(&errand.to_json())?;
            let output = hex::decode(&output).map_err(|error| refused(error.to_string()))?;
            if output != *expected {
                let (subject, expected) = (name.clone(), expected.clone());
                return Err(WrongAnswer { subject, expected, got: output }.into());
            }
            peaks.push(bytes(peak_bytes));
            growths.push(bytes(peak_bytes.saturating_sub(before_bytes)));
        }
        rows.push(RecordRow::new(name, Quantity::PeakMemory, &peaks));
        rows.push(RecordRow::new(name, Quantity::MemoryGrowth, &growths));
    }
    Ok(rows)
}

/// Everything that is to be measured.
fn planned(effort: &Effort) -> Result<Vec<Planned>, LabError> {
    let mut planned = Vec::new();
    for (name, sizes) in [("pairing", effort.sizes.pairs), ("g1-msm", effort.sizes.points)] {
        let task = named(name);
        let engines = Engines::of(task, effort, &MEASURED)?;
        let compared = if name == "pairing" { PAIRS } else { 0 };
        let others = [compared].into_iter().filter(|size| *size > 0 && !sizes.contains(size));
        for size in sizes.iter().copied().chain(others) {
            let job = Job::new(task, size, &engines)?;
            let expected = job.expected()?;
            let errand = |layer: &str, code: &[u8]| Planned {
                name: job.name_in(layer),
                errand: Errand::new(layer, task.name, code, job.input()),
                expected: expected.clone(),
            };
            planned.extend(job.libraries(effort).map(|layer| errand(layer, &[])));
            if size == compared {
                planned.extend(engines.modules().map(|(layer, module)| errand(layer, module)));
            }
            planned.extend(engines.bytecode().iter().map(|(layer, code)| errand(&layer.name, code)));
            if size == compared {
                planned.extend(specified(task, effort)?.iter().map(|(layer, code)| errand(layer, code)));
            }
        }
    }
    for revision in effort.subjects.revisions(&MEASURED) {
        let layers = EngineLayer::chosen(revision, effort.subjects)?;
        let mut runs = Vec::new();
        for &width_limbs in effort.sizes.widths_limbs {
            runs.extend(Sized::over(revision, width_limbs)?.map(|run| (format!("width/{}", 64 * width_limbs), run)));
        }
        for &code_bytes in effort.sizes.code_bytes {
            runs.extend(Sized::new(revision, code_bytes)?.map(|run| (format!("code/{code_bytes}"), run)));
        }
        for (thing, Sized { code, input, output }) in runs {
            planned.extend(layers.iter().map(|layer| Planned {
                name: format!("{}/{thing}", layer.name),
                errand: Errand::new(&layer.name, "code", &code, &input),
                expected: output.clone(),
            }));
        }
    }
    Ok(planned)
}

/// The code of a task for the chosen revisions of the specification, each with its layer.
fn specified(task: &'static Task, effort: &Effort) -> Result<Vec<(String, Vec<u8>)>, LabError> {
    let layer = |revision: &Revision| format!("{SPECIFICATION}:{revision}");
    let chosen: Vec<Revision> =
        MEASURED.into_iter().filter(|revision| effort.subjects.include(&layer(revision))).collect();
    let code = |revision: Revision| Ok((layer(&revision), bytecode(task, revision)?));
    chosen.into_iter().map(code).collect()
}

/// Memory here is far below 2⁵³ bytes.
fn bytes(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Subjects;

    #[test]
    fn every_engine_has_an_errand() {
        let subjects = Subjects::named(&["blst", "precompile", "wasmi", "spec", "evm384-v7", "eip6690-2024"]).unwrap();
        let planned = planned(&Effort { subjects, ..Effort::SMOKE }).unwrap();
        for name in [
            "blst/pairing/2",
            "precompile/pairing/1",
            "wasmi:self-contained/pairing/2",
            "evm384-v7:batch/g1-msm/1",
            "eip6690-2024:plain/width/128",
            "eip6690-2024:plain/code/1024",
            "spec:eip6690-2024/pairing/2",
        ] {
            assert!(planned.iter().any(|planned| planned.name == name), "{name}");
        }
    }
}
