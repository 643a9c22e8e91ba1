//! `residue completions` and `residue man`: what shells and `man` know of the commands, made of their description.

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use serde_json::json;

use super::Verdict;
use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::output;

/// Prints a script for a shell.
pub fn completions(args: &CompletionsArgs) -> Result<Verdict> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "residue", &mut script);
    output::result(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Verdict::Good)
}

/// Writes a page for each command.
pub fn man(args: &ManArgs, json: bool) -> Result<Verdict> {
    let directory = &args.directory;
    std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    let mut command = Cli::command().disable_help_subcommand(true);
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
