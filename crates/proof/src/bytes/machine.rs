//! Code on words by number, from one write to scratch memory, or branch of the program, to the next.

use super::Operator;
use super::node::{Limits, Node, Operand, Table};
use residue_ir::{ModOp, WordOp};
use residue_isa::opcode::evm as op;
use residue_isa::{Jumpdests, Revision, jumpdests};
use ruint::aliases::U256;

/// Most words of a stack (Yellow Paper, §9.1).
const STACK_MAX: usize = 1024;
/// Instructions of all ways: code may jump back.
const STEPS_MAX: usize = 1 << 20;
/// Addresses of memory that is paid for in gas below 2⁶⁴.
const ADDRESS_MAX: u64 = 1 << 32;
/// Bytes of a word of memory.
const WORD_BYTES: u64 = 32;

type Done<T> = Result<T, String>;

fn refuse<T>(why: impl Into<String>) -> Done<T> {
    Err(why.into())
}

/// Code, and what is told of it.
pub(super) struct Code<'a> {
    pub(super) bytes: &'a [u8],
    targets: Jumpdests,
    /// Instructions, and steps of the program, that may still be looked at.
    steps: usize,
    /// Most instructions in a row.
    pub(super) longest: usize,
    /// Offset of the last instruction that was not known.
    pub(super) last: usize,
}

impl<'a> Code<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, targets: jumpdests(bytes, Revision::Evm), steps: STEPS_MAX, longest: 0, last: 0 }
    }

    /// An instruction or a step of the program that is gone through.
    pub(super) fn spend(&mut self) -> Done<()> {
        let left = self.steps.checked_sub(1);
        self.steps = left.ok_or_else(|| format!("all ways together have more than {STEPS_MAX} instructions"))?;
        Ok(())
    }

    pub(super) fn is_target(&self, offset: U256) -> Option<usize> {
        usize::try_from(offset).ok().filter(|&offset| self.targets.contains(offset))
    }
}

/// A place in code, with what code has there.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) offset: usize,
    pub(super) stack: Vec<Operand>,
    /// Words of memory beside scratch memory, each at an address.
    pub(super) cells: Vec<(u64, Operand)>,
    /// Words of the program.
    pub(super) known: Vec<(u32, Operand)>,
    /// Number of the state of scratch memory.
    pub(super) scratch: u32,
    /// Bytes of scratch memory.
    pub(super) room: u64,
    /// Words of memory that are paid for.
    pub(super) words: u64,
    /// Bounds of words that the program requires.
    pub(super) limits: Limits,
}

/// Gas of so many words of memory (Yellow Paper, appendix H.1).
pub(super) const fn memory_gas(words: u64) -> u64 {
    3 * words + words * words / 512
}

/// Words of so many bytes.
pub(super) const fn words_of(bytes: u64) -> u64 {
    bytes.div_ceil(WORD_BYTES)
}

/// The operation of an instruction on two words.
const fn operator(byte: u8) -> Option<(WordOp, u64)> {
    Some(match byte {
        op::ADD => (WordOp::Add, 3),
        op::MUL => (WordOp::Mul, 5),
        op::SUB => (WordOp::Sub, 3),
        op::DIV => (WordOp::Div, 5),
        op::MOD => (WordOp::Mod, 5),
        op::LT => (WordOp::Lt, 3),
        op::EQ => (WordOp::Eq, 3),
        op::AND => (WordOp::And, 3),
        op::OR => (WordOp::Or, 3),
        op::XOR => (WordOp::Xor, 3),
        op::SHL => (WordOp::Shl, 3),
        op::SHR => (WordOp::Shr, 3),
        op::BYTE => (WordOp::Byte, 3),
        _ => return None,
    })
}

impl State {
    /// The beginning of code, where these words of memory, and of the program, are zero.
    pub(super) fn start(zeros: &[u64], unset: &[u32]) -> Self {
        let (stack, limits) = Default::default();
        let cells = zeros.iter().map(|&cell| (cell, Operand::ZERO)).collect();
        let known = unset.iter().map(|&word| (word, Operand::ZERO)).collect();
        // State 1 of scratch memory has zeros; words have the numbers after it.
        Self { offset: 0, stack, cells, known, scratch: 0, room: 0, words: 0, limits }
    }

    pub(super) fn opcode(&self, code: &Code<'_>) -> Option<u8> {
        code.bytes.get(self.offset).copied()
    }

    /// The word on the stack with so many above it.
    pub(super) fn peek(&self, depth: usize) -> Done<Operand> {
        let place = self.stack.len().checked_sub(depth + 1);
        place.map(|place| self.stack[place]).ok_or_else(|| "the stack has no such word".to_owned())
    }

    /// A number that is an address, or another size.
    pub(super) fn exact(operand: Operand) -> Done<u64> {
        match operand {
            Operand::Number(number) => {
                let small = u64::try_from(number).ok().filter(|&number| number < ADDRESS_MAX);
                small.ok_or_else(|| format!("the number {number:#x} is beyond all memory"))
            }
            Operand::Atom(_) => refuse("a known number is expected"),
        }
    }

    /// True if scratch memory has so many bytes from an offset on, whatever that is.
    pub(super) fn has_room(&self, table: &Table, offset: Operand, size: u64) -> bool {
        let end = table.greatest(&self.limits, offset).checked_add(U256::from(size));
        end.is_some_and(|end| end <= U256::from(self.room))
    }

    /// Pays for so many bytes from an address on: the gas.
    pub(super) fn reach(&mut self, table: &Table, address: Operand, size: u64) -> Done<u64> {
        let greatest = Self::exact(Operand::Number(table.greatest(&self.limits, address)))?;
        let words = if size == 0 { self.words } else { self.words.max(words_of(greatest + size)) };
        match address {
            Operand::Atom(_) if words > self.words => refuse("memory is not paid for wherever this address is"),
            _ => {
                let gas = memory_gas(words) - memory_gas(self.words);
                self.words = words;
                Ok(gas)
            }
        }
    }

    fn drop(&mut self, words: usize) {
        self.stack.truncate(self.stack.len() - words);
    }

    /// A word takes the place of so many.
    fn push(&mut self, words: usize, word: Operand) {
        self.drop(words);
        self.stack.push(word);
    }

    /// Goes to a JUMPDEST.
    pub(super) fn jumped(mut self, code: &Code<'_>, target: Operand, words: usize) -> Done<Self> {
        let target = match target {
            Operand::Number(number) => code.is_target(number),
            Operand::Atom(_) => None,
        };
        self.offset = target.ok_or("the jump goes to no known JUMPDEST")?;
        self.drop(words);
        Ok(self)
    }

    /// Goes on after so many bytes with so many fewer words.
    pub(super) fn passed(mut self, bytes: usize, words: usize) -> Self {
        self.offset += bytes;
        self.drop(words);
        self
    }

    /// An instruction that has no effect on scratch memory: its gas.
    fn silent(&mut self, table: &mut Table, code: &Code<'_>) -> Done<u64> {
        let byte = self.opcode(code).ok_or("the code ends here")?;
        let immediate =
            usize::from(byte.saturating_sub(op::PUSH0) * u8::from((op::PUSH0..=op::PUSH32).contains(&byte)));
        let after = self.offset + 1 + immediate;
        let gas = match byte {
            op::PUSH0..=op::PUSH32 => {
                let mut bytes = [0; 32];
                let immediates = code.bytes.get(self.offset + 1..after).ok_or("the code ends in this number")?;
                bytes[32 - immediate..].copy_from_slice(immediates);
                self.stack.push(Operand::Number(U256::from_be_bytes(bytes)));
                if immediate == 0 { 2 } else { 3 }
            }
            op::DUP1..=op::DUP16 => {
                self.stack.push(self.peek((byte - op::DUP1).into())?);
                3
            }
            op::SWAP1..=op::SWAP16 => {
                let depth = usize::from(byte - op::SWAP1) + 1;
                self.peek(depth)?;
                let top = self.stack.len() - 1;
                self.stack.swap(top, top - depth);
                3
            }
            op::POP => {
                self.peek(0)?;
                self.drop(1);
                2
            }
            op::JUMPDEST => 1,
            op::JUMP => {
                let target = self.peek(0)?;
                *self = self.clone().jumped(code, target, 1)?;
                return Ok(8);
            }
            op::MLOAD | op::MSTORE | op::KECCAK256 => self.memory(table, byte)?,
            _ => self.word(table, byte)?,
        };
        self.offset = after;
        Ok(gas)
    }

    /// An instruction on words.
    fn word(&mut self, table: &mut Table, byte: u8) -> Done<u64> {
        let zero = Operand::ZERO;
        let (words, word, gas) = match byte {
            op::CALLDATASIZE => (0, table.word(Node::Size), 2),
            op::CALLDATALOAD => (1, table.word(Node::Calldata(self.peek(0)?)), 3),
            op::ISZERO => (1, table.operation(Operator::Word(WordOp::Eq), [zero, self.peek(0)?, zero]), 3),
            op::NOT => {
                let operands = [Operand::Number(U256::MAX), self.peek(0)?, zero];
                (1, table.operation(Operator::Word(WordOp::Sub), operands), 3)
            }
            op::GT => {
                let operands = [self.peek(1)?, self.peek(0)?, zero];
                (2, table.operation(Operator::Word(WordOp::Lt), operands), 3)
            }
            op::ADDMOD | op::MULMOD => {
                let operator = if byte == op::ADDMOD { ModOp::Add } else { ModOp::Mul };
                let operands = [self.peek(0)?, self.peek(1)?, self.peek(2)?];
                (3, table.operation(Operator::Modular(operator), operands), 8)
            }
            _ => {
                let (operator, gas) = operator(byte).ok_or("no step of the program does this")?;
                let operands = [self.peek(0)?, self.peek(1)?, zero];
                (2, table.operation(Operator::Word(operator), operands), gas)
            }
        };
        self.push(words, word);
        Ok(gas)
    }

    /// A read of memory, a hash, or a word that is kept beside scratch memory.
    fn memory(&mut self, table: &mut Table, byte: u8) -> Done<u64> {
        let address = self.peek(0)?;
        match byte {
            op::MSTORE => {
                let (word, address) = (self.peek(1)?, Self::exact(address)?);
                let is_apart = |&(cell, _): &(u64, Operand)| cell == address || cell.abs_diff(address) >= WORD_BYTES;
                if address < self.room || !self.cells.iter().all(is_apart) {
                    return refuse("the word has a place in scratch memory, or in another word");
                }
                match self.cells.iter_mut().find(|(cell, _)| *cell == address) {
                    Some((_, kept)) => *kept = word,
                    None => self.cells.push((address, word)),
                }
                let gas = 3 + self.reach(table, Operand::Number(U256::from(address)), WORD_BYTES)?;
                self.drop(2);
                Ok(gas)
            }
            op::MLOAD => {
                let word = match self.kept(table, address) {
                    Some(word) => word,
                    None if self.has_room(table, address, WORD_BYTES) => {
                        table.word(Node::Scratch(self.scratch, address))
                    }
                    None => return refuse("memory is read where no word is known"),
                };
                let gas = 3 + self.reach(table, address, WORD_BYTES)?;
                self.push(1, word);
                Ok(gas)
            }
            _ => {
                let size = Self::exact(self.peek(1)?)?;
                if !self.has_room(table, address, size) {
                    return refuse("bytes are hashed that may be beyond scratch memory");
                }
                let gas = 30 + 6 * words_of(size) + self.reach(table, address, size)?;
                let word = table.word(Node::Hash(self.scratch, address, Operand::Number(U256::from(size))));
                self.push(2, word);
                Ok(gas)
            }
        }
    }

    /// The word beside scratch memory at a known address: one that is kept there, or parts of two that touch there.
    fn kept(&self, table: &mut Table, address: Operand) -> Option<Operand> {
        let Operand::Number(address) = address else { return None };
        let address = u64::try_from(address).ok()?;
        let kept = |place| self.cells.iter().find(|&&(cell, _)| cell == place).map(|&(_, word)| word);
        if let Some(word) = kept(address) {
            return Some(word);
        }
        let is_within = |cell| cell < address && address - cell < WORD_BYTES;
        let &(cell, first) = self.cells.iter().find(|&&(cell, _)| is_within(cell))?;
        let second = kept(cell + WORD_BYTES)?;
        let bits = 8 * (address - cell);
        let mut part = |op, bits, word| {
            table.operation(Operator::Word(op), [Operand::Number(U256::from(bits)), word, Operand::ZERO])
        };
        let (high, low) = (part(WordOp::Shl, bits, first), part(WordOp::Shr, 256 - bits, second));
        Some(table.operation(Operator::Word(WordOp::Or), [high, low, Operand::ZERO]))
    }

    /// Instructions up to one that scratch memory or the program's branches have to do with, or up to a place: their gas.
    pub(super) fn sync(&mut self, table: &mut Table, code: &mut Code<'_>, stop: Option<usize>) -> Done<u64> {
        let (mut gas, mut steps) = (0, 0);
        while stop != Some(self.offset) {
            let Ok(more) = self.silent(table, code) else {
                code.last = self.offset;
                break;
            };
            if self.stack.len() > STACK_MAX {
                return refuse(format!("the stack has more than {STACK_MAX} words"));
            }
            gas += more;
            steps += 1;
            code.spend()?;
        }
        code.longest = code.longest.max(steps + 1);
        Ok(gas)
    }
}
