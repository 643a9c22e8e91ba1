//! The commands, one file each. A command does its work, prints its result and says whether all is well.

pub mod address;
pub mod asm;
pub mod build;
pub mod catalogue;
pub mod compare;
pub mod disasm;
pub mod example;
pub mod explore;
pub mod gas;
pub mod list;
mod main_job;
pub mod print;
pub mod profile;
pub mod prove;
pub mod run;
pub mod trace;

use anyhow::Result;

use crate::args::Command;
use crate::verdict::Verdict;

/// Carries out a command of `residue` itself, or the main job without one.
pub fn run(command: Option<Command>, json: bool) -> Result<Verdict> {
    match command {
        None => main_job::main_job(json),
        Some(Command::Run(args)) => run::run(&args, json),
        Some(Command::Build(args)) => build::build(&args, json),
        Some(Command::Prove(args)) => prove::prove(&args, json),
        Some(Command::Print(args)) => print::print(&args, json),
        Some(Command::Asm(args)) => asm::asm(&args, json),
        Some(Command::Disasm(args)) => disasm::disasm(&args, json),
        Some(Command::Compare(args)) => compare::compare(&args, json),
        Some(Command::Gas(args)) => gas::gas(&args, json),
        Some(Command::Trace(args)) => trace::trace(&args, json),
        Some(Command::Profile(args)) => profile::profile(&args, json),
        Some(Command::List(args)) => list::list(&args, json),
        Some(Command::Example(args)) => example::example(&args, json),
        Some(Command::Address(args)) => address::address(&args, json),
        Some(Command::Catalogue(args)) => catalogue::catalogue(&args, json),
        Some(Command::Explore(args)) => explore::explore(&args, json),
    }
}
