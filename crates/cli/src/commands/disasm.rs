//! `residue disasm`: from code to assembly text that assembles to the same code.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use residue_isa::Revision;
use serde_json::json;

use crate::options::DEFAULT_REVISION;
use crate::verdict::Verdict;
use crate::{input, output};

/// Options of `disasm`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  echo 0x600660070260005260206000f3 | residue disasm -")]
pub struct DisasmArgs {
    /// File with the code: hexadecimal text, or raw bytes if the name ends in .bin; - for standard input.
    pub file: String,
    /// Whose field instructions.
    #[arg(long, value_name = "REVISION", default_value_t = DEFAULT_REVISION)]
    pub revision: Revision,
    /// Write the text to this file.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Disassembles a file.
pub fn disasm(args: &DisasmArgs, json: bool) -> Result<Verdict> {
    let code = input::code(&args.file)?;
    let text = residue_isa::disassemble(&code, args.revision);
    if let Some(path) = &args.output {
        output::file(path, text.as_bytes())?;
    }
    if json {
        let object = json!({
            "revision": args.revision.name(),
            "code_bytes": code.len(),
            "assembly": text,
            "path": args.output.as_deref().map(Path::to_string_lossy),
        });
        output::json(&object)?;
    } else if let Some(path) = &args.output {
        output::result(&format!("{}: {} lines of assembly", path.display(), text.lines().count()))?;
    } else {
        output::result(&text)?;
    }
    Ok(Verdict::Good)
}
