//! Walks: from a field instruction on, over the control flow that is decided before the first instruction runs: jump targets that are
//! passed, and jumps to constants pushed on the way, so calls of functions with their returns, or to words copied from the stack.
//!
//! Every decision that depends on a word of the stack is a guard, whether the walk went on after it or ended there: the path is that
//! of every execution that finds the same words, and of no other. A path ends after a field instruction. It does not go through one place twice
//! with the same words pushed, so a loop stays a loop.

use std::collections::HashSet;

use residue_isa::Arithmetic;
use residue_isa::opcode::evm::{DUP1, DUP16, JUMP, JUMPDEST, PUSH1, PUSH3};
use residue_isa::revision::rules::SLOTS_MAX;
use revm::bytecode::JumpTable;
use revm::primitives::U256;

use super::block::{Block, Draft};
use super::budget::Budget;
use super::location::{Instruction, Location};
use super::tuning::{DEPENDENT_PRODUCTS_MIN, PASSED_MAX, PRODUCTS_AT_ONCE_MIN, PUSHED_MAX};

/// Where a path leads, and what it takes beside its field instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Path {
    /// Offset after its last instruction.
    pub end: usize,
    /// The words that it leaves on the stack, the first pushed first. It takes none that were there before, but for the operands of its
    /// first instruction.
    pub pushed: Vec<u32>,
    /// The most words that it has on the stack at a time.
    pub height_max: usize,
    /// Runs of field instructions.
    pub runs: usize,
    guards: Vec<Guard>,
    /// How many of which opcodes of the EVM's. All forks have them.
    passed: Vec<(u8, u32)>,
}

/// What the stack must hold at the start of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Guard {
    /// 0 is the top.
    depth: usize,
    /// The word; none if the stack is lower, or the word longer than any jump target.
    word: Option<u32>,
}

impl Path {
    /// What the instructions beside the field's cost, by the prices of opcodes.
    #[inline]
    pub fn cost(&self, base: &[u64; 256]) -> u64 {
        self.passed.iter().map(|&(opcode, count)| base[usize::from(opcode)] * u64::from(count)).sum()
    }

    /// Whether it is the path from this stack on.
    #[inline]
    pub fn begins_with(&self, stack: &[U256]) -> bool {
        self.guards.iter().all(|guard| word_at(stack, guard.depth) == guard.word)
    }

    /// Bytes that it has allocated.
    pub fn bytes(&self) -> usize {
        self.pushed.capacity() * size_of::<u32>()
            + self.guards.capacity() * size_of::<Guard>()
            + self.passed.capacity() * size_of::<(u8, u32)>()
    }

    fn note_passed(&mut self, opcode: u8) {
        match self.passed.iter_mut().find(|(passed, _)| *passed == opcode) {
            Some((_, count)) => *count += 1,
            None => self.passed.push((opcode, 1)),
        }
    }

    fn shrink(&mut self) {
        self.pushed.shrink_to_fit();
        self.guards.shrink_to_fit();
        self.passed.shrink_to_fit();
    }
}

/// The word of a stack at a depth, if it has so many and the word is short.
#[inline]
fn word_at(stack: &[U256], depth: usize) -> Option<u32> {
    let at = stack.len().checked_sub(depth + 1)?;
    u32::try_from(stack[at]).ok()
}

/// A way through code.
pub(crate) struct Walk<'a, L: Location> {
    pub code: &'a [u8],
    pub layout: &'a L::Layout,
    /// Where jumps may lead; none if the path is to end before the first instruction that is not of the field.
    pub targets: Option<&'a JumpTable>,
    /// The stack at its start, the top last.
    pub stack: &'a [U256],
    /// The path ends when it has this many operations: the first run after that one, others before they would exceed it, as no block
    /// begins in the middle of a run.
    pub operations_max: u32,
}

impl<L: Location> Walk<'_, L> {
    /// The block that begins with the field instruction at `start`; none if there is none. It ends before a run of dependent products,
    /// unless it begins with that. `inside` is told where each instruction but the first of a run stands.
    pub fn block(&self, start: usize, budget: &Budget, mut inside: impl FnMut(usize)) -> Option<Block<L>> {
        let mut path = Path { end: start, ..Path::default() };
        let mut draft = Draft::new();
        let mut run: Vec<(usize, Instruction)> = Vec::new();
        let mut seen = HashSet::new();
        loop {
            let (end, pushed, height_max, passed) =
                (path.end, path.pushed.clone(), path.height_max, path.passed.clone());
            let goes_on = match self.targets {
                _ if path.runs == 0 => true,
                Some(targets) => self.pass(&mut path, targets),
                None => false,
            };
            let operations = draft.operation_count();
            let mut is_new = || seen.insert((path.end, path.pushed.clone()));
            let goes_on = goes_on && operations < self.operations_max && is_new();
            run.clear();
            let fits = goes_on && self.run(&mut path, &draft, &mut run);
            let is_joinable = || path.runs == 0 || !is_dependent(&run);
            if !fits || run.is_empty() || !is_joinable() {
                // Guards stay: that the path ends here may depend on them.
                (path.end, path.pushed, path.height_max, path.passed) = (end, pushed, height_max, passed);
                break;
            }
            for (at, &(pc, instruction)) in run.iter().enumerate() {
                L::admit(self.layout, &mut draft.needs, &instruction, self.code, pc);
                draft.push(self.layout, instruction);
                if at > 0 {
                    // The opcode comes last where its operands are pushed.
                    let push = L::push(self.layout);
                    inside(if push.is_some() { pc + instruction.length - 1 } else { pc });
                    push.into_iter().for_each(|push| path.note_passed(push));
                }
            }
            path.runs += 1;
        }
        path.shrink();
        (path.runs > 0).then(|| draft.into_block(start, path, budget))
    }

    /// The run of field instructions at the end of the path, which moves after it; false if it is too long for the block.
    fn run(&self, path: &mut Path, draft: &Draft<L>, run: &mut Vec<(usize, Instruction)>) -> bool {
        let mut operations = draft.operation_count();
        let mut needs = draft.needs.clone();
        let is_first_run = path.runs == 0;
        while !is_first_run || operations < self.operations_max {
            let is_first = is_first_run && run.is_empty();
            let Some(instruction) = L::instruction(self.layout, self.code, path.end, is_first) else { break };
            if !L::admit(self.layout, &mut needs, &instruction, self.code, path.end) {
                break;
            }
            operations += u32::from(instruction.count);
            if !is_first_run && operations > self.operations_max {
                return false;
            }
            run.push((path.end, instruction));
            path.end += instruction.length;
        }
        true
    }

    /// Goes through the control flow at the end of a path, as far as it is decided. False if that leads to no other instruction than before.
    fn pass(&self, path: &mut Path, targets: &JumpTable) -> bool {
        for _ in 0..PASSED_MAX {
            let opcode = self.code.get(path.end).copied().unwrap_or_default();
            match opcode {
                JUMPDEST => path.end += 1,
                JUMP => {
                    let target = path.pushed.pop().map(|target| target as usize); // u32 to usize widens.
                    let Some(target) = target.filter(|&target| targets.is_valid(target)) else { return false };
                    path.end = target;
                }
                PUSH1..=PUSH3 => {
                    let length = usize::from(opcode - PUSH1) + 1;
                    let Some(immediate) = self.code.get(path.end + 1..path.end + 1 + length) else { return false };
                    path.pushed.push(immediate.iter().fold(0, |word, &byte| word << 8 | u32::from(byte)));
                    path.end += 1 + length;
                }
                DUP1..=DUP16 => {
                    let Some(word) = self.copy(path, usize::from(opcode - DUP1)) else { return false };
                    path.pushed.push(word);
                    path.end += 1;
                }
                _ => return true,
            }
            path.note_passed(opcode);
            path.height_max = path.height_max.max(path.pushed.len());
            if path.pushed.len() > PUSHED_MAX {
                return false;
            }
        }
        false
    }

    /// The word at a depth, which the path has pushed itself or finds under that; then, found or not, it is a guard.
    fn copy(&self, path: &mut Path, depth: usize) -> Option<u32> {
        match depth.checked_sub(path.pushed.len()) {
            None => Some(path.pushed[path.pushed.len() - 1 - depth]),
            Some(depth) => {
                let guard = Guard { depth, word: word_at(self.stack, depth) };
                if !path.guards.contains(&guard) {
                    path.guards.push(guard);
                }
                guard.word
            }
        }
    }
}

/// Whether most products of a run wait for each other.
fn is_dependent(run: &[(usize, Instruction)]) -> bool {
    let mut depths = [0u32; SLOTS_MAX];
    let (mut products, mut depth_max) = (0, 0);
    for (_, instruction) in run {
        let is_product = instruction.operation == Arithmetic::Mul;
        for (out, x, y) in instruction.lanes() {
            let depth = depths[usize::from(x)].max(depths[usize::from(y)]) + u32::from(is_product);
            depths[usize::from(out)] = depth;
            depth_max = depth_max.max(depth);
            products += u32::from(is_product);
        }
    }
    products >= DEPENDENT_PRODUCTS_MIN && products < PRODUCTS_AT_ONCE_MIN * depth_max
}
