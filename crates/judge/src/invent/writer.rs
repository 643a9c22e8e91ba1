//! Codes: stretches of field instructions with the control flow between them that joins blocks, or only seems to.

use num_bigint::BigUint;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use residue_engine::Fork;
use residue_isa::assembly::{Assembly, Item, LabelId};
use residue_isa::opcode::evm as op;
use residue_isa::{Family, Revision};

use super::layout::{self, Layout, WORDS};

/// Where the memory begins that calls send.
pub(super) const BUFFER: u32 = 2048;
/// Stretches of a code, at most.
const PIECES_MAX: u32 = 40;
/// Loops within loops.
const LEVEL_MAX: u32 = 2;

/// Which slots instructions name.
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
    ground: usize,
    /// Which words are taken from the input; the others stand in the code.
    from_input: [bool; WORDS],
    /// Loops around this place.
    level: u32,
    functions: Vec<LabelId>,
    /// The first function that may be called from here.
    callable: usize,
    pieces: u32,
    /// Whether it calls, so that what it sends lies in memory.
    pub calls: bool,
    /// The field context that was made last.
    pub active_id: u8,
    /// Which slots are named.
    pub reach: Reach,
    /// Bytes behind the code.
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
        for _ in 0..self.random.random_range(1..10) {
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

    /// One stretch, after which the stack is as high as before, but for rare ones.
    pub fn piece(&mut self) {
        self.pieces += 1;
        if self.pieces > PIECES_MAX {
            return self.run();
        }
        match self.random.random_range(0..40) {
            0..6 => self.run(),
            6..8 => self.here(),
            8..13 => self.joined(),
            13..16 => self.around_copied_word(),
            16 | 17 => self.over(),
            18..21 => self.call_function(),
            21..23 => self.jump_to_copied_word(),
            23..27 => self.repeat(),
            27..29 => self.on_condition(),
            29 if self.level == 0 || self.is_rare(10) => self.swap(),
            30..33 => self.touch(),
            33 => self.set_again(),
            34..36 if self.calls => self.call_piece(),
            36 => self.effect(),
            37 if self.is_rare(3) => self.create_piece(),
            38 if self.level == 0 || self.is_rare(20) => self.stack_word(),
            39 if self.level == 0 && self.depth > 1 || self.is_rare(30) => self.op(op::POP),
            _ => self.run(),
        }
    }

    /// A run of field instructions.
    pub fn run(&mut self) {
        let count = match self.random.random_range(0..10) {
            0..4 => self.random.random_range(1..5),
            4..8 => self.random.random_range(3..16),
            8 => self.random.random_range(16..40),
            _ => 1,
        };
        let is_chain = self.random.random_ratio(1, 8);
        for _ in 0..count {
            match self.revision.family() {
                Family::Slots => self.slots_instruction(is_chain),
                _ => self.memory_instruction(is_chain),
            }
        }
    }

    /// A jump target on the way, most often within a run.
    fn here(&mut self) {
        self.run();
        let label = self.assembly.new_label();
        self.assembly.label(label);
        self.run();
    }

    /// A copy of a word on the stack around a run: the way goes on only where the word is short.
    fn around_copied_word(&mut self) {
        if self.random.random_ratio(3, 4) {
            self.run()
        }
        let has_target = self.random.random_ratio(1, 3);
        if has_target {
            let label = self.assembly.new_label();
            self.assembly.label(label);
        }
        match self.random.random_range(0..5) {
            0 => {
                let word = self.number();
                self.push(word);
            }
            _ => self.copy(),
        }
        self.run();
        if self.random.random_ratio(1, 8) {
            self.piece();
        }
        self.op(op::POP);
    }

    /// Runs with what joins them between them: jump targets, words pushed and copied, jumps over something, calls of functions. What they
    /// leave on the stack is dropped at the end. Those at the end now and then name slots that few runs have.
    fn joined(&mut self) {
        let depth = self.depth;
        self.run();
        for _ in 0..self.random.random_range(1..6) {
            match self.random.random_range(0..10) {
                0..3 => {
                    let label = self.assembly.new_label();
                    self.assembly.label(label);
                }
                3..7 => self.copy(),
                7 => {
                    let word = self.number();
                    self.push(word);
                }
                8 => self.over(),
                _ => self.call_function(),
            }
            self.reach = match self.random.random_range(0..12) {
                0 if self.is_rare(4) => Reach::Far,
                0..5 => Reach::Named,
                _ => Reach::Near,
            };
            self.run();
            self.reach = Reach::Near;
        }
        while self.depth > depth {
            self.op(op::POP);
        }
    }

    /// A jump over something that nobody runs.
    fn over(&mut self) {
        let label = self.assembly.new_label();
        self.assembly.push_label(label);
        self.assembly.op(op::JUMP);
        match self.random.random_range(0..3) {
            0 => drop(self.assembly.op(op::STOP)),
            1 => {
                let inside = self.assembly.new_label();
                self.assembly.label(inside);
                self.run();
            }
            _ => {}
        }
        self.assembly.label(label);
        if self.random.random_ratio(1, 2) {
            self.run()
        }
    }

    /// A call of a function, which jumps back.
    fn call_function(&mut self) {
        let callable = &self.functions[self.callable..];
        let Some(&function) = callable.choose(&mut self.random) else { return self.run() };
        let back = self.assembly.new_label();
        self.assembly.push_label(back);
        if self.is_rare(40) {
            // The way back is taken from the stack instead: wherever that leads.
            self.depth += 1;
            self.copy();
            self.op(op::SWAP1);
            self.op(op::POP);
            self.depth -= 1;
        }
        self.assembly.push_label(function);
        self.assembly.op(op::JUMP).label(back);
    }

    /// A jump to a word of the stack: one of two that the code pushes, or rarely one that an input may have put there.
    fn jump_to_copied_word(&mut self) {
        if self.is_rare(12) {
            self.run();
            self.copy();
            self.op(op::JUMP);
            let label = self.assembly.new_label();
            self.assembly.label(label);
            return self.run();
        }
        let [first, second, chosen] = [(); 3].map(|()| self.assembly.new_label());
        self.push_label(first);
        if self.is_rare(2) {
            // The word depends on another.
            self.copy();
            self.push(1u8);
            self.op(op::AND);
            self.assembly.push_label(chosen).op(op::JUMPI);
            self.depth -= 1;
            self.op(op::POP);
            self.push_label(second);
            self.assembly.label(chosen);
        }
        self.run();
        self.op(op::DUP1);
        if self.is_rare(3) {
            self.run();
        }
        self.op(op::JUMP);
        self.assembly.label(first);
        self.run();
        self.assembly.label(second);
        self.run();
        self.op(op::POP);
    }

    /// A loop.
    fn repeat(&mut self) {
        if self.level >= LEVEL_MAX {
            return self.run();
        }
        if self.random.random_ratio(1, 3) && self.level == 0 {
            let turns = self.random.random_range(1..20u32);
            self.parameter(layout::TURNS, turns);
        } else {
            let turns = match self.random.random_range(0..8) {
                0 if self.level == 0 => self.random.random_range(20..200u32),
                _ => self.random.random_range(1..8),
            };
            self.push(turns);
        }
        let top = self.assembly.new_label();
        self.assembly.label(top);
        self.level += 1;
        for _ in 0..self.random.random_range(1..4) {
            self.piece();
        }
        self.level -= 1;
        self.push(1u8);
        self.op(op::SWAP1);
        self.op(op::SUB);
        self.op(op::DUP1);
        self.assembly.push_label(top);
        self.assembly.op(op::JUMPI);
        self.op(op::POP);
        self.depth -= 1;
    }

    /// A run that is left out where a word of the stack is not zero, or even.
    fn on_condition(&mut self) {
        let label = self.assembly.new_label();
        self.copy();
        if self.random.random_ratio(1, 2) {
            self.push(1u8);
            self.op(op::AND);
        }
        self.assembly.push_label(label);
        self.assembly.op(op::JUMPI);
        self.depth -= 1;
        self.run();
        self.assembly.label(label);
    }

    fn swap(&mut self) {
        if self.depth < 2 {
            return self.run();
        }
        let n = self.random.random_range(1..self.depth.min(17));
        self.op(op::SWAP1 + u8::try_from(n - 1).expect("at most 15"));
    }

    fn function(&mut self, number: usize) {
        self.assembly.label(self.functions[number]);
        self.callable = number + 1;
        // Every caller has at least what the code begins with, below the way back.
        self.depth = self.ground + 1;
        self.level = 1;
        for _ in 0..self.random.random_range(1..4) {
            self.piece();
        }
        if self.is_rare(40) {
            self.push(3u8);
            self.op(op::SWAP1);
        }
        self.op(op::JUMP);
    }

    /// True once in `n` times.
    pub fn is_rare(&mut self, n: u32) -> bool {
        self.random.random_ratio(1, n)
    }

    /// Copies a word of the stack, rarely one that is not there.
    fn copy(&mut self) {
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
    fn stack_word(&mut self) {
        let word = self.random.random_range(layout::STACK..WORDS);
        let number = self.number();
        self.parameter(word, number);
    }

    /// A short number, or one beyond 32 bits.
    fn number(&mut self) -> BigUint {
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
