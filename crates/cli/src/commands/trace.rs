//! `residue trace`: one line for each executed instruction, with the field values in canonical form.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use residue_compiler::SourceMap;
use residue_engine::{Engine, EngineConfig};
use residue_isa::UnknownName;
use residue_workbench::inspect::trace::{Executed, Tracing, is_within};
use residue_workbench::output::unless_reader_left;
use residue_workbench::report::step;
use serde_json::json;

use crate::formulas::Formulas;
use crate::options::{CodeRules, Rules};
use crate::subject::{Chosen, KeyOptions, ProofOptions, Subject, given_or_example};
use crate::takers::{Kind, Reads};
use crate::verdict::Verdict;
use crate::{input, output};

/// Options of `trace`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue trace bls12_381/fp2_mul
  residue trace bls12_381/pairing --function fp12_mul --limit 20
  echo 'PUSH 7 PUSH 0 MSTORE STOP' | residue asm - | residue trace - --json")]
pub struct TraceArgs {
    /// File with the code: hexadecimal text, or raw bytes if the name ends in .bin; - for standard input; a program if the name ends in .ir;
    /// or a contract.
    pub file: String,
    /// The interface and its prices.
    #[command(flatten)]
    pub rules: Rules,
    /// For a verifier: its key.
    #[command(flatten)]
    pub key: KeyOptions,
    /// For a verifier: a proof.
    #[command(flatten)]
    pub proof: ProofOptions,
    /// With a contract: its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// With what is compiled: which engines it is for.
    #[command(flatten)]
    pub code: CodeRules,
    /// Gas for the frame.
    #[arg(long, value_name = "GAS", default_value = "1000000000", value_parser = input::number, allow_hyphen_values = true)]
    pub gas: u64,
    /// Calldata: hexadecimal, or a file of it (raw bytes if the name ends in .bin). A contract's example without it.
    #[arg(long, value_name = "HEX|@FILE", allow_hyphen_values = true, conflicts_with = "proof")]
    pub input: Option<String>,
    /// With a contract: only instructions of this function, or of this named stretch of its text.
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Print no more instructions than this; the code runs to its end all the same.
    #[arg(long, value_name = "N", value_parser = input::number, allow_hyphen_values = true)]
    pub limit: Option<u64>,
}

/// Runs the code and prints what it executes.
pub fn trace(args: &TraceArgs, json: bool) -> Result<Verdict> {
    let revision = args.rules.interface.revision;
    let schedule = args.rules.interface.schedule()?;
    let calldata = |contract: Option<&Chosen>| given_or_example(args.input.as_deref(), &args.proof, contract);
    let kind = Kind::of(&args.file, &args.key, Reads::Code)?;
    let function = [("--function", args.function.is_some())];
    let (key, proof, formulas, code) = (args.key.given(), args.proof.given(), args.formulas.given(), args.code.given());
    kind.ensure_takes(&args.file, &[&key, &proof, &formulas, &code, &function])?;
    let subject = Subject::new(
        kind,
        (&args.file, &args.key),
        (&args.formulas, args.code, args.rules.fork),
        revision,
        &schedule,
        calldata,
    )?;
    let chosen = args.function.as_deref().map(|name| chosen(name, subject.source_map.as_ref())).transpose()?;
    let engine = Engine::new(EngineConfig { fork: args.rules.fork, ..EngineConfig::new(revision, schedule) })?;

    let mut stdout = BufWriter::new(io::stdout().lock());
    let mut written = Ok(());
    let mut steps = Vec::new();
    let (mut shown, mut left_out) = (0, 0);
    let outcome = {
        let mut tracer = Tracing::new(revision, |executed: Executed| {
            let map = subject.source_map.as_ref().filter(|_| executed.depth == 0);
            let source = map.and_then(|map| map.name_at(executed.pc));
            let is_chosen = chosen.is_none_or(|name| source.as_ref().is_some_and(|source| is_within(source, name)));
            if !is_chosen || args.limit.is_some_and(|limit| shown >= limit) {
                left_out += 1;
                return;
            }
            shown += 1;
            if json {
                steps.push(step(&executed, source));
            } else if written.is_ok() {
                written = writeln!(stdout, "{}", to_line(&executed, source));
            }
        });
        engine.run_traced(&subject.code, &subject.calldata, args.gas, &mut tracer)
    };
    unless_reader_left(written.and_then(|()| stdout.flush())).context("writing to stdout")?;
    drop(stdout);
    if json {
        output::json(&json!({
            "success": outcome.is_success(),
            "halt": outcome.halt.name(),
            "gas_used": outcome.gas_used,
            "revision": revision.name(),
            "steps": steps,
            "steps_left_out": left_out,
        }))?;
    } else {
        let halt = outcome.halt.name();
        output::message(
            "note",
            &format!("{halt} with {} gas; {shown} instructions shown, {left_out} not", outcome.gas_used),
        );
    }
    Ok(Verdict::of(outcome.is_success()))
}

/// The name of a function or a stretch that the map knows.
fn chosen<'a>(name: &'a str, map: Option<&SourceMap>) -> Result<&'a str> {
    let map = map.ok_or_else(|| anyhow!("--function {name:?}: code from a file has no functions"))?;
    let mut known: Vec<&str> = map.functions().map(|(name, _)| name).chain(map.stretches()).collect();
    known.sort_unstable();
    known.dedup();
    match known.contains(&name) {
        true => Ok(name),
        false => Err(UnknownName::new("function", name, known).into()),
    }
}

fn to_line(executed: &Executed, source: Option<String>) -> String {
    let mnemonic = executed.mnemonic.unwrap_or("INVALID");
    let indent = "  ".repeat(executed.depth);
    let mut line = format!("{indent}{:#06x}  {mnemonic:<14} {}", executed.pc, executed.operands_text());
    if !executed.lanes.is_empty() {
        line.push_str(&format!("  |  {}", executed.values_text()));
    }
    if let Some(halt) = executed.halt {
        line.push_str(&format!("  !{}", halt.name()));
    }
    if let Some(source) = source {
        line.push_str(&format!("  ; {source}"));
    }
    line.truncate(line.trim_end().len());
    line
}
