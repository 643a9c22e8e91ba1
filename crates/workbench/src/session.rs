//! Requests by name and text: rules by name, programs as text, and code to run, trace and profile.
//! Everything comes back as the JSON of [`crate::report`]; nothing here takes a clock or a thread, so that a page can ask it too.

use residue_compiler::{CompileError, Compiled, Dialect, SmallMultiples, compile_as};
use residue_engine::{Engine, EngineConfig, EngineError, Outcome};
use residue_ir::{self as ir, Length, NoOutcome, Program, evaluate_within, text};
use residue_isa::assembly::lines;
use residue_isa::{Fork, GasSchedule, Revision, ScheduleError, UnknownName};
use serde_json::{Value, json};
use thiserror::Error;

use crate::execution::SetupError;
use crate::formats::{Artifact, FormatError};
use crate::inspect::flame::flame_graph;
use crate::inspect::frame::FrameAt;
use crate::inspect::profile::{Measure, Node, Profile, profile};
use crate::inspect::trace::{Executed, Tracing};
use crate::machine::Machine;
use crate::specification::SpecificationError;
use crate::{EngineKind, Job, Setup, report};

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum SessionError {
    /// Nothing has this name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// There is no such gas schedule, or not for the revision.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The text of a gas schedule is one for other revisions.
    #[error("{file}: the gas schedule {name:?} is not for {revision}")]
    OtherRevision {
        /// The file as it was named.
        file: String,
        /// Name of the schedule.
        name: String,
        /// The revision asked for.
        revision: Revision,
    },
    /// The text is no program.
    #[error(transparent)]
    Program(#[from] text::ReadError),
    /// The program has no code under these rules.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The engine cannot be made ready.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Nor can an execution.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The specification cannot say how the code ends.
    #[error(transparent)]
    Specification(#[from] SpecificationError),
    /// The code has no such form.
    #[error(transparent)]
    Artifact(#[from] FormatError),
    /// Nor does anything write it.
    #[error("{0:?} is no format: yul, solidity, json and creation are")]
    Format(String),
    /// The evaluator ends without an outcome.
    #[error(transparent)]
    Outcome(#[from] NoOutcome),
}

/// An interface, its prices, and what code for it keeps to.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The interface.
    pub revision: Revision,
    /// The prices.
    pub schedule: GasSchedule,
    /// Hard fork and portability.
    pub dialect: Dialect,
}

impl Rules {
    /// From names. `schedule` is the revision's own where none is named; `toml` is the text of a schedule and the name of its file,
    /// in place of a name.
    pub fn new(
        revision: &str,
        schedule: Option<&str>,
        toml: Option<(&str, &str)>,
        fork: Option<&str>,
        portable: bool,
    ) -> Result<Self, SessionError> {
        let revision: Revision = revision.parse()?;
        let schedule = match (schedule, toml) {
            (_, Some((text, file))) => {
                let schedule = GasSchedule::from_toml(text, file)?;
                if !schedule.is_for(revision) {
                    let name = schedule.name().to_owned();
                    return Err(SessionError::OtherRevision { file: file.to_owned(), name, revision });
                }
                schedule
            }
            (Some(name), None) => GasSchedule::named(name, revision)?,
            (None, None) => GasSchedule::default_for(revision)?,
        };
        let fork = fork.map_or(Ok(Fork::default()), str::parse)?;
        Ok(Self {
            revision,
            schedule,
            dialect: Dialect { fork, portable, precompiles: false, deployment: None, length: Length::Full },
        })
    }

    /// An engine under these rules.
    pub fn engine(&self) -> Result<Engine, EngineError> {
        let Self { revision, schedule, dialect } = self;
        Engine::new(EngineConfig { fork: dialect.fork, ..EngineConfig::new(*revision, schedule.clone()) })
    }

    /// Adds the rules to a report of code, as `residue build --json` has them.
    pub fn add_to(&self, known: &mut Value) {
        known["schedule"] = self.schedule.name().into();
        known["fork"] = self.dialect.fork.name().into();
        known["portable"] = self.dialect.portable.into();
    }
}

/// The evaluator's outcome of a program: `outcome`, which is `returned`, `ended` or `failed`, and `output`. An error if there is
/// none within so many turns and calls.
pub fn evaluate(program: &Program, input: &[u8], steps_max: u64) -> Result<Value, SessionError> {
    Ok(match evaluate_within(program, input, steps_max)? {
        ir::Outcome::Returned(output) => json!({ "outcome": "returned", "output": report::hex(&output) }),
        ir::Outcome::Ended => json!({ "outcome": "ended", "output": "0x" }),
        ir::Outcome::Failed => json!({ "outcome": "failed", "output": null }),
    })
}

/// A program's code with the rules that it is for.
#[derive(Debug)]
pub struct Code {
    rules: Rules,
    compiled: Compiled,
}

impl Code {
    /// Compiles a program.
    pub fn new(program: &Program, rules: Rules, multiples: SmallMultiples) -> Result<Self, SessionError> {
        let Rules { revision, schedule, dialect } = &rules;
        let compiled = compile_as(program, *revision, schedule, multiples, *dialect)?;
        Ok(Self { rules, compiled })
    }

    /// The code, and what is known of it.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The rules that it is for.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Report of the code, as in `residue build --json`.
    pub fn report(&self) -> Value {
        let mut known = report::code(&self.compiled, self.rules.dialect.fork);
        self.rules.add_to(&mut known);
        known
    }

    /// An execution that is not timed, as `residue run --json` says it, with `disagreement` beside.
    pub fn run(&self, input: &[u8], gas: u64, kind: EngineKind) -> Result<Value, SessionError> {
        let Rules { revision, schedule, dialect } = self.rules.clone();
        let setup = Setup::new(revision, schedule, dialect.fork, kind)?;
        let job = Job { code: &self.compiled.code, input, gas, timed: false, explained: false, native: None };
        let execution = setup.execute(job)?;
        let mut told = report::execution(&setup, &execution, None, &Machine::this());
        told["disagreement"] = execution.disagreement.clone().into();
        Ok(told)
    }

    /// The blocks of field instructions with their plans, as `residue run --explain --json` says them.
    pub fn blocks(&self, input: &[u8], gas: u64) -> Result<Value, SessionError> {
        let Rules { revision, schedule, dialect } = self.rules.clone();
        let setup = Setup::new(revision, schedule, dialect.fork, EngineKind::Batch)?;
        Ok(setup.blocks(&self.compiled.code, input, gas).iter().map(report::block).collect())
    }

    /// A trace, as `residue trace --json` says it: so many steps after the first `skipped` ones.
    pub fn trace(&self, input: &[u8], gas: u64, skipped: usize, limit: usize) -> Result<Value, SessionError> {
        let (mut steps, mut count) = (Vec::new(), 0usize);
        let told = |executed: Executed| {
            if count >= skipped && steps.len() < limit {
                let map = &self.compiled.source_map;
                steps.push(report::step(
                    &executed,
                    Some(executed.pc).filter(|_| executed.depth == 0).and_then(|pc| map.name_at(pc)),
                ));
            }
            count += 1;
        };
        let mut tracing = Tracing::new(self.rules.revision, told);
        let outcome = self.rules.engine()?.run_traced(&self.compiled.code, input, gas, &mut tracing);
        drop(tracing);
        Ok(json!({
            "success": outcome.is_success(),
            "halt": outcome.halt.name(),
            "gas_used": outcome.gas_used,
            "steps_left_out": count - steps.len(),
            "steps": steps,
        }))
    }

    /// The frame before step `number` of an execution, from 0: `stack`, the top first, `memory` up to so many bytes, `slots` as
    /// numbers, `modulus` and `gas`. Null where the execution has fewer steps.
    pub fn frame(&self, input: &[u8], gas: u64, number: usize, memory_bytes_max: usize) -> Result<Value, SessionError> {
        let mut frame = FrameAt::new(number, memory_bytes_max);
        self.rules.engine()?.run_traced(&self.compiled.code, input, gas, &mut frame);
        Ok(frame.told.unwrap_or(Value::Null))
    }

    /// The code as other tools take it: `yul`, `solidity` or `json`, as `residue build --format` writes it.
    pub fn format(&self, name: &str, format: &str) -> Result<String, SessionError> {
        let artifact = Artifact {
            name,
            contract: None,
            compiled: &self.compiled,
            schedule: self.rules.schedule.name(),
            dialect: self.rules.dialect,
            address: None,
        };
        Ok(match format {
            "yul" => artifact.yul(),
            "solidity" => artifact.solidity()?,
            "json" => format!("{}\n", artifact.json()?),
            "creation" => report::hex(&artifact.creation()?),
            _ => return Err(SessionError::Format(format.to_owned())),
        })
    }

    /// A profile by gas, as `residue profile --json` says it.
    pub fn profile(&self, input: &[u8], gas: u64) -> Result<Value, SessionError> {
        let (profile, outcome) = self.profiled(input, gas)?;
        let mut told = report::profile(&profile);
        told["success"] = outcome.is_success().into();
        told["halt"] = outcome.halt.name().into();
        Ok(told)
    }

    /// The same as a flame graph, an SVG, without the stretches of lines.
    pub fn flame(&self, input: &[u8], gas: u64, title: &str) -> Result<String, SessionError> {
        Ok(flame_graph(&without_lines(self.profiled(input, gas)?.0), title, Measure::Gas))
    }

    fn profiled(&self, input: &[u8], gas: u64) -> Result<(Profile, Outcome), EngineError> {
        let Compiled { code, source_map, .. } = &self.compiled;
        let profiled = profile(&self.rules.engine()?, code, source_map, input, gas, 0);
        Ok(profiled.expect("without times there is one execution"))
    }

    /// Lines of assembly: offset, text, the function and the stretches around it, and the innermost stretches of
    /// the operations that it computes or is part of: those of the lanes of a field instruction, one in stack code.
    pub fn listing(&self) -> Value {
        let map = &self.compiled.source_map;
        let line = |(pc, line): (usize, residue_isa::assembly::Line)| {
            let function = map.function_at(pc).and_then(|function| map.function(function)).map(|(name, _)| name);
            let span = map.span_at(pc);
            let innermost = |&path: &usize| map.path(path).last().map(|name| name.to_string());
            let lanes = span.map(|span| span.lanes.iter().map(innermost).collect::<Vec<_>>());
            json!([pc, line.text, function, lanes.unwrap_or_default()])
        };
        lines(&self.compiled.code, self.rules.revision).map(line).collect()
    }
}

/// A profile in which what the stretches of lines cost is their parents'.
fn without_lines(profile: Profile) -> Profile {
    let mut kept: Vec<Option<usize>> = Vec::with_capacity(profile.nodes.len());
    let mut nodes = Vec::new();
    for mut node in profile.nodes {
        node.parent = node.parent.and_then(|parent| kept[parent]);
        match node.parent {
            Some(parent) if node.name.starts_with(text::LINE_PREFIX) => {
                let parent_node: &mut Node = &mut nodes[parent];
                parent_node.gas += node.gas;
                kept.push(Some(parent));
            }
            _ => {
                kept.push(Some(nodes.len()));
                nodes.push(node);
            }
        }
    }
    Profile { nodes, ..profile }
}
