//! `residue t8n`, the state transition tool as other clients have it: a state, what a block says and its transactions go in, the state after
//! it and what came of it go out. Names of files and of their fields are those of geth's `evm t8n`; the result is written as EELS writes it.

mod alloc;
mod env;
mod execute;
mod forks;
mod json;
mod result;
mod transactions;

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use residue_isa::Revision;
use serde_json::{Map, Value};

/// The name that stands for standard input and output.
const STDIN: &str = "stdin";
const STDOUT: &str = "stdout";

/// A state transition: a block's transactions executed on a state, under any fork and with the field instructions of any revision.
#[derive(Debug, Parser)]
#[command(
    name = "residue t8n",
    version,
    after_help = "Example:\n  residue t8n --state.fork Osaka --input.alloc alloc.json --input.env env.json --input.txs txs.json --output.result stdout"
)]
pub struct Options {
    /// The state before: accounts by address; or `stdin`, where an object has what is asked for there as `alloc`, `env` and `txs`.
    #[arg(long = "input.alloc", value_name = "FILE", default_value = "alloc.json")]
    alloc: String,
    /// What the block says.
    #[arg(long = "input.env", value_name = "FILE", default_value = "env.json")]
    env: String,
    /// Transactions: a list of objects, or a text of RLP.
    #[arg(long = "input.txs", value_name = "FILE", default_value = "txs.json")]
    txs: String,
    /// `target`, `max` and `baseFeeUpdateFraction` of blobs, where they are not the fork's.
    #[arg(long = "input.blobParams", value_name = "FILE")]
    blob_params: Option<String>,
    /// Where files that are written go.
    #[arg(long = "output.basedir", value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The state after, or `stdout`.
    #[arg(long = "output.alloc", value_name = "FILE", default_value = "alloc.json")]
    alloc_out: String,
    /// What came of the block, or `stdout`.
    #[arg(long = "output.result", value_name = "FILE", default_value = "result.json")]
    result_out: String,
    /// RLP of the transactions, or `stdout`.
    #[arg(long = "output.body", value_name = "FILE")]
    body_out: Option<String>,
    /// The chain id.
    #[arg(long = "state.chainid", default_value_t = 1)]
    chain_id: u64,
    /// The fork: Frontier, Homestead, EIP150, EIP158, Byzantium, ConstantinopleFix, Istanbul, Berlin, London, Paris, Shanghai, Cancun, Prague, Osaka,
    /// BPO1, BPO2.
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
    /// What they cost: the name of a schedule or a TOML file; the revision's own without it.
    #[arg(long, requires = "revision")]
    schedule: Option<String>,
    /// Put contracts in place of the precompiles of EIP-2537 and EIP-4844.
    #[arg(long, requires = "revision")]
    as_precompiles: bool,
}

impl Options {
    /// Carries the transition out.
    pub fn run(&self) -> Result<()> {
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
        let mut printed = Map::new();
        self.put(&mut printed, "alloc", &self.alloc_out, alloc.after(&done.changes).json())?;
        self.put(&mut printed, "result", &self.result_out, done.json(&fork, &env))?;
        if let Some(body) = &self.body_out {
            self.put(&mut printed, "body", body, transactions::body(&given))?;
        }
        if !printed.is_empty() {
            println!("{:#}", Value::Object(printed));
        }
        Ok(())
    }

    fn put(&self, printed: &mut Map<String, Value>, name: &str, to: &str, what: Value) -> Result<()> {
        if to == STDOUT {
            printed.insert(name.to_owned(), what);
            return Ok(());
        }
        let path = self.folder.join(to);
        fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&path, format!("{what:#}")))
            .with_context(|| format!("writing {}", path.display()))
    }
}

/// What is read, as JSON.
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
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("standard input")?;
            given = serde_json::from_str(&text).context("standard input")?;
        }
        let one = |name: &str, file: &str| -> Result<Value> {
            if file == STDIN {
                return given.get(name).cloned().with_context(|| format!("standard input has no {name:?}"));
            }
            let text = fs::read(file).with_context(|| format!("--input.{name} {file}"))?;
            serde_json::from_slice(&text).with_context(|| format!("--input.{name} {file}"))
        };
        Ok(Self {
            alloc: one("alloc", &options.alloc)?,
            env: one("env", &options.env)?,
            txs: one("txs", &options.txs)?,
            blob_params: options.blob_params.as_deref().map(|file| one("blobParams", file)).transpose()?,
        })
    }
}
