//! `residue lab`: measure opcodes, derive prices, show and attack them.

mod attack;
mod design;
mod figures;
mod measure;
mod price;
mod report;
mod tables;

use anyhow::Result;
use clap::{Args, Subcommand};

use residue_command::verdict::Verdict;

/// Options of `lab`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab measure --quick --record records
  residue lab price --published --model a
  residue lab price RECORD.csv --revision eip6690-2024 --model fit --output fit.toml")]
pub struct LabArgs {
    /// The task.
    #[command(subcommand)]
    command: LabCommand,
}

/// The commands of the lab.
#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Measure every opcode of the EVM and of every revision.
    Measure(measure::MeasureArgs),
    /// Derive a gas schedule from a record.
    Price(price::PriceArgs),
    /// Run the published programs and show the published figures beside them.
    Figures(figures::FiguresArgs),
    /// Write a report from records alone.
    Report(report::ReportArgs),
    /// Show the tables of the baselines, or write them into their page, from records alone.
    Baselines(tables::BaselinesArgs),
    /// Show the table of the precompiles that contracts replace, or write it and its figure, from records alone.
    Evidence(tables::EvidenceArgs),
    /// Show the table of what evmmax-next was to reach with its times, or write it, from records alone.
    Goals(tables::GoalsArgs),
    /// Compare instructions over all contracts: each alone, greedily added, and the Pareto front.
    Design(design::DesignArgs),
    /// Search for code that takes longest for its gas.
    Attack(attack::AttackArgs),
}

/// Carries out a command of the lab.
pub fn lab(args: &LabArgs, json: bool) -> Result<Verdict> {
    match &args.command {
        LabCommand::Measure(args) => measure::measure(args, json),
        LabCommand::Price(args) => price::price(args, json),
        LabCommand::Figures(args) => figures::figures(args, json),
        LabCommand::Report(args) => report::report(args, json),
        LabCommand::Baselines(args) => tables::baselines(args, json),
        LabCommand::Evidence(args) => tables::evidence(args, json),
        LabCommand::Goals(args) => tables::goals(args, json),
        LabCommand::Design(args) => design::design(args, json),
        LabCommand::Attack(args) => attack::attack(args, json),
    }
}
