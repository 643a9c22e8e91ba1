//! `residue-deploy` against our node and anvil, where they are there, and against nodes that answer wrongly.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod chain;
mod hostile;
mod node;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Exit code and output of the command.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code.
    pub code: i32,
    /// Results.
    pub stdout: String,
    /// Messages.
    pub stderr: String,
}

/// Runs the command.
pub fn residue(args: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_residue-deploy")).args(args).output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ran {
    /// The object on stdout, given the exit code.
    #[track_caller]
    pub fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Asserts bad usage or input: exit code 2, nothing on stdout, a message with all these parts.
    #[track_caller]
    pub fn refused(&self, parts: &[&str]) {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is not in {}", self.stderr);
        }
    }
}

/// A file of a test's own.
pub fn file(name: &str, content: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}
