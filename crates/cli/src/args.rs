//! The command line: its commands, whose options stand beside their code.

use clap::{Parser, Subcommand};

use crate::commands::address::AddressArgs;
use crate::commands::asm::AsmArgs;
use crate::commands::build::BuildArgs;
use crate::commands::catalogue::CatalogueArgs;
use crate::commands::compare::CompareArgs;
use crate::commands::disasm::DisasmArgs;
use crate::commands::example::ExampleArgs;
use crate::commands::explore::ExploreArgs;
use crate::commands::gas::GasArgs;
use crate::commands::list::ListArgs;
use crate::commands::print::PrintArgs;
use crate::commands::profile::ProfileArgs;
use crate::commands::prove::ProveArgs;
use crate::commands::run::RunArgs;
use crate::commands::trace::TraceArgs;

/// Cryptography as EVM bytecode at native speed.
///
/// Without a command: checks a BLS signature with the pairing contract under evm384-v7 and eip6690-2024, beside the native library.
#[derive(Debug, Parser)]
#[command(name = "residue", version, after_help = "Examples:\n  residue\n  residue list revisions")]
pub struct Cli {
    /// The command; the main job without one.
    #[command(subcommand)]
    pub command: Option<Listed>,
    /// Print one JSON object on stdout.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Everything that `residue --help` lists.
#[derive(Debug, Subcommand)]
pub enum Listed {
    /// Commands of `residue` itself.
    #[command(flatten)]
    Own(Box<Command>),
    /// Commands that it hands over.
    #[command(flatten)]
    Full(Full),
}

/// The commands of `residue` itself.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run code in a frame of its own.
    Run(RunArgs),
    /// Compile a contract.
    Build(BuildArgs),
    /// Check a certificate: that its code ends as its program does, for all calldata.
    Prove(ProveArgs),
    /// Print a contract as text of the IR.
    Print(PrintArgs),
    /// Assemble text.
    Asm(AsmArgs),
    /// Disassemble code.
    Disasm(DisasmArgs),
    /// Run a contract under several revisions and schedules, side by side.
    Compare(CompareArgs),
    /// Keep what contracts cost in a file, and hold them to it.
    Gas(GasArgs),
    /// Print every instruction that code executes.
    Trace(TraceArgs),
    /// Show where the gas and the time of a contract go.
    Profile(ProfileArgs),
    /// List revisions, schedules, forks, opcodes and contracts.
    List(ListArgs),
    /// Print the input that comes with a contract, to try it elsewhere.
    Example(ExampleArgs),
    /// Print the address that a contract has on every chain, without asking one.
    Address(AddressArgs),
    /// Write what there is to deploy on chains of today, with addresses and hashes, or hold a file to it.
    Catalogue(CatalogueArgs),
    /// Open the page: type a program, see what it becomes and costs under every interface.
    Explore(ExploreArgs),
}

/// The commands of other programs, by name; those have their options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum Full {
    /// Measure beside native libraries.
    Bench,
    /// Measure opcodes, derive prices, show and attack them.
    Lab,
    /// Search for what is wrong in the engine.
    Check,
    /// Run WebAssembly modules, and write contracts as such.
    Wasm,
    /// Run general state tests with every revision switched on.
    Statetest,
    /// Write tests of field instructions and contracts, for implementations of others.
    Fixtures,
    /// Start a development node: Ethereum's JSON-RPC, with field instructions.
    Node,
    /// Carry out a state transition, as the t8n of other clients does.
    T8n,
    /// Deploy a contract to its address on a chain, unless it is there.
    Deploy,
    /// Say which contract has the code of an account.
    Verify,
    /// Print what completes commands in a shell.
    Completions,
    /// Write the manual pages.
    Man,
}
