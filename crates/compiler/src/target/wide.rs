//! The EVM without field instructions over a field of more than 256 bits: a slot is four words of memory, the residues of the integer that
//! stands for its value ([`crate::wide`]).
//!
//! Between blocks that integer is at most 64·p and no word of it is above 2²⁴⁷, but that modulo 2²⁵⁶. Two subroutines
//! convert numbers of two words to and from this form; they are tested by running whole programs.

mod inversion;
mod leaving;

use super::reverse::Reverse;
use super::words::Rules;
use super::{
    Places, RowSizes, Target, clear, copy_memory, high_by_words, mont_bytes, parse_one_by_one, push, require_below,
    require_padding,
};
use crate::wide::calls::{Calls, Counts};
use crate::wide::emission::{Emission, Name};
use crate::wide::emit::{self, Memory, VALUE_BYTES, Way};
use crate::wide::read::{self, Text};
use crate::wide::sums::Source;
use crate::wide::system::{RESIDUES, Residue, System};
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
    /// A slot's value is multiplied by A.
    raise: LabelId,
    /// Start of the memory for that.
    scratch: u32,
    reverse: Reverse,
    lacks_room: Cell<bool>,
    calls: Calls,
    /// Numbers of results of each shape: in the build before, and so far in this one.
    counts: Rc<RefCell<Counts>>,
    is_short: bool,
    /// Blocks that run up to so many times have results made by subroutines.
    seldom: f64,
    /// Number of runs of the next block, as far as known.
    runs: Cell<f64>,
}

impl Wide {
    /// Slots from the base of memory on.
    pub fn new(system: System, program: &Program, rules: &Rules, places: Places, code: &mut Assembly) -> Self {
        let scratch_bytes = if inverts(program) { WORD_BYTES * inversion::SCRATCH_WORDS } else { 0 };
        let memory = Memory { base: rules.base_bytes + scratch_bytes, spare: places.spare + 1..places.first_constant };
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

    /// The four words of a constant.
    fn residues(&self, value: &BigUint) -> [BigUint; 4] {
        self.system.words(&self.system.integer(value))
    }

    /// [] → [a word of the slot]
    fn word(&self, code: &mut Assembly, slot: Slot, residue: Residue) {
        match self.constant(slot) {
            Some(constant) => {
                code.push(self.residues(constant)[residue.place()].clone());
            }
            None => {
                push(code, self.memory.word(slot, residue));
                code.op(evm::MLOAD);
            }
        }
    }

    /// [] → [high, low] of the canonical value of a slot
    fn get(&self, code: &mut Assembly, slot: Slot) {
        if let Some(constant) = self.constant(slot) {
            let (high, low) = halves(constant);
            code.push(high);
            code.push(low);
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

    /// [high, low] of a number below p → []
    fn set(&self, code: &mut Assembly, slot: Slot) {
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

    /// [high, low, return, slot] → [high, low]: T = (high·2²⁵⁶ + low)·(A² mod p), reduced, so that it stands for the number.
    fn write_enter(&self, code: &mut Assembly) {
        code.label(self.enter.0);
        let system = &self.system;
        let mut e = Emission::new(system, code);
        e.stack = vec![HIGH, LOW, Name::Other, SLOT];
        let square = system.square();
        e.reduce(1, |e, residue| {
            let modulus = system.modulus(residue);
            let low = &square % modulus;
            if residue == Residue::A2 {
                e.push(low);
                e.dup(LOW);
                e.op(evm::MUL, 2);
                return;
            }
            let high = (&square << 256u32) % modulus;
            for (factor, name) in [(high, HIGH), (low, LOW)] {
                e.push(modulus.clone());
                e.push(factor);
                e.dup(name);
                e.op(evm::MULMOD, 3);
            }
            e.op(evm::ADD, 2);
            e.raise(residue);
        });
        e.finish(|e, residue| {
            e.address(SLOT, residue);
            e.store_at();
        });
        e.pop(); //                                 [high, low, return]
        code.op(evm::JUMP);
    }
}

/// True if a program inverts.
pub fn inverts(program: &Program) -> bool {
    let mut inverts = false;
    program.for_each_effect(&mut |effect| inverts |= matches!(effect, Effect::Invert { .. }));
    inverts
}

/// The words of a number of at most two.
fn halves(number: &BigUint) -> (BigUint, BigUint) {
    let low = (BigUint::one() << 256u32) - 1u8;
    (number >> 256u32, number & low)
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
        VALUE_BYTES
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
        let way = Way { holds_constants: self.is_short, calls, is_called, is_regular };
        if !emit::block(code, &source, &self.memory, way) {
            self.lacks_room.set(true);
        }
    }

    fn copies(&self, code: &mut Assembly, copies: &[Copy]) {
        for copy in copies {
            if (copy.from..copy.from + copy.count).all(|slot| self.constant(slot).is_none()) {
                let [from, to] = [copy.from, copy.to].map(|slot| self.memory.address(slot));
                copy_memory(code, VALUE_BYTES * copy.count, from, to);
                continue;
            }
            for (lane, residue) in (0..copy.count).flat_map(|lane| RESIDUES.map(|residue| (lane, residue))) {
                self.word(code, copy.from + lane, residue);
                push(code, self.memory.word(copy.to + lane, residue));
                code.op(evm::MSTORE);
            }
        }
    }

    fn reserve(&self, code: &mut Assembly) {
        code.op(evm::MLOAD);
        code.op(evm::POP);
    }

    fn before_load(&self, code: &mut Assembly, _: Slot, count: u32) -> usize {
        push(code, VALUE_BYTES * count);
        1
    }

    fn load(&self, code: &mut Assembly, first: Slot, count: u32) {
        let to = self.memory.address(first);
        push(code, to);
        code.copy(VALUE_BYTES * count, KnownAddresses { to: Some(to), from: None });
    }

    fn before_store(&self, code: &mut Assembly, first: Slot, count: u32) -> usize {
        let slots = first..first + count;
        if slots.clone().any(|slot| self.constant(slot).is_some()) {
            for (slot, residue) in slots.flat_map(|slot| RESIDUES.map(|residue| (slot, residue))) {
                self.word(code, slot, residue);
            }
            return 4 * count as usize; // u32 to usize widens
        }
        push(code, VALUE_BYTES * count);
        push(code, self.memory.address(first));
        2
    }

    fn store(&self, code: &mut Assembly, first: Slot, count: u32) {
        if (first..first + count).any(|slot| self.constant(slot).is_some()) {
            // [words, address]: the last word lies below the address.
            for place in (0..4 * count).rev() {
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
        code.copy(VALUE_BYTES * count, KnownAddresses { from: Some(self.memory.address(first)), to: None });
    }

    fn invert(&self, code: &mut Assembly, out: Slot, x: Slot) {
        self.write_inverse(code, out, x);
    }

    fn is_zero(&self, code: &mut Assembly, slot: Slot) {
        self.get(code, slot);
        code.op(evm::OR);
        code.op(evm::ISZERO);
    }

    fn equal(&self, code: &mut Assembly, a: Slot, b: Slot) {
        if let Some((_, other)) =
            [(a, b), (b, a)].into_iter().find(|(slot, _)| self.constant(*slot).is_some_and(Zero::is_zero))
        {
            return self.is_zero(code, other);
        }
        self.get(code, a);
        self.get(code, b); //           [high, low, other high, other low]
        code.op(evm::DUP3);
        code.op(evm::XOR);
        code.op(evm::SWAP1);
        code.op(evm::DUP4);
        code.op(evm::XOR);
        code.op(evm::OR);
        code.op(evm::ISZERO); //        [high, low, is equal]
        code.op(evm::SWAP2);
        code.op(evm::POP);
        code.op(evm::POP);
    }

    fn parse(&self, code: &mut Assembly, slot: Slot, size_bytes: u32, fail: LabelId) {
        let pad_bytes = size_bytes.saturating_sub(2 * WORD_BYTES);
        require_padding(code, pad_bytes, fail);
        if pad_bytes > 0 {
            push(code, pad_bytes);
            code.op(evm::ADD);
        }
        let high_bytes = size_bytes.saturating_sub(WORD_BYTES).min(WORD_BYTES);
        if high_bytes == 0 {
            code.op(evm::CALLDATALOAD);
            shift(code, WORD_BYTES - size_bytes, evm::SHR);
            push(code, 0);
            code.op(evm::SWAP1);
        } else {
            code.op(evm::DUP1);
            code.op(evm::CALLDATALOAD);
            shift(code, WORD_BYTES - high_bytes, evm::SHR);
            code.op(evm::SWAP1);
            push(code, high_bytes);
            code.op(evm::ADD);
            code.op(evm::CALLDATALOAD);
            require_below(code, &self.system.p, fail);
        }
        self.set(code, slot);
    }

    fn parse_row(&self, code: &mut Assembly, slots: &[Slot], sizes: RowSizes, fail: LabelId) {
        parse_one_by_one(self, code, slots, sizes, fail);
    }

    fn take_words(&self, code: &mut Assembly, slot: Slot, count: u32) {
        if count == 1 {
            push(code, 0);
            code.op(evm::SWAP1);
        }
        self.set(code, slot);
        for _ in 2..count {
            code.op(evm::POP); // Zero: the number is below the modulus.
        }
    }

    fn output(&self, code: &mut Assembly, slot: Slot, address: u32, size_bytes: u32) {
        let pad_bytes = size_bytes.saturating_sub(2 * WORD_BYTES);
        if pad_bytes > 0 {
            clear(code, address, pad_bytes);
        }
        self.get(code, slot); //        [high, low]
        let high_bytes = size_bytes.saturating_sub(WORD_BYTES).min(WORD_BYTES);
        code.op(evm::SWAP1);
        // The bytes of the high word that are no part of the number are written over by the low one.
        shift(code, WORD_BYTES - high_bytes, evm::SHL);
        push(code, address + pad_bytes);
        code.op(evm::MSTORE);
        push(code, address + pad_bytes + high_bytes);
        code.op(evm::MSTORE);
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
        shift(code, 2 * WORD_BYTES - bytes, evm::SHR);
        code.op(evm::SWAP1);
        code.op(evm::CALLDATALOAD);
        self.reverse.call(code); //     [high, low]
        require_below(code, &self.system.p, fail);
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
        self.get(code, from); //        [high, low]
        for address in [address, address + WORD_BYTES] {
            self.reverse.call(code);
            push(code, address);
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
        if self.enter.1.get() {
            self.write_enter(code);
        }
        if self.leave.1.get() {
            self.write_leave(code);
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
