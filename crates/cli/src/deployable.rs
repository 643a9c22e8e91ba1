//! A contract as it is deployed: its creation code, and the address that follows from those bytes alone.
//!
//! The CREATE2 factory is the one of EIP-7997, which names the account that chains have had before it:
//! github.com/Arachnid/deterministic-deployment-proxy. So an address is the same on every chain and for everyone who deploys.

use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use residue_compiler::{Compiled, Dialect, creation};
use residue_contracts::linked;
use residue_engine::revm::primitives::{Address, B256, Bytes, bytes, keccak256};
use residue_engine::{Fork, Installed};
use residue_ir::Account;
use residue_isa::{GasSchedule, Revision};
use residue_workbench::formats::Artifact;
pub use residue_workbench::formats::FACTORY;
use residue_workbench::report;
use serde_json::{Value, json};

use crate::code_limit::CodeLimit;
use crate::formulas::Formulas;
use crate::options::{CodeRules, InterfaceRules};
use crate::subject::{Chosen, KeyOptions};
use crate::takers::{self, Kind, Reads};

/// Code of the factory, which EIP-7997 has too.
pub const FACTORY_CODE: Bytes = bytes!(
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
);

/// A contract, and what of its code is chosen. Nobody deploys it here.
#[derive(Debug, Clone, Args)]
pub struct DeployableArgs {
    /// A contract of `residue list contracts`; or with --key a proof system, for a verifier of that key.
    pub contract: String,
    /// Its options.
    #[command(flatten)]
    pub options: DeployableOptions,
}

/// Options of a contract that is deployed.
#[derive(Debug, Clone, Args)]
pub struct DeployableOptions {
    /// The interface to compile for; without it the EVM of today.
    #[arg(long, value_name = "REVISION", default_value_t = Revision::Evm)]
    pub revision: Revision,
    /// The gas schedule that decides between variants, as for `build`.
    #[arg(long, value_name = "NAME|FILE")]
    pub schedule: Option<String>,
    /// The hard fork: code has no opcode that came after it, and is no longer than its accounts hold.
    #[arg(long, value_name = "FORK", default_value_t = Fork::default())]
    pub fork: Fork,
    /// For a verifier: its key.
    #[command(flatten)]
    pub key: KeyOptions,
    /// Its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// With what is compiled.
    #[command(flatten)]
    pub code: CodeRules,
    /// Compile the contract in linked form: its own code, and stages in accounts of their own, which it calls.
    #[arg(long)]
    pub linked: bool,
    /// The salt of CREATE2, 32 bytes in hexadecimal; 0 without it.
    #[arg(long, value_name = "HEX", value_parser = salt)]
    pub salt: Option<B256>,
}

fn salt(text: &str) -> Result<B256, String> {
    text.parse().map_err(|error| format!("a salt is 32 bytes in hexadecimal, 64 digits ({error})"))
}

/// A contract that has been compiled, and what follows from its code.
#[derive(Debug)]
pub struct Deployable {
    /// The contract.
    pub contract: Chosen,
    /// Its code.
    pub compiled: Compiled,
    /// Fork, portability and precompiles that the code keeps to.
    pub dialect: Dialect,
    /// The gas schedule that decided between variants.
    pub schedule: String,
    /// Gas of the contract's example.
    pub gas: u64,
    /// Code that returns the code.
    pub creation: Vec<u8>,
    /// The salt.
    pub salt: B256,
    /// Codes of a contract in linked form beside its own: one that calls another comes after it.
    pub stages: Vec<Deployable>,
}

impl DeployableArgs {
    /// Compiles the contract, as [`DeployableOptions::compiled`] does.
    pub fn compiled(&self) -> Result<Deployable> {
        self.options.compiled(&self.contract)
    }
}

impl DeployableOptions {
    /// Those of the catalogue, for code of a revision.
    pub fn of_catalogue(revision: Revision, linked: bool) -> Self {
        Self {
            revision,
            schedule: None,
            fork: Fork::default(),
            key: KeyOptions::default(),
            formulas: Formulas::default(),
            code: CodeRules::default(),
            linked,
            salt: None,
        }
    }

    /// The options that have no value without being given, and whether each is.
    pub fn given(&self) -> Vec<(&'static str, bool)> {
        let own = [("--schedule", self.schedule.is_some()), ("--linked", self.linked), ("--salt", self.salt.is_some())];
        own.into_iter().chain(self.key.given()).chain(self.formulas.given()).chain(self.code.given()).collect()
    }

    /// Compiles the contract of this name; refused if accounts of the fork do not hold its code.
    pub fn compiled(&self, name: &str) -> Result<Deployable> {
        let kind = Kind::of(name, &self.key, Reads::Programs)?;
        anyhow::ensure!(
            matches!(kind, Kind::Contract | Kind::Verifier),
            "{name:?} is a program: `residue build {name} --format creation` writes what deploys it"
        );
        kind.ensure_takes(name, &[&self.key.given(), &self.formulas.given(), &[("--linked", self.linked)]])?;
        let schedule = InterfaceRules { revision: self.revision, schedule: self.schedule.clone() }.schedule()?;
        if self.linked {
            return self.in_linked_form(name, &schedule);
        }
        let contract = Chosen::named(name, &self.key)?;
        let source = contract.source();
        takers::ensure_formulas(&self.formulas, source.name(), |product| source.program_with(product))?;
        takers::ensure_code_rules(self.code, source.name(), &[self.revision], || source.program())?;
        self.fitting(contract, &schedule)
    }

    /// The code of a contract that accounts of the fork hold.
    fn fitting(&self, contract: Chosen, schedule: &GasSchedule) -> Result<Deployable> {
        let (source, dialect) = (contract.source(), self.code.dialect(self.fork));
        let mut trials = match residue_engine::accounts::code_bytes_max(self.fork) {
            Some(_) => CodeLimit::Fork.trials(&self.formulas, source, (self.revision, schedule, dialect))?,
            None => {
                let trials = self.formulas.trials(source, self.revision, schedule, dialect);
                trials.with_context(|| format!("compiling {} for {}", source.name(), self.revision))?
            }
        };
        let trial = trials.swap_remove(0);
        Deployable::new(contract, trial.compiled, trial.gas, dialect, schedule.name(), self.salt.unwrap_or_default())
    }

    /// The contract's own code with its stages: each is compiled once the addresses of those are known that it may call.
    fn in_linked_form(&self, name: &str, schedule: &GasSchedule) -> Result<Deployable> {
        let linked = linked::named(name)?;
        let (mut stages, mut accounts) = (Vec::new(), Vec::new());
        for stage in linked.stages {
            let part = linked.stage(stage, accounts.clone());
            let deployable = self.fitting(Chosen::Part(Arc::new(part)), schedule)?;
            let account = Account::at(deployable.address().into_array());
            accounts.push((stage.name, account.context("an address below 2¹⁶ follows from the code of a stage")?));
            stages.push(deployable);
        }
        let main = self.fitting(Chosen::Part(Arc::new(linked.main(accounts))), schedule)?;
        Ok(Deployable { stages, ..main })
    }
}

impl Deployable {
    /// Properties of this code.
    pub fn new(
        contract: Chosen,
        compiled: Compiled,
        gas: u64,
        dialect: Dialect,
        schedule: &str,
        salt: B256,
    ) -> Result<Self> {
        let creation = creation(&compiled.code, compiled.revision, dialect.fork).context("making the creation code")?;
        Ok(Self { contract, compiled, dialect, schedule: schedule.to_owned(), gas, creation, salt, stages: Vec::new() })
    }

    /// The contract's name.
    pub fn name(&self) -> &str {
        self.contract.source().name()
    }

    /// Address at which the factory creates it: EIP-1014.
    pub fn address(&self) -> Address {
        FACTORY.create2(self.salt, keccak256(&self.creation))
    }

    /// Accounts of its stages, for the engine.
    pub fn installed(&self, is_warm: bool) -> Vec<Installed> {
        let stages = self.stages.iter();
        stages
            .map(|stage| {
                let (address, code) = (stage.address().into_array(), stage.compiled.code.clone());
                Installed { address, code, is_warm }
            })
            .collect()
    }

    /// It as a build for other tools.
    pub fn artifact(&self) -> Artifact<'_> {
        let (contract, address) = (Some(self.contract.source()), Some(self.address()));
        let Self { compiled, dialect, schedule, .. } = self;
        Artifact { name: self.name(), contract, compiled, schedule, dialect: *dialect, address }
    }

    /// Name of the stage among those of its contract; the contract's own if it is none.
    pub fn stage_name(&self) -> &str {
        match &self.contract {
            Chosen::Part(part) => part.stage().map_or(self.name(), |stage| stage.name),
            Chosen::Listed(_) | Chosen::Keyed(_) => self.name(),
        }
    }

    /// Keccak-256 of the code.
    pub fn code_hash(&self) -> B256 {
        keccak256(&self.compiled.code)
    }

    /// Calldata of the factory that creates it: the salt, then the creation code.
    pub fn factory_calldata(&self) -> Vec<u8> {
        [self.salt.as_slice(), &self.creation].concat()
    }

    /// The contract, its options, and what follows from its code.
    pub fn to_json(&self) -> Value {
        let (bytes, fork) = (self.compiled.code.len(), self.dialect.fork);
        let mut object = json!({
            "contract": self.name(),
            "version": env!("CARGO_PKG_VERSION"),
            "revision": self.compiled.revision.name(),
            "schedule": self.schedule,
            "fork": fork.name(),
            "portable": self.dialect.portable,
            "precompiles": self.dialect.precompiles,
            "address": self.address().to_checksum(None),
            "factory": FACTORY.to_checksum(None),
            "salt": self.salt.to_string(),
            "code_hash": self.code_hash().to_string(),
            "creation_hash": keccak256(&self.creation).to_string(),
            "code_bytes": bytes,
            "deployment_gas": report::deployment_gas(bytes, fork),
        });
        if !self.stages.is_empty() {
            object["stages"] = self.stages.iter().map(Self::to_json).collect();
        }
        object
    }
}
