//! `residue disasm`: from code to assembly text that assembles to the same code.

use std::path::Path;

use anyhow::Result;
use serde_json::json;

use super::Verdict;
use crate::args::DisasmArgs;
use crate::{input, output};

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
