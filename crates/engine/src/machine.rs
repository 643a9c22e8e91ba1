//! What the field instructions add to the state of the EVM: the field contexts of the running frame and of its callers.
//!
//! The machine sits in revm's context, as its chain. So a handler reaches it through the host it is given anyway, and it is
//! the same for traced and untraced execution. Frames are entered and left in [`crate::FieldEvm`], in step with revm's
//! frame stack: a callee of any kind starts with nothing, and a caller finds everything as it left it.

use std::sync::Arc;

use residue_modular::FieldContext;
use residue_modular::long::LongModulus;

use crate::blocks::Blocks;
use crate::halt::Halt;
use crate::prices::{Prices, WidthPrices};
use crate::slot_file::SlotFile;

/// Field contexts have ids 0 to 256, both allowed (EIP-6690, `SETMODX`).
pub(crate) const ID_MAX: usize = 256;
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
}

/// The field contexts of one frame. Nothing is allocated before the first `SETMODX`.
#[derive(Debug, Default)]
pub(crate) struct FieldState {
    contexts: Vec<SlotFile>,
    /// The blocks of the frame's code.
    pub(crate) blocks: Option<Arc<Blocks>>,
    /// Index into `contexts` by id; empty before the first context.
    index_of_id: Vec<u16>,
    /// Index into `contexts`; beyond its end if none is active.
    active: usize,
    active_prices: WidthPrices,
    slot_bytes: usize,
    slot_words: u64,
    /// The modulus that `evm384-v12` sets for the frame; of length 0 before.
    pub(crate) long_modulus: LongModulus,
    /// Why the frame halts, when revm has no word for it.
    halt: Option<Halt>,
}

impl FieldMachine {
    pub(crate) fn new(prices: Prices) -> Self {
        Self { prices, frame: FieldState::default(), suspended: Vec::new(), last_halt: None, in_blocks: false }
    }

    /// How the frame that ended last ended; after a transaction that is its outermost frame. None before the first end.
    pub fn last_halt(&self) -> Option<Halt> {
        self.last_halt
    }

    /// The active field context of the running frame, for tracers.
    pub fn active_context(&self) -> Option<&FieldContext> {
        self.frame.contexts.get(self.frame.active).map(SlotFile::limbs)
    }

    /// What the slots of the running frame count as: words of memory, rounded up once over all its field contexts.
    pub fn slot_words(&self) -> u64 {
        self.frame.slot_words
    }

    /// Notes why the running frame halts.
    pub(crate) fn set_halt(&mut self, halt: Halt) {
        self.frame.halt = Some(halt);
    }

    /// Our reason for the running frame to halt, if a field instruction gave one.
    pub(crate) fn halt(&self) -> Option<Halt> {
        self.frame.halt
    }

    /// Begins the outermost frame, whatever an execution cut short by an error may have left behind.
    pub(crate) fn enter_first(&mut self) {
        self.suspended.clear();
        self.frame = FieldState::default();
    }

    /// Begins a callee's frame.
    pub(crate) fn enter(&mut self) {
        self.suspended.push(std::mem::take(&mut self.frame));
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
        let context = self.contexts.get_mut(self.active)?;
        Some((context, &self.active_prices))
    }

    /// What the slots of the frame count as, in words of memory.
    #[inline]
    pub fn slot_words(&self) -> u64 {
        self.slot_words
    }

    /// Bytes of all slots of the frame.
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// Activates the context of an id up to [`ID_MAX`]; false if there is none.
    pub fn activate(&mut self, id: usize, prices: &[WidthPrices]) -> bool {
        let index = self.index_of_id.get(id).copied().unwrap_or(NONE);
        let Some(context) = self.contexts.get(usize::from(index)) else {
            return false;
        };
        self.active = usize::from(index);
        self.active_prices = prices[context.width_limbs()];
        true
    }

    /// Adds the context of a new id up to [`ID_MAX`] and activates it.
    pub fn insert(&mut self, id: usize, context: FieldContext, prices: &[WidthPrices]) {
        if self.index_of_id.is_empty() {
            self.index_of_id = vec![NONE; ID_MAX + 1];
        }
        self.slot_bytes += slot_bytes(&context);
        self.slot_words = words(self.slot_bytes);
        let index = u16::try_from(self.contexts.len()).expect("there are at most 257 ids");
        self.index_of_id[id] = index;
        self.contexts.push(SlotFile::new(context));
        assert!(self.activate(id, prices));
    }
}

/// Bytes that the slots of a context take.
pub(crate) fn slot_bytes(context: &FieldContext) -> usize {
    context.slot_count() * context.element_bytes()
}

/// Begun words in a number of bytes.
pub(crate) fn words(bytes: usize) -> u64 {
    // usize to u64 widens on every platform that Rust supports.
    bytes.div_ceil(WORD_BYTES) as u64
}
