//! The commands, one file each. A command does its work, prints its result and says whether all is well.

pub mod asm;
pub mod bench;
pub mod build;
pub mod check;
pub mod compare;
pub mod disasm;
pub mod example;
pub mod gas;
pub mod handover;
pub mod lab;
pub mod list;
mod main_job;
pub mod pages;
pub mod print;
pub mod profile;
pub mod run;
pub mod statetest;
pub mod trace;
pub mod wasm;

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Cli, Command};
use crate::verdict::Verdict;

/// Carries out what the command line asks for.
pub fn run(Cli { command, json }: Cli) -> Result<Verdict> {
    match command {
        None => main_job::main_job(json),
        Some(Command::Run(args)) => run::run(&args, json),
        Some(Command::Build(args)) => build::build(&args, json),
        Some(Command::Print(args)) => print::print(&args, json),
        Some(Command::Asm(args)) => asm::asm(&args, json),
        Some(Command::Disasm(args)) => disasm::disasm(&args, json),
        Some(Command::Compare(args)) => compare::compare(&args, json),
        Some(Command::Gas(args)) => gas::gas(&args, json),
        Some(Command::Bench(args)) => bench::bench(&args, json),
        Some(Command::Trace(args)) => trace::trace(&args, json),
        Some(Command::Profile(args)) => profile::profile(&args, json),
        Some(Command::Lab(args)) => lab::lab(&args, json),
        Some(Command::Check(args)) => check::check(&args, json),
        Some(Command::Wasm(args)) => wasm::wasm(&args, json),
        Some(Command::Statetest(args)) => statetest::statetest(&args, json),
        Some(Command::Node(args)) => handover::hand_over("residue-node", &args),
        Some(Command::T8n(args)) => handover::hand_over("residue-t8n", &args),
        Some(Command::List(args)) => list::list(&args, json),
        Some(Command::Example(args)) => example::example(&args, json),
        Some(Command::Completions(args)) => pages::completions(&args, Cli::command()),
        Some(Command::Man(args)) => pages::man(&args, Cli::command(), json),
    }
}
