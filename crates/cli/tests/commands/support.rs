//! Running the binary and inspecting its output.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Exit code and output of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the command with nothing on its standard input.
#[track_caller]
pub fn residue(args: &[&str]) -> Ran {
    residue_reading("", args)
}

/// Runs the command with a text on its standard input.
#[track_caller]
pub fn residue_reading(input: &str, args: &[&str]) -> Ran {
    let mut command = Command::new(crate::PROGRAM);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that fails early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
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
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    /// The text on stdout of a command that did its work without a message.
    #[track_caller]
    pub fn text(&self) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        assert!(!self.stdout.contains('\x1b'), "colours on something that is no terminal");
        &self.stdout
    }

    /// Asserts bad usage or input: exit code 2, nothing on stdout, a message with all these parts.
    #[track_caller]
    pub fn refused(&self, parts: &[&str]) {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is not in {}", self.stderr);
        }
    }
}

/// An empty directory of a test's own.
pub fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A file in a test's directory, by its full name.
pub fn file(directory: &std::path::Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Assembly text as code in hexadecimal.
#[track_caller]
pub fn assembled(text: &str, revision: &str) -> String {
    residue_reading(text, &["asm", "-", "--revision", revision]).text().trim().to_owned()
}

/// The examples of a command's help: the lines after `Example:` or `Examples:`.
fn examples(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
    lines.map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Runs the examples in the helps of commands, in a directory of the test's own where `residue` is the program under test.
#[cfg(unix)]
pub fn run_examples(test: &str, commands: &[&str]) {
    let directory = directory(test);
    let examples_of_ours = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    std::os::unix::fs::symlink(examples_of_ours, directory.join("examples")).unwrap();
    std::os::unix::fs::symlink(crate::PROGRAM, directory.join("residue")).unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    for command in commands {
        let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = residue(&args);
        let examples = examples(help.text());
        assert!(!examples.is_empty(), "{command} has no example");
        for example in examples {
            let mut shell = Command::new("sh");
            let output = shell.args(["-c", example]).env("PATH", &path).current_dir(&directory).output().unwrap();
            assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
            assert!(!output.stdout.is_empty(), "{example}");
        }
    }
}
