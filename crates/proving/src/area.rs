//! The guest in the executor of SP1, which says how much trace a run takes: instructions, cells, gas and calls.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::form::Form;
use crate::machine::input;

/// The executor's package with its version, for records.
pub const EXECUTOR: &str = "sp1-core-executor 6.10.0";
/// The guest's target, a file of the executor's folder: RV64IM, without short encodings and atomics.
const TARGET: &str = "riscv64im-sp1-none-elf";
/// Programs lie above the stack; atomics are plain loads and stores, as there is one thread.
const FLAGS: &str = "-C link-arg=--image-base=0x78000000 -C passes=lower-atomic";

/// One run, as the executor has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Area {
    /// Instructions, calls among them.
    pub instructions: u64,
    /// Cells of the trace: rows of each table times its columns.
    pub cells: u64,
    /// The prover network's measure of work.
    pub gas: u64,
    /// Calls for x·y mod m of 256 bits.
    pub products_256: u64,
    /// Calls for sums, differences and products in BLS12-381's base field.
    pub operations_384: u64,
}

impl Area {
    /// The part of a run beyond another, which begins as it does.
    pub fn beyond(self, begin: Self) -> Self {
        Self {
            instructions: self.instructions.saturating_sub(begin.instructions),
            cells: self.cells.saturating_sub(begin.cells),
            gas: self.gas.saturating_sub(begin.gas),
            ..self
        }
    }
}

/// The executor and the guest's program for it.
#[derive(Debug, Clone)]
pub struct Executor {
    binary: PathBuf,
    program: PathBuf,
}

impl Executor {
    /// Builds both; the guest with the standard library's source, as no compiler comes with the target's library. An error if a build fails.
    pub fn build() -> Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let into = folder.join("../../target/sp1");
        let mut executor = cargo(&folder.join("sp1"), &into);
        let status = executor.status().context("cargo does not start")?;
        ensure!(status.success(), "the executor does not build");
        let target = folder.join("sp1").join(TARGET).with_extension("json");
        let mut guest = cargo(&folder.join("guest"), &into);
        guest.args(["--features", "sp1", "-Zbuild-std=core,alloc", "-Zjson-target-spec", "--target"]).arg(&target);
        guest.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", FLAGS);
        let status = guest.status().context("cargo does not start")?;
        ensure!(status.success(), "the guest does not build for {TARGET}: rustup component add rust-src");
        let program = into.join(TARGET).join("release/residue-guest");
        Ok(Self { binary: into.join("release/residue-proving-sp1"), program })
    }

    /// Runs one call: its answer and what it took. An error if the guest fails.
    pub fn run(&self, form: Form, address: u16, code: &[u8], calldata: &[u8]) -> Result<(Vec<u8>, Area)> {
        let mut child = Command::new(&self.binary)
            .arg(&self.program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| self.binary.display().to_string())?;
        let mut standard_input = child.stdin.take().context("the executor reads")?;
        standard_input.write_all(&input(form, address, code, calldata)?)?;
        drop(standard_input);
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "the executor fails");
        parsed(std::str::from_utf8(&output.stdout)?)
    }
}

/// A build of a folder's package.
fn cargo(folder: &Path, into: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--locked", "--target-dir"]).arg(into).current_dir(folder);
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo
}

/// The executor's words. An error names the line that is none of its own.
fn parsed(text: &str) -> Result<(Vec<u8>, Area)> {
    let (mut area, mut answer, mut exit) = (Area::default(), Vec::new(), None);
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| -> Result<u64> {
            let word = words.get(at).with_context(|| format!("a number is missing: {line:?}"))?;
            word.parse().with_context(|| format!("no number: {line:?}"))
        };
        match words[..] {
            ["exit", _] => exit = Some(number(1)?),
            ["instructions", _] => area.instructions = number(1)?,
            ["area", _] => area.cells = number(1)?,
            ["gas", _] => area.gas = number(1)?,
            ["call", "UINT256_MUL", _] => area.products_256 = number(2)?,
            ["call", name, _] if name.starts_with("BLS12381_FP_") => area.operations_384 += number(2)?,
            ["answer", digits] => answer = hex::decode(digits).with_context(|| format!("no digits: {line:?}"))?,
            _ => anyhow::bail!("none of the executor's words: {line:?}"),
        }
    }
    match exit.context("the executor does not say how the guest ends")? {
        0 => Ok((answer, area)),
        1 => anyhow::bail!("the call failed"),
        3 => anyhow::bail!("the prover has no call for a modulus of more than 256 bits other than BLS12-381's"),
        code => anyhow::bail!("the guest ends with {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executors_words_are_understood_and_others_are_named() {
        let text = "exit 0\ninstructions 5\narea 70\ngas 2\ncall UINT256_MUL 3\ncall BLS12381_FP_ADD 4\ncall BLS12381_FP_MUL 1\nanswer 00ff\n";
        let area = Area { instructions: 5, cells: 70, gas: 2, products_256: 3, operations_384: 5 };
        assert_eq!(parsed(text).unwrap(), (vec![0, 255], area));
        for (bad, named) in [
            ("exit 1\n", "the call failed"),
            ("exit 3\n", "no call for a modulus"),
            ("exit 2\n", "ends with 2"),
            ("area x\nexit 0\n", "\"area x\""),
            ("call SHA_EXTEND 1\nexit 0\n", "SHA_EXTEND"),
            ("area 5\n", "how the guest ends"),
        ] {
            let error = format!("{:#}", parsed(bad).unwrap_err());
            assert!(error.contains(named), "{error}");
        }
    }
}
