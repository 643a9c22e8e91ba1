//! Environment of the records' measurements: the compiler, and the locked versions of the crates measured beside.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Crates whose locked versions a record names.
const CRATES: [&str; 2] = ["blst", "revm"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=LAB_RUSTC={}", rustc().unwrap_or_else(|| "unknown".to_owned()));
    let lock = Path::new("../../Cargo.lock");
    println!("cargo:rerun-if-changed={}", lock.display());
    let lock = fs::read_to_string(lock).unwrap_or_default();
    for name in CRATES {
        let version = locked_version(&lock, name).unwrap_or("unknown");
        println!("cargo:rustc-env=LAB_{}={version}", name.to_uppercase());
    }
}

/// Output of `rustc --version` for the compiler of this build.
fn rustc() -> Option<String> {
    let output = Command::new(env::var_os("RUSTC")?).arg("--version").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// The version of a package in the text of a lock file.
fn locked_version<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    after.split_once('"').map(|(version, _)| version)
}
