//! The engine: a revision, a gas schedule and a fork, made ready once and shared by every EVM built from it.

use alloc::borrow::ToOwned;
use alloc::sync::Arc;
use alloc::vec::Vec;

use residue_isa::Revision;
use revm::Database;
use revm::context::{
    BlockEnv, CfgEnv, Context, ContextTr, Evm, FrameStack, Journal, JournalTr, LocalContext, LocalContextTr, TxEnv,
};
use revm::context_interface::{Block, Cfg, Transaction};
use revm::database::InMemoryDB;
use revm::handler::EthPrecompiles;
use revm::primitives::Address;
use revm::primitives::hardfork::SpecId;
use revm::state::Bytecode;

use crate::analysis::Analysis;
use crate::config::{EngineConfig, EngineError};
use crate::counts::{Counted, Counts};
use crate::evm::FieldEvm;
use crate::fork::spec_id;
use crate::frame::FrameContext;
use crate::instructions::{instructions, overrides};
use crate::machine::FieldMachine;
use crate::outcome::Outcome;
use crate::prepared::{Prepared, state_of};
use crate::prices::Prices;
use crate::replacements::Replacements;
use crate::trace::{Observer, Tracer};

/// The EVM over a context of revm's, by its parts.
pub type EvmOver<BLOCK, TX, CFG, DB, JOURNAL, LOCAL> =
    FieldEvm<Context<BLOCK, TX, CFG, DB, JOURNAL, FieldMachine, LOCAL>>;

/// A configuration made ready: prices in flat arrays. The analysed form of codes with their plans is shared by the engines of the process.
#[derive(Debug, Clone)]
pub struct Engine {
    config: EngineConfig,
    prices: Prices,
    overrides: Vec<(u8, u16)>,
    /// The field instructions there are; none before a revision begins.
    instructions_of: Option<Revision>,
    analysis: Arc<Analysis>,
    replacements: Arc<Replacements>,
}

impl Engine {
    /// Makes a configuration ready.
    pub fn new(config: EngineConfig) -> Result<Self, EngineError> {
        let EngineConfig { revision, ref schedule, .. } = config;
        if !schedule.is_for(revision) {
            return Err(EngineError::ScheduleForOther { schedule: schedule.name().to_owned(), revision });
        }
        let prices = Prices::new(schedule, revision);
        let overrides = overrides(schedule)?;
        let analysis = Arc::new(Analysis::new(revision, config.batching));
        let replacements = Arc::new(Replacements::new(&config.replacements));
        Ok(Self { prices, overrides, instructions_of: Some(revision), analysis, replacements, config })
    }

    /// The same engine before its revision begins: the EVM as the fork has it, without field instructions, replaced
    /// precompiles and prices of the schedule. Its products have the same types, so a chain may begin with it.
    pub fn before_its_revision(&self) -> Self {
        let analysis = Arc::new(Analysis::of_plain_code(self.config.revision));
        let replacements = Arc::new(Replacements::new(&[]));
        Self { overrides: Vec::new(), instructions_of: None, analysis, replacements, ..self.clone() }
    }

    /// As [`Engine::new`], sharing no analysed code and no plans with other engines: every code is new to it.
    pub fn unshared(config: EngineConfig) -> Result<Self, EngineError> {
        let analysis = Arc::new(Analysis::unshared(config.revision, config.batching));
        Ok(Self { analysis, ..Self::new(config)? })
    }

    /// Configuration of the engine.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// A revm EVM with the field instructions over any context of revm's. Fork and environment are those of the context;
    /// [`EngineConfig::fork`] is for the frames that the engine runs itself.
    pub fn evm<BLOCK, TX, CFG, DB, JOURNAL, LOCAL>(
        &self,
        context: Context<BLOCK, TX, CFG, DB, JOURNAL, (), LOCAL>,
    ) -> EvmOver<BLOCK, TX, CFG, DB, JOURNAL, LOCAL>
    where
        BLOCK: Block,
        TX: Transaction,
        CFG: Cfg,
        DB: Database,
        JOURNAL: JournalTr<Database = DB>,
        LOCAL: LocalContextTr,
    {
        let context = context.with_chain(FieldMachine::new(self.prices.clone(), Arc::clone(&self.analysis)));
        let spec: SpecId = context.cfg().spec().into();
        let instructions = instructions(self.instructions_of, spec, &self.overrides);
        FieldEvm {
            inner: Evm {
                ctx: context,
                inspector: (),
                instruction: instructions,
                precompiles: EthPrecompiles::new(spec),
                // Frames are made when they are needed: a stack is 32 KiB.
                frame_stack: FrameStack::new(),
            },
            analysis: Arc::clone(&self.analysis),
            replacements: Arc::clone(&self.replacements),
            memory_limit_bytes: self.config.memory_limit_bytes,
        }
    }

    /// An EVM over a state in memory. As in a transaction, the precompiles are warm, and accounts that have been accessed.
    pub(crate) fn evm_over(&self, db: InMemoryDB) -> FieldEvm<FrameContext> {
        type Plain = Context<BlockEnv, TxEnv, CfgEnv, InMemoryDB, Journal<InMemoryDB>, (), LocalContext>;
        let mut evm = self.evm(Plain::new(db, spec_id(self.config.fork)));
        let inner = &mut evm.inner;
        let mut warm = inner.precompiles.warm_addresses().clone();
        let accounts = self.config.accounts.iter().filter(|account| account.is_warm);
        warm.extend(accounts.map(|account| Address::from(account.address)));
        inner.ctx.journal_mut().warm_precompiles(&warm);
        evm
    }

    /// Base gas of an opcode, independent of its operands, in whole gas.
    pub fn base_gas(&self, opcode: u8) -> u64 {
        if self.instructions_of.is_some_and(|revision| revision.opcodes().iter().any(|row| row.byte == opcode)) {
            return self.prices.base[usize::from(opcode)];
        }
        let spec = spec_id(self.config.fork);
        let tables = instructions::<FrameContext>(self.instructions_of, spec, &self.overrides);
        u64::from(tables.gas_table()[usize::from(opcode)])
    }

    /// Code made ready to run many times; see [`Prepared`].
    pub fn prepare(&self, code: &[u8]) -> Prepared {
        self.prepared(self.analysis.load(code))
    }

    fn prepared(&self, code: Bytecode) -> Prepared {
        Prepared::new(self.evm_over(state_of(&code, &self.config.accounts)), code)
    }

    /// Runs raw code, of any length and content, in a frame of its own. Gas is that of execution alone.
    pub fn run_code(&self, code: &[u8], input: &[u8], gas: u64) -> Outcome {
        self.prepare(code).run(input, gas)
    }

    /// Plans the blocks of a call ahead, free of gas: runs `code` as [`Engine::run_code`] does until no run makes new
    /// plans, at most [`PLANNING_RUNS_MAX`](crate::PLANNING_RUNS_MAX) times, and returns the outcome of the last run.
    /// Plans are kept for all engines of the process with the same revision and batching, so a client that knows its
    /// contracts may do this when it starts, or on another thread; then the first execution is as fast as any later one
    /// on the same path.
    pub fn plan_ahead(&self, code: &[u8], input: &[u8], gas: u64) -> Outcome {
        self.prepare(code).plan_ahead(input, gas)
    }

    /// As [`Engine::run_code`], telling `tracer` every instruction.
    pub fn run_traced(&self, code: &[u8], input: &[u8], gas: u64, tracer: &mut dyn Tracer) -> Outcome {
        let observer = Observer::new(self.config.revision, tracer);
        self.prepared(self.analysis.load(code)).run_observed(observer, input, gas)
    }

    /// As [`Engine::run_code`], with counts of executed instructions and gas by purpose.
    pub fn run_counted(&self, code: &[u8], input: &[u8], gas: u64) -> Counted {
        let mut counts = Counts::new(self.config.revision);
        let outcome = self.run_traced(code, input, gas, &mut counts);
        let gas_split = counts.gas_split(outcome.gas_used);
        Counted { outcome, counts, gas_split }
    }
}

/// A revm EVM with the field instructions of `config`, over any context of revm's: [`Engine::new`] and [`Engine::evm`] for
/// those who need one EVM only.
pub fn evm<BLOCK, TX, CFG, DB, JOURNAL, LOCAL>(
    context: Context<BLOCK, TX, CFG, DB, JOURNAL, (), LOCAL>,
    config: &EngineConfig,
) -> Result<EvmOver<BLOCK, TX, CFG, DB, JOURNAL, LOCAL>, EngineError>
where
    BLOCK: Block,
    TX: Transaction,
    CFG: Cfg,
    DB: Database,
    JOURNAL: JournalTr<Database = DB>,
    LOCAL: LocalContextTr,
{
    Ok(Engine::new(config.clone())?.evm(context))
}

#[cfg(test)]
mod tests {
    use residue_isa::Revision;

    use super::*;

    #[test]
    fn an_engine_is_shared_between_threads() {
        fn is_shared<T: Send + Sync + Clone>(_: &T) {}
        for &revision in Revision::ALL {
            is_shared(&Engine::new(EngineConfig::default_for(revision)).unwrap());
        }
    }
}
