//! Code of a size: a straight run of field operations that fills it, with the answer that the evaluator gives.

use num_bigint::BigUint;
use residue_compiler::{CompileError, compile};
use residue_curves::bls12_381::constants::modulus;
use residue_engine::{Engine, EngineConfig};
use residue_ir::{Machine, Outcome, Program, evaluate, record};
use residue_isa::Revision;
use residue_workbench::harness::{Subject, WrongAnswer, interleave, time_ns};

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::engines::EngineLayer;
use crate::bench::instructions::Operands;
use crate::error::LabError;
use crate::record::{Quantity, RecordRow};
use residue_workbench::MEASURED;

/// Gas that no code here uses up.
pub(crate) const GAS: u64 = 1 << 40;
/// Values that the run goes round on.
const VALUES: usize = 8;
/// Steps of a run over a modulus of some width.
const STEPS: usize = 512;
/// Bytes of a step, to begin with.
const STEP_BYTES: usize = 16;
/// Share of a code that a run aims to fill, and the share that is enough, in percent.
const FULL_PERCENT: usize = 97;
const ENOUGH_PERCENT: usize = 94;
/// Tries at the number of steps: more are never needed where steps take about as much.
const TRIES: usize = 32;
/// Name of the program.
const NAME: &str = "code of a size";

/// Code of exactly so many bytes, its input and what it returns.
pub(crate) struct Sized {
    /// The code.
    pub code: Vec<u8>,
    /// Its input.
    pub input: Vec<u8>,
    /// Its output.
    pub output: Vec<u8>,
}

impl Sized {
    /// A run that fills about all of `code_bytes`, and zeros after its end; nothing where what is around a run is longer.
    pub fn new(revision: Revision, code_bytes: usize) -> Result<Option<Self>, LabError> {
        let schedule = EngineConfig::default_for(revision).schedule;
        let mut steps = code_bytes / STEP_BYTES;
        for tries_left in (0..TRIES).rev() {
            let program = run_over(&modulus(), steps);
            let compiled = compile(&program, revision, &schedule);
            let mut code = compiled.map_err(|error| LabError::Compile { name: NAME, error: Box::new(error) })?.code;
            let used = code.len();
            // What a step takes depends on the revision, and a little on the steps around it.
            let next = steps * code_bytes * FULL_PERCENT / 100 / used;
            let is_full = used * 100 >= code_bytes * ENOUGH_PERCENT || next <= steps || tries_left == 0;
            if used <= code_bytes && is_full {
                code.resize(code_bytes, 0);
                return Self::with_answer(&program, code).map(Some);
            }
            if steps == 0 {
                break;
            }
            steps = if used > code_bytes { next.min(steps - 1) } else { next };
        }
        Ok(None)
    }

    /// A run of [`STEPS`] over a modulus of so many limbs; nothing where the revision has no such moduli.
    pub fn over(revision: Revision, width_limbs: usize) -> Result<Option<Self>, LabError> {
        let program = run_over(&Operands::full(width_limbs).m(), STEPS);
        match compile(&program, revision, &EngineConfig::default_for(revision).schedule) {
            Ok(compiled) => Self::with_answer(&program, compiled.code).map(Some),
            Err(CompileError::Width { .. } | CompileError::OnlyWidth { .. } | CompileError::FixedField { .. }) => {
                Ok(None)
            }
            Err(error) => Err(LabError::Compile { name: NAME, error: Box::new(error) }),
        }
    }

    fn with_answer(program: &Program, code: Vec<u8>) -> Result<Self, LabError> {
        let value = |digit: u8| [vec![0; program.element_bytes() - 1], vec![digit]].concat();
        let input = [value(2), value(3)].concat();
        match evaluate(program, &input) {
            Outcome::Returned(output) => Ok(Self { code, input, output }),
            _ => Err(LabError::NoAnswer { operation: NAME }),
        }
    }
}

/// Bytes of an encoded value: its limbs.
fn value_bytes(m: &BigUint) -> usize {
    residue_ir::mont::size_bytes(m)
}

/// Eight values begin as sums of two of the input; then vᵢ ← vᵢ·vᵢ₊₁ + vᵢ₊₂ for so many steps, i going round; their sum is
/// returned.
fn run_over(m: &BigUint, steps: usize) -> Program {
    let value_bytes = u32::try_from(value_bytes(m)).expect("moduli have at most 768 bits");
    record("run", m, |machine| text(machine, value_bytes, steps))
}

fn text<M: Machine>(machine: &M, value_bytes: u32, steps: usize) {
    let [x, y] = [0, value_bytes].map(|offset| machine.parse(machine.small(offset.into()), value_bytes));
    let mut values = [x; VALUES];
    values[1] = y;
    for number in 2..VALUES {
        values[number] = values[number - 1] + values[number - 2];
    }
    for step in 0..steps {
        let [x, y, z] = [0, 1, 2].map(|ahead| values[(step + ahead) % VALUES]);
        values[step % VALUES] = x * y + z;
    }
    let sum = values.into_iter().reduce(|sum, value| sum + value).expect("there are eight values");
    machine.return_elements(sum, value_bytes);
}

/// Time of the first execution, with analysis, and of later ones, by size of the code.
pub(super) fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let mut rows = Vec::new();
    for &code_bytes in effort.sizes.code_bytes {
        observer(Progress { step: "code sizes", done: 0, total: effort.rounds });
        for revision in effort.subjects.revisions(&MEASURED) {
            let Some(sized) = Sized::new(revision, code_bytes)? else { continue };
            let layers = EngineLayer::chosen(revision, effort.subjects)?;
            let name_in = |layer: &EngineLayer| format!("{}/code/{code_bytes}", layer.name);
            for layer in &layers {
                let cold = (0..effort.cold_starts).map(|_| cold_ns(layer, &sized, &name_in(layer)));
                let cold: Vec<f64> = cold.collect::<Result<_, _>>()?;
                rows.push(RecordRow::new(name_in(layer), Quantity::Cold, &cold));
            }
            let subject = |layer: &EngineLayer| {
                let mut prepared = layer.engine.prepare(&sized.code);
                let input = sized.input.clone();
                let run = move || prepared.run_without_memory(&input, GAS).output;
                Subject::new(name_in(layer), &sized.output, run)
            };
            let mut subjects: Vec<Subject<'_>> = layers.iter().map(subject).collect();
            let mut done = 0;
            let samples = interleave(&mut subjects, effort.rounds, || {
                done += 1;
                observer(Progress { step: "code sizes", done, total: effort.rounds });
            })?;
            rows.extend(samples.iter().map(|sample| RecordRow::new(&sample.name, Quantity::Time, &sample.times_ns)));
        }
    }
    Ok(rows)
}

/// Nanoseconds of a first execution by an engine that has not seen the code.
fn cold_ns(layer: &EngineLayer, sized: &Sized, name: &str) -> Result<f64, LabError> {
    let engine = Engine::unshared(layer.engine.config().clone())?;
    let (outcome, time_ns) = time_ns(|| engine.prepare(&sized.code).run_without_memory(&sized.input, GAS));
    if outcome.output == sized.output {
        return Ok(time_ns);
    }
    let (subject, expected) = (name.to_owned(), sized.output.clone());
    Err(WrongAnswer { subject, expected, got: outcome.output }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_its_size_and_is_full_of_operations() {
        for &revision in &MEASURED {
            let sized = Sized::new(revision, 4096).unwrap().unwrap();
            assert_eq!(sized.code.len(), 4096);
            let last = sized.code.iter().rposition(|&byte| byte != 0).unwrap();
            assert!((last + 1) * 100 >= 4096 * ENOUGH_PERCENT, "{revision}: {last}");
            let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
            assert_eq!(engine.run_code(&sized.code, &sized.input, GAS).output, sized.output, "{revision}");
        }
    }
}
