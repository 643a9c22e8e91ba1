//! The EVM without field instructions: slots are words of memory, canonical; blocks keep values on the stack ([`crate::words`]).

mod held;
mod rules;

pub use held::Weighed;
pub use rules::{NEAR_BYTES_MAX, NEAR_WIDE_BYTES_MAX, Rules};

use super::reverse::Reverse;
use super::{Places, RowSizes, Target, clear, copy_memory, mont_bytes, parse_one_by_one, push, require_padding};
use crate::words::backward::{Effort, Plans};
use crate::words::block::pieces;
use crate::words::emit::{Emitted, Instruction, Operation, number};
use crate::words::field::Field;
use crate::words::places::Ends;
use crate::words::prices::Prices;
use crate::words::read::{self, Elements};
use crate::words::schedule::schedule;
use crate::words::terms::{Terms, terms_known};
use foldhash::HashMap;
use num_bigint::BigUint;
use residue_ir::program::Program;
use residue_ir::{FieldOp, Modulus};
use residue_isa::FieldInstruction;
use residue_isa::assembly::{Assembly, KnownAddresses, LabelId};
use residue_isa::opcode::evm;
use residue_passes::moves::Copy;
use residue_passes::{Slot, SlotOp};
use rules::numbers_in_memory;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// Bytes of a word.
const WORD_BYTES: u32 = 32;

/// Bytes at the bottom of memory that subprograms of given moduli are set up by, and that Montgomery form passes through.
pub const SCRATCH_BYTES: u32 = WORD_BYTES;

/// Operations of a block that are planned together: more take room and time by the square of their number. Values go from one plan to the next
/// through memory.
const PLANNED_MAX: usize = 1 << 13;

/// Maximum number of slots: more memory than anybody would pay for.
pub const SLOT_LIMIT: Slot = 1 << 14;

fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("they are few")
}

/// Lowering for the EVM without field instructions.
pub struct Words {
    field: Field,
    modulus: Modulus,
    /// Address of slot 0; before it the modulus, if it is given, or the multiples of it that memory holds.
    base: u32,
    places: Places,
    constants: Vec<BigUint>,
    reverse: Reverse,
    prices: Prices,
    /// True if a block was too large for its slots.
    lacks_room: Cell<bool>,
    /// True if numbers stay on the stack wherever the state of a sequence does.
    holds_numbers: bool,
    /// True once a state stays on the stack.
    holds_state: Cell<bool>,
    plans: Rc<RefCell<Plans>>,
}

/// A block with the instructions that were found for it.
#[derive(Debug)]
pub struct Planned {
    terms: Terms,
    emitted: Emitted,
}

impl Planned {
    /// The long numbers that it pushes, each as often as it does.
    pub fn long_numbers(&self) -> impl Iterator<Item = &BigUint> {
        let pushed = self.emitted.instructions.iter().filter_map(|instruction| match instruction {
            Instruction::Push(id) => Some(number(&self.terms, *id)),
            _ => None,
        });
        pushed.filter(|number| number.bits() > 64)
    }
}

impl Words {
    /// Slots from the word after the base of memory on; the last ones are `constants`, which memory does not hold.
    pub fn new(
        program: &Program,
        Rules { base_bytes, bytes_a_gas, holds_numbers, plans, .. }: Rules,
        places: Places,
        code: &mut Assembly,
    ) -> Self {
        let Program { modulus, constants, .. } = program;
        let field = modulus.known().map_or(Field::Given, |modulus| Field::Known(modulus.clone()));
        let gas = plans.borrow().gas;
        let in_memory = numbers_in_memory(program, bytes_a_gas, &gas);
        let words = if field == Field::Given { 1 } else { narrow(in_memory.len()) };
        let base = base_bytes + WORD_BYTES * words;
        let prices = Prices { gas, bytes_a_gas, loads_modulus: words > 0, in_memory };
        let (modulus, constants, reverse) = (modulus.clone(), constants.to_vec(), Reverse::new(code));
        Self {
            field,
            modulus,
            base,
            places,
            constants,
            reverse,
            prices,
            lacks_room: Cell::new(false),
            holds_numbers,
            holds_state: Cell::new(false),
            plans,
        }
    }

    fn address(&self, slot: Slot) -> u32 {
        self.base + WORD_BYTES * slot
    }

    /// Memory address of p, meaningful only if memory holds it.
    fn modulus_address(&self) -> u32 {
        self.base - WORD_BYTES * narrow(self.prices.in_memory.len()).max(1)
    }

    /// Memory address of a number, if memory holds it.
    fn number_address(&self, number: &BigUint) -> Option<u32> {
        let place = self.prices.in_memory.iter().position(|held| held == number)?;
        Some(self.modulus_address() + WORD_BYTES * narrow(place))
    }

    /// Puts the numbers into memory that it holds all the time. [] → []
    fn hold_numbers(&self, code: &mut Assembly) {
        for number in &self.prices.in_memory {
            code.push(number.clone());
            push(code, self.number_address(number).expect("it is one of them"));
            code.op(evm::MSTORE);
        }
    }

    fn constant(&self, slot: Slot) -> Option<&BigUint> {
        self.constants.get(slot.checked_sub(self.places.first_constant)? as usize) // u32 to usize widens
    }

    /// [] → [p]
    fn push_modulus(&self, code: &mut Assembly) {
        match &self.field {
            Field::Known(modulus) => self.push_number(code, modulus),
            Field::Given => {
                push(code, self.modulus_address());
                code.op(evm::MLOAD);
            }
        }
    }

    /// [] → [the slot's value]
    fn get(&self, code: &mut Assembly, slot: Slot) {
        match self.constant(slot) {
            Some(constant) => {
                code.push(constant.clone());
            }
            None => {
                push(code, self.address(slot));
                code.op(evm::MLOAD);
            }
        }
    }

    /// [value] → []
    fn set(&self, code: &mut Assembly, slot: Slot) {
        push(code, self.address(slot));
        code.op(evm::MSTORE);
    }

    /// [number] → [number], goes to `fail` unless it is below p.
    fn require_below(&self, code: &mut Assembly, bits: u32, fail: LabelId) {
        match &self.field {
            Field::Known(modulus) if modulus.bits() > u64::from(bits) => return,
            Field::Known(modulus) => {
                code.push(modulus - 1u8);
                code.op(evm::DUP2);
                code.op(evm::GT);
            }
            Field::Given => {
                self.push_modulus(code);
                code.op(evm::DUP2);
                code.op(evm::LT);
                code.op(evm::ISZERO);
            }
        }
        code.push_label(fail);
        code.op(evm::JUMPI);
    }

    fn known_modulus(&self) -> &BigUint {
        self.modulus.known().expect("`verify` refuses what needs it where it is given")
    }

    fn instructions(&self, code: &mut Assembly, terms: &Terms, instructions: &[Instruction]) {
        for instruction in instructions {
            match *instruction {
                Instruction::Push(id) => self.push_number(code, number(terms, id)),
                Instruction::PushModulus => self.push_modulus(code),
                Instruction::Dup(depth) => {
                    code.op(evm::DUP1 - 1 + depth);
                }
                Instruction::Swap(below) => {
                    code.op(evm::SWAP1 - 1 + below);
                }
                Instruction::Pop => {
                    code.op(evm::POP);
                }
                Instruction::Load(slot) => self.get(code, slot),
                Instruction::Store(slot) => self.set(code, slot),
                Instruction::Operation(operation) => {
                    code.op(match operation {
                        Operation::Add => evm::ADD,
                        Operation::Sub => evm::SUB,
                        Operation::Mul => evm::MUL,
                        Operation::AddMod => evm::ADDMOD,
                        Operation::MulMod => evm::MULMOD,
                        Operation::Mod => evm::MOD,
                    });
                }
            }
        }
    }

    /// [] → [number]
    fn push_number(&self, code: &mut Assembly, number: &BigUint) {
        if !self.push_held(code, number) {
            code.push(number.clone());
        }
    }

    /// A block that finds words on the stack and leaves some there; of the slots that it writes these are read after it. None if no way is found.
    pub fn plan(&self, ops: &[SlotOp], kept: &BTreeSet<Slot>, ends: Option<&Ends>, effort: Effort) -> Option<Planned> {
        self.plan_terms(self.terms(ops, kept, ends), ops, effort)
    }

    /// The words of a block.
    fn terms(&self, ops: &[SlotOp], kept: &BTreeSet<Slot>, ends: Option<&Ends>) -> Terms {
        let constants = (self.places.first_constant, &self.constants[..]);
        let plans = &mut self.plans.borrow_mut();
        terms_known(ops, kept, &self.field, constants, ends, plans.signs_over(&self.field, constants))
    }

    /// The same with instructions, for their operations.
    fn plan_terms(&self, terms: Terms, ops: &[SlotOp], effort: Effort) -> Option<Planned> {
        let plans = &mut self.plans.borrow_mut();
        let own: BTreeSet<Slot> = ops.iter().map(|op| op.out).chain(self.extra_slots()).collect();
        let emitted = match terms.entry.is_empty() && terms.exit.is_empty() {
            true => schedule(&terms, &own, &self.prices, plans, effort),
            false => plans.plan(&terms, &own, &self.prices, effort),
        };
        emitted.map(|emitted| Planned { terms, emitted })
    }

    /// The slot of the constant 0.
    pub const fn zero(&self) -> Slot {
        self.places.zero
    }

    /// Writes a block.
    pub fn planned(&self, code: &mut Assembly, Planned { terms, emitted }: &Planned) {
        self.instructions(code, terms, &emitted.instructions);
    }

    /// Objective that plans of a block minimise.
    pub const fn weight(&self, Planned { emitted, .. }: &Planned) -> u64 {
        self.prices.weight((emitted.gas, emitted.bytes))
    }

    /// Compares the bytes of a block with the contents of slots: `before` and `after` it, and the slots that it may
    /// write; and with the stack before and after it. The elements that it makes come back.
    pub fn judge(
        &self,
        elements: &mut Elements,
        before: &[(Slot, read::Element)],
        own: &BTreeSet<Slot>,
        after: &[(Slot, read::Element)],
        ends: [Vec<read::Held>; 2],
        code: &[u8],
    ) -> Result<read::Made, String> {
        let [entry, exit] = ends;
        let address = |slot: Slot| BigUint::from(self.address(slot));
        let places = read::Places {
            numbers: self
                .prices
                .in_memory
                .iter()
                .filter_map(|number| Some((self.number_address(number)?.into(), number.clone())))
                .collect(),
            modulus: (self.field == Field::Given).then(|| self.modulus_address().into()),
            before: before.iter().map(|&(slot, element)| (address(slot), element)).collect::<HashMap<_, _>>(),
            own: own.iter().copied().chain(self.extra_slots()).map(address).collect(),
            after: after.iter().map(|&(slot, element)| (address(slot), element)).collect(),
            entry,
            exit,
        };
        read::check(elements, &places, code)
    }

    /// Slots that hold something within blocks only.
    fn extra_slots(&self) -> Range<Slot> {
        self.places.spare + 1..self.places.first_constant
    }

    /// True if a block was too large for its slots, and keeps all values in memory.
    pub fn lacks_room(&self) -> bool {
        self.lacks_room.get()
    }

    /// The field of its values.
    pub fn field(&self) -> &Field {
        &self.field
    }
}

impl Target for Words {
    fn memory_bytes(&self) -> u32 {
        self.address(self.places.first_constant)
    }

    fn element_bytes(&self) -> u32 {
        WORD_BYTES
    }

    fn start(&self, code: &mut Assembly, _: u32) -> u32 {
        self.hold_numbers(code);
        self.base
    }

    fn set_up(&self, code: &mut Assembly, at: u32) -> u32 {
        if self.field == Field::Given {
            push(code, at);
            code.op(evm::MLOAD);
            push(code, self.modulus_address());
            code.op(evm::MSTORE);
        }
        self.hold_numbers(code);
        self.base
    }

    fn set_up_bytes(&self) -> u32 {
        0
    }

    fn resume(&self, _: &mut Assembly) {}

    fn encode(&self, value: &BigUint) -> Vec<u8> {
        let digits = value.to_bytes_be();
        [vec![0; WORD_BYTES as usize - digits.len()], digits].concat() // u32 to usize widens
    }

    /// One after the other, with values in memory all the time: the code of a block without a schedule.
    fn operations(&self, code: &mut Assembly, ops: &[SlotOp]) {
        for op in ops {
            self.push_modulus(code);
            self.get(code, op.y);
            if op.operation == FieldOp::Sub {
                self.push_modulus(code);
                code.op(evm::SUB);
            }
            self.get(code, op.x);
            code.op(if op.operation == FieldOp::Mul { evm::MULMOD } else { evm::ADDMOD });
            self.set(code, op.out);
        }
    }

    fn block(&self, code: &mut Assembly, ops: &[SlotOp], kept: &BTreeSet<Slot>) {
        for (ops, kept) in pieces(ops, kept, PLANNED_MAX) {
            match self.plan(ops, &kept, None, Effort::Whole) {
                Some(planned) => self.planned(code, &planned),
                None => {
                    self.lacks_room.set(true);
                    self.operations(code, ops)
                }
            }
        }
    }

    fn copies(&self, code: &mut Assembly, copies: &[Copy]) {
        for copy in copies {
            let is_plain = (copy.from..copy.from + copy.count).all(|slot| self.constant(slot).is_none());
            if is_plain && copy.count > 1 {
                copy_memory(code, WORD_BYTES * copy.count, self.address(copy.from), self.address(copy.to));
                continue;
            }
            for lane in 0..copy.count {
                self.get(code, copy.from + lane);
                self.set(code, copy.to + lane);
            }
        }
    }

    fn reserve(&self, code: &mut Assembly) {
        code.op(evm::MLOAD);
        code.op(evm::POP);
    }

    fn before_load(&self, code: &mut Assembly, _: Slot, count: u32) -> usize {
        if count == 1 {
            return 0;
        }
        push(code, WORD_BYTES * count);
        1
    }

    fn load(&self, code: &mut Assembly, first: Slot, count: u32) {
        if count == 1 {
            code.op(evm::MLOAD);
            return self.set(code, first);
        }
        let to = self.address(first);
        push(code, to);
        code.copy(WORD_BYTES * count, KnownAddresses { to: Some(to), from: None });
    }

    fn before_store(&self, code: &mut Assembly, first: Slot, count: u32) -> usize {
        let slots = first..first + count;
        if slots.clone().any(|slot| self.constant(slot).is_some()) || count == 1 {
            slots.clone().for_each(|slot| self.get(code, slot));
            return count as usize; // u32 to usize widens
        }
        push(code, WORD_BYTES * count);
        push(code, self.address(first));
        2
    }

    fn store(&self, code: &mut Assembly, first: Slot, count: u32) {
        if count == 1 {
            code.op(evm::MSTORE);
            return;
        }
        if (first..first + count).any(|slot| self.constant(slot).is_some()) {
            // [values, address]: the last value lies below the address.
            for place in (0..count).rev() {
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
        code.copy(WORD_BYTES * count, KnownAddresses { from: Some(self.address(first)), to: None });
    }

    fn invert(&self, _: &mut Assembly, _: Slot, _: Slot) {
        unreachable!("inversions are refused where no instruction inverts");
    }

    fn is_zero(&self, code: &mut Assembly, slot: Slot) {
        self.get(code, slot);
        code.op(evm::ISZERO);
    }

    fn equal(&self, code: &mut Assembly, a: Slot, b: Slot) {
        self.get(code, a);
        self.get(code, b);
        code.op(evm::EQ);
    }

    fn push_held(&self, code: &mut Assembly, number: &BigUint) -> bool {
        let address = self.number_address(number);
        if let Some(address) = address {
            push(code, address);
            code.op(evm::MLOAD);
        }
        address.is_some()
    }

    fn push_word(&self, code: &mut Assembly, slot: Slot) -> bool {
        self.get(code, slot);
        true
    }

    fn parse(&self, code: &mut Assembly, slot: Slot, size_bytes: u32, fail: LabelId) {
        let pad_bytes = size_bytes.saturating_sub(WORD_BYTES);
        require_padding(code, pad_bytes, fail);
        if pad_bytes > 0 {
            push(code, pad_bytes);
            code.op(evm::ADD);
        }
        code.op(evm::CALLDATALOAD);
        if size_bytes < WORD_BYTES {
            push(code, 8 * (WORD_BYTES - size_bytes));
            code.op(evm::SHR);
        }
        self.require_below(code, 8 * size_bytes.min(WORD_BYTES), fail);
        self.set(code, slot);
    }

    fn parse_row(&self, code: &mut Assembly, slots: &[Slot], sizes: RowSizes, fail: LabelId) {
        parse_one_by_one(self, code, slots, sizes, fail);
    }

    fn take_words(&self, code: &mut Assembly, slot: Slot, count: u32) {
        self.set(code, slot);
        for _ in 1..count {
            code.op(evm::POP); // Zero: the number is below the modulus.
        }
    }

    fn output(&self, code: &mut Assembly, slot: Slot, address: u32, size_bytes: u32) {
        let pad_bytes = size_bytes.saturating_sub(WORD_BYTES);
        if pad_bytes > 0 {
            clear(code, address, pad_bytes);
        }
        self.get(code, slot);
        if size_bytes < WORD_BYTES {
            push(code, 8 * (WORD_BYTES - size_bytes));
            code.op(evm::SHL);
        }
        push(code, address + pad_bytes);
        code.op(evm::MSTORE);
    }

    fn high(&self, code: &mut Assembly, (out, value): (Slot, Slot), bytes: u32, _: u32) {
        self.get(code, value);
        push(code, 8 * bytes);
        code.op(evm::SHR);
        self.set(code, out);
    }

    fn parse_mont_le(&self, code: &mut Assembly, slot: Slot, fail: LabelId) {
        let bytes = mont_bytes(self.known_modulus());
        code.op(evm::CALLDATALOAD);
        if bytes < WORD_BYTES {
            for shift in [evm::SHR, evm::SHL] {
                push(code, 8 * (WORD_BYTES - bytes));
                code.op(shift);
            }
        }
        self.reverse.call(code);
        self.require_below(code, 8 * bytes, fail);
        if let Some(factors) = self.places.mont {
            self.push_modulus(code);
            code.op(evm::SWAP1);
            self.get(code, factors.parse);
            code.op(evm::MULMOD);
        }
        self.set(code, slot);
    }

    fn output_mont_le(&self, code: &mut Assembly, slot: Slot, address: u32) {
        if let Some(factors) = self.places.mont {
            self.push_modulus(code);
            self.get(code, slot);
            self.get(code, factors.output);
            code.op(evm::MULMOD);
        } else {
            self.get(code, slot);
        }
        self.reverse.call(code);
        push(code, address);
        code.op(evm::MSTORE);
    }

    fn lanes(&self, _: &FieldInstruction) -> Option<Vec<SlotOp>> {
        None
    }

    fn read(&self, _: &[u8]) -> Option<(Vec<SlotOp>, usize)> {
        None
    }

    fn words(&self) -> Option<&Words> {
        Some(self)
    }

    fn subroutines(&self, code: &mut Assembly) {
        self.reverse.subroutine(code);
    }

    fn data(&self, _: &mut Assembly) {}
}
