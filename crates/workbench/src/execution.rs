//! One execution of code under given rules: its end, operation counts, breakdown of gas, and times.
//!
//! The code runs more than once: first timed with its analysis, then warm beside the native library, then counted. The
//! counting run is a second opinion too: it must end as the first did.

use std::hint::black_box;

use residue_engine::native::precompile;
use residue_engine::{
    Batching, BlockExplained, Engine, EngineConfig, EngineError, Fork, GasSplit, Installed, Replacement,
};
use residue_isa::{FieldOp, GasSchedule, PerOp, Revision};
use thiserror::Error;

use crate::ended::Ended;
use crate::exact_gas::CountingExactly;
use crate::harness::{Rounds, Subject, WrongAnswer, interleave, time_ns};
use crate::specification::{Specification, SpecificationError};
use crate::statistics::{Spread, ratios, whole_ns};

/// Choice of engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// The engine, with blocks of field instructions eight lanes at a time where the revision and the machine allow it.
    Batch,
    /// The engine, instruction by instruction.
    Plain,
    /// The executable specification.
    Spec,
}

impl EngineKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Batch, Self::Plain, Self::Spec];

    /// The name users write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Plain => "plain",
            Self::Spec => "spec",
        }
    }
}

/// The rules of an execution, made ready.
#[derive(Debug)]
pub struct Setup {
    /// The interface.
    pub revision: Revision,
    /// The prices.
    pub schedule: GasSchedule,
    /// The EVM's own rules.
    pub fork: Fork,
    /// Choice of engine.
    pub kind: EngineKind,
    engine: Engine,
    specification: Option<Specification>,
}

/// Why rules cannot be made ready.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The engine refuses them.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The specification does.
    #[error(transparent)]
    Specification(#[from] SpecificationError),
}

/// All that is known of an execution.
#[derive(Debug)]
pub struct Execution {
    /// End of the frame. The gas is exact, also if prices are fractional.
    pub ended: Ended,
    /// Operation counts and breakdown of gas; none if the counting run ended differently.
    pub counted: Option<Executed>,
    /// In which way the counting run ended differently. There is a mistake in an engine then.
    pub disagreement: Option<String>,
    /// Bytes of code.
    pub code_bytes: usize,
    /// Times, if measured.
    pub times: Option<Times>,
    /// Its blocks after a few executions, if they were asked for.
    pub blocks: Option<Vec<BlockExplained>>,
}

/// Operation counts and breakdown of gas.
#[derive(Debug)]
pub struct Executed {
    /// Instructions by mnemonic.
    pub ops: Vec<(&'static str, u64)>,
    /// Executed lanes of each operation, over moduli of any width.
    pub lanes: PerOp<u64>,
    /// Breakdown of the gas.
    pub gas_split: GasSplit,
}

/// Times of an execution.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Median of warm executions of the frame.
    pub time_ns: u64,
    /// The first execution, with analysis of the code.
    pub cold_ns: u64,
    /// The same input natively, interleaved with the warm executions.
    pub native: Option<NativeTimes>,
    /// Number of warm executions.
    pub rounds: usize,
}

/// Times of native code beside an execution.
#[derive(Debug, Clone, Copy)]
pub struct NativeTimes {
    /// Median of its times.
    pub time_ns: u64,
    /// Execution time as a multiple of the native one: the median of the ratios of each round.
    pub ratio: f64,
}

/// Code, input and settings of an execution.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The code.
    pub code: &'a [u8],
    /// Its calldata.
    pub input: &'a [u8],
    /// Its gas.
    pub gas: u64,
    /// True to measure times.
    pub timed: bool,
    /// True to explain its blocks.
    pub explained: bool,
    /// The address of the precompile that does the same with the same input, to measure beside.
    pub native: Option<u16>,
}

impl Setup {
    /// Makes the engine ready.
    pub fn new(revision: Revision, schedule: GasSchedule, fork: Fork, kind: EngineKind) -> Result<Self, SetupError> {
        let specification = match kind {
            EngineKind::Batch | EngineKind::Plain => None,
            EngineKind::Spec => Some(Specification::new(revision, &schedule, fork)?),
        };
        let batching = if kind == EngineKind::Batch { Batching::Warm } else { Batching::Off };
        let config = EngineConfig { fork, batching, ..EngineConfig::new(revision, schedule.clone()) };
        Ok(Self { revision, schedule, fork, kind, engine: Engine::new(config)?, specification })
    }

    /// The same rules with contracts in place of precompiles.
    pub fn with_replacements(self, replacements: Vec<Replacement>) -> Result<Self, SetupError> {
        let config = EngineConfig { replacements, ..self.engine.config().clone() };
        Ok(Self { engine: Engine::new(config)?, ..self })
    }

    /// The same rules with accounts that code may call.
    pub fn with_accounts(self, accounts: Vec<Installed>) -> Result<Self, SetupError> {
        let config = EngineConfig { accounts, ..self.engine.config().clone() };
        Ok(Self { engine: Engine::new(config)?, ..self })
    }

    /// Runs a job. An error if the specification cannot say how it ends.
    pub fn execute(&self, job: Job<'_>) -> Result<Execution, SpecificationError> {
        let (mut ended, times) = match &self.specification {
            None => self.run_engine(job),
            Some(specification) => self.run_specification(specification, job)?,
        };
        let (times, wrong) = match times.transpose() {
            Ok(times) => (times, None),
            Err(wrong) => (None, Some(wrong.to_string())),
        };
        let blocks = job.explained.then(|| self.blocks(job.code, job.input, job.gas));
        let mut tracer = CountingExactly::new(self.revision, &self.schedule);
        let outcome = self.engine.run_traced(job.code, job.input, job.gas, &mut tracer);
        let second = Ended::from(&outcome);
        let disagreement = wrong.or_else(|| ended.difference(&second));
        let mut counted = None;
        if disagreement.is_none() {
            let gas_split = tracer.gas_split(&outcome);
            ended.gas_used = gas_split.total();
            let counts = tracer.counts();
            let widths_limbs = counts.widths_limbs();
            let lanes = |operation| widths_limbs.iter().map(|&width_limbs| counts.lanes(operation, width_limbs)).sum();
            let lanes = PerOp(FieldOp::ALL.map(lanes));
            counted = Some(Executed { ops: counts.by_mnemonic().collect(), lanes, gas_split });
        }
        Ok(Execution { ended, counted, disagreement, code_bytes: job.code.len(), times, blocks })
    }

    /// Blocks of a code once executions have earned all that they earn, with the plans of machines that have vectors.
    pub fn blocks(&self, code: &[u8], input: &[u8], gas: u64) -> Vec<BlockExplained> {
        let batching = if self.kind == EngineKind::Batch { Batching::Planned } else { Batching::Off };
        let config = EngineConfig { batching, ..self.engine.config().clone() };
        let mut prepared = Engine::new(config).expect("these rules have an engine").prepare(code);
        prepared.plan_ahead(input, gas);
        prepared.blocks()
    }

    fn run_engine(&self, job: Job<'_>) -> (Ended, Measured) {
        let ((mut prepared, outcome), cold_ns) = time_ns(|| {
            let mut prepared = self.engine.prepare(job.code);
            let outcome = prepared.run(job.input, job.gas);
            (prepared, outcome)
        });
        if job.timed {
            // What users have is warm: what a code earns in many executions is there before the first that counts.
            prepared.plan_ahead(job.input, job.gas);
        }
        let warm = || prepared.run_without_memory(job.input, job.gas).output;
        let times = job.timed.then(|| self.measure(job, &outcome.output, warm, cold_ns));
        (Ended::from(&outcome), times)
    }

    fn run_specification(
        &self,
        specification: &Specification,
        job: Job<'_>,
    ) -> Result<(Ended, Measured), SpecificationError> {
        let run = || specification.run(job.code, job.input, job.gas);
        let (ended, cold_ns) = time_ns(run);
        let ended = ended?;
        let warm = || run().map_or(Vec::new(), |ended| ended.output);
        let times = job.timed.then(|| self.measure(job, &ended.output, warm, cold_ns));
        Ok((ended, times))
    }

    /// Times an execution whose output is known, beside native code whose output is the same each time.
    fn measure(
        &self,
        job: Job<'_>,
        output: &[u8],
        warm: impl FnMut() -> Vec<u8>,
        cold_ns: f64,
    ) -> Result<Times, WrongAnswer> {
        let native = |address| {
            move || precompile(self.fork, address, job.input, u64::MAX).map_or(Vec::new(), |native| native.output)
        };
        let mut subjects = vec![Subject::new("a later execution", output, warm)];
        if let Some(native) = job.native.map(native) {
            subjects.push(Subject::new("native code", &native(), move || black_box(native())));
        }
        let samples = interleave(&mut subjects, Rounds::BRIEF, || ())?;
        let median_ns = |samples: &[f64]| whole_ns(Spread::of(samples).median);
        let warm = &samples[0].times_ns;
        let native = samples.get(1).map(|native| NativeTimes {
            time_ns: median_ns(&native.times_ns),
            ratio: Spread::of(&ratios(warm, &native.times_ns)).median,
        });
        Ok(Times { time_ns: median_ns(warm), cold_ns: whole_ns(cold_ns), native, rounds: warm.len() })
    }
}

/// Times, if they were asked for, or what went wrong.
type Measured = Option<Result<Times, WrongAnswer>>;
