//! `residue compare`: one contract under several revisions and schedules, side by side.
//!
//! A revision that cannot express the contract, or that no chosen schedule is for, is left out with the reason. The others
//! must all return what the precompile does where the contract replaces one, and else what the evaluator makes of its program.

mod tables;

use std::borrow::Cow;
use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use clap::Args;
use residue_compiler::{Dialect, SmallMultiples, compile_as};
use residue_engine::Fork;
use residue_engine::native::{NativeError, NativeOutput};
use residue_ir::{Outcome, Program, evaluate_within};
use residue_isa::{GasSchedule, Revision};
use residue_workbench::Machine;
use residue_workbench::op_classes::OpClasses;
use residue_workbench::parallel::in_parallel;
use residue_workbench::{Candidates, EngineKind, Execution, Job, Setup, Trial, VariantError, native};
use serde_json::{Value, json};

use crate::formulas::Formulas;
use crate::options::{CodeRules, InterfaceRules, Rules, schedule_file};
use crate::subject::{Chosen, KeyOptions, ProofOptions, given_or_example};
use crate::takers::{self, Kind, Reads};
use crate::verdict::Verdict;
use crate::waiting::WaitingLine;
use crate::{input, output, program_file, report};

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue compare bls12_381/fp2_mul
  residue compare bls12_381/fp2_mul --revisions evm384-v7 --schedules evmone,model-a --no-time
  residue compare examples/ir/polynomial.ir --input @examples/ir/polynomial.hex --no-time
  residue compare bls12_381/fp2_mul --no-time --markdown")]
pub struct CompareArgs {
    /// A contract of `residue list contracts`, or a file of a program whose name ends in .ir; - for a program on standard input.
    pub contract: String,
    /// The interface revisions; without it every one that can express the contract.
    #[arg(long, value_name = "REVISION", value_delimiter = ',')]
    pub revisions: Vec<Revision>,
    /// Gas schedules, each as --schedule takes it; a revision runs under those that are for it. Each revision's own without it.
    #[arg(long, value_name = "NAME|FILE", value_delimiter = ',')]
    pub schedules: Vec<String>,
    /// For a verifier: its key.
    #[command(flatten)]
    pub key: KeyOptions,
    /// For a verifier: a proof.
    #[command(flatten)]
    pub proof: ProofOptions,
    /// Its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// With what is compiled: which engines it is for.
    #[command(flatten)]
    pub code: CodeRules,
    /// The hard fork, whose rules hold for all other instructions.
    #[arg(long, value_name = "FORK", default_value_t = Fork::default())]
    pub fork: Fork,
    /// Gas for each frame.
    #[arg(long, value_name = "GAS", default_value = "1000000000", value_parser = input::number, allow_hyphen_values = true)]
    pub gas: u64,
    /// Calldata: hexadecimal, or a file of it (raw bytes if the name ends in .bin). The contract's example without it.
    #[arg(long, value_name = "HEX|@FILE", allow_hyphen_values = true, conflicts_with = "proof")]
    pub input: Option<String>,
    /// The input that comes with the contract, as without --input.
    #[arg(long, conflicts_with_all = ["input", "proof"])]
    pub example: bool,
    /// Skip timing.
    #[arg(long)]
    pub no_time: bool,
    /// Print a table in Markdown, as the documents have it.
    #[arg(long)]
    pub markdown: bool,
}

/// All that was compared.
struct Comparison {
    compared: Compared,
    input: Vec<u8>,
    native: Option<Result<NativeOutput, NativeError>>,
    /// Required output, or none if the input must be refused.
    expected: Option<Vec<u8>>,
    is_choice_shown: bool,
    rows: Vec<ComparedRow>,
    left_out: Vec<LeftOut>,
}

/// Turns and calls of a program that the evaluator does at most.
const STEPS_MAX: u64 = 1 << 22;

/// Outcome of the program under the evaluator.
fn evaluated(compared: &Compared, input: &[u8]) -> Result<Outcome> {
    evaluate_within(&compared.program(), input, STEPS_MAX)
        .with_context(|| format!("{} has no outcome on this input that others could be held to", compared.name()))
}

/// Subject of the comparison.
enum Compared {
    Contract(Chosen),
    Program { path: String, program: Box<Program> },
}

impl Compared {
    /// The subject; every given option has an effect on it under one of these revisions.
    fn new(args: &CompareArgs, revisions: &[Revision]) -> Result<Self> {
        let name = &args.contract;
        let kind = Kind::of(name, &args.key, Reads::Programs)?;
        let example = [("--example", args.example)];
        kind.ensure_takes(name, &[&args.key.given(), &args.proof.given(), &args.formulas.given(), &example])?;
        let compared = match kind {
            Kind::Program => Self::Program { path: name.clone(), program: Box::new(program_file::read(name)?) },
            _ => Self::Contract(Chosen::named(name, &args.key)?),
        };
        if let Some(contract) = compared.contract() {
            takers::ensure_formulas(&args.formulas, name, |product| contract.source().program_with(product))?;
        }
        takers::ensure_code_rules(args.code, name, revisions, || compared.program().into_owned())?;
        Ok(compared)
    }

    const fn contract(&self) -> Option<&Chosen> {
        match self {
            Self::Contract(contract) => Some(contract),
            Self::Program { .. } => None,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Contract(contract) => contract.source().name(),
            Self::Program { path, .. } => path,
        }
    }

    /// One line: what it computes.
    fn summary(&self) -> &str {
        match self {
            Self::Contract(contract) => contract.source().summary(),
            Self::Program { program, .. } => &program.name,
        }
    }

    /// The program as it is written.
    fn program(&self) -> Cow<'_, Program> {
        match self {
            Self::Contract(contract) => Cow::Owned(contract.source().program()),
            Self::Program { program, .. } => Cow::Borrowed(program),
        }
    }

    /// The precompile that it replaces.
    fn precompile(&self) -> Option<u16> {
        self.contract().and_then(|contract| contract.source().precompile())
    }
}

/// The compilation of a subject for several revisions: the formulas of a contract are recorded once.
enum Compiling<'a> {
    Contract(Candidates<'a>),
    Program(&'a Program, SmallMultiples),
}

impl<'a> Compiling<'a> {
    fn new(compared: &'a Compared, formulas: &Formulas) -> Self {
        match compared {
            Compared::Contract(contract) => Self::Contract(formulas.candidates(contract.source())),
            Compared::Program { program, .. } => Self::Program(program, formulas.multiples_of_program()),
        }
    }

    /// The code and, where there is a choice, the multiplications of a product in Fp2.
    fn compile(
        &self,
        revision: Revision,
        schedule: &GasSchedule,
        dialect: Dialect,
    ) -> Result<(Vec<u8>, Option<u32>), VariantError> {
        match self {
            Self::Contract(candidates) => {
                let Trial { variant, compiled, .. } = candidates.trials(revision, schedule, dialect)?.swap_remove(0);
                Ok((compiled.code, Some(variant.product.multiplications())))
            }
            Self::Program(program, multiples) => {
                Ok((compile_as(program, revision, schedule, *multiples, dialect)?.code, None))
            }
        }
    }
}

/// The code for one revision under one schedule.
struct CompiledRow {
    setup: Setup,
    code: Vec<u8>,
    f2mul: Option<u32>,
}

/// The contract under one revision and one schedule.
struct ComparedRow {
    setup: Setup,
    /// Multiplications of a product in Fp2, where there is a choice.
    f2mul: Option<u32>,
    execution: Execution,
    agrees: bool,
}

/// As far as a row has come.
enum Row {
    Compiled(Box<CompiledRow>),
    Run(Box<ComparedRow>),
}

/// Compiles for one revision under one schedule; or gives the reason why there is no code.
fn compiled(
    args: &CompareArgs,
    compiling: &Compiling<'_>,
    revision: Revision,
    schedule: Option<&String>,
) -> Result<Result<CompiledRow, LeftOut>> {
    let rules = Rules { interface: InterfaceRules { revision, schedule: schedule.cloned() }, fork: args.fork };
    let setup = rules.setup(EngineKind::Batch)?;
    match compiling.compile(revision, &setup.schedule, args.code.dialect(args.fork)) {
        Ok((code, f2mul)) => Ok(Ok(CompiledRow { setup, code, f2mul })),
        Err(VariantError::Compile(error)) => {
            Ok(Err(LeftOut { revision, schedule: schedule.cloned(), reason: error.to_string() }))
        }
        Err(error) => Err(error.into()),
    }
}

/// A revision without a row, and why.
struct LeftOut {
    revision: Revision,
    schedule: Option<String>,
    reason: String,
}

/// Runs the contract everywhere and compares.
pub fn compare(args: &CompareArgs, json: bool) -> Result<Verdict> {
    ensure!(!(json && args.markdown), "--json and --markdown exclude each other");
    let comparison = Comparison::new(args)?;
    let machine = Machine::this();
    if json {
        output::json(&comparison.to_json(&machine))?;
    } else if args.markdown {
        output::result(&comparison.to_markdown())?;
    } else {
        output::result(&comparison.to_text(&machine))?;
    }
    // Nothing was asked of the code: a contract and revisions that cannot express it are bad usage.
    ensure!(!comparison.rows.is_empty(), "no revision was compared");
    if !comparison.agrees() {
        output::message("error", "not every result is the same");
    }
    Ok(Verdict::of(comparison.agrees()))
}

impl Comparison {
    fn new(args: &CompareArgs) -> Result<Self> {
        let revisions = if args.revisions.is_empty() { Revision::every().collect() } else { args.revisions.clone() };
        let compared = Compared::new(args, &revisions)?;
        let contract = compared.contract();
        let input = given_or_example(args.input.as_deref(), &args.proof, contract)?;
        let native = contract.and_then(|contract| native(contract.source(), &input));
        let expected = match &native {
            Some(native) => native.as_ref().ok().map(|native| native.output.clone()),
            None => match evaluated(&compared, &input)? {
                Outcome::Returned(output) => Some(output),
                Outcome::Ended => Some(Vec::new()),
                Outcome::Failed => None,
            },
        };
        let is_choice_shown = args.formulas.f2mul.is_some();
        let (rows, left_out) = (Vec::new(), Vec::new());
        let mut comparison = Self { compared, input, native, expected, is_choice_shown, rows, left_out };
        let schedules = Schedules::new(&args.schedules)?;
        let mut wanted = Vec::new();
        for &revision in &revisions {
            let names = schedules.names_for(revision);
            if names.is_empty() {
                let reason = format!("no schedule of {} is for it", args.schedules.join(", "));
                comparison.left_out.push(LeftOut { revision, schedule: None, reason });
            }
            wanted.extend(names.into_iter().map(|name| (revision, name)));
        }
        schedules.ensure_used(&revisions)?;
        comparison.compare(args, &wanted)?;
        Ok(comparison)
    }

    /// Compiles and runs for each revision and schedule, or notes why that is not possible.
    fn compare(&mut self, args: &CompareArgs, wanted: &[(Revision, Option<String>)]) -> Result<()> {
        let waiting = WaitingLine::of(wanted.len(), || format!("comparing {}", self.compared.name()));
        let compiling = Compiling::new(&self.compared, &args.formulas);
        let row = |(revision, schedule): &(Revision, Option<String>)| {
            let compiled = compiled(args, &compiling, *revision, schedule.as_ref());
            // A timed execution runs alone.
            let row = match compiled {
                Ok(Ok(compiled)) if !args.no_time => Ok(Ok(Row::Compiled(Box::new(compiled)))),
                Ok(Ok(compiled)) => self.run(args, compiled).map(|row| Ok(Row::Run(Box::new(row)))),
                Ok(Err(left_out)) => Ok(Err(left_out)),
                Err(error) => Err(error),
            };
            waiting.done();
            row
        };
        let rows = in_parallel(wanted, row);
        let (mut run, mut left_out) = (Vec::new(), Vec::new());
        for row in rows {
            match row? {
                Ok(Row::Run(row)) => run.push(*row),
                Ok(Row::Compiled(compiled)) => run.push(self.run(args, *compiled)?),
                Err(reason) => left_out.push(reason),
            }
        }
        drop(compiling);
        self.rows = run;
        self.left_out.extend(left_out);
        Ok(())
    }

    fn run(&self, args: &CompareArgs, CompiledRow { setup, code, f2mul }: CompiledRow) -> Result<ComparedRow> {
        let execution = setup
            .execute(Job {
                code: &code,
                input: &self.input,
                gas: args.gas,
                timed: !args.no_time,
                explained: false,
                native: self.compared.precompile(),
            })
            .with_context(|| format!("running {} under {}", self.compared.name(), setup.revision))?;
        let ended = &execution.ended;
        let is_expected = match &self.expected {
            Some(expected) => ended.is_success && ended.output == *expected,
            None => !ended.is_success,
        };
        let agrees = is_expected && execution.disagreement.is_none();
        Ok(ComparedRow { setup, f2mul, execution, agrees })
    }

    /// True if there is something to compare and all of it agrees.
    fn agrees(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.agrees)
    }

    fn to_json(&self, machine: &Machine) -> Value {
        let rows = self.rows.iter().map(|row| {
            let mut object = report::to_json(&row.setup, &row.execution, None, machine);
            object["agrees"] = row.agrees.into();
            object["f2mul"] = row.f2mul.into();
            object["op_classes"] = json!(row.classes());
            object
        });
        let left_out = self.left_out.iter().map(|LeftOut { revision, schedule, reason }| {
            json!({ "revision": revision.name(), "schedule": schedule, "reason": reason })
        });
        let native = match &self.native {
            None => Value::Null,
            Some(Ok(native)) => {
                json!({ "output": output::hex(&native.output), "gas_used": native.gas_used, "error": Value::Null })
            }
            Some(Err(error)) => json!({ "output": Value::Null, "gas_used": Value::Null, "error": error.to_string() }),
        };
        json!({
            "success": self.agrees(),
            "contract": self.compared.name(),
            "input_bytes": self.input.len(),
            "native": native,
            "expected": self.expected.as_deref().map(output::hex),
            "rows": rows.collect::<Vec<_>>(),
            "left_out": left_out.collect::<Vec<_>>(),
            "machine": machine.to_json(),
        })
    }
}

impl ComparedRow {
    fn classes(&self) -> Option<OpClasses> {
        let counted = self.execution.counted.as_ref()?;
        Some(OpClasses::of(self.setup.revision, &counted.ops, &counted.lanes))
    }
}

/// The schedules asked for; those in files are read.
struct Schedules<'a> {
    given: Vec<(&'a str, Option<GasSchedule>)>,
}

impl<'a> Schedules<'a> {
    fn new(given: &'a [String]) -> Result<Self> {
        let read = given.iter().map(|given| Ok((given.as_str(), schedule_file(given)?)));
        Ok(Self { given: read.collect::<Result<_>>()? })
    }

    /// Those for a revision, as its option takes them; its own, which needs no option, if none was asked for.
    fn names_for(&self, revision: Revision) -> Vec<Option<String>> {
        if self.given.is_empty() {
            return vec![None];
        }
        let given = self.given.iter().filter(|(name, file)| is_for(name, file.as_ref(), revision));
        given.map(|&(name, _)| Some(name.to_owned())).collect()
    }

    /// Refuses a schedule that is for none of the revisions: a misspelt name, most likely.
    fn ensure_used(&self, revisions: &[Revision]) -> Result<()> {
        for (name, file) in &self.given {
            if revisions.iter().any(|&revision| is_for(name, file.as_ref(), revision)) {
                continue;
            }
            ensure!(file.is_none(), "the gas schedule of {name} is for none of the revisions");
            let known: BTreeSet<String> = revisions.iter().flat_map(|&revision| GasSchedule::names(revision)).collect();
            return Err(GasSchedule::unknown("", name, known.iter().map(String::as_str)).into());
        }
        Ok(())
    }
}

fn is_for(name: &str, file: Option<&GasSchedule>, revision: Revision) -> bool {
    match file {
        Some(schedule) => schedule.is_for(revision),
        None => GasSchedule::names(revision).iter().any(|known| known.eq_ignore_ascii_case(name)),
    }
}
