//! `residue-proving`: runs every call in every form on both machines, and writes record and page anew.

#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use residue_proving::area::{Area, EXECUTOR, Executor};
use residue_proving::area_record::{self, AreaRow};
use residue_proving::figure;
use residue_proving::machine::{Counts, Form, Guest, Width, has_target};
use residue_proving::record::{FILE, PAGE, PART, Record, Row, path};
use residue_proving::subjects::{SUBJECTS, Subject};

/// Count the instructions of RISC-V that precompiles and the bytecode in their place take.
///
/// Every answer is compared with that of the native library on this machine.
#[derive(Debug, Parser)]
#[command(
    name = "residue-proving",
    version,
    after_help = "Examples:
  cargo run -p residue-proving
  cargo run -p residue-proving -- --check g1-add ec-mul
  cargo run -p residue-proving -- --area"
)]
struct Options {
    /// Calls to count, whose rows replace those of the record; all if none is named.
    calls: Vec<String>,
    /// Compare with the record in place of writing it and the page: within a hundredth, as another compiler may count otherwise.
    #[arg(long)]
    check: bool,
    /// Count trace area by the executor of SP1, which is built first, in place of instructions.
    #[arg(long)]
    area: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let subjects = match &options.calls[..] {
        [] => SUBJECTS.iter().collect(),
        names => names.iter().map(|name| Subject::named(name)).collect::<Result<Vec<_>>>()?,
    };
    match (options.check, options.area) {
        (true, false) => check(&subjects),
        (false, false) => write(&subjects),
        (true, true) => check_areas(&subjects),
        (false, true) => write_areas(&subjects),
    }
}

/// Counts and writes the record, the tables and the figure.
fn write(subjects: &[&Subject]) -> Result<()> {
    let guests = Width::ALL.into_iter().map(Guest::build).collect::<Result<Vec<_>>>()?;
    let rows = counted(subjects, &guests)?;
    let known = std::fs::read_to_string(path()).unwrap_or_default();
    let mut record = Record { environment: environment()?, ..Record::<Row>::parse(&known).context(FILE)? };
    record.replace(rows);
    let page = residue_pages::with(&residue_pages::read(PAGE), PART, &record.tables())
        .with_context(|| format!("{PAGE} has no part {PART}"))?;
    std::fs::create_dir_all(path().parent().context("the record is in a folder")?)?;
    residue_workbench::output::file(&path(), record.text().as_bytes())?;
    residue_workbench::output::file(&residue_pages::path(PAGE), page.as_bytes())?;
    residue_workbench::output::file(&residue_pages::path(figure::FILE), figure::svg(&record).as_bytes())?;
    println!("{FILE}, {PAGE} and {} are written", figure::FILE);
    Ok(())
}

/// Runs some calls again where a target is installed. An error if a count differs from the record's by more than a hundredth.
fn check(subjects: &[&Subject]) -> Result<()> {
    let record = Record::<Row>::parse(&residue_pages::read(FILE)).context(FILE)?;
    for width in Width::ALL {
        if !has_target(width) {
            println!("{}: not counted, as {} is not installed", width.name(), width.target());
            continue;
        }
        for Row { subject, form, counts, .. } in counted(subjects, &[Guest::build(width)?])? {
            let form = Form::ALL.into_iter().find(|known| known.name() == form).context("a form")?;
            let known = record.of(width, &subject, form);
            let known = known.with_context(|| format!("{FILE} has no {} {subject} {}", width.name(), form.name()))?;
            let near = counts.instructions.abs_diff(known.instructions) * 100 <= known.instructions;
            ensure!(near && counts.calls == known.calls, "{subject} {}: {counts:?}, recorded {known:?}", form.name());
        }
    }
    Ok(())
}

fn counted(subjects: &[&Subject], guests: &[Guest]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for subject in subjects {
        let name = subject.names[0];
        let call = subject.call().with_context(|| name.to_owned())?;
        for guest in guests {
            let mut ready = Counts::default();
            for form in Form::ALL {
                let machine = guest.width().name();
                let Some((address, code)) = call.code(form) else { continue };
                let what = || format!("{name}, {machine}, {}", form.name());
                let run = guest.run(form, address, code, &call.calldata);
                let (answer, counts) = run.with_context(what)?;
                ensure!(answer == *call.expected(form), "{}: another answer than the native one", what());
                if form == Form::Ready {
                    ready = counts;
                }
                let counts = if form.begins_ready() { counts.beyond(ready) } else { counts };
                println!("{}: {} instructions, {:?} calls", what(), counts.instructions, counts.calls);
                let [machine, subject, form] = [machine, name, form.name()].map(str::to_owned);
                rows.push(Row { machine, subject, form, counts });
            }
        }
    }
    Ok(rows)
}

/// Counts trace area and writes its record and table.
fn write_areas(subjects: &[&Subject]) -> Result<()> {
    let rows = areas(subjects)?;
    let path = residue_pages::path(area_record::FILE);
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let environment = vec![rustc()?, ("executor".to_owned(), EXECUTOR.to_owned())];
    let mut record = Record { environment, ..Record::<AreaRow>::parse(&known).context(area_record::FILE)? };
    record.replace(rows);
    let page = residue_pages::with(&residue_pages::read(PAGE), area_record::PART, &record.table())
        .with_context(|| format!("{PAGE} has no part {}", area_record::PART))?;
    residue_workbench::output::file(&path, record.text().as_bytes())?;
    residue_workbench::output::file(&residue_pages::path(PAGE), page.as_bytes())?;
    println!("{} and {PAGE} are written", area_record::FILE);
    Ok(())
}

/// Counts trace area of some calls again. An error if one differs from the record's by more than a hundredth.
fn check_areas(subjects: &[&Subject]) -> Result<()> {
    let record = Record::<AreaRow>::parse(&residue_pages::read(area_record::FILE)).context(area_record::FILE)?;
    for row in areas(subjects)? {
        let known = record.rows.iter().find(|known| (&known.subject, &known.form) == (&row.subject, &row.form));
        let what = || format!("{} {}", row.subject, row.form);
        let known = known.with_context(|| format!("{} has no {}", area_record::FILE, what()))?.area;
        let near = row.area.cells.abs_diff(known.cells) * 100 <= known.cells;
        ensure!(near, "{}: {:?}, recorded {known:?}", what(), row.area);
    }
    Ok(())
}

fn areas(subjects: &[&Subject]) -> Result<Vec<AreaRow>> {
    let executor = Executor::build()?;
    let mut rows = Vec::new();
    for subject in subjects {
        let name = subject.names[0];
        let call = subject.call().with_context(|| name.to_owned())?;
        let mut ready = Area::default();
        for form in Form::ALL {
            let Some((address, code)) = call.code(form) else { continue };
            let what = || format!("{name}, {}", form.name());
            let (answer, area) = executor.run(form, address, code, &call.calldata).with_context(what)?;
            ensure!(answer == *call.expected(form), "{}: another answer than the native one", what());
            if form == Form::Ready {
                ready = area;
            }
            let area = if form.begins_ready() { area.beyond(ready) } else { area };
            println!("{}: {area:?}", what());
            rows.push(AreaRow { subject: name.to_owned(), form: form.name().to_owned(), area });
        }
    }
    Ok(rows)
}

fn rustc() -> Result<(String, String)> {
    let rustc = Command::new("rustc").arg("--version").output().context("rustc does not start")?;
    Ok(("compiler".to_owned(), String::from_utf8_lossy(&rustc.stdout).trim().to_owned()))
}

/// The versions and flags that counts depend on.
fn environment() -> Result<Vec<(String, String)>> {
    let targets = Width::ALL.map(Width::target).join(" and ");
    let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Ok(vec![
        rustc()?,
        of("targets", &targets),
        of("flags", "release, opt-level 3, fat lto, one codegen unit, panic abort"),
        of("revm-interpreter", "43.0.2"),
        of("revm-precompile", "43.0.3 without features"),
        of("emulator", "ckb-vm 0.24.15"),
    ])
}
