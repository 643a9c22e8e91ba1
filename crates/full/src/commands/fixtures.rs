//! `residue fixtures`: tests of every field instruction and every contract of a revision, for implementations of others.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use residue_fixtures::{FixtureError, Format, Made, Planned, Suite};
use residue_isa::Revision;
use residue_isa::nearest;
use residue_workbench::parallel::in_parallel;
use serde_json::json;

use residue_command::options::DEFAULT_REVISION;
use residue_command::verdict::Verdict;
use residue_command::{input, output, waiting};

/// Random programs at most, ten thousand files.
const PROGRAMS_MAX: u64 = 1_000_000;

/// Options of `fixtures`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue fixtures --list
  residue fixtures --only instructions/mulmodx --out mulmodx
  residue fixtures --ladder --out ladder
  residue fixtures --random 100 --seed 7 --revision evmmax-next --out random
  residue fixtures --revision evm384-v7 --only frames,bls12_381/fp2_mul --out evm384-v7-tests
  residue statetest mulmodx --revision eip6690-2024")]
pub struct FixturesArgs {
    /// The interface revision.
    #[arg(long, value_name = "REVISION", default_value_t = DEFAULT_REVISION)]
    pub revision: Revision,
    /// A folder for the files, which must be new or empty.
    #[arg(long, value_name = "DIR", required_unless_present = "list", value_parser = output::directory())]
    pub out: Option<PathBuf>,
    /// Only files whose name contains one of these.
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Only files of this format; of every one without it.
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub format: Option<Format>,
    /// The first hundred tests for who begins instead, in rising difficulty.
    #[arg(long, conflicts_with_all = ["list", "only", "format", "random"])]
    pub ladder: bool,
    /// So many random programs instead, those of `check engine`.
    #[arg(long, value_name = "N", conflicts_with = "list", value_parser = programs, allow_hyphen_values = true)]
    pub random: Option<u64>,
    /// The seed of the first random program; the others follow by one.
    #[arg(
        long,
        value_name = "SEED",
        requires = "random",
        default_value = "1",
        value_parser = input::number,
        allow_hyphen_values = true
    )]
    pub seed: u64,
    /// Print the names of the files and make none.
    #[arg(long, conflicts_with = "out")]
    pub list: bool,
}

/// Result for a planned file.
enum Became {
    Made(Made),
    /// There is nothing to be in it, and why.
    Empty(String),
}

/// A format by its name.
fn format() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.map(Format::name);
    PossibleValuesParser::new(names)
        .map(|name| Format::ALL.into_iter().find(|format| format.name() == name).unwrap_or(Format::State))
}

/// A number of programs.
fn programs(text: &str) -> Result<u64> {
    let programs = input::number(text)?;
    ensure!((1..=PROGRAMS_MAX).contains(&programs), "{programs} is not 1 to {PROGRAMS_MAX} programs");
    Ok(programs)
}

/// Makes the files.
pub fn fixtures(args: &FixturesArgs, json: bool) -> Result<Verdict> {
    let suite = Suite::new(args.revision)?;
    let wanted = |planned: &Planned| {
        let name = planned.name();
        let is_named = args.only.is_empty() || args.only.iter().any(|only| name.contains(only));
        is_named && args.format.is_none_or(|format| format == planned.format())
    };
    let all = args.random.map_or_else(|| suite.files(), |programs| suite.random(args.seed, programs));
    let planned: Vec<Planned> = all.into_iter().filter(wanted).collect();
    ensure!(
        !planned.is_empty() || !args.only.is_empty(),
        "random programs are state_test and blockchain_test, and there are none as {}",
        args.format.map_or("", Format::name)
    );
    ensure!(
        !planned.is_empty(),
        "no file of {} has {} in its name{}; `residue fixtures --list --revision {0}` lists them all",
        args.revision,
        args.only.join(" or "),
        near(&args.only, &suite)
    );
    let Some(out) = &args.out else {
        return list(&planned, json);
    };
    ensure_free(out)?;
    let partial = partial_name(out)?;
    fs::create_dir_all(&partial).with_context(|| format!("making {}", partial.display()))?;
    let (names, made) = if args.ladder {
        match write_ladder(&suite, &partial) {
            Ok(Ok(rungs)) => {
                let (names, made) = rungs.into_iter().unzip();
                (names, Ok(Ok(made)))
            }
            Ok(Err(disagreement)) => (Vec::new(), Ok(Err(disagreement))),
            Err(error) => (Vec::new(), Err(error)),
        }
    } else {
        (planned.iter().map(Planned::name).collect(), make(&suite, &planned, &partial))
    };
    let made = match made {
        Ok(Ok(made)) => made,
        Ok(Err(disagreement)) => {
            let _ = fs::remove_dir_all(&partial); // The error to report is the first one.
            output::message("error", &disagreement.to_string());
            if json {
                output::json(&json!({ "success": false, "error": disagreement.to_string() }))?;
            }
            return Ok(Verdict::Bad);
        }
        Err(error) => {
            let _ = fs::remove_dir_all(&partial);
            return Err(error);
        }
    };
    if out.exists() {
        fs::remove_dir(out).with_context(|| format!("{} is not empty any more", out.display()))?;
    }
    fs::rename(&partial, out).with_context(|| format!("moving the files to {}", out.display()))?;
    tell(args, out, &names, &made, json)?;
    Ok(Verdict::Good)
}

/// The names that are nearest to what was asked for.
fn near(only: &[String], suite: &Suite) -> String {
    let known: Vec<String> = suite.files().iter().map(Planned::name).collect();
    let part = |name: &'_ String| name.rsplit('/').next().unwrap_or_default().to_owned();
    let parts: Vec<String> = known.iter().map(part).collect();
    let near: Vec<&str> = only.iter().flat_map(|only| nearest(only, parts.iter().map(String::as_str))).collect();
    let near: Vec<&str> = known
        .iter()
        .zip(&parts)
        .filter(|(_, part)| near.contains(&part.as_str()))
        .map(|(name, _)| name.as_str())
        .collect();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

fn list(planned: &[Planned], json: bool) -> Result<Verdict> {
    let names: Vec<String> = planned.iter().map(Planned::name).collect();
    if json {
        output::json(&json!({ "files": names }))?;
    } else {
        output::result(&names.join("\n"))?;
    }
    Ok(Verdict::Good)
}

/// Makes and writes all files; what became of each, or where engine and specification differ.
fn make(suite: &Suite, planned: &[Planned], folder: &Path) -> Result<Result<Vec<Became>, FixtureError>> {
    let bar = waiting::bar(planned.len() as u64, "{msg:<40} {wide_bar} {pos}/{len}"); // style: S11: widens
    let made = in_parallel(planned, |planned| -> Result<Result<Became, FixtureError>> {
        let name = planned.name();
        bar.set_message(name.clone());
        let made = suite.make(planned);
        bar.inc(1);
        match made {
            Ok(Ok(made)) => Ok(Ok(write(&name, made, folder)?)),
            Ok(Err(reason)) => Ok(Ok(Became::Empty(reason))),
            Err(error @ FixtureError::Disagreement { .. }) => Ok(Err(error)),
            Err(error) => Err(error).context(name),
        }
    });
    bar.finish_and_clear();
    made.into_iter().collect::<Result<Vec<_>>>().map(|made| made.into_iter().collect())
}

/// Writes a file.
fn write(name: &str, made: Made, folder: &Path) -> Result<Became> {
    let path = folder.join(format!("{name}.json"));
    let parent = path.parent().unwrap_or(folder);
    fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
    output::file(&path, made.text.as_bytes())?;
    Ok(Became::Made(Made { text: String::new(), ..made }))
}

/// Writes the rungs of the ladder, with their names.
fn write_ladder(suite: &Suite, folder: &Path) -> Result<Result<Vec<(String, Became)>, FixtureError>> {
    let rungs = match suite.ladder() {
        Ok(rungs) => rungs,
        Err(error @ FixtureError::Disagreement { .. }) => return Ok(Err(error)),
        Err(error) => return Err(error.into()),
    };
    let write = |(name, made): (String, Made)| Ok((name.clone(), write(&name, made, folder)?));
    rungs.into_iter().map(write).collect::<Result<Vec<_>>>().map(Ok)
}

/// Says what was made.
fn tell(args: &FixturesArgs, out: &Path, names: &[String], all: &[Became], json: bool) -> Result<()> {
    let made = || {
        all.iter().filter_map(|became| match became {
            Became::Made(made) => Some(made),
            Became::Empty(_) => None,
        })
    };
    let sum = |of: fn(&Made) -> u64| made().map(of).sum::<u64>();
    let (tests, by_engine) = (sum(|made| made.tests), sum(|made| made.by_engine));
    let left_out: Vec<(String, String)> = names
        .iter()
        .zip(all)
        .flat_map(|(name, became)| {
            let reasons = match became {
                Became::Made(made) => made.left_out.clone(),
                Became::Empty(reason) => vec![reason.clone()],
            };
            reasons.into_iter().map(|reason| (name.clone(), reason))
        })
        .collect();
    if json {
        let left_out: Vec<_> = left_out.iter().map(|(file, why)| json!({ "file": file, "why": why })).collect();
        return output::json(&json!({
            "success": true,
            "revision": args.revision.name(),
            "out": out.to_string_lossy(),
            "files": made().count(),
            "tests": tests,
            "expected_by_engine": by_engine,
            "left_out": left_out,
        }));
    }
    let mut text = format!(
        "{} files with {tests} tests for {} in {}; the engine agrees with all of them",
        made().count(),
        args.revision,
        out.display()
    );
    if by_engine > 0 {
        text += &format!("\n{by_engine} tests call other contracts: what they expect is said by the engine alone");
    }
    for (file, why) in &left_out {
        text += &format!("\nleft out of {file}: {why}");
    }
    output::result(&text)
}

/// A folder that is not there, or that has nothing in it.
fn ensure_free(out: &Path) -> Result<()> {
    match fs::read_dir(out) {
        Ok(mut entries) => ensure!(entries.next().is_none(), "{} is not empty", out.display()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("opening {}", out.display())),
    }
    Ok(())
}

/// The name under which files are written until all are there.
fn partial_name(out: &Path) -> Result<PathBuf> {
    let name = out.file_name().with_context(|| format!("{} is not the name of a folder", out.display()))?;
    Ok(out.with_file_name(format!(".{}.{}.partial", name.to_string_lossy(), std::process::id())))
}
