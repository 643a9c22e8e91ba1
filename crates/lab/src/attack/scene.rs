//! A candidate on its revision, with all that it takes to run it again: its world, its transactions, their times.

use rand_chacha::ChaCha8Rng;
use residue_engine::{Batching, Engine, EngineConfig, Halt, Tracer, World};
use residue_isa::{GasSchedule, Revision, UnknownName};
use residue_workbench::harness::time_ns;
use serde::{Deserialize, Serialize};

use super::genome::{CONTRACTS_MAX, Genome};
use super::ground::{Bounds, Ground};
use super::layout::{CONTRACTS_AT, contract, driver};
use super::room::Room;
use crate::error::LabError;

/// Gas of the first call of a contract in a transaction (EIP-2929).
const COLD_GAS: u64 = 2_600;
/// An execution of less gas says little: making an EVM for it takes longer.
const GAS_MIN: u64 = 50_000;
/// A history that takes longer has its gas cut to [`SHORT`], as nothing worse has to be shown then.
const TIME_MAX_NS: f64 = 5e8;
/// A part of the gas that tells how long all of it takes.
const SHORT: u64 = 16;
/// The contract that calls the others, or the only one.
const ENTRY: [u8; 20] = [0xd0; 20];

/// A candidate with what it needs to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scene {
    /// Name of the revision.
    pub revision: String,
    /// The gas schedule, as TOML.
    pub schedule: String,
    /// Bounds of operands.
    pub bounds: Bounds,
    /// Gas of a whole entry.
    pub gas: u64,
    /// The most bytes of code.
    pub code_bytes_max: usize,
    /// The candidate.
    pub genome: Genome,
}

/// Contracts, and the transactions that call them.
#[derive(Debug)]
pub struct Staged {
    world: World,
    config: EngineConfig,
    /// Installed codes: the code that is called from outside first, then the first of the copies, if there are any.
    pub codes: Vec<Vec<u8>>,
    /// Calldata and gas of each transaction.
    pub entries: Vec<(Vec<u8>, u64)>,
}

/// Time and gas of each transaction of a history, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Times(pub Vec<Execution>);

/// One transaction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Execution {
    /// Gas of execution.
    pub gas_used: u64,
    /// Its time.
    pub time_ns: f64,
    /// Reason for the halt.
    pub halt: Halt,
}

impl Scene {
    /// A candidate on its ground.
    pub fn new(ground: &Ground, schedule: &GasSchedule, gas: u64, code_bytes_max: usize, genome: &Genome) -> Self {
        let revision = ground.revision.name().to_owned();
        let (schedule, genome) = (schedule.to_toml(), genome.clone());
        Self { revision, schedule, bounds: ground.bounds, gas, code_bytes_max, genome }
    }

    /// The revision and the prices.
    pub fn rules(&self) -> Result<(Revision, GasSchedule), LabError> {
        let unknown = |error: UnknownName| LabError::Scene { reason: error.to_string() };
        let revision = self.revision.parse().map_err(unknown)?;
        Ok((revision, GasSchedule::from_toml(&self.schedule, "the schedule of a scene")?))
    }

    /// Makes everything that is not timed.
    pub fn stage(&self) -> Result<Staged, LabError> {
        let (revision, schedule) = self.rules()?;
        let ground = Ground::new(revision, self.bounds, self.gas);
        // More contracts than gas reaches need not be there.
        let reached = u16::try_from(self.gas / COLD_GAS).unwrap_or(CONTRACTS_MAX).saturating_add(2);
        let contracts = self.genome.contracts.clamp(1, CONTRACTS_MAX.min(reached));
        // One that stopped at once would use no gas.
        let genome = Genome { is_idle: self.genome.is_idle && contracts > 1, contracts, ..self.genome.clone() };
        let room = Room::new(&ground, &genome);
        let contract = contract(&genome, &room, self.code_bytes_max)?;

        let config = EngineConfig::new(revision, schedule);
        let mut world = World::new(&Engine::unshared(config.clone())?);
        let mut codes = Vec::new();
        if contracts > 1 {
            codes.push(driver(&genome, &room, contracts)?);
            for (number, at) in (0..contracts).zip(CONTRACTS_AT..) {
                let mut address = [0; 20];
                address[16..].copy_from_slice(&at.to_be_bytes());
                world.install(address, &contract.code(number), 0);
            }
        }
        codes.push(contract.code(0));
        world.install(ENTRY, &codes[0], 0);
        let entry = |entry: &super::genome::Entry| {
            let gas = self.gas / 16 * u64::from(entry.gas_16ths.clamp(1, 16));
            (room.input(entry.to_tail), gas)
        };
        let entries = genome.history.iter().map(entry).collect();
        Ok(Staged { world, config, codes, entries })
    }
}

impl Staged {
    /// One code as it is, called once.
    pub fn honest(config: EngineConfig, code: Vec<u8>, input: Vec<u8>, gas: u64) -> Result<Self, LabError> {
        let mut world = World::new(&Engine::unshared(config.clone())?);
        world.install(ENTRY, &code, 0);
        Ok(Self { world, config, codes: vec![code], entries: vec![(input, gas)] })
    }

    /// An engine that has never seen the contracts.
    pub fn engine(&self, batching: Batching) -> Result<Engine, LabError> {
        Ok(Engine::unshared(EngineConfig { batching, ..self.config.clone() })?)
    }

    /// The transactions on an engine, from the state at the beginning.
    pub fn run(&self, engine: &Engine) -> Times {
        self.run_part(engine, 1)
    }

    /// The transactions, each with a part of its gas.
    fn run_part(&self, engine: &Engine, part: u64) -> Times {
        let mut world = self.world.with_engine(engine);
        let execution = |(input, gas): &(Vec<u8>, u64)| {
            let (outcome, time_ns) = time_ns(|| world.call(ENTRY, input, gas / part));
            Execution { gas_used: outcome.gas_used, time_ns, halt: outcome.halt }
        };
        Times(self.entries.iter().map(execution).collect())
    }

    /// Nanoseconds for a gas of the worst transaction by revm as it is; none where that halts before the engine does, as it meets instructions of a
    /// revision.
    pub fn stock_ns_per_gas(&self, Times(expected): &Times) -> Result<Option<f64>, LabError> {
        let mut executions = Vec::new();
        for ((input, gas), expected) in self.entries.iter().zip(expected) {
            let world = self.world.with_engine(&self.engine(Batching::Off)?);
            let (gas_used, time_ns) = time_ns(|| world.gas_used_by_stock(ENTRY, input, *gas));
            if gas_used != Some(expected.gas_used) {
                return Ok(None);
            }
            executions.push(Execution { time_ns, ..*expected });
        }
        Ok(Some(Times(executions).worst_ns_per_gas()))
    }

    /// The same with less gas, if the transactions take very long for it.
    pub fn in_time(mut self) -> Result<Self, LabError> {
        let most_gas = self.entries.iter().map(|(_, gas)| *gas).max().unwrap_or(0);
        if most_gas / SHORT < GAS_MIN {
            return Ok(self);
        }
        let Times(times) = self.run_part(&self.engine(Batching::Warm)?, SHORT);
        let time_ns: f64 = times.iter().map(|execution| execution.time_ns).sum();
        if time_ns * SHORT as f64 > TIME_MAX_NS {
            // A small number.
            self.entries.iter_mut().for_each(|(_, gas)| *gas /= SHORT);
        }
        Ok(self)
    }

    /// The transactions by an engine without blocks, telling `tracer` every instruction.
    pub fn trace<T: Tracer>(&self, tracer: &mut T) -> Result<(), LabError> {
        let mut world = self.world.with_engine(&self.engine(Batching::Off)?);
        for (input, gas) in &self.entries {
            world.call_traced(ENTRY, input, *gas, tracer);
        }
        Ok(())
    }
}

impl Times {
    /// Nanoseconds for a gas of the worst transaction that has used enough gas to say so.
    pub fn worst_ns_per_gas(&self) -> f64 {
        let most = self.0.iter().map(|execution| execution.gas_used).max().unwrap_or(0);
        let counts = |execution: &&Execution| execution.gas_used >= GAS_MIN.min(most);
        self.0.iter().filter(counts).map(Execution::ns_per_gas).fold(0.0, f64::max)
    }

    /// Gas of all.
    pub fn gas_used(&self) -> u64 {
        self.0.iter().map(|execution| execution.gas_used).sum()
    }
}

impl Execution {
    fn ns_per_gas(&self) -> f64 {
        self.time_ns / self.gas_used.max(1) as f64 // Gas is far below 2⁵³.
    }
}

/// A random generator of a seed.
pub(super) fn seeded(seed: u64) -> ChaCha8Rng {
    rand_chacha::rand_core::SeedableRng::seed_from_u64(seed)
}
