//! Raw code in a frame of its own: no transaction around it, no size limit, and nothing to be made ready between runs.

use alloc::vec::Vec;

use revm::database::InMemoryDB;
use revm::primitives::Address;
use revm::state::{AccountInfo, Bytecode};

use crate::batch::cache::AnyBlocks;
use crate::batch::explained::BlockExplained;
use crate::config::Installed;
use crate::evm::FieldEvm;
use crate::frame::{FrameContext, call, execute, execute_observed, memory};
use crate::outcome::Outcome;
use crate::trace::Observer;

/// Runs of [`Prepared::plan_ahead`], at most.
pub const PLANNING_RUNS_MAX: usize = 16;

/// The account that raw code runs as.
const CODE_ADDRESS: Address = Address::repeat_byte(0xc0);

/// Code made ready to run many times, for measuring: the analysis is done, and a run begins no transaction.
///
/// Every run starts from the same state, in which only the code's own account exists, and those of [`crate::EngineConfig::accounts`].
#[derive(Debug)]
pub struct Prepared {
    pub(crate) evm: FieldEvm<FrameContext>,
    code: Bytecode,
}

impl Prepared {
    /// A code over an EVM in whose state it is, as [`state_of`] has it.
    pub(crate) fn new(evm: FieldEvm<FrameContext>, code: Bytecode) -> Self {
        Self { evm, code }
    }

    /// Runs the code.
    pub fn run(&mut self, input: &[u8], gas: u64) -> Outcome {
        let outcome = self.run_without_memory(input, gas);
        Outcome { memory: memory(&self.evm), ..outcome }
    }

    /// Blocks of the code and the plans that resulted from its executions, by any engine of this process.
    pub fn blocks(&self) -> Vec<BlockExplained> {
        match self.known() {
            Some(AnyBlocks::Slots(blocks)) => blocks.explain(),
            Some(AnyBlocks::Memory(blocks)) => blocks.explain(),
            None => Vec::new(),
        }
    }

    /// As [`crate::Engine::plan_ahead`].
    pub fn plan_ahead(&mut self, input: &[u8], gas: u64) -> Outcome {
        let made = |this: &Self| match this.known() {
            Some(AnyBlocks::Slots(blocks)) => blocks.made(),
            Some(AnyBlocks::Memory(blocks)) => blocks.made(),
            None => 0,
        };
        self.evm.inner.ctx.chain.plans_ahead = true;
        let mut outcome = self.run_without_memory(input, gas);
        let mut before = 0;
        for _ in 1..PLANNING_RUNS_MAX {
            let now = made(self);
            if now == before {
                break;
            }
            before = now;
            outcome = self.run_without_memory(input, gas);
        }
        self.evm.inner.ctx.chain.plans_ahead = false;
        outcome
    }

    fn known(&self) -> Option<AnyBlocks> {
        self.evm.analysis.blocks(&self.code, self.code.hash_slow())
    }

    /// Runs the code once, telling a tracer every instruction.
    pub(crate) fn run_observed(self, observer: Observer<'_>, input: &[u8], gas: u64) -> Outcome {
        let mut evm = self.evm.with_inspector(observer);
        let outcome = execute_observed(&mut evm, call(CODE_ADDRESS, &self.code, input, gas));
        Outcome { memory: memory(&evm), ..outcome }
    }

    /// Runs the code, leaving [`Outcome::memory`] empty: for measurements, as copying the memory out is no part of
    /// execution.
    pub fn run_without_memory(&mut self, input: &[u8], gas: u64) -> Outcome {
        execute(&mut self.evm, call(CODE_ADDRESS, &self.code, input, gas))
    }
}

/// The state in which only the code's account exists, and these.
pub(crate) fn state_of(code: &Bytecode, accounts: &[Installed]) -> InMemoryDB {
    let mut db = InMemoryDB::default();
    let mut install = |address: Address, code: Bytecode| {
        let account = AccountInfo { code_hash: code.hash_slow(), code: Some(code), ..AccountInfo::default() };
        db.insert_account_info(address, account);
    };
    for Installed { address, code, .. } in accounts {
        install(Address::from(*address), Bytecode::new_legacy(code.clone().into()));
    }
    install(CODE_ADDRESS, code.clone());
    db
}
