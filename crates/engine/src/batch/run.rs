//! Entry of a block: the choice of what runs, the check of its gas, and its execution.
//!
//! A block runs as one only if none of its instructions can halt: gas covers all of them, their places exist, and the
//! stack and the return stack have room for all pushes on the way. So halts, gas, memory and output are those of the
//! instructions one by one.

use alloc::sync::Arc;

use residue_isa::opcode::subroutine::RETURNS_MAX;
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::Jumps;
use revm::interpreter::{Interpreter, STACK_LIMIT};
use revm::primitives::U256;

use super::block::Block;
use super::blocks::{Blocks, Choices, Entered, Entry};
use super::cache::AnyBlocks;
use super::location::Facts;
use super::runner::Runner;
use crate::machine::FieldMachine;

/// Gas that is noted in the frame before the code's credit gets it.
const EARNED_TOGETHER: u64 = 64;

/// Runs the block that begins with the instruction at `pc`, whose opcode has been read, if there is one and it may run. Then it is as if its
/// instructions had run one by one: none of them can halt.
#[inline(never)]
pub(crate) fn run_block<L: Runner>(
    machine: &mut FieldMachine,
    interpreter: &mut Interpreter<EthInterpreter>,
    pc: usize,
) -> bool {
    if L::of(&mut machine.frame).is_none() && !ask_for_blocks::<L>(machine) {
        return false;
    }
    // Taken out for as long as it is used, which is cheaper than another share.
    let Some(blocks) = L::of(&mut machine.frame).take() else { return false };
    let has_run = run_of(machine, interpreter, &blocks, pc);
    *L::of(&mut machine.frame) = Some(blocks);
    has_run
}

/// Finds the blocks of the running frame's code, or makes room for them if its field instructions have paid for that; false if they
/// have not yet, or it can have none.
#[cold]
fn ask_for_blocks<L: Runner>(machine: &mut FieldMachine) -> bool {
    machine.pay_in();
    machine.frame.ask_at = u64::MAX;
    let analysis = Arc::clone(&machine.analysis);
    let Some(met) = machine.frame.code.and_then(|code| machine.codes.get_mut(code)).filter(|met| !met.is_plain) else {
        return false;
    };
    if met.blocks.is_none() {
        met.blocks = analysis.blocks(&met.source, met.hash);
    }
    if met.blocks.is_none() {
        let (price, earned) = (Blocks::<L>::price(met.source.len()), machine.prices.rate.cycles(met.earned));
        let is_free = machine.plans_ahead || analysis.batching.is_eager();
        if !is_free && earned < price {
            machine.frame.ask_at = machine.prices.rate.gas(price - earned);
            return false;
        }
        let code = analysis.executed(&met.source, met.hash);
        let Some(blocks) = Blocks::<L>::new(code, analysis.revision, analysis.batching, &analysis.cache.budget) else {
            met.is_plain = true;
            return false;
        };
        blocks.credit.earn(if is_free { earned } else { earned - price });
        met.blocks = Some(analysis.cache.keep_blocks(analysis.blocks_key(met.hash), L::any(Arc::new(blocks))));
    }
    match met.blocks.clone() {
        Some(AnyBlocks::Slots(blocks)) => machine.frame.blocks = Some(blocks),
        Some(AnyBlocks::Memory(blocks)) => machine.frame.memory_blocks = Some(blocks),
        None => {}
    }
    L::of(&mut machine.frame).is_some()
}

fn run_of<L: Runner>(
    machine: &mut FieldMachine,
    interpreter: &mut Interpreter<EthInterpreter>,
    blocks: &Blocks<L>,
    pc: usize,
) -> bool {
    if machine.frame.earned >= EARNED_TOGETHER {
        blocks.credit.earn(machine.prices.rate.cycles(core::mem::take(&mut machine.frame.earned)));
    }
    let is_free = machine.plans_ahead || blocks.batching.is_eager();
    let Some(place) = blocks.place(pc, is_free) else { return false };
    // Probes note every jump target.
    let entry = Entry { stack: interpreter.stack.data(), joins: !machine.is_probed, is_free };
    let Some(choices) = blocks.choices(place, &entry) else { return false };
    let Some(facts) = L::enter(machine, interpreter, blocks, choices.run) else { return false };
    let costs = Costs::of(machine, interpreter, blocks, &choices, &facts);
    let Some((longest, cost)) = costs.paid().next() else {
        L::stay_out(machine, interpreter, blocks, choices.run);
        return false;
    };
    if run_plan(machine, interpreter, blocks, &costs, &facts) {
        return true;
    }
    if blocks.may_grow(place, longest) {
        let entered = Entered { pays: machine.prices.rate.cycles(cost), joins: !machine.is_probed, is_free };
        let has_grown =
            blocks.grow(place, longest, entered, &facts, || L::shape(machine, interpreter, blocks, longest, &facts));
        if has_grown && run_plan(machine, interpreter, blocks, &costs, &facts) {
            return true;
        }
    }
    for (block, cost) in costs.paid() {
        if let Some(trace) = block.trace() {
            L::run_trace(machine, interpreter, blocks, block, trace);
            leave(machine, interpreter, blocks, block, cost);
            return true;
        }
    }
    L::stay_out(machine, interpreter, blocks, choices.run);
    false
}

/// Runs the first plan among the blocks that are paid for.
#[inline(always)]
fn run_plan<L: Runner>(
    machine: &mut FieldMachine,
    interpreter: &mut Interpreter<EthInterpreter>,
    blocks: &Blocks<L>,
    costs: &Costs<'_, L>,
    facts: &Facts,
) -> bool {
    if !facts.plans_run {
        return false;
    }
    for (block, cost) in costs.paid() {
        if block.plans.found().next().is_none() {
            continue;
        }
        let shape = L::shape(machine, interpreter, blocks, block, facts);
        if let Some(plan) = blocks.plan(block, facts, shape)
            && L::run_plan(machine, interpreter, blocks, block, plan)
        {
            leave(machine, interpreter, blocks, block, cost);
            return true;
        }
    }
    false
}

/// Charges for a block that has run, and goes on after it.
#[inline(always)]
fn leave<L: Runner>(
    machine: &mut FieldMachine,
    interpreter: &mut Interpreter<EthInterpreter>,
    blocks: &Blocks<L>,
    block: &Block<L>,
    cost: u64,
) {
    assert!(interpreter.gas.record_regular_cost(cost), "the gas left covers the block");
    machine.frame.earned += cost;
    if L::push(&blocks.layout).is_some() {
        interpreter.stack.pop().expect("the operands of the first instruction are there");
    }
    for &word in block.path.pushed.iter() {
        assert!(interpreter.stack.push(U256::from(word)), "there is room for all that the block pushes");
    }
    machine.frame.returns.extend(block.path.returns.iter().map(|&after| after as usize)); // u32 to usize widens.
    // From after the first opcode, wherever that is, to after the block: both lie in the code.
    interpreter.bytecode.relative_jump(block.path.end as isize - interpreter.bytecode.pc() as isize);
}

/// The blocks of a place with their costs, if they may run.
struct Costs<'a, L: Runner> {
    of: [Option<(&'a Block<L>, u64)>; 2],
}

impl<'a, L: Runner> Costs<'a, L> {
    #[inline(always)]
    fn of(
        machine: &FieldMachine,
        interpreter: &Interpreter<EthInterpreter>,
        blocks: &Blocks<L>,
        choices: &Choices<'a, L>,
        facts: &Facts,
    ) -> Self {
        let (gas_left, height) = (interpreter.gas.remaining(), interpreter.stack.len());
        let cost = |block: &'a Block<L>| {
            let fits = L::fits(&block.needs, facts)
                && height + block.path.height_max <= STACK_LIMIT
                && machine.frame.returns.len() + block.path.return_count_max <= RETURNS_MAX;
            let cost = fits.then(|| block.cost(&machine.prices, facts.width.as_ref(), blocks.opcodes))?;
            (cost <= gas_left).then_some((block, cost))
        };
        Self { of: [choices.path.and_then(cost), cost(choices.run)] }
    }

    /// Those that may run and are paid for, the longest first.
    #[inline(always)]
    fn paid(&self) -> impl Iterator<Item = (&'a Block<L>, u64)> + use<'a, L> {
        self.of.into_iter().flatten()
    }
}
