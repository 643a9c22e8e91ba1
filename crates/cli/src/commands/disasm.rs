//! `residue disasm`: from code to assembly text that assembles to the same code.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use residue_isa::{Fork, GasSchedule};
use serde_json::json;

use crate::formulas::Formulas;
use crate::options::{CodeRules, InterfaceRules};
use crate::output;
use crate::output::Target;
use crate::subject::{KeyOptions, Subject};
use crate::takers::{Kind, Reads};
use crate::verdict::Verdict;

/// Options of `disasm`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  echo 0x600660070260005260206000f3 | residue disasm -
  residue disasm bls12_381/fp2_mul --revision evm384-v7")]
pub struct DisasmArgs {
    /// File with the code: hexadecimal text, or raw bytes if the name ends in .bin; - for standard input; a program if the name ends in .ir;
    /// or a contract, or with --key a proof system.
    pub file: String,
    /// Whose field instructions; with what is compiled, the prices that decide between formulas too.
    #[command(flatten)]
    pub rules: InterfaceRules,
    /// With what is compiled: the hard fork, osaka without it. Code has no opcode that came after it.
    #[arg(long, value_name = "FORK")]
    pub fork: Option<Fork>,
    /// For a verifier: its key.
    #[command(flatten)]
    pub key: KeyOptions,
    /// With a contract: its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// With what is compiled: which engines it is for.
    #[command(flatten)]
    pub code: CodeRules,
    /// Write the text to this file; - for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<Target>,
}

/// Disassembles code of a file, or what a contract or a program is compiled to.
pub fn disasm(args: &DisasmArgs, json: bool) -> Result<Verdict> {
    let revision = args.rules.revision;
    let code = code(args)?;
    let text = residue_isa::disassemble(&code, revision);
    let path = args.output.as_ref().and_then(Target::file);
    if let Some(path) = path {
        output::file(path, text.as_bytes())?;
    }
    if json {
        let object = json!({
            "revision": revision.name(),
            "code_bytes": code.len(),
            "assembly": text,
            "path": path.map(Path::to_string_lossy),
        });
        output::json(&object)?;
    } else if let Some(path) = path {
        output::result(&format!("{}: {} lines of assembly", path.display(), text.lines().count()))?;
    } else {
        output::result(&text)?;
    }
    Ok(Verdict::Good)
}

fn code(args: &DisasmArgs) -> Result<Vec<u8>> {
    let kind = Kind::of(&args.file, &args.key, Reads::Code)?;
    let rules = [("--schedule", args.rules.schedule.is_some()), ("--fork", args.fork.is_some())];
    kind.ensure_takes(&args.file, &[&args.key.given(), &args.formulas.given(), &args.code.given(), &rules])?;
    let schedule: GasSchedule = args.rules.schedule()?;
    let (name, fork) = ((args.file.as_str(), &args.key), args.fork.unwrap_or_default());
    let compiled = (&args.formulas, args.code, fork);
    Ok(Subject::new(kind, name, compiled, args.rules.revision, &schedule, |_| Ok(Vec::new()))?.code)
}
