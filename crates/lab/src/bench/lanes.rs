//! The group `lanes`: plans by themselves, without an engine: time of a product, a sum and a difference among
//! independent ones, of a product that waits for the one before, of a product in Fp12; planning and its memory; and the
//! effect of the work on the clock.
//!
//! Blocks run on rows that stay where they are, so entering and leaving row form is not in these times. Layers are `lanes:` with the
//! kernel, and `modular`: the same operations one by one on slots in limbs, which is who plans are compared with.

use std::hint::black_box;

use residue_ir::{Block, Operand};
use residue_lanes::{FieldOp, Kernel, ModulusRows, Op, Plan, Policy, Rows, Shape, SlotBlock};
use residue_modular::{FieldContext, Limb, Strided};
use residue_workbench::harness::{Subject, interleave, time_ns};
use residue_workbench::statistics::{per_thing, ratios};

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::group::{Group, none_missing};
use crate::bench::instructions::Operands;
use crate::bench::operations::fp12_mul;
use crate::error::LabError;
use crate::record::clock;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};

/// `lanes`.
pub const GROUP: Group = Group {
    name: "lanes",
    summary: "plans without an engine: time of an operation in a batch, planning, memory, the clock",
    columns: &[
        Column::nanoseconds("latency ns", Quantity::Latency),
        Column::ratio("/ modular", Quantity::Latency, &["modular"]),
        Column::nanoseconds("throughput ns", Quantity::Throughput),
        Column::ratio("/ modular", Quantity::Throughput, &["modular"]),
        Column::nanoseconds("time ns", Quantity::Time),
        Column::ratio("/ modular", Quantity::Time, &["modular"]),
        Column::nanoseconds("planning ns an operation", Quantity::Planning),
        Column::one_decimal("plan bytes an operation", Quantity::PlanMemory),
        Column::two_decimals("clock, of that beside scalar work", Quantity::Clock),
    ],
    missing: none_missing,
    measure,
};

/// Slots that independent operations read.
const READ: u16 = 32;
/// Independent products in a block, and sums.
const PRODUCTS: u16 = 800;
const SUMS: u16 = 2000;
/// Products that each wait for the one before.
const DEPENDENT: usize = 100;
/// Links of the chain that tells the clock between two runs of a plan: a few microseconds.
const LINKS: u32 = 10_000;
/// Runs of a plan in a round of measuring the clock.
const CLOCK_RUNS: usize = 20;

/// A block, and what its time is called.
struct Case {
    operation: &'static str,
    quantity: Quantity,
    /// Divisor of the time: number of operations.
    operations: usize,
    block: SlotBlock,
}

/// Executor of blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Executor {
    /// Operation by operation on limbs.
    Limbs,
    /// A plan on rows.
    Rows(Kernel),
}

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).map(Executor::Rows);
    let executors: Vec<Executor> = [Executor::Limbs].into_iter().chain(kernels).collect();
    let executors: Vec<Executor> =
        executors.into_iter().filter(|executor| effort.subjects.include(executor.layer())).collect();
    let mut rows = Vec::new();
    for operands in [Operands::bn254_fp(), Operands::bls12_381_fp(), Operands::full(8), Operands::bw6_761_fp()] {
        let width_bits = operands.m().bits();
        for case in &cases() {
            let step = format!("{} over {width_bits} bits", case.operation);
            let mut done = 0;
            let mut told = || {
                done += 1;
                observer(Progress { step: &step, done, total: effort.rounds });
            };
            rows.extend(case.measure(&operands, &executors, effort, &mut told)?);
        }
        if executors.contains(&Executor::Rows(Kernel::Scalar)) {
            rows.extend(clock_rows(&operands, &executors, effort));
        }
    }
    Ok(rows)
}

impl Executor {
    /// The layer of its measurements.
    fn layer(self) -> &'static str {
        match self {
            Self::Limbs => "modular",
            Self::Rows(Kernel::Scalar) => "lanes:scalar",
            Self::Rows(Kernel::Ifma) => "lanes:ifma",
            Self::Rows(Kernel::IfmaQuads) => "lanes:ifma-quads",
        }
    }

    /// A subject that runs a block so many times and reads what it leaves.
    fn subject(self, case: &Case, operands: &Operands, turns: usize, expected: &[u8]) -> Subject<'static> {
        let name = format!("{}/{} {turns}/{}", self.layer(), case.operation, operands.m().bits());
        let (constants, plan, rows) = case.planned(operands);
        match self {
            Self::Limbs => {
                let (context, block) = (case.context(operands), case.block.clone());
                Subject::new(name, expected, move || {
                    let mut context = context.clone();
                    (0..turns).for_each(|_| one_by_one(&block, &mut context));
                    kept(&plan, &context)
                })
            }
            Self::Rows(kernel) => Subject::new(name, expected, move || {
                let mut rows = rows.clone();
                (0..turns).for_each(|_| plan.run_with(kernel, &constants, &mut rows));
                let mut values = vec![0; plan.outputs().len() * constants.width_limbs()];
                rows.mont(&constants, plan.outputs(), &mut values);
                bytes(&values)
            }),
        }
    }
}

impl Case {
    /// Rows about this block over one modulus.
    fn measure(
        &self,
        operands: &Operands,
        executors: &[Executor],
        effort: &Effort,
        told: &mut impl FnMut(),
    ) -> Result<Vec<RecordRow>, LabError> {
        let (constants, plan, _) = self.planned(operands);
        let expected = |turns: usize| {
            let mut context = self.context(operands);
            (0..turns).for_each(|_| one_by_one(&self.block, &mut context));
            kept(&plan, &context)
        };
        let turns = effort.turns.div_ceil(TURNS_A_TURN);
        // Both leave the same places written, so that what is subtracted is all but the further turns.
        let sides = [turns + 1, 1].map(|turns| (turns, expected(turns)));
        let subjects = executors.iter().flat_map(|executor| {
            sides.iter().map(|(turns, expected)| executor.subject(self, operands, *turns, expected))
        });
        let samples = interleave(&mut subjects.collect::<Vec<_>>(), effort.rounds, told)?;
        // Numbers of operations are far below 2⁵³.
        let count = (turns * self.operations) as f64;
        let times = samples.chunks(sides.len()).map(|both| per_thing(&both[0].times_ns, &both[1].times_ns, count));
        let times: Vec<Vec<f64>> = times.collect();
        let name_in = |layer: &str| format!("{layer}/{}/{}", self.operation, operands.m().bits());
        let mut rows = Vec::new();
        for (executor, own) in executors.iter().zip(&times) {
            let name = name_in(executor.layer());
            rows.push(RecordRow::new(&name, self.quantity, own));
            if *executor != Executor::Limbs
                && let Some(limbs) = executors.iter().position(|other| *other == Executor::Limbs)
            {
                rows.push(RecordRow::ratio(&name, self.quantity, own, (&name_in("modular"), &times[limbs])));
            }
        }
        // Planning is the same, whatever runs the plan.
        if effort.subjects.include("lanes") && self.quantity != Quantity::Latency {
            rows.extend(self.planning_rows(&name_in("lanes"), constants.shape(), &plan, effort));
        }
        Ok(rows)
    }

    /// Time of planning, and bytes of the plan, for an operation of the block.
    fn planning_rows(&self, name: &str, shape: Shape, plan: &Plan, effort: &Effort) -> [RecordRow; 2] {
        let count = self.block.ops().len() as f64; // At most thousands.
        let planning = (0..effort.rounds).map(|_| {
            let (plan, time_ns) = time_ns(|| Plan::new(black_box(&self.block), shape, &Policy::default()));
            drop(black_box(plan));
            time_ns / count
        });
        let planning: Vec<f64> = planning.collect();
        let bytes = plan.explain().table_bytes as f64 / count;
        [RecordRow::new(name, Quantity::Planning, &planning), RecordRow::exact(name, Quantity::PlanMemory, bytes)]
    }

    /// The slots before the block, in limbs.
    fn context(&self, operands: &Operands) -> FieldContext {
        let mut context = FieldContext::new(operands.modulus.clone(), usize::from(self.block.slot_count()));
        let count = operands.values.len().min(context.slot_count());
        context.store(0, &operands.to_be(&operands.values[..count])).expect("the values are below the modulus");
        context
    }

    /// The plan, and the slots before it in rows.
    fn planned(&self, operands: &Operands) -> (ModulusRows, Plan, Rows) {
        let constants = ModulusRows::new(&operands.modulus).expect("the widths here have rows");
        let plan = Plan::new(&self.block, constants.shape(), &Policy::default()).expect("the blocks here are small");
        let mut rows = Rows::new(constants.shape(), self.block.slot_count());
        let context = self.context(operands);
        let mut values = vec![0; context.slot_count() * context.element_bytes()];
        context.load(0, &mut values);
        rows.store(&constants, 0, &values).expect("the values are below the modulus");
        (constants, plan, rows)
    }
}

/// Turns of a loop of single instructions that take about as long as one of these blocks.
const TURNS_A_TURN: usize = 10;

/// Everything that is measured.
fn cases() -> Vec<Case> {
    let independent = |operation, kind, count: u16| {
        let mut block = SlotBlock::new(READ + count);
        for i in 0..count {
            let op = Op { kind, out: READ + i, x: i % READ, y: (i / READ + i) % READ };
            block.push(op).expect("slots were counted");
        }
        Case { operation, quantity: Quantity::Throughput, operations: count.into(), block }
    };
    let mut chain = SlotBlock::new(2);
    (0..DEPENDENT)
        .for_each(|_| chain.push(Op { kind: FieldOp::Mul, out: 0, x: 0, y: 1 }).expect("there are two slots"));
    vec![
        independent("mul", FieldOp::Mul, PRODUCTS),
        Case { operation: "mul", quantity: Quantity::Latency, operations: DEPENDENT, block: chain },
        independent("add", FieldOp::Add, SUMS),
        independent("sub", FieldOp::Sub, SUMS),
        Case { operation: "fp12-mul", quantity: Quantity::Time, operations: 1, block: fp12_block() },
    ]
}

/// The product in Fp12 as a block: that of the program which others are measured with.
fn fp12_block() -> SlotBlock {
    let program = fp12_mul();
    let empty = Block::default();
    let mut largest = &empty;
    for function in &program.functions {
        function.body.for_each_block(&mut |block| {
            if block.ops.len() > largest.ops.len() {
                largest = block;
            }
        });
    }
    slot_block(largest)
}

/// A block on slots: first what it reads from outside, then what it defines, of which only that is kept which it does not read.
fn slot_block(block: &Block) -> SlotBlock {
    let operands = || block.ops.iter().flat_map(|(_, op)| [op.x, op.y]);
    let defined = |operand: &Operand| block.ops.iter().any(|(value, _)| operand.value() == Some(*value));
    let mut places: Vec<Operand> = Vec::new();
    for operand in operands().filter(|operand| !defined(operand)) {
        if !places.contains(&operand) {
            places.push(operand);
        }
    }
    places.extend(block.ops.iter().map(|(value, _)| Operand::Value(*value)));
    let place = |operand: Operand| {
        let at = places.iter().position(|known| *known == operand).expect("every operand has a place");
        u16::try_from(at).expect("a product in Fp12 has a few hundred operations")
    };
    let mut slots = SlotBlock::new(u16::try_from(places.len()).expect("there are a few hundred places"));
    for (value, op) in &block.ops {
        let op = Op { kind: op.kind, out: place(Operand::Value(*value)), x: place(op.x), y: place(op.y) };
        slots.push(op).expect("slots were counted");
    }
    for operand in operands().filter(defined) {
        slots.mark_dead(place(operand)).expect("slots were counted");
    }
    slots
}

/// The operations of a block in a context, one by one.
fn one_by_one(block: &SlotBlock, context: &mut FieldContext) {
    for op in block.ops() {
        let [out, x, y] = [op.out, op.x, op.y].map(|slot| Strided::contiguous(slot.into()));
        match op.kind {
            FieldOp::Add => context.add(out, x, y, 1),
            FieldOp::Sub => context.sub(out, x, y, 1),
            FieldOp::Mul => context.mul(out, x, y, 1),
        }
    }
}

/// The slots that a plan leaves a value in, as they lie in limbs.
fn kept(plan: &Plan, context: &FieldContext) -> Vec<u8> {
    let slots = plan.outputs().iter();
    bytes(&slots.flat_map(|&slot| context.slot(slot.into())).copied().collect::<Vec<_>>())
}

fn bytes(limbs: &[Limb]) -> Vec<u8> {
    limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect()
}

/// The clock between runs of a plan by each kernel, relative to that between runs by the scalar one: by a chain of scalar
/// instructions, right after each run.
fn clock_rows(operands: &Operands, executors: &[Executor], effort: &Effort) -> Vec<RecordRow> {
    let case = &cases()[0];
    let (constants, plan, mut rows) = case.planned(operands);
    let kernels: Vec<Kernel> =
        Kernel::ALL.into_iter().filter(|kernel| executors.contains(&Executor::Rows(*kernel))).collect();
    let mut chains: Vec<Vec<f64>> = vec![Vec::new(); kernels.len()];
    for _ in 0..effort.rounds {
        for (kernel, times) in kernels.iter().zip(&mut chains) {
            let once = |_| {
                plan.run_with(*kernel, &constants, &mut rows);
                clock::chain_ns(LINKS)
            };
            times.push((0..CLOCK_RUNS).map(once).fold(f64::INFINITY, f64::min));
        }
    }
    let row = |(kernel, times): (&Kernel, &Vec<f64>)| {
        let name = format!("{}/clock/{}", Executor::Rows(*kernel).layer(), operands.m().bits());
        // A chain that takes longer has met a slower clock. The scalar kernel is the first of all.
        RecordRow::new(name, Quantity::Clock, &ratios(&chains[0], times))
    };
    kernels.iter().zip(&chains).filter(|(kernel, _)| **kernel != Kernel::Scalar).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_gives_the_answer_of_limbs_and_what_is_there_is_measured() {
        let rows = measure(&Effort::SMOKE, &mut |_| ()).unwrap();
        let find = |name: &str, quantity| rows.iter().find(|row| row.name == name && row.quantity == quantity);
        for width_bits in [254, 381, 512, 761] {
            for (operation, quantity) in [
                ("mul", Quantity::Throughput),
                ("mul", Quantity::Latency),
                ("add", Quantity::Throughput),
                ("sub", Quantity::Throughput),
                ("fp12-mul", Quantity::Time),
            ] {
                for kernel in Kernel::ALL {
                    let name = format!("{}/{operation}/{width_bits}", Executor::Rows(kernel).layer());
                    assert_eq!(find(&name, quantity).is_some(), kernel.is_available(), "{name}");
                }
            }
            let bytes = find(&format!("lanes/mul/{width_bits}"), Quantity::PlanMemory).unwrap().spread.median;
            assert!((1.0..1000.0).contains(&bytes), "{bytes}");
            assert!(find(&format!("lanes/fp12-mul/{width_bits}"), Quantity::Planning).is_some());
            let has_clock = find(&format!("lanes:ifma/clock/{width_bits}"), Quantity::Clock).is_some();
            assert_eq!(has_clock, Kernel::Ifma.is_available());
        }
    }

    #[test]
    fn the_product_in_fp12_has_its_operations_and_twelve_results() {
        let block = fp12_block();
        let products = block.ops().iter().filter(|op| op.kind == FieldOp::Mul).count();
        assert_eq!(products, 54);
        let constants = ModulusRows::new(&Operands::bls12_381_fp().modulus).unwrap();
        let plan = Plan::new(&block, constants.shape(), &Policy::default()).unwrap();
        assert_eq!((plan.inputs().len(), plan.outputs().len()), (24, 12));
    }
}
