//! The command line, and a node made of it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use alloy_consensus::Header;
use alloy_genesis::{ChainConfig, Genesis};
use alloy_rlp::Decodable;
use anyhow::{Context, Result, bail};
use clap::Parser;
use residue_alloy::{Activation, ChainRules, FieldEvmFactory};
use residue_contracts::CONTRACTS;
use residue_engine::{EngineConfig, Replacement};
use residue_isa::{GasSchedule, Revision};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::chain::Chain;
use crate::genesis;
use crate::keys::{Keys, MNEMONIC};
use crate::node::{Mining, Node, now};
use crate::remote::Remote;
use crate::store::{ChainBlock, Store};

/// A development node with the field instructions of any revision: Ethereum's JSON-RPC over HTTP and WebSocket.
///
/// Foundry's `forge script`, `forge test` and `cast run` execute in an EVM of their own, which has no field instructions: reach the node's by
/// `--as-precompiles`, or by `vm.rpc` as examples/foundry/Residue.sol does. `cast call`, `cast send`, `forge create` and other clients execute here.
#[derive(Debug, Parser)]
#[command(
    name = "residue-node",
    version,
    after_help = "Example:\n  residue-node --revision eip6690-2024 --data ./chain"
)]
pub struct Options {
    /// The field instructions there are; none without it, unless the genesis file says so.
    #[arg(long)]
    pub revision: Option<Revision>,
    /// Their prices: the name of a schedule or a TOML file; the revision's own without it.
    #[arg(long, requires = "revision")]
    pub schedule: Option<String>,
    /// From which block time on there are field instructions, in seconds.
    #[arg(long, default_value_t = 0, value_name = "SECONDS", requires = "revision")]
    pub from_time: u64,
    /// Put contracts in place of the precompiles of EIP-2537 and EIP-4844.
    #[arg(long, requires = "revision")]
    pub as_precompiles: bool,
    /// The folder of the database; in memory without it.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// A genesis file of geth's form; the development chain without it.
    #[arg(long, value_name = "FILE")]
    pub genesis: Option<PathBuf>,
    /// A file of blocks in RLP, imported before anything is served. Then nothing is mined until it is asked for.
    #[arg(long, value_name = "FILE")]
    pub import: Option<PathBuf>,
    /// Another node: the chain goes on after a block of its, and reads there what is not here. `http` or `https`.
    #[arg(long, value_name = "URL", conflicts_with_all = ["genesis", "import"])]
    pub fork_url: Option<String>,
    /// The block to go on after; the newest one without it, or that of the data folder.
    #[arg(long, value_name = "NUMBER", requires = "fork_url")]
    pub fork_block_number: Option<u64>,
    /// The id of the development chain, 31337 without it or that of the data folder; that of the other node where it is forked.
    #[arg(long, conflicts_with = "genesis")]
    pub chain_id: Option<u64>,
    /// The port of HTTP and WebSocket.
    #[arg(long, short, default_value_t = 8545)]
    pub port: u16,
    /// The address to listen at.
    #[arg(long, default_value = "127.0.0.1")]
    pub host: std::net::IpAddr,
    /// Mine a block every so many seconds, not at every transaction.
    #[arg(long, short, value_name = "SECONDS", conflicts_with = "no_mining", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub block_time: Option<u64>,
    /// Mine only when asked to.
    #[arg(long)]
    pub no_mining: bool,
    /// Development accounts.
    #[arg(long, short, default_value_t = 10)]
    pub accounts: u32,
    /// The phrase that their keys are derived from.
    #[arg(long, short, default_value = MNEMONIC)]
    pub mnemonic: String,
    /// Bytes that the code of an account may have; creation code may have twice as many.
    #[arg(long, value_name = "BYTES")]
    pub code_size_limit: Option<usize>,
    /// Gas of a block of the development chain.
    #[arg(long, default_value_t = genesis::GAS_LIMIT, conflicts_with_all = ["genesis", "fork_url"])]
    pub gas_limit: u64,
    /// Print nothing, and log warnings only. The address is that of --host and --port.
    #[arg(long, short)]
    pub quiet: bool,
}

/// The id of the development chain, as anvil's.
const CHAIN_ID: u64 = 31337;
/// The entry of a data folder with all that its gas depends on.
const IDENTITY: &str = "identity";
/// The entry with the time of the genesis block of a development chain.
const GENESIS_TIME: &str = "genesis time";
/// The entry with the rules of its chain, as a genesis file has them.
const CONFIG: &str = "config";
/// The entry with what else its blocks depend on.
const OPTIONS: &str = "options";
/// Entry of a data folder with the block of another node after which its chain goes on.
const FORK_BLOCK: &str = "fork block";
/// Development accounts that can be asked for.
const ACCOUNTS_MAX: u32 = 1000;

impl Options {
    /// The node, with its chain imported where that is asked for.
    pub fn node(&self) -> Result<Node> {
        if self.accounts > ACCOUNTS_MAX {
            bail!("--accounts {}: at most {ACCOUNTS_MAX}", self.accounts);
        }
        let keys = Keys::of(&self.mnemonic, self.accounts)?;
        let store = Store::open(self.data.as_deref())
            .with_context(|| format!("--data {:?}", self.data.as_deref().unwrap_or(Path::new("memory"))))?;
        let forked = self.forked(&store)?;
        let genesis = self.genesis_of(&store, &keys, forked.as_ref().map(|(_, _, chain_id)| *chain_id))?;
        let activations = self.activations(&genesis)?;
        let identity = identity(&activations);
        let rules = genesis::rules(&genesis)?;
        self.compare(&store, &identity, &keys, &rules)?;
        let factory = FieldEvmFactory::new(activations)?;
        let chain = match forked {
            Some((remote, header, _)) => {
                let rich = keys.addresses();
                Chain::fork(store.over(remote), &header, &rich, rules, factory, self.code_size_limit)?
            }
            None => Chain::open(store, &genesis, rules, factory, self.code_size_limit)?,
        };
        // Only now is there a chain that these belong to.
        let fork_block = chain.store().remote().map(|remote| remote.block().to_string());
        chain.store().write(|writer| {
            writer.set_meta(IDENTITY, &identity)?;
            writer.set_meta(GENESIS_TIME, &genesis.timestamp.to_string())?;
            writer.set_meta(CONFIG, &serde_json::to_string(&genesis.config).unwrap_or_default())?;
            writer.set_meta(OPTIONS, &self.made_with(&keys).to_string())?;
            fork_block.map_or(Ok(()), |number| writer.set_meta(FORK_BLOCK, &number))
        })?;
        if let Some(file) = &self.import {
            import(&chain, file)?;
        }
        let mining = match self.block_time {
            Some(seconds) => Mining::Every(seconds),
            None if self.no_mining || self.import.is_some() => Mining::Never,
            None => Mining::WithTransactions,
        };
        Ok(Node::new(chain, keys, mining))
    }

    /// All that the blocks of a folder depend on and that is no rule of the chain. Accounts have their ether in the first block.
    fn made_with(&self, keys: &Keys) -> Value {
        let accounts = self.genesis.is_none().then(|| keys.addresses());
        let gas_limit = (self.genesis.is_none() && self.fork_url.is_none()).then_some(self.gas_limit);
        json!({ "accounts": accounts, "gasLimit": gas_limit, "codeSizeLimit": self.code_size_limit })
    }

    /// Refuses options that the data folder was not made with: its blocks would not be what they were, and could not be executed again.
    fn compare(&self, store: &Store, identity: &str, keys: &Keys, rules: &ChainRules) -> Result<()> {
        if let Some(held) = store.meta(IDENTITY)?.filter(|held| held != identity) {
            bail!("the data folder was made with {held}, and gas would not be what it was with {identity}");
        }
        if let (Some(held), Some((number, hash))) = (store.meta(CONFIG)?, store.head()?) {
            let held = serde_json::from_str(&held).context("the data folder holds no rules that can be read")?;
            let time = store.header(number)?.with_context(|| format!("no header of block {hash}"))?.timestamp;
            if let Some(difference) = ChainRules::from_config(&held)?.difference(rules, number, time) {
                let option = if self.genesis.is_some() { "--genesis" } else { "--chain-id" };
                bail!("{option}: the data folder has another {difference}");
            }
        }
        let Some(held) = store.meta(OPTIONS)?.and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
            return Ok(());
        };
        let asked = self.made_with(keys);
        let count = |value: &Value| value.as_array().map_or(0, Vec::len);
        let (own, other) = (&held["accounts"], &asked["accounts"]);
        if count(own) != count(other) {
            bail!("--accounts {}: the data folder was made with {}", count(other), count(own));
        }
        if own != other {
            bail!("--mnemonic: the data folder was made with another one, whose first account is {}", own[0]);
        }
        for (option, name) in [("--gas-limit", "gasLimit"), ("--code-size-limit", "codeSizeLimit")] {
            if held[name] != asked[name] {
                bail!("{option} {}: the data folder was made with {}", shown(&asked[name]), shown(&held[name]));
            }
        }
        Ok(())
    }

    /// The node that is forked, with the block's header and the chain's id: a folder stays with its block.
    fn forked(&self, store: &Store) -> Result<Option<(Remote, Header, u64)>> {
        let held: Option<u64> = store.meta(FORK_BLOCK)?.and_then(|number| number.parse().ok());
        let Some(url) = &self.fork_url else {
            return match held {
                Some(number) => {
                    bail!("the data folder goes on after block {number} of another node: say its --fork-url")
                }
                None => Ok(None),
            };
        };
        match (held, self.fork_block_number) {
            (Some(held), Some(asked)) if held != asked => {
                bail!("--fork-block-number {asked}: the data folder goes on after block {held}")
            }
            (None, _) if store.head()?.is_some() => bail!("--fork-url: the data folder has a chain of its own"),
            _ => Ok(Some(Remote::connect(url, held.or(self.fork_block_number)).context("--fork-url")?)),
        }
    }

    fn genesis_of(&self, store: &Store, keys: &Keys, forked: Option<u64>) -> Result<Genesis> {
        if let Some(file) = &self.genesis {
            let text = std::fs::read(file).with_context(|| format!("--genesis {}", file.display()))?;
            return serde_json::from_slice(&text).with_context(|| format!("--genesis {}", file.display()));
        }
        let time = store.meta(GENESIS_TIME)?.and_then(|time| time.parse().ok()).unwrap_or_else(now);
        let held: Option<ChainConfig> = store.meta(CONFIG)?.and_then(|text| serde_json::from_str(&text).ok());
        let chain_id = self.chain_id.or(forked).or(held.map(|held| held.chain_id)).unwrap_or(CHAIN_ID);
        Ok(genesis::development(chain_id, time, self.gas_limit, &keys.addresses()))
    }

    /// The revision of the command line, or those of the genesis file's `config.residue`: one object or a list of them, with `revision`, `schedule`,
    /// `time` and `asPrecompiles`.
    fn activations(&self, genesis: &Genesis) -> Result<Vec<Activation>> {
        let ours: Option<Value> = genesis.config.extra_fields.get("residue").cloned();
        if let Some(revision) = self.revision {
            if ours.is_some() {
                bail!("--revision {revision}: the genesis file says itself which revision there is");
            }
            let engine = config(revision, self.schedule.as_deref(), self.as_precompiles)?;
            return Ok(vec![Activation { time: self.from_time, engine }]);
        }
        let listed = match ours {
            None => Vec::new(),
            Some(Value::Array(all)) => all,
            Some(one) => vec![one],
        };
        listed.iter().map(activation).collect()
    }
}

/// An entry of `config.residue`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Said {
    revision: String,
    schedule: Option<String>,
    #[serde(default)]
    time: u64,
    #[serde(default)]
    as_precompiles: bool,
}

fn activation(given: &Value) -> Result<Activation> {
    let Said { revision, schedule, time, as_precompiles } =
        Said::deserialize(given).with_context(|| format!("config.residue: {given}"))?;
    Ok(Activation { time, engine: config(revision.parse()?, schedule.as_deref(), as_precompiles)? })
}

fn shown(value: &Value) -> String {
    if value.is_null() { "none".to_owned() } else { value.to_string() }
}

/// Configuration of an engine: a revision with its own schedule, a named one or one of a TOML file.
pub fn config(revision: Revision, schedule: Option<&str>, as_precompiles: bool) -> Result<EngineConfig> {
    let schedule = match schedule {
        None => GasSchedule::default_for(revision)?,
        Some(file) if file.ends_with(".toml") => {
            let text = std::fs::read_to_string(file).with_context(|| format!("--schedule {file}"))?;
            GasSchedule::from_toml(&text, file)?
        }
        Some(name) => GasSchedule::named(name, revision)?,
    };
    let mut replacements = Vec::new();
    if as_precompiles {
        for contract in CONTRACTS {
            let Some(address) = contract.precompile else { continue };
            let trial = residue_workbench::cheapest(contract, revision, &schedule)?;
            replacements.push(Replacement { address, code: trial.compiled.code });
        }
    }
    Ok(EngineConfig { replacements, ..EngineConfig::new(revision, schedule) })
}

/// All that gas depends on, as text: a folder made with one is not opened with another.
fn identity(activations: &[Activation]) -> String {
    let one = |Activation { time, engine }: &Activation| {
        let replaced = engine
            .replacements
            .iter()
            .map(|replaced| json!([replaced.address, alloy_primitives::keccak256(&replaced.code)]));
        json!({
            "time": time,
            "revision": engine.revision.to_string(),
            "schedule": engine.schedule.name(),
            "prices": alloy_primitives::keccak256(engine.schedule.to_toml()),
            "replaced": replaced.collect::<Vec<_>>(),
        })
    };
    Value::Array(activations.iter().map(one).collect()).to_string()
}

/// Imports a file of blocks, and says how far it is.
fn import(chain: &Chain, file: &Path) -> Result<()> {
    let bytes = std::fs::read(file).with_context(|| format!("--import {}", file.display()))?;
    let begun = Instant::now();
    let mut rest = bytes.as_slice();
    let (mut imported, mut told) = (0u64, Instant::now());
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let block = ChainBlock::decode(&mut rest)
            .map_err(|error| anyhow::anyhow!("--import {}: no block at byte {at}: {error}", file.display()))?;
        // A folder that has the block already goes on after it.
        if chain.store().hash(block.header.number)? == Some(block.header.hash_slow()) {
            continue;
        }
        chain.import(&block).with_context(|| format!("--import {}", file.display()))?;
        imported += 1;
        if told.elapsed().as_secs() >= 5 {
            tracing::info!(
                block = block.header.number,
                percent = 100 * (bytes.len() - rest.len()) / bytes.len(),
                "importing"
            );
            told = Instant::now();
        }
    }
    let (number, hash, _) = chain.head()?;
    tracing::info!(imported, head = number, %hash, seconds = begun.elapsed().as_secs_f32(), "imported");
    Ok(())
}
