//! `residue build`: from a contract to code.

mod linked;

use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use residue_compiler::{Deployment, Dialect};
use residue_contracts::CONTRACTS;
use residue_engine::accounts;
use residue_engine::revm::primitives::Address;
use residue_ir::Program;
use residue_isa::{Fork, GasSchedule};
use residue_workbench::formats::Artifact;
use residue_workbench::parallel::in_parallel;
use residue_workbench::{Trial, report};
use serde_json::{Value, json};

use crate::code_limit::{self, CodeLimit, TooLong};
use crate::formats::Format;
use crate::formulas::{Formulas, is_inexpressible};
use crate::options::{CodeRules, InterfaceRules};
use crate::output::Target;
use crate::proof::Proof;
use crate::subject::{Chosen, KeyOptions};
use crate::tables::{grouped, right, table};
use crate::takers::{self, Kind, Reads};
use crate::verdict::Verdict;
use crate::{input, output, program_file};

/// Options of `build`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue build bls12_381/fp2_mul --revision evm384-v7
  residue build bls12_381/fp2_mul --output fp2_mul.hex
  residue build examples/ir/polynomial.ir --revision evmone-2023
  residue build bls12_381/pairing --revision evm384-v7 --fork istanbul
  residue build bls12_381/pairing --revision evm384-v7 --schedule model-a --explain
  residue build bls12_381/g1_add --format solidity --output G1Add.sol
  residue build p256/verify --revision evm --fork amsterdam --code-limit fork
  residue build p256/verify --revision evm --calls 1000 --explain
  residue build modexp/words --linked --revision evm --output modexp.hex
  residue build poseidon/t3 --revision evm --output t3.hex --certificate t3.cert
  residue build groth16 --key examples/groth16/key.json --output verifier.bin")]
pub struct BuildArgs {
    /// A contract of `residue list contracts`, or all that the revision can express, or a file of a program whose name ends in .ir,
    /// or - for a program on standard input; or with --key a proof system, for a verifier of that key.
    pub contract: String,
    /// The interface to compile for, and the prices that decide between variants.
    #[command(flatten)]
    pub rules: InterfaceRules,
    /// The hard fork: code has no opcode that came after it.
    #[arg(long, value_name = "FORK", default_value_t = Fork::default())]
    pub fork: Fork,
    /// For a verifier: its key.
    #[command(flatten)]
    pub key: KeyOptions,
    /// Its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// Expected number of calls of the deployed code: it has the form that costs least a call, with the share of the gas of deployment, 200 a
    /// byte, or 1,530 from Amsterdam on (EIP-8037). Without it gas of calls alone decides.
    #[arg(long, value_name = "CALLS", value_parser = calls)]
    pub calls: Option<NonZeroU64>,
    /// Refuse code that is longer: bytes, or fork for what accounts of the hard fork hold (24,576 by EIP-170, 65,536 by EIP-7954). Of the
    /// forms of the code it is the one that costs least a call of those that are short enough.
    #[arg(long, value_name = "BYTES|fork")]
    pub code_limit: Option<CodeLimit>,
    /// In linked form: the contract's own code, and stages in accounts of their own, which it calls; each is as long as accounts of the fork hold. Files of
    /// stages are beside that of --output.
    #[arg(long, conflicts_with_all = ["calls", "code_limit", "address", "certificate", "explain"])]
    pub linked: bool,
    /// With what is compiled: which engines it is for.
    #[command(flatten)]
    pub code: CodeRules,
    /// The format of the output: the code without it.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,
    /// With --format solidity: where the contract is, in place of code that creates it. In mixed case its checksum is held to EIP-55.
    #[arg(long, value_name = "ADDRESS", value_parser = input::address)]
    pub address: Option<Address>,
    /// Write to this file: hexadecimal becomes raw bytes if the name ends in .bin; - for standard output. With all: to a directory.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<Target>,
    /// Write a certificate to this file: a proof, for `residue prove`, that the code ends as the program does for all calldata. With
    /// --revision evm, eip6690-2024 or evmmax-next, for straight-line programs (docs/certificates.md).
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Instead of the code: which formulas were chosen, and what the others would have cost.
    #[arg(long, conflicts_with = "format")]
    pub explain: bool,
}

/// A number of calls: one at least.
fn calls(text: &str) -> Result<NonZeroU64, String> {
    let calls = input::number(text).map_err(|error| format!("{error}; a number of calls is asked for"))?;
    NonZeroU64::new(calls).ok_or_else(|| "at least 1 call shares the price of deployment".to_owned())
}

/// A contract that has been compiled, and where its code was written.
struct Built {
    contract: Chosen,
    schedule: String,
    dialect: Dialect,
    /// Every way that was asked for, that of the code first.
    trials: Vec<Trial>,
    path: Option<PathBuf>,
    proof: Proof,
}

impl BuildArgs {
    fn format(&self) -> Format {
        self.format.unwrap_or_default()
    }

    /// The rules of the code.
    fn dialect(&self) -> Dialect {
        let gas_a_byte = accounts::gas_per_code_byte(self.fork);
        let deployment = self.calls.map(|calls| Deployment { gas_a_byte, calls });
        Dialect { deployment, ..self.code.dialect(self.fork) }
    }

    /// The file or directory to write to; none for stdout.
    fn path(&self) -> Option<&Path> {
        self.output.as_ref().and_then(Target::file)
    }

    /// The subject to build; every given option has an effect on it.
    fn kind(&self, json: bool) -> Result<Kind> {
        let name = &self.contract;
        let kind = if name == "all" { Kind::All } else { Kind::of(name, &self.key, Reads::Programs)? };
        let own = [
            ("--explain", self.explain),
            ("--address", self.address.is_some()),
            ("--certificate", self.certificate.is_some()),
            ("--linked", self.linked),
        ];
        kind.ensure_takes(name, &[&self.key.given(), &self.formulas.given(), &own])?;
        ensure!(
            !(self.explain && json),
            "--explain has no effect with --json, whose `variants` always say what every formula costs"
        );
        ensure!(self.address.is_none() || self.format() == Format::Solidity, "--address needs --format solidity");
        ensure!(
            self.certificate.as_ref().is_none_or(|path| path.as_os_str() != "-"),
            "--certificate - has no place beside the code on stdout: it takes a file"
        );
        if kind == Kind::All {
            ensure!(
                self.output != Some(Target::Stdout),
                "--output - has place for one contract: with all it takes a directory"
            );
            ensure!(self.format.is_none() || self.path().is_some(), "--format with all contracts needs --output");
            takers::ensure_portable(self.code, &[self.rules.revision])?;
        }
        Ok(kind)
    }
}

impl Built {
    fn artifact(&self, args: &BuildArgs) -> Artifact<'_> {
        Artifact {
            name: self.contract.source().name(),
            contract: Some(self.contract.source()),
            compiled: &self.trials[0].compiled,
            schedule: &self.schedule,
            dialect: self.dialect,
            address: args.address,
        }
    }
}

/// Compiles one contract or all.
pub fn build(args: &BuildArgs, json: bool) -> Result<Verdict> {
    let kind = args.kind(json)?;
    if args.linked {
        return linked::build(args, json);
    }
    let schedule = args.rules.schedule()?;
    if kind == Kind::All {
        let (built, left_out) = build_all(&schedule, args)?;
        for (contract, error) in &left_out {
            output::message("note", &format!("{contract} is left out: {}", error.root_cause()));
        }
        if json {
            let left_out = left_out
                .iter()
                .map(|(name, error)| json!({ "contract": name, "reason": error.root_cause().to_string() }));
            let built = built.iter().map(to_json).collect::<Vec<_>>();
            output::json(&json!({ "contracts": built, "left_out": left_out.collect::<Vec<_>>() }))?;
        } else if args.explain {
            output::result(&built.iter().map(explained).collect::<Vec<_>>().join("\n\n"))?;
        } else {
            output::result(&to_text(&built))?;
        }
        return Ok(Verdict::Good);
    }
    if kind == Kind::Program {
        return build_program(args, &schedule, json);
    }
    let contract = Chosen::named(&args.contract, &args.key)?;
    let source = contract.source();
    takers::ensure_formulas(&args.formulas, source.name(), |product| source.program_with(product))?;
    takers::ensure_code_rules(args.code, source.name(), &[args.rules.revision], || source.program())?;
    let built = build_one(contract, &schedule, args, args.path().map(Path::to_owned))?;
    let chosen = &built.trials[0];
    code_limit::note(args.fork, built.contract.source().name(), chosen.compiled.code.len(), Some(chosen.gas));
    if json {
        let mut object = to_json(&built);
        add_artifact(&mut object, &built.artifact(args), args)?;
        output::json(&object)?;
    } else if args.explain {
        output::result(&explained(&built))?;
    } else if built.path.is_some() {
        output::result(&to_text(&[built]))?;
    } else {
        args.format().print(&built.artifact(args))?;
    }
    Ok(Verdict::Good)
}

/// A contract that a revision cannot express, and why.
type LeftOut = (&'static str, anyhow::Error);

/// Every contract that the revision can express; the others with the reason.
fn build_all(schedule: &GasSchedule, args: &BuildArgs) -> Result<(Vec<Built>, Vec<LeftOut>)> {
    let (mut built, mut left_out) = (Vec::new(), Vec::new());
    let each = in_parallel(CONTRACTS, |contract| {
        let in_directory =
            |directory: &Path| directory.join(format!("{}.{}", contract.name, args.format().extension()));
        build_one(Chosen::Listed(contract), schedule, args, args.path().map(in_directory))
    });
    for (contract, one) in CONTRACTS.iter().zip(each) {
        match one {
            Err(error) if is_inexpressible(&error) || error.is::<TooLong>() => left_out.push((contract.name, error)),
            one => built.push(one?),
        }
    }
    let asked = if args.code_limit.is_some() { " in code that is short enough" } else { "" };
    ensure!(!built.is_empty(), "no contract is expressed by {}{asked}", args.rules.revision);
    Ok((built, left_out))
}

/// With --format and without --output, what would be printed stands in the object.
fn add_artifact(object: &mut Value, artifact: &Artifact<'_>, args: &BuildArgs) -> Result<()> {
    if let (Some(format), None) = (args.format, args.path()) {
        object["artifact"] = format.value(artifact)?;
    }
    Ok(())
}

/// Compiles a program of the user's.
fn build_program(args: &BuildArgs, schedule: &GasSchedule, json: bool) -> Result<Verdict> {
    let path = &args.contract;
    let revision = args.rules.revision;
    let program = program_file::read(path)?;
    takers::ensure_code_rules(args.code, path, &[revision], || program.clone())?;
    let dialect = args.dialect();
    let multiples = args.formulas.multiples_of_program();
    let compile = |dialect| program_file::compile(path, &program, revision, schedule, multiples, dialect);
    let compiled = match args.code_limit {
        Some(limit) => limit.within(path, dialect, compile(dialect)?, compile, |compiled| compiled.code.len())?,
        None => compile(dialect)?,
    };
    let name = match path.as_str() {
        "-" => "program".into(),
        _ => Path::new(path).file_stem().unwrap_or_default().to_string_lossy(),
    };
    let (compiled, contract, address) = (&compiled, None, args.address);
    let bytes = compiled.code.len();
    let proof = judged(args, schedule, path, || program.clone(), &compiled.code)?;
    code_limit::note(args.fork, path, bytes, None);
    let artifact = Artifact { name: &name, contract, compiled, schedule: schedule.name(), dialect, address };
    if let Some(output) = args.path() {
        args.format().write(&artifact, output)?;
    }
    if json {
        let mut object = report::code(compiled, args.fork);
        object["program"] = path.as_str().into();
        object["schedule"] = schedule.name().into();
        object["fork"] = args.fork.name().into();
        object["portable"] = dialect.portable.into();
        object["precompiles"] = dialect.precompiles.into();
        object["calls"] = args.calls.map(NonZeroU64::get).into();
        object["path"] = args.path().map(Path::to_string_lossy).into();
        proof.add_to(&mut object);
        add_artifact(&mut object, &artifact, args)?;
        output::json(&object)?;
    } else if let Some(output) = args.path() {
        output::result(&format!("{}: {} bytes", output.display(), compiled.code.len()))?;
    } else {
        args.format().print(&artifact)?;
    }
    Ok(Verdict::Good)
}

/// Compiles a contract in the variants asked for, and writes the first to the path.
fn build_one(contract: Chosen, schedule: &GasSchedule, args: &BuildArgs, path: Option<PathBuf>) -> Result<Built> {
    let revision = args.rules.revision;
    let dialect = args.dialect();
    let source = contract.source();
    let trials = match args.code_limit {
        Some(limit) => limit.trials(&args.formulas, source, (revision, schedule, dialect))?,
        None => {
            let trials = args.formulas.trials(source, revision, schedule, dialect);
            trials.with_context(|| format!("compiling {} for {revision}", source.name()))?
        }
    };
    let cheapest = &trials[0];
    let recorded = || source.program_as(cheapest.variant.form(cheapest.length));
    let proof = judged(args, schedule, source.name(), recorded, &cheapest.compiled.code)?;
    let built = Built { contract, schedule: schedule.name().to_owned(), dialect, trials, path, proof };
    if let Some(path) = &built.path {
        make_directory_of(path, args)?;
        args.format().write(&built.artifact(args), path)?;
    }
    Ok(built)
}

/// Verdict on code; its certificate is written where one is asked for.
fn judged(
    args: &BuildArgs,
    schedule: &GasSchedule,
    name: &str,
    recorded: impl FnOnce() -> Program,
    code: &[u8],
) -> Result<Proof> {
    let proof = Proof::of(args.rules.revision, schedule, recorded, code);
    if let Some(path) = &args.certificate {
        proof.write(name, path)?;
    }
    Ok(proof)
}

/// With `all`, a contract's name has directories of its own below the one asked for.
fn make_directory_of(path: &Path, args: &BuildArgs) -> Result<()> {
    match path.parent() {
        Some(directory) if args.contract == "all" => {
            fs::create_dir_all(directory).with_context(|| format!("making the directory {}", directory.display()))
        }
        _ => Ok(()),
    }
}

fn to_json(Built { contract, schedule, dialect, trials, path, proof }: &Built) -> Value {
    let mut object = json!({
        "contract": contract.source().name(),
        "schedule": schedule,
        "fork": dialect.fork.name(),
        "portable": dialect.portable,
        "precompiles": dialect.precompiles,
        "calls": dialect.deployment.map(|deployment| deployment.calls.get()),
        "f2mul": trials[0].variant.product.multiplications(),
        "variants": trials.iter().map(report::variant).collect::<Vec<_>>(),
        "path": path.as_deref().map(Path::to_string_lossy),
    });
    if let (Some(object), Value::Object(code)) =
        (object.as_object_mut(), report::code(&trials[0].compiled, dialect.fork))
    {
        object.extend(code);
    }
    proof.add_to(&mut object);
    object
}

fn to_text(built: &[Built]) -> String {
    let mut rows =
        table(&["contract", "revision", "code bytes", "an account", "slots", "memory bytes", "field instructions", ""]);
    for Built { contract, trials, path, dialect, .. } in built {
        let compiled = &trials[0].compiled;
        let fits = if report::fits(compiled.code.len(), dialect.fork) { "fits" } else { "too long" };
        let path = path.as_ref().map_or(String::new(), |path| path.display().to_string());
        rows.add_row(vec![
            contract.source().name().into(),
            compiled.revision.name().into(),
            right(grouped(compiled.code.len() as u64)),
            fits.into(),
            right(compiled.slots),
            right(grouped(u64::from(compiled.memory_bytes))),
            right(grouped(compiled.field_instructions as u64)),
            path.into(),
        ]);
    }
    rows.trim_fmt()
}

/// The chosen variant, and the gas of every other variant of the contract.
fn explained(Built { contract, schedule, trials, proof, .. }: &Built) -> String {
    let mut rows = table(&[
        "",
        "products in Fp2",
        "small multiples",
        "gas of the example",
        "more",
        "code bytes",
        "field instructions",
    ]);
    let chosen = &trials[0];
    for (place, Trial { variant, compiled, gas, .. }) in trials.iter().enumerate() {
        let more = if *gas < chosen.gas {
            format!("−{}", percent(chosen.gas - gas, chosen.gas))
        } else {
            percent(gas - chosen.gas, chosen.gas)
        };
        rows.add_row(vec![
            if place == 0 { "chosen".into() } else { "".into() },
            format!("{} multiplications", variant.product.multiplications()).into(),
            report::small_multiples(variant.multiples).into(),
            right(grouped(*gas)),
            right(if place == 0 { String::new() } else { more }),
            right(grouped(compiled.code.len() as u64)),
            right(grouped(compiled.field_instructions as u64)),
        ]);
    }
    let revision = chosen.compiled.revision;
    format!(
        "{} under {revision}, schedule {schedule}; variants that give the same code are shown once\n{}\n\n{}",
        contract.source().name(),
        proof.describe(),
        rows.trim_fmt()
    )
}

/// `part` of `whole` in percent, with two decimals.
fn percent(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole.max(1));
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}
