//! A state in memory with several contracts, for frames that call each other.

use alloc::vec::Vec;

use revm::context::{ContextTr, JournalTr};
use revm::database::InMemoryDB;
use revm::interpreter::CallInputs;
use revm::primitives::{Address, U256};
use revm::state::{AccountInfo, Bytecode};
use revm::{Database, DatabaseCommit};

use crate::engine::Engine;
use crate::frame::{FrameContext, call, execute, execute_observed, memory};
use crate::outcome::Outcome;
use crate::stock;
use crate::trace::{Observer, Tracer};

/// Contracts by address. Changes of calls from outside stay: storage, balances and created code, unless a call
/// reverted.
#[derive(Debug)]
pub struct World {
    engine: Engine,
    db: InMemoryDB,
}

impl World {
    /// No contracts yet; the precompiles of the engine's fork are there.
    pub fn new(engine: &Engine) -> Self {
        Self { engine: engine.clone(), db: InMemoryDB::default() }
    }

    /// The same contracts, with all changes by calls so far, under another engine.
    pub fn with_engine(&self, engine: &Engine) -> Self {
        Self { engine: engine.clone(), db: self.db.clone() }
    }

    /// Puts code, of any length and content, at an address, with a balance in wei.
    pub fn install(&mut self, address: [u8; 20], code: &[u8], balance: u128) {
        let code = Bytecode::new_legacy(code.to_vec().into());
        let info = AccountInfo {
            balance: U256::from(balance),
            nonce: 1,
            code_hash: code.hash_slow(),
            code: Some(code),
            ..AccountInfo::default()
        };
        self.db.insert_account_info(Address::from(address), info);
    }

    /// The code at an address; empty if there is none.
    pub fn code(&mut self, address: [u8; 20]) -> Vec<u8> {
        self.load(Address::from(address)).original_byte_slice().to_vec()
    }

    /// Calls the contract at an address from outside. Gas is that of execution alone.
    pub fn call(&mut self, address: [u8; 20], input: &[u8], gas: u64) -> Outcome {
        let inputs = self.inputs(address, input, gas);
        let mut evm = self.engine.evm_over(core::mem::take(&mut self.db));
        let outcome = execute(&mut evm, inputs);
        let outcome = Outcome { memory: memory(&evm), ..outcome };
        self.keep(evm.inner.ctx);
        outcome
    }

    /// As [`World::call`], telling `tracer` every instruction.
    pub fn call_traced(&mut self, address: [u8; 20], input: &[u8], gas: u64, tracer: &mut dyn Tracer) -> Outcome {
        let inputs = self.inputs(address, input, gas);
        let observer = Observer::new(self.engine.config().revision, tracer);
        let mut evm = self.engine.evm_over(core::mem::take(&mut self.db)).with_inspector(observer);
        let outcome = execute_observed(&mut evm, inputs);
        let outcome = Outcome { memory: memory(&evm), ..outcome };
        self.keep(evm.inner.ctx);
        outcome
    }

    /// As [`World::call`] by revm as it is, without the engine's instructions, in a transaction and from codes whose jump targets are found when they
    /// are loaded: how much of the gas that uses. None where it halts before its gas ends, as it meets an instruction of a revision.
    pub fn gas_used_by_stock(self, address: [u8; 20], input: &[u8], gas: u64) -> Option<u64> {
        stock::gas_used(self.db, self.engine.config().fork, address, input, gas)
    }

    fn inputs(&mut self, address: [u8; 20], input: &[u8], gas: u64) -> CallInputs {
        let address = Address::from(address);
        call(address, &self.load(address), input, gas)
    }

    fn load(&mut self, address: Address) -> Bytecode {
        let Ok(account) = self.db.basic(address);
        account.and_then(|info| info.code).unwrap_or_default()
    }

    /// Keeps the changes of the frames; revm has undone reverted ones.
    fn keep(&mut self, mut context: FrameContext) {
        let changes = context.journal_mut().finalize();
        context.db_mut().commit(changes);
        self.db = context.journaled_state.database;
    }
}
