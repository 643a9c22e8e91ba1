//! `residue prove`: a certificate checked, here and by Coq's kernel.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use residue_proof::{Certificate, coq};
use serde_json::json;

use crate::proof::enough;
use crate::tables::grouped;
use crate::verdict::Verdict;
use crate::{input, output};

/// Options of `prove`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue prove t3.cert
  residue prove t3.cert --code t3.hex")]
pub struct ProveArgs {
    /// A certificate that `residue build --certificate` wrote; - for standard input.
    pub certificate: String,
    /// Refuse a certificate of other code than that of this file, hexadecimal or raw bytes.
    #[arg(long, value_name = "FILE")]
    pub code: Option<String>,
    /// Refuse a certificate of another program than that of this file, text of the IR.
    #[arg(long, value_name = "FILE")]
    pub program: Option<String>,
    /// Write the theorem, with the sources that it stands on, to this directory, and let Coq check it. It needs coqc.
    #[arg(long, value_name = "DIRECTORY", value_parser = output::directory())]
    pub coq: Option<PathBuf>,
}

/// Verdict of Coq's kernel.
struct Kernel {
    path: PathBuf,
    seconds: f64,
}

/// Checks the certificate; anything but a proof is an error.
pub fn prove(args: &ProveArgs, json: bool) -> Result<Verdict> {
    let place = input::shown(&args.certificate);
    let text = input::text_file(&args.certificate).context("reading the certificate")?;
    let certificate = Certificate::read(&text).map_err(|error| anyhow!("{place}: {error}"))?;
    if let Some(path) = &args.code {
        let found = certificate.code_hash();
        ensure!(
            input::code(path)? == certificate.code,
            "{place}: the certificate is of the code of SHA-256 {found}, and not of that in {}",
            input::shown(path)
        );
    }
    if let Some(path) = &args.program {
        let given = residue_ir::text::print(&crate::program_file::read(path)?);
        ensure!(
            given.trim_end() == certificate.text.trim_end(),
            "{place}: the certificate is of the program of SHA-256 {}, and not of that in {}",
            certificate.program_hash(),
            input::shown(path)
        );
    }
    let begun = Instant::now();
    certificate.check().map_err(|error| anyhow!("{place}: {error}"))?;
    let checked = begun.elapsed();
    let kernel = args.coq.as_deref().map(|folder| in_kernel(&certificate, &args.certificate, folder)).transpose()?;
    let (code_hash, program_hash) = (certificate.code_hash(), certificate.program_hash());
    if json {
        let kernel = kernel.map(|kernel| json!({ "path": kernel.path, "seconds": kernel.seconds }));
        output::json(&json!({
            "revision": certificate.semantics.revision().name(),
            "code_sha256": code_hash,
            "code_bytes": certificate.code.len(),
            "program_sha256": program_hash,
            "gas": certificate.gas,
            "turn_gas": certificate.turn_gas,
            "check_seconds": checked.as_secs_f64(),
            "kernel": kernel,
        }))?;
    } else {
        let (bytes, enough) = (grouped(certificate.code.len() as u64), enough(&certificate)); // usize to u64 widens
        let mut said = format!(
            "For all calldata, with {enough}, the {bytes} bytes of code of SHA-256\n  {code_hash}\nend as the program of SHA-256\n  {program_hash}"
        );
        if let Some(Kernel { path, seconds }) = kernel {
            said += &format!("\nCoq checked {} in {seconds:.1} s: closed under the global context", path.display());
        }
        output::result(&said)?;
    }
    Ok(Verdict::Good)
}

/// Writes sources and theorem to the folder, and compiles what has not been compiled there.
fn in_kernel(certificate: &Certificate, name: &str, folder: &Path) -> Result<Kernel> {
    // Before anything is written.
    coqc(Command::new("coqc").arg("--version"))?;
    std::fs::create_dir_all(folder).with_context(|| format!("making the directory {}", folder.display()))?;
    let (mut is_new, mut newest) = (false, SystemTime::UNIX_EPOCH);
    for (module, source) in coq::sources(certificate) {
        let path = folder.join(format!("{module}.v"));
        let is_there = std::fs::read_to_string(&path).is_ok_and(|there| there == source);
        let compiled_at = || std::fs::metadata(path.with_extension("vo")).and_then(|file| file.modified()).ok();
        // Another certificate may have had an earlier source compiled anew, and not this one.
        is_new |= !is_there || compiled_at().is_none_or(|at| at < newest);
        if is_new {
            output::file(&path, source.as_bytes())?;
            compiled(folder, &path)?;
        }
        newest = newest.max(compiled_at().unwrap_or(newest));
    }
    let path = folder.join(format!("{}.v", module_name(name)));
    output::file(&path, coq::theorem(certificate).as_bytes())?;
    let begun = Instant::now();
    let said = compiled(folder, &path)?;
    // The last command of a theorem's file prints its assumptions.
    ensure!(
        said.contains("Closed under the global context"),
        "{}: the theorem has assumptions: {}",
        path.display(),
        said.trim()
    );
    Ok(Kernel { path, seconds: begun.elapsed().as_secs_f64() })
}

/// Name of a theorem's file: Coq takes letters, digits and `_`.
fn module_name(certificate: &str) -> String {
    let stem = Path::new(certificate).file_stem().unwrap_or_default().to_string_lossy();
    let letter = |char: char| if char.is_ascii_alphanumeric() { char } else { '_' };
    format!("Proof_{}", stem.chars().map(letter).collect::<String>())
}

/// Compiles a file by coqc, and returns its output.
fn compiled(folder: &Path, path: &Path) -> Result<String> {
    // In the folder, where Coq leaves what it remembers.
    let file = path.file_name().unwrap_or(path.as_os_str());
    let mut command = Command::new("coqc");
    command.args(["-noglob", "-Q", ".", coq::LIBRARY]).arg(file).current_dir(folder);
    let ran = coqc(&mut command)?;
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&ran.stderr);
    ensure!(ran.status.success(), "coqc does not accept {}: {}", path.display(), complaint.trim());
    Ok(said)
}

/// Runs coqc.
fn coqc(command: &mut Command) -> Result<Output> {
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            bail!(
                "--coq needs coqc, which is not installed: Debian and Ubuntu have it as the package coq, 8.16 or newer"
            )
        }
        ran => ran.context("running coqc"),
    }
}
