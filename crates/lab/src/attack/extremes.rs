//! Each instruction by itself at the ends of its operand ranges, without blocks: a test for a constant bound of time
//! per gas.

use residue_engine::Batching;
use residue_isa::{GasSchedule, Revision};
use residue_workbench::statistics::Spread;

use super::ground::{Bounds, Ground};
use super::scene::Scene;
use super::{cold, known};
use crate::bench::effort::{Observer, Progress};
use crate::bench::group::record_of;
use crate::error::LabError;
use crate::record::{Quantity, Record, RecordRow};

/// Name of the records.
pub const GROUP: &str = "extremes";

/// A loop of one instruction.
#[derive(Debug, Clone)]
pub struct Extreme {
    /// The revision.
    pub revision: Revision,
    /// Instruction, operands and bits of the modulus: `mul of 20 lanes/384`.
    pub name: String,
    /// Nanoseconds for a gas.
    pub ns_per_gas: Spread,
    samples: Vec<f64>,
}

/// Measures every instruction of these revisions under their schedules, the worst of each revision first.
pub fn extremes(
    rules: &[(Revision, GasSchedule)],
    gas: u64,
    rounds: usize,
    observer: &mut Observer<'_>,
) -> Result<(Vec<Extreme>, Record), LabError> {
    let mut all = Vec::new();
    let record = record_of(GROUP, || {
        for (done, (revision, schedule)) in rules.iter().enumerate() {
            observer(Progress { step: revision.name(), done, total: rules.len() });
            let ground = Ground::new(*revision, Bounds::Anywhere, gas);
            let mut of_revision = Vec::new();
            for (name, genome) in known::instructions(&ground) {
                let staged = Scene::new(&ground, schedule, gas, super::CODE_BYTES_MAX, &genome).stage()?.in_time()?;
                let samples = (0..rounds).map(|_| Ok(cold(&staged, Batching::Off)?.worst_ns_per_gas()));
                let samples = samples.collect::<Result<Vec<_>, LabError>>()?;
                of_revision.push(Extreme { revision: *revision, name, ns_per_gas: Spread::of(&samples), samples });
            }
            of_revision.sort_by(|a, b| b.ns_per_gas.median.total_cmp(&a.ns_per_gas.median));
            all.append(&mut of_revision);
        }
        let row = |extreme: &Extreme| {
            RecordRow::new(format!("{}:plain/{}", extreme.revision, extreme.name), Quantity::NsPerGas, &extreme.samples)
        };
        Ok(all.iter().map(row).collect())
    })?;
    Ok((all, record))
}
