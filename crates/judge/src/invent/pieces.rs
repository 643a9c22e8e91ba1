//! The pieces of codes: runs of field instructions, and the control flow between them that joins blocks, or only seems to.

use rand::Rng;
use rand::seq::IndexedRandom;
use residue_isa::Family;
use residue_isa::opcode::evm as op;
use residue_isa::opcode::subroutine::{CALLSUB, ENTERSUB, RETURNSUB};

use super::layout;
use super::writer::{PIECES_MAX, Reach, Writer};

/// Loops within loops.
const LEVEL_MAX: u32 = 2;

impl Writer<'_> {
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
        // More operations than one block has, now and then.
        let count = if self.revision.is_strided() && self.is_rare(2000) { 300 } else { count };
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

    /// a jump over something that is never executed.
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
        if self.is_subroutine(function) {
            self.assembly.push_label(function).op(CALLSUB);
            return;
        }
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

    pub fn function(&mut self, number: usize) {
        let is_subroutine = self.is_subroutine(self.functions[number]);
        if is_subroutine {
            self.assembly.mark(self.functions[number]).op(ENTERSUB);
        } else {
            self.assembly.label(self.functions[number]);
        }
        self.callable = number + 1;
        // Every caller has at least what the code begins with, below the way back, if that is on the stack.
        self.depth = self.ground + usize::from(!is_subroutine);
        self.level = 1;
        for _ in 0..self.random.random_range(1..4) {
            self.piece();
        }
        if is_subroutine && !self.is_rare(60) {
            return self.op(RETURNSUB);
        }
        if self.is_rare(40) {
            self.push(3u8);
            self.op(op::SWAP1);
        }
        self.op(op::JUMP);
    }
}
