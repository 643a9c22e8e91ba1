//! The baselines in Go, gnark-crypto, go-ethereum's precompiles and the reference for clients without assembly: an optional program that
//! measures itself.
//!
//! `baselines/go` holds it; `RESIDUE_BASELINES_GO` names the built program, or several, as `PATH` names folders. It is given the inputs of everybody
//! else with their answers, and compares its own in every round. Its times are from another process, so they are not taken in the same rounds,
//! and its rows have no ratios. Where it is not there it is missing, which a record says.

use std::env;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;
use serde_json::{Value, json};

use crate::bench::effort::Effort;
use crate::error::LabError;
use crate::record::{Quantity, RecordRow};

/// The layers that it measures.
const LAYERS: [&str; 3] = ["gnark", "geth", "go"];
/// The variable that names the program.
const VARIABLE: &str = "RESIDUE_BASELINES_GO";

/// Requested measurements that are not available, each with the reason.
pub(crate) fn missing(effort: &Effort) -> Vec<String> {
    if env::var_os(VARIABLE).is_some() {
        return Vec::new();
    }
    let missing = LAYERS.into_iter().filter(|layer| effort.subjects.include(layer));
    missing.map(|layer| format!("{layer} ({VARIABLE} names no program, see baselines/go)")).collect()
}

/// An operation on an input with its answer, as the program reads it.
#[derive(Debug, Serialize)]
pub(crate) struct Asked {
    /// Operation and size, which the names of rows end in.
    pub name: String,
    /// The operation.
    pub operation: &'static str,
    /// Repetitions in a run.
    pub chain: u32,
    /// The input in hexadecimal.
    pub input: String,
    /// The answer in hexadecimal.
    pub expected: String,
}

/// Measurements of the Go programs, one after the other; empty if there is none or none is requested.
pub(crate) fn rows(effort: &Effort, jobs: &[Asked]) -> Result<Vec<RecordRow>, LabError> {
    let Some(programs) = env::var_os(VARIABLE) else { return Ok(Vec::new()) };
    if !LAYERS.iter().any(|layer| effort.subjects.include(layer)) {
        return Ok(Vec::new());
    }
    let rows: Result<Vec<_>, _> = env::split_paths(&programs).map(|program| rows_of(&program, effort, jobs)).collect();
    Ok(rows?.into_iter().flatten().filter(|row| effort.subjects.include(row.layer())).collect())
}

/// Measurements of a program.
fn rows_of(program: &Path, effort: &Effort, jobs: &[Asked]) -> Result<Vec<RecordRow>, LabError> {
    let failed = |reason: String| LabError::Outside { program: program.to_string_lossy().into_owned(), reason };
    let mut command = Command::new(program);
    command.arg("-rounds").arg(effort.rounds.to_string());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    // A program that ends early says why.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(json!({ "jobs": jobs }).to_string().as_bytes()));
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    parse(&output.stdout).map_err(failed)
}

/// The rows of `{"rows": [{"name": …, "quantity": "time", "samples": […]}, …]}`.
fn parse(json: &[u8]) -> Result<Vec<RecordRow>, String> {
    let object: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let rows = object["rows"].as_array().ok_or("it printed no rows")?;
    let row = |row: &Value| {
        let name = row["name"].as_str().filter(|name| !name.contains([',', '\n', '\r']));
        let name = name.ok_or_else(|| format!("a row without a name: {row}"))?;
        let quantity: Quantity =
            row["quantity"].as_str().unwrap_or_default().parse().map_err(|e| format!("{name}: {e}"))?;
        let samples: Option<Vec<f64>> =
            row["samples"].as_array().and_then(|list| list.iter().map(Value::as_f64).collect());
        let samples = samples.filter(|samples| samples.iter().all(|&sample| sample > 0.0) && !samples.is_empty());
        Ok(RecordRow::new(name, quantity, &samples.ok_or_else(|| format!("{name}: its samples are no times"))?))
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_another_program_are_read_and_zeros_are_refused() {
        let rows = parse(br#"{"rows":[{"name":"gnark/g1-mul/1","quantity":"time","samples":[3.0,1.0,2.0]}]}"#).unwrap();
        assert_eq!((rows[0].layer(), rows[0].spread.median, rows[0].rounds), ("gnark", 2.0, 3));
        for (text, message) in [
            (r#"{"rows":[{"name":"gnark/g1-mul/1","quantity":"time","samples":[0]}]}"#, "samples are no times"),
            (r#"{"rows":[{"name":"gnark/g1-mul/1","quantity":"time","samples":[]}]}"#, "samples are no times"),
            (r#"{"rows":[{"name":"gnark/g1-mul/1","quantity":"speed"}]}"#, "\"speed\" is no quantity"),
            (r#"{"rows":[{}]}"#, "without a name"),
            ("{}", "no rows"),
        ] {
            assert!(parse(text.as_bytes()).unwrap_err().contains(message), "{text}");
        }
    }
}
