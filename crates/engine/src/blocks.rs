//! Blocks: straight runs of arithmetic field instructions, found once in a code, and their plans.
//!
//! A block is entered at its first instruction only, since every other entry would be a jump target, and a jump target is
//! an instruction of its own. What a block costs depends on prices and on the width of the modulus, so it keeps counts and
//! is priced at its entry.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use residue_isa::{Arithmetic, FieldInstruction, Revision};
use residue_lanes::{Kernel, OpKind, Plan, Shape, SlotBlock};
use revm::bytecode::JumpTable;
use revm::primitives::U256;

use crate::block_starts::BlockStarts;
use crate::chain::{Chain, Draft};
use crate::explained::BlockExplained;
use crate::memory_blocks::MemoryBlocks;
use crate::path::{Path, Walk, lanes_in_turn};
use crate::planned::{ENTRIES_BEFORE_PLAN, PLAN_BYTES_MAX, Patience, PlanCell, RowPlan, Work, plan_bytes};
use crate::prices::{Prices, WidthPrices};
use crate::slot_file::SlotSet;

/// A block with fewer operations than this gains nothing from a plan.
const OPERATIONS_MIN: u32 = 2;
/// A block with fewer gains nothing from a chain.
const CHAIN_OPERATIONS_MIN: u32 = 8;
/// A block is cut behind this many operations, which bounds what planning costs at once.
const OPERATIONS_MAX: u32 = 4096;
/// The joined blocks of a code have this many operations at most, which bounds what planning them costs in all.
const JOINED_OPERATIONS_MAX: u32 = 1 << 17;
/// Ways in which a block is joined, by words on the stack.
const JOINED_MAX: usize = 6;

/// When blocks of field instructions run as plans of the batch engine. Halts, gas, memory and output are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Batching {
    /// Never: every instruction by itself.
    Off,
    /// Where it is faster: as plans on machines with AVX-512 IFMA, else as chains, once a block has been entered a few times.
    Warm,
    /// As plans from the first entry, whatever it costs and on any machine. For tests.
    Always,
    /// As chains from the first entry. For tests.
    Chains,
}

/// Whether the engine finds blocks in code of a revision: values have to lie where every instruction names them in the code.
pub fn has_blocks(revision: Revision) -> bool {
    revision.slot_rules().is_some() || MemoryBlocks::are_found(revision)
}

impl Batching {
    /// Whether blocks have plans on this machine.
    pub(crate) fn has_plans(self) -> bool {
        match self {
            Self::Off | Self::Chains => false,
            Self::Warm => Kernel::best() != Kernel::Scalar,
            Self::Always => true,
        }
    }

    /// Whether blocks have chains.
    pub(crate) fn has_chains(self) -> bool {
        matches!(self, Self::Warm | Self::Chains)
    }

    /// Whether blocks run from their first entry on.
    pub(crate) fn is_eager(self) -> bool {
        matches!(self, Self::Always | Self::Chains)
    }

    /// The fewest operations of a block.
    pub(crate) fn operations_min(self) -> u32 {
        match self {
            _ if self.is_eager() => 1,
            _ if self.has_plans() => OPERATIONS_MIN,
            _ => CHAIN_OPERATIONS_MIN,
        }
    }

    /// The fewest operations of a chain.
    pub(crate) fn chain_operations_min(self) -> u32 {
        if self.is_eager() { 1 } else { CHAIN_OPERATIONS_MIN }
    }
}

/// The blocks of one code.
#[derive(Debug)]
pub(crate) struct Blocks {
    batching: Batching,
    /// Index into `blocks` by the offset of a block's first opcode.
    starts: BlockStarts,
    blocks: Vec<CodeBlock>,
    patience: Patience,
    /// Operations of all joined blocks so far.
    joined_operations: AtomicU32,
}

/// One block: a run of field instructions, or several joined by control flow that the code decides.
#[derive(Debug)]
pub(crate) struct CodeBlock {
    /// Offset of its first opcode.
    start: usize,
    /// Where it leads.
    pub path: Path,
    work: Work,
    /// Where lanes go in turn, instructions with several of them: operation, lanes, how many.
    several: Vec<(Arithmetic, u8, u32)>,
    /// The highest slot it names.
    pub last_slot: usize,
    plan: PlanCell<SlotSet>,
    /// None if it has no chain, or is too short for one.
    chain: OnceLock<Option<Chain>>,
    joined: Joined,
}

/// A block with what follows it, each time that it has been entered a few times with a stack from which none so far begins; none if
/// nothing follows it.
#[derive(Debug, Default)]
struct Joined {
    entries: AtomicU32,
    blocks: [OnceLock<Option<Box<CodeBlock>>>; JOINED_MAX],
}

/// A code for its blocks: as it stands, and where jumps may lead.
#[derive(Clone, Copy)]
pub(crate) struct Code<'a> {
    pub bytes: &'a [u8],
    pub revision: Revision,
    pub targets: Option<&'a JumpTable>,
    /// The stack where the block begins.
    pub stack: &'a [U256],
}

impl Blocks {
    /// The blocks of `code` that are worth running at once, or none if the revision has none.
    pub fn find(code: &[u8], revision: Revision, batching: Batching) -> Option<Self> {
        if batching == Batching::Off || revision.slot_rules().is_none() {
            return None;
        }
        let operations_min = batching.operations_min();
        let mut starts = BlockStarts::new(code.len());
        let mut blocks = Vec::new();
        let mut pc = 0;
        while pc < code.len() {
            match CodeBlock::at(Code { bytes: code, revision, targets: None, stack: &[] }, pc) {
                Some(block) => {
                    pc = block.path.end;
                    if block.work.operation_count() >= operations_min {
                        starts.push(block.start, block.work.entries_before_plan(batching));
                        blocks.push(block);
                    }
                }
                None => pc += revision.instruction_bytes(code[pc]),
            }
        }
        (!blocks.is_empty()).then_some(Self {
            batching,
            starts,
            blocks,
            patience: Patience::default(),
            joined_operations: AtomicU32::new(0),
        })
    }

    /// Bytes it takes, plans left aside.
    pub fn bytes(&self) -> usize {
        self.starts.bytes() + size_of_val(&*self.blocks)
    }

    /// What has become of them: of each, and of what it was joined to.
    pub fn explain(&self) -> impl Iterator<Item = BlockExplained> + '_ {
        self.blocks.iter().flat_map(|block| std::iter::once(block).chain(block.joined.found())).map(|block| {
            let plan = block.plan.made().map(Plan::explain);
            let steps = block.chain.get().and_then(Option::as_ref).map(|chain| chain.steps.len());
            BlockExplained::new(block.start..block.path.end, block.path.runs, &block.work, plan, steps)
        })
    }

    /// The block that begins at `pc`.
    #[inline(always)]
    pub fn get(&self, pc: usize) -> Option<&CodeBlock> {
        self.blocks.get(self.starts.get(pc)?)
    }

    /// As [`BlockStarts::is_due`].
    #[inline(always)]
    pub fn is_due(&self, pc: usize, plans_run: bool, is_beside_rows: impl FnOnce() -> bool) -> bool {
        self.starts.is_due(pc, plans_run, is_beside_rows)
    }

    /// Notes that nothing begins where this block does that would run at once, if that is known.
    pub fn note_if_plain(&self, block: &CodeBlock) {
        if block.is_plain(self) {
            self.starts.note_plain(block.start);
        }
    }
}

impl Joined {
    /// The joined blocks that have been found.
    fn found(&self) -> impl Iterator<Item = &CodeBlock> {
        self.blocks.iter().filter_map(|block| block.get()?.as_deref())
    }
}

impl CodeBlock {
    /// The block that begins at `pc`, if an arithmetic instruction stands there; as far as the code decides, if it has jump targets.
    fn at(code: Code<'_>, pc: usize) -> Option<Self> {
        let (mut work, mut last_slot, mut several) = (Work::default(), 0, Vec::new());
        let path = code.path(pc, |instruction| {
            let FieldInstruction::Slots { operation, out, x, y, count } = instruction else { return };
            if count > 1 && lanes_in_turn(code.revision) {
                match several.iter_mut().find(|(kind, lanes, _)| (*kind, *lanes) == (operation, count)) {
                    Some((_, _, instructions)) => *instructions += 1,
                    None => several.push((operation, count, 1)),
                }
            }
            work.instructions[operation as usize] += 1;
            work.operations[operation as usize] += u32::from(count);
            last_slot = last_slot.max(out.last(count)).max(x.last(count)).max(y.last(count));
        });
        work.has_chain = work.operation_count() >= CHAIN_OPERATIONS_MIN;
        let (plan, chain, joined) = (PlanCell::default(), OnceLock::new(), Joined::default());
        // u32 to usize widens.
        let block = Self { start: pc, path, work, several, last_slot: last_slot as usize, plan, chain, joined };
        (block.work.operation_count() > 0).then_some(block)
    }

    /// The block joined to what follows it from this stack on, once it is entered often enough and if anything does; none where there
    /// are no jump targets to pass.
    fn joined(&self, blocks: &Blocks, code: Code<'_>) -> Option<&Self> {
        code.targets?;
        for place in &self.joined.blocks {
            match place.get() {
                Some(Some(block)) if !block.path.begins_with(code.stack) => continue,
                Some(found) => return found.as_deref(),
                None => {}
            }
            let is_warm = || self.joined.entries.fetch_add(1, Ordering::Relaxed) + 1 >= ENTRIES_BEFORE_PLAN;
            if !blocks.batching.is_eager() && !is_warm() {
                return None;
            }
            self.joined.entries.store(0, Ordering::Relaxed);
            // Another thread may have been faster, with another stack.
            let found = place.get_or_init(|| self.join(blocks, code)).as_deref();
            return found.filter(|block| block.path.begins_with(code.stack));
        }
        None
    }

    fn join(&self, blocks: &Blocks, code: Code<'_>) -> Option<Box<Self>> {
        if blocks.joined_operations.load(Ordering::Relaxed) > JOINED_OPERATIONS_MAX {
            return None;
        }
        let block = Self::at(code, self.start).filter(|block| block.path.runs > 1)?;
        blocks.joined_operations.fetch_add(block.work.operation_count(), Ordering::Relaxed);
        Some(Box::new(block))
    }

    /// What all its instructions cost together.
    #[inline]
    pub fn cost(&self, prices: &Prices, width: &WidthPrices, opcodes: [u8; 3]) -> u64 {
        let of = |kind: usize| {
            let base = prices.base[usize::from(opcodes[kind])] * u64::from(self.work.instructions[kind]);
            base + width.times(width.lane[kind], 1) * u64::from(self.work.operations[kind])
        };
        // Fractions are rounded for each instruction, of one lane unless lanes go in turn.
        let rounded = self.several.iter().map(|&(operation, lanes, instructions)| {
            let lane = width.lane[operation as usize];
            (width.times(lane, 1) * u64::from(lanes) - width.times(lane, lanes.into())) * u64::from(instructions)
        });
        of(0) + of(1) + of(2) - rounded.sum::<u64>() + self.path.cost(&prices.base)
    }

    /// Whether it is known that neither it nor what it is joined to has a plan that pays or a chain.
    #[inline]
    fn is_plain(&self, blocks: &Blocks) -> bool {
        let has_plans = blocks.batching.has_plans();
        let is_plain =
            |block: &Self| (!has_plans || block.plan.is_plain()) && block.chain.get().is_some_and(Option::is_none);
        is_plain(self) && self.joined.blocks[0].get().is_some() && self.joined.found().all(is_plain)
    }

    /// The blocks that may run where this one begins, the longest first.
    pub fn choices(&self, blocks: &Blocks, code: Code<'_>) -> [Option<&Self>; 2] {
        [self.joined(blocks, code), Some(self)]
    }

    /// Its plan for a number of slots and a shape, if it has one and that pays.
    pub fn plan(
        &self,
        blocks: &Blocks,
        code: Code<'_>,
        slot_count: usize,
        shape: Option<Shape>,
    ) -> Option<&RowPlan<SlotSet>> {
        if !blocks.batching.has_plans() {
            return None;
        }
        let slot_block = |slot_count| self.slot_block(code, slot_count);
        self.plan.get(blocks.batching, &blocks.patience, slot_count, shape, &self.work, slot_block)
    }

    /// Its chain, if it has one and that pays.
    pub fn chain(&self, blocks: &Blocks, code: Code<'_>) -> Option<&Chain> {
        let batching = blocks.batching;
        if self.chain.get().is_none() && plan_bytes() > PLAN_BYTES_MAX {
            return None;
        }
        let made = || {
            let is_worth_it = batching.has_chains() && self.work.operation_count() >= batching.chain_operations_min();
            let chain = if is_worth_it { self.new_chain(code) } else { None };
            if chain.is_some() {
                blocks.starts.note_chained(self.start);
            }
            chain
        };
        self.chain.get_or_init(made).as_ref()
    }

    fn slot_block(&self, code: Code<'_>, slot_count: u16) -> Option<SlotBlock> {
        let mut block = SlotBlock::new(slot_count);
        let mut is_whole = true;
        self.each_instruction(code, |operation, lanes| {
            let kind = kind_of(operation);
            is_whole &= match lanes_in_turn(code.revision) {
                true => lanes.iter().all(|&lane| block.push_lanes(kind, [lane]).is_ok()),
                false => block.push_lanes(kind, lanes.iter().copied()).is_ok(),
            };
        })?;
        is_whole.then_some(block)
    }

    fn new_chain(&self, code: Code<'_>) -> Option<Chain> {
        let mut draft = Draft::default();
        self.each_instruction(code, |operation, lanes| draft.push(operation, lanes, lanes_in_turn(code.revision)))?;
        draft.into_chain()
    }

    /// Shows every instruction with the slots of its lanes: out, x and y. None if one of them names no slot.
    fn each_instruction(&self, code: Code<'_>, mut visit: impl FnMut(Arithmetic, &[(u16, u16, u16)])) -> Option<()> {
        let code = Code { targets: code.targets.filter(|_| self.path.runs > 1), ..code };
        let (mut lanes, mut is_whole) = (Vec::new(), true);
        code.path(self.start, |instruction| {
            let FieldInstruction::Slots { operation, out, x, y, count } = instruction else { return };
            let lane = |lane| Some((u16::from(out.slot(lane)?), u16::from(x.slot(lane)?), u16::from(y.slot(lane)?)));
            lanes.clear();
            lanes.extend((0..count).filter_map(lane));
            is_whole &= lanes.len() == usize::from(count);
            visit(operation, &lanes);
        });
        is_whole.then_some(())
    }
}

impl Code<'_> {
    /// The path from `start` on.
    fn path(self, start: usize, visit: impl FnMut(FieldInstruction)) -> Path {
        let Self { bytes, revision, targets, stack } = self;
        Walk { code: bytes, revision, targets, stack, operations_max: OPERATIONS_MAX }.path(start, visit)
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
