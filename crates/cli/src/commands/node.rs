//! `residue node`: starts the `residue-node` binary, which is built by itself: it takes some 150 packages that nothing else here needs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::verdict::Verdict;

/// The binary's name.
const NAME: &str = "residue-node";

/// Options of `node`: those of the binary.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = "Example:\n  residue node --help")]
pub struct NodeArgs {
    /// What `residue-node` is given; `--help` lists it.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    pub options: Vec<OsString>,
}

/// Runs the binary that stands beside this one, or is found where commands are.
pub fn node(args: &NodeArgs) -> Result<Verdict> {
    let program = beside().unwrap_or_else(|| PathBuf::from(NAME));
    let status = Command::new(&program).args(&args.options).status().with_context(|| {
        format!(
            "{NAME} is neither beside residue nor among the commands: build it with `cargo build --release -p {NAME}`"
        )
    })?;
    match status.code() {
        Some(0) => Ok(Verdict::Good),
        Some(code) => bail!("{NAME} ended with exit code {code}"),
        // Interrupted, as it is meant to end.
        None => Ok(Verdict::Good),
    }
}

fn beside() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name(format!("{NAME}{}", std::env::consts::EXE_SUFFIX));
    program.is_file().then_some(program)
}
