//! Blocks of EVM384: arithmetic on values in EVM memory, pushes of their operands included.
//!
//! A block is entered at its first opcode, after the push of its operands: nothing else leads there. Its plan runs if memory reaches as far,
//! and modulus, r_inv and operands are those of Montgomery arithmetic; its trace is its operations one after the other in memory.

use residue_isa::{FieldOp, Revision};
use residue_lanes::{ByteOrder, SlotBlock};

use super::Batching;
use super::location::{Facts, Instruction, Location};
use super::memory_places::{Form, Found, MemoryPlaces, PlaceSet};
use super::tuning::PLACES_CYCLES_PER_BYTE;

/// In EVM memory.
#[derive(Debug)]
pub(crate) struct Memory;

/// Memory accesses of a block.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryNeeds {
    /// True if there is an instruction.
    has_modulus: bool,
    /// Byte offset of the modulus that all instructions share.
    pub modulus: usize,
    /// Bytes of memory that its instructions reach.
    pub reach: usize,
    /// True if r_inv is read.
    pub multiplies: bool,
    /// The places it names, and those it writes.
    pub names: PlaceSet,
    pub writes: PlaceSet,
}

/// Instruction with its opcode or push at `pc`.
fn found_at(places: &MemoryPlaces, code: &[u8], pc: usize, is_first: bool) -> Option<Found> {
    let start = if is_first { pc.checked_sub(places.form.push_bytes())? } else { pc };
    let found = places.form.instruction(code, start)?;
    places.has_opcode_at(found.opcode_at(&places.form)).then_some(found)
}

impl Location for Memory {
    type Set = PlaceSet;
    type Layout = MemoryPlaces;
    type Needs = MemoryNeeds;
    type Trace = ();

    const LAYOUT_CYCLES_PER_BYTE: i64 = PLACES_CYCLES_PER_BYTE;
    const JOINS: bool = false;

    fn layout(code: &[u8], revision: Revision, batching: Batching) -> Option<MemoryPlaces> {
        let has_traces = |form: &Form| batching.has_traces() && form.order == ByteOrder::Little;
        let form = Form::of(revision).filter(|form| batching.has_plans() || has_traces(form))?;
        MemoryPlaces::of(code, form)
    }

    fn may_begin(places: &MemoryPlaces, pc: usize) -> bool {
        places.has_opcode_at(pc)
    }

    fn layout_bytes(places: &MemoryPlaces) -> usize {
        places.bytes()
    }

    fn instruction(places: &MemoryPlaces, code: &[u8], pc: usize, is_first: bool) -> Option<Instruction> {
        let found = found_at(places, code, pc, is_first)?;
        let [out, x, y] = places.numbers(&found)?.map(|place| (place, 0));
        let length = found.start + found.length - pc;
        Some(Instruction { operation: found.operation, out, x, y, count: 1, sum: None, fp6: None, form: None, length })
    }

    fn admit(
        places: &MemoryPlaces,
        needs: &mut MemoryNeeds,
        instruction: &Instruction,
        code: &[u8],
        pc: usize,
    ) -> bool {
        let start = pc + instruction.length - places.form.instruction_bytes();
        let Some(found) = places.form.instruction(code, start) else { return false };
        let modulus = found.modulus as usize; // u32 to usize widens.
        if needs.has_modulus && needs.modulus != modulus {
            return false;
        }
        (needs.has_modulus, needs.modulus) = (true, modulus);
        needs.reach = needs.reach.max(found.reach(&places.form));
        needs.multiplies |= found.operation == FieldOp::Mul;
        let Instruction { out, x, y, .. } = *instruction;
        [out, x, y].into_iter().for_each(|(place, _)| needs.names.insert(usize::from(place)));
        needs.writes.insert(usize::from(out.0));
        true
    }

    fn lanes_in_turn(_places: &MemoryPlaces) -> bool {
        false
    }

    fn push(places: &MemoryPlaces) -> Option<u8> {
        places.form.push
    }

    fn has_traces(places: &MemoryPlaces) -> bool {
        places.order() == ByteOrder::Little
    }

    /// There is nothing to it but the operations themselves.
    fn trace(_places: &MemoryPlaces, _operations: &SlotBlock) -> Option<()> {
        Some(())
    }

    fn trace_size((): &(), operations: &SlotBlock) -> (usize, usize) {
        (operations.ops().len(), 0)
    }

    fn place_count(places: &MemoryPlaces, _facts: &Facts) -> usize {
        places.offsets().len()
    }

    #[inline]
    fn fits(needs: &MemoryNeeds, facts: &Facts) -> bool {
        needs.reach <= facts.memory_bytes
    }
}

#[cfg(test)]
mod tests;
