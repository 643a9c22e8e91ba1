//! Programs of one's own: files in the text form of the IR (`docs/ir.md`), with errors shown at their place.

use std::io::IsTerminal;
use std::ops::Range;

use anyhow::{Context, Result, anyhow};
use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};
use residue_compiler::{Compiled, Dialect, SmallMultiples, compile_as};
use residue_ir::{Program, text};
use residue_isa::{GasSchedule, Revision};

use crate::waiting::WaitingLine;
use crate::{excerpt, input, output};

/// True if the name is that of such a file.
pub fn is_program(name: &str) -> bool {
    name.ends_with(".ir")
}

/// The program of the file, or of standard input if `path` is `-`.
pub fn read(path: &str) -> Result<Program> {
    let text = input::text_file(path).context("reading the program")?;
    text::read(&text).map_err(|text::ReadError { span, what }| shown(input::shown(path), &text, span, &what))
}

/// The program of the file, compiled.
pub fn compile(
    path: &str,
    program: &Program,
    revision: Revision,
    schedule: &GasSchedule,
    multiples: SmallMultiples,
    dialect: Dialect,
) -> Result<Compiled> {
    let what = || format!("compiling {} for {revision}", input::shown(path));
    let _waiting = WaitingLine::new(what);
    compile_as(program, revision, schedule, multiples, dialect).with_context(what)
}

/// Error with the fault, and the line of the text with these bytes marked.
fn shown(path: &str, text: &str, span: Range<usize>, what: &str) -> anyhow::Error {
    if let Some(excerpt) = excerpt::of_long_line(path, text, &span) {
        return anyhow!("{what}\n{excerpt}");
    }
    let colours = std::io::stderr().is_terminal() && output::colours_allowed();
    let config = Config::default().with_index_type(IndexType::Byte).with_color(colours);
    let place = (path, span);
    let report = Report::build(ReportKind::Error, place.clone())
        .with_config(config)
        .with_message(what)
        .with_label(Label::new(place).with_message("here"))
        .finish();
    let mut written = Vec::new();
    match report.write((path, Source::from(text)), &mut written) {
        Ok(()) => {
            let report = String::from_utf8_lossy(&written);
            // Before the message it says in colour that it is an error, which is said by what prints it.
            let below = report.split_once(what).map_or("", |(_, below)| below);
            anyhow!("{what}{}", below.trim_end())
        }
        Err(_) => anyhow!("{path}: {what}"),
    }
}
