//! A contract beside the precompile in whose place it stands, or beside a library, on the same bytes.
//!
//! Every answer is compared with the yardstick's, before anything is timed and in every round.

use residue_contracts::Contract;
use residue_engine::{Fork, native};
use residue_isa::Revision;
use residue_workbench::harness::{Sample, Subject, interleave};

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::engines::EngineLayer;
use crate::bench::operations::Run;
use crate::error::LabError;
use crate::made::made;
use crate::price::ANCHOR_NS;
use crate::record::{Quantity, RecordRow};

/// More than anything measured here takes.
pub(super) const GAS: u64 = 1 << 40;

/// The layer of precompiles.
pub(super) const PRECOMPILE: &str = "precompile";

/// The layer of the library that is a contract's yardstick.
pub(super) const LIBRARY: &str = "library";

/// The engines that were chosen, each with the contract's code; none of the EVM as it is for a contract that it has no code for.
pub(super) fn layers(
    contract: &'static Contract,
    effort: &Effort,
    observer: &mut Observer<'_>,
) -> Result<Vec<(EngineLayer, Vec<u8>)>, LabError> {
    observer(Progress { step: "compiling", done: 0, total: 1 });
    let mut layers = Vec::new();
    for revision in effort.subjects.revisions(&[Revision::Eip6690_2024]) {
        let trial = made(contract, revision);
        // The EVM by itself has moduli of up to 430 bits, and some code is too long for it.
        if Revision::BESIDE.contains(&revision) && trial.as_ref().is_err_and(LabError::is_inexpressible) {
            continue;
        }
        let code = trial?.compiled.code;
        layers.extend(EngineLayer::chosen(revision, effort.subjects)?.into_iter().map(|layer| (layer, code.clone())));
    }
    Ok(layers)
}

/// Output and gas of the precompile at `address`.
pub(super) fn by_precompile(address: u16, input: &[u8]) -> Result<native::NativeOutput, LabError> {
    Ok(native::precompile(Fork::default(), address, input, u64::MAX)?)
}

/// Reference that others are compared with, for answers and time.
pub(super) struct Yardstick<'a> {
    /// Its layer.
    pub layer: &'static str,
    /// Its answer.
    pub answer: Vec<u8>,
    /// Gas that it costs, if it costs any.
    pub price: Option<u64>,
    /// It, answering.
    pub run: Run<'a>,
}

impl<'a> Yardstick<'a> {
    /// The precompile at `address`.
    pub fn precompile(address: u16, input: &'a [u8]) -> Result<Self, LabError> {
        let first = by_precompile(address, input)?;
        // No answer is a wrong answer.
        let run = move || by_precompile(address, input).map_or(Vec::new(), |native| native.output);
        Ok(Self { layer: PRECOMPILE, answer: first.output, price: Some(first.gas_used), run: Box::new(run) })
    }

    /// A library.
    pub fn library(mut run: Run<'a>) -> Self {
        Self { layer: LIBRARY, answer: run(), price: None, run }
    }
}

/// A call, and the engines that answer it.
pub(super) struct Call<'a> {
    /// The name of the measurement without its layer.
    pub name: &'a str,
    /// The calldata.
    pub input: &'a [u8],
    /// The engines with their code.
    pub layers: &'a [(EngineLayer, Vec<u8>)],
}

impl Call<'_> {
    /// The name of a layer's measurement.
    pub fn name_in(&self, layer: &str) -> String {
        format!("{layer}/{}", self.name)
    }

    /// Gas and times of all, and ratios to the yardstick; `library` answers too.
    pub fn measure(
        &self,
        yardstick: Yardstick<'_>,
        library: Option<(&str, Run<'_>)>,
        effort: &Effort,
        observer: &mut Observer<'_>,
    ) -> Result<Vec<RecordRow>, LabError> {
        let Yardstick { layer, answer, price, run } = yardstick;
        let price = price.map(|price| price as f64); // a price is below 2⁵³
        let baseline = self.name_in(layer);
        let mut rows: Vec<_> =
            price.map(|price| RecordRow::exact(&baseline, Quantity::Gas, price)).into_iter().collect();
        let mut runs: Vec<(&str, Run<'_>)> = vec![(layer, run)];
        runs.extend(library);
        for (layer, code) in self.layers {
            let mut prepared = layer.engine.prepare(code);
            let first = prepared.run_without_memory(self.input, GAS);
            let name = self.name_in(&layer.name);
            if !first.is_success() {
                return Err(LabError::Halted { subject: name, halt: first.halt });
            }
            let gas = first.gas_used as f64; // below 2⁵³, as GAS is
            rows.push(RecordRow::exact(&name, Quantity::Gas, gas));
            rows.extend(price.map(|price| RecordRow::ratio(&name, Quantity::Gas, &[gas], (&baseline, &[price]))));
            runs.push((&layer.name, Box::new(move || prepared.run_without_memory(self.input, GAS).output)));
        }
        runs.retain(|(layer, _)| effort.subjects.include(layer));
        let subject = |(layer, run)| Subject { name: self.name_in(layer), expected: answer.clone(), run };
        let mut subjects: Vec<Subject<'_>> = runs.into_iter().map(subject).collect();
        let mut done = 0;
        let samples = interleave(&mut subjects, effort.rounds, || {
            done += 1;
            observer(Progress { step: self.name, done, total: effort.rounds });
        })?;
        rows.extend(times(&samples, &baseline));
        Ok(rows)
    }
}

/// Times, what they would cost, and ratios to the baseline.
fn times(samples: &[Sample], baseline: &str) -> Vec<RecordRow> {
    let native = samples.iter().find(|sample| sample.name == baseline);
    let mut rows = Vec::new();
    for Sample { name, times_ns, .. } in samples {
        rows.push(RecordRow::new(name, Quantity::Time, times_ns));
        let gas: Vec<f64> = times_ns.iter().map(|time_ns| time_ns / ANCHOR_NS).collect();
        rows.push(RecordRow::new(name, Quantity::GasByTime, &gas));
        if let Some(native) = native.filter(|native| native.name != *name) {
            rows.push(RecordRow::ratio(name, Quantity::Time, times_ns, (baseline, &native.times_ns)));
        }
    }
    rows
}
