//! Programs that reach the corners: plausible ones, since random bytes halt at once, with rare faults in every operand.
//!
//! A generated program is a sequence of snippets, each of which leaves the stack as it found it or a few words higher:
//! stock opcodes ([`evm`]), and field instructions of one family ([`evm384`], [`eip6690`], [`mont_slots`]), inside loops now and then. At
//! its end it stores what is on the stack and in slots, so that results show in memory. A program follows from its seed.

mod eip6690;
mod evm;
mod evm384;
mod mont_slots;

use num_bigint::BigUint;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_isa::opcode::evm as op;
use residue_isa::{Family, Revision};

use crate::differential::{Program, specified_opcodes};

/// Content of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Stock opcodes.
    Stock,
    /// Field instructions with stock opcodes between them.
    Field,
    /// As `Field`, with some bytes changed or cut off afterwards.
    Damaged,
    /// Random bytes, opcodes more often than others.
    Bytes,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 4] = [Kind::Stock, Kind::Field, Kind::Damaged, Kind::Bytes];
}

/// The program of a seed. Its gas covers most programs and ends every loop.
pub fn program(revision: Revision, kind: Kind, seed: u64) -> Program {
    let mut generator = Generator::new(revision, seed);
    match kind {
        Kind::Stock => generator.body(|generator| generator.stock()),
        Kind::Field => generator.body(Generator::field_or_stock),
        Kind::Damaged => {
            generator.body(Generator::field_or_stock);
            generator.damage();
        }
        Kind::Bytes => generator.bytes(),
    }
    generator.finish()
}

/// A short program of few snippets, for runs at every possible gas.
pub fn short_program(revision: Revision, seed: u64) -> Program {
    let mut generator = Generator::new(revision, seed);
    generator.prologue();
    for _ in 0..generator.random.random_range(1..4) {
        generator.field_or_stock();
    }
    generator.epilogue();
    generator.finish()
}

/// A program in the making.
struct Generator {
    revision: Revision,
    random: ChaCha8Rng,
    code: Vec<u8>,
    input: Vec<u8>,
    /// Words on the stack, if every jump is taken as written.
    depth: usize,
    /// Bytes of memory at least, if every instruction so far has run.
    memory_bytes: u64,
    slots: eip6690::Slots,
    values: evm384::Values,
    mont: mont_slots::Modulus,
}

impl Generator {
    fn new(revision: Revision, seed: u64) -> Self {
        Self {
            revision,
            random: ChaCha8Rng::seed_from_u64(seed),
            code: Vec::new(),
            input: Vec::new(),
            depth: 0,
            memory_bytes: 0,
            slots: eip6690::Slots::default(),
            values: evm384::Values::default(),
            mont: mont_slots::Modulus::default(),
        }
    }

    fn finish(mut self) -> Program {
        let gas = match self.random.random_range(0..8) {
            0 => self.random.random_range(0..2_000),
            1 => 1_000_000,
            _ => 100_000,
        };
        Program { code: self.code, input: self.input, gas }
    }

    /// A whole program of snippets.
    fn body(&mut self, snippet: impl Fn(&mut Self)) {
        self.prologue();
        for _ in 0..self.random.random_range(1..25) {
            if self.rarely(12) {
                self.repeat(&snippet);
            } else {
                snippet(self);
            }
        }
        self.epilogue();
    }

    /// Some input.
    fn prologue(&mut self) {
        let len = self.random.random_range(0..80);
        self.input = (0..len).map(|_| self.random.random()).collect();
    }

    fn field_or_stock(&mut self) {
        match (self.rarely(4), self.revision.evm384()) {
            (true, _) => self.stock(),
            _ if self.revision.family() == Family::Words => self.stock(),
            (false, Some(interface)) => self.evm384(interface),
            (false, None) if self.revision.family() == Family::MemorySlots => self.mont_slots(),
            (false, None) => self.eip6690(),
        }
    }

    /// Makes slots and stack visible in memory, and ends.
    fn epilogue(&mut self) {
        if self.revision.family() == Family::Slots && !self.rarely(6) {
            self.dump_slots();
        }
        if !self.rarely(6) {
            for i in 0..self.depth.min(6) {
                self.push(32 * i);
                self.op(op::MSTORE);
            }
        }
        match self.random.random_range(0..8) {
            0..=3 => {}
            4 => self.op(op::STOP),
            _ => {
                let end = if self.rarely(4) { op::REVERT } else { op::RETURN };
                self.op(op::MSIZE);
                self.push(0u8);
                self.op(end);
            }
        }
    }

    /// Random bytes.
    fn bytes(&mut self) {
        let opcodes = specified_opcodes(self.revision);
        for _ in 0..self.random.random_range(0..12) {
            let word = self.random.random_range(0..40u8);
            self.push(word);
        }
        let len = self.random.random_range(0..120);
        for _ in 0..len {
            let byte = match self.random.random_range(0..10) {
                0 => self.random.random(),
                1..=4 => *[op::PUSH0, op::PUSH1, op::PUSH1 + 1, op::DUP1, op::DUP1 + 3, op::JUMPDEST]
                    .choose(&mut self.random)
                    .expect("it is not empty"),
                5 => self.random.random_range(0..8),
                6 => match self.revision.prefix() {
                    Some(prefix) if self.rarely(2) => prefix,
                    _ => self.random.random_range(0xc0..0xc7),
                },
                _ => {
                    let opcode = *opcodes.choose(&mut self.random).expect("every revision has opcodes");
                    self.code.extend(self.revision.opcode_bytes(opcode));
                    continue;
                }
            };
            self.code.push(byte);
        }
        self.prologue();
    }

    /// Changes, drops or cuts bytes of the code.
    fn damage(&mut self) {
        for _ in 0..self.random.random_range(1..4) {
            let Some(last) = self.code.len().checked_sub(1) else {
                return;
            };
            let at = self.random.random_range(0..=last);
            match self.random.random_range(0..4) {
                0 => self.code[at] = self.random.random(),
                1 => self.code[at] ^= 1 << self.random.random_range(0..8),
                2 => drop(self.code.remove(at)),
                _ => self.code.truncate(self.code.len() - at.min(30)),
            }
        }
    }

    /// True once in `n` times.
    fn rarely(&mut self, n: u32) -> bool {
        self.random.random_ratio(1, n)
    }

    /// Appends an opcode without immediate.
    fn op(&mut self, opcode: u8) {
        let start = self.code.len();
        self.code.extend(self.revision.opcode_bytes(opcode));
        if self.code.len() > start + 1 && self.rarely(80) {
            self.misplace_prefix(start);
        }
        if let Some(row) = self.revision.row(opcode) {
            self.depth = self.depth.saturating_sub(usize::from(row.pops)) + usize::from(row.pushes);
        }
    }

    /// Puts something else in place of a prefix, or of the opcode after it, at the end of the code: no instruction, but for another opcode.
    fn misplace_prefix(&mut self, start: usize) {
        match self.random.random_range(0..4) {
            0 => drop(self.code.remove(start)),
            1 => self.code.truncate(start + 1),
            2 => self.code.insert(start, self.code[start]),
            _ => self.code[start + 1] = self.random.random(),
        }
    }

    /// Appends a push of a number, mostly the shortest.
    fn push(&mut self, number: impl Into<BigUint>) {
        let mut bytes = number.into().to_bytes_be();
        bytes.drain(..bytes.iter().take_while(|&&byte| byte == 0).count());
        if self.rarely(10) {
            let zeros = self.random.random_range(0..=32 - bytes.len());
            bytes.splice(..0, std::iter::repeat_n(0, zeros));
        }
        self.push_bytes(&bytes);
    }

    /// Appends a push of up to 32 bytes.
    fn push_bytes(&mut self, bytes: &[u8]) {
        self.code.push(op::PUSH0 + u8::try_from(bytes.len()).expect("at most 32 bytes"));
        self.code.extend_from_slice(bytes);
        self.depth += 1;
    }

    /// Writes bytes to memory at `offset`; what follows them up to 31 bytes is overwritten too.
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        if self.rarely(3) {
            let source = self.input.len();
            self.input.extend_from_slice(bytes);
            self.push(bytes.len());
            self.push(source);
            self.push(offset);
            self.op(op::CALLDATACOPY);
        } else {
            for (chunk, at) in bytes.chunks(32).zip((offset..).step_by(32)) {
                let mut word = [0; 32];
                word[..chunk.len()].copy_from_slice(chunk);
                self.push_bytes(&word);
                self.push(at);
                self.op(op::MSTORE);
                self.reach(at + 32);
            }
        }
        self.reach(offset + bytes.len() as u64); // usize to u64 widens.
    }

    /// Notes that memory reaches `end`.
    fn reach(&mut self, end: u64) {
        self.memory_bytes = self.memory_bytes.max(end.next_multiple_of(32));
    }

    /// An offset to write at: close to what is there.
    fn offset(&mut self) -> u64 {
        match self.random.random_range(0..12) {
            0 => self.memory_bytes,
            1 => self.memory_bytes.saturating_sub(self.random.random_range(0..40)),
            2 => self.random.random_range(0..2_000),
            _ => 8 * self.random.random_range(0..80),
        }
    }

    /// An integer of up to `bytes` bytes.
    fn integer(&mut self, bytes: usize) -> BigUint {
        let mut digits = vec![0; bytes];
        self.random.fill(&mut digits[..]);
        let integer = BigUint::from_bytes_be(&digits);
        let bits = 8 * bytes;
        match self.random.random_range(0..8) {
            0 => BigUint::from(self.random.random_range(0..4u8)),
            1 => (BigUint::from(1u8) << bits) - self.random.random_range(1..4u8),
            2 => BigUint::from(1u8) << self.random.random_range(0..bits),
            3 => integer >> self.random.random_range(0..bits),
            _ => integer,
        }
    }

    /// An operand under modulus m: mostly below it, often at its edges.
    fn operand(&mut self, m: &BigUint, bytes: usize) -> BigUint {
        let one = || BigUint::from(1u8);
        let value = match self.random.random_range(0..10) {
            0 => BigUint::ZERO,
            1 => one(),
            2 if *m > one() => m - 1u8,
            3 if *m > one() => m - 2u8,
            _ if *m > one() => self.integer(bytes) % m,
            _ => self.integer(bytes),
        };
        value % (one() << (8 * bytes))
    }
}
