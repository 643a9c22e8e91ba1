//! One history in every mode against the plain engine.

use std::collections::BTreeMap;

use residue_engine::{Batching, BlockExplained, Engine, EngineConfig, Fork};
use residue_isa::assembly::Code;
use residue_specified::{spec_prices, specified};

use crate::ending::Ending;
use crate::history::{Body, GAS_AMPLE, Gas, History};
use crate::mode::Mode;
use crate::panics::caught;
use crate::player::Player;
use crate::stage::{Stage, StageError};

/// Gas beyond which the specification, which is slow, is not asked.
const SPECIFIED_GAS_MAX: u64 = 20_000;
/// Threads that share an engine.
const SHARING: usize = 2;

/// A history judged.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// Transactions compared, by mode.
    pub runs: BTreeMap<Mode, u64>,
    /// Transactions by how their outermost frame ended, on the plain engine.
    pub by_halt: BTreeMap<&'static str, u64>,
    /// Blocks that had a plan or a scalar trace at the end in the default mode.
    pub blocks_made: usize,
    /// The first difference, if there is one.
    pub difference: Option<Difference>,
}

/// Difference between a mode and the plain engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The mode.
    pub mode: Mode,
    /// The run, from 0.
    pub run: usize,
    /// Repetition of the run, from 0.
    pub time: usize,
    /// Name of the part that differs.
    pub what: String,
}

/// Result of a transaction on the plain engine.
struct Expected {
    gas: u64,
    ending: Ending,
}

/// A history with what the plain engine has made of it, by run and time.
struct Trial<'a> {
    history: &'a History,
    stage: &'a Stage,
    expected: Vec<Vec<Expected>>,
}

/// Agreement of two sides: transactions compared, and the first difference.
type Compared = (u64, Option<Difference>);

/// Runs a history in these modes, each on one engine for all of it, against a plain engine that is made anew each time.
pub fn judge(history: &History, modes: &[Mode]) -> Result<Judged, StageError> {
    let stage = Stage::new(history)?;
    let mut judged = Judged::default();
    let expected = match caught(|| plain(history, &stage)) {
        Ok(expected) => expected,
        Err(what) => {
            let what = format!("the plain engine panicked: {what}");
            let mode = modes.first().copied().unwrap_or(Mode::Warm);
            judged.difference = Some(Difference { mode, run: history.runs.len().saturating_sub(1), time: 0, what });
            return Ok(judged);
        }
    };
    for Expected { ending, .. } in expected.iter().flatten() {
        *judged.by_halt.entry(ending.halt_name()).or_default() += 1;
    }
    let trial = Trial { history, stage: &stage, expected };
    for &mode in modes {
        let (runs, difference) = match mode {
            Mode::Spec => trial.specified(),
            Mode::Shared => trial.shared(),
            Mode::Warm | Mode::Always | Mode::Traces => {
                let engine = engine(&stage, mode.batching());
                let compared = trial.played(mode, &engine);
                if mode == Mode::Warm && compared.1.is_none() {
                    judged.blocks_made = blocks_made(&stage, &engine);
                }
                compared
            }
        };
        *judged.runs.entry(mode).or_default() += runs;
        if difference.is_some() {
            judged.difference = difference;
            break;
        }
    }
    Ok(judged)
}

fn engine(stage: &Stage, batching: Batching) -> Engine {
    let config = EngineConfig { batching, ..stage.config.clone() };
    Engine::unshared(config).expect("the schedule is one of the revision")
}

fn plain(history: &History, stage: &Stage) -> Vec<Vec<Expected>> {
    let mut player = Player::new(stage, engine(stage, Batching::Off));
    let play = |(number, run): (usize, &crate::history::Run)| {
        if run.is_fresh {
            player.begin_again();
        }
        let once = |_| {
            player.go_on_with(engine(stage, Batching::Off));
            let gas = match run.gas {
                Gas::Limit(gas) => gas,
                Gas::Share(thousandths) => player.gas_used(number, GAS_AMPLE) * u64::from(thousandths) / 1000,
            };
            Expected { gas, ending: player.play(number, gas, run.is_inspected) }
        };
        (0..run.times).map(once).collect()
    };
    history.runs.iter().enumerate().map(play).collect()
}

impl Trial<'_> {
    /// All transactions on one engine.
    fn played(&self, mode: Mode, engine: &Engine) -> Compared {
        let mut player = Player::new(self.stage, engine.clone());
        let mut compared = 0;
        for (number, (run, expected)) in self.history.runs.iter().zip(&self.expected).enumerate() {
            if run.is_fresh {
                player.begin_again();
            }
            for (time, Expected { gas, ending }) in expected.iter().enumerate() {
                compared += 1;
                let what = match caught(|| player.play(number, *gas, run.is_inspected)) {
                    Ok(found) => ending.difference(&found),
                    Err(panic) => Some(format!("the engine panicked: {panic}")),
                };
                if let Some(what) = what {
                    return (compared, Some(Difference { mode, run: number, time, what }));
                }
            }
        }
        (compared, None)
    }

    /// All transactions by two threads, on one engine.
    fn shared(&self) -> Compared {
        let engine = engine(self.stage, Mode::Shared.batching());
        let play = || self.played(Mode::Shared, &engine);
        let each: Vec<Compared> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..SHARING).map(|_| scope.spawn(play)).collect();
            threads.into_iter().map(|thread| thread.join().expect("what is judged is caught")).collect()
        });
        let runs = each.iter().map(|(runs, _)| runs).sum();
        (runs, each.into_iter().find_map(|(_, difference)| difference))
    }

    /// Comparison of the first of each run with the specification, if it needs no world.
    fn specified(&self) -> Compared {
        let Trial { history, stage, .. } = self;
        let mut compared = 0;
        if history.fork != Fork::Osaka {
            return (compared, None);
        }
        let revision = specified(history.revision);
        let prices = spec_prices(&stage.config.schedule, history.revision);
        for (number, (run, expected)) in history.runs.iter().zip(&self.expected).enumerate() {
            let contract = history.contracts.iter().position(|contract| contract.address == run.to);
            let code = contract.filter(|at| matches!(history.contracts[*at].body, Body::Code(_)));
            let Some(code) = code.and_then(|at| stage.codes[at].as_ref()) else { continue };
            let Some(Expected { gas, ending }) = expected.first() else { continue };
            if ending.gas_used > SPECIFIED_GAS_MAX || ending.result.is_err() {
                continue;
            }
            let env = residue_spec::Env {
                address: run.to.address().into_array(),
                caller: run.caller.address().into_array(),
                call_value: run.value.into(),
                memory_limit_bytes: stage.config.memory_limit_bytes,
            };
            let specify = || residue_spec::run(revision, &prices, &env, &code.bytes, stage.input(number), *gas);
            let what = match caught(specify) {
                Ok(specified) if !specified.halt.is_verdict() => continue,
                Ok(specified) => ending.difference_from_specified(&specified),
                Err(panic) => Some(format!("the specification panicked: {panic}")),
            };
            compared += 1;
            if let Some(what) = what {
                return (compared, Some(Difference { mode: Mode::Spec, run: number, time: 0, what }));
            }
        }
        (compared, None)
    }
}

/// Blocks of all codes that have a plan or a scalar trace.
fn blocks_made(stage: &Stage, engine: &Engine) -> usize {
    let is_made = |block: &BlockExplained| block.plan.is_some() || block.trace_steps.is_some();
    let made = |code: &Code| engine.prepare(&code.bytes).blocks().iter().filter(|block| is_made(block)).count();
    stage.codes.iter().flatten().map(made).sum()
}
