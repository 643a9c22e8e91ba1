//! `residue-site build`: the page of `site/` as a folder of static files.
//!
//! Cargo builds the module for WebAssembly, the library of wasm-bindgen writes the page's side of its boundary, npm installs what the
//! page is made of, Binaryen makes the module smaller, and vite puts all of it into `site/dist`.

#![forbid(unsafe_code)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";
/// Bytes of the module's stack: programs may be a thousand calls and regions deep, and what goes through them calls itself.
const STACK_BYTES: usize = 16 << 20;

/// Builds the page.
#[derive(Debug, Parser)]
#[command(name = "residue-site", version, after_help = "Example:\n  cargo run -p residue-site -- build")]
struct Options {
    /// Command to carry out.
    #[command(subcommand)]
    command: Job,
}

#[derive(Debug, Subcommand)]
enum Job {
    /// Build the module, and the page around it, into site/dist.
    Build,
    /// Build the module alone, for those who change the page: `npx vite` in site/ shows each change at once.
    Module,
}

fn main() -> Result<()> {
    let Options { command } = Options::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().context("finding the project")?;
    let site = root.join("site");
    module(&root, &site.join("src/module"))?;
    if matches!(command, Job::Build) {
        page(&site)?;
    }
    Ok(())
}

/// Builds the module and writes it, with its boundary in JavaScript and TypeScript, to `folder`.
fn module(root: &Path, folder: &Path) -> Result<()> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.current_dir(root).args(["build", "--profile", "page", "-p", "residue-page", "--target", TARGET]);
    build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", format!("-C link-arg=-zstack-size={STACK_BYTES}"));
    done(build).with_context(|| format!("building the module; `rustup target add {TARGET}` if that is missing"))?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let built = target.join(TARGET).join("page/residue_page.wasm");
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    Bindgen::new().input_path(&built).web(true)?.typescript(true).generate(folder).context("writing the boundary")
}

/// Builds the page around the module.
fn page(site: &Path) -> Result<()> {
    let npm = |arguments: &[&str]| {
        let mut npm = Command::new("npm");
        npm.current_dir(site).args(arguments);
        done(npm).with_context(|| format!("npm {} in {}", arguments.join(" "), site.display()))
    };
    if !is_installed(site) {
        npm(&["ci", "--no-fund", "--no-audit"])?;
    }
    npm(&["run", "build"])
}

/// True if npm has installed the locked packages: it leaves a file beside them, as old as its work.
fn is_installed(site: &Path) -> bool {
    let changed = |name: &str| fs::metadata(site.join(name)).and_then(|file| file.modified()).ok();
    let installed = changed("node_modules/.package-lock.json");
    installed.is_some_and(|installed| changed("package-lock.json").is_some_and(|locked| locked <= installed))
}

/// Runs a command to its end.
fn done(mut command: Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("starting {program}"))?;
    ensure!(status.success(), "{program} ended with {status}");
    Ok(())
}
