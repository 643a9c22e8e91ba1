//! A code in the making: its beginning, its end, and its stack.

use num_bigint::BigUint;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use residue_engine::Fork;
use residue_isa::assembly::{Assembly, Item, LabelId};
use residue_isa::opcode::evm as op;
use residue_isa::{Family, Revision};

use super::layout::{self, Layout, WORDS};

/// Offset of the memory that calls send.
pub(super) const BUFFER: u32 = 2048;
/// Pieces of a code, at most.
pub(super) const PIECES_MAX: u32 = 100;

/// Range of slots that instructions name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those that all runs have.
    Near,
    /// Those that most have.
    Named,
    /// Any.
    Far,
}

/// A code in the making.
pub(super) struct Writer<'a> {
    pub revision: Revision,
    pub fork: Fork,
    pub random: ChaCha8Rng,
    pub layout: &'a Layout,
    pub contract_count: u16,
    pub assembly: Assembly,
    /// Words that lie on the stack here, if every jump goes as written.
    pub depth: usize,
    /// Words that lie there from the beginning.
    pub ground: usize,
    /// True for each word that is taken from the input; the others are constants of the code.
    from_input: [bool; WORDS],
    /// Loops around this place.
    pub level: u32,
    pub functions: Vec<LabelId>,
    /// The first function that may be called from here.
    pub callable: usize,
    pub pieces: u32,
    /// True if it calls, so that its input for the callee is in memory.
    pub calls: bool,
    /// The field context that was made last.
    pub active_id: u8,
    /// Range of the named slots.
    pub reach: Reach,
    /// Bytes after the code.
    pub data: Vec<(LabelId, Vec<u8>)>,
}

impl<'a> Writer<'a> {
    pub fn new(
        revision: Revision,
        fork: Fork,
        mut random: ChaCha8Rng,
        layout: &'a Layout,
        contract_count: u16,
    ) -> Self {
        let from_input = [(); WORDS].map(|()| random.random_ratio(3, 4));
        let mut assembly = Assembly::new();
        let functions = (0..random.random_range(0..4)).map(|_| assembly.new_label()).collect();
        let calls = random.random_ratio(1, if contract_count > 1 { 2 } else { 4 });
        Self {
            revision,
            fork,
            random,
            layout,
            contract_count,
            assembly,
            depth: 0,
            ground: 0,
            from_input,
            level: 0,
            functions,
            callable: 0,
            pieces: 0,
            calls,
            active_id: 0,
            reach: Reach::Near,
            data: Vec::new(),
        }
    }

    /// The whole code.
    pub fn contract(&mut self) {
        self.prelude();
        let pieces =
            if self.is_rare(20) { self.random.random_range(30..PIECES_MAX) } else { self.random.random_range(1..10) };
        for _ in 0..pieces {
            self.piece();
        }
        self.ending();
        for number in 0..self.functions.len() {
            self.function(number);
        }
        for (label, bytes) in std::mem::take(&mut self.data) {
            self.assembly.mark(label).data(bytes);
        }
    }

    pub fn finish(self) -> Vec<Item> {
        self.assembly.items().to_vec()
    }

    /// Words for the stack, and field state with values in it.
    fn prelude(&mut self) {
        if self.is_rare(16) {
            self.fill_stack();
        }
        let before = self.random.random_range(0..3);
        (0..before).for_each(|_| self.stack_word());
        match self.revision.family() {
            Family::Slots => self.slots_prelude(),
            _ => self.memory_prelude(),
        }
        if self.calls {
            self.buffer();
        }
        if self.random.random_ratio(1, 4) {
            // A word that only some runs have.
            let skip = self.assembly.new_label();
            self.parameter(layout::STACK, 1u8);
            self.assembly.push_label(skip).op(op::JUMPI);
            self.depth -= 1;
            self.stack_word();
            self.depth -= 1;
            self.assembly.label(skip);
        }
        let after = self.random.random_range(0..4);
        (0..after).for_each(|_| self.stack_word());
        self.ground = self.depth;
    }

    /// Words until the stack is nearly full.
    fn fill_stack(&mut self) {
        let words = self.random.random_range(1006..1023u32);
        self.push(words);
        let top = self.assembly.new_label();
        self.assembly.label(top);
        self.push(1u8);
        self.op(op::SWAP1);
        self.op(op::SUB);
        self.op(op::DUP1);
        self.op(op::DUP1);
        self.assembly.push_label(top).op(op::JUMPI);
        self.depth = 1;
    }

    /// True if a function is called by CALLSUB: every other one, where the instruction exists.
    pub fn is_subroutine(&self, function: LabelId) -> bool {
        self.revision.has_subroutines() && function.0.is_multiple_of(2)
    }

    /// True once in `n` times.
    pub fn is_rare(&mut self, n: u32) -> bool {
        self.random.random_ratio(1, n)
    }

    /// Copies a word of the stack, rarely one that is not there.
    pub fn copy(&mut self) {
        let known = self.depth.clamp(1, 16);
        let n = if self.random.random_ratio(1, 100) {
            self.random.random_range(1..17)
        } else {
            self.random.random_range(1..=known)
        };
        let n = if self.depth == 0 && !self.random.random_ratio(1, 20) { 0 } else { n };
        match n {
            0 => {
                let word = self.number();
                self.push(word);
            }
            _ => {
                self.assembly.op(op::DUP1 + u8::try_from(n - 1).expect("at most 15"));
                self.depth += 1;
            }
        }
    }

    /// A word for the stack, from the input or not.
    pub fn stack_word(&mut self) {
        let word = self.random.random_range(layout::STACK..WORDS);
        let number = self.number();
        self.parameter(word, number);
    }

    /// A short number, or one beyond 32 bits.
    pub fn number(&mut self) -> BigUint {
        match self.random.random_range(0..6) {
            0 => BigUint::from(self.random.random::<u32>()),
            1 => BigUint::from(1u8) << self.random.random_range(32..256),
            _ => BigUint::from(self.random.random_range(0..9u8)),
        }
    }

    /// A word of the input, or the number that stands for it in this code.
    pub fn parameter(&mut self, word: usize, number: impl Into<BigUint>) {
        if self.from_input[word] {
            self.push(32 * word);
            self.op(op::CALLDATALOAD);
        } else {
            self.push(number);
        }
    }

    /// Appends an opcode of the EVM.
    pub fn op(&mut self, opcode: u8) {
        self.assembly.op(opcode);
        if let Some(row) = self.revision.row(opcode) {
            self.depth = self.depth.saturating_sub(usize::from(row.pops)) + usize::from(row.pushes);
        }
    }

    /// Appends the smallest push of a number that the fork has.
    pub fn push(&mut self, number: impl Into<BigUint>) {
        let number = number.into();
        if number == BigUint::ZERO && self.fork < Fork::Shanghai {
            self.assembly.item(Item::PushBytes(vec![0]));
        } else {
            self.assembly.push(number);
        }
        self.depth += 1;
    }

    /// Pushes the offset of a label.
    pub fn push_label(&mut self, label: LabelId) {
        self.assembly.push_label(label);
        self.depth += 1;
    }
}
