//! Portable code: code that runs alike on engines that read the specifications differently.
//!
//! Some analyse jumps as if only PUSH had data: go-ethereum's branches of EVMMAX and evmone's do. To them a byte 0x5b
//! in the immediate of a field instruction is a jump target, and one from 0x60 to 0x7f hides targets after it. And
//! EIP-6690 of 2024, taken literally, requires index + stride · count to be a slot, or the number of slots, whereas its
//! author's programs assume count − 1.
//!
//! So portable code has immediates without such bytes, as EIP-8024 has it for SWAPN: slots whose numbers are such bytes
//! stay empty, and lanes with such a stride or count are made by several instructions. In revisions with strides one
//! more slot is declared, and lanes that would stride over the end are made by several instructions too. The result is
//! checked by both analyses.

use num_bigint::BigUint;
use residue_isa::assembly::Code;
use residue_isa::jumpdests::{jumpdests, jumpdests_of_pushes};
use residue_isa::opcode::evm::{JUMPDEST, PUSH1, PUSH32};
use residue_isa::{Family, FieldInstruction, Lanes, Revision};
use residue_passes::derived::Derived;
use residue_passes::{Allocation, Slot};

use crate::error::CompileError;
use crate::target::evm384;

/// The slots that code may name, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SlotNames {
    usable: Vec<Slot>,
    /// True if constants need not be contiguous: empty slots may lie between them.
    gaps: bool,
}

/// Slots after a program's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AfterValues {
    /// A slot that no value has.
    pub spare: Slot,
    /// The first constant.
    pub first_constant: Slot,
}

impl SlotNames {
    /// The slots below `limit`, in portable code without those whose names would be read as opcodes that matter.
    pub fn new(revision: Revision, limit: Slot, is_portable: bool) -> Self {
        // A lane of stride 1 in the last slot would already stride over the end.
        let limit = if is_portable && revision.is_strided() { limit - 1 } else { limit };
        let avoids = is_portable && exposes_operands(revision);
        let usable = (0..limit).filter(|&slot| !avoids || is_usable(revision, slot)).collect();
        Self { usable, gaps: avoids && revision.family() == Family::Memory384 }
    }

    /// Number of slots left for values beside constants and a spare one.
    pub fn room(&self, constants: usize) -> Option<Slot> {
        let last =
            (0..=self.usable.len().checked_sub(constants)?).rev().find(|&first| self.is_run(first, constants))?;
        u32::try_from(last.checked_sub(1)?).ok().filter(|&room| room > 0)
    }

    /// Gives the values of an allocation, which are within the room, names that are usable.
    pub fn name(&self, allocation: &mut Allocation, constants: usize) -> AfterValues {
        let index = |slot: Slot| slot as usize; // u32 to usize widens
        for placement in &mut allocation.functions {
            for slot in &mut placement.slot_of {
                // Values that nobody reads have any number.
                *slot = self.usable.get(index(*slot)).copied().unwrap_or(*slot);
            }
        }
        let spare = index(allocation.slots_used);
        let first = (spare + 1..self.usable.len().max(spare + 2))
            .find(|&first| self.is_run(first, constants))
            .expect("there is room");
        AfterValues { spare: self.usable[spare], first_constant: self.usable[first] }
    }

    /// True if `count` constants fit from this usable slot on.
    fn is_run(&self, first: usize, count: usize) -> bool {
        let run = self.usable.get(first..first + count);
        run.is_some_and(|run| self.gaps || run.windows(2).all(|pair| pair[0] + 1 == pair[1]))
    }

    /// Constants that all come from data, which has empty slots at unusable names; the slot after the constants has a
    /// usable name too.
    pub fn given(&self, constants: &[BigUint], first: Slot) -> Derived {
        let from = self.usable.iter().position(|&slot| slot == first).expect("it was chosen among these");
        let slots: Vec<Slot> = self.usable[from..from + constants.len()].to_vec();
        let after = self.usable.get(from + constants.len()).copied();
        let end = match (self.gaps, after, slots.last()) {
            (true, Some(after), _) => after,
            (_, _, Some(&last)) => last + 1,
            _ => first,
        };
        let mut given = vec![BigUint::ZERO; (end - first) as usize]; // u32 to usize widens
        for (slot, constant) in slots.iter().zip(constants) {
            given[(slot - first) as usize] = constant.clone(); // u32 to usize widens
        }
        Derived { slots, given, operations: Vec::new() }
    }

    /// The same with equal constants in one slot.
    pub fn given_once(&self, constants: &[BigUint], first: Slot) -> Derived {
        let mut different: Vec<BigUint> = Vec::new();
        for constant in constants {
            if !different.contains(constant) {
                different.push(constant.clone());
            }
        }
        let Derived { slots, given, operations } = self.given(&different, first);
        let slot = |constant| slots[different.iter().position(|other| other == constant).expect("it is one of them")];
        Derived { slots: constants.iter().map(slot).collect(), given, operations }
    }
}

/// True if an immediate byte is harmless to jump analysis that takes it for an opcode.
pub(crate) fn is_harmless(byte: u8) -> bool {
    byte != JUMPDEST && !(PUSH1..=PUSH32).contains(&byte)
}

/// True if jump analysis that knows only PUSH takes the operands of arithmetic for opcodes: they are immediates without
/// a PUSH before them.
pub(crate) fn exposes_operands(revision: Revision) -> bool {
    let opcode = revision.arithmetic_opcode(residue_isa::FieldOp::Add);
    let mut zeros: Vec<u8> = revision.opcode_bytes(opcode).collect();
    zeros.resize(revision.bytes_at(&zeros), 0);
    // What needs another byte before its operands does not read zeros.
    zeros.len() > 1 && revision.decode(&zeros).is_some()
}

fn is_usable(revision: Revision, slot: Slot) -> bool {
    match revision.evm384() {
        Some(interface) => evm384::address_of(interface, slot).to_le_bytes().into_iter().all(is_harmless),
        None => u8::try_from(slot).is_ok_and(is_harmless),
    }
}

/// Instructions that do the same as one on slots, whose immediates are harmless and whose operands stride no further than `end`.
pub(crate) fn within(instruction: FieldInstruction, end: Slot) -> Vec<FieldInstruction> {
    let FieldInstruction::Slots { operation, out, x, y, count } = instruction else { return vec![instruction] };
    let part = |first: u8, count: u8| {
        let lanes = |lanes: Lanes| {
            let index = lanes.slot(first).expect("the instruction names slots");
            if count == 1 { Lanes::one(index) } else { Lanes { index, ..lanes } }
        };
        FieldInstruction::Slots { operation, out: lanes(out), x: lanes(x), y: lanes(y), count }
    };
    let fits = |part: &FieldInstruction| {
        let &FieldInstruction::Slots { out, x, y, count, .. } = part else { return false };
        is_harmless(count)
            && [out, x, y].iter().all(|lanes| {
                is_harmless(lanes.stride) && u32::from(lanes.index) + u32::from(lanes.stride) * u32::from(count) <= end
            })
    };
    let mut parts = Vec::new();
    let mut first = 0;
    while first < count {
        // One lane always fits: its slots are below the end.
        let longest = (1..=count - first).rev().find(|&lanes| fits(&part(first, lanes))).unwrap_or(1);
        parts.push(part(first, longest));
        first += longest;
    }
    parts
}

/// Refuses code whose instructions have other jump targets where only PUSH has data.
pub(crate) fn require(code: &Code, instruction_bytes: usize, revision: Revision) -> Result<(), CompileError> {
    let instructions = &code.bytes[..instruction_bytes];
    let (ours, theirs) = (jumpdests(instructions, revision), jumpdests_of_pushes(instructions));
    let differs = |offset: usize| {
        // A byte of an immediate that reads as ENTERSUB hides nothing, and no code calls it.
        ours.contains(offset) != theirs.contains(offset) || ours.is_entry(offset) && !theirs.is_entry(offset)
    };
    match (0..instruction_bytes).find(|&offset| differs(offset)) {
        Some(offset) => Err(CompileError::NotPortable { offset }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_isa::FieldOp;

    fn instruction(out: (u8, u8), x: (u8, u8), y: (u8, u8), count: u8) -> FieldInstruction {
        let [out, x, y] = [out, x, y].map(|(index, stride)| Lanes { index, stride });
        FieldInstruction::Slots { operation: FieldOp::Mul, out, x, y, count }
    }

    #[test]
    fn names_leave_out_what_reads_as_an_opcode() {
        let names = SlotNames::new(Revision::Eip6690_2024, 256, true);
        assert_eq!(names.usable.len(), 255 - 33);
        assert!(names.usable.iter().all(|&slot| slot != 0x5b && !(0x60..0x80).contains(&slot) && slot < 255));
        assert_eq!(names.room(10), Some(222 - 10 - 1));
        // 200 neighbours there are not.
        assert_eq!(names.room(200), None);
        assert_eq!(SlotNames::new(Revision::Eip6690_2024, 256, false).room(10), Some(245));
        // Behind a marker anything may stand, and so in a PUSH.
        for revision in [Revision::Geth6601Push3, Revision::Evm384V12, Revision::Evm384V7] {
            assert_eq!(SlotNames::new(revision, 256, true).usable.len(), 256, "{revision}");
        }
        let names = SlotNames::new(Revision::Evm384V9, 1000, true);
        // Addresses are 64 + 48 · slot: multiples of 16 of two bytes, so that the lower one is never 0x5b.
        let hides = |address: u32| matches!(address % 256, 0x60 | 0x70) || matches!(address / 256, 0x5b | 0x60..=0x7f);
        let expected: Vec<Slot> = (0..1000).filter(|slot| !hides(64 + 48 * slot)).collect();
        assert_eq!((names.usable.len(), names.usable), (720, expected));
    }

    #[test]
    fn constants_stand_between_empty_slots_where_they_may() {
        let names = SlotNames::new(Revision::Evm384V9, 100, true);
        let constants: Vec<BigUint> = (1..=12u32).map(BigUint::from).collect();
        let derived = names.given(&constants, 2);
        assert_eq!(derived.slots, [2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14]);
        assert_eq!(derived.given.len(), 13);
        assert_eq!((&derived.given[4], &derived.given[5]), (&BigUint::ZERO, &BigUint::from(5u8)));
    }

    #[test]
    fn lanes_are_split_where_a_byte_or_the_end_asks_for_it() {
        let whole = instruction((0, 1), (10, 0), (20, 2), 4);
        assert_eq!(within(whole, 40), [whole]);
        // 20 + 2·4 = 28 is beyond 27.
        let parts = [instruction((0, 1), (10, 0), (20, 2), 3), instruction((3, 1), (10, 1), (26, 1), 1)];
        assert_eq!(within(whole, 27), parts);
        // A stride of 0x60, and 0x5b lanes.
        assert_eq!(within(instruction((0, 0x60), (1, 0), (2, 0), 2), 255).len(), 2);
        let counts: Vec<u8> =
            within(instruction((0, 1), (0, 1), (0, 1), 0x5b), 255).iter().map(|part| part.count()).collect();
        assert_eq!(counts, [0x5a, 1]);
        assert_eq!(within(instruction((0, 0x60), (1, 0), (2, 7), 1), 255), [instruction((0, 1), (1, 1), (2, 1), 1)]);
    }
}
