//! A chain to deploy on: our node where it is built beside the command, and anvil where it is on the path or `ANVIL` names it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use residue_deploy::rpc::Rpc;
use serde_json::Value;

use crate::{Ran, residue};

/// A development chain that runs while this lives.
pub struct Chain {
    process: Child,
    rpc: Rpc,
    /// URL at which it answers.
    pub url: String,
}

impl Chain {
    /// One of each program that is there. A test without any says so.
    pub fn each(options: &[&str]) -> Vec<Self> {
        let beside = Path::new(env!("CARGO_BIN_EXE_residue-deploy")).with_file_name("residue-node");
        let anvil = Self::anvil(&[&["--hardfork", "osaka"], options].concat());
        let chains: Vec<Self> = Self::start(&beside, options).into_iter().chain(anvil).collect();
        if chains.is_empty() {
            println!("skipped: neither residue-node (`cargo build -p residue-node`) nor anvil is there");
        }
        chains
    }

    /// anvil alone, of which there is none where it is not installed.
    pub fn anvil(options: &[&str]) -> Option<Self> {
        let program = std::env::var_os("ANVIL").map_or_else(|| PathBuf::from("anvil"), PathBuf::from);
        let chain = Self::start(&program, options);
        if chain.is_none() {
            println!("skipped: anvil is not there");
        }
        chain
    }

    fn start(program: &Path, options: &[&str]) -> Option<Self> {
        let mut command = Command::new(program);
        command.args(["--port", "0"]).args(options).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().ok()?;
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| Some(line.unwrap().strip_prefix("Listening on ")?.to_owned())).unwrap();
        // What else it says is read, so that it can be said.
        std::thread::spawn(move || lines.for_each(drop));
        let url = format!("http://{address}");
        Some(Self { process, rpc: Rpc::new(&url), url })
    }

    /// The result of a method.
    #[track_caller]
    pub fn ask(&self, method: &'static str, params: Value) -> Value {
        self.rpc.get(method, params).unwrap()
    }

    /// `residue deploy` of the contract to this chain.
    pub fn deploy(&self, contract: &str, more: &[&str]) -> Ran {
        residue(&[&["deploy", contract, "--json", "--rpc", &self.url], more].concat())
    }

    /// Transactions of the account.
    pub fn sent(&self, address: &str) -> Value {
        self.ask("eth_getTransactionCount", serde_json::json!([address, "pending"]))
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
