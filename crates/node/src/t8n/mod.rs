//! `residue t8n`, the state transition tool as other clients have it: inputs are a state, the block's environment and
//! its transactions, outputs the state after them and the result. Names of files and of their fields are those of
//! geth's `evm t8n`; the result is written as EELS writes it.

mod alloc;
mod env;
mod execute;
mod forks;
mod json;
mod output;
mod result;
mod transactions;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use residue_isa::Revision;
use residue_statetest::json as documents;
use serde_json::Value;

use output::Outputs;

/// The name that stands for standard input.
const STDIN: &str = "stdin";

/// A state transition: a block's transactions executed on a state, under any fork and with the field instructions of any revision.
#[derive(Debug, Parser)]
#[command(
    name = "residue t8n",
    version,
    after_help = "Example:\n  residue t8n --state.fork Osaka --output.alloc after.json --output.result stdout"
)]
pub struct Options {
    /// The state before: accounts by address; or `stdin`, where an object has what is asked for there as `alloc`, `env` and `txs`.
    #[arg(long = "input.alloc", value_name = "FILE", default_value = "alloc.json")]
    alloc: String,
    /// The block's environment.
    #[arg(long = "input.env", value_name = "FILE", default_value = "env.json")]
    env: String,
    /// Transactions: a list of objects, or a text of RLP.
    #[arg(long = "input.txs", value_name = "FILE", default_value = "txs.json")]
    txs: String,
    /// `target`, `max` and `baseFeeUpdateFraction` of blobs, where they are not the fork's.
    #[arg(long = "input.blobParams", value_name = "FILE")]
    blob_params: Option<String>,
    /// The folder of the files that are written.
    #[arg(long = "output.basedir", value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The state after: a file, `stdout`, `stderr`, or nothing between quotes for none; `alloc.json` without it. A file that is read is only
    /// written over where it is named here.
    #[arg(long = "output.alloc", value_name = "FILE")]
    alloc_out: Option<String>,
    /// The result of the block, likewise; `result.json` without it.
    #[arg(long = "output.result", value_name = "FILE")]
    result_out: Option<String>,
    /// RLP of the transactions, likewise; none without it.
    #[arg(long = "output.body", value_name = "FILE")]
    body_out: Option<String>,
    /// The chain id.
    #[arg(long = "state.chainid", default_value_t = 1)]
    chain_id: u64,
    /// The fork, in any letter case: Frontier, Homestead, EIP150, EIP158, Byzantium, ConstantinopleFix, Istanbul, Berlin, London, Paris, Shanghai,
    /// Cancun, Prague, Osaka, BPO1 to BPO5, Amsterdam.
    #[arg(long = "state.fork", default_value = "Osaka")]
    fork: String,
    /// Wei that the miner of a block with proof of work gets; −1 for none, not even for ommers. The fork's own without it.
    #[arg(long = "state.reward", allow_hyphen_values = true)]
    reward: Option<i128>,
    /// Write a file of lines as EIP-3155 has them for each transaction.
    #[arg(long)]
    trace: bool,
    /// The field instructions there are; none without it.
    #[arg(long)]
    revision: Option<Revision>,
    /// Their prices: the name of a schedule or a TOML file; the revision's own without it.
    #[arg(long, requires = "revision")]
    schedule: Option<String>,
    /// Put contracts in place of the precompiles of EIP-2537 and EIP-4844.
    #[arg(long, requires = "revision")]
    as_precompiles: bool,
}

impl Options {
    /// Carries the transition out.
    pub fn run(&self) -> Result<()> {
        let outputs = self.outputs()?;
        let inputs = Inputs::read(self)?;
        let fork = forks::Fork::named(&self.fork, inputs.blob_params.as_ref())?;
        let alloc = alloc::Alloc::of(&inputs.alloc).context("--input.alloc")?;
        let env = env::Env::of(&inputs.env, &fork).context("--input.env")?;
        let given = transactions::read(&inputs.txs, self.chain_id, fork.has("eip158")).context("--input.txs")?;
        let transition = execute::Transition {
            chain_id: self.chain_id,
            fork: &fork,
            env: &env,
            reward: self.reward,
            revision: self.revision,
            schedule: self.schedule.as_deref(),
            as_precompiles: self.as_precompiles,
            traces: self.trace.then_some(self.folder.as_path()),
        };
        let done = transition.execute(&alloc, &given)?;
        outputs.put(|name| match name {
            "alloc" => alloc.after(&done.changes).json(),
            "result" => done.json(&fork, &env),
            _ => transactions::body(&given),
        })
    }

    /// The places of the output, before anything is read or executed.
    fn outputs(&self) -> Result<Outputs> {
        let inputs = [("alloc", Some(&self.alloc)), ("env", Some(&self.env)), ("txs", Some(&self.txs))];
        let inputs = inputs.into_iter().chain([("blobParams", self.blob_params.as_ref())]);
        let read = inputs.filter_map(|(name, file)| Some((name, Path::new(file.filter(|file| *file != STDIN)?))));
        let mut outputs = Outputs::new(&self.folder, read);
        outputs.add("alloc", self.alloc_out.as_deref(), Some("alloc.json"))?;
        outputs.add("result", self.result_out.as_deref(), Some("result.json"))?;
        outputs.add("body", self.body_out.as_deref(), None)?;
        Ok(outputs)
    }
}

/// Inputs as JSON.
struct Inputs {
    alloc: Value,
    env: Value,
    txs: Value,
    blob_params: Option<Value>,
}

impl Inputs {
    fn read(options: &Options) -> Result<Self> {
        let named = [("alloc", &options.alloc), ("env", &options.env), ("txs", &options.txs)];
        let mut given = Value::Null;
        if named.iter().any(|(_, file)| *file == STDIN) || options.blob_params.as_deref() == Some(STDIN) {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).context("standard input")?;
            given = documents::value(&bytes).map_err(|message| anyhow!("standard input: {message}"))?;
        }
        let one = |name: &str, file: &str| -> Result<Value> {
            if file == STDIN {
                // geth has transactions in RLP under a name of their own.
                let other = (name == "txs").then(|| given.get("txsRlp")).flatten();
                return given.get(name).or(other).cloned().with_context(|| format!("standard input has no {name:?}"));
            }
            let bytes = fs::read(file).with_context(|| format!("--input.{name} {file}"))?;
            documents::value(&bytes).map_err(|message| anyhow!("--input.{name} {file}: {message}"))
        };
        Ok(Self {
            alloc: one("alloc", &options.alloc)?,
            env: one("env", &options.env)?,
            txs: one("txs", &options.txs)?,
            blob_params: options.blob_params.as_deref().map(|file| one("blobParams", file)).transpose()?,
        })
    }
}
