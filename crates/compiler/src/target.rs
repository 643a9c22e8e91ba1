//! Lowering that depends on the revision, as one trait.
//!
//! The lowering of control, words and calls in `lower` is common to all; a target lowers operations on values, moves,
//! comparisons, reads of calldata and output. Comments show the stack, its top at the right.

pub mod evm384;
pub mod mont_slots;
mod reverse;
pub mod slots;
pub mod wide;
pub mod words;

use num_bigint::BigUint;
use num_traits::One;
use residue_ir::program::Program;
use residue_ir::{Effect, mont};
use residue_isa::assembly::{Assembly, KnownAddresses, LabelId};
use residue_isa::opcode::evm;
use residue_isa::revision::Family;
use residue_isa::{FieldInstruction, Lanes};
use residue_passes::fp2::SlotFp2;
use residue_passes::fp6::SlotFp6;
use residue_passes::moves::Copy;
use residue_passes::sums::SlotSum;
use residue_passes::{Slot, SlotOp};
use std::collections::BTreeSet;

/// Lowering for one family of revisions. Made once the number of slots is known.
pub trait Target {
    /// Bytes at the bottom of memory that the target uses for itself; variables and arrays come after.
    fn memory_bytes(&self) -> u32;

    /// Bytes of a value in memory outside slots, as arrays hold it.
    fn element_bytes(&self) -> u32;

    /// Before anything else. `memory_bytes` is all the memory of fixed size that the program uses, or 0 where it has grown as far before
    /// anything needs it. Memory from the returned address on is zero. [] → []
    fn start(&self, code: &mut Assembly, memory_bytes: u32) -> u32;

    /// Sets a subprogram's modulus and constants: at the program's start, or where the subprogram is entered, with the modulus in words from
    /// address `at` if it is given. Memory changes from there to the returned address. [] → []
    fn set_up(&self, code: &mut Assembly, at: u32) -> u32;

    /// Bytes of memory that [`Target::set_up`] changes.
    fn set_up_bytes(&self) -> u32;

    /// Makes the modulus that was set before the one that operations are over. [] → []
    fn resume(&self, code: &mut Assembly);

    /// A canonical value as [`Target::load`] reads it.
    fn encode(&self, value: &BigUint) -> Vec<u8>;

    /// Operations whose order may change only where slots do not tell the difference. [] → []
    fn operations(&self, code: &mut Assembly, ops: &[SlotOp]);

    /// The operations of a block, after which of the slots that it writes these are read. [] → []
    fn block(&self, code: &mut Assembly, ops: &[SlotOp], _kept: &BTreeSet<Slot>) {
        self.operations(code, ops);
    }

    /// Its instructions that each do several operations, if it has such.
    fn fused(&self) -> Option<&dyn FusedInstructions> {
        None
    }

    /// Copies between slots, one after the other. [] → []
    fn copies(&self, code: &mut Assembly, copies: &[Copy]);

    /// Makes memory reach to the end of the word at the address on the stack. [address] → []
    fn reserve(&self, code: &mut Assembly);

    /// Pushes the operands of [`Target::load`] below the address; returns the number of words. [] → [operands]
    fn before_load(&self, code: &mut Assembly, first: Slot, count: u32) -> usize;

    /// Fills `count` slots from memory. [operands, address] → []
    fn load(&self, code: &mut Assembly, first: Slot, count: u32);

    /// Pushes the operands of [`Target::store`] below the address; returns the number of words. [] → [operands]
    fn before_store(&self, code: &mut Assembly, first: Slot, count: u32) -> usize;

    /// Writes `count` slots to memory. [operands, address] → []
    fn store(&self, code: &mut Assembly, first: Slot, count: u32);

    /// True if values of `size_bytes` bytes are canonical and big-endian in memory: as [`Target::store`] writes them,
    /// or, with `are_looked_at`, as [`Target::load`] reads them, which then halts at one that is not below the modulus.
    fn has_canonical(&self, _size_bytes: u32, _are_looked_at: bool) -> bool {
        false
    }

    /// True if slots can be filled from code directly, by [`Target::load_code`].
    fn loads_code(&self) -> bool {
        false
    }

    /// Fills slots from code. [how many, offset in code] → []
    fn load_code(&self, _: &mut Assembly, _first: Slot) {
        unreachable!("it loads none")
    }

    /// True if it has arrays beside the slots, for [`Target::get`] and [`Target::put`].
    fn has_arrays(&self) -> bool {
        false
    }

    /// Fills `count` slots from elements of the array. [index of the first element] → []
    fn get(&self, _: &mut Assembly, _first: Slot, _count: u32) {
        unreachable!("it has no arrays")
    }

    /// Writes `count` slots to elements of the array. [index of the first element] → []
    fn put(&self, _: &mut Assembly, _first: Slot, _count: u32) {
        unreachable!("it has no arrays")
    }

    /// `out` becomes the inverse of `value`, 0 if it has none. Only for revisions with an instruction for that. [] → []
    fn invert(&self, code: &mut Assembly, out: Slot, value: Slot);

    /// True if it selects values by [`Target::select`].
    fn has_choices(&self) -> bool {
        false
    }

    /// Copies the first or the second of two slots, where there are choices: the first if the word is not zero. [word] → []
    fn select(&self, _code: &mut Assembly, _out: Slot, _either: [Slot; 2]) {
        unreachable!("it has no choices")
    }

    /// [] → [1 if the slot is zero, else 0]
    fn is_zero(&self, code: &mut Assembly, slot: Slot);

    /// [] → [1 if the slots are equal, else 0]
    fn equal(&self, code: &mut Assembly, a: Slot, b: Slot);

    /// [] → [1 if the canonical value of a is less than that of b, else 0]. Only for revisions with an instruction for that.
    fn less(&self, _code: &mut Assembly, _a: Slot, _b: Slot) {
        unreachable!("it has no comparison by size")
    }

    /// Pushes a number where memory holds it all the time; whether it does. [] → [number] or []
    fn push_held(&self, _code: &mut Assembly, _number: &BigUint) -> bool {
        false
    }

    /// Pushes the canonical value of a slot where that is one word; whether it did. [] → [value] or []
    fn push_word(&self, _code: &mut Assembly, _slot: Slot) -> bool {
        false
    }

    /// Reads a field element of `size_bytes` from calldata; goes to `fail` or halts if it is not below the modulus.
    /// [offset] → []
    fn parse(&self, code: &mut Assembly, slot: Slot, size_bytes: u32, fail: LabelId);

    /// The same for several elements, one after the other in calldata. [offset of the first] → []
    fn parse_row(&self, code: &mut Assembly, slots: &[Slot], sizes: RowSizes, fail: LabelId);

    /// Bytes from the bottom of memory that [`Target::parse`] of one element, or [`Target::parse_row`] of several, begins to copy calldata to:
    /// memory reaches as far then.
    fn copied_bytes(&self, _count: usize, _sizes: RowSizes) -> u32 {
        0
    }

    /// Makes a field element of a number below the modulus, in `count` words. [most significant, …, least significant]
    /// → []
    fn take_words(&self, code: &mut Assembly, slot: Slot, count: u32);

    /// Writes a slot's canonical value to memory at `address`, big-endian in `size_bytes`. [] → []
    fn output(&self, code: &mut Assembly, slot: Slot, address: u32, size_bytes: u32);

    /// True if `count` elements of `size_bytes` bytes may be returned from the bottom of memory: all these bytes are
    /// written and within memory.
    fn returns_low(&self, _size_bytes: u32, _count: usize) -> bool {
        false
    }

    /// [`Target::output`] of several slots, one after the other. [] → []
    fn output_row(&self, code: &mut Assembly, slots: &[Slot], address: u32, size_bytes: u32) {
        for (slot, address) in slots.iter().zip((address..).step_by(size_bytes as usize)) {
            self.output(code, *slot, address, size_bytes); // u32 to usize widens
        }
    }

    /// (out, value): ⌊value / 256ⁿ⌋ for n = `bytes`; the value goes to memory at `address`, after n zero bytes. [] → []
    fn high(&self, code: &mut Assembly, slots: (Slot, Slot), bytes: u32, address: u32);

    /// Reads a field element in Montgomery form, little-endian, from calldata; [`residue_ir::Machine::parse_mont_le`]
    /// defines the result for a number that is not below the modulus. [offset] → []
    fn parse_mont_le(&self, code: &mut Assembly, slot: Slot, fail: LabelId);

    /// Writes a slot's Montgomery form to memory at `address`, little-endian; up to 31 bytes after it change. [] → []
    fn output_mont_le(&self, code: &mut Assembly, slot: Slot, address: u32);

    /// The operations on slots that an instruction performs, lane by lane; none if an operand is no slot of the program.
    fn lanes(&self, instruction: &FieldInstruction) -> Option<Vec<SlotOp>>;

    /// Reads an operation, or the lanes of one instruction, from the start of [`Target::operations`]'s code: its effect
    /// on slots, and its length. `None` for other code.
    fn read(&self, code: &[u8]) -> Option<(Vec<SlotOp>, usize)>;

    /// It itself, where there are no field instructions and blocks are read back as words.
    fn words(&self) -> Option<&words::Words> {
        None
    }

    /// It itself, where a value is several words and blocks are read back as these.
    fn wide(&self) -> Option<&wide::Wide> {
        None
    }

    /// True if slots are memory, which grows by itself.
    fn is_in_memory(&self) -> bool {
        self.words().is_some() || self.wide().is_some()
    }

    /// Subroutines, before all functions. [] → []
    fn before_functions(&self, _: &mut Assembly) {}

    /// Subroutines, after all functions. [] → []
    fn subroutines(&self, code: &mut Assembly);

    /// Data, after all code. [] → []
    fn data(&self, code: &mut Assembly);
}

/// Form of the operations that one instruction does together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FusedKind {
    /// Sums of at most so many products.
    Sums(usize),
    /// Products in Fp2.
    Fp2,
    /// Products in Fp6.
    Fp6,
}

/// Operations on slots that one instruction does together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FusedOps {
    /// A sum of products.
    Sum(SlotSum),
    /// Products in Fp2, which all read before any is written.
    Fp2(Vec<SlotFp2>),
    /// A product in Fp6.
    Fp6(SlotFp6),
}

impl FusedOps {
    /// The slots that are written.
    pub fn outs(&self) -> Vec<Slot> {
        match self {
            FusedOps::Sum(sum) => vec![sum.out],
            FusedOps::Fp2(products) => products.iter().flat_map(|product| product.out).collect(),
            FusedOps::Fp6(product) => product.out.to_vec(),
        }
    }
}

/// Instructions that each do several operations of one form.
pub trait FusedInstructions {
    /// Operations to find in blocks.
    fn form(&self) -> FusedKind;

    /// Operations of the form, products in Fp2 one after the other. [] → []
    fn emit(&self, code: &mut Assembly, ops: &FusedOps);

    /// Reads operations of any form from the start of [`FusedInstructions::emit`]'s code, and their length. `None` for other code.
    fn read_fused(&self, code: &[u8]) -> Option<(FusedOps, usize)>;
}

/// Layout of consecutive elements in calldata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSizes {
    /// Bytes of an element.
    pub element_bytes: u32,
    /// Bytes from the start of one to that of the next, no fewer.
    pub stride_bytes: u32,
}

impl RowSizes {
    /// Bytes from the start of the first of `count` elements, at least one, to the end of the last.
    pub fn covered_bytes(self, count: usize) -> u32 {
        let others = u32::try_from(count - 1).expect("elements of a row have slots");
        others * self.stride_bytes + self.element_bytes
    }
}

/// Slots with the factors that lead between the Montgomery form of the outside, with R = 2⁶⁴ⁿ for a modulus of n limbs, and
/// the target's own form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MontFactors {
    /// Converts a number that was read to a value.
    pub parse: Slot,
    /// Converts a value to the number to write.
    pub output: Slot,
}

/// Slots that a target needs beside a program's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// The first constant; the others come after.
    pub first_constant: Slot,
    /// The constant 0.
    pub zero: Slot,
    /// A slot that no value has.
    pub spare: Slot,
    /// The factors of Montgomery form, if the program reads or writes it and its own form is another.
    pub mont: Option<MontFactors>,
    /// True if one slot more is declared, and no operand strides beyond that one after its last lane.
    pub is_literal: bool,
}

/// The constants after [`MontFactors`], canonical: `parse`, then `output`; none where the target's own form is that of the
/// outside. m is odd.
pub fn mont_constants(modulus: &BigUint, family: Family) -> Option<[BigUint; 2]> {
    let radix = mont::radix(modulus);
    let evm384 = BigUint::one() << 384u32;
    let output = match family {
        Family::Slots | Family::Words => radix % modulus,
        Family::Memory384 if radix == evm384 => return None,
        Family::Memory384 => radix * evm384.modinv(modulus)? % modulus,
        Family::MemorySlots => return None,
    };
    Some([output.modinv(modulus)?, output])
}

/// True if a subprogram is set up in the target's own memory, in the middle of the program: the memory of a long set-up
/// would move all that follows.
pub(crate) fn is_short_set_up(target: &(impl Target + ?Sized)) -> bool {
    target.set_up_bytes() <= SHORT_SET_UP_BYTES
}

/// Bytes that a modulus of three words and some constants take.
const SHORT_SET_UP_BYTES: u32 = 192;

/// True if `program` reads or writes Montgomery form.
pub fn uses_mont(program: &Program) -> bool {
    let mut uses = false;
    program.for_each_effect(&mut |effect| {
        uses |= matches!(effect, Effect::ParseMontLe { .. } | Effect::ReturnMontLe { .. });
    });
    uses
}

/// Bytes of a value in the Montgomery form of the outside.
pub(crate) fn mont_bytes(modulus: &BigUint) -> u32 {
    u32::try_from(mont::size_bytes(modulus)).expect("the width was checked")
}

/// Pushes a constant.
pub(crate) fn push(code: &mut Assembly, value: u32) {
    code.push(value);
}

/// Copies bytes of memory between known addresses. [] → []
pub(crate) fn copy_memory(code: &mut Assembly, size_bytes: u32, from: u32, to: u32) {
    for number in [size_bytes, from, to] {
        push(code, number);
    }
    code.copy(size_bytes, KnownAddresses { from: Some(from), to: Some(to) });
}

/// Gas of [`copy_memory`], without that of memory which grows.
pub(crate) fn gas_of_copy(code: &Assembly, size_bytes: u32) -> u64 {
    let words = u64::from(size_bytes.div_ceil(32));
    // Three pushes and MCOPY, or two pushes, MLOAD and MSTORE for each word.
    if code.fork().has(evm::MCOPY) { 4 * 3 + 3 * words } else { 4 * 3 * words }
}

/// [`Target::parse_row`] by [`Target::parse`].
pub(crate) fn parse_one_by_one(
    target: &(impl Target + ?Sized),
    code: &mut Assembly,
    slots: &[Slot],
    sizes: RowSizes,
    fail: LabelId,
) {
    for (slot, number) in slots.iter().zip(0u64..) {
        if number + 1 < slots.len() as u64 {
            code.op(evm::DUP1);
        }
        if number > 0 {
            code.push(number * u64::from(sizes.stride_bytes));
            code.op(evm::ADD);
        }
        target.parse(code, *slot, sizes.element_bytes, fail);
    }
}

/// [`Target::high`] by [`Target::output`] and [`Target::take_words`]; the modulus has `modulus_bits` bits.
pub(crate) fn high_by_words(
    target: &(impl Target + ?Sized),
    code: &mut Assembly,
    (out, value): (Slot, Slot),
    (bytes, address): (u32, u32),
    modulus_bits: u64,
) {
    let size_bytes = u32::try_from(modulus_bits.div_ceil(256) * 32).expect("the width was checked");
    target.output(code, value, address, size_bytes);
    let left_bits = u32::try_from(modulus_bits).expect("the width was checked") - 8 * bytes;
    let count = left_bits.div_ceil(256);
    for word in (0..count).rev() {
        push(code, address + size_bytes - bytes - 32 * (word + 1));
        code.op(evm::MLOAD);
    }
    target.take_words(code, out, count);
}

/// Stores zero words over `size_bytes` of memory from `address`; up to 31 bytes after them become zero too.
pub(crate) fn clear(code: &mut Assembly, address: u32, size_bytes: u32) {
    for offset in (0..size_bytes).step_by(32) {
        push(code, 0);
        push(code, address + offset);
        code.op(evm::MSTORE);
    }
}

/// Runs of consecutive slots: (first slot, count, place of the first in the list).
pub(crate) fn runs(slots: &[Slot]) -> Vec<(Slot, u32, u32)> {
    let mut runs: Vec<(Slot, u32, u32)> = Vec::new();
    for (&slot, place) in slots.iter().zip(0u32..) {
        match runs.last_mut() {
            Some((first, count, _)) if *first + *count == slot => *count += 1,
            _ => runs.push((slot, 1, place)),
        }
    }
    runs
}

/// Goes to `fail` unless the `pad_bytes` of calldata from the offset on the stack are zero. [offset] → [offset]
pub(crate) fn require_padding(code: &mut Assembly, pad_bytes: u32, fail: LabelId) {
    for start in (0..pad_bytes).step_by(32) {
        let width = (pad_bytes - start).min(32);
        code.op(evm::DUP1);
        if start > 0 {
            push(code, start);
            code.op(evm::ADD);
        }
        code.op(evm::CALLDATALOAD);
        if width < 32 {
            push(code, 8 * (32 - width));
            code.op(evm::SHR);
        }
        code.push_label(fail);
        code.op(evm::JUMPI);
    }
}

/// Goes to `fail` unless a number of so many words is below the modulus. [words, the lowest on top] → [the same]
pub(crate) fn require_below(code: &mut Assembly, modulus: &BigUint, words: u32, fail: LabelId) {
    for (word, number) in (0u8..).zip(0..words) {
        let limit = (modulus >> (256u32 * number)) & ((BigUint::one() << 256u32) - 1u8);
        if word == 0 {
            code.op(evm::DUP1);
            code.push(limit);
            code.op(evm::GT);
            continue;
        }
        code.op(evm::DUP2 + word);
        code.push(limit.clone());
        code.op(evm::EQ);
        code.op(evm::AND);
        code.op(evm::DUP2 + word);
        code.push(limit);
        code.op(evm::GT);
        code.op(evm::OR);
    }
    code.op(evm::ISZERO);
    code.push_label(fail);
    code.op(evm::JUMPI);
}

/// [] → [1 if the number of `size_bytes` at `address` in memory is zero, else 0]
pub(crate) fn memory_is_zero(code: &mut Assembly, address: u32, size_bytes: u32) {
    push(code, address);
    code.op(evm::MLOAD);
    if size_bytes < 32 {
        push(code, 8 * (32 - size_bytes));
        code.op(evm::SHR);
    }
    for offset in (32..size_bytes).step_by(32) {
        push(code, address + offset.min(size_bytes - 32));
        code.op(evm::MLOAD);
        code.op(evm::OR);
    }
    code.op(evm::ISZERO);
}

/// The slots of an instruction on numbered slots, lane by lane.
pub(crate) fn slot_lanes(instruction: &FieldInstruction) -> Option<Vec<SlotOp>> {
    let FieldInstruction::Slots { operation, out, x, y, count } = *instruction else { return None };
    let lane = |lane| {
        let slot = |lanes: Lanes| lanes.slot(lane).map(Slot::from);
        Some(SlotOp { operation, out: slot(out)?, x: slot(x)?, y: slot(y)? })
    };
    (0..count).map(lane).collect()
}

/// An operation as an instruction of one lane on numbered slots.
pub(crate) fn slot_instruction(op: &SlotOp) -> FieldInstruction {
    let [out, x, y] = [op.out, op.x, op.y].map(|slot| Lanes::one(slot_index(slot)));
    FieldInstruction::Slots { operation: op.operation, out, x, y, count: 1 }
}

/// A slot number in an instruction.
pub(crate) fn slot_index(slot: Slot) -> u8 {
    u8::try_from(slot).expect("allocation keeps to 256 slots")
}
