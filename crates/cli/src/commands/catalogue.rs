//! `residue catalogue`: the contracts that accounts of today hold, with what follows from the bytes of each, and packages made of them.

mod fronts;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use residue_compiler::Dialect;
use residue_contracts::{CONTRACTS, Contract, linked};
use residue_isa::{GasSchedule, Revision};
use residue_workbench::formats::{Artifact, functions, solidity_of_linked};
use residue_workbench::parallel::in_parallel;
use residue_workbench::variants::asks_for_precompiles;
use serde_json::{Value, json};

use crate::code_limit::{CodeLimit, TooLong};
use crate::deployable::{Deployable, DeployableOptions};
use crate::formulas::{Formulas, is_inexpressible};
use crate::output::Target;
use crate::subject::Chosen;
use crate::verdict::Verdict;
use crate::{input, output};

/// The interface that the catalogue is compiled for.
const REVISION: Revision = Revision::Evm;

/// Options of `catalogue`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue catalogue bn254/add poseidon2/bn254_t2
  residue catalogue bn254/add hashes/sha256 --output - --packages packages-of-two
  residue catalogue bn254/add hashes/sha256 > two.json; residue catalogue bn254/add --check two.json
  residue catalogue poseidon2/bn254_t2 --fronts -")]
pub struct CatalogueArgs {
    /// Contracts; every one that an account holds without it.
    pub contracts: Vec<String>,
    /// Write the catalogue to this file; - for standard output, as without it.
    #[arg(short, long, value_name = "FILE", conflicts_with = "check")]
    pub output: Option<Target>,
    /// Hold what is in this file to what the contracts are today: exit code 1 if a byte differs.
    #[arg(long, value_name = "FILE")]
    pub check: Option<String>,
    /// Write a Solidity library of each contract to this directory too, and beside it what JavaScript deploys it by.
    #[arg(long, value_name = "DIR", conflicts_with = "check", value_parser = output::directory())]
    pub packages: Option<PathBuf>,
    /// Write the forms within 8,192, 16,384, 24,576 and 65,536 bytes that no other beats in both bytes and gas to this file, and nothing else; - for
    /// standard output.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "check", "packages"])]
    pub fronts: Option<Target>,
}

/// Compiles the contracts, and writes or checks the catalogue.
pub fn catalogue(args: &CatalogueArgs, json: bool) -> Result<Verdict> {
    let asked = args.contracts.iter().map(|name| residue_contracts::named(name)).collect::<Result<Vec<_>, _>>()?;
    let contracts = if asked.is_empty() { CONTRACTS.iter().collect() } else { asked.clone() };
    if let Some(target) = &args.fronts {
        target.write("--fronts", &fronts::text(&contracts, !asked.is_empty())?, json)?;
        return Ok(Verdict::Good);
    }
    let held = args.check.as_ref().map(|path| Held::read(path)).transpose()?;
    let made = made(&contracts, !asked.is_empty(), held.as_ref())?;
    if let Some(held) = held {
        return held.compare(&made, asked.is_empty(), json);
    }
    if let Some(directory) = &args.packages {
        std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        for entry in &made {
            let (name, mut object) = (entry.artifact().identifier(), entry.to_json());
            object["bytecode"] = output::hex(&entry.deployable.creation).into();
            output::file(&directory.join(format!("{name}.sol")), entry.package()?.as_bytes())?;
            output::file(&directory.join(format!("{name}.json")), format!("{object}\n").as_bytes())?;
        }
    }
    let text = serde_json::to_string_pretty(&to_json(&made))? + "\n";
    match &args.output {
        Some(target) => target.write("--output", &text, json)?,
        None => output::result(&text)?,
    }
    Ok(Verdict::Good)
}

/// A contract of the catalogue.
struct Entry {
    deployable: Deployable,
    /// The contract's name; that of code which calls a precompile says so.
    label: String,
}

impl Entry {
    fn artifact(&self) -> Artifact<'_> {
        let Deployable { compiled, dialect, schedule, contract, .. } = &self.deployable;
        let (contract, address) = (Some(contract.source()), Some(self.deployable.address()));
        Artifact { name: &self.label, contract, compiled, schedule, dialect: *dialect, address }
    }

    /// The Solidity file of a package.
    fn package(&self) -> Result<String> {
        let artifact = self.artifact();
        let stages: Vec<Artifact<'_>> = self.deployable.stages.iter().map(Deployable::artifact).collect();
        Ok(if stages.is_empty() { artifact.package()? } else { solidity_of_linked(&artifact, &stages)? })
    }

    fn to_json(&self) -> Value {
        let (mut object, source) = (self.deployable.to_json(), self.deployable.contract.source());
        object["name"] = self.artifact().identifier().into();
        object["gas"] = self.deployable.gas.into();
        for (number, stage) in self.deployable.stages.iter().enumerate() {
            object["stages"][number]["gas"] = stage.gas.into();
        }
        object["summary"] = source.summary().into();
        object["interface"] = source.interface().into();
        let of_contract = source.functions();
        object["abi"] = functions::abi(&of_contract);
        object["functions"] = of_contract.iter().map(functions::described).collect();
        object
    }
}

/// Each contract in formulas, and by precompiles if it asks for one.
fn forms(contracts: &[&'static Contract]) -> Vec<(&'static Contract, bool)> {
    let forms = |contract: &&'static Contract| {
        let by_precompiles = asks_for_precompiles(&contract.program());
        [Some((*contract, false)), by_precompiles.then_some((*contract, true))]
    };
    contracts.iter().flat_map(forms).flatten().collect()
}

/// The contracts of these that an account holds, in formulas and, where they ask for a precompile, by it. With `all_must` each has to be one, and of
/// a catalogue that is `held` those forms alone are made that it has.
fn made(contracts: &[&'static Contract], all_must: bool, held: Option<&Held>) -> Result<Vec<Entry>> {
    let schedule = GasSchedule::default_for(REVISION)?;
    let is_wanted = |&(contract, precompiles): &(&Contract, bool)| match held {
        Some(held) if all_must => held.has(contract.name, precompiles) || !held.has(contract.name, !precompiles),
        _ => true,
    };
    let wanted = forms(contracts).into_iter().filter(is_wanted).collect::<Vec<_>>();
    let each = in_parallel(&wanted, |&(contract, precompiles)| entry(contract, precompiles, &schedule));
    let (mut made, mut left_out) = (Vec::new(), Vec::new());
    for ((contract, _), entry) in wanted.iter().zip(each) {
        match entry {
            Err(error) if is_inexpressible(&error) || error.is::<TooLong>() => left_out.push((contract.name, error)),
            entry => made.push(entry?),
        }
    }
    for contract in contracts {
        if let Ok(linked) = linked::named(contract.name)
            && held.is_none_or(|held| !all_must || held.has_linked(linked.name))
        {
            made.push(linked_entry(linked.name)?);
        }
    }
    // One of both forms is enough.
    let is_made = |name: &str| made.iter().any(|entry: &Entry| entry.deployable.name() == name);
    match left_out.into_iter().find(|(name, _)| all_must && !is_made(name)) {
        Some((_, error)) => Err(error),
        None => Ok(made),
    }
}

/// The contract in linked form.
fn linked_entry(name: &str) -> Result<Entry> {
    let deployable = DeployableOptions::of_catalogue(REVISION, true).compiled(name)?;
    Ok(Entry { deployable, label: format!("{name}_linked") })
}

fn entry(contract: &'static Contract, precompiles: bool, schedule: &GasSchedule) -> Result<Entry> {
    let dialect = Dialect { precompiles, ..Dialect::default() };
    let mut trials = CodeLimit::Fork.trials(&Formulas::default(), contract, (REVISION, schedule, dialect))?;
    let trial = trials.swap_remove(0);
    let salt = Default::default();
    let chosen = Chosen::Listed(contract);
    let deployable = Deployable::new(chosen, trial.compiled, trial.gas, dialect, schedule.name(), salt)?;
    let by = if precompiles { "_by_precompiles" } else { "" };
    Ok(Entry { deployable, label: format!("{}{by}", contract.name) })
}

fn to_json(made: &[Entry]) -> Value {
    json!({
        "comment": "Made by `residue catalogue --output dist/catalogue.json`.",
        "contracts": made.iter().map(Entry::to_json).collect::<Vec<_>>(),
    })
}

/// A catalogue in a file.
struct Held {
    path: String,
    contracts: Vec<Value>,
}

/// Key that tells entries apart.
fn key(entry: &Value) -> (&str, bool, bool) {
    (entry["contract"].as_str().unwrap_or_default(), entry["precompiles"] == true, entry["stages"].is_array())
}

impl Held {
    fn has(&self, contract: &str, precompiles: bool) -> bool {
        self.contracts.iter().any(|entry| key(entry) == (contract, precompiles, false))
    }

    fn has_linked(&self, contract: &str) -> bool {
        self.contracts.iter().any(|entry| key(entry) == (contract, false, true))
    }

    fn read(path: &str) -> Result<Self> {
        let text = input::text_file(path).context("reading the catalogue")?;
        let value: Value = serde_json::from_str(&text).with_context(|| format!("{} is no JSON", input::shown(path)))?;
        match value.get("contracts").and_then(Value::as_array) {
            Some(contracts) => Ok(Self { path: path.to_owned(), contracts: contracts.clone() }),
            None => bail!("{} has no list `contracts`: it is no catalogue", input::shown(path)),
        }
    }

    /// Bad if an entry differs, or if it is in one of both alone.
    fn compare(&self, made: &[Entry], is_whole: bool, json: bool) -> Result<Verdict> {
        let made: Vec<Value> = made.iter().map(Entry::to_json).collect();
        ensure!(!made.is_empty(), "no contract to check");
        let mut differ = Vec::new();
        for entry in &made {
            let (name, precompiles, is_linked) = key(entry);
            let by = match (precompiles, is_linked) {
                (true, _) => " by precompiles",
                (_, true) => " in linked form",
                _ => "",
            };
            match self.contracts.iter().find(|held| key(held) == key(entry)) {
                None => differ.push(format!("{name}{by} is missing")),
                Some(held) if held != entry => {
                    let fields = entry.as_object().into_iter().flatten().filter(|(field, now)| held[&**field] != **now);
                    let fields = fields.map(|(field, now)| format!("{field} is {} and was {}", now, held[&**field]));
                    differ.push(format!("{name}{by}: {}", fields.collect::<Vec<_>>().join(", ")));
                }
                Some(_) => {}
            }
        }
        if is_whole {
            let gone = self.contracts.iter().filter(|held| !made.iter().any(|entry| key(held) == key(entry)));
            differ.extend(gone.map(|held| format!("{} is no contract of the catalogue any more", key(held).0)));
        }
        let is_good = differ.is_empty();
        if json {
            output::json(&json!({ "success": is_good, "entries": made.len(), "differ": differ }))?;
        } else if is_good {
            output::result(&format!("{} entries are what the catalogue says", made.len()))?;
        } else {
            output::result(&differ.join("\n"))?;
            let again = "`residue catalogue --output` makes it anew";
            output::message(
                "error",
                &format!("{}: entries that differ: {}; {again}", input::shown(&self.path), differ.len()),
            );
        }
        Ok(Verdict::of(is_good))
    }
}
