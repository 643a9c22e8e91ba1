//! A block: a run of field instructions, or a superblock of several runs joined by control flow that is decided at its
//! entry. It is walked once. The operations with their price, end and guards are kept, and are the only source of its
//! plans and its trace.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use residue_isa::{FieldOp, Form, PerOp};
use residue_lanes::locks::OnceLock;
use residue_lanes::{Digest, Op, SlotBlock};

use super::AtomicI64;
use super::budget::{Budget, Counted};
use super::location::{Instruction, Location};
use super::path::Path;
use super::plan::Plans;
use super::work::Work;
use crate::prices::{Prices, WidthPrices};

/// A block.
#[derive(Debug)]
pub(crate) struct Block<L: Location> {
    /// Offset of its first opcode.
    pub start: usize,
    /// Path to its end.
    pub path: Path,
    pub work: Work,
    /// Instructions of several lanes: operation, lanes, how many.
    several: Box<[(FieldOp, u16, u32)]>,
    /// Squares, where those have a price of their own.
    squares: Priced,
    /// Instructions beside arithmetic.
    formed: Box<[FormedPriced]>,
    /// Conditions at its entry.
    pub needs: L::Needs,
    /// Its operations.
    pub operations: SlotBlock,
    /// Digest of its operations when it was priced.
    pub priced: Digest,
    pub plans: Plans<L::Set>,
    /// None if the scalar kernels have nothing to gain.
    pub trace: OnceLock<Option<Trace<L>>>,
    /// Cycles that gas charged at entries which found nothing to run has paid for.
    earned: AtomicI64,
    /// Entries until it is looked at again, where its place has something to run already.
    skipped: AtomicU32,
    /// Limbs of the values that it met last; 0 before it was looked at.
    pub width_limbs: AtomicU8,
    /// Entries of it since others of its place were last compared with it.
    pub entries: AtomicU32,
    _counted: Counted,
}

/// A scalar trace whose bytes are counted.
#[derive(Debug)]
pub(crate) struct Trace<L: Location> {
    pub steps: L::Trace,
    _counted: Counted,
}

/// Squares, priced by their lanes: pairs of a number of lanes and the number of instructions with it.
#[derive(Debug, Clone, Default)]
struct Priced {
    lanes: Vec<(u16, u32)>,
}

/// Instructions of a form with a number of lanes.
#[derive(Debug, Clone, Copy)]
struct FormedPriced {
    form: Form,
    opcode: u8,
    lanes: u16,
    instructions: u32,
}

impl Priced {
    fn note(&mut self, lanes: u16) {
        match self.lanes.iter_mut().find(|(of, _)| *of == lanes) {
            Some((_, instructions)) => *instructions += 1,
            None => self.lanes.push((lanes, 1)),
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.lanes)
    }
}

/// A block while it is walked.
#[derive(Debug)]
pub(crate) struct Draft<L: Location> {
    work: Work,
    several: Vec<(FieldOp, u16, u32)>,
    pub needs: L::Needs,
    operations: SlotBlock,
    priced: Digest,
    squares: Priced,
    formed: Vec<FormedPriced>,
}

impl<L: Location> Draft<L> {
    pub fn new() -> Self {
        Self {
            work: Work::default(),
            several: Vec::new(),
            needs: L::Needs::default(),
            operations: SlotBlock::new(u16::MAX - 1),
            priced: Digest::default(),
            squares: Priced::default(),
            formed: Vec::new(),
        }
    }

    /// Adds an instruction to the price and to the operations.
    pub fn push(&mut self, layout: &L::Layout, instruction: Instruction) {
        let Instruction { operation, count, .. } = instruction;
        if let Some(form) = instruction.form {
            self.note_form(form, L::opcode(layout, form).unwrap_or_default(), count);
        }
        if let Some(sum) = instruction.sum {
            match sum.second {
                None => self.work.sums[sum.slots().len() - 2] += 1,
                Some(_) => {
                    self.work.fp2_instructions += 1;
                    self.work.fp2_lanes += u32::from(count);
                }
            }
            for sum in instruction.sums() {
                sum.operations().for_each(|Op { kind, out, x, y }| self.priced.push(kind, [(out, x, y)]));
                self.operations.push_sum(sum).expect("slots are below 256");
            }
            return;
        }
        if let Some(product) = instruction.fp6 {
            let operations = product.operations();
            self.work.fp6_instructions += 1;
            self.work.fp6_operations += operations.len() as u32; // Some dozens.
            operations.into_iter().for_each(|Op { kind, out, x, y }| self.priced.push(kind, [(out, x, y)]));
            self.operations.push_fp6(product).expect("slots are below 256");
            return;
        }
        if instruction.form == Some(Form::Copy) {
            return self.push_copies(instruction);
        }
        self.work.instructions[operation] += 1;
        self.work.operations[operation] += u32::from(count);
        if L::prices_squares(layout) && operation == FieldOp::Mul && instruction.x == instruction.y {
            self.squares.note(count);
        }
        if count > 1 {
            match self.several.iter_mut().find(|(of, lanes, _)| (*of, *lanes) == (operation, count)) {
                Some((_, _, instructions)) => *instructions += 1,
                None => self.several.push((operation, count, 1)),
            }
        }
        let pushed = match L::lanes_in_turn(layout) || count == 1 {
            true => instruction.lanes().try_for_each(|lane| {
                self.priced.push(operation, [lane]);
                self.operations.push(Op { kind: operation, out: lane.0, x: lane.1, y: lane.2 })
            }),
            false => {
                self.priced.push(operation, instruction.lanes());
                self.operations.push_lanes(operation, instruction.lanes())
            }
        };
        pushed.expect("places are below 65,534");
    }

    /// Adds an instruction of a form to the price.
    fn note_form(&mut self, form: Form, opcode: u8, lanes: u16) {
        match self.formed.iter_mut().find(|of| (of.form, of.lanes) == (form, lanes)) {
            Some(of) => of.instructions += 1,
            None => self.formed.push(FormedPriced { form, opcode, lanes, instructions: 1 }),
        }
    }

    /// Adds copies to the operations.
    fn push_copies(&mut self, instruction: Instruction) {
        self.work.copy_instructions += 1;
        self.work.copy_lanes += u32::from(instruction.count);
        let lanes = instruction.lanes().map(|(out, x, _)| (out, x));
        for operations in SlotBlock::operations_of_copies(lanes.clone()) {
            if let Some(&Op { kind, .. }) = operations.first() {
                self.priced.push(kind, operations.iter().map(|op| (op.out, op.x, op.y)));
            }
        }
        self.operations.push_copies(lanes).expect("slots are below 256");
    }

    /// Number of operations so far.
    pub fn operation_count(&self) -> u32 {
        self.work.operation_count()
    }

    /// The block that it has become.
    pub fn into_block(self, start: usize, path: Path, budget: &Budget) -> Box<Block<L>> {
        let Self { work, several, needs, mut operations, priced, mut squares, formed } = self;
        squares.lanes.shrink_to_fit();
        operations.shrink();
        let (several, formed) = (several.into_boxed_slice(), formed.into_boxed_slice());
        let bytes = size_of::<Block<L>>()
            + path.bytes()
            + operations.bytes()
            + size_of_val(&*several)
            + squares.bytes()
            + size_of_val(&*formed);
        Box::new(Block {
            start,
            path,
            work,
            several,
            squares,
            formed,
            needs,
            operations,
            priced,
            plans: Plans::default(),
            trace: OnceLock::new(),
            earned: AtomicI64::new(0),
            skipped: AtomicU32::new(0),
            width_limbs: AtomicU8::new(0),
            entries: AtomicU32::new(0),
            _counted: budget.count(bytes),
        })
    }
}

impl<L: Location> Block<L> {
    /// Gas of all its instructions. If operands are pushed, those of the first instruction are already on the stack.
    #[inline]
    pub fn cost(&self, prices: &Prices, width: Option<&WidthPrices>, opcodes: PerOp<u8>) -> u64 {
        let base = |op| prices.base[usize::from(opcodes[op])] * u64::from(self.work.instructions[op]);
        let fixed = FieldOp::ALL.map(base).iter().sum::<u64>()
            + self.path.cost(&prices.base)
            + self.cost_of_formed(prices, width);
        let Some(width) = width else { return fixed };
        let lanes = |op| width.lanes(op, 1) * u64::from(self.work.operations[op]);
        if !width.in_thousandths && width.start == 0 {
            return self.with_squares(width, fixed + FieldOp::ALL.map(lanes).iter().sum::<u64>());
        }
        // Fractions are rounded for each instruction, whatever lanes it has.
        let rounded = self.several.iter().map(|&(operation, lanes, instructions)| {
            (width.lanes(operation, 1) * u64::from(lanes) - width.lanes(operation, lanes.into()))
                * u64::from(instructions)
        });
        self.with_squares(width, fixed + FieldOp::ALL.map(lanes).iter().sum::<u64>() - rounded.sum::<u64>())
    }

    /// Gas of the block with the price of squares, from its gas `gas` without.
    #[inline]
    fn with_squares(&self, width: &WidthPrices, gas: u64) -> u64 {
        self.squares.lanes.iter().fold(gas, |gas, &(lanes, instructions)| {
            let [as_product, as_square] = [width.lanes(FieldOp::Mul, lanes.into()), width.squares(lanes.into())];
            gas - as_product * u64::from(instructions) + as_square * u64::from(instructions)
        })
    }

    /// Gas of its instructions beside arithmetic, rounded up for each.
    #[inline]
    fn cost_of_formed(&self, prices: &Prices, width: Option<&WidthPrices>) -> u64 {
        let of = |of: &FormedPriced| {
            let lanes = width.map_or(0, |width| width.charge(of.form, of.lanes.into(), true));
            (prices.base[usize::from(of.opcode)] + lanes) * u64::from(of.instructions)
        };
        self.formed.iter().map(of).sum()
    }

    /// Its scalar trace, if it has one.
    #[inline]
    pub fn trace(&self) -> Option<&L::Trace> {
        Some(&self.trace.get()?.as_ref()?.steps)
    }

    /// Makes its scalar trace, which takes in all operations of the block or is none.
    pub fn make_trace(&self, layout: &L::Layout, is_wanted: bool, budget: &Budget) {
        self.trace.get_or_init(|| {
            let steps = L::trace(layout, &self.operations).filter(|_| is_wanted && self.is_as_priced())?;
            let (_, bytes) = L::trace_size(&steps, &self.operations);
            Some(Trace { steps, _counted: budget.count(bytes) })
        });
    }

    /// True if its operations are those that it was priced for.
    pub fn is_as_priced(&self) -> bool {
        self.operations.digest() == self.priced
    }

    /// Adds the cycles paid for by gas that was charged at entries without anything to run; returns the total.
    pub fn earn(&self, cycles: i64) -> i64 {
        self.earned.fetch_add(cycles, Ordering::Relaxed).saturating_add(cycles)
    }

    /// Skips checks for `entries` entries.
    pub fn skip(&self, entries: u32) {
        self.skipped.store(entries, Ordering::Relaxed);
    }

    /// True if it is time to check whether the block can grow; else the waiting count decreases by one.
    #[inline]
    pub fn is_due(&self) -> bool {
        let skipped = self.skipped.load(Ordering::Relaxed);
        if skipped > 0 {
            self.skipped.store(skipped - 1, Ordering::Relaxed);
        }
        skipped == 0
    }

    /// A copy of the block without plans and trace.
    pub fn afresh(&self, budget: &Budget) -> Self {
        let bytes = size_of::<Self>()
            + self.path.bytes()
            + self.operations.bytes()
            + size_of_val(&*self.several)
            + self.squares.bytes()
            + size_of_val(&*self.formed);
        Self {
            start: self.start,
            path: self.path.clone(),
            work: self.work,
            several: self.several.clone(),
            squares: self.squares.clone(),
            formed: self.formed.clone(),
            needs: self.needs.clone(),
            operations: self.operations.clone(),
            priced: self.priced,
            plans: Plans::default(),
            trace: OnceLock::new(),
            earned: AtomicI64::new(0),
            skipped: AtomicU32::new(0),
            width_limbs: AtomicU8::new(0),
            entries: AtomicU32::new(0),
            _counted: budget.count(bytes),
        }
    }
}

#[cfg(test)]
mod tests;
