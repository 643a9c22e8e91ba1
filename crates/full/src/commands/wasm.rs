//! `residue wasm`: modules of others with the host functions of 2020, and contracts of ours as modules.

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use residue_isa::text_of;
use residue_wasm::engine::NumberType;
use residue_wasm::host::Outside;
use residue_wasm::{Compiled, EngineKind, Export, Form, Instance, Number, RunError};
use residue_workbench::Machine;
use residue_workbench::harness::{Rounds, time_ns};
use residue_workbench::statistics::{Spread, whole_ns};
use serde_json::{Map, Value, json};

use residue_command::input::{self, MemoryRange};
use residue_command::output::{self, Target};
use residue_command::tables::{duration, grouped, short_hex};
use residue_command::verdict::Verdict;

/// Options of `wasm`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue wasm build bls12_381/fp2_mul --output fp2_mul.wasm
  echo '(module (func (export \"f\")))' | residue wasm run - --export f")]
pub struct WasmArgs {
    /// The task.
    #[command(subcommand)]
    pub command: WasmCommand,
}

/// Tasks on modules.
#[derive(Debug, Subcommand)]
pub enum WasmCommand {
    /// Run a function of a module, with the host functions env.bignum_f1m_* and env.bignum_int_*.
    Run(RunArgs),
    /// Write a contract as a module.
    Build(BuildArgs),
}

/// Options of `wasm run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  echo '(module (func (export \"f\") (param i64)))' | residue wasm run - --export f --arg 21
  residue wasm build bls12_381/fp2_mul --output fp2_mul.wasm
  residue wasm run fp2_mul.wasm --export main --arg 0 --engine wasmi --memory 0:65536 --json")]
pub struct RunArgs {
    /// File with the module, binary or text; - for standard input.
    pub module: String,
    /// The function to call.
    #[arg(long, value_name = "NAME")]
    pub export: String,
    /// A number that the function takes, in order; may be given several times.
    #[arg(long = "arg", value_name = "NUMBER", allow_hyphen_values = true)]
    pub arguments: Vec<String>,
    /// The engine: wasmi interprets, wasmtime compiles to machine code.
    #[arg(long, default_value_t)]
    pub engine: EngineKind,
    /// Input: hexadecimal, or a file of it (raw bytes if the name ends in .bin). It is what eth2_blockDataCopy copies, and is
    /// written to memory at --input-at, or where the module's global `input` says.
    #[arg(long, value_name = "HEX|@FILE", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub input: String,
    /// Write the input to memory at this address, before the call.
    #[arg(long, value_name = "ADDRESS", requires = "input", value_parser = input::number, allow_hyphen_values = true)]
    pub input_at: Option<u64>,
    /// Show these bytes of memory after the call; zeros beyond the end.
    #[arg(long, value_name = "FROM:TO", value_parser = input::memory_range, allow_hyphen_values = true)]
    pub memory: Option<MemoryRange>,
    /// Trap after about that many instructions; without it a module may run for ever.
    #[arg(long, value_name = "NUMBER", value_parser = input::number, allow_hyphen_values = true)]
    pub fuel: Option<u64>,
    /// Skip timing of repeated calls.
    #[arg(long)]
    pub no_time: bool,
}

/// Options of `wasm build`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  residue wasm build bls12_381/pairing --form host-functions --output pairing.wasm")]
pub struct BuildArgs {
    /// A contract of `residue list contracts`.
    pub contract: String,
    /// The place of the field arithmetic.
    #[arg(long, value_enum, default_value_t = FormChoice::SelfContained)]
    pub form: FormChoice,
    /// Write the module to this file; - for standard output, with nothing else.
    #[arg(short, long, value_name = "FILE")]
    pub output: Target,
}

/// Place of the field arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormChoice {
    /// The module itself.
    SelfContained,
    /// The host: env.bignum_f1m_add, _sub and _mul.
    HostFunctions,
}

impl FormChoice {
    const fn form(self) -> Form {
        match self {
            FormChoice::SelfContained => Form::SelfContained,
            FormChoice::HostFunctions => Form::HostFunctions,
        }
    }
}

/// Does it.
pub fn wasm(args: &WasmArgs, json: bool) -> Result<Verdict> {
    match &args.command {
        WasmCommand::Run(args) => run(args, json),
        WasmCommand::Build(args) => build(args, json),
    }
}

fn build(args: &BuildArgs, json: bool) -> Result<Verdict> {
    let contract = residue_contracts::named(&args.contract)?;
    let form = args.form.form();
    let lowered = residue_wasm::lower(&contract.program(), form);
    let lowered = lowered.with_context(|| format!("making a module of {}", contract.name))?;
    let Target::File(path) = &args.output else {
        ensure!(!json, "--output - and --json both write to stdout: --output takes a file beside --json");
        output::bytes(&lowered.module)?;
        return Ok(Verdict::Good);
    };
    output::file(path, &lowered.module)?;
    if json {
        output::json(&json!({
            "contract": contract.name,
            "form": form.name(),
            "file": path.display().to_string(),
            "module_bytes": lowered.module.len(),
            "memory_bytes": lowered.memory_bytes,
        }))?;
    } else {
        let bytes = grouped(lowered.module.len() as u64);
        output::result(&format!("{}, {}: {bytes} bytes in {}", contract.name, form.name(), path.display()))?;
    }
    Ok(Verdict::Good)
}

/// End of a call of a module.
struct Called {
    ended: Result<Vec<Number>, RunError>,
    compile_ns: u64,
    instantiate_ns: u64,
    cold_ns: u64,
    time_ns: Option<u64>,
    memory_bytes: usize,
    shown: Option<Vec<u8>>,
    host_calls: Vec<(&'static str, u64)>,
    state_root: Option<[u8; 32]>,
}

fn run(args: &RunArgs, json: bool) -> Result<Verdict> {
    let module = module(&args.module)?;
    let (compiled, compile_ns) = timed(|| args.engine.compile(&module, args.fuel));
    let compiled = compiled.with_context(|| input::shown(&args.module).to_owned())?;
    let arguments = arguments(&compiled.exports(), &args.export, &args.arguments)?;
    let call = Call { compiled: compiled.as_ref(), args, arguments, input: input::calldata(&args.input)? };
    let called = call.run(compile_ns)?;
    if json {
        output::json(&to_json(args, &called))?;
    } else {
        output::result(&to_text(args, &called))?;
    }
    if let Err(error) = &called.ended {
        output::message("error", &error.to_string());
    }
    Ok(Verdict::of(called.ended.is_ok()))
}

/// A call that can be made again and again, each time in a new instance.
struct Call<'a> {
    compiled: &'a dyn Compiled,
    args: &'a RunArgs,
    arguments: Vec<Number>,
    input: Vec<u8>,
}

impl Call<'_> {
    fn run(&self, compile_ns: u64) -> Result<Called> {
        let (instance, instantiate_ns) = timed(|| self.instantiate());
        let mut instance = match instance {
            Ok(instance) => instance,
            Err(error) if error.is_trap() => return Ok(Called::trapped_at_start(error, compile_ns, instantiate_ns)),
            Err(error) => return Err(error.into()),
        };
        let (ended, cold_ns) = timed(|| instance.call(&self.args.export, &self.arguments));
        if let Err(error) = &ended
            && !error.is_trap()
        {
            bail!("{error}");
        }
        let memory = match instance.memory() {
            Ok(memory) => memory,
            Err(error) if self.args.memory.is_some() => return Err(error.into()),
            Err(_) => &[],
        };
        let outside = instance.outside();
        let host_calls = outside.counts();
        let keeps_root = host_calls.iter().any(|&(name, _)| name == "eth2_savePostStateRoot");
        Ok(Called {
            time_ns: if ended.is_ok() && !self.args.no_time { self.median_ns() } else { None },
            ended,
            compile_ns,
            instantiate_ns,
            cold_ns,
            memory_bytes: memory.len(),
            shown: self.args.memory.as_ref().map(|range| range.of(memory)),
            state_root: keeps_root.then_some(outside.state_root),
            host_calls,
        })
    }

    /// A new instance with the input in its memory.
    fn instantiate(&self) -> Result<Box<dyn Instance>, RunError> {
        let outside = Outside { block_data: self.input.clone(), ..Outside::default() };
        let mut instance = self.compiled.instantiate(outside)?;
        let exported = instance.global("input").map(|address| u64::from(address.cast_unsigned()));
        if let Some(address) = self.args.input_at.or(exported) {
            instance.write(address, &self.input)?;
        }
        Ok(instance)
    }

    /// The median time of calls, each in a new instance: what a call leaves in memory is not there for the next.
    fn median_ns(&self) -> Option<u64> {
        let round = |_| {
            let mut instance = self.instantiate()?;
            let (ended, time_ns) = time_ns(|| instance.call(&self.args.export, &self.arguments));
            ended.map(|_| time_ns)
        };
        let times_ns = Rounds::BRIEF.collect(round).ok()?;
        Some(whole_ns(Spread::of(&times_ns).median))
    }
}

/// Result of a function, and its time in whole nanoseconds.
fn timed<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let (result, time_ns) = time_ns(work);
    (result, whole_ns(time_ns))
}

impl Called {
    fn trapped_at_start(error: RunError, compile_ns: u64, instantiate_ns: u64) -> Self {
        Self {
            ended: Err(error),
            compile_ns,
            instantiate_ns,
            cold_ns: 0,
            time_ns: None,
            memory_bytes: 0,
            shown: None,
            host_calls: Vec::new(),
            state_root: None,
        }
    }
}

/// The module of a file: binary, or text that is made binary.
fn module(path: &str) -> Result<Vec<u8>> {
    let bytes = input::raw(path).context("reading the module")?;
    if bytes.starts_with(b"\0asm") {
        return Ok(bytes);
    }
    let neither = || format!("{} is no module: it begins neither as the binary form nor as text", input::shown(path));
    let text = text_of(&bytes).with_context(neither)?;
    ensure!(text.trim_start().starts_with(['(', ';']), neither());
    let parsed = wat::parse_str(text).map_err(|error| anyhow!("{error}"));
    parsed.with_context(|| format!("reading the text of {}", input::shown(path)))
}

/// Numbers of the types that the function takes. Where their count or the function's name is wrong, the engine says so.
fn arguments(exports: &[Export], name: &str, texts: &[String]) -> Result<Vec<Number>> {
    let export = exports.iter().find(|export| export.name == name);
    let types = export.and_then(|export| export.params.clone()).unwrap_or_default();
    let ty = |place: usize| types.get(place).copied().unwrap_or(NumberType::I64);
    texts.iter().enumerate().map(|(place, text)| number(text, ty(place)).with_context(|| "--arg")).collect()
}

/// A number of a type: integers as decimal or hexadecimal, with a sign or as the unsigned number of the same bits.
fn number(text: &str, ty: NumberType) -> Result<Number> {
    let wrong = || anyhow!("{text:?} is no {}", ty.name());
    let integer = || {
        let magnitude = input::number(text.strip_prefix('-').unwrap_or(text)).map_err(|_| wrong())?;
        Ok::<i128, anyhow::Error>(if text.starts_with('-') { -i128::from(magnitude) } else { magnitude.into() })
    };
    Ok(match ty {
        NumberType::I32 => {
            let value = integer()?;
            let signed = i32::try_from(value).ok().or_else(|| u32::try_from(value).ok().map(u32::cast_signed));
            Number::I32(signed.ok_or_else(wrong)?)
        }
        NumberType::I64 => {
            let value = integer()?;
            let signed = i64::try_from(value).ok().or_else(|| u64::try_from(value).ok().map(u64::cast_signed));
            Number::I64(signed.ok_or_else(wrong)?)
        }
        NumberType::F32 => Number::F32(text.parse().map_err(|_| wrong())?),
        NumberType::F64 => Number::F64(text.parse().map_err(|_| wrong())?),
    })
}

fn number_text(number: Number) -> String {
    match number {
        Number::I32(value) => value.to_string(),
        Number::I64(value) => value.to_string(),
        Number::F32(value) => value.to_string(),
        Number::F64(value) => value.to_string(),
    }
}

/// Infinities and the like, which JSON does not have as numbers, are text.
fn number_json(number: Number) -> Value {
    let value = match number {
        Number::I32(value) => json!(value),
        Number::I64(value) => json!(value),
        Number::F32(value) if value.is_finite() => json!(value),
        Number::F64(value) if value.is_finite() => json!(value),
        other => json!(number_text(other)),
    };
    json!({ "type": number.ty().name(), "value": value })
}

fn to_json(args: &RunArgs, called: &Called) -> Value {
    let calls: Map<String, Value> =
        called.host_calls.iter().map(|&(name, count)| (name.to_owned(), json!(count))).collect();
    let results =
        called.ended.as_ref().map(|results| results.iter().map(|&result| number_json(result)).collect::<Vec<_>>());
    json!({
        "success": called.ended.is_ok(),
        "trap": called.ended.as_ref().err().map(ToString::to_string),
        "results": results.unwrap_or_default(),
        "memory": called.shown.as_deref().map(output::hex),
        "memory_bytes": called.memory_bytes,
        "state_root": called.state_root.map(|root| output::hex(&root)),
        "host_calls": calls,
        "compile_ns": called.compile_ns,
        "instantiate_ns": called.instantiate_ns,
        "cold_ns": called.cold_ns,
        "time_ns": called.time_ns,
        "engine": args.engine.name(),
        "export": args.export,
        "machine": Machine::this().slug(),
    })
}

fn to_text(args: &RunArgs, called: &Called) -> String {
    let mut lines = Vec::new();
    match &called.ended {
        Ok(results) if results.is_empty() => lines.push(("result", "none".to_owned())),
        Ok(results) => {
            lines.push(("result", results.iter().map(|&result| number_text(result)).collect::<Vec<_>>().join(", ")));
        }
        Err(error) => lines.push(("result", error.to_string())),
    }
    if let Some(shown) = &called.shown {
        lines.push(("memory", short_hex(shown)));
    }
    if let Some(root) = &called.state_root {
        lines.push(("state root", output::hex(root)));
    }
    for (name, count) in &called.host_calls {
        lines.push((name, format!("{} calls", grouped(*count))));
    }
    lines.push(("memory bytes", grouped(called.memory_bytes as u64)));
    lines.push(("engine", args.engine.name().to_owned()));
    lines.push(("compilation", duration(called.compile_ns)));
    lines.push(("start", duration(called.instantiate_ns)));
    lines.push(("first call", duration(called.cold_ns)));
    if let Some(time_ns) = called.time_ns {
        lines.push(("call", format!("{} (median)", duration(time_ns))));
    }
    lines.iter().map(|(name, value)| format!("{name:<24}{value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_numbers_of_their_type() {
        assert_eq!(number("-1", NumberType::I32).unwrap(), Number::I32(-1));
        assert_eq!(number("0xffffffff", NumberType::I32).unwrap(), Number::I32(-1));
        assert_eq!(number("18446744073709551615", NumberType::I64).unwrap(), Number::I64(-1));
        assert_eq!(number("-2.5", NumberType::F64).unwrap(), Number::F64(-2.5));
        for (text, ty) in [("4294967296", NumberType::I32), ("-2147483649", NumberType::I32), ("x", NumberType::I64)] {
            assert_eq!(number(text, ty).unwrap_err().to_string(), format!("{text:?} is no {}", ty.name()));
        }
    }
}
