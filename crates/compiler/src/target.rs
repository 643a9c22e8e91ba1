//! What differs between revisions when a program is lowered, behind one trait.
//!
//! The lowering of control, words and calls in `lower` is the same for all; a target says how values are operated on,
//! moved, compared, read from calldata and written out. Comments show the stack, its top at the right.

pub mod evm384;
pub mod slots;

use crate::allocate::Slot;
use crate::moves::Copy;
use residue_ir::program::OpKind;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use residue_isa::{Arithmetic, FieldInstruction};

/// One operation on slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotOp {
    /// What it computes.
    pub operation: Arithmetic,
    /// Slot written.
    pub out: Slot,
    /// First operand.
    pub x: Slot,
    /// Second operand.
    pub y: Slot,
}

/// The instruction set's word for an operation of a program.
pub fn arithmetic(kind: OpKind) -> Arithmetic {
    match kind {
        OpKind::Add => Arithmetic::Add,
        OpKind::Sub => Arithmetic::Sub,
        OpKind::Mul => Arithmetic::Mul,
    }
}

/// How one family of revisions is lowered. Made once the number of slots is known.
pub trait Target {
    /// Bytes at the bottom of memory that the target uses for itself; variables and arrays come behind.
    fn memory_bytes(&self) -> u32;

    /// Bytes of a value in memory outside slots, as arrays hold it.
    fn element_bytes(&self) -> u32;

    /// Before anything else. `memory_bytes` is all the memory of fixed size that the program uses. Memory from the returned
    /// address on is zero. [] → []
    fn start(&self, code: &mut Assembly, memory_bytes: u32) -> u32;

    /// Operations whose order may change only where slots do not tell the difference. [] → []
    fn operations(&self, code: &mut Assembly, ops: &[SlotOp]);

    /// A copy between slots. [] → []
    fn copy(&self, code: &mut Assembly, copy: Copy);

    /// Makes memory at least as long as the address on the stack. [end] → []
    fn reserve(&self, code: &mut Assembly);

    /// Fills `count` slots from memory. [address] → []
    fn load(&self, code: &mut Assembly, first: Slot, count: u32);

    /// Writes `count` slots to memory. [address] → []
    fn store(&self, code: &mut Assembly, first: Slot, count: u32);

    /// [] → [1 if the slot is zero, else 0]
    fn is_zero(&self, code: &mut Assembly, slot: Slot);

    /// [] → [1 if the slots are equal, else 0]
    fn equal(&self, code: &mut Assembly, a: Slot, b: Slot);

    /// Reads a field element of `size_bytes` from calldata; goes to `fail` or halts if it is not below the modulus.
    /// [offset] → []
    fn parse(&self, code: &mut Assembly, slot: Slot, size_bytes: u32, fail: LabelId);

    /// Writes a slot's canonical value to memory at `address`, big-endian in `size_bytes`. [] → []
    fn output(&self, code: &mut Assembly, slot: Slot, address: u32, size_bytes: u32);

    /// The operations on slots that an instruction performs, lane by lane; none if an operand is no slot of the program.
    fn lanes(&self, instruction: &FieldInstruction) -> Option<Vec<SlotOp>>;

    /// Reads an operation, or the lanes of one instruction, from the start of what [`Target::operations`] wrote: what it
    /// means for slots, and its length. None if it is anything else.
    fn read(&self, code: &[u8]) -> Option<(Vec<SlotOp>, usize)>;

    /// Behind the program: subroutines and data. [] → []
    fn end(&self, code: &mut Assembly);
}

/// Pushes a constant.
pub(crate) fn push(code: &mut Assembly, value: u32) {
    code.push(value);
}

/// Stores zero words over `size_bytes` of memory from `address`; up to 31 bytes behind them become zero too.
pub(crate) fn clear(code: &mut Assembly, address: u32, size_bytes: u32) {
    for offset in (0..size_bytes).step_by(32) {
        push(code, 0);
        push(code, address + offset);
        code.op(evm::MSTORE);
    }
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
