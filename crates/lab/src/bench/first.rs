//! First executions: by an engine that has never seen the code, and by one that has planned it ahead, beside the precompile in the same
//! round. The code is loaded and hashed before, as a client's database has it; what the engine makes of it is in the time.

use residue_engine::{Engine, Prepared};
use residue_workbench::harness::{WrongAnswer, time_ns};

use crate::bench::engines::EngineLayer;
use crate::error::LabError;
use crate::record::{Quantity, RecordRow};

/// Gas that nothing measured here uses up.
const GAS: u64 = 1 << 40;

/// A first execution: of which code, on which engine, and what has to come out.
pub(super) struct First<'a> {
    /// The engine; every execution is by a new one like it.
    pub layer: &'a EngineLayer,
    /// The code.
    pub code: &'a [u8],
    /// The name of the measurement.
    pub name: &'a str,
    /// The calldata.
    pub input: &'a [u8],
    /// The output.
    pub expected: &'a [u8],
}

/// Times of first executions, with the ratio of each to a call of the precompile right after it, whose measurement has the name `baseline`.
pub(super) fn rows<T>(
    first: &First<'_>,
    (baseline, mut precompile): (&str, impl FnMut() -> Result<T, LabError>),
    rounds: usize,
) -> Result<Vec<RecordRow>, LabError> {
    let First { layer, code, name, input, expected } = *first;
    let (mut cold, mut ahead, mut native) = (Vec::new(), Vec::new(), Vec::new());
    let fresh = || Engine::unshared(layer.engine.config().clone());
    let first = |mut prepared: Prepared| {
        let (outcome, time_ns) = time_ns(|| prepared.run_without_memory(input, GAS));
        if outcome.output == expected {
            return Ok(time_ns);
        }
        Err(WrongAnswer { subject: name.to_owned(), expected: expected.to_vec(), got: outcome.output })
    };
    for _ in 0..rounds {
        cold.push(first(fresh()?.prepare(code))?);
        let engine = fresh()?;
        engine.plan_ahead(code, input, GAS);
        ahead.push(first(engine.prepare(code))?);
        let (answer, time_ns) = time_ns(&mut precompile);
        answer?;
        native.push(time_ns);
    }
    let of = |quantity, times: &[f64]| {
        [RecordRow::new(name, quantity, times), RecordRow::ratio(name, quantity, times, (baseline, &native))]
    };
    let rows = of(Quantity::Cold, &cold).into_iter().chain(of(Quantity::Ahead, &ahead));
    Ok(rows.collect())
}
