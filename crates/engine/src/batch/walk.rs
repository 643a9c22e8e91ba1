//! Walks: from a field instruction on, over the control flow that is decided before the first instruction runs: jump
//! targets that are passed, and jumps to constants pushed on the way, so calls of functions with their returns, or to
//! words copied from the stack. If the revision has subroutines, calls of constants and the returns from these too;
//! earlier entries of the return stack stay there.
//!
//! Every decision that depends on a word of the stack is a guard, whether the walk went on after it or ended there: the path is that
//! of every execution that finds the same words, and of no other. A path ends after a field instruction. It does not go through one place twice
//! with the same words pushed, so a loop stays a loop.

use alloc::boxed::Box;
use alloc::vec::Vec;

use residue_isa::FieldOp;
use residue_isa::opcode::evm::{DUP1, DUP16, JUMP, JUMPDEST, PUSH1, PUSH3};
use residue_isa::opcode::subroutine::{CALLSUB, ENTERSUB, RETURNSUB};
use residue_isa::revision::rules::SLOTS_MAX;
use revm::bytecode::JumpTable;
use revm::primitives::U256;
use revm::primitives::map::HashSet;

use super::block::{Block, Draft};
use super::budget::Budget;
use super::location::{Instruction, Location};
use super::path::{Guard, Path, word_at};
use super::tuning::{
    DEPENDENT_PRODUCTS_MIN, PASSED_MAX, PRODUCTS_AT_ONCE_MIN, PUSHED_MAX, RETURNS_WALKED_MAX, RUNS_MAX, WALK_CYCLES,
    WALK_CYCLES_PER_OPERATION, WALK_CYCLES_PER_RUN,
};

/// A way through code.
pub(crate) struct Walk<'a, L: Location> {
    pub code: &'a [u8],
    pub layout: &'a L::Layout,
    /// Valid jump targets; `None` if the path must end before the first instruction that is not of the field.
    pub targets: Option<&'a JumpTable>,
    /// True if the revision has subroutines.
    pub has_subroutines: bool,
    /// The stack at its start, the top last.
    pub stack: &'a [U256],
    /// The path ends when it has this many operations: the first run after that one, others before they would exceed it, as no block
    /// begins in the middle of a run.
    pub operations_max: u32,
    /// The cycles that there are for it.
    pub cycles_max: i64,
}

/// Result of a walk, and its cycles.
#[derive(Debug)]
pub(crate) struct Walked<L: Location> {
    /// None if there is no field instruction, or it ran out of cycles.
    pub block: Option<Box<Block<L>>>,
    /// Runs and operations that were read, those included that the block ends before.
    pub cycles: i64,
    pub has_run_out: bool,
}

/// End of reading a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    Whole,
    /// The block ends before it.
    TooLong,
    /// The walk may take no longer.
    OutOfCycles,
}

/// Position and state of a walk.
#[derive(Debug, Clone, Copy)]
struct At {
    pc: usize,
    /// Words pushed and not taken yet.
    pushed: [u32; PUSHED_MAX],
    count: usize,
    height_max: usize,
    /// Offsets put on the return stack and not taken yet.
    returns: [u32; RETURNS_WALKED_MAX],
    return_count: usize,
    return_count_max: usize,
    /// Counts of passed opcodes, by [`passed_index`].
    passed: [u32; PASSED_OPCODES],
}

/// Opcodes that a walk passes: jumps and their targets, pushes of up to three bytes, copies, and those of subroutines.
const PASSED_OPCODES: usize = 24;

/// The number of an opcode that a walk passes.
fn passed_index(opcode: u8) -> usize {
    match opcode {
        JUMP => 0,
        JUMPDEST => 1,
        PUSH1..=PUSH3 => 2 + usize::from(opcode - PUSH1),
        CALLSUB => 21,
        ENTERSUB => 22,
        RETURNSUB => 23,
        _ => 5 + usize::from(opcode - DUP1),
    }
}

/// The opcode of a number.
fn passed_opcode(index: usize) -> u8 {
    let number = |from: usize| u8::try_from(index - from).expect("there are 24 of them");
    match index {
        0 => JUMP,
        1 => JUMPDEST,
        2..5 => PUSH1 + number(2),
        21 => CALLSUB,
        22 => ENTERSUB,
        23 => RETURNSUB,
        _ => DUP1 + number(5),
    }
}

impl At {
    fn begin(pc: usize) -> Self {
        Self {
            pc,
            pushed: [0; PUSHED_MAX],
            count: 0,
            height_max: 0,
            returns: [0; RETURNS_WALKED_MAX],
            return_count: 0,
            return_count_max: 0,
            passed: [0; PASSED_OPCODES],
        }
    }

    fn push(&mut self, word: u32) -> bool {
        let Some(place) = self.pushed.get_mut(self.count) else { return false };
        *place = word;
        self.count += 1;
        self.height_max = self.height_max.max(self.count);
        true
    }

    fn pop(&mut self) -> Option<u32> {
        self.count = self.count.checked_sub(1)?;
        Some(self.pushed[self.count])
    }

    fn call(&mut self, after: u32) -> bool {
        let Some(place) = self.returns.get_mut(self.return_count) else { return false };
        *place = after;
        self.return_count += 1;
        self.return_count_max = self.return_count_max.max(self.return_count);
        true
    }

    fn return_(&mut self) -> Option<u32> {
        self.return_count = self.return_count.checked_sub(1)?;
        Some(self.returns[self.return_count])
    }

    fn words(&self) -> &[u32] {
        &self.pushed[..self.count]
    }

    fn returns(&self) -> &[u32] {
        &self.returns[..self.return_count]
    }

    /// Digest of the pushed words and of the return stack. On a collision a path ends early.
    fn digest(&self) -> u64 {
        let mix =
            |digest: u64, &word: &u32| (digest ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let digest = self.words().iter().fold(self.count as u64, mix);
        self.returns().iter().fold(digest, mix)
    }
}

impl<L: Location> Walk<'_, L> {
    /// The block that begins with the field instruction at `start`; none if there is none. It ends before a run of dependent products,
    /// unless it begins with that. `inside` is told where each instruction but the first of a run stands.
    pub fn block(&self, start: usize, budget: &Budget, mut inside: impl FnMut(usize)) -> Walked<L> {
        let mut at = At::begin(start);
        let (mut draft, mut guards, mut run, mut runs) = (Draft::new(), Vec::new(), Vec::new(), 0);
        let (mut pushes, mut cycles) = (0, WALK_CYCLES);
        let mut seen: HashSet<(usize, u64)> = HashSet::default();
        loop {
            let before = at;
            let goes_on = match self.targets {
                _ if runs == 0 => true,
                Some(targets) => runs < RUNS_MAX && self.pass(&mut at, &mut guards, targets),
                None => false,
            };
            let mut is_new = || seen.insert((at.pc, at.digest()));
            let read = match goes_on && is_new() {
                true => self.run(&mut at, runs == 0, &draft, &mut run, &mut cycles),
                false => Read::TooLong,
            };
            if read == Read::OutOfCycles {
                return Walked { block: None, cycles, has_run_out: true };
            }
            if read == Read::TooLong || run.is_empty() || (runs > 0 && is_dependent(&run)) {
                // Guards stay: that the path ends here may depend on them.
                at = before;
                break;
            }
            for (number, &(pc, instruction)) in run.iter().enumerate() {
                L::admit(self.layout, &mut draft.needs, &instruction, self.code, pc);
                draft.push(self.layout, instruction);
                if number > 0 {
                    // The opcode comes last where its operands are pushed.
                    let has_push = L::push(self.layout).is_some();
                    inside(if has_push { pc + instruction.length - 1 } else { pc });
                    pushes += u32::from(has_push);
                }
            }
            runs += 1;
        }
        let passed = (0..PASSED_OPCODES).map(|index| (passed_opcode(index), at.passed[index]));
        let passed = passed.chain(L::push(self.layout).map(|push| (push, pushes))).filter(|(_, count)| *count > 0);
        let (pushed, passed) = (at.words().into(), passed.collect());
        let path = Path {
            end: at.pc,
            pushed,
            height_max: at.height_max,
            returns: at.returns().into(),
            return_count_max: at.return_count_max,
            runs,
            guards: guards.into(),
            passed,
        };
        let block = (runs > 0).then(|| draft.into_block(start, path, budget));
        Walked { block, cycles, has_run_out: false }
    }

    /// Reads the run of field instructions at the walk's position, and advances past it. `cycles` is the walk's total.
    fn run(
        &self,
        at: &mut At,
        is_first_run: bool,
        draft: &Draft<L>,
        run: &mut Vec<(usize, Instruction)>,
        cycles: &mut i64,
    ) -> Read {
        run.clear();
        *cycles += WALK_CYCLES_PER_RUN;
        let mut operations = draft.operation_count();
        let mut needs = draft.needs.clone();
        loop {
            let is_first = is_first_run && run.is_empty();
            let Some(instruction) = L::instruction(self.layout, self.code, at.pc, is_first) else { break };
            if is_first_run && operations + instruction.operation_count() > self.operations_max {
                break;
            }
            if !L::admit(self.layout, &mut needs, &instruction, self.code, at.pc) {
                break;
            }
            operations += instruction.operation_count();
            *cycles += WALK_CYCLES_PER_OPERATION * i64::from(instruction.operation_count());
            if *cycles > self.cycles_max {
                return Read::OutOfCycles;
            }
            if !is_first_run && operations > self.operations_max {
                return Read::TooLong;
            }
            run.push((at.pc, instruction));
            at.pc += instruction.length;
        }
        Read::Whole
    }

    /// Goes through the control flow after a run, as far as it is decided. False if that leads to no other instruction than before.
    fn pass(&self, at: &mut At, guards: &mut Vec<Guard>, targets: &JumpTable) -> bool {
        for _ in 0..PASSED_MAX {
            let opcode = self.code.get(at.pc).copied().unwrap_or_default();
            let is_decided = match opcode {
                JUMPDEST => {
                    at.pc += 1;
                    true
                }
                JUMP => {
                    let target = at.pop().map(|target| target as usize); // u32 to usize widens.
                    let is_valid =
                        |&target: &usize| targets.is_valid(target) && self.code.get(target) == Some(&JUMPDEST);
                    let Some(target) = target.filter(is_valid) else { return false };
                    at.pc = target;
                    true
                }
                CALLSUB if self.has_subroutines => {
                    let target = at.pop().map(|target| target as usize); // u32 to usize widens.
                    let is_valid =
                        |&target: &usize| targets.is_valid(target) && self.code.get(target) == Some(&ENTERSUB);
                    let Some(target) = target.filter(is_valid) else { return false };
                    let Ok(after) = u32::try_from(at.pc + 1) else { return false };
                    at.pc = target;
                    at.call(after)
                }
                ENTERSUB if self.has_subroutines => {
                    at.pc += 1;
                    true
                }
                RETURNSUB if self.has_subroutines => {
                    // Where a caller of before returns to is not looked at.
                    let Some(after) = at.return_() else { return false };
                    at.pc = after as usize; // u32 to usize widens.
                    true
                }
                PUSH1..=PUSH3 => {
                    let length = usize::from(opcode - PUSH1) + 1;
                    let Some(immediate) = self.code.get(at.pc + 1..at.pc + 1 + length) else { return false };
                    at.pc += 1 + length;
                    at.push(immediate.iter().fold(0, |word, &byte| word << 8 | u32::from(byte)))
                }
                DUP1..=DUP16 => {
                    let Some(word) = self.copy(at, guards, usize::from(opcode - DUP1)) else { return false };
                    at.pc += 1;
                    at.push(word)
                }
                _ => return true,
            };
            at.passed[passed_index(opcode)] += 1;
            if !is_decided {
                return false;
            }
        }
        false
    }

    /// The word at a depth, which the path has pushed itself or finds under that; then, found or not, it is a guard.
    fn copy(&self, at: &At, guards: &mut Vec<Guard>, depth: usize) -> Option<u32> {
        match depth.checked_sub(at.count) {
            None => Some(at.pushed[at.count - 1 - depth]),
            Some(depth) => {
                let guard = Guard { depth, word: word_at(self.stack, depth) };
                if !guards.contains(&guard) {
                    guards.push(guard);
                }
                guard.word
            }
        }
    }
}

/// Products of a product in Fp6.
const FP6_PRODUCTS: u32 = 36;

/// True if most products of a run depend on each other.
fn is_dependent(run: &[(usize, Instruction)]) -> bool {
    let products = run.iter().filter(|(_, instruction)| instruction.operation == FieldOp::Mul);
    let of = |instruction: &Instruction| match &instruction.sum {
        _ if instruction.fp6.is_some() => FP6_PRODUCTS,
        Some(sum) => sum.slots().len() as u32 * u32::from(instruction.count), // at most 6 each
        None => instruction.count.into(),
    };
    if products.map(|(_, instruction)| of(instruction)).sum::<u32>() < DEPENDENT_PRODUCTS_MIN {
        return false;
    }
    let mut depths = [0u32; SLOTS_MAX];
    let (mut products, mut depth_max) = (0, 0);
    for (_, instruction) in run {
        let is_product = instruction.operation == FieldOp::Mul;
        for sum in instruction.sums() {
            let slots = sum.slots().iter().flatten().copied();
            let depth = slots.map(|slot| depths[usize::from(slot)]).fold(0, u32::max) + 1;
            sum.outs().for_each(|out| depths[usize::from(out)] = depth);
            depth_max = depth_max.max(depth);
            products += sum.slots().len() as u32; // at most 6
        }
        if let Some(product) = &instruction.fp6 {
            let slots = product.x.iter().chain(&product.y);
            let depth = slots.map(|&slot| depths[usize::from(slot)]).fold(0, u32::max) + 1;
            product.out.iter().for_each(|&out| depths[usize::from(out)] = depth);
            depth_max = depth_max.max(depth);
            products += FP6_PRODUCTS;
            continue;
        }
        if instruction.sum.is_some() {
            continue;
        }
        for (out, x, y) in instruction.lanes() {
            let depth = depths[usize::from(x)].max(depths[usize::from(y)]) + u32::from(is_product);
            depths[usize::from(out)] = depth;
            depth_max = depth_max.max(depth);
            products += u32::from(is_product);
        }
    }
    products < PRODUCTS_AT_ONCE_MIN * depth_max
}

#[cfg(test)]
mod tests;
