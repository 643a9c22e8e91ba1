//! Blocks: straight runs of arithmetic field instructions, found once in a code, and their plans.
//!
//! A block is entered at its first instruction only, since every other entry would be a jump target, and a jump target is
//! an instruction of its own. What a block costs depends on prices and on the width of the modulus, so it keeps counts and
//! is priced at its entry.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use residue_isa::revision::eip6690_2024;
use residue_isa::{Arithmetic, Family, FieldInstruction, Revision};
use residue_lanes::{Kernel, OpKind, Plan, Policy, Shape, SlotBlock};

use crate::prices::{Prices, WidthPrices};

/// A block with fewer products than this gains nothing from a plan.
const PRODUCTS_MIN: u32 = 4;
/// A block is cut behind this many operations, which bounds what planning costs at once.
const OPERATIONS_MAX: u32 = 4096;
/// A block is planned when it is entered for this time. Planning takes as long as about five executions and is not paid in
/// gas, so by then the block has paid as much again.
const ENTRIES_BEFORE_PLAN: u32 = 6;
/// Bytes of all plans kept at once in the process: 64 MiB. Blocks that come later run plain until others go.
const PLAN_BYTES_MAX: usize = 64 << 20;
/// Cycles of one product and one sum by the scalar kernels, and of the dispatch of one instruction.
const SCALAR_CYCLES: [u64; 3] = [16, 16, 116];
const DISPATCH_CYCLES: u64 = 12;
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
    /// Instructions of each kind, in the order of [`Arithmetic::ALL`].
    instructions: [u32; 3],
    /// Operations of each kind: lanes of the instructions.
    operations: [u32; 3],
    /// The highest slot it names.
    pub last_slot: usize,
    entries: AtomicU32,
    plan: OnceLock<Planned>,
}

/// Bytes of all plans that exist.
static PLAN_BYTES: AtomicUsize = AtomicUsize::new(0);

/// A plan, counted as long as it lives.
#[derive(Debug)]
struct Counted(Plan);

impl Counted {
    /// The plan, if there is room for it.
    fn new(plan: Plan) -> Option<Self> {
        let bytes = plan.explain().table_bytes;
        let before = PLAN_BYTES.fetch_add(bytes, Ordering::Relaxed);
        // Counted first, so that dropping it takes away what was added.
        let counted = Self(plan);
        (before + bytes <= PLAN_BYTES_MAX).then_some(counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        PLAN_BYTES.fetch_sub(self.0.explain().table_bytes, Ordering::Relaxed);
    }
}

/// The plan of a block, for the first number of slots and shape that it was entered with.
#[derive(Debug)]
struct Planned {
    slot_count: u16,
    shape: Shape,
    /// None if the scalar kernels are faster, or there was no room.
    plan: Option<Counted>,
}

impl Blocks {
    /// The blocks of `code` that are worth planning, or none if the revision or the machine has no use for plans.
    pub fn find(code: &[u8], revision: Revision, batching: Batching) -> Option<Self> {
        let is_useful = match batching {
            Batching::Off => false,
            Batching::Warm => Kernel::best() != Kernel::Scalar,
            Batching::Always => true,
        };
        if !is_useful || revision.family() != Family::Slots {
            return None;
        }
        let products_min = if batching == Batching::Always { 0 } else { PRODUCTS_MIN };
        let mut at = vec![NONE; code.len()].into_boxed_slice();
        let mut blocks = Vec::new();
        let mut pc = 0;
        while pc < code.len() {
            match CodeBlock::at(code, pc, revision) {
                Some(block) => {
                    pc = block.end;
                    if block.operations[Arithmetic::Mul as usize] >= products_min {
                        at[block.start] = u32::try_from(blocks.len()).expect("a code has fewer than 2³² blocks");
                        blocks.push(block);
                    }
                }
                None => pc += revision.instruction_bytes(code[pc]),
            }
        }
        (!blocks.is_empty()).then_some(Self { batching, at, blocks })
    }

    /// When to plan.
    pub fn batching(&self) -> Batching {
        self.batching
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
    (count > 0 && out.stride > 0 && last < eip6690_2024::SLOTS_MAX as u32).then_some((instruction, length))
}

impl CodeBlock {
    /// The block that begins at `pc`, if an arithmetic instruction stands there.
    fn at(code: &[u8], pc: usize, revision: Revision) -> Option<Self> {
        let mut block = Self {
            start: pc,
            end: pc,
            instructions: [0; 3],
            operations: [0; 3],
            last_slot: 0,
            entries: AtomicU32::new(0),
            plan: OnceLock::new(),
        };
        while block.operations.iter().sum::<u32>() < OPERATIONS_MAX
            && let Some((instruction, length)) = arithmetic_at(code, block.end, revision)
        {
            let FieldInstruction::Slots { operation, out, x, y, count } = instruction else { break };
            block.instructions[operation as usize] += 1;
            block.operations[operation as usize] += u32::from(count);
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
            let base = prices.base[usize::from(opcodes[kind])] * u64::from(self.instructions[kind]);
            base + width.lane[kind] * u64::from(self.operations[kind])
        };
        of(0) + of(1) + of(2)
    }

    /// Its plan for a number of slots and a shape, if it has one and that pays.
    pub fn plan(
        &self,
        batching: Batching,
        code: &[u8],
        revision: Revision,
        slot_count: usize,
        shape: Option<Shape>,
    ) -> Option<&Plan> {
        let planned = match self.plan.get() {
            Some(planned) => planned,
            None => {
                let is_warm = || self.entries.fetch_add(1, Ordering::Relaxed) + 1 >= ENTRIES_BEFORE_PLAN;
                if batching != Batching::Always && !is_warm() {
                    return None;
                }
                let (shape, slot_count) = (shape?, u16::try_from(slot_count).ok()?);
                self.plan.get_or_init(|| {
                    let plan = self.make_plan(code, revision, slot_count, shape);
                    let pays = |plan: &Plan| plan.predicted_cycles() < self.scalar_cycles();
                    let plan = plan.filter(|plan| batching == Batching::Always || pays(plan)).and_then(Counted::new);
                    Planned { slot_count, shape, plan }
                })
            }
        };
        let fits = usize::from(planned.slot_count) == slot_count && Some(planned.shape) == shape;
        planned.plan.as_ref().filter(|_| fits).map(|counted| &counted.0)
    }

    fn make_plan(&self, code: &[u8], revision: Revision, slot_count: u16, shape: Shape) -> Option<Plan> {
        let mut block = SlotBlock::new(slot_count);
        let mut pc = self.start;
        while pc < self.end {
            let (instruction, length) = arithmetic_at(code, pc, revision)?;
            let FieldInstruction::Slots { operation, out, x, y, count } = instruction else { return None };
            let kind = match operation {
                Arithmetic::Add => OpKind::Add,
                Arithmetic::Sub => OpKind::Sub,
                Arithmetic::Mul => OpKind::Mul,
            };
            let lanes: Option<Vec<_>> = (0..count)
                .map(|lane| Some((u16::from(out.slot(lane)?), u16::from(x.slot(lane)?), u16::from(y.slot(lane)?))))
                .collect();
            block.push_lanes(kind, lanes?).ok()?;
            pc += length;
        }
        Plan::new(&block, shape, &Policy::default()).ok()
    }

    /// What the plain engine takes, about.
    fn scalar_cycles(&self) -> u64 {
        let operations: u64 = (0..3).map(|kind| SCALAR_CYCLES[kind] * u64::from(self.operations[kind])).sum();
        operations + DISPATCH_CYCLES * self.instructions.iter().copied().map(u64::from).sum::<u64>()
    }
}
