//! Processes of their own: the job given to one, its report at the end, and its memory as reported by the system.

use std::env;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::error::LabError;

/// The option of `residue bench` that makes it run one [`crate::job`], read from standard input.
const OPTION: &str = "--errand";

/// Message for systems that do not report resident memory.
pub(crate) const SILENT: &str = "the system does not say how much memory is resident";

/// Report of the process at its end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Resident before the work.
    pub before_bytes: u64,
    /// The most that was resident.
    pub peak_bytes: u64,
    /// The answer, in hexadecimal.
    pub output: String,
}

/// Has another process of this program do a job, written as JSON.
pub(crate) fn sent(job: &str) -> Result<Told, LabError> {
    let program = env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["bench", OPTION]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    // A process that ends early says why.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(job.as_bytes()));
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

fn failed(reason: String) -> LabError {
    LabError::Outside { program: format!("residue bench {OPTION}"), reason }
}

/// Why a process does not do its job.
pub(crate) fn refused(reason: String) -> LabError {
    LabError::Outside { program: "a process of its own".to_owned(), reason }
}

impl Told {
    /// Peak growth during the work, in bytes.
    pub fn grown_bytes(&self) -> u64 {
        self.peak_bytes.saturating_sub(self.before_bytes)
    }
}

/// The memory that this process has resident, if the system says: proc(5), `/proc/pid/status`, VmRSS.
pub(crate) fn resident_bytes() -> Option<u64> {
    status("VmRSS:")
}

/// The most that it had so far: VmHWM.
pub(crate) fn peak_bytes() -> Option<u64> {
    status("VmHWM:")
}

/// A size in what Linux says of this process, which it says in units of 1024 bytes.
fn status(field: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}
