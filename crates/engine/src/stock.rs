//! Unmodified revm, beside the engine: the share of the EVM's own part in a time.

use core::convert::Infallible;

use revm::context::TxEnv;
use revm::context::result::{ExecutionResult, HaltReason};
use revm::database::InMemoryDB;
use revm::primitives::{Address, B256, Bytes, StorageKey, StorageValue, TxKind};
use revm::state::{AccountInfo, Bytecode};
use revm::{Context, Database, ExecuteEvm, MainBuilder, MainContext};

use residue_isa::Fork;

use crate::fork::spec_id;

/// A state whose codes are bytes, as clients keep them: revm finds the jump targets of each when it is loaded.
#[derive(Debug)]
struct Codes(InMemoryDB);

impl Database for Codes {
    type Error = Infallible;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>, Infallible> {
        Ok(self.0.basic(address)?.map(|info| AccountInfo { code: None, ..info }))
    }

    fn code_by_hash(&mut self, hash: B256) -> Result<Bytecode, Infallible> {
        Ok(Bytecode::new_legacy(self.0.code_by_hash(hash)?.original_bytes()))
    }

    fn storage(&mut self, address: Address, index: StorageKey) -> Result<StorageValue, Infallible> {
        self.0.storage(address, index)
    }

    fn block_hash(&mut self, number: u64) -> Result<B256, Infallible> {
        self.0.block_hash(number)
    }
}

/// A transaction from outside that has so much gas beside the intrinsic gas; says how much of that it uses. None where revm refuses it, or it
/// halts before its gas ends.
pub(crate) fn gas_used(db: InMemoryDB, fork: Fork, address: [u8; 20], input: &[u8], gas: u64) -> Option<u64> {
    let spec = spec_id(fork);
    let input = Bytes::copy_from_slice(input);
    let intrinsic = revm::context_interface::cfg::gas::calculate_initial_tx_gas(spec, &input, false, 0, 0, 0, None);
    let gas_limit = gas.checked_add(intrinsic.initial_total_gas())?;
    let tx =
        TxEnv { kind: TxKind::Call(Address::from(address)), data: input, gas_limit, gas_price: 0, ..TxEnv::default() };
    let context = Context::mainnet().with_db(Codes(db)).modify_cfg_chained(|cfg| {
        cfg.set_spec_and_mainnet_gas_params(spec);
        cfg.tx_gas_limit_cap = Some(u64::MAX);
    });
    let result = context.build_mainnet().transact_one(tx).ok()?;
    let is_cut_short =
        matches!(&result, ExecutionResult::Halt { reason, .. } if !matches!(reason, HaltReason::OutOfGas(_)));
    if is_cut_short {
        return None;
    }
    result.tx_gas_used().checked_sub(intrinsic.initial_total_gas())
}
