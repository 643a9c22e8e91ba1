//! The command line: one struct a command, and the options that several of them share.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use residue_engine::Fork;
use residue_isa::{GasSchedule, Revision};
use residue_workbench::{EngineKind, Setup};

use crate::commands::bench::BenchArgs;
use crate::commands::check::CheckArgs;
use crate::commands::lab::LabArgs;
use crate::commands::profile::ProfileArgs;
use crate::commands::statetest::StatetestArgs;
use crate::commands::trace::TraceArgs;
use crate::commands::wasm::WasmArgs;
use crate::formulas::Formulas;
use crate::input::{self, MemoryRange};

/// Cryptography as EVM bytecode at native speed.
///
/// Without a command: checks a BLS signature with the pairing contract under evm384-v7 and eip6690-2024, beside the native library.
#[derive(Debug, Parser)]
#[command(name = "residue", version, after_help = "Examples:\n  residue\n  residue list revisions")]
pub struct Cli {
    /// The command; the main job without one.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Print one JSON object on stdout.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run code in a frame of its own.
    Run(RunArgs),
    /// Compile a contract.
    Build(BuildArgs),
    /// Assemble text.
    Asm(AsmArgs),
    /// Disassemble code.
    Disasm(DisasmArgs),
    /// Run a contract under several revisions and schedules, side by side.
    Compare(CompareArgs),
    /// Measure beside native libraries.
    Bench(BenchArgs),
    /// Print every instruction that code executes.
    Trace(TraceArgs),
    /// Show where the gas and the time of a contract go.
    Profile(ProfileArgs),
    /// Measure opcodes, derive prices, show and attack them.
    Lab(LabArgs),
    /// Search for what is wrong in the engine.
    Check(CheckArgs),
    /// Run WebAssembly modules, and write contracts as such.
    Wasm(WasmArgs),
    /// Run general state tests with every revision switched on.
    Statetest(StatetestArgs),
    /// List revisions, schedules, forks, opcodes and contracts.
    List(ListArgs),
    /// Print the input that comes with a contract, to try it elsewhere.
    Example(ExampleArgs),
    /// Print what completes commands in a shell.
    Completions(CompletionsArgs),
    /// Write the manual pages.
    Man(ManArgs),
}

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  echo 0x600660070260005260206000f3 | residue run - --no-time
  residue run bls12_381/fp2_mul --example --revision evm384-v7 --json
  residue run bls12_381/fp2_mul --example --as-precompiles --no-time
  echo 'PUSH 7 PUSH 0 MSTORE STOP' | residue asm - | residue run - --gas 10000 --memory 0:32")]
pub struct RunArgs {
    /// File with the code: hexadecimal text, or raw bytes if the name ends in .bin; - for standard input; or a contract.
    pub file: String,
    /// The interface and its prices.
    #[command(flatten)]
    pub rules: Rules,
    /// Gas for the frame.
    #[arg(long, value_name = "GAS", default_value = "1000000000", value_parser = input::number, allow_hyphen_values = true)]
    pub gas: u64,
    /// Who executes: the engine, or the executable specification, which is slow.
    #[arg(long, default_value = "batch", value_parser = engine_kinds())]
    pub engine: EngineKind,
    /// Calldata: hexadecimal, or a file of it (raw bytes if the name ends in .bin).
    #[arg(long, value_name = "HEX|@FILE", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub input: String,
    /// With a contract: the input that comes with it.
    #[arg(long, conflicts_with = "input")]
    pub example: bool,
    /// With a contract: its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// Put the contracts that replace precompiles at the addresses of those, so that calls run them instead.
    #[arg(long)]
    pub as_precompiles: bool,
    /// Show these bytes of the frame's memory at its end; zeros beyond the end.
    #[arg(long, value_name = "FROM:TO", value_parser = input::memory_range, allow_hyphen_values = true)]
    pub memory: Option<MemoryRange>,
    /// Show the blocks of field instructions and the plans that the batch engine makes of them.
    #[arg(long)]
    pub explain: bool,
    /// Skip timing.
    #[arg(long)]
    pub no_time: bool,
}

/// Options of `build`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue build bls12_381/fp2_mul --revision evm384-v7
  residue build bls12_381/fp2_mul --output fp2_mul.hex
  residue build bls12_381/pairing --revision evm384-v7 --schedule model-a --explain")]
pub struct BuildArgs {
    /// A contract of `residue list contracts`, or all.
    pub contract: String,
    /// The interface to compile for, and the prices that decide between variants.
    #[command(flatten)]
    pub rules: InterfaceRules,
    /// Its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// Write the code to this file: hexadecimal, or raw bytes if the name ends in .bin. With all: a directory.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Instead of the code: which formulas were chosen, and what the others would have cost.
    #[arg(long)]
    pub explain: bool,
}

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue compare bls12_381/fp2_mul
  residue compare bls12_381/fp2_mul --revisions evm384-v7 --schedules evmone,model-a --no-time
  residue compare bls12_381/fp2_mul --no-time --markdown")]
pub struct CompareArgs {
    /// A contract of `residue list contracts`.
    pub contract: String,
    /// The interface revisions; without it every one that can express the contract.
    #[arg(long, value_name = "REVISION", value_delimiter = ',')]
    pub revisions: Vec<Revision>,
    /// Gas schedules, each as --schedule takes it; a revision runs under those that are for it. Each revision's own without it.
    #[arg(long, value_name = "NAME|FILE", value_delimiter = ',')]
    pub schedules: Vec<String>,
    /// Its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// The hard fork, whose rules hold for all other instructions.
    #[arg(long, value_name = "FORK", default_value_t = Fork::default())]
    pub fork: Fork,
    /// Gas for each frame.
    #[arg(long, value_name = "GAS", default_value = "1000000000", value_parser = input::number, allow_hyphen_values = true)]
    pub gas: u64,
    /// Calldata: hexadecimal, or a file of it (raw bytes if the name ends in .bin). The contract's example without it.
    #[arg(long, value_name = "HEX|@FILE", allow_hyphen_values = true)]
    pub input: Option<String>,
    /// The input that comes with the contract, as without --input.
    #[arg(long, conflicts_with = "input")]
    pub example: bool,
    /// Skip timing.
    #[arg(long)]
    pub no_time: bool,
    /// Print a table in Markdown, as the documents have it.
    #[arg(long)]
    pub markdown: bool,
}

/// Options of `asm`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  echo 'PUSH 6 PUSH 7 MUL PUSH0 MSTORE PUSH 32 PUSH0 RETURN' | residue asm -")]
pub struct AsmArgs {
    /// File with assembly text; - for standard input.
    pub file: String,
    /// Whose field instructions.
    #[arg(long, value_name = "REVISION", default_value_t = DEFAULT_REVISION)]
    pub revision: Revision,
    /// Write the code to this file: hexadecimal, or raw bytes if the name ends in .bin.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Options of `disasm`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  echo 0x600660070260005260206000f3 | residue disasm -")]
pub struct DisasmArgs {
    /// File with the code: hexadecimal text, or raw bytes if the name ends in .bin; - for standard input.
    pub file: String,
    /// Whose field instructions.
    #[arg(long, value_name = "REVISION", default_value_t = DEFAULT_REVISION)]
    pub revision: Revision,
    /// Write the text to this file.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Options of `example`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue example bls12_381/g1_add
  residue example bls12_381/pairing --json")]
pub struct ExampleArgs {
    /// The contract. With --json its expected output stands beside the input.
    pub contract: String,
}

/// Options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  residue completions bash > residue.bash && cat residue.bash")]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  residue man pages")]
pub struct ManArgs {
    /// The directory, which is made if it is not there: one page for each command.
    pub directory: PathBuf,
}

/// Options of `list`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue list revisions
  residue list opcodes --revision evm384-v7 --json")]
pub struct ListArgs {
    /// What to list; everything without it.
    #[arg(value_enum)]
    pub what: Option<Listed>,
    /// Only schedules and opcodes of this revision.
    #[arg(long, value_name = "REVISION")]
    pub revision: Option<Revision>,
    /// With opcodes: the EVM's own too.
    #[arg(long)]
    pub evm: bool,
    /// With contracts: what each takes and returns too.
    #[arg(long)]
    pub long: bool,
}

/// What `list` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// Interface revisions.
    Revisions,
    /// Gas schedules that come with the program.
    Schedules,
    /// Hard forks.
    Forks,
    /// Opcodes.
    Opcodes,
    /// Contracts.
    Contracts,
}

/// The revision when none is chosen.
pub const DEFAULT_REVISION: Revision = Revision::Eip6690_2024;

/// The interface and its prices.
#[derive(Debug, Clone, Args)]
pub struct InterfaceRules {
    /// The interface revision.
    #[arg(long, value_name = "REVISION", default_value_t = DEFAULT_REVISION)]
    pub revision: Revision,
    /// The gas schedule: a name of `residue list schedules`, or a TOML file as @FILE or a path. The revision's own without it.
    #[arg(long, value_name = "NAME|FILE")]
    pub schedule: Option<String>,
}

/// What an execution follows: interface, prices and hard fork.
#[derive(Debug, Clone, Args)]
pub struct Rules {
    /// Interface and prices.
    #[command(flatten)]
    pub interface: InterfaceRules,
    /// The hard fork, whose rules hold for all other instructions.
    #[arg(long, value_name = "FORK", default_value_t = Fork::default())]
    pub fork: Fork,
}

impl Rules {
    /// Makes an engine ready.
    pub fn setup(&self, kind: EngineKind) -> Result<Setup> {
        Ok(Setup::new(self.interface.revision, self.interface.schedule()?, self.fork, kind)?)
    }
}

impl InterfaceRules {
    /// Finds or reads the gas schedule.
    pub fn schedule(&self) -> Result<GasSchedule> {
        let Some(given) = &self.schedule else {
            return Ok(GasSchedule::default_for(self.revision)?);
        };
        let Some(schedule) = schedule_file(given)? else {
            return Ok(GasSchedule::named(given, self.revision)?);
        };
        anyhow::ensure!(
            schedule.is_for(self.revision),
            "{}: the gas schedule {:?} is not for {}",
            given.trim_start_matches('@'),
            schedule.name(),
            self.revision
        );
        Ok(schedule)
    }
}

/// The engines by name.
fn engine_kinds() -> impl TypedValueParser<Value = EngineKind> {
    let help = |kind| match kind {
        EngineKind::Batch => {
            "Blocks of field instructions eight lanes at a time, where the revision and the machine allow it"
        }
        EngineKind::Plain => "Instruction by instruction",
        EngineKind::Spec => "The executable specification",
    };
    let values = EngineKind::ALL.map(|kind| PossibleValue::new(kind.name()).help(help(kind)));
    PossibleValuesParser::new(values)
        .try_map(|name| EngineKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or("no engine has this name"))
}

/// The gas schedule of a file, or none if what was given is the name of one that comes with the program.
pub fn schedule_file(given: &str) -> Result<Option<GasSchedule>> {
    let path = match given.strip_prefix('@') {
        Some(path) => path,
        None if given.contains(['/', '\\']) || given.ends_with(".toml") => given,
        None => return Ok(None),
    };
    let text = input::text_file(path).context("reading the gas schedule")?;
    Ok(Some(GasSchedule::from_toml(&text, path)?))
}
