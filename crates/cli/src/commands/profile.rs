//! `residue profile`: where the gas and the time of a contract go, by function and by named stretch of its text.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use residue_engine::{Engine, EngineConfig};
use residue_workbench::Machine;
use residue_workbench::harness::on_one_core;
use residue_workbench::inspect::flame::flame_graph;
use residue_workbench::inspect::profile::{Measure, Profile, profile as measure};
use residue_workbench::statistics::whole_ns;

use crate::formulas::Formulas;
use crate::options::{CodeRules, Rules};
use crate::output::Target;
use crate::subject::{Chosen, KeyOptions, ProofOptions, Subject, given_or_example};
use crate::tables::{duration, grouped, percent, right, table};
use crate::takers::{Kind, Reads};
use crate::verdict::Verdict;
use crate::{input, output};

/// Executions that times are medians of.
const ROUNDS: usize = 51;

/// Options of `profile`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue profile bls12_381/pairing --no-time
  residue profile bls12_381/fp2_mul --revision evm384-v7 --json
  residue profile examples/ir/point_multiple.ir --input @examples/ir/point_multiple.hex --no-time
  residue profile bls12_381/pairing --by time --svg pairing.svg")]
pub struct ProfileArgs {
    /// A contract of `residue list contracts`, or a file of a program whose name ends in .ir; - for a program on standard input.
    pub contract: String,
    /// The interface and its prices.
    #[command(flatten)]
    pub rules: Rules,
    /// For a verifier: its key.
    #[command(flatten)]
    pub key: KeyOptions,
    /// For a verifier: a proof.
    #[command(flatten)]
    pub proof: ProofOptions,
    /// With a contract: its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// With what is compiled: which engines it is for.
    #[command(flatten)]
    pub code: CodeRules,
    /// Gas for the frame.
    #[arg(long, value_name = "GAS", default_value = "1000000000", value_parser = input::number, allow_hyphen_values = true)]
    pub gas: u64,
    /// Calldata: hexadecimal, or a file of it (raw bytes if the name ends in .bin). The contract's example without it.
    #[arg(long, value_name = "HEX|@FILE", allow_hyphen_values = true, conflicts_with = "proof")]
    pub input: Option<String>,
    /// Write a flame graph to this file, as SVG; - for standard output, in place of the table.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<Target>,
    /// With --svg: what the widths of the flame graph are, gas without it.
    #[arg(long, value_enum, requires = "svg")]
    pub by: Option<By>,
    /// Skip timing.
    #[arg(long)]
    pub no_time: bool,
}

/// Unit of the widths of a flame graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Gas.
    Gas,
    /// Time.
    Time,
}

/// Profiles the contract.
pub fn profile(args: &ProfileArgs, json: bool) -> Result<Verdict> {
    let by = args.by.unwrap_or(By::Gas);
    if args.no_time && by == By::Time {
        bail!("--by time needs times, and --no-time skips them");
    }
    let revision = args.rules.interface.revision;
    let schedule = args.rules.interface.schedule()?;
    let calldata = |contract: Option<&Chosen>| given_or_example(args.input.as_deref(), &args.proof, contract);
    let kind = Kind::of(&args.contract, &args.key, Reads::Programs)?;
    kind.ensure_takes(&args.contract, &[&args.key.given(), &args.proof.given(), &args.formulas.given()])?;
    let Subject { name: subject, code, source_map, calldata, .. } = Subject::new(
        kind,
        (&args.contract, &args.key),
        (&args.formulas, args.code, args.rules.fork),
        revision,
        &schedule,
        calldata,
    )?;
    let Some(map) = source_map else {
        bail!(
            "{:?} is a file: code without its program has no functions; `residue list contracts` has contracts",
            args.contract
        );
    };
    let name = schedule.name().to_owned();
    let engine = Engine::new(EngineConfig { fork: args.rules.fork, ..EngineConfig::new(revision, schedule) })?;
    let rounds = if args.no_time { 0 } else { ROUNDS };
    let (profile, outcome) = on_one_core(|_| measure(&engine, &code, &map, &calldata, args.gas, rounds))?;
    if let Some(target) = &args.svg {
        let measure = if by == By::Gas { Measure::Gas } else { Measure::Time };
        let title = format!("{subject} under {revision}, schedule {name}");
        target.write("--svg", &flame_graph(&profile, &title, measure), json)?;
    }
    if json {
        let mut object = residue_workbench::report::profile(&profile);
        object["success"] = outcome.is_success().into();
        object["halt"] = outcome.halt.name().into();
        object["contract"] = subject.as_str().into();
        object["revision"] = revision.name().into();
        object["schedule"] = name.into();
        object["machine"] = Machine::this().to_json();
        output::json(&object)?;
    } else if !args.svg.as_ref().is_some_and(Target::is_stdout) {
        output::result(&to_text(&profile))?;
    }
    if !outcome.is_success() {
        output::message("error", &format!("{subject} ended with {}", outcome.halt.name()));
    }
    Ok(Verdict::of(outcome.is_success()))
}

fn to_text(profile: &Profile) -> String {
    let timed = profile.time_ns.is_some();
    let mut headings = vec!["function or stretch", "calls", "own gas", "", "gas with callees", ""];
    if timed {
        headings.extend(["own time", "time with callees", ""]);
    }
    let spent_ns: f64 = profile.nodes.iter().map(|node| node.time_ns).sum();
    let mut rows = table(&headings);
    for line in profile.by_name() {
        let mut cells = vec![
            line.name.into(),
            right(grouped(line.calls)),
            right(grouped(line.gas)),
            right(percent(line.gas, profile.gas_used)),
            right(grouped(line.gas_with_callees)),
            right(percent(line.gas_with_callees, profile.gas_used)),
        ];
        if timed {
            let callees_ns = line.time_with_callees_ns;
            cells.push(right(duration(whole_ns(line.time_ns))));
            cells.push(right(duration(whole_ns(callees_ns))));
            cells.push(right(percent(whole_ns(callees_ns), whole_ns(spent_ns))));
        }
        rows.add_row(cells);
    }
    let mut text = rows.trim_fmt();
    if let Some(time_ns) = profile.time_ns {
        text.push_str(&format!(
            "\n\nan execution takes {}; the segments between jump targets add up to {}, and what shares a segment shares\n\
             its time by gas",
            duration(whole_ns(time_ns)),
            duration(whole_ns(spent_ns))
        ));
    }
    text
}
