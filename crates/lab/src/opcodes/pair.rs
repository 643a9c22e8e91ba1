//! Pairs of programs: scaling to a minimal run time, execution, and evaluation of the times.

use residue_engine::{Engine, Prepared};
use residue_isa::opcode::evm as op;
use residue_isa::{AssembleError, Assembly, Revision};
use residue_workbench::harness::{Subject, interleave, time_ns};
use residue_workbench::statistics::Spread;

use super::MeasureEffort;
use crate::error::LabError;
use crate::record::{Quantity, RecordRow};

/// Gas that no program here uses up.
const GAS: u64 = 1 << 42;
/// Programs that are run for a pair.
const PROGRAMS: usize = 3;
/// Words that [`pop_ns`] puts on the stack, which holds 1024.
const WORDS: usize = 1000;

/// Two programs that differ in one thing.
pub(super) struct Pair {
    /// Name of the row.
    pub name: String,
    /// The opcode that only one of them has.
    pub mnemonic: &'static str,
    /// Executions of the opcode in one turn of the loop.
    pub count: usize,
    /// POPs that the other program has in its place for each, less those after it.
    pub pops: i32,
    /// The program with or without the opcode, with so many turns.
    pub program: Box<dyn Fn(bool, usize) -> Result<Vec<u8>, LabError>>,
    /// Calldata.
    pub input: Vec<u8>,
    /// Output of the program with the opcode after a number of turns; none if nothing is to be checked.
    pub expected: Option<Expected>,
    /// The only number of turns, if there cannot be another.
    pub turns: Option<usize>,
    /// True to measure first executions too.
    pub is_cold_measured: bool,
}

/// The output after a number of turns.
pub(super) type Expected = Box<dyn Fn(usize) -> Vec<u8>>;

/// Settings shared by all pairs.
pub(super) struct Setting {
    /// Time of POP.
    pub pop_ns: f64,
    /// Effort of the measurement.
    pub effort: MeasureEffort,
}

/// A program with its times.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Name of the row that the program is for.
    pub name: String,
    /// The opcode that is looked at.
    pub mnemonic: &'static str,
    /// Executions of the opcode in the program.
    pub opcode_count: u64,
    /// All that the program executes, by mnemonic.
    pub counts: Vec<(&'static str, u64)>,
    /// Time of each round.
    pub times_ns: Vec<f64>,
}

/// The loop around a body: `turns` times. Stack in the body: [turns left]
pub(super) fn looped(
    turns: usize,
    before: impl FnOnce(&mut Assembly),
    body: impl FnOnce(&mut Assembly),
    after: impl FnOnce(&mut Assembly),
) -> Assembly {
    let mut code = Assembly::new();
    before(&mut code);
    let top = code.new_label();
    code.push(turns as u64).label(top); // A usize is at most 64 bits.
    body(&mut code);
    code.push(1_u8).op(op::SWAP1).op(op::SUB).op(op::DUP1).push_label(top).op(op::JUMPI);
    after(&mut code);
    code
}

/// Appends opcodes without immediates.
pub(super) fn ops(code: &mut Assembly, opcodes: &[u8]) {
    for &opcode in opcodes {
        code.op(opcode);
    }
}

/// Appends bytes as they are.
pub(super) fn data(code: &mut Assembly, bytes: Vec<u8>) {
    code.data(bytes);
}

/// The bytes of a program.
pub(super) fn bytes(code: &Assembly, revision: Revision) -> Result<Vec<u8>, LabError> {
    let code: Result<_, AssembleError> = code.assemble(revision);
    Ok(code?.bytes)
}

/// Times of one POP: a full stack that is emptied, and one that is left as it is.
pub(super) fn pop_ns(engine: &Engine, effort: &MeasureEffort) -> Result<Vec<f64>, LabError> {
    let program = |pops: usize| {
        let mut code = vec![op::PUSH0];
        code.extend(vec![op::DUP1; WORDS - 1]);
        code.extend(vec![op::POP; pops]);
        code
    };
    let subject = |pops| {
        let mut prepared = engine.prepare(&program(pops));
        Subject::new("evm/POP/256/plain", &[1], move || vec![u8::from(run_once(&mut prepared, &[]).is_some())])
    };
    // One execution is short, so there are more rounds.
    let samples = interleave(&mut [subject(WORDS), subject(0)], 10 * effort.rounds, || ())?;
    Ok(residue_workbench::statistics::per_thing(&samples[0].times_ns, &samples[1].times_ns, WORDS as f64))
}

/// Runs the pairs in turn, and appends their rows and observations.
pub(super) fn run(
    setting: &Setting,
    engine: &Engine,
    pairs: &[Pair],
    rows: &mut Vec<RecordRow>,
    observations: &mut Vec<Observation>,
) -> Result<(), LabError> {
    let mut subjects = Vec::new();
    let mut turns = Vec::new();
    for pair in pairs {
        let pair_turns = turns_for(setting, engine, pair)?;
        for (with, turns) in programs(pair_turns) {
            subjects.push(subject(engine, pair, with, turns)?);
        }
        turns.push(pair_turns);
    }
    let samples = interleave(&mut subjects, setting.effort.rounds, || ())?;
    for ((pair, samples), turns) in pairs.iter().zip(samples.chunks(PROGRAMS)).zip(turns) {
        let executions = turns * pair.count;
        // Numbers of executions are far below 2⁵³, numbers of POPs tiny.
        let net =
            residue_workbench::statistics::per_thing(&samples[0].times_ns, &samples[1].times_ns, executions as f64);
        let net: Vec<f64> = net.iter().map(|time_ns| time_ns + f64::from(pair.pops) * setting.pop_ns).collect();
        rows.push(RecordRow::new(&pair.name, Quantity::Time, &net));
        if pair.is_cold_measured {
            rows.push(RecordRow::new(&pair.name, Quantity::Cold, &cold_starts(setting, engine, pair)?));
        }
        for ((with, turns), sample) in programs(turns).into_iter().zip(samples) {
            let code = (pair.program)(with, turns)?;
            let counts: Vec<_> = engine.run_counted(&code, &pair.input, GAS).counts.by_mnemonic().collect();
            let executed = counts.iter().find(|(mnemonic, _)| *mnemonic == pair.mnemonic);
            observations.push(Observation {
                name: pair.name.clone(),
                mnemonic: pair.mnemonic,
                opcode_count: executed.map_or(0, |&(_, count)| count),
                counts,
                times_ns: sample.times_ns.clone(),
            });
        }
    }
    Ok(())
}

/// With the opcode and without it; and with it half as often, for those who fit times over counts.
fn programs(turns: usize) -> [(bool, usize); PROGRAMS] {
    [(true, turns), (false, turns), (true, turns.div_ceil(2))]
}

/// Turns that take about as long as the effort says.
fn turns_for(setting: &Setting, engine: &Engine, pair: &Pair) -> Result<usize, LabError> {
    const TRIED: usize = 4;
    if let Some(turns) = pair.turns {
        return Ok(turns);
    }
    let mut prepared = engine.prepare(&(pair.program)(true, TRIED)?);
    let times = (0..5).map(|_| time_ns(|| run_once(&mut prepared, &pair.input)).1);
    let time_ns = Spread::of(&times.collect::<Vec<_>>()).median.max(1.0);
    // A quotient of small positive numbers, and only about right.
    Ok(((setting.effort.program_ns as f64 * TRIED as f64 / time_ns) as usize).clamp(1, 2000))
}

fn subject(engine: &Engine, pair: &Pair, with: bool, turns: usize) -> Result<Subject<'static>, LabError> {
    let code = (pair.program)(with, turns)?;
    let mut prepared = engine.prepare(&code);
    let input = pair.input.clone();
    let first = prepared.run_without_memory(&input, GAS);
    if !first.is_success() {
        return Err(LabError::Halted { subject: pair.name.clone(), halt: first.halt });
    }
    let expected = match &pair.expected {
        Some(expected) if with => expected(turns),
        _ => first.output,
    };
    Ok(Subject::new(&pair.name, &expected, move || run_once(&mut prepared, &input).unwrap_or_default()))
}

/// The output, unless the program does not end well.
fn run_once(prepared: &mut Prepared, input: &[u8]) -> Option<Vec<u8>> {
    let outcome = prepared.run_without_memory(input, GAS);
    outcome.is_success().then_some(outcome.output)
}

/// First executions of the program with the opcode and one turn, by engines that have not seen the code.
fn cold_starts(setting: &Setting, engine: &Engine, pair: &Pair) -> Result<Vec<f64>, LabError> {
    let code = (pair.program)(true, 1)?;
    let first = |_| {
        let engine = Engine::unshared(engine.config().clone())?;
        let ((), time_ns) = time_ns(|| drop(run_once(&mut engine.prepare(&code), &pair.input)));
        Ok(time_ns)
    };
    (0..setting.effort.cold_starts).map(first).collect()
}
