//! `residue build`: from a contract to code.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use residue_compiler::{Compiled, compile};
use residue_contracts::{CONTRACTS, Contract};
use residue_isa::GasSchedule;
use serde_json::{Map, Value, json};

use super::Verdict;
use crate::args::BuildArgs;
use crate::formulas::Formulas;
use crate::output;
use crate::tables::{grouped, right, table};

/// The most code that an account may have: EIP-170, `MAX_CODE_SIZE`.
const CODE_BYTES_MAINNET: usize = 24_576;

/// A contract that has been compiled, and where its code was written.
struct Built {
    contract: &'static Contract,
    schedule: String,
    f2mul: Option<u32>,
    compiled: Compiled,
    path: Option<PathBuf>,
}

/// Compiles one contract or all.
pub fn build(args: &BuildArgs, json: bool) -> Result<Verdict> {
    let schedule = args.rules.schedule()?;
    if args.contract == "all" {
        let built = CONTRACTS.iter().map(|contract| {
            let path = args.output.as_ref().map(|directory| directory.join(format!("{}.hex", contract.name)));
            build_one(contract, &args.formulas.where_possible(contract), &schedule, args, path)
        });
        let built = built.collect::<Result<Vec<_>>>()?;
        if json {
            output::json(&json!({ "contracts": built.iter().map(to_json).collect::<Vec<_>>() }))?;
        } else {
            output::result(&to_text(&built))?;
        }
        return Ok(Verdict::Good);
    }
    let contract = residue_contracts::find(&args.contract).ok_or_else(|| unknown(&args.contract))?;
    let built = build_one(contract, &args.formulas, &schedule, args, args.output.clone())?;
    if json {
        output::json(&to_json(&built))?;
    } else if built.path.is_some() {
        output::result(&to_text(&[built]))?;
    } else {
        output::result(&output::hex(&built.compiled.code))?;
    }
    Ok(Verdict::Good)
}

fn build_one(
    contract: &'static Contract,
    formulas: &Formulas,
    schedule: &GasSchedule,
    args: &BuildArgs,
    path: Option<PathBuf>,
) -> Result<Built> {
    let revision = args.rules.revision;
    let (program, f2mul) = formulas.program(contract, revision, schedule)?;
    let compiled = compile(&program, revision, schedule);
    let compiled = compiled.with_context(|| format!("compiling {} for {revision}", contract.name))?;
    if let Some(path) = &path {
        make_directory_of(path, args)?;
        output::code_file(path, &compiled.code)?;
    }
    Ok(Built { contract, schedule: schedule.name().to_owned(), f2mul, compiled, path })
}

/// With `all`, a contract's name has directories of its own below the one asked for.
fn make_directory_of(path: &Path, args: &BuildArgs) -> Result<()> {
    match path.parent() {
        Some(directory) if args.contract == "all" => {
            fs::create_dir_all(directory).with_context(|| format!("making the directory {}", directory.display()))
        }
        _ => Ok(()),
    }
}

fn unknown(name: &str) -> anyhow::Error {
    let known: Vec<&str> = CONTRACTS.iter().map(|contract| contract.name).collect();
    anyhow!("unknown contract {name:?}; known are {}, all", known.join(", "))
}

fn to_json(Built { contract, schedule, f2mul, compiled, path }: &Built) -> Value {
    let functions = compiled.source_map.functions().map(|(name, range)| (name.to_owned(), range.len().into()));
    json!({
        "contract": contract.name,
        "revision": compiled.revision.name(),
        "schedule": schedule,
        "f2mul": f2mul,
        "code": output::hex(&compiled.code),
        "code_bytes": compiled.code.len(),
        "fits_24_kib": compiled.code.len() <= CODE_BYTES_MAINNET,
        "slots": compiled.slots,
        "memory_bytes": compiled.memory_bytes,
        "field_instructions": compiled.field_instructions,
        "operations": compiled.operations,
        "functions": functions.collect::<Map<_, _>>(),
        "path": path.as_deref().map(Path::to_string_lossy),
    })
}

fn to_text(built: &[Built]) -> String {
    let mut rows =
        table(&["contract", "revision", "code bytes", "24 KiB", "slots", "memory bytes", "field instructions", ""]);
    for Built { contract, compiled, path, .. } in built {
        let fits = if compiled.code.len() <= CODE_BYTES_MAINNET { "fits" } else { "too long" };
        let path = path.as_ref().map_or(String::new(), |path| path.display().to_string());
        rows.add_row(vec![
            contract.name.into(),
            compiled.revision.name().into(),
            right(grouped(compiled.code.len() as u64)),
            fits.into(),
            right(compiled.slots),
            right(grouped(u64::from(compiled.memory_bytes))),
            right(grouped(compiled.field_instructions as u64)),
            path.into(),
        ]);
    }
    rows.trim_fmt()
}
