//! `residue lab price`: a gas schedule from a record, with its residuals and its sensitivity.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, ensure};
use clap::Args;
use residue_isa::{Revision, UnknownName};
use residue_lab::Record;
use residue_lab::price::{ANCHOR_NS, Model, Priced, Residual, Runtimes, Sensitivity, sensitivity};
use serde_json::{Value, json};

use residue_command::options::DEFAULT_REVISION;
use residue_command::output::{self, Target};
use residue_command::tables::{right, table};
use residue_command::verdict::Verdict;

/// Options of `lab price`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab price --published --model a
  residue lab price records/MACHINE/DATE-opcodes.csv --revision evm384-v7 --model b --output mine.toml
  residue run bls12_381/fp2_mul --example --revision evm384-v7 --schedule mine.toml")]
pub struct PriceArgs {
    /// A record of `residue lab measure`.
    #[arg(required_unless_present = "published")]
    pub record: Option<PathBuf>,
    /// The published runtimes of EVM384 version 7 instead of a record.
    #[arg(long, conflicts_with_all = ["record", "revision"])]
    pub published: bool,
    /// The revision to price.
    #[arg(long, value_name = "REVISION", default_value_t = DEFAULT_REVISION)]
    pub revision: Revision,
    /// a: base and operation; b: relative to KECCAK256; time: at the anchor; particle: in thousandths; fit: by width.
    #[arg(long, value_name = "MODEL", default_value = "time", value_parser = model)]
    pub model: Model,
    /// Nanoseconds that a gas stands for, 10 without it. Model b goes by its pivot.
    #[arg(long, value_name = "NS", value_parser = anchor, allow_hyphen_values = true)]
    pub anchor: Option<f64>,
    /// With model b: what prices are relative to, such as KECCAK256/192/5000 or MULMOD; KECCAK256 where it prices highest
    /// without it.
    #[arg(long, value_name = "NAME")]
    pub pivot: Option<String>,
    /// Write the schedule to this file, for --schedule of other commands; - for standard output, in place of the tables.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<Target>,
}

/// Derives the schedule.
pub fn price(args: &PriceArgs, json: bool) -> Result<Verdict> {
    ensure!(
        args.anchor.is_none() || args.model != Model::B,
        "--anchor has no effect with model b, whose prices are relative to --pivot"
    );
    let runtimes = runtimes(args)?;
    if let Some(pivot) = &args.pivot {
        ensure!(args.model == Model::B, "--pivot is for model b, not for model {}", args.model.name());
        if runtimes.pivot(Some(pivot)).is_none() {
            let known = runtimes.pivots.iter().map(|pivot| pivot.name.as_str());
            return Err(UnknownName::new("pivot", pivot, known).into());
        }
    }
    let priced = args.model.apply(&runtimes, args.anchor.unwrap_or(ANCHOR_NS), args.pivot.as_deref())?;
    let choices = sensitivity(&runtimes);
    let toml = priced.schedule.to_toml();
    if let Some(target) = &args.output {
        target.write("--output", &toml, json)?;
        if target.is_stdout() {
            return Ok(Verdict::Good);
        }
        output::message("note", &format!("the schedule is in {target}"));
    }
    if json {
        output::json(&to_json(&priced, &choices, &toml))?;
    } else {
        output::result(&to_text(&priced, &choices, &toml))?;
    }
    Ok(Verdict::Good)
}

fn runtimes(args: &PriceArgs) -> Result<Runtimes> {
    if args.published {
        return Ok(Runtimes::published());
    }
    let path: &Path = args.record.as_deref().ok_or_else(|| anyhow!("a record is needed, or --published"))?;
    let record = Record::read(path)?;
    let group = residue_lab::opcodes::GROUP;
    ensure!(
        record.group == group,
        "{}: it is a record of {:?}, and prices need one of {group:?}, made by `residue lab measure`",
        path.display(),
        record.group
    );
    Ok(Runtimes::of(&record, args.revision))
}

fn model(text: &str) -> Result<Model> {
    Ok(text.parse()?)
}

fn anchor(text: &str) -> Result<f64> {
    let anchor_ns: f64 = text.parse().map_err(|_| anyhow!("{text:?} is no number of nanoseconds"))?;
    ensure!(anchor_ns.is_finite() && (0.001..=1e6).contains(&anchor_ns), "{text} is not between 0.001 and 1000000");
    Ok(anchor_ns)
}

fn to_text(priced: &Priced, choices: &Sensitivity, toml: &str) -> String {
    let mut rows = table(&["opcode", "width", "worst class", "time ns", "price", "paid ns", "time / paid"]);
    for residual in &priced.residuals {
        rows.add_row(vec![
            residual.mnemonic.as_str().into(),
            right(residual.width_bits),
            residual.class.as_str().into(),
            right(format!("{:.1}", residual.time_ns)),
            right(residual.price),
            right(format!("{:.1}", residual.paid_ns)),
            right(format!("{:.2}", residual.time_ns / residual.paid_ns)),
        ]);
    }
    let mut parts = vec![toml.to_owned(), rows.trim_fmt()];
    parts.extend(priced.worst().map(|worst| format!("\nworst case: {}", worst_text(worst))));
    for (operation, fit) in &priced.fits {
        let terms: Vec<String> = fit.coefficients.iter().map(|coefficient| format!("{coefficient:.3}")).collect();
        parts.push(format!(
            "{operation}: coefficients {} ns by limbs, R² {:.4}, at most {:.1} ns above at {} limbs",
            terms.join(", "),
            fit.r_squared,
            fit.worst.1,
            fit.worst.0
        ));
    }
    if !priced.kept.is_empty() {
        parts.push(format!("as in the revision's own schedule, without times: {}", priced.kept.join(", ")));
    }
    let headings: Vec<&str> =
        ["price before rounding"].into_iter().chain(choices.choices.iter().map(|(name, _)| name.as_str())).collect();
    let mut rows = table(&headings);
    rows.add_row(
        ["ns per gas".into()]
            .into_iter()
            .chain(choices.choices.iter().map(|(_, ns)| right(format!("{ns:.1}"))))
            .collect::<Vec<_>>(),
    );
    for (name, prices) in &choices.lines {
        rows.add_row([name.as_str().into()].into_iter().chain(prices.iter().map(right)).collect::<Vec<_>>());
    }
    parts.extend([String::new(), rows.trim_fmt()]);
    parts.join("\n")
}

fn worst_text(worst: &Residual) -> String {
    format!(
        "{} over {} bits with operands {}: {:.1} ns for {} gas, {:.2} times what is paid",
        worst.mnemonic,
        worst.width_bits,
        worst.class,
        worst.time_ns,
        worst.price,
        worst.time_ns / worst.paid_ns
    )
}

fn to_json(priced: &Priced, choices: &Sensitivity, toml: &str) -> Value {
    let residual = |residual: &Residual| {
        json!({
            "opcode": residual.mnemonic,
            "width_bits": residual.width_bits,
            "class": residual.class,
            "time_ns": residual.time_ns,
            "price": residual.price.to_string(),
            "paid_ns": residual.paid_ns,
        })
    };
    let fits = priced.fits.iter().map(|(operation, fit)| {
        json!({
            "operation": operation.to_string(),
            "coefficients_ns": fit.coefficients,
            "r_squared": fit.r_squared,
            "worst": { "width_limbs": fit.worst.0, "above_ns": fit.worst.1 },
        })
    });
    let names: Vec<Value> =
        choices.choices.iter().map(|(name, ns)| json!({ "name": name, "ns_per_gas": ns })).collect();
    let lines = choices.lines.iter().map(|(name, prices)| json!({ "opcode": name, "prices": prices }));
    json!({
        "schedule": priced.schedule.name(),
        "toml": toml,
        "ns_per_gas": priced.ns_per_gas,
        "residuals": priced.residuals.iter().map(residual).collect::<Vec<_>>(),
        "worst": priced.worst().map(residual),
        "fits": fits.collect::<Vec<_>>(),
        "kept": priced.kept,
        "sensitivity": { "choices": names, "lines": lines.collect::<Vec<_>>() },
    })
}
