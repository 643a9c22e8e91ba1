//! `residue completions` and `residue man`: completions for shells and pages for `man`, made of the commands'
//! description.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Args, Command};
use serde_json::json;

use residue_command::output;
use residue_command::verdict::Verdict;

/// Options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  residue completions bash > residue.bash && cat residue.bash")]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  residue man pages")]
pub struct ManArgs {
    /// The directory, which is made if it is not there: one page for each command.
    #[arg(value_parser = output::directory())]
    pub directory: PathBuf,
}

/// Prints a script for a shell that knows `command`.
pub fn completions(args: &CompletionsArgs, mut command: Command, json: bool) -> Result<Verdict> {
    ensure!(!json, "--json has no effect on completions, which are a script of the shell");
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "residue", &mut script);
    output::result(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Verdict::Good)
}

/// Writes a page for `command` and each one below it.
pub fn man(args: &ManArgs, command: Command, json: bool) -> Result<Verdict> {
    let directory = &args.directory;
    std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, "residue", &mut pages);
    let mut written = Vec::new();
    for (name, command) in pages {
        let path = directory.join(format!("{name}.1"));
        let mut page = Vec::new();
        let writing = || format!("writing {}", path.display());
        clap_mangen::Man::new(command).render(&mut page).with_context(writing)?;
        output::file(&path, &page)?;
        written.push(path.display().to_string());
    }
    match json {
        true => output::json(&json!({ "pages": written }))?,
        false => output::result(&written.join("\n"))?,
    }
    Ok(Verdict::Good)
}

/// A command and those below it, each with the name of its page.
fn collect(command: &Command, name: &str, pages: &mut Vec<(String, Command)>) {
    pages.push((name.to_owned(), command.clone()));
    for command in command.get_subcommands() {
        collect(command, &format!("{name}-{}", command.get_name()), pages);
    }
}
