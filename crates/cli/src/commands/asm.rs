//! `residue asm`: from assembly text to code.

use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use clap::Args;
use residue_isa::Revision;
use serde_json::json;

use crate::options::DEFAULT_REVISION;
use crate::output::Target;
use crate::tables::grouped;
use crate::verdict::Verdict;
use crate::{input, output};

/// Options of `asm`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  echo 'PUSH 6 PUSH 7 MUL PUSH0 MSTORE PUSH 32 PUSH0 RETURN' | residue asm -")]
pub struct AsmArgs {
    /// File with assembly text; - for standard input.
    pub file: String,
    /// Whose field instructions.
    #[arg(long, value_name = "REVISION", default_value_t = DEFAULT_REVISION)]
    pub revision: Revision,
    /// Write the code to this file: hexadecimal, or raw bytes if the name ends in .bin; - for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<Target>,
}

/// Assembles a file.
pub fn asm(args: &AsmArgs, json: bool) -> Result<Verdict> {
    let text = input::text_file(&args.file)?;
    let place = input::shown(&args.file);
    let assembled = residue_isa::assemble_text(&text, args.revision);
    let code = assembled.map_err(|error| anyhow!("{place}:{}:{}: {}", error.line, error.column, error.what))?.bytes;
    ensure!(!code.is_empty(), "{place} has no instruction");
    let path = args.output.as_ref().and_then(Target::file);
    if let Some(path) = path {
        output::code_file(path, &code)?;
    }
    if json {
        let object = json!({
            "revision": args.revision.name(),
            "code": output::hex(&code),
            "code_bytes": code.len(),
            "path": path.map(Path::to_string_lossy),
        });
        output::json(&object)?;
    } else if let Some(path) = path {
        output::result(&format!("{}: {} bytes of code", path.display(), grouped(code.len() as u64)))?;
    } else {
        output::result(&output::hex(&code))?;
    }
    Ok(Verdict::Good)
}
