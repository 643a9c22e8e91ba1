//! Traces of executions as EIP-3155 has them: a line of JSON for each instruction, and one for the transaction.
//!
//! Field instructions have the names that they have in their revision. A STOP that stands for the end of the code has no line.

use std::io::{self, Write};
use std::sync::Arc;
use std::{fmt, mem};

use residue_engine::revm::Inspector;
use residue_engine::revm::bytecode::opcode::OpCode;
use residue_engine::revm::context::ContextTr;
use residue_engine::revm::interpreter::interpreter_types::{Jumps, ReturnData};
use residue_engine::revm::interpreter::{Interpreter, InterpreterAction};
use residue_engine::revm::primitives::U256;
use residue_engine::{Engine, FieldMachine, Halt};
use residue_isa::Revision;
use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::attribution::first_use;
use crate::execution::{Ended, Execution, Setting};
use crate::file::{Content, FileError, parse, read};
use crate::filter::Filter;
use crate::judge::{Entry, Failure, Ready, Rules, Subject, Verdict};
use crate::report::{Place, Report};
use crate::run::{places, post};
use crate::sources::Source;

/// A trace that could not be made.
#[derive(Debug, Error)]
pub enum TraceError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The trace cannot be written.
    #[error("writing the trace: {0}")]
    Write(#[from] io::Error),
}

/// Whose rules to trace under.
#[derive(Debug, Clone, Copy)]
pub enum Traced<'a> {
    /// revm as it is.
    Stock,
    /// A revision, by its first engine. No blocks run as plans while every instruction is looked at.
    Subject(&'a Subject),
}

/// The line of an instruction; fields in the order of the EIP.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    pc: usize,
    op: u8,
    #[serde(serialize_with = "hex_number")]
    gas: u64,
    #[serde(serialize_with = "hex_number")]
    gas_cost: u64,
    #[serde(serialize_with = "hex_numbers")]
    stack: Vec<U256>,
    depth: usize,
    return_data: String,
    #[serde(serialize_with = "hex_number")]
    refund: u64,
    mem_size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    op_name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

/// The line of a transaction; the first four fields are the EIP's, the next its optional one.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    state_root: String,
    output: String,
    #[serde(serialize_with = "hex_number")]
    gas_used: u64,
    pass: bool,
    fork: &'a str,
    test: &'a str,
    index: [usize; 3],
    rules: &'a str,
    verdict: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Traces the entries of the files under the rules given, one after the other, and judges them.
pub fn trace(
    sources: &[Source],
    filter: &Filter,
    traced: &[Traced<'_>],
    out: &mut dyn Write,
) -> Result<Report, TraceError> {
    let subjects: Vec<Subject> = traced.iter().filter_map(|traced| traced.subject().cloned()).collect();
    let mut report = Report::default();
    for (file, source) in sources.iter().cloned().map(Arc::new).enumerate() {
        let content = read(&source)?;
        trace_content((file, &source), content, (filter, traced, &subjects), out, &mut report)?;
    }
    out.flush()?;
    Ok(report)
}

/// Traces the entries of a file that is not written yet. `source` says where it is to be.
pub fn trace_text(source: Source, text: &str, traced: Traced<'_>, out: &mut dyn Write) -> Result<(), TraceError> {
    let source = Arc::new(source);
    let content = parse(&source, text)?;
    let subjects: Vec<Subject> = traced.subject().cloned().into_iter().collect();
    trace_content((0, &source), content, (&Filter::default(), &[traced], &subjects), out, &mut Report::default())
}

fn trace_content(
    (file, source): (usize, &Arc<Source>),
    content: Content,
    (filter, traced, subjects): (&Filter, &[Traced<'_>], &[Subject]),
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<(), TraceError> {
    report.files += u64::from(!content.tests.is_empty());
    report.others.extend(content.others.into_iter().map(|what| (source.path.clone(), what)));
    for (position, test) in content.tests.iter().enumerate() {
        let mut has_entries = false;
        for place in places(file, position, test, filter) {
            let Some(post) = post(test, &place) else {
                continue;
            };
            has_entries = true;
            let entry = Entry { test, fork: &place.fork.name, post };
            for traced in traced {
                trace_entry(entry, &place, *traced, out)?;
            }
            report.note(&source.folder, place.clone(), post.exception(), entry.judge(subjects, None));
        }
        report.tests += u64::from(has_entries);
    }
    Ok(())
}

impl<'a> Traced<'a> {
    fn subject(self) -> Option<&'a Subject> {
        match self {
            Traced::Stock => None,
            Traced::Subject(subject) => Some(subject),
        }
    }
}

/// Writes the lines of an entry. One that is not executed has the line of the transaction alone.
fn trace_entry(entry: Entry<'_>, place: &Place, traced: Traced<'_>, out: &mut dyn Write) -> io::Result<()> {
    let engine = traced.subject().and_then(|subject| subject.engines.first());
    let rules = engine.map_or("stock", |engine| engine.config().revision.name());
    let (state, execution, verdict) = match entry.ready() {
        Ready::Decided(verdict) => (entry.test.state.root(), None, verdict),
        Ready::Setting(setting) => {
            let execution = match engine {
                None => {
                    let (execution, tracer) = setting.stock_observed(Eip3155::new(None, &mut *out));
                    tracer.finish()?;
                    execution
                }
                Some(engine) => {
                    let tracer = Eip3155::new(Some(engine.config().revision), &mut *out);
                    let (execution, tracer) = setting.with_engine_observed(engine, tracer);
                    tracer.finish()?;
                    execution
                }
            };
            let verdict = verdict_on(entry, &setting, engine, &execution);
            (setting.state_after(&execution).root(), Some(execution), verdict)
        }
    };
    let ended = execution.as_ref().map(|execution| &execution.ended);
    let indexes = place.indexes;
    let summary = Summary {
        state_root: state.to_string(),
        output: execution.as_ref().map(Execution::output).unwrap_or_default().to_string(),
        gas_used: execution.as_ref().map_or(0, Execution::gas_used),
        pass: matches!(ended, Some(Ended::Executed(result)) if result.is_success()),
        fork: entry.fork,
        test: &place.test,
        index: [indexes.data, indexes.gas, indexes.value],
        rules,
        verdict: name_of(&verdict),
        error: match (ended, verdict) {
            (Some(Ended::Refused(refusal)), _) => Some(refusal.reason.clone()),
            (Some(Ended::Broken(reason)), _) => Some(reason.clone()),
            (None, Verdict::Passed { refusal }) => refusal,
            _ => None,
        },
    };
    write_line(out, &summary)
}

/// Verdict on the one execution.
fn verdict_on(entry: Entry<'_>, setting: &Setting<'_>, engine: Option<&Engine>, execution: &Execution) -> Verdict {
    let Err(fault) = entry.check(setting, execution) else {
        return Verdict::Passed { refusal: None };
    };
    // A test that names its revision is about those opcodes.
    let undeclared = engine.filter(|_| entry.test.unit.info.revision.is_none());
    match undeclared.and_then(|engine| Some((engine.config().revision, first_use(setting, engine)?))) {
        Some(found) => Verdict::Uses(vec![found]),
        None => {
            let rules = engine.map_or(Rules::Stock, Rules::of);
            Verdict::Failed(vec![Failure { rules, fault, differences: Vec::new() }])
        }
    }
}

fn name_of(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Passed { .. } => "passed".to_owned(),
        Verdict::Uses(uses) => uses.first().map_or_else(String::new, |(_, used)| used.to_string()),
        Verdict::Skipped(reason) => format!("skipped: {reason}"),
        Verdict::Failed(failures) => {
            failures.first().map_or_else(String::new, |failure| format!("failed: {}", failure.fault))
        }
    }
}

/// Writes a line for each instruction.
pub struct Eip3155<W> {
    revision: Option<Revision>,
    out: W,
    written: io::Result<()>,
    /// The instruction that is executed.
    line: Option<Line>,
    /// Refunds of the running frames.
    refunds: Vec<i64>,
}

impl<W> fmt::Debug for Eip3155<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eip3155").field("revision", &self.revision).finish_non_exhaustive()
    }
}

/// Our reason for the running frame to halt, where a context has one.
pub trait HaltOf {
    /// The reason; none where the context has none.
    fn halt(&self) -> Option<Halt>;
}

impl HaltOf for () {
    fn halt(&self) -> Option<Halt> {
        None
    }
}

impl HaltOf for FieldMachine {
    fn halt(&self) -> Option<Halt> {
        FieldMachine::halt(self)
    }
}

impl<W: Write> Eip3155<W> {
    /// Lines with the names that field instructions have in a revision.
    pub fn new(revision: Option<Revision>, out: W) -> Self {
        Self { revision, out, written: Ok(()), line: None, refunds: Vec::new() }
    }

    fn finish(self) -> io::Result<()> {
        self.written
    }

    /// Writes the line of the transaction after those of its instructions; an error is that of the first line that could not be written.
    pub fn end(&mut self, line: &impl Serialize) -> io::Result<()> {
        mem::replace(&mut self.written, Ok(()))?;
        write_line(&mut self.out, line)?;
        self.out.flush()
    }

    /// The name of the instruction that starts `code`, whose first byte is `opcode`.
    fn name(&self, code: &[u8], opcode: u8) -> Option<&'static str> {
        let own = self.revision.and_then(|revision| revision.own_row_at(code)).map(|row| row.mnemonic);
        own.or_else(|| OpCode::new(opcode).map(|opcode| opcode.as_str()))
    }
}

impl<W: Write, CTX: ContextTr<Chain: HaltOf>> Inspector<CTX> for Eip3155<W> {
    fn step(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
        let depth = interpreter.input.depth;
        self.refunds.truncate(depth);
        self.refunds.resize(depth, 0);
        self.refunds.push(interpreter.gas.refunded());
        let (pc, op) = (interpreter.bytecode.pc(), interpreter.bytecode.opcode());
        let code = interpreter.bytecode.original_byte_slice();
        let is_inside = pc < code.len();
        self.line = is_inside.then(|| Line {
            pc,
            op,
            gas: interpreter.gas.remaining(),
            gas_cost: 0,
            stack: interpreter.stack.data().to_vec(),
            depth: depth + 1,
            return_data: interpreter.return_data.buffer().to_string(),
            refund: u64::try_from(self.refunds.iter().sum::<i64>()).unwrap_or_default(),
            mem_size: interpreter.memory.len(),
            op_name: self.name(code.get(pc..).unwrap_or_default(), op),
            error: None,
        });
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, context: &mut CTX) {
        let Some(mut line) = self.line.take().filter(|_| self.written.is_ok()) else {
            return;
        };
        line.gas_cost = line.gas.saturating_sub(interpreter.gas.remaining());
        if let Some(InterpreterAction::Return(result)) = interpreter.bytecode.action.as_ref() {
            let from_revm = || Halt::from_revm(result.result, Some(interpreter));
            let halt = context.chain().halt().unwrap_or_else(from_revm);
            if halt.is_exceptional() {
                line.gas_cost = line.gas;
            }
            line.error = (!halt.is_success()).then(|| halt.name());
        }
        self.written = write_line(&mut self.out, &line);
    }
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

fn hex_number<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{number:#x}"))
}

fn hex_numbers<S: Serializer>(numbers: &[U256], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(numbers.iter().map(|number| format!("{number:#x}")))
}
