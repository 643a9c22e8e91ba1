//! Dialects: the hard fork whose opcodes code may have, and portability to engines that read immediates in other ways.

use residue_ir::Length;
use residue_isa::assembly::{Code, Item};
use residue_isa::{Fork, Revision, precompile};

use crate::error::CompileError;
use crate::portable;
use std::num::NonZeroU64;

/// Constraints on compiled code, beside its revision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// The hard fork: code has no opcode that came after it.
    pub fork: Fork,
    /// True if code is portable: it also runs on engines whose jump analysis skips only data of PUSH, and on those that
    /// require a slot after the last lane.
    pub portable: bool,
    /// True if code may call the fork's precompiles, for the purposes that the program names.
    pub precompiles: bool,
    /// Price of the code's bytes, if they count; without it code takes the least gas in a call.
    pub deployment: Option<Deployment>,
    /// Length of the form that programs take if they ask (`has short_code`, `has small_tables`).
    pub length: Length,
}

/// Deployment of code that is called a number of times: a byte is worth its price, shared by the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Deployment {
    /// Gas of a byte of deployed code: 200 by the Yellow Paper (appendix G, G_codedeposit), 1,530 by EIP-8037.
    pub gas_a_byte: u64,
    /// Expected calls of the contract.
    pub calls: NonZeroU64,
}

impl Deployment {
    /// Gas in one call that a byte is worth.
    pub fn gas_a_byte_and_call(self) -> f64 {
        self.gas_a_byte as f64 / self.calls.get() as f64 // rounded beyond 2⁵³
    }
}

impl Dialect {
    /// True if portable code of the revision may differ from its other code.
    pub fn portable_matters(revision: Revision) -> bool {
        portable::exposes_operands(revision) || revision.is_strided()
    }

    /// True if code may call the precompile at this address.
    pub fn has_precompile(self, address: u16) -> bool {
        self.precompiles && precompile::since(address).is_some_and(|since| since <= self.fork)
    }

    /// Refuses code with an opcode that the fork lacks, or that is not portable and should be; returns where its data begins.
    pub(crate) fn require(self, items: &[Item], code: &Code, revision: Revision) -> Result<usize, CompileError> {
        let mut end = 0;
        for (number, item) in items.iter().enumerate() {
            if matches!(item, Item::Data(_) | Item::Mark(_)) {
                continue;
            }
            let range = code.item_range(number).unwrap_or_default();
            let mut at = range.start;
            while at < range.end {
                self.require_opcode(&code.bytes[at..], revision)?;
                at += revision.bytes_at(&code.bytes[at..]);
            }
            end = range.end;
        }
        if self.portable {
            portable::require(code, end, revision)?;
        }
        Ok(end)
    }

    fn require_opcode(self, code: &[u8], revision: Revision) -> Result<(), CompileError> {
        let fork = self.fork;
        match revision.row_at(code) {
            Some(row) if row.since > fork => Err(CompileError::Fork { fork, opcode: row.mnemonic, since: row.since }),
            _ => Ok(()),
        }
    }
}
