//! Blocks: straight runs of arithmetic field instructions, found once in a code, and their plans.
//!
//! A block is entered at its first instruction only, since every other entry would be a jump target, and a jump target is
//! an instruction of its own. What a block costs depends on prices and on the width of the modulus, so it keeps counts and
//! is priced at its entry.

use residue_isa::revision::rules::SLOTS_MAX;
use residue_isa::{Arithmetic, FieldInstruction, Revision};
use residue_lanes::{Kernel, OpKind, Plan, Shape, SlotBlock};

use crate::explained::BlockExplained;
use crate::memory_blocks::MemoryBlocks;
use crate::planned::{PlanCell, RowPlan, Work};
use crate::prices::{Prices, WidthPrices};
use crate::slot_file::SlotSet;

/// A block with fewer operations than this gains nothing from a plan.
const OPERATIONS_MIN: u32 = 2;
/// A block is cut behind this many operations, which bounds what planning costs at once.
const OPERATIONS_MAX: u32 = 4096;
/// No block begins here.
const NONE: u32 = u32::MAX;

/// When blocks of field instructions run as plans of the batch engine. Halts, gas, memory and output are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Batching {
    /// Never: every instruction by itself.
    Off,
    /// Where it is faster: on machines with AVX-512 IFMA, once a block has been entered a few times.
    Warm,
    /// From the first entry, whatever it costs and on any machine. For tests.
    Always,
}

/// Whether the engine finds blocks in code of a revision: values have to lie where every instruction names them in the code.
pub fn has_blocks(revision: Revision) -> bool {
    revision.slot_rules().is_some() || MemoryBlocks::are_found(revision)
}

impl Batching {
    /// Whether blocks are worth looking for on this machine.
    pub(crate) fn is_useful(self) -> bool {
        match self {
            Self::Off => false,
            Self::Warm => Kernel::best() != Kernel::Scalar,
            Self::Always => true,
        }
    }
}

/// The blocks of one code.
#[derive(Debug)]
pub(crate) struct Blocks {
    batching: Batching,
    /// Index into `blocks` by the offset of a block's first opcode.
    at: Box<[u32]>,
    blocks: Vec<CodeBlock>,
}

/// One block.
#[derive(Debug)]
pub(crate) struct CodeBlock {
    /// Offset of its first opcode.
    start: usize,
    /// Offset behind it.
    pub end: usize,
    work: Work,
    /// The highest slot it names.
    pub last_slot: usize,
    plan: PlanCell<SlotSet>,
}

impl Blocks {
    /// The blocks of `code` that are worth planning, or none if the revision or the machine has no use for plans.
    pub fn find(code: &[u8], revision: Revision, batching: Batching) -> Option<Self> {
        if !batching.is_useful() || revision.slot_rules().is_none() {
            return None;
        }
        let operations_min = if batching == Batching::Always { 1 } else { OPERATIONS_MIN };
        let mut at = vec![NONE; code.len()].into_boxed_slice();
        let mut blocks = Vec::new();
        let mut pc = 0;
        while pc < code.len() {
            match CodeBlock::at(code, pc, revision) {
                Some(block) => {
                    pc = block.end;
                    if block.work.operations.iter().sum::<u32>() >= operations_min {
                        at[block.start] = u32::try_from(blocks.len()).expect("a code has fewer than 2³² blocks");
                        blocks.push(block);
                    }
                }
                None => pc += revision.instruction_bytes(code[pc]),
            }
        }
        (!blocks.is_empty()).then_some(Self { batching, at, blocks })
    }

    /// Bytes it takes, plans left aside.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.at) + size_of_val(&*self.blocks)
    }

    /// When to plan.
    pub fn batching(&self) -> Batching {
        self.batching
    }

    /// What has become of them.
    pub fn explain(&self) -> impl Iterator<Item = BlockExplained> + '_ {
        self.blocks
            .iter()
            .map(|block| BlockExplained::new(block.start..block.end, &block.work, block.plan.made().map(Plan::explain)))
    }

    /// The block that begins at `pc`.
    #[inline(always)]
    pub fn get(&self, pc: usize) -> Option<&CodeBlock> {
        let index = *self.at.get(pc)?;
        self.blocks.get(index as usize) // u32 to usize widens; `NONE` is beyond every list.
    }
}

/// The arithmetic instruction at `pc`, if it cannot halt for its operands alone.
fn arithmetic_at(code: &[u8], pc: usize, revision: Revision) -> Option<(FieldInstruction, usize)> {
    let (instruction, length) = revision.decode(&code[pc..])?;
    let FieldInstruction::Slots { out, x, y, count, .. } = instruction else { return None };
    let last = out.last(count).max(x.last(count)).max(y.last(count));
    // Where lanes go in turn, several of them may differ from lanes that are all read first.
    let in_turn = revision.slot_rules().is_some_and(|rules| rules.lanes_in_turn);
    let lanes_go = if in_turn { count == 1 } else { count > 0 && out.stride > 0 };
    (lanes_go && last < SLOTS_MAX as u32).then_some((instruction, length))
}

impl CodeBlock {
    /// The block that begins at `pc`, if an arithmetic instruction stands there.
    fn at(code: &[u8], pc: usize, revision: Revision) -> Option<Self> {
        let mut block = Self { start: pc, end: pc, work: Work::default(), last_slot: 0, plan: PlanCell::default() };
        while block.work.operations.iter().sum::<u32>() < OPERATIONS_MAX
            && let Some((instruction, length)) = arithmetic_at(code, block.end, revision)
        {
            let FieldInstruction::Slots { operation, out, x, y, count } = instruction else { break };
            block.work.instructions[operation as usize] += 1;
            block.work.operations[operation as usize] += u32::from(count);
            let last = out.last(count).max(x.last(count)).max(y.last(count));
            block.last_slot = block.last_slot.max(last as usize); // u32 to usize widens.
            block.end += length;
        }
        (block.end > block.start).then_some(block)
    }

    /// What all its instructions cost together.
    #[inline]
    pub fn cost(&self, prices: &Prices, width: &WidthPrices, opcodes: [u8; 3]) -> u64 {
        let of = |kind: usize| {
            let base = prices.base[usize::from(opcodes[kind])] * u64::from(self.work.instructions[kind]);
            // Fractions are rounded for each instruction; where there are any, that is one lane.
            base + width.times(width.lane[kind], 1) * u64::from(self.work.operations[kind])
        };
        of(0) + of(1) + of(2)
    }

    /// Whether it is known to have no plan that pays.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.plan.is_plain()
    }

    /// Its plan for a number of slots and a shape, if it has one and that pays.
    pub fn plan(
        &self,
        batching: Batching,
        code: &[u8],
        revision: Revision,
        slot_count: usize,
        shape: Option<Shape>,
    ) -> Option<&RowPlan<SlotSet>> {
        self.plan.get(batching, slot_count, shape, &self.work, |slot_count| self.slot_block(code, revision, slot_count))
    }

    fn slot_block(&self, code: &[u8], revision: Revision, slot_count: u16) -> Option<SlotBlock> {
        let mut block = SlotBlock::new(slot_count);
        let mut pc = self.start;
        while pc < self.end {
            let (instruction, length) = arithmetic_at(code, pc, revision)?;
            let FieldInstruction::Slots { operation, out, x, y, count } = instruction else { return None };
            let lanes: Option<Vec<_>> = (0..count)
                .map(|lane| Some((u16::from(out.slot(lane)?), u16::from(x.slot(lane)?), u16::from(y.slot(lane)?))))
                .collect();
            block.push_lanes(kind_of(operation), lanes?).ok()?;
            pc += length;
        }
        Some(block)
    }
}

/// The planner's word for an operation.
pub(crate) fn kind_of(operation: Arithmetic) -> OpKind {
    match operation {
        Arithmetic::Add => OpKind::Add,
        Arithmetic::Sub => OpKind::Sub,
        Arithmetic::Mul => OpKind::Mul,
    }
}
