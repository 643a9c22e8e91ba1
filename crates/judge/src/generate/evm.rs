//! Stock opcodes: words at their edges, everything that grows memory, jumps to good and bad places, loops; and subroutines, where there are some.

use num_bigint::BigUint;
use rand::Rng;
use rand::seq::IndexedRandom;
use residue_isa::opcode::evm as op;
use residue_isa::opcode::subroutine::{CALLSUB, ENTERSUB, RETURNSUB};

use super::Generator;

/// Opcodes on words alone, by the words they take.
const WORDS_1: &[u8] = &[op::ISZERO, op::NOT, op::CLZ];
const WORDS_2: &[u8] = &[
    op::ADD,
    op::MUL,
    op::SUB,
    op::DIV,
    op::SDIV,
    op::MOD,
    op::SMOD,
    op::EXP,
    op::SIGNEXTEND,
    op::LT,
    op::GT,
    op::SLT,
    op::SGT,
    op::EQ,
    op::AND,
    op::OR,
    op::XOR,
    op::BYTE,
    op::SHL,
    op::SHR,
    op::SAR,
];
const WORDS_3: &[u8] = &[op::ADDMOD, op::MULMOD];
/// Opcodes that push something about the frame.
const FRAME: &[u8] = &[
    op::ADDRESS,
    op::CALLER,
    op::CALLVALUE,
    op::CALLDATASIZE,
    op::CODESIZE,
    op::RETURNDATASIZE,
    op::PC,
    op::MSIZE,
    op::GAS,
];

impl Generator {
    /// A snippet of stock opcodes.
    pub(super) fn stock(&mut self) {
        if self.revision.has_subroutines() && self.rarely(4) {
            return self.subroutine();
        }
        match self.random.random_range(0..20) {
            0..=6 => self.words(),
            7..=11 => self.memory(),
            12 | 13 => self.stack(),
            14 => {
                let opcode = *FRAME.choose(&mut self.random).expect("it is not empty");
                self.op(opcode);
            }
            15 => {
                let offset = self.edge_offset();
                self.push(offset);
                self.op(op::CALLDATALOAD);
            }
            16 | 17 => self.jump_forward(),
            18 if self.rarely(4) => self.jump_anywhere(),
            19 if self.rarely(15) => self.endless_pushes(),
            _ => self.words(),
        }
    }

    /// A loop around snippets, which runs a few times.
    pub(super) fn repeat(&mut self, snippet: impl Fn(&mut Self)) {
        let times = self.random.random_range(1..5u8);
        self.push(times);
        let target = self.code.len();
        self.op(op::JUMPDEST);
        let depth = self.depth;
        for _ in 0..self.random.random_range(1..4) {
            snippet(self);
        }
        while self.depth > depth {
            self.op(op::POP);
        }
        self.push(1u8);
        self.op(op::SWAP1);
        self.op(op::SUB);
        self.op(op::DUP1);
        self.push(target);
        self.op(op::JUMPI);
        self.op(op::POP);
    }

    fn words(&mut self) {
        let (opcodes, count) = match self.random.random_range(0..8) {
            0 => (WORDS_1, 1),
            1 | 2 => (WORDS_3, 3),
            _ => (WORDS_2, 2),
        };
        for _ in 0..count {
            if self.depth < count || !self.rarely(3) {
                let word = if self.rarely(3) { self.random.random_range(0..300u16).into() } else { self.integer(32) };
                self.push(word);
            }
        }
        let opcode = *opcodes.choose(&mut self.random).expect("it is not empty");
        self.op(opcode);
    }

    fn stack(&mut self) {
        let slack = usize::from(self.rarely(20));
        match self.random.random_range(0..3) {
            0 if self.depth + slack > 0 => {
                let n = self.random.random_range(0..(self.depth + slack).min(16));
                self.op(op::DUP1 + u8::try_from(n).expect("below 16"));
            }
            1 if self.depth + slack > 1 => {
                let n = self.random.random_range(0..(self.depth + slack - 1).min(16));
                self.op(op::SWAP1 + u8::try_from(n).expect("below 16"));
            }
            _ if self.depth + slack > 0 => self.op(op::POP),
            _ => self.words(),
        }
    }

    /// Something that reads or writes memory.
    fn memory(&mut self) {
        let offset = self.edge_offset();
        match self.random.random_range(0..9) {
            0 => {
                self.push(offset);
                self.op(op::MLOAD);
            }
            1 | 2 => {
                let word = self.integer(32);
                self.push(word);
                self.push(offset);
                self.op(op::MSTORE);
            }
            3 => {
                let word = self.integer(32);
                self.push(word);
                self.push(offset);
                self.op(op::MSTORE8);
            }
            4 => {
                let size = self.size();
                self.push(size);
                self.push(offset);
                self.op(op::KECCAK256);
            }
            5 => {
                let size = self.random.random_range(0..8u8);
                let size = if self.rarely(6) { self.size() } else { BigUint::from(size / 7) };
                let source = if self.rarely(8) { self.edge_offset() } else { BigUint::ZERO };
                self.push(size);
                self.push(source);
                self.push(offset);
                self.op(op::RETURNDATACOPY);
            }
            n => {
                let size = self.size();
                let source = self.edge_offset();
                self.push(size);
                self.push(source);
                self.push(offset);
                self.op([op::MCOPY, op::CALLDATACOPY, op::CODECOPY][n - 6]);
            }
        }
    }

    /// An offset that rarely is too high for any gas.
    fn edge_offset(&mut self) -> BigUint {
        if !self.rarely(30) {
            return self.offset().into();
        }
        let one = BigUint::from(1u8);
        let bits = *[16, 22, 26, 32, 63, 64, 128, 256].choose(&mut self.random).expect("it is not empty");
        (one << bits) - self.random.random_range(1..40u8)
    }

    fn size(&mut self) -> BigUint {
        match self.random.random_range(0..10) {
            0 => BigUint::ZERO,
            1 if self.rarely(5) => self.edge_offset(),
            2 => 32u8.into(),
            _ => self.random.random_range(0..200u8).into(),
        }
    }

    /// A jump over bytes, taken always or by a condition.
    fn jump_forward(&mut self) {
        let conditional = self.rarely(2);
        if conditional {
            let condition = if self.rarely(2) { BigUint::ZERO } else { self.integer(32) };
            self.push(condition);
        }
        // PUSH2 keeps the position of the target out of its own size.
        let skipped = self.random.random_range(0..12usize);
        let target = self.code.len() + 4 + skipped;
        let target = u16::try_from(target).unwrap_or(u16::MAX);
        self.push_bytes(&target.to_be_bytes());
        self.op(if conditional { op::JUMPI } else { op::JUMP });
        for _ in 0..skipped {
            let byte = if conditional || !self.rarely(20) { op::JUMPDEST } else { self.random.random() };
            self.code.push(byte);
        }
        self.op(op::JUMPDEST);
    }

    /// A jump to any offset, which is seldom a good one: into immediates, beyond the end, to far offsets.
    fn jump_anywhere(&mut self) {
        let target = match self.random.random_range(0..4) {
            0 => self.edge_offset(),
            _ => self.random.random_range(0..self.code.len() + 20).into(),
        };
        self.push(target);
        self.op(op::JUMP);
    }

    /// A call of a subroutine that stands after it, or one of the rarer ways to use the three opcodes, most of which halt.
    fn subroutine(&mut self) {
        match self.random.random_range(0..24) {
            0 if self.rarely(3) => self.op(RETURNSUB),
            1 => self.op(ENTERSUB),
            2 if self.rarely(3) => {
                let target = if self.rarely(4) {
                    self.edge_offset()
                } else {
                    self.random.random_range(0..self.code.len() + 20).into()
                };
                self.push(target);
                self.op(CALLSUB);
            }
            3 if self.rarely(3) => {
                // Each label is for the other instruction.
                let (label, opcode) =
                    *[(ENTERSUB, op::JUMP), (op::JUMPDEST, CALLSUB)].choose(&mut self.random).expect("two");
                let target = self.code_after(4);
                self.push_bytes(&target);
                self.op(opcode);
                self.op(label);
            }
            4 if self.rarely(2) => {
                let target = self.code.len();
                self.op(ENTERSUB);
                self.push(target);
                self.op(CALLSUB);
            }
            5..=8 => self.recursion(),
            _ => {
                let called = self.code_after(8);
                self.push_bytes(&called);
                self.op(CALLSUB);
                self.over(|generator| {
                    generator.op(ENTERSUB);
                    for _ in 0..generator.random.random_range(0..3) {
                        generator.words();
                    }
                    if !generator.rarely(20) {
                        generator.op(RETURNSUB);
                    }
                });
            }
        }
    }

    /// A subroutine that calls itself as often as a word says: up to the limit of the return stack and beyond.
    fn recursion(&mut self) {
        let calls = match self.rarely(4) {
            true => *[1022, 1023, 1024, 1025].choose(&mut self.random).expect("four of them"),
            false => self.random.random_range(1..9u32),
        };
        self.push(calls);
        let called = self.code_after(8);
        self.push_bytes(&called);
        self.op(CALLSUB);
        self.over(|generator| {
            generator.op(ENTERSUB);
            generator.push(1u8);
            generator.op(op::SWAP1);
            generator.op(op::SUB);
            generator.op(op::DUP1);
            generator.op(op::ISZERO);
            let end = generator.code_after(8);
            generator.push_bytes(&end);
            generator.op(op::JUMPI);
            generator.push_bytes(&called);
            generator.op(CALLSUB);
            generator.op(op::JUMPDEST);
            generator.op(RETURNSUB);
        });
    }

    /// Bytes that control jumps over: three of a push, a jump, the bytes, a target.
    fn over(&mut self, bytes: impl FnOnce(&mut Self)) {
        let push = self.code.len() + 1;
        self.push_bytes(&[0, 0]);
        self.op(op::JUMP);
        bytes(self);
        let target = self.code_after(0);
        self.code[push..push + 2].copy_from_slice(&target);
        self.op(op::JUMPDEST);
    }

    /// The offset so many bytes after the code, in two bytes.
    fn code_after(&self, bytes: usize) -> [u8; 2] {
        u16::try_from(self.code.len() + bytes).unwrap_or(u16::MAX).to_be_bytes()
    }

    /// A loop that pushes until the stack is full.
    fn endless_pushes(&mut self) {
        let target = self.code.len();
        self.op(op::JUMPDEST);
        self.op(op::PC);
        self.push(target);
        self.op(op::JUMP);
    }
}
