//! Paths: runs of field instructions with the control flow between them that is decided before the first of them runs: jump targets
//! that are passed, and jumps to constants pushed on the way, so calls of functions with their returns, or to words copied from the
//! stack. Those are its guards: it is the path of every execution that finds them there.
//!
//! A path ends behind a field instruction. It does not go through one place twice with the same words pushed, so a loop stays a loop.

use residue_isa::opcode::evm::{DUP1, DUP16, JUMP, JUMPDEST, PUSH1, PUSH3};
use residue_isa::revision::rules::SLOTS_MAX;
use residue_isa::{Arithmetic, FieldInstruction, Revision};
use revm::bytecode::JumpTable;
use revm::primitives::U256;

/// Most instructions between two of the field.
const PASSED_MAX: usize = 32;
/// Most words pushed at once.
const PUSHED_MAX: usize = 64;
/// A run with fewer products than this for each that waits for the one before it is a chain, which takes less time one by one.
const PRODUCTS_AT_ONCE_MIN: u32 = 2;
/// Shorter chains are joined.
const CHAIN_PRODUCTS_MIN: u32 = 16;

/// Where a path leads, and what it takes beside its field instructions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    /// Offset behind its last instruction.
    pub end: usize,
    /// The words that it leaves on the stack, the first pushed first. It takes none that were there before.
    pub pushed: Vec<u32>,
    /// The most words that it has on the stack at once.
    pub height_max: usize,
    /// Runs of field instructions.
    pub runs: usize,
    /// What the stack must hold at its start: words by their depth, 0 being the top.
    guards: Vec<(usize, u32)>,
    /// How many of which opcodes of the EVM's. All forks have them.
    passed: Vec<(u8, u32)>,
}

/// A way through code, and the instructions on it.
pub(crate) struct Walk<'a> {
    pub code: &'a [u8],
    pub revision: Revision,
    /// Where jumps may lead; none if the path is to end before the first instruction that is not of the field.
    pub targets: Option<&'a JumpTable>,
    /// The stack at its start, the top last.
    pub stack: &'a [U256],
    /// The path ends when it has this many operations: the first run behind that one, others before they would exceed it, as no block
    /// begins in the middle of a run.
    pub operations_max: u32,
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
        self.guards.iter().all(|&(depth, word)| word_at(stack, depth) == Some(word))
    }

    /// Goes through the control flow at its end, as far as it is decided. False if that leads to no other instruction than before.
    fn pass(&mut self, walk: &Walk<'_>, targets: &JumpTable) -> bool {
        for _ in 0..PASSED_MAX {
            let opcode = walk.code.get(self.end).copied().unwrap_or_default();
            match opcode {
                JUMPDEST => self.end += 1,
                JUMP => {
                    let target = self.pushed.pop().map(|target| target as usize); // u32 to usize widens.
                    let Some(target) = target.filter(|&target| targets.is_valid(target)) else { return false };
                    self.end = target;
                }
                PUSH1..=PUSH3 => {
                    let length = usize::from(opcode - PUSH1) + 1;
                    let Some(immediate) = walk.code.get(self.end + 1..self.end + 1 + length) else { return false };
                    self.pushed.push(immediate.iter().fold(0, |word, &byte| word << 8 | u32::from(byte)));
                    self.end += 1 + length;
                }
                DUP1..=DUP16 => {
                    let Some(word) = self.copy(usize::from(opcode - DUP1), walk.stack) else { return false };
                    self.pushed.push(word);
                    self.end += 1;
                }
                _ => return true,
            }
            match self.passed.iter_mut().find(|(passed, _)| *passed == opcode) {
                Some((_, count)) => *count += 1,
                None => self.passed.push((opcode, 1)),
            }
            self.height_max = self.height_max.max(self.pushed.len());
            if self.pushed.len() > PUSHED_MAX {
                return false;
            }
        }
        false
    }

    /// The word at a depth, which it has pushed itself or finds under that.
    fn copy(&mut self, depth: usize, stack: &[U256]) -> Option<u32> {
        match depth.checked_sub(self.pushed.len()) {
            None => Some(self.pushed[self.pushed.len() - 1 - depth]),
            Some(depth) => {
                let word = word_at(stack, depth)?;
                if !self.guards.contains(&(depth, word)) {
                    self.guards.push((depth, word));
                }
                Some(word)
            }
        }
    }
}

/// The word of a stack at a depth, if it has so many and the word is short.
fn word_at(stack: &[U256], depth: usize) -> Option<u32> {
    let at = stack.len().checked_sub(depth + 1)?;
    u32::try_from(stack[at]).ok()
}

impl Walk<'_> {
    /// The path from the field instruction at `start` on, each of whose instructions is shown to `visit`; empty if there is none.
    /// It ends before a chain of products, unless it begins with that.
    pub fn path(&self, start: usize, mut visit: impl FnMut(FieldInstruction)) -> Path {
        let mut path = Path { end: start, ..Path::default() };
        let (mut instructions, mut operations) = (Vec::new(), 0);
        let mut seen = Vec::new();
        loop {
            let before = path.clone();
            let goes_on = match self.targets {
                _ if path.runs == 0 => true,
                Some(targets) => path.pass(self, targets),
                None => false,
            };
            let place = (path.end, path.pushed.clone());
            if !goes_on || operations >= self.operations_max || seen.contains(&place) {
                return before;
            }
            instructions.clear();
            while operations + u32::from(path.runs == 0) <= self.operations_max
                && let Some((instruction, length)) = arithmetic_at(self.code, path.end, self.revision)
            {
                operations += operation_count(&instruction);
                instructions.push(instruction);
                path.end += length;
            }
            let is_joinable = || operations <= self.operations_max && !is_chain(&instructions);
            if instructions.is_empty() || path.runs > 0 && !is_joinable() {
                return before;
            }
            instructions.drain(..).for_each(&mut visit);
            path.runs += 1;
            seen.push(place);
        }
    }
}

/// Whether most products of a run wait for each other.
fn is_chain(instructions: &[FieldInstruction]) -> bool {
    let mut depths = [0u32; SLOTS_MAX];
    let (mut products, mut depth_max) = (0, 0);
    for instruction in instructions {
        let FieldInstruction::Slots { operation, out, x, y, count } = *instruction else { continue };
        let is_product = operation == Arithmetic::Mul;
        for lane in 0..count {
            let [Some(out), Some(x), Some(y)] = [out, x, y].map(|lanes| lanes.slot(lane)) else { continue };
            let depth = depths[usize::from(x)].max(depths[usize::from(y)]) + u32::from(is_product);
            depths[usize::from(out)] = depth;
            depth_max = depth_max.max(depth);
            products += u32::from(is_product);
        }
    }
    products >= CHAIN_PRODUCTS_MIN && products < PRODUCTS_AT_ONCE_MIN * depth_max
}

/// Lanes of an instruction.
fn operation_count(instruction: &FieldInstruction) -> u32 {
    match *instruction {
        FieldInstruction::Slots { count, .. } => u32::from(count),
        _ => 0,
    }
}

/// Whether a lane of an instruction reads what those before it have written.
pub(crate) fn lanes_in_turn(revision: Revision) -> bool {
    revision.slot_rules().is_some_and(|rules| rules.lanes_in_turn)
}

/// The arithmetic instruction at `pc` with its length, if it cannot halt for its operands alone.
fn arithmetic_at(code: &[u8], pc: usize, revision: Revision) -> Option<(FieldInstruction, usize)> {
    let (instruction, length) = revision.decode(code.get(pc..)?)?;
    let FieldInstruction::Slots { out, x, y, count, .. } = instruction else { return None };
    let last = out.last(count).max(x.last(count)).max(y.last(count));
    let lanes_go = count > 0 && (lanes_in_turn(revision) || out.stride > 0);
    (lanes_go && last < SLOTS_MAX as u32).then_some((instruction, length))
}

#[cfg(test)]
mod tests {
    use residue_isa::assembly::assemble_text;
    use revm::bytecode::Bytecode;

    use super::*;

    #[test]
    fn a_run_is_joined_whole_or_not_at_all() {
        let text = "MULMODX 1 0 0  MULMODX 2 1 1  JUMPDEST  ADDMODX 3 2 2  ADDMODX 4 3 3  ADDMODX 5 4 4  STOP";
        let code = assemble_text(text, Revision::Eip6690_2024).unwrap().bytes;
        let bytecode = Bytecode::new_legacy(code.clone().into());
        let path = |operations_max| {
            let targets = bytecode.legacy_jump_table();
            let walk = Walk { code: &code, revision: Revision::Eip6690_2024, targets, stack: &[], operations_max };
            let mut operations = 0;
            let path = walk.path(0, |_| operations += 1);
            (path.runs, operations, path.end)
        };
        let end_of_first = 2 * 8;
        assert_eq!(path(1), (1, 1, 8), "the first run is cut");
        assert_eq!([2, 3, 4].map(path), [(1, 2, end_of_first); 3]);
        assert_eq!([5, 6].map(path), [(2, 5, code.len() - 1); 2]);
    }
}
