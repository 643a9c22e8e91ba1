//! Contracts of ours on chains of others: `residue deploy` and `residue verify`, over the JSON-RPC of a node.
//!
//! [`rpc`] asks the node, [`account`] pays and signs, [`deploy`] and [`verify`] are the commands. All that can be asked before a transaction is
//! sent is asked before, so that there is one or none; an account that has the code already is left alone.

#![forbid(unsafe_code)]

pub mod account;
pub mod deploy;
pub mod rpc;
pub mod verify;

use anyhow::Result;
use clap::{Parser, Subcommand};
use residue_command::verdict::Verdict;

/// Contracts on chains.
#[derive(Debug, Parser)]
#[command(name = "residue", bin_name = "residue", version, after_help = "Example:\n  residue help deploy")]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Print one JSON object on stdout.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Command to carry out.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Deploy a contract to its address on a chain, unless it is there.
    Deploy(Box<deploy::DeployArgs>),
    /// Say which contract has the code of an account.
    Verify(Box<verify::VerifyArgs>),
}

/// Carries out a command.
pub fn run(cli: Cli) -> Result<Verdict> {
    match cli.command {
        Command::Deploy(args) => deploy::deploy(&args, cli.json),
        Command::Verify(args) => verify::verify(&args, cli.json),
    }
}
