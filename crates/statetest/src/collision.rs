//! Contracts created where there is storage already (EIP-7610).
//!
//! The EIP refuses such a creation. revm does not look at storage there, as no account of mainnet has storage without a nonce or
//! code, so tests that create such a contract are not for it.

use residue_engine::revm::Inspector;
use residue_engine::revm::interpreter::interpreter_types::InputsTr;
use residue_engine::revm::interpreter::{CreateInputs, CreateOutcome, Interpreter};
use residue_engine::revm::primitives::Address;

use crate::execution::Setting;
use crate::state::State;

/// The first address with storage and neither nonce nor code at which a contract is created, if there is one.
pub fn with_storage(setting: &Setting<'_>) -> Option<Address> {
    let creations = Creations { state: setting.state, begins: false, found: None };
    setting.stock_observed(creations).1.found
}

struct Creations<'a> {
    state: &'a State,
    /// The frame that begins next is a creation.
    begins: bool,
    found: Option<Address>,
}

impl<CTX> Inspector<CTX> for Creations<'_> {
    fn create(&mut self, _: &mut CTX, _: &mut CreateInputs) -> Option<CreateOutcome> {
        self.begins = true;
        None
    }

    fn create_end(&mut self, _: &mut CTX, _: &CreateInputs, _: &mut CreateOutcome) {
        // It may have ended without a frame.
        self.begins = false;
    }

    fn initialize_interp(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
        let address = interpreter.input.target_address();
        if std::mem::take(&mut self.begins) && self.found.is_none() && self.state.has_storage_only(address) {
            self.found = Some(address);
        }
    }
}
