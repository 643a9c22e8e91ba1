//! Cycling through more contracts than a cache of analysed codes holds, by content of the code: batched beside plain.

use rand_chacha::rand_core::RngCore;
use residue_engine::{Batching, Engine, EngineConfig, World};
use residue_isa::opcode::evm as op;
use residue_isa::{Assembly, GasSchedule, Revision};
use residue_workbench::harness::time_ns;
use residue_workbench::statistics::Spread;

use super::gene::{Call, CallKind, Field, Gene, Operation};
use super::genome::Genome;
use super::ground::{Bounds, Ground};
use super::layout::{CONTRACTS_AT, driver};
use super::room::Room;
use super::scene::seeded;
use crate::bench::effort::{Observer, Progress};
use crate::bench::group::record_of;
use crate::error::LabError;
use crate::record::{Quantity, Record, RecordRow};

/// Name of the records.
pub const GROUP: &str = "cycle";
/// Gas that a called contract gets.
const CALL_GAS: u32 = 200;
/// Upper bound of the gas of a first call, with the code around it (EIP-2929).
const FIRST_GAS: u64 = 2_600 + 300;
/// Lower bound of the gas of a later call.
const LATER_GAS: u64 = 100 + 40;
/// Later turns take so long together, or are so many.
const TIME_MIN_NS: f64 = 2e7;
const TURNS_MAX: u64 = 1_000;
/// With blocks and without.
const BATCHINGS: [Batching; 2] = [Batching::Warm, Batching::Off];
/// Whom transactions call.
const ENTRY: [u8; 20] = [0xd0; 20];

/// Revision, prices, contracts and rounds of a measurement of calls in turn.
#[derive(Debug, Clone)]
pub struct Cycle {
    /// The revision.
    pub revision: Revision,
    /// The prices.
    pub schedule: GasSchedule,
    /// Contracts that are called in turn.
    pub contracts: u16,
    /// Bytes of each.
    pub code_bytes: usize,
    /// Lower bound of the turns, calls of all contracts, after the first one.
    pub turns: u64,
    /// Rounds of measurement.
    pub rounds: usize,
}

/// Code of the contracts. Each also holds its number, so that no two are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// STOP, then jump targets.
    StopTargets,
    /// Jump targets alone.
    Targets,
    /// STOP, then blocks of one product each, a jump target after each.
    StopBlocks,
    /// Such blocks alone.
    Blocks,
    /// STOP, then bytes at random.
    StopNoise,
    /// Bytes at random.
    Noise,
}

/// Times of one content, in nanoseconds for a gas.
#[derive(Debug, Clone)]
pub struct Cycled {
    /// The revision.
    pub revision: Revision,
    /// The content.
    pub content: Content,
    /// Contracts that are called in turn.
    pub contracts: u16,
    /// Later turns, batched and plain.
    pub later: [Spread; 2],
    /// The first transaction of an engine, which calls each contract once: batched and plain.
    pub first: [Spread; 2],
    samples: [[Vec<f64>; 2]; 2],
}

/// Measures every content.
pub fn cycle(cycles: &[Cycle], observer: &mut Observer<'_>) -> Result<(Vec<Cycled>, Record), LabError> {
    let mut all = Vec::new();
    let record = record_of(GROUP, || {
        for cycle in cycles {
            for (done, content) in Content::ALL.into_iter().enumerate() {
                observer(Progress { step: cycle.revision.name(), done, total: Content::ALL.len() });
                all.push(cycle.measure(content)?);
            }
        }
        Ok(all.iter().flat_map(Cycled::rows).collect())
    })?;
    Ok((all, record))
}

impl Content {
    /// Every content.
    pub const ALL: [Self; 6] =
        [Self::StopTargets, Self::Targets, Self::StopBlocks, Self::Blocks, Self::StopNoise, Self::Noise];

    /// As records have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::StopTargets => "stop-targets",
            Self::Targets => "targets",
            Self::StopBlocks => "stop-blocks",
            Self::Blocks => "blocks",
            Self::StopNoise => "stop-noise",
            Self::Noise => "noise",
        }
    }
}

impl Cycle {
    fn measure(&self, content: Content) -> Result<Cycled, LabError> {
        let config = EngineConfig::new(self.revision, self.schedule.clone());
        let mut installed = World::new(&Engine::unshared(config.clone())?);
        self.install(content, &mut installed)?;
        let first_gas = u64::from(self.contracts) * FIRST_GAS;
        let mut samples = [const { [const { Vec::new() }; 2] }; 2];
        let [later, first] = &mut samples;
        for _ in 0..self.rounds {
            for ((batching, later), first) in BATCHINGS.into_iter().zip(later.iter_mut()).zip(first.iter_mut()) {
                let engine = Engine::unshared(EngineConfig { batching, ..config.clone() })?;
                let mut world = installed.with_engine(&engine);
                let mut time = |gas| time_ns(|| world.call(ENTRY, &[], gas)).1;
                first.push(time(first_gas) / first_gas as f64); // Gas is far below 2⁵³.
                later.push(self.later(first_gas, &mut time));
            }
        }
        let [later, first] = [0, 1].map(|kind| [0, 1].map(|engine| Spread::of(&samples[kind][engine])));
        Ok(Cycled { revision: self.revision, content, contracts: self.contracts, later, first, samples })
    }

    /// Time for a gas of calls after the first ones. What those cost is in a transaction with more turns too, so the difference is
    /// that of later ones; there are more of them where they are over too soon to tell.
    fn later(&self, first_gas: u64, time: &mut impl FnMut(u64) -> f64) -> f64 {
        let turn_gas = u64::from(self.contracts) * LATER_GAS;
        let mut turns = self.turns.max(1);
        loop {
            let [short, long] = [time(first_gas), time(first_gas + turns * turn_gas)];
            if long - short >= TIME_MIN_NS || turns >= TURNS_MAX {
                return (long - short) / (turns * turn_gas) as f64; // Gas is far below 2⁵³.
            }
            turns *= 8;
        }
    }

    fn install(&self, content: Content, world: &mut World) -> Result<(), LabError> {
        let ground = Ground::new(self.revision, Bounds::Anywhere, FIRST_GAS);
        let call = Call { kind: CallKind::Static, gas: CALL_GAS };
        let genome = Genome { is_idle: true, contracts: self.contracts, call, ..Genome::of(Vec::new()) };
        let room = Room::new(&ground, &genome);
        world.install(ENTRY, &driver(&genome, &room, self.contracts)?, 0);
        let mut block = Assembly::new();
        room.emit(&mut block, Gene::Field(Field::one(Operation::Mul, [1, 1, 8])), None)?;
        block.op(op::JUMPDEST);
        let block = crate::opcodes::assembled(&block, self.revision)?;
        for (number, at) in (0..self.contracts).zip(CONTRACTS_AT..) {
            let mut address = [0; 20];
            address[16..].copy_from_slice(&at.to_be_bytes());
            world.install(address, &self.code(content, &block, number), 0);
        }
        Ok(())
    }

    fn code(&self, content: Content, block: &[u8], number: u16) -> Vec<u8> {
        let [high, low] = number.to_be_bytes();
        let numbered = [op::PUSH1 + 1, high, low, op::POP];
        let begin = match content {
            Content::StopTargets | Content::StopBlocks | Content::StopNoise => vec![op::STOP],
            _ => Vec::new(),
        };
        let mut code = [begin, numbered.to_vec()].concat();
        let left = self.code_bytes.saturating_sub(code.len());
        let mut rest = match content {
            Content::StopTargets | Content::Targets => vec![op::JUMPDEST; left],
            Content::StopBlocks | Content::Blocks => block.repeat(left.div_ceil(block.len())),
            Content::StopNoise | Content::Noise => {
                let mut noise = vec![0; left];
                seeded(number.into()).fill_bytes(&mut noise);
                noise
            }
        };
        rest.truncate(left);
        code.append(&mut rest);
        code
    }
}

impl Cycled {
    /// Time of the later turns as a multiple of their time in the plain engine.
    pub fn ratio(&self) -> f64 {
        self.later[0].median / self.later[1].median
    }

    fn rows(&self) -> Vec<RecordRow> {
        let mut rows = Vec::new();
        for (when, [batch, plain]) in ["cycle", "cycle-first"].into_iter().zip(&self.samples) {
            let name = |engine| format!("{}:{engine}/{when}-{}/{}", self.revision, self.content.name(), self.contracts);
            let (batched, beside) = (name("batch"), name("plain"));
            rows.push(RecordRow::new(&batched, Quantity::NsPerGas, batch));
            rows.push(RecordRow::new(&beside, Quantity::NsPerGas, plain));
            rows.push(RecordRow::ratio(&batched, Quantity::NsPerGas, batch, (&beside, plain)));
        }
        rows
    }
}
