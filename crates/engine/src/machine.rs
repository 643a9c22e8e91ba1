//! What the field instructions add to the state of the EVM: the field contexts of the running frame and of its callers.
//!
//! The machine sits in revm's context, as its chain. So a handler reaches it through the host it is given anyway, and it is
//! the same for traced and untraced execution. Frames are entered and left in [`crate::FieldEvm`], in step with revm's
//! frame stack: a callee of any kind starts with nothing, and a caller finds everything as it left it.

use std::sync::Arc;

use residue_isa::revision::rules::ID_MAX;
use residue_modular::FieldContext;
use residue_modular::long::LongModulus;

use crate::blocks::Blocks;
use crate::halt::Halt;
use crate::memory_blocks::MemoryBlocks;
use crate::memory_rows::MemoryRows;
use crate::planned::Ledger;
use crate::prices::{Prices, WidthPrices};
use crate::probe::Probe;
use crate::slot_file::SlotFile;

/// Mark of an id without a context.
const NONE: u16 = u16::MAX;
/// Words are 32 bytes.
const WORD_BYTES: usize = 32;

/// The state of the field instructions of one transaction, with their prices.
#[derive(Debug)]
pub struct FieldMachine {
    pub(crate) prices: Prices,
    pub(crate) frame: FieldState,
    suspended: Vec<FieldState>,
    last_halt: Option<Halt>,
    /// Whether blocks may run at once: not while every instruction is observed.
    pub(crate) in_blocks: bool,
    /// Jump targets passed, where they are probed.
    pub(crate) probes: Vec<Probe>,
    pub(crate) is_probed: bool,
}

/// The field contexts of one frame. None is allocated before the first one.
#[derive(Debug, Default)]
pub(crate) struct FieldState {
    contexts: Vec<Held>,
    /// The blocks of the frame's code.
    pub(crate) blocks: Option<Arc<Blocks>>,
    pub(crate) memory_blocks: Option<Arc<MemoryBlocks>>,
    /// The values in memory that are in rows; none before the first block.
    pub(crate) memory_rows: Option<Box<MemoryRows>>,
    /// What plans have gained in the transaction.
    pub(crate) ledger: Ledger,
    /// Index into `contexts` by id; empty before the first context.
    index_of_id: Vec<u16>,
    /// Index into `contexts`; beyond its end if none is active.
    active: usize,
    /// Bytes of all slots.
    slot_bytes: usize,
    /// Bytes of memory that the slots count as.
    counted_bytes: usize,
    slot_words: u64,
    /// The modulus that `evm384-v12` sets for the frame; of length 0 before.
    pub(crate) long_modulus: LongModulus,
    /// Where slots begin, for revisions that keep them in EVM memory.
    pub memory_start: usize,
    /// Why the frame halts, when revm has no word for it.
    halt: Option<Halt>,
}

/// A field context with its prices.
#[derive(Debug)]
struct Held {
    context: SlotFile,
    prices: WidthPrices,
}

impl FieldMachine {
    pub(crate) fn new(prices: Prices) -> Self {
        Self {
            prices,
            frame: FieldState::default(),
            suspended: Vec::new(),
            last_halt: None,
            in_blocks: false,
            probes: Vec::new(),
            is_probed: false,
        }
    }

    /// How the frame that ended last ended; after a transaction that is its outermost frame. None before the first end.
    pub fn last_halt(&self) -> Option<Halt> {
        self.last_halt
    }

    /// The active field context of the running frame, for tracers.
    pub fn active_context(&self) -> Option<&FieldContext> {
        self.frame.contexts.get(self.frame.active).map(|held| held.context.limbs())
    }

    /// What the slots of the running frame count as: words of memory, rounded up once over all its field contexts.
    pub fn slot_words(&self) -> u64 {
        self.frame.slot_words
    }

    /// Notes why the running frame halts.
    pub(crate) fn set_halt(&mut self, halt: Halt) {
        self.frame.halt = Some(halt);
    }

    /// Our reason for the running frame to halt, if a field instruction gave one; for tracers.
    pub fn halt(&self) -> Option<Halt> {
        self.frame.halt
    }

    /// Begins the outermost frame, whatever an execution cut short by an error may have left behind.
    pub(crate) fn enter_first(&mut self) {
        self.suspended.clear();
        self.frame = FieldState::default();
    }

    /// Begins a callee's frame.
    pub(crate) fn enter(&mut self) {
        let callee = FieldState { ledger: self.frame.ledger.clone(), ..FieldState::default() };
        self.suspended.push(std::mem::replace(&mut self.frame, callee));
    }

    /// Ends the running frame; its caller's state is the running one again.
    pub(crate) fn leave(&mut self, halt: Halt) {
        self.last_halt = Some(halt);
        self.frame = self.suspended.pop().unwrap_or_default();
    }

    /// Notes how a call ended that got no frame.
    pub(crate) fn leave_without_frame(&mut self, halt: Halt) {
        self.last_halt = Some(halt);
    }
}

impl FieldState {
    /// The active field context with its prices.
    #[inline]
    pub fn active(&mut self) -> Option<(&mut SlotFile, &WidthPrices)> {
        self.at(self.active)
    }

    /// Whether values of the active context may be in rows.
    pub fn has_rows(&self) -> bool {
        self.contexts.get(self.active).is_some_and(|held| held.context.has_rows())
    }

    /// Where the active context is, for [`FieldState::at`].
    #[inline]
    pub fn active_position(&self) -> usize {
        self.active
    }

    /// Where the context of an id is, for [`FieldState::at`].
    pub fn position(&self, id: usize) -> Option<usize> {
        self.index_of_id.get(id).copied().filter(|&index| index != NONE).map(usize::from)
    }

    /// The field context at a position, with its prices.
    #[inline]
    pub fn at(&mut self, position: usize) -> Option<(&mut SlotFile, &WidthPrices)> {
        let Held { context, prices } = self.contexts.get_mut(position)?;
        Some((context, prices))
    }

    /// What the slots of the frame count as, in words of memory.
    #[inline]
    pub fn slot_words(&self) -> u64 {
        self.slot_words
    }

    /// Field contexts of the frame.
    pub fn context_count(&self) -> usize {
        self.contexts.len()
    }

    /// Bytes of all slots of the frame.
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// Bytes of memory that the slots of the frame count as.
    pub fn counted_bytes(&self) -> usize {
        self.counted_bytes
    }

    /// Activates the context of an id up to [`ID_MAX`]; false if there is none.
    pub fn activate(&mut self, id: usize) -> bool {
        match self.position(id) {
            Some(position) => {
                self.active = position;
                true
            }
            None => false,
        }
    }

    /// Adds the context of a new id up to [`ID_MAX`] and activates it.
    pub fn insert(&mut self, id: usize, context: FieldContext, counted_bytes: usize, prices: WidthPrices) {
        if self.index_of_id.is_empty() {
            self.index_of_id = vec![NONE; ID_MAX + 1];
        }
        self.slot_bytes += context.slot_count() * context.element_bytes();
        self.counted_bytes += counted_bytes;
        self.slot_words = words(self.counted_bytes);
        self.active = self.contexts.len();
        self.index_of_id[id] = u16::try_from(self.active).expect("there are at most 257 ids");
        self.contexts.push(Held { context: SlotFile::new(context, self.ledger.clone()), prices });
    }

    /// Makes a context the only one.
    pub fn replace(&mut self, context: FieldContext, counted_bytes: usize, prices: WidthPrices) {
        self.contexts.clear();
        self.index_of_id.clear();
        self.slot_bytes = 0;
        self.counted_bytes = 0;
        self.insert(0, context, counted_bytes, prices);
    }
}

/// Begun words in a number of bytes.
pub(crate) fn words(bytes: usize) -> u64 {
    // usize to u64 widens on every platform that Rust supports.
    bytes.div_ceil(WORD_BYTES) as u64
}
