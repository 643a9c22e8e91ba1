//! `residue node` and `residue t8n`: each starts a binary that is built by itself, as both take some 150 packages that nothing else here needs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::verdict::Verdict;

/// The crate that has the binaries.
const CRATE: &str = "residue-node";

/// Options of a binary, which reads them itself.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct NodeArgs {
    /// What the binary is given; `--help` lists it.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    pub options: Vec<OsString>,
}

/// Becomes the binary that stands beside this one, or is found where commands are: signals reach it, and its exit code is this program's.
pub fn start(name: &str, args: &NodeArgs) -> Result<Verdict> {
    let program = beside(name).unwrap_or_else(|| PathBuf::from(name));
    let mut command = Command::new(&program);
    command.args(&args.options);
    become_it(command).with_context(|| {
        format!(
            "{name} is neither beside residue nor among the commands: build it with `cargo build --release -p {CRATE}`"
        )
    })
}

#[cfg(unix)]
fn become_it(mut command: Command) -> Result<Verdict> {
    use std::os::unix::process::CommandExt;
    // Returns only where it fails.
    Err(command.exec().into())
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> Result<Verdict> {
    let status = command.status()?;
    match status.code() {
        Some(0) | None => Ok(Verdict::Good),
        Some(code) => anyhow::bail!("it ended with exit code {code}"),
    }
}

fn beside(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    program.is_file().then_some(program)
}
