//! The codes that a transaction has met, each analysed once: a frame of a code that was met before costs a look into a
//! table, however many codes there are, and where revm's form of it does, that form is left as it is. The number of codes
//! of a transaction is bounded by its gas, as the first access of an account is priced for loading it. Where they are few,
//! the next transaction of the EVM finds them analysed.

use alloc::vec::Vec;
use revm::bytecode::{Bytecode, JumpTable};
use revm::primitives::B256;
use revm::primitives::map::HashMap;
use revm::primitives::map::hash_map::Entry;

use crate::batch::cache::AnyBlocks;
use crate::batch::tuning::TRANSACTION_BYTES_MAX;

/// Codes that are found without a look into the table, at most.
const OWN_PLACES: usize = 16;
/// Codes that are kept after a transaction, at most, and the bytes of theirs.
const CODES_KEPT: usize = 64;
const BYTES_KEPT: usize = 1 << 20;

/// The codes of a transaction.
#[derive(Debug, Default)]
pub(crate) struct TransactionCodes {
    /// Index into `codes` by where revm's form lies: it stays there, as it is held here.
    by_address: HashMap<usize, usize>,
    codes: Vec<Met>,
    /// Some of those that are executed as revm holds them, each at a place that follows from its address: address and index.
    own: [(usize, usize); OWN_PLACES],
    /// Bytes of what is held beside revm's forms, and of those.
    bytes: usize,
    source_bytes: usize,
    /// Indices of the codes with blocks or earnings.
    changed: Vec<usize>,
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
    /// True if one of the last three may have changed in this transaction.
    is_changed: bool,
}

/// The analysed form of a code.
#[derive(Debug)]
pub(crate) enum Analysed {
    /// As revm holds it.
    Own,
    /// As it is executed.
    Whole(Bytecode),
    /// Jump targets only: the rest is a copy that there was no room for.
    Targets(JumpTable),
}

impl TransactionCodes {
    /// Ends a transaction: forgets all codes, or, where they are few, their blocks and earnings.
    #[inline]
    pub fn clear(&mut self) {
        let is_small = self.codes.len() <= CODES_KEPT && self.bytes + self.source_bytes <= BYTES_KEPT;
        if !is_small || !self.changed.is_empty() {
            self.forget(is_small);
        }
    }

    #[inline(never)]
    fn forget(&mut self, is_small: bool) {
        if !is_small {
            *self = Self::default();
        }
        for index in self.changed.drain(..) {
            let met = &mut self.codes[index];
            (met.blocks, met.is_plain, met.earned, met.is_changed) = (None, false, 0, false);
        }
    }

    /// The index of a code that is executed as revm holds it, if it was found lately.
    #[inline]
    pub fn find_own(&self, source: &Bytecode) -> Option<usize> {
        let (address, index) = self.own[own_place(source)];
        (address == self::address(source)).then_some(index)
    }

    /// The index of a code with its analysed form, if it was met.
    pub fn find(&mut self, source: &Bytecode) -> Option<(usize, &Analysed)> {
        let &index = self.by_address.get(&address(source))?;
        let analysed = &self.codes[index].analysed;
        if matches!(analysed, Analysed::Own) {
            self.own[own_place(source)] = (address(source), index);
        }
        Some((index, analysed))
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
        let is_own = address(&analysed) == address(&source);
        let analysed = match analysed.legacy_jump_table() {
            Some(targets) if !has_room => Analysed::Targets(targets.clone()),
            _ if is_own => Analysed::Own,
            _ => Analysed::Whole(analysed),
        };
        self.bytes += entry + if has_room { copy } else { 0 };
        let Entry::Vacant(vacant) = self.by_address.entry(address(&source)) else { return None };
        vacant.insert(self.codes.len());
        self.source_bytes += source.len();
        let (blocks, is_plain, earned, is_changed) = (None, false, 0, false);
        self.codes.push(Met { source, analysed, hash, blocks, is_plain, earned, is_changed });
        Some(self.codes.len() - 1)
    }

    /// A code by its index, to be changed in this transaction.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Met> {
        let met = self.codes.get_mut(index)?;
        if !met.is_changed {
            met.is_changed = true;
            self.changed.push(index);
        }
        Some(met)
    }
}

/// Address of a code in revm's form: that of what its clones share.
pub(super) fn address(code: &Bytecode) -> usize {
    core::ptr::from_ref(code.bytes_ref()).addr()
}

/// Place of a code among those that are found fast: by the bits of its address above those that allocations have in common.
fn own_place(code: &Bytecode) -> usize {
    (address(code) >> 6) % OWN_PLACES
}
