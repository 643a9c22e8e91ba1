//! `residue asm`: from assembly text to code.

use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use serde_json::json;

use super::Verdict;
use crate::args::AsmArgs;
use crate::tables::grouped;
use crate::{input, output};

/// Assembles a file.
pub fn asm(args: &AsmArgs, json: bool) -> Result<Verdict> {
    let text = input::text_file(&args.file)?;
    let place = input::shown(&args.file);
    let assembled = residue_isa::assemble_text(&text, args.revision);
    let code = assembled.map_err(|error| anyhow!("{place}:{}:{}: {}", error.line, error.column, error.what))?.bytes;
    ensure!(!code.is_empty(), "{place} has no instruction");
    if let Some(path) = &args.output {
        output::code_file(path, &code)?;
    }
    if json {
        let object = json!({
            "revision": args.revision.name(),
            "code": output::hex(&code),
            "code_bytes": code.len(),
            "path": args.output.as_deref().map(Path::to_string_lossy),
        });
        output::json(&object)?;
    } else if let Some(path) = &args.output {
        output::result(&format!("{}: {} bytes of code", path.display(), grouped(code.len() as u64)))?;
    } else {
        output::result(&output::hex(&code))?;
    }
    Ok(Verdict::Good)
}
