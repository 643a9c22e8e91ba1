//! The EVM without field instructions over a field of more than 256 bits: a slot is four to eight words of memory, the residues of the integer that
//! stands for its value ([`crate::wide`]).
//!
//! Between blocks that integer is at most 64·p and no word of it is above 2²⁴⁷, but that modulo 2²⁵⁶. Two subroutines
//! convert numbers to and from this form: on the stack where values are four words, as a number is two then, else in memory ([`long`]). They are tested by running whole programs.

mod inversion;
mod long;
mod short;

use super::reverse::Reverse;
use super::words::Rules;
use super::{
    Places, RowSizes, Target, clear, copy_memory, high_by_words, mont_bytes, parse_one_by_one, push, require_below,
    require_padding,
};
use crate::wide::calls::{Calls, Counts};
use crate::wide::emission::Name;
use crate::wide::emit::{self, Memory, Way};
use crate::wide::read::{self, Text};
use crate::wide::sums::Source;
use crate::wide::system::System;
use crate::words::read::{Element, Elements, Made};
use num_bigint::BigUint;
use num_traits::{One, Zero};
use residue_ir::program::Program;
use residue_ir::{Effect, FieldOp};
use residue_isa::FieldInstruction;
use residue_isa::assembly::{Assembly, KnownAddresses, LabelId};
use residue_isa::opcode::evm;
use residue_passes::moves::Copy;
use residue_passes::{Slot, SlotOp};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Bytes of a word.
const WORD_BYTES: u32 = 32;

/// Blocks that run less often have the shortest code.
const RARE: f64 = 1.0 / 4.0;

/// The parameters of the subroutines.
const SLOT: Name = Name::Parameter(0);
const HIGH: Name = Name::Parameter(1);
const LOW: Name = Name::Parameter(2);

/// Lowering for wide fields on the EVM without field instructions.
pub struct Wide {
    system: System,
    memory: Memory,
    places: Places,
    constants: Vec<BigUint>,
    /// A number of two words becomes a slot's value.
    enter: (LabelId, Cell<bool>),
    /// The canonical value of a slot becomes two words.
    leave: (LabelId, Cell<bool>),
    /// The value in scratch memory is inverted.
    inverse: (LabelId, Cell<bool>),
    /// A slot's value is multiplied by [`inversion::multiplier`].
    raise: LabelId,
    /// Start of the memory for that.
    scratch: u32,
    /// Start of the words of a number that becomes a value, or that a value is, where they are in memory.
    number: u32,
    reverse: Reverse,
    lacks_room: Cell<bool>,
    calls: Calls,
    /// Numbers of results of each shape: in the build before, and so far in this one.
    counts: Rc<RefCell<Counts>>,
    /// True if code has to be short.
    pub is_short: bool,
    /// Blocks that run up to so many times have results made by subroutines.
    seldom: f64,
    /// Number of runs of the next block, as far as known.
    runs: Cell<f64>,
}

impl Wide {
    /// Slots from the base of memory on. Inverses are made by Euclid's algorithm unless the precompile MODEXP makes them.
    pub fn new(
        system: System,
        (program, has_modexp): (&Program, bool),
        rules: &Rules,
        places: Places,
        code: &mut Assembly,
    ) -> Self {
        let scratch_bytes =
            if inverts(program) && !has_modexp { WORD_BYTES * inversion::scratch_words(&system) } else { 0 };
        let number = rules.base_bytes + scratch_bytes;
        let number_bytes = if system.count() > 2 { WORD_BYTES * system.number_words() } else { 0 };
        let memory = Memory {
            base: number + number_bytes,
            value_bytes: system.value_bytes(),
            spare: places.spare + 1..places.first_constant,
        };
        let reverse = Reverse::new(code);
        let mut label = || (code.new_label(), Cell::new(false));
        let (enter, leave, inverse, raise) = (label(), label(), label(), label().0);
        let calls = Calls::new(&system, &memory, &rules.shapes.borrow(), code);
        Self {
            system,
            memory,
            places,
            constants: program.constants.clone(),
            enter,
            leave,
            inverse,
            raise,
            scratch: rules.base_bytes,
            number,
            reverse,
            lacks_room: Cell::new(false),
            calls,
            counts: Rc::clone(&rules.shapes),
            is_short: rules.is_short(),
            seldom: rules.seldom(),
            runs: Cell::new(1.0),
        }
    }

    /// True if a block was too large for its slots.
    pub fn lacks_room(&self) -> bool {
        self.lacks_room.get()
    }

    /// Says how often the block runs that is written next.
    pub fn expect_runs(&self, runs: f64) {
        self.runs.set(runs);
    }

    /// The modulus of its field.
    pub fn modulus(&self) -> &BigUint {
        &self.system.p
    }

    fn constant(&self, slot: Slot) -> Option<&BigUint> {
        self.constants.get(slot.checked_sub(self.places.first_constant)? as usize) // u32 to usize widens
    }

    /// Each word of some slots: the slot and the place.
    fn each_word(&self, slots: std::ops::Range<Slot>) -> impl Iterator<Item = (Slot, usize)> {
        let places = self.system.residues().len();
        slots.flat_map(move |slot| (0..places).map(move |place| (slot, place)))
    }

    /// The words of a constant.
    fn residues(&self, value: &BigUint) -> Vec<BigUint> {
        self.system.words(&self.system.integer(value))
    }

    /// [] → [the word in this place of a slot]
    fn word(&self, code: &mut Assembly, slot: Slot, place: usize) {
        match self.constant(slot) {
            Some(constant) => {
                code.push(self.residues(constant)[place].clone());
            }
            None => {
                push(code, self.memory.word(slot, place));
                code.op(evm::MLOAD);
            }
        }
    }

    /// Words of a number.
    fn number_words(&self) -> u32 {
        self.system.number_words()
    }

    /// True if numbers that become values, or that values are, lie in memory.
    fn is_long(&self) -> bool {
        self.system.count() > 2
    }

    /// [] → [the words of a slot's canonical value, the lowest on top]
    fn get(&self, code: &mut Assembly, slot: Slot) {
        if let Some(constant) = self.constant(slot) {
            for word in (0..self.number_words()).rev() {
                code.push(word_of(constant, word));
            }
            return;
        }
        if self.is_long() {
            self.call_leave(code, slot);
            (0..self.number_words()).rev().for_each(|word| self.number_word(code, word));
            return;
        }
        self.leave.1.set(true);
        let back = code.new_label();
        // Two words lie where the results will.
        push(code, self.memory.address(slot));
        code.op(evm::DUP1);
        code.push_label(back);
        code.push_label(self.leave.0);
        code.op(evm::JUMP);
        code.label(back);
    }

    /// [the words of a number below p, the lowest on top] → []
    fn set(&self, code: &mut Assembly, slot: Slot) {
        if self.is_long() {
            return self.call_enter(code, slot);
        }
        self.enter.1.set(true);
        let back = code.new_label();
        code.push_label(back);
        push(code, self.memory.address(slot));
        code.push_label(self.enter.0);
        code.op(evm::JUMP);
        code.label(back);
        code.op(evm::POP);
        code.op(evm::POP);
    }
}

/// True if a program inverts.
pub fn inverts(program: &Program) -> bool {
    let mut inverts = false;
    program.for_each_effect(&mut |effect| inverts |= matches!(effect, Effect::Invert { .. }));
    inverts
}

/// A word of a number; word 0 is the lowest.
fn word_of(number: &BigUint, word: u32) -> BigUint {
    (number >> (256 * word)) & ((BigUint::one() << 256u32) - 1u8)
}

impl Wide {
    /// Compares the bytes of a block with the contents of slots: `before` and `after` it, and the slots that it may
    /// write. The elements that it stores come back, with offsets in the whole code.
    pub fn judge(
        &self,
        elements: &mut Elements,
        before: &[(Slot, Element)],
        own: &BTreeSet<Slot>,
        after: &[(Slot, Element)],
        text: &Text<'_>,
    ) -> Result<Made, String> {
        let at = |held: &[(Slot, Element)]| {
            held.iter().map(|&(slot, element)| (self.memory.address(slot), element)).collect::<Vec<_>>()
        };
        let places = read::Places {
            base: self.memory.base,
            before: at(before),
            own: own.iter().copied().chain(self.memory.spare.clone()).map(|slot| self.memory.address(slot)).collect(),
            after: at(after),
        };
        read::check(&self.system, elements, &places, text)
    }
}

impl Target for Wide {
    fn memory_bytes(&self) -> u32 {
        self.memory.address(self.places.first_constant)
    }

    fn element_bytes(&self) -> u32 {
        self.memory.value_bytes
    }

    fn start(&self, code: &mut Assembly, _: u32) -> u32 {
        self.set_up(code, 0)
    }

    fn set_up(&self, _: &mut Assembly, _: u32) -> u32 {
        self.memory.base
    }

    fn set_up_bytes(&self) -> u32 {
        0
    }

    fn resume(&self, _: &mut Assembly) {}

    fn encode(&self, value: &BigUint) -> Vec<u8> {
        self.residues(value).iter().flat_map(bytes_of).collect()
    }

    fn operations(&self, code: &mut Assembly, ops: &[SlotOp]) {
        self.block(code, ops, &ops.iter().map(|op| op.out).collect());
    }

    fn block(&self, code: &mut Assembly, ops: &[SlotOp], kept: &BTreeSet<Slot>) {
        let (first_constant, constants) = (self.places.first_constant, &self.constants[..]);
        let source = Source { ops, kept, first_constant, constants, system: &self.system };
        let is_called = self.is_short && self.runs.get() <= self.seldom;
        // What is never called is not counted.
        let calls = Some(&self.calls).filter(|_| self.runs.get() <= self.seldom.max(Rules::SELDOM_MAX));
        let is_regular = self.is_short && self.runs.get() <= self.seldom.max(Rules::SELDOM_MAX);
        let is_rare = is_called && self.runs.get() < RARE;
        let way = Way { holds_constants: self.is_short, calls, is_called, is_regular, is_rare };
        if !emit::block(code, &source, &self.memory, way) {
            self.lacks_room.set(true);
        }
    }

    fn copies(&self, code: &mut Assembly, copies: &[Copy]) {
        for copy in copies {
            if (copy.from..copy.from + copy.count).all(|slot| self.constant(slot).is_none()) {
                let [from, to] = [copy.from, copy.to].map(|slot| self.memory.address(slot));
                copy_memory(code, self.element_bytes() * copy.count, from, to);
                continue;
            }
            for (lane, place) in self.each_word(0..copy.count) {
                self.word(code, copy.from + lane, place);
                push(code, self.memory.word(copy.to + lane, place));
                code.op(evm::MSTORE);
            }
        }
    }

    fn reserve(&self, code: &mut Assembly) {
        code.op(evm::MLOAD);
        code.op(evm::POP);
    }

    fn before_load(&self, code: &mut Assembly, _: Slot, count: u32) -> usize {
        push(code, self.element_bytes() * count);
        1
    }

    fn load(&self, code: &mut Assembly, first: Slot, count: u32) {
        let to = self.memory.address(first);
        push(code, to);
        code.copy(self.element_bytes() * count, KnownAddresses { to: Some(to), from: None });
    }

    fn before_store(&self, code: &mut Assembly, first: Slot, count: u32) -> usize {
        let slots = first..first + count;
        if slots.clone().any(|slot| self.constant(slot).is_some()) {
            for (slot, place) in self.each_word(slots) {
                self.word(code, slot, place);
            }
            return self.system.residues().len() * count as usize; // u32 to usize widens
        }
        push(code, self.element_bytes() * count);
        push(code, self.memory.address(first));
        2
    }

    fn store(&self, code: &mut Assembly, first: Slot, count: u32) {
        if (first..first + count).any(|slot| self.constant(slot).is_some()) {
            // [words, address]: the last word lies below the address.
            for place in (0..self.element_bytes() / WORD_BYTES * count).rev() {
                code.op(evm::SWAP1);
                code.op(evm::DUP2);
                if place > 0 {
                    push(code, WORD_BYTES * place);
                    code.op(evm::ADD);
                }
                code.op(evm::MSTORE);
            }
            code.op(evm::POP);
            return;
        }
        code.copy(self.element_bytes() * count, KnownAddresses { from: Some(self.memory.address(first)), to: None });
    }

    fn invert(&self, code: &mut Assembly, out: Slot, x: Slot) {
        self.write_inverse(code, out, x);
    }

    fn is_zero(&self, code: &mut Assembly, slot: Slot) {
        self.get(code, slot);
        (1..self.number_words()).for_each(|_| _ = code.op(evm::OR));
        code.op(evm::ISZERO);
    }

    fn equal(&self, code: &mut Assembly, a: Slot, b: Slot) {
        if let Some((_, other)) =
            [(a, b), (b, a)].into_iter().find(|(slot, _)| self.constant(*slot).is_some_and(Zero::is_zero))
        {
            return self.is_zero(code, other);
        }
        self.get(code, a);
        self.get(code, b);
        // The words of a lie so far below those of b.
        let count = u8::try_from(self.number_words()).expect("there are few");
        code.op(evm::DUP1 + count);
        code.op(evm::XOR);
        for _ in 1..count {
            code.op(evm::SWAP1);
            code.op(evm::DUP1 + count + 1);
            code.op(evm::XOR);
            code.op(evm::OR);
        }
        code.op(evm::ISZERO); //        [words of a, is equal]
        code.op(evm::SWAP1 - 1 + count);
        (0..count).for_each(|_| _ = code.op(evm::POP));
    }

    fn parse(&self, code: &mut Assembly, slot: Slot, size_bytes: u32, fail: LabelId) {
        let pad_bytes = size_bytes.saturating_sub(self.number_words() * WORD_BYTES);
        require_padding(code, pad_bytes, fail);
        if pad_bytes > 0 {
            push(code, pad_bytes);
            code.op(evm::ADD);
        }
        let words = (size_bytes - pad_bytes).div_ceil(WORD_BYTES).max(1); // Of no bytes it is 0.
        let mut bytes = size_bytes - pad_bytes - (words - 1) * WORD_BYTES;
        let is_short = words == 1;
        let put_zeros = |code: &mut Assembly| {
            for _ in words..self.number_words() {
                push(code, 0);
                code.op(evm::SWAP1);
            }
        };
        if is_short {
            code.op(evm::CALLDATALOAD);
            shift(code, WORD_BYTES - bytes, evm::SHR);
            put_zeros(code);
        } else {
            put_zeros(code);
            code.op(evm::DUP1);
            code.op(evm::CALLDATALOAD);
            shift(code, WORD_BYTES - bytes, evm::SHR);
            for word in (0..words - 1).rev() {
                code.op(evm::SWAP1);
                push(code, bytes);
                code.op(evm::ADD);
                if word > 0 {
                    code.op(evm::DUP1);
                }
                code.op(evm::CALLDATALOAD);
                bytes = WORD_BYTES;
            }
            require_below(code, &self.system.p, self.number_words(), fail);
        }
        self.set(code, slot);
    }

    fn parse_row(&self, code: &mut Assembly, slots: &[Slot], sizes: RowSizes, fail: LabelId) {
        parse_one_by_one(self, code, slots, sizes, fail);
    }

    fn take_words(&self, code: &mut Assembly, slot: Slot, count: u32) {
        for missing in count..self.number_words() {
            push(code, 0);
            for below in (1..=u8::try_from(missing).expect("there are few")).rev() {
                code.op(evm::SWAP1 - 1 + below);
            }
        }
        self.set(code, slot);
        for _ in self.number_words()..count {
            code.op(evm::POP); // Zero: the number is below the modulus.
        }
    }

    fn output(&self, code: &mut Assembly, slot: Slot, address: u32, size_bytes: u32) {
        let pad_bytes = size_bytes.saturating_sub(self.number_words() * WORD_BYTES);
        if pad_bytes > 0 {
            clear(code, address, pad_bytes);
        }
        let last = self.number_words() - 1;
        let high_bytes = size_bytes.saturating_sub(last * WORD_BYTES).min(WORD_BYTES);
        if !self.is_long() {
            self.get(code, slot);
            code.op(evm::SWAP1);
        } else if self.constant(slot).is_none() {
            self.call_leave(code, slot);
        }
        let mut at = address + pad_bytes;
        for word in (0..=last).rev() {
            match self.constant(slot) {
                _ if !self.is_long() => {}
                Some(constant) => _ = code.push(word_of(constant, word)),
                None => self.number_word(code, word),
            }
            if word == last {
                // The bytes of the high word that are no part of the number are written over by the next one.
                shift(code, WORD_BYTES - high_bytes, evm::SHL);
            }
            push(code, at);
            code.op(evm::MSTORE);
            at += if word == last { high_bytes } else { WORD_BYTES };
        }
    }

    fn high(&self, code: &mut Assembly, slots: (Slot, Slot), bytes: u32, address: u32) {
        high_by_words(self, code, slots, (bytes, address), self.system.p.bits());
    }

    fn parse_mont_le(&self, code: &mut Assembly, slot: Slot, fail: LabelId) {
        let bytes = mont_bytes(&self.system.p);
        code.op(evm::DUP1);
        push(code, bytes - WORD_BYTES);
        code.op(evm::ADD);
        code.op(evm::CALLDATALOAD);
        self.reverse.call(code);
        shift(code, self.number_words() * WORD_BYTES - bytes, evm::SHR);
        code.op(evm::SWAP1);
        for word in (1..self.number_words() - 1).rev() {
            code.op(evm::DUP1);
            push(code, word * WORD_BYTES);
            code.op(evm::ADD);
            code.op(evm::CALLDATALOAD);
            self.reverse.call(code);
            code.op(evm::SWAP1);
        }
        code.op(evm::CALLDATALOAD);
        self.reverse.call(code); //     [the words, the lowest on top]
        require_below(code, &self.system.p, self.number_words(), fail);
        self.set(code, slot);
        if let Some(factors) = self.places.mont {
            self.operations(code, &[product(slot, factors.parse, slot)]);
        }
    }

    fn output_mont_le(&self, code: &mut Assembly, slot: Slot, address: u32) {
        let from = match self.places.mont {
            Some(factors) => {
                self.operations(code, &[product(slot, factors.output, self.places.spare)]);
                self.places.spare
            }
            None => slot,
        };
        self.get(code, from); //        [the words, the lowest on top]
        for word in 0..self.number_words() {
            self.reverse.call(code);
            push(code, address + word * WORD_BYTES);
            code.op(evm::MSTORE);
        }
    }

    fn lanes(&self, _: &FieldInstruction) -> Option<Vec<SlotOp>> {
        None
    }

    fn read(&self, _: &[u8]) -> Option<(Vec<SlotOp>, usize)> {
        None
    }

    fn wide(&self) -> Option<&Wide> {
        Some(self)
    }

    fn before_functions(&self, code: &mut Assembly) {
        // Parts that words choose push addresses of two bytes.
        if self.is_short && self.seldom > 0.0 && !self.calls.are_none() {
            let after = code.new_label();
            code.push_label(after);
            code.op(evm::JUMP);
            self.calls.write(code);
            code.label(after);
        }
    }

    fn subroutines(&self, code: &mut Assembly) {
        self.reverse.subroutine(code);
        if self.inverse.1.get() {
            self.write_inversion(code);
        }
        let is_long = self.is_long();
        if self.enter.1.get() {
            if is_long { self.write_enter_long(code) } else { self.write_enter(code) }
        }
        if self.leave.1.get() {
            if is_long { self.write_leave_long(code) } else { self.write_leave(code) }
        }
        self.calls.report(&self.system.p, &mut self.counts.borrow_mut());
    }

    fn data(&self, _: &mut Assembly) {}
}

/// [x] → [x shifted by whole bytes]
fn shift(code: &mut Assembly, bytes: u32, opcode: u8) {
    if bytes > 0 {
        push(code, 8 * bytes);
        code.op(opcode);
    }
}

/// x·y as an operation.
const fn product(x: Slot, y: Slot, out: Slot) -> SlotOp {
    SlotOp { operation: FieldOp::Mul, x, y, out }
}

/// A word of bytes.
fn bytes_of(word: &BigUint) -> Vec<u8> {
    let digits = word.to_bytes_be();
    [vec![0; WORD_BYTES as usize - digits.len()], digits].concat() // u32 to usize widens
}
