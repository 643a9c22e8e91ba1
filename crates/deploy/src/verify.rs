//! `residue verify`: which contract the code of an account is, by the catalogue or by compiling one.

use alloy_primitives::{Address, keccak256};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use residue_command::deployable::{Deployable, DeployableOptions};
use residue_command::verdict::Verdict;
use residue_command::{input, output};
use serde_json::{Value, json};

use crate::rpc::Rpc;

/// The catalogue of this version, which `residue catalogue` makes.
const CATALOGUE: &str = include_str!("catalogue.json");

/// Options of `verify`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue verify 0x5FbDB2315678afecb367f032d93F642f64180aa3 --rpc http://localhost:8545
  residue verify 0x5FbDB2315678afecb367f032d93F642f64180aa3 --rpc http://localhost:8545 --catalogue dist/catalogue.json
  residue verify 0x5FbDB2315678afecb367f032d93F642f64180aa3 groth16 --key key.json --use-precompiles --rpc http://localhost:8545")]
pub struct VerifyArgs {
    /// The account. In mixed case its checksum is held to EIP-55.
    #[arg(value_parser = input::address)]
    pub address: Address,
    /// The contract that it should be, with its options as for `deploy`; any of the catalogue without it.
    pub contract: Option<String>,
    /// Its options.
    #[command(flatten)]
    pub options: DeployableOptions,
    /// The node, by HTTP or HTTPS.
    #[arg(long, value_name = "URL")]
    pub rpc: String,
    /// Another catalogue than that of this version.
    #[arg(long, value_name = "FILE", conflicts_with = "contract")]
    pub catalogue: Option<String>,
}

/// Fields of an entry that say which code it is.
const OPTIONS: [&str; 8] =
    ["contract", "version", "revision", "schedule", "fork", "portable", "precompiles", "code_hash"];

/// Good if the account has the code of the contract asked for, or of any in the catalogue.
pub fn verify(args: &VerifyArgs, json: bool) -> Result<Verdict> {
    if args.contract.is_none() {
        let given = args.options.given().into_iter().find(|(_, is_given)| *is_given);
        ensure!(given.is_none(), "{} has no effect without a contract", given.unwrap_or_default().0);
    }
    let held = if args.contract.is_none() { entries(args.catalogue.as_deref())? } else { Vec::new() };
    let rpc = Rpc::new(&args.rpc);
    let (address, chain_id) = (args.address, rpc.chain_id()?);
    let code = rpc.code(address)?;
    let hash = keccak256(&code);
    let found = match &args.contract {
        Some(name) => {
            let deployable = args.options.compiled(name)?;
            let mut parts = deployable.stages.iter().chain([&deployable]);
            parts.find(|part| part.code_hash() == hash).map(Deployable::to_json)
        }
        None => held.into_iter().find(|entry| entry["code_hash"] == hash.to_string()),
    };
    if json {
        let mut object =
            json!({ "address": address, "chain_id": chain_id, "code_bytes": code.len(), "found": found.is_some() });
        for field in OPTIONS {
            object[field] = found.as_ref().map_or(Value::Null, |found| found[field].clone());
        }
        object["code_hash"] = hash.to_string().into();
        output::json(&object)?;
    } else {
        let text = match (&found, &args.contract) {
            (Some(found), _) => is(found),
            (None, _) if code.is_empty() => "it has no code".to_owned(),
            (None, Some(contract)) => format!("its {} bytes of code are not {contract} with these options", code.len()),
            (None, None) => format!("its {} bytes of code are no contract of the catalogue ({hash})", code.len()),
        };
        output::result(&format!("{address} on chain {chain_id}: {text}"))?;
    }
    Ok(Verdict::of(found.is_some()))
}

/// The entries of a file, or those of this version.
fn entries(path: Option<&str>) -> Result<Vec<Value>> {
    let (text, called) = match path {
        Some(path) => (residue_command::input::text_file(path).context("reading the catalogue")?, path),
        None => (CATALOGUE.to_owned(), "the catalogue of this version"),
    };
    let mut value: Value = serde_json::from_str(&text).with_context(|| format!("{called} is no JSON"))?;
    match value["contracts"].take() {
        // Stages of contracts in linked form are codes of the catalogue too.
        Value::Array(entries) => {
            let stages = entries.iter().filter_map(|entry| entry["stages"].as_array()).flatten().cloned();
            Ok(entries.iter().cloned().chain(stages).collect())
        }
        _ => bail!("{called} has no list `contracts`: it is no catalogue"),
    }
}

/// An entry in words.
fn is(entry: &Value) -> String {
    let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    let precompiles = if entry["precompiles"] == true { " and its precompiles" } else { "" };
    let portable = if entry["portable"] == true { ", portable" } else { "" };
    format!(
        "{} of version {}, for {}, hard fork {}{precompiles}{portable}, gas schedule {}",
        text("contract"),
        text("version"),
        text("revision"),
        text("fork"),
        text("schedule")
    )
}
