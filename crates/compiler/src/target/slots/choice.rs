//! Instruction selection: by price, and as lanes if strides allow it.

use super::super::{FusedKind, push, slot_index, slot_instruction};
use super::{Slots, fp2, fp6};
use crate::fuse::ANYWHERE;
use crate::pipeline::Priced;
use crate::portable::{is_harmless, within};
use residue_ir::Modulus;
use residue_isa::field_instruction::SUM_PRODUCTS_MAX;
use residue_isa::opcode::evm;
use residue_isa::{Assembly, FieldInstruction, FieldOp, Form, Lanes};
use residue_passes::{Slot, SlotOp};
use std::sync::Arc;

/// Values that one instruction copies at most: a count that no EVM takes for an opcode.
const COPIED_MAX: u32 = 0x5a;

impl Slots {
    /// With the instructions that are cheaper than equivalent code under a schedule, and the blocks that were fused before.
    pub(crate) fn with_prices(mut self, priced: &Priced<'_>, modulus: &Modulus) -> Self {
        let width = self.rules.price_width(self.modulus_bytes as usize); // u32 to usize widens
        let schedule = priced.schedule;
        self.fusions = Arc::clone(priced.fusions);
        self.fused = match self.rules.has(Form::Sum6) {
            _ if fp2::is_cheaper(priced, modulus) => Some(FusedKind::Fp2),
            _ if fp6::is_cheaper(priced, modulus) => Some(FusedKind::Fp6),
            has_sums => has_sums.then_some(FusedKind::Sums(SUM_PRODUCTS_MAX)),
        };
        if !self.rules.has(Form::Copy) {
            return self;
        }
        let is_cheaper = |count: &u8| {
            schedule.formed(Form::Copy, width, *count).whole()
                < schedule.instruction(FieldOp::Add, width, *count).whole()
        };
        self.copies_from = (1..=u8::MAX).find(is_cheaper);
        self
    }

    /// An addition of zero as a copy, if that is cheaper.
    pub(super) fn as_copy(&self, addition: FieldInstruction) -> FieldInstruction {
        let FieldInstruction::Slots { operation: FieldOp::Add, out, x, y, count } = addition else { return addition };
        let is_zero = |lanes: Lanes| Slot::from(lanes.index) == self.places.zero && (count == 1 || lanes.stride == 0);
        match self.copies_from {
            Some(least) if count >= least && is_zero(y) => FieldInstruction::in_lanes(Form::Copy, &[out, x], count),
            Some(least) if count >= least && is_zero(x) => FieldInstruction::in_lanes(Form::Copy, &[out, y], count),
            _ => addition,
        }
    }

    /// Instructions for operations whose order may change only where slots do not tell the difference.
    pub(super) fn instructions(&self, ops: &[SlotOp]) -> Vec<FieldInstruction> {
        if !self.rules.is_strided {
            return ops.iter().map(slot_instruction).collect();
        }
        // No lane depends on another, so they may also go one after the other.
        if self.places.is_literal {
            let end = self.slot_count() - 1;
            return self.fusions.well(ops, end).into_iter().flat_map(|instruction| within(instruction, end)).collect();
        }
        self.fusions.well(ops, ANYWHERE)
    }

    /// Compares two slots, if there is an instruction for it. True if there is. [] → [1 or 0]
    pub(super) fn compare(&self, code: &mut Assembly, comparison: Form, slots: [Slot; 2]) -> bool {
        let is_there = self.rules.has(comparison);
        if is_there {
            code.field(FieldInstruction::formed(comparison, &slots.map(slot_index)));
        }
        is_there
    }

    /// True if all elements of a row take one copy of calldata.
    pub(super) fn copies_rows(&self, size_bytes: u32) -> bool {
        let pad_bytes = size_bytes.checked_sub(self.element_bytes);
        !self.rules.store_reduces && pad_bytes.is_some_and(|pad_bytes| pad_bytes <= 32)
    }

    /// `STOREPX` or `LOADPX` if elements of `size_bytes` bytes are padded and there is such an instruction.
    pub(super) fn padded(&self, form: Form, size_bytes: u32) -> Option<[u8; 2]> {
        let size = u8::try_from(size_bytes).ok().filter(|_| size_bytes > self.element_bytes);
        let size = size.filter(|&size| !self.places.is_literal || is_harmless(size));
        Some([self.rules.opcode(form)?, size?])
    }

    /// `STOREPX` or `LOADPX` of a run of slots, with memory from an address on. [] → []
    pub(super) fn transfer_row(
        &self,
        code: &mut Assembly,
        [opcode, size]: [u8; 2],
        (slot, count, address): (Slot, u32, u32),
    ) {
        push(code, count);
        let is_load = self.rules.opcode(Form::LoadPadded) == Some(opcode);
        for operand in if is_load { [slot, address] } else { [address, slot] } {
            push(code, operand);
        }
        code.data([opcode, size]);
    }

    /// `GETX` or `PUTX` of neighbouring slots, several at a time. [index of the first element] → []
    pub(super) fn copy_elements(&self, code: &mut Assembly, form: Form, (first, count): (Slot, u32)) {
        let opcode = self.rules.opcode(form).expect("only programs for targets with arrays have them there");
        for done in (0..count).step_by(COPIED_MAX as usize) {
            let copied = COPIED_MAX.min(count - done);
            let is_last = done + copied == count;
            if !is_last {
                code.op(evm::DUP1);
            }
            code.data([opcode, slot_index(first + done), u8::try_from(copied).expect("at most 90")]);
            if !is_last {
                push(code, copied);
                code.op(evm::ADD);
            }
        }
    }
}
