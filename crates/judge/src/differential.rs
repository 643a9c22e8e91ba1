//! One program on the engine, plain, in batches and traced, and on the specification: they must agree on halt, output, gas
//! and memory.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::{GasSchedule, Revision, disassemble, opcode};
use residue_spec::{Env, Prices};
use residue_specified::{spec_prices, specified};

/// Code with what it is run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The code.
    pub code: Vec<u8>,
    /// The input.
    pub input: Vec<u8>,
    /// The gas.
    pub gas: u64,
}

/// The engine and the specification under the same revision, prices and ceiling of memory.
#[derive(Debug)]
pub struct Pair {
    revision: Revision,
    engine: Engine,
    /// Runs every block as a plan, where the revision has slots.
    batch_engine: Engine,
    trace_engine: Engine,
    spec: &'static residue_spec::Revision,
    prices: Prices,
    env: Env,
}

/// End of a frame, comparable between both sides. Memory is empty after an exceptional halt, where it is undefined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The halt's name.
    pub halt: &'static str,
    /// The output.
    pub output: Vec<u8>,
    /// The gas used.
    pub gas_used: u64,
    /// The gas left.
    pub gas_left: u64,
    /// The final memory.
    pub memory: Vec<u8>,
}

/// Two sides that do not agree on a program.
#[derive(Debug, Clone)]
pub struct Disagreement {
    /// Revision and schedule.
    pub setting: String,
    /// The program, made as short as it goes.
    pub program: Program,
    /// The revision, to disassemble under.
    pub revision: Revision,
    /// Name of the part that differs.
    pub what: String,
}

impl Pair {
    /// Both sides under a published or any other schedule.
    pub fn new(revision: Revision, schedule: GasSchedule, memory_limit_bytes: u64) -> Self {
        let prices = spec_prices(&schedule, revision);
        let config =
            EngineConfig { memory_limit_bytes, batching: Batching::Off, ..EngineConfig::new(revision, schedule) };
        let batch_config = EngineConfig { batching: Batching::Always, ..config.clone() };
        let trace_config = EngineConfig { batching: Batching::Traces, ..config.clone() };
        let [engine, batch_engine, trace_engine] = [config, batch_config, trace_config]
            .map(|config| Engine::new(config).expect("the schedule is one of the revision"));
        let spec = specified(revision);
        // The accounts of the engine's frames.
        let env = Env { address: [0xc0; 20], caller: [0xca; 20], memory_limit_bytes, ..Env::default() };
        Self { revision, engine, batch_engine, trace_engine, spec, prices, env }
    }

    /// The revision of both sides.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// End of the program under the specification; none if the program needs a world around its frame.
    pub fn specified(&self, program: &Program) -> Option<Ending> {
        let Program { code, input, gas } = program;
        let outcome = residue_spec::run(self.spec, &self.prices, &self.env, code, input, *gas);
        let residue_spec::Outcome { halt, output, gas_used, gas_left, memory } = outcome;
        let memory = if halt.is_exceptional() { Vec::new() } else { memory };
        halt.is_verdict().then_some(Ending { halt: halt.name(), output, gas_used, gas_left, memory })
    }

    /// Runs the program on all sides. The ending all agree on; none if the specification has no verdict, when the engine
    /// only has to agree with itself.
    pub fn judge(&self, program: &Program) -> Result<Option<Ending>, Box<Disagreement>> {
        self.judge_at(program, [program.gas])
    }

    /// Runs the program once for each amount of gas, on code that is prepared once; the last ending.
    pub fn judge_at(
        &self,
        program: &Program,
        gas: impl IntoIterator<Item = u64>,
    ) -> Result<Option<Ending>, Box<Disagreement>> {
        let mut prepared = self.engine.prepare(&program.code);
        let mut ending = None;
        for gas in gas {
            let program = Program { gas, ..program.clone() };
            ending = self.specified(&program);
            let plain = caught(|| prepared.run(&program.input, gas).into());
            if let Err(what) = self.compare(&program, ending.as_ref(), plain) {
                return Err(Box::new(self.disagreement(program, what)));
            }
        }
        Ok(ending)
    }

    fn compare(
        &self,
        program: &Program,
        specified: Option<&Ending>,
        plain: Result<Ending, String>,
    ) -> Result<(), String> {
        let plain = plain?;
        let counted = caught(|| self.engine.run_counted(&program.code, &program.input, program.gas))?;
        let split = counted.gas_split.total();
        let counted = Ending::from(counted.outcome);
        let [batched, by_traces] = [&self.batch_engine, &self.trace_engine]
            .map(|engine| caught(|| Ending::from(engine.run_code(&program.code, &program.input, program.gas))));
        if let Some(specified) = specified {
            equal("specification", specified, "engine", &plain)?;
        }
        equal("engine", &plain, "counting engine", &counted)?;
        equal("engine", &plain, "batch engine", &batched?)?;
        equal("engine", &plain, "engine with traces", &by_traces?)?;
        if split != counted.gas_used {
            return Err(format!("gas used is {}, its parts add up to {split}", counted.gas_used));
        }
        Ok(())
    }

    /// Shortens the program as long as some disagreement stays: runs of instructions are left out, long ones first.
    fn disagreement(&self, mut program: Program, mut what: String) -> Disagreement {
        let found = |candidate: &Program| {
            let mut prepared = self.engine.prepare(&candidate.code);
            let plain = caught(|| prepared.run(&candidate.input, candidate.gas).into());
            self.compare(candidate, self.specified(candidate).as_ref(), plain).err()
        };
        for count in [64, 32, 16, 8, 4, 2, 1, 3, 2, 1] {
            let mut pc = 0;
            while pc < program.code.len() {
                let mut shorter = program.clone();
                shorter.code.drain(pc..self.skip(&program.code, pc, count));
                match found(&shorter) {
                    Some(still) => (program, what) = (shorter, still),
                    None => pc = self.skip(&program.code, pc, 1),
                }
            }
        }
        let setting = format!("{} under {}", self.revision, self.prices.name);
        Disagreement { setting, program, revision: self.revision, what }
    }
}

impl Pair {
    /// The offset `count` instructions after `pc`, at most the end of the code.
    fn skip(&self, code: &[u8], mut pc: usize, count: usize) -> usize {
        for _ in 0..count {
            pc += self.revision.bytes_at(code.get(pc..).unwrap_or_default());
        }
        pc.min(code.len())
    }
}

impl From<residue_engine::Outcome> for Ending {
    fn from(outcome: residue_engine::Outcome) -> Self {
        let residue_engine::Outcome { halt, output, gas_used, gas_left, memory, .. } = outcome;
        let memory = if halt.is_exceptional() { Vec::new() } else { memory };
        Self { halt: halt.name(), output, gas_used, gas_left, memory }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, program, revision, what } = self;
        writeln!(f, "{setting}: {what}")?;
        writeln!(f, "gas {}, input 0x{}", program.gas, hex::encode(&program.input))?;
        writeln!(f, "code 0x{}", hex::encode(&program.code))?;
        write!(f, "{}", disassemble(&program.code, *revision))
    }
}

/// Every opcode the specification has an opinion on under a revision: its own and the EVM's that need no world.
pub fn specified_opcodes(revision: Revision) -> Vec<u8> {
    let rows = opcode::evm().iter().filter(|row| !residue_spec::evm::needs_world(row.byte));
    revision.opcodes().iter().chain(rows).map(|row| row.byte).collect()
}

/// The result, or what the panic said.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        format!("the engine panicked: {}", text.unwrap_or_default())
    })
}

fn equal(left: &str, a: &Ending, right: &str, b: &Ending) -> Result<(), String> {
    if a.halt != b.halt {
        return Err(format!("halt is {} by the {left}, {} by the {right}", a.halt, b.halt));
    }
    if (a.gas_used, a.gas_left) != (b.gas_used, b.gas_left) {
        return Err(format!("gas used is {} by the {left}, {} by the {right}", a.gas_used, b.gas_used));
    }
    equal_bytes("output", left, &a.output, right, &b.output)?;
    equal_bytes("memory", left, &a.memory, right, &b.memory)
}

fn equal_bytes(what: &str, left: &str, a: &[u8], right: &str, b: &[u8]) -> Result<(), String> {
    if a.len() != b.len() {
        return Err(format!("{what} has {} bytes by the {left}, {} by the {right}", a.len(), b.len()));
    }
    let Some(first) = a.iter().zip(b).position(|(a, b)| a != b) else {
        return Ok(());
    };
    let window = |bytes: &[u8]| hex::encode(&bytes[first..bytes.len().min(first + 16)]);
    Err(format!("{what} differs from byte {first}: {} by the {left}, {} by the {right}", window(a), window(b)))
}
