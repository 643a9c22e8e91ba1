//! The places of EVM384 code: byte offsets of values in memory that may lie in rows.
//!
//! Places are numbered over the whole code, so that rows outlive a block (see [`super::memory_rows`]); places that overlap each other or a
//! modulus take no part, and blocks end where they occur.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use residue_isa::revision::evm384::{self, Evm384, Modulus, Operands, R_INV_BYTES, VALUE_BYTES};
use residue_isa::{FieldInstruction, FieldOp, ModulusAt, Revision};
use residue_lanes::ByteOrder;

use super::index_set::IndexSet;

/// A set of places.
pub(crate) type PlaceSet = IndexSet<16>;

/// Bytes of memory for which the first place is at hand, and how many times that many.
const BUCKET_BYTES: usize = 64;
const BUCKETS_MAX: usize = 1 << 12;

/// Encoding of instructions in a revision of EVM384 with blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    revision: Revision,
    pub order: ByteOrder,
    /// The push that stands before the opcode; none if the operands stand after it.
    pub push: Option<u8>,
    /// Offset of the modulus, if no operand names it.
    implied: Option<u32>,
    /// True if memory grows to the reach of an instruction; otherwise it must be longer already.
    grows: bool,
    interface: &'static Evm384,
}

impl Form {
    /// Of the revisions whose operands are one word or stand after the opcode, under a modulus in memory.
    pub fn of(revision: Revision) -> Option<Self> {
        let evm384 = revision.evm384()?;
        let push = match evm384.operands {
            Operands::Packed { push } => Some(push),
            Operands::Immediate => None,
            Operands::Values | Operands::Words { .. } => return None,
        };
        let implied = match evm384.modulus {
            Modulus::Operand => None,
            Modulus::Place(offset) => Some(offset),
            Modulus::Value | Modulus::OperandAndRInv | Modulus::Fixed | Modulus::Set => return None,
        };
        let order = match evm384.byte_order {
            evm384::ByteOrder::Little => ByteOrder::Little,
            evm384::ByteOrder::Big => ByteOrder::Big,
        };
        Some(Self { revision, order, push, implied, grows: evm384.grows, interface: evm384 })
    }

    /// The arithmetic instruction at `pc`, if the code states its operands.
    pub fn instruction(&self, code: &[u8], pc: usize) -> Option<Found> {
        let (instruction, length) = self.revision.decode(code.get(pc..)?)?;
        let FieldInstruction::Memory { operation, out, x, y, modulus } = instruction else { return None };
        let modulus = match modulus {
            ModulusAt::Offset(modulus) => modulus,
            ModulusAt::Implied => self.implied?,
            ModulusAt::OffsetAndRInv { .. } => return None,
        };
        Some(Found { start: pc, length, operation, out, x, y, modulus })
    }

    /// True if instructions halt for the modulus at a byte offset, which must lie within memory.
    #[inline(always)]
    pub fn refuses(&self, memory: &[u8], modulus: usize) -> bool {
        self.interface.refuses(memory, modulus)
    }

    /// Bytes of an instruction, its push included.
    pub fn instruction_bytes(&self) -> usize {
        let opcode = self.revision.interface().arithmetic[FieldOp::Add];
        self.push_bytes() + self.revision.bytes_at(&[opcode])
    }

    /// Bytes of the push before an opcode.
    pub fn push_bytes(&self) -> usize {
        self.push.map_or(0, |push| self.revision.bytes_at(&[push]))
    }
}

/// An instruction with its place in the code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// Offset of its start, its push included.
    pub start: usize,
    pub length: usize,
    pub operation: FieldOp,
    /// Byte offsets.
    pub out: u32,
    pub x: u32,
    pub y: u32,
    pub modulus: u32,
}

impl Found {
    /// Offset of its opcode.
    pub fn opcode_at(&self, form: &Form) -> usize {
        self.start + form.push_bytes()
    }

    /// Bytes of memory that there are after it: as the handlers grow memory, or as they want it.
    pub fn reach(&self, form: &Form) -> usize {
        let highest = self.out.max(self.x).max(self.y).max(self.modulus) as usize; // u32 to usize widens.
        let beyond = match self.operation {
            _ if !form.grows => 1, // Memory ends at a multiple of 32, so r_inv lies inside too.
            FieldOp::Mul => R_INV_BYTES,
            _ => 0,
        };
        highest + VALUE_BYTES + beyond
    }
}

/// The places of one code.
#[derive(Debug)]
pub(crate) struct MemoryPlaces {
    pub form: Form,
    /// Byte offsets of the values that may lie in rows, ascending, at least [`VALUE_BYTES`] apart.
    offsets: Box<[u32]>,
    /// The first place that ends after each multiple of [`BUCKET_BYTES`].
    buckets: Box<[u16]>,
    /// By offset in the code, a bit for each opcode of arithmetic whose operands the code states and whose values are all places.
    opcodes: Box<[u64]>,
}

impl MemoryPlaces {
    /// The places of `code`; none if it has none, or more than a set holds.
    pub fn of(code: &[u8], form: Form) -> Option<Self> {
        let found = instructions(code, &form);
        let offsets = places(&found);
        if offsets.is_empty() || offsets.len() > PlaceSet::CAPACITY {
            return None;
        }
        let buckets = buckets(&offsets).into();
        let opcodes = vec![0; code.len().div_ceil(64)].into();
        let mut all = Self { form, offsets: offsets.into(), buckets, opcodes };
        for instruction in &found {
            if all.numbers(instruction).is_some() {
                let at = instruction.opcode_at(&form);
                all.opcodes[at / 64] |= 1 << (at % 64);
            }
        }
        Some(all)
    }

    /// Bytes that it has allocated.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.offsets) + size_of_val(&*self.buckets) + size_of_val(&*self.opcodes)
    }

    /// Bytes of rows for all places: values of 384 bits take eight limbs of 52, a line of 64 bytes.
    pub fn row_bytes(&self) -> usize {
        64 * self.offsets.len()
    }

    /// The order of a value's bytes.
    pub fn order(&self) -> ByteOrder {
        self.form.order
    }

    /// The byte offsets of all places.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// True if an opcode of arithmetic on places stands at `pc`, after the push of its operands if there is one.
    pub fn has_opcode_at(&self, pc: usize) -> bool {
        self.opcodes.get(pc / 64).is_some_and(|word| word >> (pc % 64) & 1 == 1)
    }

    /// The numbers of the places of an instruction, out, x and y, if they all take part.
    pub fn numbers(&self, instruction: &Found) -> Option<[u16; 3]> {
        let number = |offset: u32| u16::try_from(self.offsets.binary_search(&offset).ok()?).ok();
        Some([number(instruction.out)?, number(instruction.x)?, number(instruction.y)?])
    }

    /// The numbers of the places that overlap a range of memory.
    #[inline]
    pub fn within(&self, range: &Range<usize>) -> Range<usize> {
        if range.is_empty() {
            return 0..0;
        }
        let last_bucket = self.buckets.len() - 1;
        let number = (range.start / BUCKET_BYTES).min(last_bucket);
        let bucket = self.buckets[number];
        // u32 to usize widens.
        let ends_before = |&&place: &&u32| place as usize + VALUE_BYTES <= range.start;
        let rest = &self.offsets[usize::from(bucket)..];
        let before = match number == last_bucket {
            // It may have as many as there are places.
            true => rest.partition_point(|place| ends_before(&place)),
            false => rest.iter().take_while(ends_before).count(),
        };
        let first = usize::from(bucket) + before;
        let begins_within = |&&place: &&u32| (place as usize) < range.end;
        first..first + self.offsets[first..].iter().take_while(begins_within).count()
    }
}

/// All arithmetic instructions of a code whose operands it states.
fn instructions(code: &[u8], form: &Form) -> Vec<Found> {
    let mut found = Vec::new();
    let mut pc = 0;
    while pc < code.len() {
        match form.instruction(code, pc) {
            Some(instruction) => {
                pc += instruction.length;
                found.push(instruction);
            }
            None => pc += form.revision.bytes_at(&code[pc..]),
        }
    }
    found
}

/// The offsets of all values that overlap neither another value nor a modulus with its r_inv, ascending.
fn places(found: &[Found]) -> Vec<u32> {
    let unique = |mut offsets: Vec<u32>| {
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    };
    let values = unique(found.iter().flat_map(|found| [found.out, found.x, found.y]).collect());
    let moduli = unique(found.iter().map(|found| found.modulus).collect());
    let value_bytes = VALUE_BYTES as u64; // 48.
    let overlap = |a: u32, a_bytes: u64, b: u32, b_bytes: u64| {
        u64::from(a) < u64::from(b) + b_bytes && u64::from(b) < u64::from(a) + a_bytes
    };
    let modulus_bytes = value_bytes + R_INV_BYTES as u64; // 8.
    // All moduli are of one length: the last that begins below the end of the value is the one that may reach into it.
    let meets_modulus = |value: u32| {
        let below = moduli.partition_point(|&modulus| u64::from(modulus) < u64::from(value) + value_bytes);
        below.checked_sub(1).is_some_and(|last| overlap(value, value_bytes, moduli[last], modulus_bytes))
    };
    let stands_alone = |at: usize| {
        let meets = |other: Option<&u32>| other.is_some_and(|&b| overlap(values[at], value_bytes, b, value_bytes));
        !meets(at.checked_sub(1).and_then(|before| values.get(before))) && !meets(values.get(at + 1))
    };
    let alone = (0..values.len()).filter(|&at| stands_alone(at) && !meets_modulus(values[at]));
    alone.map(|at| values[at]).collect()
}

/// The first place that ends after each multiple of [`BUCKET_BYTES`], up to the last place or [`BUCKETS_MAX`].
fn buckets(places: &[u32]) -> Vec<u16> {
    // u32 to usize widens.
    let end = places.last().map_or(0, |&last| last as usize + VALUE_BYTES);
    let first_after = |bucket: usize| {
        let first = places.partition_point(|&place| place as usize + VALUE_BYTES <= bucket * BUCKET_BYTES);
        u16::try_from(first).expect("there are at most 1024 places")
    };
    (0..=(end / BUCKET_BYTES).min(BUCKETS_MAX)).map(first_after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> MemoryPlaces {
        let code = residue_isa::assembly::assemble_text(text, Revision::Evm384V7).unwrap().bytes;
        MemoryPlaces::of(&code, Form::of(Revision::Evm384V7).unwrap()).unwrap()
    }

    #[test]
    fn places_overlap_nothing_and_opcodes_are_known_by_them() {
        let places = found(
            "ADDMOD384 0x100 0x180 0x180 0x300\nMULMODMONT384 0x180 0x100 0x100 0x300\n\
             ADDMOD384 0x40 0x100 0x100 0x300\nSUBMOD384 0x180 0x180 0x100 0x300\n\
             ADDMOD384 0x6f 0x100 0x100 0x300\nADDMOD384 0x180 0x180 0x180 0x300\nADDMOD384 0x180 0x180 0x180 0x3a0",
        );
        assert_eq!(places.offsets(), [0x100, 0x180]);
        let opcodes: Vec<usize> = (0..200).filter(|&pc| places.has_opcode_at(pc)).collect();
        assert_eq!(opcodes, [17, 35, 71, 107, 125]);
    }

    #[test]
    fn ranges_of_memory_name_the_places_they_touch() {
        let places = found("ADDMOD384 0x100 0x40 0x40 0x200\nMULMODMONT384 0x40 0x130 0x100 0x200");
        assert_eq!(places.offsets(), [0x40, 0x100, 0x130]);
        assert_eq!(places.within(&(0..0x40)), 0..0);
        assert_eq!(places.within(&(0x6f..0x70)), 0..1);
        assert_eq!(places.within(&(0x70..0x100)), 1..1);
        assert_eq!(places.within(&(0x12f..0x131)), 1..3);
        assert_eq!(places.within(&(0x100..0x100)), 0..0);
    }

    #[test]
    fn values_that_overlap_a_modulus_or_its_r_inv_take_no_part() {
        let places = |text| found(&format!("ADDMOD384 0x400 0x400 0x400 0x200\n{text}")).offsets().to_vec();
        assert_eq!(places("ADDMOD384 0x237 0x1d0 0x400 0x200"), [0x1d0, 0x400]);
        assert_eq!(places("ADDMOD384 0x238 0x1d1 0x400 0x200"), [0x238, 0x400]);
    }

    /// Encodings of two instructions in each revision, with the higher of their places at each operand.
    const FORMS: [(Revision, ByteOrder, usize, usize, &str, u32); 6] = [
        (Revision::Evm384V6, ByteOrder::Little, 4, 5, "48 96 144", 48),
        (Revision::Evm384V7, ByteOrder::Little, 17, 18, "48 96 144 960", 1),
        (Revision::Evm384V8, ByteOrder::Big, 17, 18, "48 96 144 960", 1),
        (Revision::Evm384V9, ByteOrder::Little, 0, 17, "48 96 144 960", 1),
        (Revision::Evm384V10, ByteOrder::Little, 9, 10, "48 96 144 960", 48),
        (Revision::X383, ByteOrder::Little, 0, 17, "48 96 144 960", 1),
    ];

    #[test]
    fn six_revisions_state_operands_each_in_its_way() {
        let known: Vec<Revision> = Revision::ALL.iter().copied().filter(|of| Form::of(*of).is_some()).collect();
        assert_eq!(known.len(), FORMS.len());
        for (revision, order, push_bytes, bytes, operands, _) in FORMS {
            let form = Form::of(revision).unwrap();
            assert_eq!((form.order, form.push_bytes(), form.instruction_bytes()), (order, push_bytes, bytes));
            let text = format!("STOP\nADDMOD384 {operands}\nMULMODMONT384 {operands}\n");
            let code = residue_isa::assembly::assemble_text(&text, revision).unwrap().bytes;
            let is_found = [0, 1, 1 + bytes, 1 + 2 * bytes, 1000].map(|pc| form.instruction(&code, pc).is_some());
            assert_eq!(is_found, [false, true, true, false, false]);
            let found = form.instruction(&code, 1 + bytes).unwrap();
            assert_eq!((found.start, found.length, found.operation), (1 + bytes, bytes, FieldOp::Mul));
            assert_eq!(found.opcode_at(&form), 1 + bytes + push_bytes);
            let modulus = if revision == Revision::Evm384V6 { 12_288 } else { 960 };
            assert_eq!([found.out, found.x, found.y, found.modulus], [48, 96, 144, modulus]);
        }
    }

    #[test]
    fn an_instruction_reaches_as_far_as_its_highest_operand_and_what_follows_that() {
        for (revision, .., unit_bytes) in FORMS {
            let form = Form::of(revision).unwrap();
            for at in 0..4 {
                for (operation, beyond) in [(FieldOp::Add, 0), (FieldOp::Sub, 0), (FieldOp::Mul, 8)] {
                    let mut operands = [0; 4];
                    operands[at] = 20 * unit_bytes;
                    let [out, x, y, modulus] = operands;
                    let found = Found { start: 0, length: 0, operation, out, x, y, modulus };
                    let beyond = if revision.evm384().unwrap().grows { beyond } else { 1 };
                    assert_eq!(found.reach(&form), 20 * unit_bytes as usize + 48 + beyond, "{revision} {operation:?}");
                }
            }
        }
    }

    /// Sums of places that lie apart, under one modulus.
    fn of_count(count: u32) -> Option<MemoryPlaces> {
        let places = (0..count).map(|place| format!("ADDMOD384 {0} {0} {0} 1000000\n", 100 * place));
        let text = places.collect::<String>();
        let code = residue_isa::assembly::assemble_text(&text, Revision::Evm384V9).unwrap().bytes;
        MemoryPlaces::of(&code, Form::of(Revision::Evm384V9).unwrap())
    }

    #[test]
    fn a_code_has_from_one_place_to_as_many_as_a_set_holds() {
        assert_eq!([0, 1, 1023, 1024, 1025].map(|count| of_count(count).is_some()), [false, true, true, true, false]);
        // Twenty places of four bytes, 31 buckets of two, 340 bytes of code.
        let places = of_count(20).unwrap();
        assert_eq!(places.bytes(), 20 * 4 + 31 * 2 + 6 * 8);
        assert_eq!(places.row_bytes(), 20 * 64);
        assert_eq!(places.order(), ByteOrder::Little);
        assert!((0..2000).all(|pc| places.has_opcode_at(pc) == (pc < 340 && pc % 17 == 0)));
    }

    #[test]
    fn buckets_begin_with_the_first_place_that_ends_after_them() {
        for places in [vec![0], vec![16], vec![17, 100, 200], vec![400, 448, 1000], vec![7, 1 << 20]] {
            let all = buckets(&places);
            let last = *places.last().unwrap() as usize + 48;
            assert_eq!(all.len(), (last / 64).min(4096) + 1);
            for (bucket, first) in all.iter().enumerate() {
                let before = places.iter().filter(|place| **place as usize + 48 <= 64 * bucket).count();
                assert_eq!(usize::from(*first), before, "{places:?} {bucket}");
            }
        }
    }

    #[test]
    fn places_and_ranges_are_those_that_a_search_of_all_pairs_finds() {
        use rand::{Rng, SeedableRng};
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for span in [300, 800, 3000] {
            for _ in 0..100 {
                let mut at = || random.random_range(0..span);
                let instruction = |_| {
                    let [out, x, y, modulus] = [at(), at(), at(), at()];
                    Found { start: 0, length: 17, operation: FieldOp::Add, out, x, y, modulus }
                };
                let found: Vec<Found> = (0..4).map(instruction).collect();
                let values: Vec<u32> = found.iter().flat_map(|found| [found.out, found.x, found.y]).collect();
                let is_alone = |value: &u32| {
                    let among_values = values.iter().all(|other| other == value || other.abs_diff(*value) >= 48);
                    among_values
                        && found.iter().all(|Found { modulus, .. }| value + 48 <= *modulus || modulus + 56 <= *value)
                };
                let expected: std::collections::BTreeSet<u32> = values.iter().copied().filter(is_alone).collect();
                let offsets = places(&found);
                assert_eq!(offsets, Vec::from_iter(expected), "{found:?}");
                if offsets.is_empty() {
                    continue;
                }
                let form = Form::of(Revision::Evm384V9).unwrap();
                let buckets = buckets(&offsets).into();
                let map = MemoryPlaces { form, offsets: offsets.clone().into(), buckets, opcodes: [].into() };
                for _ in 0..50 {
                    let start = random.random_range(0..span as usize + 200);
                    let range = start..start + random.random_range(1..200);
                    let overlaps = |at: &usize| {
                        let place = offsets[*at] as usize;
                        place < range.end && range.start < place + 48
                    };
                    let expected: Vec<usize> = (0..offsets.len()).filter(overlaps).collect();
                    assert_eq!(map.within(&range).collect::<Vec<_>>(), expected, "{offsets:?} {range:?}");
                }
            }
        }
    }
}
