//! `residue check`: searches for faults, for as long as requested.

mod engine;

use anyhow::Result;
use clap::{Args, Subcommand};

use residue_command::verdict::Verdict;

/// Options of `check`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue check engine --runs 2000
  residue check engine --runs 2000 --revision eip6690-2024 --json")]
pub struct CheckArgs {
    /// The subject of the check.
    #[command(subcommand)]
    command: CheckCommand,
}

/// Subjects of checks.
#[derive(Debug, Subcommand)]
enum CheckCommand {
    /// The engine on generated histories: many transactions on few contracts, in every mode against plain.
    Engine(engine::EngineArgs),
}

/// Carries out a check.
pub fn check(args: &CheckArgs, json: bool) -> Result<Verdict> {
    match &args.command {
        CheckCommand::Engine(args) => engine::engine(args, json),
    }
}
