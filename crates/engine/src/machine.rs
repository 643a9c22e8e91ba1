//! State that field instructions add to the EVM: the field contexts of the running frame and of its callers.
//!
//! The machine sits in revm's context, as its chain. So a handler reaches it through the host it is given anyway, and it is
//! the same for traced and untraced execution. Frames are entered and left in [`crate::FieldEvm`], in step with revm's
//! frame stack: a callee of any kind starts with nothing, and a caller finds everything as it left it.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use residue_isa::revision::rules::ID_MAX;
use residue_modular::FieldContext;
use residue_modular::limbs::LIMB_BYTES;
use residue_modular::short::ShortModulus;

use crate::analysis::Analysis;
use crate::analysis::transaction::TransactionCodes;
use crate::batch::blocks::{Blocks, Due};
use crate::batch::ledger::Ledger;
use crate::batch::memory::Memory;
use crate::batch::memory_rows::MemoryRows;
use crate::batch::slot_file::SlotFile;
use crate::batch::slots::Slots;
use crate::batch::tuning::ROW_BYTES_MAX;
use crate::halt::Halt;
use crate::prices::{Prices, WidthPrices};
#[cfg(feature = "std")]
use crate::probe::Probe;

/// Mark of an id without a context.
const NONE: u16 = u16::MAX;
/// Words are 32 bytes.
const WORD_BYTES: usize = 32;

/// The state of the field instructions of one transaction, with their prices.
#[derive(Debug)]
pub struct FieldMachine {
    pub(crate) prices: Prices,
    pub(crate) frame: FieldState,
    suspended: Vec<Suspended>,
    /// The states of those suspended frames that have some: moving one takes longer than a call.
    states: Vec<FieldState>,
    /// Bytes of the rows of all suspended frames.
    suspended_row_bytes: usize,
    last_halt: Option<Halt>,
    /// Analysis of codes, with the cache of their blocks.
    pub(crate) analysis: Arc<Analysis>,
    /// The codes of the transaction.
    pub(crate) codes: TransactionCodes,
    /// True if blocks may run as one: false while every instruction is observed.
    pub(crate) in_blocks: bool,
    /// True if instructions that follow each other may run by one call: false while every instruction is observed.
    pub(crate) in_runs: bool,
    /// True if all possible plans are made, free of charge, at a client's request.
    pub(crate) plans_ahead: bool,
    /// Jump targets passed, where they are probed.
    #[cfg(feature = "std")]
    pub(crate) probes: Vec<Probe>,
    pub(crate) is_probed: bool,
}

/// A frame that waits for its callee.
#[derive(Debug)]
struct Suspended {
    code: Option<usize>,
    ask_at: u64,
    /// False if no field instruction has left anything.
    has_state: bool,
}

/// The field contexts of one frame. None is allocated before the first one.
#[derive(Debug)]
pub(crate) struct FieldState {
    contexts: Vec<Held>,
    /// The index of the frame's code among those of the transaction.
    pub(crate) code: Option<usize>,
    /// The blocks of the frame's code.
    pub(crate) blocks: Option<Arc<Blocks<Slots>>>,
    pub(crate) memory_blocks: Option<Arc<Blocks<Memory>>>,
    /// Gas charged for field instructions, by themselves or in blocks, that the code's credit has not got yet.
    pub(crate) earned: u64,
    /// Gas to be earned before blocks are asked for.
    pub(crate) ask_at: u64,
    /// The values in memory that are in rows; none before the first block.
    pub(crate) memory_rows: Option<Box<MemoryRows>>,
    /// Net gain of plans in the transaction.
    pub(crate) ledger: Ledger,
    /// Bytes of the rows of its values, as far as they have been noted.
    row_bytes: usize,
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
    pub(crate) short_modulus: ShortModulus,
    /// Offset of slot 0, for revisions with slots in EVM memory.
    pub memory_start: usize,
    /// Return stack of RETURNSUB, innermost last: offsets after a CALLSUB in the frame's code.
    pub returns: Vec<usize>,
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
    pub(crate) fn new(prices: Prices, analysis: Arc<Analysis>) -> Self {
        Self {
            prices,
            analysis,
            codes: TransactionCodes::default(),
            frame: FieldState::new(Ledger::default()),
            suspended: Vec::new(),
            states: Vec::new(),
            suspended_row_bytes: 0,
            last_halt: None,
            in_blocks: false,
            in_runs: false,
            plans_ahead: false,
            #[cfg(feature = "std")]
            probes: Vec::new(),
            is_probed: false,
        }
    }

    /// Halt of the frame that ended last; after a transaction, of its outermost frame. `None` before the first end.
    pub fn last_halt(&self) -> Option<Halt> {
        self.last_halt
    }

    /// The active field context of the running frame, for tracers.
    pub fn active_context(&self) -> Option<&FieldContext> {
        self.frame.contexts.get(self.frame.active).map(|held| held.context.limbs())
    }

    /// Size of the running frame's slots in the cost of memory: in words, rounded up once over all its field contexts.
    pub fn slot_words(&self) -> u64 {
        self.frame.slot_words
    }

    /// Offsets that the running frame's return stack holds, the last one on top.
    pub fn returns(&self) -> &[usize] {
        &self.frame.returns
    }

    /// Notes why the running frame halts.
    pub(crate) fn set_halt(&mut self, halt: Halt) {
        self.frame.halt = Some(halt);
    }

    /// Our reason for the running frame to halt, if a field instruction gave one; for tracers.
    pub fn halt(&self) -> Option<Halt> {
        self.frame.halt
    }

    /// Begins the outermost frame, after any state left by an execution cut short by an error.
    #[inline]
    pub(crate) fn enter_first(&mut self) {
        self.suspended.clear();
        self.states.clear();
        self.suspended_row_bytes = 0;
        self.codes.clear();
        self.frame.clear();
        self.frame.ledger.clear();
    }

    /// Begins a callee's frame.
    #[inline]
    pub(crate) fn enter(&mut self) {
        let FieldState { code, ask_at, .. } = self.frame;
        let has_state = !self.frame.is_untouched();
        self.suspended.push(Suspended { code, ask_at, has_state });
        if has_state {
            self.suspend_state();
        }
    }

    #[inline(never)]
    fn suspend_state(&mut self) {
        self.suspended_row_bytes += self.frame.row_bytes;
        let callee = FieldState::new(self.frame.ledger.clone());
        self.states.push(core::mem::replace(&mut self.frame, callee));
    }

    #[inline(never)]
    fn resume_state(&mut self) {
        let Some(caller) = self.states.pop() else { return };
        self.suspended_row_bytes -= caller.row_bytes;
        self.frame = caller;
    }

    /// Ends the running frame; its caller's state is the running one again.
    #[inline]
    pub(crate) fn leave(&mut self, halt: Halt) {
        self.last_halt = Some(halt);
        if self.frame.earned != 0 {
            self.pay_in();
        }
        match self.suspended.pop() {
            Some(Suspended { code, ask_at, has_state }) => {
                if has_state {
                    self.resume_state();
                } else {
                    self.frame.clear();
                }
                (self.frame.code, self.frame.ask_at) = (code, ask_at);
            }
            None => {
                self.codes.clear();
                self.frame.clear();
            }
        }
    }

    /// Notes that rows are about to grow by `bytes` bytes; if that exceeds the transaction's limit, all other rows are
    /// dropped. The memory of waiting frames was written back.
    #[inline]
    pub(crate) fn make_room_for_rows(&mut self, bytes: usize) {
        if bytes != 0 {
            self.note_row_growth(bytes);
        }
    }

    #[inline(never)]
    fn note_row_growth(&mut self, bytes: usize) {
        if self.suspended_row_bytes + self.frame.row_bytes + bytes > ROW_BYTES_MAX {
            for frame in self.states.iter_mut().filter(|frame| frame.row_bytes > 0) {
                frame.memory_rows = None;
                frame.give_up_rows(usize::MAX);
            }
            self.suspended_row_bytes = 0;
            let active = self.frame.active;
            self.frame.give_up_rows(active);
        }
        self.frame.row_bytes += bytes;
    }

    /// State at an instruction that could begin a block, with `unnoted` gas charged that the frame has not noted yet.
    #[inline(always)]
    pub(crate) fn due(&self, unnoted: u64) -> Due {
        let earned = self.prices.rate.cycles(self.frame.earned + unnoted);
        Due { plans_run: self.frame.ledger.is_open(), is_free: self.plans_ahead, earned }
    }

    /// Says which of the codes of the transaction the running frame executes; none if that is not one of them, and has no blocks.
    #[inline]
    pub(crate) fn set_code(&mut self, met: Option<usize>) {
        self.frame.code = met;
        self.frame.ask_at = if met.is_some() { 0 } else { u64::MAX };
    }

    /// Adds the running frame's earnings to the credit of its code.
    pub(crate) fn pay_in(&mut self) {
        let earned = core::mem::take(&mut self.frame.earned);
        match (&self.frame.blocks, &self.frame.memory_blocks) {
            _ if earned == 0 => {}
            (Some(blocks), _) => blocks.credit.earn(self.prices.rate.cycles(earned)),
            (None, Some(blocks)) => blocks.credit.earn(self.prices.rate.cycles(earned)),
            (None, None) => {
                if let Some(met) = self.frame.code.and_then(|code| self.codes.get_mut(code)) {
                    met.earned = met.earned.saturating_add(earned);
                }
            }
        }
    }

    /// Notes how a call ended that got no frame.
    pub(crate) fn leave_without_frame(&mut self, halt: Halt) {
        self.last_halt = Some(halt);
    }
}

impl FieldState {
    /// Of a frame that begins.
    fn new(ledger: Ledger) -> Self {
        Self {
            contexts: Vec::new(),
            code: None,
            blocks: None,
            memory_blocks: None,
            earned: 0,
            ask_at: 0,
            memory_rows: None,
            ledger,
            row_bytes: 0,
            index_of_id: Vec::new(),
            active: 0,
            slot_bytes: 0,
            counted_bytes: 0,
            slot_words: 0,
            short_modulus: ShortModulus::default(),
            memory_start: 0,
            returns: Vec::new(),
            halt: None,
        }
    }

    /// True if no field instruction has left anything here: all but the ledger, the code and the gas of blocks is as at the begin of a frame.
    #[inline]
    fn is_untouched(&self) -> bool {
        let Self {
            contexts,
            code: _,
            blocks,
            memory_blocks,
            earned,
            ask_at: _,
            memory_rows,
            ledger: _,
            row_bytes,
            // These are set with the first context.
            index_of_id: _,
            active: _,
            slot_bytes: _,
            counted_bytes: _,
            slot_words: _,
            short_modulus,
            memory_start,
            returns,
            halt,
        } = self;
        let numbers = contexts.len() | row_bytes | short_modulus.size_bytes() | memory_start | returns.len();
        (numbers == 0 && *earned == 0)
            && (blocks.is_none() && memory_blocks.is_none() && memory_rows.is_none() && halt.is_none())
    }

    /// Makes the state that of a frame that begins.
    #[inline]
    fn clear(&mut self) {
        if !self.is_untouched() {
            self.forget();
        }
    }

    #[inline(never)]
    fn forget(&mut self) {
        *self = Self::new(self.ledger.clone());
    }

    /// Brings the values of all contexts but one back to limbs.
    fn give_up_rows(&mut self, but: usize) {
        for (at, held) in self.contexts.iter_mut().enumerate() {
            if at != but {
                held.context.give_up_rows();
            }
        }
        self.row_bytes = 0;
    }

    /// The active field context with its prices.
    #[inline]
    pub fn active(&mut self) -> Option<(&mut SlotFile, &WidthPrices)> {
        self.at(self.active)
    }

    /// The active field context with its prices, if none of its values is in a row.
    #[inline]
    pub fn active_in_limbs(&self) -> Option<(&SlotFile, &WidthPrices)> {
        let Held { context, prices } = self.contexts.get(self.active)?;
        context.is_in_limbs().then_some((context, prices))
    }

    /// True if values of the active context may be in rows.
    pub fn has_rows(&self) -> bool {
        self.contexts.get(self.active).is_some_and(|held| held.context.has_rows())
    }

    /// Index of the active context, for [`FieldState::at`].
    #[inline]
    pub fn active_position(&self) -> usize {
        self.active
    }

    /// Index of the context with this id, for [`FieldState::at`].
    pub fn position(&self, id: usize) -> Option<usize> {
        self.index_of_id.get(id).copied().filter(|&index| index != NONE).map(usize::from)
    }

    /// The field context at a position, with its prices.
    #[inline]
    pub fn at(&mut self, position: usize) -> Option<(&mut SlotFile, &WidthPrices)> {
        let Held { context, prices } = self.contexts.get_mut(position)?;
        Some((context, prices))
    }

    /// Size of the frame's slots in the cost of memory, in words.
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

    /// Grows the array of the active context to `elements` elements, and counts the growth as memory.
    pub fn grow_array(&mut self, elements: usize) {
        let Some(Held { context, .. }) = self.contexts.get_mut(self.active) else { return };
        self.counted_bytes += elements.saturating_sub(context.array_len()) * context.element_bytes();
        self.slot_words = words(self.counted_bytes);
        context.grow_array(elements);
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
        self.slot_bytes += context.slot_count() * context.width_limbs() * LIMB_BYTES;
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

#[cfg(test)]
mod tests {
    use residue_isa::{GasSchedule, Revision};
    use residue_modular::Modulus;

    use super::*;
    use crate::batch::Batching;

    const REVISION: Revision = Revision::Eip6690_2024;

    fn machine() -> FieldMachine {
        let prices = Prices::new(&GasSchedule::default_for(REVISION).unwrap(), REVISION);
        FieldMachine::new(prices, Arc::new(Analysis::unshared(REVISION, Batching::Warm)))
    }

    /// Each of them changes what a field instruction of some revision may change.
    const CHANGES: &[fn(&mut FieldState)] = &[
        |state| {
            let context = FieldContext::new(Modulus::from_be_bytes(&[101]).unwrap(), 3);
            state.insert(3, context, 24, WidthPrices::default());
        },
        |state| state.earned = 1,
        |state| state.row_bytes = 1,
        |state| state.short_modulus = ShortModulus::from_le_bytes(&[7]).unwrap(),
        |state| state.memory_start = 32,
        |state| state.returns.push(1),
        |state| state.halt = Some(Halt::NoContext),
    ];

    #[test]
    fn a_callee_finds_nothing_and_a_caller_what_it_left() {
        let shown = |machine: &FieldMachine| format!("{:?}", machine.frame);
        let begun = |code| {
            let mut machine = machine();
            machine.enter_first();
            machine.set_code(code);
            machine
        };
        for caller in CHANGES.iter().map(Some).chain([None]) {
            for callee in CHANGES.iter().map(Some).chain([None]) {
                let mut machine = begun(Some(7));
                if let Some(change) = caller {
                    change(&mut machine.frame);
                }
                machine.frame.ask_at = 5;
                let left = shown(&machine);
                machine.enter();
                machine.set_code(None);
                assert_eq!(shown(&machine), shown(&begun(None)));
                if let Some(change) = callee {
                    change(&mut machine.frame);
                }
                machine.leave(Halt::Stop);
                assert_eq!(shown(&machine), left);
                machine.leave(Halt::Stop);
                machine.enter_first();
                machine.set_code(Some(7));
                assert_eq!(shown(&machine), shown(&begun(Some(7))));
            }
        }
    }

    #[test]
    fn losses_of_a_transaction_do_not_keep_the_next_one_from_plans() {
        let mut machine = machine();
        machine.enter_first();
        while machine.frame.ledger.is_open() {
            machine.frame.ledger.note_modulus();
        }
        machine.enter();
        assert!(!machine.frame.ledger.is_open(), "frames of a transaction share it");
        machine.leave(Halt::Stop);
        machine.leave(Halt::Stop);
        machine.enter_first();
        assert!(machine.frame.ledger.is_open());
    }
}
