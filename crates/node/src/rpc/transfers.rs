//! Transfers of ether as logs, for `traceTransfers` of simulations: revm-inspectors writes those of calls and
//! creations, and this adds those of SELFDESTRUCT.

use alloy_primitives::{Address, B256, Log, LogData, U256, address, b256};
use residue_engine::revm::context_interface::{ContextTr, JournalTr};
use residue_engine::revm::inspector::Inspector;
use residue_engine::revm::interpreter::{CallInputs, CallOutcome, CreateInputs, CreateOutcome};
use revm_inspectors::transfer::TransferInspector;

/// Whose logs they are: geth's `transferAddress`.
pub const TRANSFERS: Address = address!("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
/// keccak256("Transfer(address,address,uint256)").
const TOPIC: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// Writes transfers of one transaction among the logs.
#[derive(Debug)]
pub struct Transfers {
    calls: TransferInspector,
    /// Transfers by SELFDESTRUCT, to be written at the end of its frame.
    moved: Vec<Log>,
}

impl Default for Transfers {
    fn default() -> Self {
        Self { calls: TransferInspector::new(false).with_logs(true), moved: Vec::new() }
    }
}

impl Transfers {
    fn write<CTX: ContextTr>(&mut self, context: &mut CTX) {
        for log in self.moved.drain(..) {
            context.journal_mut().log(log);
        }
    }
}

impl<CTX: ContextTr> Inspector<CTX> for Transfers {
    fn call(&mut self, context: &mut CTX, inputs: &mut CallInputs) -> Option<CallOutcome> {
        self.calls.call(context, inputs)
    }

    fn call_end(&mut self, context: &mut CTX, _: &CallInputs, _: &mut CallOutcome) {
        self.write(context);
    }

    fn create(&mut self, context: &mut CTX, inputs: &mut CreateInputs) -> Option<CreateOutcome> {
        self.calls.create(context, inputs)
    }

    fn create_end(&mut self, context: &mut CTX, _: &CreateInputs, _: &mut CreateOutcome) {
        self.write(context);
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        if !value.is_zero() {
            let topics = vec![TOPIC, contract.into_word(), target.into_word()];
            let data = B256::from(value).into();
            self.moved.push(Log { address: TRANSFERS, data: LogData::new_unchecked(topics, data) });
        }
    }
}
