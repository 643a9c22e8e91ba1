//! One execution of code under given rules: how it ended, what it executed, what its gas went to, and how long it takes.
//!
//! The code runs more than once: first timed with its analysis, then warm beside the native library, then counted. The
//! counting run is a second opinion too: it must end as the first did.

use anyhow::Result;
use residue_engine::{Batching, BlockExplained, Engine, EngineConfig, Fork, GasSplit, Outcome, Replacement};
use residue_isa::{FieldOp, GasSchedule, Revision};

use crate::args::{EngineKind, Rules};
use crate::exact_gas::CountingExactly;
use crate::oracle::Oracle;
use crate::timing::{medians_ns, time_ns};

/// The rules of an execution, made ready.
#[derive(Debug)]
pub struct Setup {
    /// The interface.
    pub revision: Revision,
    /// The prices.
    pub schedule: GasSchedule,
    /// The EVM's own rules.
    pub fork: Fork,
    /// Who executes.
    pub kind: EngineKind,
    engine: Engine,
    oracle: Option<Oracle>,
}

/// How a frame ended, whoever executed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The halt's name.
    pub halt: &'static str,
    /// Stop or return.
    pub is_success: bool,
    /// Whether the halt consumed all gas.
    pub is_exceptional: bool,
    /// What it returned.
    pub output: Vec<u8>,
    /// Gas of the frame.
    pub gas_used: u64,
    /// Memory at its end.
    pub memory: Vec<u8>,
}

/// All that is known of an execution.
#[derive(Debug)]
pub struct Execution {
    /// How it ended. The gas is exact, also if prices are fractional.
    pub ended: Ended,
    /// What was executed and what the gas went to; none if the counting run ended differently.
    pub counted: Option<Executed>,
    /// In which way the counting run ended differently. There is a mistake in an engine then.
    pub disagreement: Option<String>,
    /// Bytes of code.
    pub code_bytes: usize,
    /// How long it takes, if it was timed.
    pub times: Option<Times>,
    /// Its blocks after a few executions, if they were asked for.
    pub blocks: Option<Vec<BlockExplained>>,
}

/// What was executed.
#[derive(Debug)]
pub struct Executed {
    /// Instructions by mnemonic.
    pub ops: Vec<(&'static str, u64)>,
    /// Executed lanes of the operations of [`FieldOp::ALL`], in that order, over moduli of any width.
    pub lanes: [u64; 3],
    /// What the gas went to.
    pub gas_split: GasSplit,
}

/// How long an execution takes.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Median of warm executions of the frame.
    pub time_ns: u64,
    /// The first execution, with analysis of the code.
    pub cold_ns: u64,
    /// Median of the native library on the same input, interleaved with the warm executions.
    pub native_ns: Option<u64>,
    /// Number of warm executions.
    pub rounds: usize,
}

/// What is executed.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The code.
    pub code: &'a [u8],
    /// Its calldata.
    pub input: &'a [u8],
    /// Its gas.
    pub gas: u64,
    /// Whether to measure times.
    pub timed: bool,
    /// Whether to explain its blocks.
    pub explained: bool,
    /// Native code that does the same with the same input.
    pub native: Option<&'a dyn Fn()>,
}

impl Setup {
    /// Finds or reads the schedule and makes the engine ready.
    pub fn new(rules: &Rules, kind: EngineKind) -> Result<Self> {
        let (revision, fork) = (rules.interface.revision, rules.fork);
        let schedule = rules.interface.schedule()?;
        let oracle = match kind {
            EngineKind::Batch | EngineKind::Plain => None,
            EngineKind::Spec => Some(Oracle::new(revision, &schedule, fork)?),
        };
        let batching = if kind == EngineKind::Batch { Batching::Warm } else { Batching::Off };
        let config = EngineConfig { fork, batching, ..EngineConfig::new(revision, schedule.clone()) };
        Ok(Self { revision, schedule, fork, kind, engine: Engine::new(config)?, oracle })
    }

    /// The same rules with contracts in place of precompiles.
    pub fn with_replacements(self, replacements: Vec<Replacement>) -> Result<Self> {
        let config = EngineConfig { replacements, ..self.engine.config().clone() };
        Ok(Self { engine: Engine::new(config)?, ..self })
    }

    /// Runs a job.
    pub fn execute(&self, job: Job<'_>) -> Result<Execution> {
        let (mut ended, times) = match &self.oracle {
            None => self.run_engine(job),
            Some(oracle) => run_oracle(oracle, job)?,
        };
        let blocks = job.explained.then(|| self.blocks(job));
        let mut tracer = CountingExactly::new(self.revision, &self.schedule);
        let outcome = self.engine.run_traced(job.code, job.input, job.gas, &mut tracer);
        let second = Ended::from(&outcome);
        let disagreement = ended.difference(&second);
        let mut counted = None;
        if disagreement.is_none() {
            let gas_split = tracer.gas_split(&outcome);
            ended.gas_used = gas_split.total();
            let counts = tracer.counts();
            let widths_limbs = counts.widths_limbs();
            let lanes = FieldOp::ALL
                .map(|operation| widths_limbs.iter().map(|&width_limbs| counts.lanes(operation, width_limbs)).sum());
            counted = Some(Executed { ops: counts.by_mnemonic().collect(), lanes, gas_split });
        }
        Ok(Execution { ended, counted, disagreement, code_bytes: job.code.len(), times, blocks })
    }

    fn blocks(&self, job: Job<'_>) -> Vec<BlockExplained> {
        let mut prepared = self.engine.prepare(job.code);
        prepared.plan_ahead(job.input, job.gas);
        prepared.blocks()
    }

    fn run_engine(&self, job: Job<'_>) -> (Ended, Option<Times>) {
        let ((mut prepared, outcome), cold_ns) = time_ns(|| {
            let mut prepared = self.engine.prepare(job.code);
            let outcome = prepared.run(job.input, job.gas);
            (prepared, outcome)
        });
        if job.timed {
            // What users have is warm: what a code earns in many executions is there before the first that counts.
            prepared.plan_ahead(job.input, job.gas);
        }
        let mut warm = || drop(std::hint::black_box(prepared.run_without_memory(job.input, job.gas)));
        let times = job.timed.then(|| measure(&mut warm, job.native, cold_ns));
        (Ended::from(&outcome), times)
    }
}

fn run_oracle(oracle: &Oracle, job: Job<'_>) -> Result<(Ended, Option<Times>)> {
    let (ended, cold_ns) = time_ns(|| oracle.run(job.code, job.input, job.gas));
    let mut warm = || drop(std::hint::black_box(oracle.run(job.code, job.input, job.gas)));
    Ok((ended?, job.timed.then(|| measure(&mut warm, job.native, cold_ns))))
}

fn measure(warm: &mut dyn FnMut(), native: Option<&dyn Fn()>, cold_ns: u64) -> Times {
    match native {
        None => {
            let ([time_ns], rounds) = medians_ns([warm]);
            Times { time_ns, cold_ns, native_ns: None, rounds }
        }
        Some(native) => {
            let ([time_ns, native_ns], rounds) = medians_ns([warm, &mut || native()]);
            Times { time_ns, cold_ns, native_ns: Some(native_ns), rounds }
        }
    }
}

impl Ended {
    /// Says in which way another execution of the same code ended differently. Memory counts only if anyone can see it:
    /// an exceptional halt voids the frame.
    fn difference(&self, other: &Self) -> Option<String> {
        if self.halt != other.halt {
            return Some(format!("halt {} and {}", self.halt, other.halt));
        }
        if self.gas_used != other.gas_used {
            return Some(format!("gas {} and {}", self.gas_used, other.gas_used));
        }
        if self.output != other.output {
            return Some("different outputs".to_owned());
        }
        (!self.is_exceptional && self.memory != other.memory).then(|| "different memory".to_owned())
    }
}

impl From<&Outcome> for Ended {
    fn from(outcome: &Outcome) -> Self {
        Self {
            halt: outcome.halt.name(),
            is_success: outcome.halt.is_success(),
            is_exceptional: outcome.halt.is_exceptional(),
            output: outcome.output.clone(),
            gas_used: outcome.gas_used,
            memory: outcome.memory.clone(),
        }
    }
}
