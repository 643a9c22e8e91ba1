//! Contracts in place of precompiles: a call of such an address is given their code before revm looks at it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use revm::interpreter::FrameInput;
use revm::interpreter::interpreter_action::FrameInit;
use revm::primitives::{Address, B256};
use revm::state::Bytecode;

/// Code address reported to revm: an address without a precompile. No instruction can see it.
const CODE_ADDRESS: Address = Address::repeat_byte(0xc1);

/// A contract in place of a precompile: calls of the address run its code, and the precompile after it, if the fork has
/// one, is not asked. Nothing else changes for callers: the address is as warm as it was, and as empty to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The address, as precompiles have it.
    pub address: u16,
    /// The code.
    pub code: Vec<u8>,
}

/// Codes by address, with their hashes.
#[derive(Debug)]
pub(crate) struct Replacements(BTreeMap<Address, (B256, Bytecode)>);

impl Replacements {
    pub fn new(replacements: &[Replacement]) -> Self {
        let entry = |Replacement { address, code }: &Replacement| {
            let mut bytes = [0; 20];
            bytes[18..].copy_from_slice(&address.to_be_bytes());
            let code = Bytecode::new_legacy(code.clone().into());
            (Address::from(bytes), (code.hash_slow(), code))
        };
        Self(replacements.iter().map(entry).collect())
    }

    /// Puts the code into a call of one of the addresses.
    #[inline]
    pub fn apply(&self, init: &mut FrameInit) {
        if !self.0.is_empty() {
            self.apply_some(init);
        }
    }

    #[inline(never)]
    fn apply_some(&self, init: &mut FrameInit) {
        if let FrameInput::Call(call) = &mut init.frame_input
            && let Some((hash, code)) = self.0.get(&call.bytecode_address)
        {
            call.known_bytecode = (*hash, code.clone());
            call.bytecode_address = CODE_ADDRESS;
        }
    }
}
