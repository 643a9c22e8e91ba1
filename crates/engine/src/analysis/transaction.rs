//! The codes that a transaction has met, each analysed once: a frame of a code that was met before costs a look into a
//! table, however many codes there are. The number of codes of a transaction is bounded by its gas, as the first access
//! of an account is priced for loading it.

use alloc::vec::Vec;
use revm::bytecode::{Bytecode, JumpTable};
use revm::primitives::B256;
use revm::primitives::map::HashMap;
use revm::primitives::map::hash_map::Entry;

use crate::batch::cache::AnyBlocks;
use crate::batch::tuning::TRANSACTION_BYTES_MAX;

/// Codes that a table keeps room for after a transaction.
const ROOM_KEPT: usize = 64;

/// The codes of a transaction.
#[derive(Debug, Default)]
pub(crate) struct TransactionCodes {
    /// Index into `codes` by where the bytes lie: they stay there, as the code is held here.
    by_address: HashMap<usize, usize>,
    codes: Vec<Met>,
    bytes: usize,
}

/// A code that was met.
#[derive(Debug)]
pub(crate) struct Met {
    /// As revm holds it.
    pub source: Bytecode,
    analysed: Analysed,
    /// The hash that it was loaded under.
    pub hash: B256,
    /// Its blocks, once they have been looked for.
    pub blocks: Option<AnyBlocks>,
    /// True if it can have no blocks.
    pub is_plain: bool,
    /// Gas charged for its field instructions before it had blocks.
    pub earned: u64,
}

/// The analysed form of a code.
#[derive(Debug)]
pub(crate) enum Analysed {
    /// As it is executed.
    Whole(Bytecode),
    /// Jump targets only: the rest is a copy that there was no room for.
    Targets(JumpTable),
}

impl TransactionCodes {
    /// Forgets all codes.
    pub fn clear(&mut self) {
        if self.codes.capacity() > ROOM_KEPT {
            *self = Self::default();
        } else if !self.codes.is_empty() {
            self.by_address.clear();
            self.codes.clear();
            self.bytes = 0;
        }
    }

    /// The index of a code with its analysed form, if it was met.
    #[inline]
    pub fn find(&self, source: &Bytecode) -> Option<(usize, &Analysed)> {
        let &index = self.by_address.get(&address(source))?;
        let met = &self.codes[index];
        (met.source.len() == source.len()).then_some((index, &met.analysed))
    }

    /// Notes a code that was not met before; none if there is no room for more.
    pub fn add(&mut self, source: Bytecode, hash: B256, analysed: Bytecode) -> Option<usize> {
        let is_copy = analysed.bytecode_ptr() != source.bytecode_ptr();
        let targets = analysed.len().div_ceil(8);
        let copy = if is_copy { analysed.bytes_slice().len() } else { 0 };
        let entry = size_of::<Met>() + targets;
        if self.bytes + entry > TRANSACTION_BYTES_MAX {
            return None;
        }
        // Copies have half of the room: they can be made again.
        let has_room = self.bytes + entry + copy <= TRANSACTION_BYTES_MAX / 8 * 7 || !is_copy;
        let analysed = match analysed.legacy_jump_table() {
            Some(targets) if !has_room => Analysed::Targets(targets.clone()),
            _ => Analysed::Whole(analysed),
        };
        self.bytes += entry + if has_room { copy } else { 0 };
        let Entry::Vacant(vacant) = self.by_address.entry(address(&source)) else { return None };
        vacant.insert(self.codes.len());
        self.codes.push(Met { source, analysed, hash, blocks: None, is_plain: false, earned: 0 });
        Some(self.codes.len() - 1)
    }

    /// A code by its index.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Met> {
        self.codes.get_mut(index)
    }
}

/// Address of the bytes of a code.
fn address(code: &Bytecode) -> usize {
    code.bytecode_ptr().addr()
}
