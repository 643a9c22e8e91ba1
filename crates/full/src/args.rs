//! The command line of the full program: that of `residue`, and the commands that only the full program has.

use clap::{Parser, Subcommand};
use residue_command::args::Command as Own;

use crate::commands::bench::BenchArgs;
use crate::commands::check::CheckArgs;
use crate::commands::fixtures::FixturesArgs;
use crate::commands::lab::LabArgs;
use crate::commands::pages::{CompletionsArgs, ManArgs};
use crate::commands::statetest::StatetestArgs;
use crate::commands::wasm::WasmArgs;

/// Cryptography as EVM bytecode at native speed.
///
/// Without a command: checks a BLS signature with the pairing contract under evm384-v7 and eip6690-2024, beside the native library.
#[derive(Debug, Parser)]
#[command(
    name = "residue",
    bin_name = "residue",
    version,
    after_help = "Examples:\n  residue\n  residue list revisions"
)]
pub struct Cli {
    /// The command; the main job without one.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Print one JSON object on stdout.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Commands of `residue` itself.
    #[command(flatten)]
    Own(Own),
    /// Measure beside native libraries.
    Bench(BenchArgs),
    /// Measure opcodes, derive prices, show and attack them.
    Lab(LabArgs),
    /// Search for what is wrong in the engine.
    Check(CheckArgs),
    /// Run WebAssembly modules, and write contracts as such.
    Wasm(WasmArgs),
    /// Run general state tests with every revision switched on.
    Statetest(StatetestArgs),
    /// Write tests of field instructions and contracts, for implementations of others.
    Fixtures(FixturesArgs),
    /// Start a development node: Ethereum's JSON-RPC, with field instructions.
    Node,
    /// Carry out a state transition, as the t8n of other clients does.
    T8n,
    /// Deploy a contract to its address on a chain, unless it is there.
    Deploy,
    /// Say which contract has the code of an account.
    Verify,
    /// Print what completes commands in a shell.
    Completions(CompletionsArgs),
    /// Write the manual pages.
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// `residue --help` lists the same commands in the same words as here.
    #[test]
    fn both_programs_list_the_same_commands() {
        let listed = |command: clap::Command| -> Vec<(String, String)> {
            let line =
                |command: &clap::Command| (command.get_name().to_owned(), command.get_about().unwrap().to_string());
            command.get_subcommands().map(line).collect()
        };
        let ours = listed(Cli::command());
        assert!(ours.len() > 15);
        assert_eq!(ours, listed(residue_command::args::Cli::command()));
        let about = |command: clap::Command| command.get_long_about().map(ToString::to_string);
        assert_eq!(about(Cli::command()), about(residue_command::args::Cli::command()));
    }
}
