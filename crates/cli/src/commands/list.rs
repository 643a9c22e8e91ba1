//! `residue list`: the available choices.

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use residue_contracts::{CONTRACTS, PROOF_SYSTEMS};
use residue_engine::Fork;
use residue_isa::opcode::evm;
use residue_isa::{GasSchedule, OpcodeRow, Revision};
use residue_workbench::catalogue::{self, default_for, place_of_values};
use serde_json::{Map, Value};

use crate::options::DEFAULT_REVISION;
use crate::output;
use crate::tables::{COLUMNS, right, table};
use crate::verdict::Verdict;

/// Options of `list`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue list revisions
  residue list opcodes --revision evm384-v7 --json")]
pub struct ListArgs {
    /// The kind of things to list; everything without it.
    #[arg(value_enum)]
    pub what: Option<Listed>,
    /// With schedules and opcodes: only those of this revision.
    #[arg(long, value_name = "REVISION")]
    pub revision: Option<Revision>,
    /// With opcodes: the EVM's own too.
    #[arg(long)]
    pub evm: bool,
    /// With contracts and verifiers: what each takes and returns too.
    #[arg(long)]
    pub long: bool,
}

/// Kinds of things that `list` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// Interface revisions.
    Revisions,
    /// Gas schedules that come with the program.
    Schedules,
    /// Hard forks.
    Forks,
    /// Opcodes.
    Opcodes,
    /// Contracts.
    Contracts,
    /// Proof systems whose verifiers are made of a key.
    Verifiers,
}

const ALL: [Listed; 6] =
    [Listed::Revisions, Listed::Schedules, Listed::Forks, Listed::Opcodes, Listed::Contracts, Listed::Verifiers];

/// Lists.
pub fn list(args: &ListArgs, json: bool) -> Result<Verdict> {
    ensure_effect(args, json)?;
    let listed = args.what.map_or(ALL.to_vec(), |what| vec![what]);
    if json {
        let lists = listed.into_iter().map(|what| (key(what).to_owned(), to_json(what, args)));
        output::json(&Value::Object(lists.collect::<Map<_, _>>()))?;
    } else {
        let texts: Vec<String> = listed.into_iter().map(|what| to_text(what, args)).collect();
        output::result(&texts.join("\n\n"))?;
    }
    Ok(Verdict::Good)
}

/// Refuses options that change nothing of the list asked for.
fn ensure_effect(args: &ListArgs, json: bool) -> Result<()> {
    let options: [(&str, bool, &[Listed]); 3] = [
        ("--revision", args.revision.is_some(), &[Listed::Schedules, Listed::Opcodes]),
        ("--evm", args.evm, &[Listed::Opcodes]),
        ("--long", args.long, &[Listed::Contracts, Listed::Verifiers]),
    ];
    for (option, is_given, lists) in options {
        if let (true, Some(what)) = (is_given, args.what) {
            let names: Vec<&str> = lists.iter().map(|&list| key(list)).collect();
            ensure!(
                lists.contains(&what),
                "{option} has no effect on the list of {}: it is for {}",
                key(what),
                names.join(" and ")
            );
        }
    }
    ensure!(!(args.long && json), "--long has no effect with --json, which always says what each takes and returns");
    Ok(())
}

fn key(what: Listed) -> &'static str {
    match what {
        Listed::Revisions => "revisions",
        Listed::Schedules => "schedules",
        Listed::Forks => "forks",
        Listed::Opcodes => "opcodes",
        Listed::Contracts => "contracts",
        Listed::Verifiers => "verifiers",
    }
}

fn to_json(what: Listed, args: &ListArgs) -> Value {
    match what {
        Listed::Revisions => Revision::every().map(catalogue::revision).collect(),
        Listed::Schedules => schedules(args).iter().map(catalogue::schedule).collect(),
        Listed::Forks => Fork::ALL.into_iter().map(catalogue::fork).collect(),
        Listed::Opcodes => opcodes(args).map(|(revision, row)| catalogue::opcode(revision, row)).collect(),
        Listed::Contracts => CONTRACTS.iter().map(catalogue::contract).collect(),
        Listed::Verifiers => PROOF_SYSTEMS.iter().map(catalogue::proof_system).collect(),
    }
}

fn to_text(what: Listed, args: &ListArgs) -> String {
    match what {
        Listed::Revisions => {
            let mut rows = table(&["revision", "values", "schedule", "what it is"]);
            for revision in Revision::every() {
                let name = marked(revision.name(), revision == DEFAULT_REVISION);
                let values = place_of_values(revision);
                rows.add_row([&name, values, revision.default_schedule(), revision.summary()]);
            }
            rows.trim_fmt()
        }
        Listed::Schedules => {
            let mut rows = table(&["schedule", "for", "whose prices"]);
            for schedule in schedules(args) {
                let revisions: Vec<&str> = schedule.revisions().iter().map(|revision| revision.name()).collect();
                let name = marked(schedule.name(), !default_for(&schedule).is_empty());
                rows.add_row([&name, &revisions.join(", "), schedule.summary()]);
            }
            rows.trim_fmt()
        }
        Listed::Forks => {
            let mut rows = table(&["hard fork"]);
            for fork in Fork::ALL {
                rows.add_row([marked(fork.name(), fork == Fork::default())]);
            }
            rows.trim_fmt()
        }
        Listed::Opcodes => {
            let mut rows = table(&["byte", "mnemonic", "of", "immediate", "stack", "what it does"]);
            for (revision, row) in opcodes(args) {
                let prefix = revision.and_then(Revision::prefix).map_or(String::new(), |byte| format!("{byte:02x}"));
                rows.add_row(vec![
                    format!("0x{prefix}{:02x}", row.byte).into(),
                    row.mnemonic.into(),
                    revision.map_or("the EVM", Revision::name).into(),
                    right(row.immediate_bytes),
                    format!("{} → {}", row.pops, row.pushes).into(),
                    row.sentence.into(),
                ]);
            }
            rows.trim_fmt()
        }
        Listed::Contracts => {
            let rows = CONTRACTS.iter().map(|contract| [contract.name, contract.summary, contract.interface]);
            described("contract", rows, args)
        }
        Listed::Verifiers => {
            let rows = PROOF_SYSTEMS.iter().map(|system| [system.name, system.summary, system.interface]);
            described("verifier", rows, args)
        }
    }
}

/// A table of what has a name and takes calldata.
fn described(kind: &str, described: impl Iterator<Item = [&'static str; 3]>, args: &ListArgs) -> String {
    let mut headings = vec![kind, "what it computes"];
    headings.extend(args.long.then_some("input and output"));
    let mut rows = table(&headings);
    for [name, summary, interface] in described {
        let mut row = vec![name, summary];
        row.extend(args.long.then_some(interface));
        rows.add_row(row);
    }
    if rows.width().is_none() && !args.long {
        rows.set_width(COLUMNS);
    }
    rows.trim_fmt()
}

/// A name, with a star if it is a default.
fn marked(name: &str, is_default: bool) -> String {
    format!("{name}{}", if is_default { " *" } else { "" })
}

/// The schedules of the revision asked for, or of every revision, each once.
fn schedules(args: &ListArgs) -> Vec<GasSchedule> {
    catalogue::schedules(revisions(args))
}

/// The opcodes of the revision asked for, or of every revision; with `--evm` those of the EVM before them.
fn opcodes(args: &ListArgs) -> impl Iterator<Item = (Option<Revision>, &'static OpcodeRow)> {
    let own = revisions(args).flat_map(|revision| revision.opcodes().iter().map(move |row| (Some(revision), row)));
    let evm = if args.evm { evm::OPCODES } else { &[] };
    evm.iter().map(|row| (None, row)).chain(own)
}

fn revisions(args: &ListArgs) -> impl Iterator<Item = Revision> {
    let asked = args.revision;
    Revision::every().filter(move |&revision| asked.is_none_or(|asked| asked == revision))
}
