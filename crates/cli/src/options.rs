//! Options that several commands share: interface, prices, hard fork and engine.

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use residue_compiler::Dialect;
use residue_engine::Fork;
use residue_ir::Length;
use residue_isa::{GasSchedule, Revision};
use residue_workbench::{EngineKind, Setup};

use crate::input;

pub use residue_workbench::catalogue::DEFAULT_REVISION;

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

/// Restrictions of compiled code, beside interface and hard fork.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct CodeRules {
    /// Compile code that engines execute too which skip data of PUSH only when they look for jump targets, or ask for a slot after the last lane.
    #[arg(long)]
    pub portable: bool,
    /// Let compiled code call the precompiles of the hard fork, where that is cheaper.
    #[arg(long)]
    pub use_precompiles: bool,
}

impl CodeRules {
    /// The options, and whether each is given.
    pub const fn given(self) -> [(&'static str, bool); 2] {
        [("--portable", self.portable), ("--use-precompiles", self.use_precompiles)]
    }

    /// The same for the compiler, with the hard fork.
    pub const fn dialect(self, fork: Fork) -> Dialect {
        Dialect {
            fork,
            portable: self.portable,
            precompiles: self.use_precompiles,
            deployment: None,
            length: Length::Full,
        }
    }
}

/// Rules of an execution: interface, prices and hard fork.
#[derive(Debug, Clone, Args)]
pub struct Rules {
    /// Interface and prices.
    #[command(flatten)]
    pub interface: InterfaceRules,
    /// The hard fork, whose rules hold for all other instructions. What is compiled has no opcode that came after it.
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
pub fn engine_kinds() -> impl TypedValueParser<Value = EngineKind> {
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
