//! One history in every mode against the plain engine.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use residue_engine::revm::context::result::ExecutionResult;
use residue_engine::revm::state::EvmState;
use residue_engine::{Batching, Engine, EngineConfig, Fork};
use residue_isa::Revision;

use crate::differential::spec_prices;
use crate::history::{Body, GAS_AMPLE, Gas, History};
use crate::mode::Mode;
use crate::player::{Ending, Player};
use crate::stage::{Stage, StageError};

/// Gas beyond which the specification, which is slow, is not asked.
const SPECIFIED_GAS_MAX: u64 = 20_000;

/// A history judged.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// Its revision.
    pub revision: Option<Revision>,
    /// Transactions compared, by mode in the order of [`Mode::ALL`].
    pub runs: [u64; Mode::ALL.len()],
    /// Transactions by how their outermost frame ended, on the plain engine.
    pub by_halt: BTreeMap<&'static str, u64>,
    /// Blocks that had a plan or a chain at the end in the default mode.
    pub blocks_made: usize,
    /// The first difference, if there is one.
    pub difference: Option<Difference>,
}

/// Where a mode differs from the plain engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The mode.
    pub mode: Mode,
    /// The run, from 0.
    pub run: usize,
    /// Which of those that are alike, from 0.
    pub time: usize,
    /// What differs.
    pub what: String,
}

/// What the plain engine has made of a transaction.
struct Expected {
    gas: u64,
    ending: Ending,
}

/// What a thread is judging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtWork {
    /// The seed of the history.
    pub seed: u64,
    /// The revision that was asked for.
    pub revision: Option<Revision>,
}

thread_local! {
    static AT_WORK: Cell<Option<AtWork>> = const { Cell::new(None) };
    static IS_JUDGED: Cell<bool> = const { Cell::new(false) };
}

/// What this thread is judging, for a report of a panic that ends the process.
pub fn at_work() -> Option<AtWork> {
    AT_WORK.get()
}

/// Whether this thread runs what is judged, so that its panic is a finding and nobody else's.
pub fn is_judged() -> bool {
    IS_JUDGED.get()
}

/// Says what this thread is judging from now on.
pub fn set_at_work(at_work: Option<AtWork>) {
    AT_WORK.set(at_work);
}

/// Runs a history in these modes, each on one engine for all of it, against a plain engine that is made anew each time.
pub fn judge(history: &History, modes: &[Mode]) -> Result<Judged, StageError> {
    let stage = Stage::new(history)?;
    let mut judged = Judged { revision: Some(history.revision), ..Judged::default() };
    let expected = match caught(|| plain(history, &stage)) {
        Ok(expected) => expected,
        Err(what) => {
            let what = format!("the plain engine panicked: {what}");
            judged.difference = Some(Difference { mode: Mode::Warm, run: 0, time: 0, what });
            return Ok(judged);
        }
    };
    for Expected { ending, .. } in expected.iter().flatten() {
        let halt = ending.halt.map_or("no_frame", |halt| halt.name());
        *judged.by_halt.entry(halt).or_default() += 1;
    }
    for &mode in modes {
        let at = Mode::ALL.iter().position(|other| *other == mode).expect("every mode is in the list");
        let difference = match mode.batching() {
            Some(batching) => compare(history, &stage, &expected, mode, batching, &mut judged, at),
            None => compare_specified(history, &stage, &expected, &mut judged, at),
        };
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
    let mut all = Vec::with_capacity(history.runs.len());
    for (number, run) in history.runs.iter().enumerate() {
        if run.is_fresh {
            player.begin_again();
        }
        let mut endings = Vec::new();
        for _ in 0..run.times {
            player.go_on_with(engine(stage, Batching::Off));
            let gas = match run.gas {
                Gas::Limit(gas) => gas,
                Gas::Share(thousandths) => player.gas_used(number, GAS_AMPLE) * u64::from(thousandths) / 1000,
            };
            let ending = player.play(number, gas, run.is_inspected);
            endings.push(Expected { gas, ending });
        }
        all.push(endings);
    }
    all
}

fn compare(
    history: &History,
    stage: &Stage,
    expected: &[Vec<Expected>],
    mode: Mode,
    batching: Batching,
    judged: &mut Judged,
    at: usize,
) -> Option<Difference> {
    let mut player = Player::new(stage, engine(stage, batching));
    for (number, (run, expected)) in history.runs.iter().zip(expected).enumerate() {
        if run.is_fresh {
            player.begin_again();
        }
        for (time, Expected { gas, ending }) in expected.iter().enumerate() {
            judged.runs[at] += 1;
            let found = caught(|| player.play(number, *gas, run.is_inspected));
            let what = match found {
                Ok(found) => difference(ending, &found),
                Err(panic) => Some(format!("the engine panicked: {panic}")),
            };
            if let Some(what) = what {
                return Some(Difference { mode, run: number, time, what });
            }
        }
    }
    if mode == Mode::Warm {
        judged.blocks_made = blocks_made(stage, player.engine());
    }
    None
}

/// Blocks of all codes that have a plan or a chain.
fn blocks_made(stage: &Stage, engine: &Engine) -> usize {
    let made = |code: &residue_isa::assembly::Code| {
        let blocks = engine.prepare(&code.bytes).blocks();
        blocks.iter().filter(|block| block.plan.is_some() || block.trace_steps.is_some()).count()
    };
    stage.codes.iter().flatten().map(made).sum()
}

/// What the specification says of the first of each run, if it needs no world.
fn compare_specified(
    history: &History,
    stage: &Stage,
    expected: &[Vec<Expected>],
    judged: &mut Judged,
    at: usize,
) -> Option<Difference> {
    if history.fork != Fork::Osaka {
        return None;
    }
    let revision = residue_spec::Revision::named(history.revision.name()).expect("every revision has a specification");
    let prices = spec_prices(&stage.config.schedule, history.revision);
    for (number, (run, expected)) in history.runs.iter().zip(expected).enumerate() {
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
        let specified = caught(|| residue_spec::run(revision, &prices, &env, &code.bytes, stage.input(number), *gas));
        let specified = match specified {
            Ok(specified) if specified.halt.is_verdict() => specified,
            Ok(_) => continue,
            Err(what) => {
                let what = format!("the specification panicked: {what}");
                return Some(Difference { mode: Mode::Spec, run: number, time: 0, what });
            }
        };
        judged.runs[at] += 1;
        if let Some(what) = difference_of_specified(ending, &specified) {
            return Some(Difference { mode: Mode::Spec, run: number, time: 0, what });
        }
    }
    None
}

fn difference_of_specified(plain: &Ending, specified: &residue_spec::Outcome) -> Option<String> {
    let halt = plain.halt.map_or("none", |halt| halt.name());
    if halt != specified.halt.name() {
        return Some(format!("halt is {halt} by the plain engine, {} by the specification", specified.halt.name()));
    }
    if plain.gas_used != specified.gas_used {
        return Some(format!(
            "gas used is {} by the plain engine, {} by the specification",
            plain.gas_used, specified.gas_used
        ));
    }
    let output = plain.result.as_ref().ok().and_then(ExecutionResult::output).map_or(&[][..], |output| output);
    bytes_differ("output", output, &specified.output).or_else(|| {
        let memory = if specified.halt.is_exceptional() { &[][..] } else { &specified.memory };
        bytes_differ("memory", &plain.memory, memory)
    })
}

/// What differs first between two endings.
pub fn difference(plain: &Ending, found: &Ending) -> Option<String> {
    if plain == found {
        return None;
    }
    if plain.halt != found.halt {
        let name = |ending: &Ending| ending.halt.map_or("none", |halt| halt.name());
        return Some(format!("halt is {} by the plain engine, {} here", name(plain), name(found)));
    }
    if plain.gas_used != found.gas_used {
        return Some(format!("gas used is {} by the plain engine, {} here", plain.gas_used, found.gas_used));
    }
    let (a, b) = match (&plain.result, &found.result) {
        (Ok(a), Ok(b)) => (a, b),
        (a, b) => return Some(format!("the transaction ends with {a:?} by the plain engine, with {b:?} here")),
    };
    let output = |result: &ExecutionResult| result.output().cloned().unwrap_or_default();
    bytes_differ("output", &output(a), &output(b))
        .or_else(|| bytes_differ("memory", &plain.memory, &found.memory))
        .or_else(|| {
            (a.logs() != b.logs()).then(|| format!("logs are {:?} by the plain engine, {:?} here", a.logs(), b.logs()))
        })
        .or_else(|| states_differ(&plain.state, &found.state))
        .or_else(|| Some(format!("the transaction ends with {a:?} by the plain engine, with {b:?} here")))
}

fn states_differ(plain: &EvmState, found: &EvmState) -> Option<String> {
    let mut addresses: Vec<_> = plain.keys().chain(found.keys()).collect();
    addresses.sort_unstable();
    let address = addresses.into_iter().find(|address| plain.get(*address) != found.get(*address))?;
    let (Some(a), Some(b)) = (plain.get(address), found.get(address)) else {
        return Some(format!("the account {address} is touched by one side only"));
    };
    let mut keys: Vec<_> = a.storage.keys().chain(b.storage.keys()).collect();
    keys.sort_unstable();
    if let Some(key) = keys.into_iter().find(|key| a.storage.get(*key) != b.storage.get(*key)) {
        let (a, b) = (a.storage.get(key), b.storage.get(key));
        return Some(format!("storage of {address} at {key:#x} is {a:?} by the plain engine, {b:?} here"));
    }
    Some(format!(
        "the account {address} is {:?} by the plain engine, {:?} here",
        (&a.info, a.status),
        (&b.info, b.status)
    ))
}

fn bytes_differ(what: &str, plain: &[u8], found: &[u8]) -> Option<String> {
    if plain.len() != found.len() {
        return Some(format!("{what} has {} bytes by the plain engine, {} here", plain.len(), found.len()));
    }
    let first = plain.iter().zip(found).position(|(a, b)| a != b)?;
    let window = |bytes: &[u8]| hex::encode(&bytes[first..bytes.len().min(first + 16)]);
    Some(format!("{what} differs from byte {first} on: {} by the plain engine, {} here", window(plain), window(found)))
}

/// The result, or what the panic said.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    IS_JUDGED.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    IS_JUDGED.set(false);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap_or_default()
    })
}
