//! First executions: by an engine that has never seen the code, and by one that has planned it ahead, beside the precompile in the same
//! round. The code is loaded and hashed before, as a client's database has it; what the engine makes of it is in the time.

use residue_contracts::Contract;
use residue_engine::{Engine, Prepared};
use residue_workbench::harness::{WrongAnswer, time_ns};

use super::{Compiled, GAS, native};
use crate::error::LabError;
use crate::record::{Quantity, RecordRow};

/// Times of first executions of one contract, with the ratio of each to a call of the precompile right after it.
pub(super) fn rows(
    contract: &'static Contract,
    compiled: &Compiled,
    name: &str,
    input: &[u8],
    expected: &[u8],
    rounds: usize,
) -> Result<Vec<RecordRow>, LabError> {
    let (mut cold, mut ahead, mut precompile) = (Vec::new(), Vec::new(), Vec::new());
    let fresh = || Engine::unshared(compiled.layer.engine.config().clone());
    let first = |mut prepared: Prepared| {
        let (outcome, time_ns) = time_ns(|| prepared.run_without_memory(input, GAS));
        if outcome.output == expected {
            return Ok(time_ns);
        }
        let (subject, expected) = (name.to_owned(), expected.to_vec());
        Err(WrongAnswer { subject, expected, got: outcome.output })
    };
    for _ in 0..rounds {
        cold.push(first(fresh()?.prepare(&compiled.code))?);
        let engine = fresh()?;
        engine.plan_ahead(&compiled.code, input, GAS);
        ahead.push(first(engine.prepare(&compiled.code))?);
        let (answer, time_ns) = time_ns(|| native(contract, input));
        answer?;
        precompile.push(time_ns);
    }
    let baseline = format!("precompile/pairing/{}", name.rsplit('/').next().unwrap_or_default());
    let of = |quantity, times: &[f64]| {
        [RecordRow::new(name, quantity, times), RecordRow::ratio(name, quantity, times, (&baseline, &precompile))]
    };
    let rows = of(Quantity::Cold, &cold).into_iter().chain(of(Quantity::Ahead, &ahead));
    Ok(rows.collect())
}
