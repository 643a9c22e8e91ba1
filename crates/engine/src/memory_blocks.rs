//! Blocks of EVM384: straight runs of arithmetic on values in EVM memory, pushes of their operands included.
//!
//! A value's place is its byte offset. Places are numbered over the whole code, so that rows outlive a block (see
//! [`crate::memory_rows`]); places that overlap each other or a modulus take no part, and blocks end where they occur. A block is
//! entered at its first arithmetic opcode, behind the push of its operands: nothing else leads there.

use std::ops::Range;

use residue_isa::opcode::evm::{PUSH3, PUSH8, PUSH16};
use residue_isa::revision::evm384::{R_INV_BYTES, VALUE_BYTES};
use residue_isa::revision::evm384_v6;
use residue_isa::{Arithmetic, FieldInstruction, ModulusAt, Revision};
use residue_lanes::{ByteOrder, Op, OpKind, Plan, Shape, SlotBlock};
use residue_modular::evm384;

use crate::block_starts::BlockStarts;
use crate::blocks::{Batching, kind_of};
use crate::explained::BlockExplained;
use crate::index_set::IndexSet;
use crate::planned::{Patience, PlanCell, RowPlan, Work};
use crate::prices::Prices;

/// A set of places.
pub(crate) type PlaceSet = IndexSet<16>;

/// A block is cut behind this many operations, which bounds what planning costs at once.
const OPERATIONS_MAX: usize = 4096;
/// Bytes of memory for which the first place is at hand, and how many times that many.
const BUCKET_BYTES: usize = 64;
const BUCKETS_MAX: usize = 1 << 12;

/// How a revision whose blocks are found writes its instructions.
#[derive(Debug, Clone, Copy)]
struct Layout {
    order: ByteOrder,
    /// The push that stands before the opcode; none if the operands stand behind it.
    push: Option<u8>,
    /// Whether memory grows to what an instruction reaches; otherwise it must be longer.
    grows: bool,
}

impl Layout {
    /// Of the revisions whose operands are one word or stand behind the opcode, under a modulus in memory.
    fn of(revision: Revision) -> Option<Self> {
        let (order, push) = match revision {
            Revision::Evm384V6 => (ByteOrder::Little, Some(PUSH3)),
            Revision::Evm384V7 => (ByteOrder::Little, Some(PUSH16)),
            Revision::Evm384V8 => (ByteOrder::Big, Some(PUSH16)),
            Revision::Evm384V9 => (ByteOrder::Little, None),
            Revision::Evm384V10 => (ByteOrder::Little, Some(PUSH8)),
            _ => return None,
        };
        Some(Self { order, push, grows: revision.evm384()?.grows })
    }
}

/// The blocks of one code.
#[derive(Debug)]
pub(crate) struct MemoryBlocks {
    batching: Batching,
    layout: Layout,
    /// Byte offsets of the values that may lie in rows, ascending, at least [`VALUE_BYTES`] apart.
    places: Vec<u32>,
    /// The first place that ends behind each multiple of [`BUCKET_BYTES`].
    buckets: Vec<u16>,
    /// Index into `blocks` by the offset of a block's first opcode.
    starts: BlockStarts,
    blocks: Vec<MemoryBlock>,
    patience: Patience,
}

/// One block.
#[derive(Debug)]
pub(crate) struct MemoryBlock {
    /// From its first opcode to behind it.
    pub code: Range<usize>,
    /// Byte offset of the modulus that all instructions share.
    pub modulus: usize,
    /// Bytes of memory that its instructions reach.
    pub reach: usize,
    /// Whether r_inv matters.
    pub multiplies: bool,
    /// The places it names, and those it writes.
    pub names: PlaceSet,
    pub writes: PlaceSet,
    work: Work,
    operations: Vec<Op>,
    plan: PlanCell<PlaceSet>,
}

/// An instruction with its place in the code.
struct Found {
    start: usize,
    end: usize,
    operation: Arithmetic,
    out: u32,
    x: u32,
    y: u32,
    modulus: u32,
}

impl MemoryBlocks {
    /// Bytes it takes, plans left aside.
    pub fn bytes(&self) -> usize {
        let operations: usize = self.blocks.iter().map(|block| size_of_val(&*block.operations)).sum();
        self.starts.bytes()
            + size_of_val(&*self.blocks)
            + operations
            + size_of_val(&*self.places)
            + size_of_val(&*self.buckets)
    }

    /// Whether codes of a revision have blocks of this kind.
    pub fn are_found(revision: Revision) -> bool {
        Layout::of(revision).is_some()
    }

    /// The blocks of `code`, or none if it has none or the revision or the machine no use for them.
    pub fn find(code: &[u8], revision: Revision, batching: Batching) -> Option<Self> {
        let has_chains = |layout: &Layout| batching.has_chains() && layout.order == ByteOrder::Little;
        let layout = Layout::of(revision).filter(|layout| batching.has_plans() || has_chains(layout))?;
        let found = instructions(code, revision);
        let places = places(&found);
        if places.is_empty() || places.len() > PlaceSet::CAPACITY {
            return None;
        }
        let buckets = buckets(&places);
        let (starts, patience) = (BlockStarts::new(code.len()), Patience::default());
        let mut blocks = Self { batching, layout, places, buckets, starts, blocks: Vec::new(), patience };
        let mut open: Option<MemoryBlock> = None;
        for instruction in &found {
            let Some(op) = blocks.op(instruction) else {
                blocks.close(open.take());
                continue;
            };
            let modulus = instruction.modulus as usize; // u32 to usize widens.
            let continues = |block: &MemoryBlock| {
                block.code.end == instruction.start
                    && block.modulus == modulus
                    && block.operations.len() < OPERATIONS_MAX
            };
            if !open.as_ref().is_some_and(continues) {
                blocks.close(open.take());
            }
            open.get_or_insert_with(|| MemoryBlock::new(instruction.opcode_at(layout), modulus)).push(
                layout,
                instruction,
                op,
            );
        }
        blocks.close(open);
        (!blocks.blocks.is_empty()).then_some(blocks)
    }

    /// What has become of them.
    pub fn explain(&self) -> impl Iterator<Item = BlockExplained> + '_ {
        self.blocks.iter().map(|block| {
            BlockExplained::new(block.code.clone(), 1, &block.work, block.plan.made().map(Plan::explain), None)
        })
    }

    /// The order of a value's bytes.
    pub fn order(&self) -> ByteOrder {
        self.layout.order
    }

    /// The push of a word of operands, if there is one: that of a block's first instruction has run when the block is entered.
    pub fn push(&self) -> Option<u8> {
        self.layout.push
    }

    /// The byte offsets of all places.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// The numbers of the places that overlap a range of memory.
    #[inline]
    pub fn places_in(&self, range: &Range<usize>) -> Range<usize> {
        if range.is_empty() {
            return 0..0;
        }
        let last_bucket = self.buckets.len() - 1;
        let bucket = self.buckets[(range.start / BUCKET_BYTES).min(last_bucket)];
        // u32 to usize widens.
        let ends_before = |&&place: &&u32| place as usize + VALUE_BYTES <= range.start;
        let first = usize::from(bucket) + self.places[usize::from(bucket)..].iter().take_while(ends_before).count();
        let begins_within = |&&place: &&u32| (place as usize) < range.end;
        first..first + self.places[first..].iter().take_while(begins_within).count()
    }

    /// The block whose first opcode is at `pc`.
    #[inline(always)]
    pub fn get(&self, pc: usize) -> Option<&MemoryBlock> {
        self.blocks.get(self.starts.get(pc)?)
    }

    /// As [`BlockStarts::is_due`].
    #[inline(always)]
    pub fn is_due(&self, pc: usize, plans_run: bool, is_beside_rows: bool) -> bool {
        self.starts.is_due(pc, plans_run, || is_beside_rows)
    }

    /// Whether a block begins at `pc`.
    #[inline(always)]
    pub fn begins(&self, pc: usize) -> bool {
        self.starts.get(pc).is_some()
    }

    /// Whether blocks have plans on this machine.
    pub fn has_plans(&self) -> bool {
        self.batching.has_plans()
    }

    /// The plan of a block for a shape, if it has one and that pays.
    pub fn plan<'a>(&self, block: &'a MemoryBlock, shape: Option<Shape>) -> Option<&'a RowPlan<PlaceSet>> {
        let slot_block = |place_count| {
            let mut slots = SlotBlock::new(place_count);
            block.operations.iter().try_for_each(|op| slots.push(*op)).ok()?;
            Some(slots)
        };
        let plan = block.plan.get(self.batching, &self.patience, self.places.len(), shape, &block.work, slot_block);
        if plan.is_none() && block.plan.is_plain() && !block.is_chain() {
            self.starts.note_plain(block.code.start);
        }
        plan
    }

    /// Runs the operations of a chain, whose values lie in `memory` and which reaches no further.
    pub fn run_chain(&self, block: &MemoryBlock, memory: &mut [u8]) {
        self.starts.note_chained(block.code.start);
        let at = |place: u16| self.places[usize::from(place)] as usize; // u32 to usize widens.
        for &Op { kind, out, x, y } in &block.operations {
            let operate = match kind {
                OpKind::Add => evm384::add_in_memory,
                OpKind::Sub => evm384::sub_in_memory,
                OpKind::Mul => evm384::mul_in_memory,
            };
            operate(memory, at(out), at(x), at(y), block.modulus);
        }
    }

    /// An instruction on numbered places, if they all take part.
    fn op(&self, instruction: &Found) -> Option<Op> {
        let number = |offset: u32| {
            let at = self.places.binary_search(&offset).ok()?;
            u16::try_from(at).ok()
        };
        let Found { operation, out, x, y, .. } = *instruction;
        Some(Op { kind: kind_of(operation), out: number(out)?, x: number(x)?, y: number(y)? })
    }

    fn close(&mut self, block: Option<MemoryBlock>) {
        let Some(mut block) = block else { return };
        let operations = block.work.operation_count();
        block.work.has_chain = self.batching.has_chains()
            && self.layout.order == ByteOrder::Little
            && operations >= self.batching.chain_operations_min();
        if operations >= self.batching.operations_min() {
            self.starts.push(block.code.start, block.work.entries_before_plan(self.batching));
            self.blocks.push(block);
        }
    }
}

impl MemoryBlock {
    fn new(start: usize, modulus: usize) -> Self {
        Self {
            code: start..start,
            modulus,
            reach: 0,
            multiplies: false,
            names: PlaceSet::default(),
            writes: PlaceSet::default(),
            work: Work::default(),
            operations: Vec::new(),
            plan: PlanCell::default(),
        }
    }

    /// Whether its operations run in memory one after the other where it has no plan, as those of [`crate::chain`] do on slots.
    pub fn is_chain(&self) -> bool {
        self.work.has_chain
    }

    fn push(&mut self, layout: Layout, instruction: &Found, op: Op) {
        let kind = instruction.operation as usize;
        self.work.instructions[kind] += 1;
        self.work.operations[kind] += 1;
        self.multiplies |= instruction.operation == Arithmetic::Mul;
        self.reach = self.reach.max(instruction.reach(layout));
        self.code.end = instruction.end;
        [op.out, op.x, op.y].into_iter().for_each(|place| self.names.insert(usize::from(place)));
        self.writes.insert(usize::from(op.out));
        self.operations.push(op);
    }

    /// What all its instructions cost together once the first one's operands are pushed.
    #[inline]
    pub fn cost(&self, prices: &Prices, opcodes: [u8; 3], push: Option<u8>) -> u64 {
        let count = |kind: usize| u64::from(self.work.instructions[kind]);
        let instructions: u64 = (0..3).map(|kind| prices.base[usize::from(opcodes[kind])] * count(kind)).sum();
        let pushes = self.operations.len() as u64 - 1; // At most 4096.
        instructions + push.map_or(0, |push| pushes * prices.base[usize::from(push)])
    }
}

impl Found {
    fn opcode_at(&self, layout: Layout) -> usize {
        if layout.push.is_some() { self.end - 1 } else { self.start }
    }

    /// Bytes of memory that there are after it: as the handlers grow memory, or as they want it.
    fn reach(&self, layout: Layout) -> usize {
        let highest = self.out.max(self.x).max(self.y).max(self.modulus) as usize; // u32 to usize widens.
        let beyond = match self.operation {
            _ if !layout.grows => 1, // Memory ends at a multiple of 32, so r_inv lies inside too.
            Arithmetic::Mul => R_INV_BYTES,
            _ => 0,
        };
        highest + VALUE_BYTES + beyond
    }
}

/// All arithmetic instructions of a code whose operands it states.
fn instructions(code: &[u8], revision: Revision) -> Vec<Found> {
    let mut found = Vec::new();
    let mut pc = 0;
    while pc < code.len() {
        let decoded = revision.decode(&code[pc..]);
        if let Some((FieldInstruction::Memory { operation, out, x, y, modulus }, length)) = decoded
            && let Some(modulus) = match modulus {
                ModulusAt::Offset(modulus) => Some(modulus),
                ModulusAt::Implied if revision == Revision::Evm384V6 => Some(evm384_v6::MODULUS_AT as u32), // 12288.
                _ => None,
            }
        {
            found.push(Found { start: pc, end: pc + length, operation, out, x, y, modulus });
            pc += length;
        } else {
            pc += revision.instruction_bytes(code[pc]);
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

/// The first place that ends behind each multiple of [`BUCKET_BYTES`], up to the last place or [`BUCKETS_MAX`].
fn buckets(places: &[u32]) -> Vec<u16> {
    // u32 to usize widens.
    let end = places.last().map_or(0, |&last| last as usize + VALUE_BYTES);
    let first_behind = |bucket: usize| {
        let first = places.partition_point(|&place| place as usize + VALUE_BYTES <= bucket * BUCKET_BYTES);
        u16::try_from(first).expect("there are at most 1024 places")
    };
    (0..=(end / BUCKET_BYTES).min(BUCKETS_MAX)).map(first_behind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> MemoryBlocks {
        let code = residue_isa::assembly::assemble_text(text, Revision::Evm384V7).unwrap().bytes;
        MemoryBlocks::find(&code, Revision::Evm384V7, Batching::Always).unwrap()
    }

    #[test]
    fn a_block_spans_pushes_and_ends_where_places_overlap_or_the_modulus_changes() {
        let blocks = found(
            "ADDMOD384 0x100 0x180 0x180 0x300\nMULMODMONT384 0x180 0x100 0x100 0x300\n\
             ADDMOD384 0x40 0x100 0x100 0x300\nSUBMOD384 0x180 0x180 0x100 0x300\n\
             ADDMOD384 0x6f 0x100 0x100 0x300\nADDMOD384 0x180 0x180 0x180 0x300\nADDMOD384 0x180 0x180 0x180 0x3a0",
        );
        assert_eq!(blocks.places(), [0x100, 0x180]);
        let code: Vec<_> = blocks.blocks.iter().map(|block| block.code.clone()).collect();
        assert_eq!(code, [17..36, 71..72, 107..108, 125..126]);
    }

    #[test]
    fn ranges_of_memory_name_the_places_they_touch() {
        let blocks = found("ADDMOD384 0x100 0x40 0x40 0x200\nMULMODMONT384 0x40 0x130 0x100 0x200");
        assert_eq!(blocks.places(), [0x40, 0x100, 0x130]);
        assert_eq!(blocks.places_in(&(0..0x40)), 0..0);
        assert_eq!(blocks.places_in(&(0x6f..0x70)), 0..1);
        assert_eq!(blocks.places_in(&(0x70..0x100)), 1..1);
        assert_eq!(blocks.places_in(&(0x12f..0x131)), 1..3);
        assert_eq!(blocks.places_in(&(0x100..0x100)), 0..0);
        let block = blocks.get(17).unwrap();
        assert_eq!((block.code.clone(), block.reach, block.modulus), (17..36, 0x200 + 56, 0x200));
    }

    #[test]
    fn values_that_overlap_a_modulus_or_its_r_inv_take_no_part() {
        let places = |text| found(&format!("ADDMOD384 0x400 0x400 0x400 0x200\n{text}")).places().to_vec();
        assert_eq!(places("ADDMOD384 0x237 0x1d0 0x400 0x200"), [0x1d0, 0x400]);
        assert_eq!(places("ADDMOD384 0x238 0x1d1 0x400 0x200"), [0x238, 0x400]);
    }
}
