//! The commands that only the full program has, one file each.

pub mod bench;
pub mod check;
pub mod fixtures;
pub mod lab;
pub mod pages;
pub mod statetest;
pub mod wasm;

use anyhow::Result;
use clap::CommandFactory;
use residue_command::verdict::Verdict;

use crate::args::{Cli, Command};

/// Carries out what the command line asks for.
pub fn run(Cli { command, json }: Cli) -> Result<Verdict> {
    match command {
        None => residue_command::run(None, json),
        Some(Command::Own(command)) => residue_command::run(Some(command), json),
        Some(Command::Bench(args)) => bench::bench(&args, json),
        Some(Command::Lab(args)) => lab::lab(&args, json),
        Some(Command::Check(args)) => check::check(&args, json),
        Some(Command::Wasm(args)) => wasm::wasm(&args, json),
        Some(Command::Statetest(args)) => statetest::statetest(&args, json),
        Some(Command::Fixtures(args)) => fixtures::fixtures(&args, json),
        // `main` hands them over; they come here only among options that nobody understands.
        Some(Command::Node | Command::T8n | Command::Deploy | Command::Verify) => anyhow::bail!(
            "node, t8n, deploy and verify are of programs of their own, which `residue node` and so on start"
        ),
        Some(Command::Completions(args)) => pages::completions(&args, Cli::command(), json),
        Some(Command::Man(args)) => pages::man(&args, Cli::command(), json),
    }
}
