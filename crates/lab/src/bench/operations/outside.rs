//! arkworks compiled to WebAssembly: an optional module from `baselines/wasm`, beside the modules of our programs.
//!
//! `RESIDUE_BASELINES_WASM` names the built module. It exports a function for each task that it has, and is run by both engines in
//! the same rounds as everybody else. Where it is not there it is missing, which a record says.

use std::path::{Path, PathBuf};
use std::{env, fs};

use residue_wasm::EngineKind;

use super::module::Module;
use crate::bench::effort::Effort;
use crate::error::LabError;

/// The variable that names the module.
const VARIABLE: &str = "RESIDUE_BASELINES_WASM";
/// Prefix of its layers' names; the engine follows.
const LAYER: &str = "arkworks-";
/// The tasks that it has a function for.
const TASKS: [&str; 3] = ["pairing", "g1-mul", "synthetic-loop"];

/// The layer of an engine.
fn layer(engine: EngineKind) -> String {
    format!("{LAYER}{engine}")
}

/// The engine of a layer, if it is one of these.
pub(crate) fn engine_of(layer: &str) -> Option<EngineKind> {
    layer.strip_prefix(LAYER)?.parse().ok()
}

/// Requested measurements that are not available, each with the reason.
pub(crate) fn missing(effort: &Effort) -> Vec<String> {
    if path().is_some() {
        return Vec::new();
    }
    let missing = EngineKind::built_in().map(layer).filter(|layer| effort.subjects.include(layer));
    missing.map(|layer| format!("{layer} ({VARIABLE} names no module, see baselines/wasm)")).collect()
}

/// The module for a task by every chosen engine; none where it is missing or has no function for it.
pub(super) fn modules(task: &'static str, effort: &Effort) -> Result<Vec<Module>, LabError> {
    let chosen = EngineKind::built_in().filter(|engine| effort.subjects.include(&layer(*engine)));
    match path() {
        Some(path) if TASKS.contains(&task) => read(&path, task, chosen),
        _ => Ok(Vec::new()),
    }
}

fn path() -> Option<PathBuf> {
    env::var_os(VARIABLE).map(PathBuf::from)
}

fn read(path: &Path, task: &'static str, engines: impl Iterator<Item = EngineKind>) -> Result<Vec<Module>, LabError> {
    let bytes = fs::read(path).map_err(|error| LabError::Io { path: path.to_owned(), error })?;
    Ok(engines.map(|engine| Module { layer: layer(engine), engine, function: task, bytes: bytes.clone() }).collect())
}

#[cfg(test)]
mod tests {
    use super::super::{Engines, Job, measure_together, named};
    use super::*;
    use crate::Subjects;
    use crate::record::Quantity;

    /// A module that finds every pairing check of 768 bytes good, and nothing else.
    const AGREEABLE: &str = r#"(module
        (memory (export "memory") 1)
        (global (export "input") i32 (i32.const 64))
        (global (export "output") i32 (i32.const 0))
        (func (export "pairing") (param i32) (result i32)
            (i32.store8 (i32.const 31) (i32.const 1))
            (select (i32.const 32) (i32.const -1) (i32.eq (local.get 0) (i32.const 768)))))"#;

    #[test]
    fn a_module_of_somebody_else_runs_beside_ours_and_its_start_is_measured() {
        let path = env::temp_dir().join(format!("residue-outside-{}.wasm", std::process::id()));
        fs::write(&path, wat::parse_str(AGREEABLE).unwrap()).unwrap();
        let modules = read(&path, "pairing", EngineKind::built_in());
        let without_function = read(&path, "g1-mul", EngineKind::built_in());
        fs::remove_file(&path).unwrap();
        let (input, name_in) = (vec![0; 768], |layer: &str| format!("{layer}/pairing/2"));

        let engines = Engines::of_modules(modules.unwrap());
        for (name, mut run, rows) in engines.runs(&input, name_in, &Effort::SMOKE).unwrap() {
            assert_eq!(run(), crate::bench::operations::word(true), "{name}");
            assert!(rows.iter().any(|row| row.quantity == Quantity::StartUp), "{name}");
            assert!(engine_of(name.split('/').next().unwrap()).is_some());
        }
        // An input that it refuses, and a function that it has not got.
        for mut run in engines.runs(&input[..384], name_in, &Effort::SMOKE).unwrap().into_iter().map(|(_, run, _)| run)
        {
            assert!(run().is_empty());
        }
        let engines = Engines::of_modules(without_function.unwrap());
        let error = engines.runs(&input, name_in, &Effort::SMOKE).err().unwrap().to_string();
        assert!(error.contains("\"g1-mul\"") && error.contains("it exports pairing"), "{error}");
        assert!(read(Path::new("no such module"), "pairing", EngineKind::built_in()).is_err());
    }

    #[test]
    fn the_real_module_gives_the_answer_of_everybody() {
        let Some(_) = path() else { return eprintln!("skipped: {VARIABLE} names no module") };
        let layers: Vec<_> = EngineKind::built_in().map(layer).collect();
        let subjects = Subjects::named(&layers).unwrap();
        let effort = Effort { subjects, ..Effort::SMOKE };
        for (task, size) in TASKS.into_iter().zip([2, 1, 1350]) {
            let engines = Engines::of(named(task), &effort, &[]).unwrap();
            let job = Job::new(named(task), size, &engines).unwrap();
            // Every answer is compared; a wrong one is an error.
            let times = measure_together(&[&job], &effort, &mut |_| ()).unwrap().times_ns;
            assert_eq!(times.len(), EngineKind::built_in().count(), "{task}");
        }
    }

    #[test]
    fn where_there_is_no_module_it_is_missing_and_nothing_is_zero() {
        if path().is_some() {
            return;
        }
        assert!(modules("pairing", &Effort::SMOKE).unwrap().is_empty());
        assert_eq!(missing(&Effort::SMOKE).len(), EngineKind::built_in().count());
        assert_eq!(engine_of("wasmi"), None);
    }
}
