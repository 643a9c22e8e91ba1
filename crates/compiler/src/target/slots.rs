//! EIP-6690: separate slots, canonical big-endian values in memory, strided instructions.

use super::{SlotOp, Target, clear, push, require_padding};
use crate::allocate::Slot;
use crate::fuse::fuse;
use crate::moves::Copy;
use num_bigint::BigUint;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use residue_isa::revision::eip6690_2024::{LOADX, SETMODX, STOREX};
use residue_isa::{Arithmetic, FieldInstruction, Lanes, Revision};

/// Lowering for interfaces with slots.
pub struct Slots {
    /// m in as few bytes as hold it, big-endian.
    modulus: Vec<u8>,
    /// Constants as they stand in the last slots, canonical.
    constants: Vec<BigUint>,
    element_bytes: u32,
    first_constant: Slot,
    zero: Slot,
    spare: Slot,
    data: LabelId,
}

impl Slots {
    /// `constants[i]` stands in slot `first_constant + i`; one of them, in slot `zero`, is 0; `spare` is free for use here.
    pub fn new(
        modulus: &BigUint,
        constants: Vec<BigUint>,
        first_constant: Slot,
        zero: Slot,
        spare: Slot,
        code: &mut Assembly,
    ) -> Self {
        let modulus = modulus.to_bytes_be();
        let element_bytes = u32::try_from(modulus.len().div_ceil(8) * 8).expect("the width was checked");
        Self { modulus, constants, element_bytes, first_constant, zero, spare, data: code.new_label() }
    }

    fn slot_count(&self) -> u32 {
        let constants = u32::try_from(self.constants.len()).expect("the number of constants was checked");
        (self.first_constant + constants).max(self.spare + 1)
    }

    fn data_bytes(&self) -> u32 {
        let constants = u32::try_from(self.constants.len()).expect("the number of constants was checked");
        self.modulus_bytes() + constants * self.element_bytes
    }

    fn modulus_bytes(&self) -> u32 {
        u32::try_from(self.modulus.len()).expect("the width was checked")
    }

    /// [] → [] with slot `slot` canonical at the bottom of memory.
    fn to_scratch(&self, code: &mut Assembly, slot: Slot) {
        push(code, 1);
        push(code, slot);
        push(code, 0);
        code.op(LOADX);
    }
}

/// A slot number in an instruction.
fn index(slot: Slot) -> u8 {
    u8::try_from(slot).expect("allocation keeps to 256 slots")
}

impl Target for Slots {
    fn memory_bytes(&self) -> u32 {
        self.element_bytes.next_multiple_of(32)
    }

    fn element_bytes(&self) -> u32 {
        self.element_bytes
    }

    fn start(&self, code: &mut Assembly, memory_bytes: u32) -> u32 {
        push(code, self.data_bytes());
        code.push_label(self.data);
        push(code, 0);
        code.op(evm::CODECOPY);
        push(code, self.slot_count());
        push(code, self.modulus_bytes());
        push(code, 0);
        push(code, 0);
        code.op(SETMODX);
        push(code, u32::try_from(self.constants.len()).expect("the number of constants was checked"));
        push(code, self.modulus_bytes());
        push(code, self.first_constant);
        code.op(STOREX);
        if memory_bytes > self.data_bytes() {
            push(code, memory_bytes);
            self.reserve(code);
        }
        self.data_bytes()
    }

    fn operations(&self, code: &mut Assembly, ops: &[SlotOp]) {
        for instruction in fuse(ops) {
            code.field(instruction);
        }
    }

    fn copy(&self, code: &mut Assembly, copy: Copy) {
        code.field(FieldInstruction::Slots {
            operation: Arithmetic::Add,
            out: Lanes::one(index(copy.to)),
            x: Lanes::one(index(copy.from)),
            y: Lanes { index: index(self.zero), stride: 0 },
            count: u8::try_from(copy.count).expect("a run is shorter than the 256 slots"),
        });
    }

    fn reserve(&self, code: &mut Assembly) {
        push(code, 32);
        code.op(evm::SWAP1);
        code.op(evm::SUB);
        code.op(evm::MLOAD);
        code.op(evm::POP);
    }

    fn load(&self, code: &mut Assembly, first: Slot, count: u32) {
        push(code, count);
        code.op(evm::SWAP1);
        push(code, first);
        code.op(STOREX);
    }

    fn store(&self, code: &mut Assembly, first: Slot, count: u32) {
        push(code, count);
        push(code, first);
        code.op(evm::DUP3);
        code.op(LOADX);
        code.op(evm::POP);
    }

    fn is_zero(&self, code: &mut Assembly, slot: Slot) {
        self.to_scratch(code, slot);
        push(code, 0);
        code.op(evm::MLOAD);
        if self.element_bytes < 32 {
            push(code, 8 * (32 - self.element_bytes));
            code.op(evm::SHR);
        }
        for offset in (32..self.element_bytes).step_by(32) {
            push(code, offset.min(self.element_bytes - 32));
            code.op(evm::MLOAD);
            code.op(evm::OR);
        }
        code.op(evm::ISZERO);
    }

    fn equal(&self, code: &mut Assembly, a: Slot, b: Slot) {
        code.field(FieldInstruction::Slots {
            operation: Arithmetic::Sub,
            out: Lanes::one(index(self.spare)),
            x: Lanes::one(index(a)),
            y: Lanes::one(index(b)),
            count: 1,
        });
        self.is_zero(code, self.spare);
    }

    fn parse(&self, code: &mut Assembly, slot: Slot, size_bytes: u32, fail: LabelId) {
        let pad_bytes = size_bytes.saturating_sub(self.element_bytes);
        require_padding(code, pad_bytes, fail);
        let missing_bytes = self.element_bytes.saturating_sub(size_bytes);
        if missing_bytes > 0 {
            clear(code, 0, missing_bytes);
        }
        push(code, size_bytes.min(self.element_bytes));
        code.op(evm::SWAP1);
        if pad_bytes > 0 {
            push(code, pad_bytes);
            code.op(evm::ADD);
        }
        push(code, missing_bytes);
        code.op(evm::CALLDATACOPY);
        push(code, 1);
        push(code, 0);
        push(code, slot);
        code.op(STOREX);
    }

    fn output(&self, code: &mut Assembly, slot: Slot, address: u32, size_bytes: u32) {
        let pad_bytes = size_bytes.saturating_sub(self.element_bytes);
        if pad_bytes > 0 {
            clear(code, address, pad_bytes);
        }
        if size_bytes >= self.element_bytes {
            push(code, 1);
            push(code, slot);
            push(code, address + pad_bytes);
            code.op(LOADX);
        } else {
            // The number fits `size_bytes`, though the element is wider: leave its leading zeros behind.
            self.to_scratch(code, slot);
            push(code, size_bytes);
            push(code, self.element_bytes - size_bytes);
            push(code, address);
            code.op(evm::MCOPY);
        }
    }

    fn lanes(&self, instruction: &FieldInstruction) -> Option<Vec<SlotOp>> {
        let FieldInstruction::Slots { operation, out, x, y, count } = *instruction else { return None };
        let lane = |lane| {
            let slot = |lanes: Lanes| lanes.slot(lane).map(Slot::from);
            Some(SlotOp { operation, out: slot(out)?, x: slot(x)?, y: slot(y)? })
        };
        (0..count).map(lane).collect()
    }

    fn read(&self, code: &[u8]) -> Option<(Vec<SlotOp>, usize)> {
        let (instruction, bytes) = Revision::Eip6690_2024.decode(code)?;
        Some((self.lanes(&instruction)?, bytes))
    }

    fn end(&self, code: &mut Assembly) {
        code.mark(self.data);
        code.data(self.modulus.clone());
        for constant in &self.constants {
            let digits = constant.to_bytes_be();
            let mut bytes = vec![0; self.element_bytes as usize - digits.len()];
            bytes.extend(digits);
            code.data(bytes);
        }
    }
}
