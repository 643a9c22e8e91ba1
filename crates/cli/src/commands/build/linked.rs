//! `residue build --linked`: a contract's own code and its stages, each in a file of its own.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use residue_workbench::formats::{Artifact, solidity_of_linked};
use serde_json::Value;

use super::BuildArgs;
use crate::deployable::{Deployable, DeployableOptions};
use crate::formats::Format;
use crate::output;
use crate::tables::{grouped, right, table};
use crate::verdict::Verdict;

/// Compiles the contract in linked form; accounts of the fork hold each code.
pub fn build(args: &BuildArgs, json: bool) -> Result<Verdict> {
    let options = DeployableOptions {
        revision: args.rules.revision,
        schedule: args.rules.schedule.clone(),
        fork: args.fork,
        key: args.key.clone(),
        formulas: args.formulas,
        code: args.code,
        linked: true,
        salt: None,
    };
    let main = options.compiled(&args.contract)?;
    let format = args.format();
    if let Some(path) = args.path() {
        write(&main, format, path)?;
    }
    if json {
        ensure!(
            args.format.is_none() || args.path().is_some(),
            "--linked with --json and --format needs --output: the object has place for one code"
        );
        output::json(&to_json(&main, args.path()))?;
    } else if args.path().is_some() {
        output::result(&to_text(&main, args.path()))?;
    } else {
        print(&main, format)?;
    }
    Ok(Verdict::Good)
}

/// Every code, the contract's own first, with the file that it goes to.
fn parts<'a>(main: &'a Deployable, path: &'a Path) -> impl Iterator<Item = (&'a Deployable, PathBuf)> {
    let stages = main.stages.iter().map(|stage| (stage, beside(path, stage.stage_name())));
    std::iter::once((main, path.to_owned())).chain(stages)
}

/// The file of a stage: `x.hex` is `x.limbs-5.hex` for `limbs-5`.
fn beside(path: &Path, stage: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(match name.split_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem}.{stage}.{ending}"),
        _ => format!("{name}.{stage}"),
    })
}

fn write(main: &Deployable, format: Format, path: &Path) -> Result<()> {
    match format {
        Format::Solidity => output::file(path, solidity(main)?.as_bytes()),
        Format::Json => output::file(path, format!("{}\n", artifact_json(main)?).as_bytes()),
        _ => parts(main, path).try_for_each(|(part, path)| format.write(&part.artifact(), &path)),
    }
}

fn print(main: &Deployable, format: Format) -> Result<()> {
    match format {
        Format::Solidity => output::result(&solidity(main)?),
        Format::Json => output::result(&artifact_json(main)?.to_string()),
        _ => {
            format.print(&main.artifact())?;
            let stages = main.stages.iter().map(|stage| format!("{} at {}", stage.stage_name(), stage.address()));
            let stages = stages.collect::<Vec<_>>().join(", ");
            output::message("note", &format!("--output FILE writes the code of its stages too: {stages}"));
            Ok(())
        }
    }
}

fn solidity(main: &Deployable) -> Result<String> {
    let stages: Vec<Artifact<'_>> = main.stages.iter().map(Deployable::artifact).collect();
    Ok(solidity_of_linked(&main.artifact(), &stages)?)
}

/// The artifact of the contract's own code, and in it those of its stages, each with its address.
fn artifact_json(main: &Deployable) -> Result<Value> {
    let with_address = |part: &Deployable| -> Result<Value> {
        let mut object = part.artifact().json()?;
        object["address"] = part.address().to_checksum(None).into();
        Ok(object)
    };
    let mut object = with_address(main)?;
    object["stages"] = main.stages.iter().map(with_address).collect::<Result<_>>()?;
    Ok(object)
}

fn to_json(main: &Deployable, path: Option<&Path>) -> Value {
    let of = |part: &Deployable, path: Option<PathBuf>| {
        let mut object = part.to_json();
        object["code"] = output::hex(&part.compiled.code).into();
        object["creation"] = output::hex(&part.creation).into();
        object["path"] = path.map(|path| path.to_string_lossy().into_owned()).into();
        object
    };
    let mut object = of(main, path.map(Path::to_owned));
    let stages = main.stages.iter().map(|stage| of(stage, path.map(|path| beside(path, stage.stage_name()))));
    object["stages"] = stages.collect();
    object
}

fn to_text(main: &Deployable, path: Option<&Path>) -> String {
    let mut rows = table(&["code", "bytes", "address", ""]);
    for (part, path) in path.into_iter().flat_map(|path| parts(main, path)) {
        rows.add_row(vec![
            part.name().into(),
            right(grouped(part.compiled.code.len() as u64)), // usize to u64 widens
            part.address().to_checksum(None).into(),
            path.display().to_string().into(),
        ]);
    }
    rows.trim_fmt()
}
