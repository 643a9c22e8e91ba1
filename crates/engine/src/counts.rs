//! Counting: what was executed, and what the gas went to.

use std::collections::BTreeMap;

use residue_isa::opcode::evm as op;
use residue_isa::revision::eip6690_2024::{LOADX, SETMODX, STOREX};
use residue_isa::revision::evm384_v12::SETMOD;
use residue_isa::{Arithmetic, Family, Revision};

use crate::outcome::Outcome;
use crate::prices::memory_cost;
use crate::trace::{Step, Tracer, View};

/// An outcome with what was executed and what the gas went to.
#[derive(Debug, Clone)]
pub struct Counted {
    /// As without counting.
    pub outcome: Outcome,
    /// What was executed.
    pub counts: Counts,
    /// What the gas went to.
    pub gas_split: GasSplit,
}

/// Gas by purpose; the four add up to the gas used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GasSplit {
    /// Field arithmetic, with pushes that only carry packed operands of the instruction directly behind them.
    pub arithmetic: u64,
    /// Moving data: loads and stores of slots and memory, copies, setting the modulus. Without growth.
    pub transfer: u64,
    /// Growth of memory and slots.
    pub memory: u64,
    /// The rest: pushes, jumps, word arithmetic, calls with precompiles, and what an exceptional halt burnt, in callees too.
    pub control: u64,
}

impl GasSplit {
    /// The gas used.
    pub fn total(&self) -> u64 {
        self.arithmetic + self.transfer + self.memory + self.control
    }
}

/// Counts of executed instructions, over all frames. An instruction that halts exceptionally counts as executed.
#[derive(Debug, Clone)]
pub struct Counts {
    revision: Revision,
    instructions: [u64; 256],
    lanes: BTreeMap<(usize, usize), u64>,
    arithmetic: u64,
    transfer: u64,
    memory: u64,
    /// What the pushes directly before this point cost, each.
    pushes: Vec<u64>,
}

impl Counts {
    /// Nothing counted yet.
    pub fn new(revision: Revision) -> Self {
        let lanes = BTreeMap::new();
        Self { revision, instructions: [0; 256], lanes, arithmetic: 0, transfer: 0, memory: 0, pushes: Vec::new() }
    }

    /// How often an opcode was executed.
    pub fn of(&self, opcode: u8) -> u64 {
        self.instructions[usize::from(opcode)]
    }

    /// Executed instructions of all kinds.
    pub fn total(&self) -> u64 {
        self.instructions.iter().sum()
    }

    /// Executed instructions by mnemonic, by ascending opcode; bytes that are no opcode are left out.
    pub fn by_mnemonic(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let counted = (0..=u8::MAX).zip(self.instructions).filter(|&(_, count)| count > 0);
        counted.filter_map(|(opcode, count)| self.revision.row(opcode).map(|row| (row.mnemonic, count)))
    }

    /// Executed lanes of an operation over moduli of a width in limbs.
    pub fn lanes(&self, operation: Arithmetic, width_limbs: usize) -> u64 {
        self.lanes.get(&(operation as usize, width_limbs)).copied().unwrap_or(0)
    }

    /// The widths, in limbs, over which something was computed, ascending.
    pub fn widths_limbs(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.lanes.keys().map(|&(_, width_limbs)| width_limbs).collect();
        widths.sort_unstable();
        widths.dedup();
        widths
    }

    /// What the gas of the run went to.
    pub fn gas_split(&self, gas_used: u64) -> GasSplit {
        let Self { arithmetic, transfer, memory, .. } = *self;
        GasSplit { arithmetic, transfer, memory, control: gas_used.saturating_sub(arithmetic + transfer + memory) }
    }

    fn is_transfer(&self, opcode: u8) -> bool {
        let of_slots = self.revision.family() == Family::Slots && matches!(opcode, SETMODX | LOADX | STOREX);
        let sets_modulus = self.revision == Revision::Evm384V12 && opcode == SETMOD;
        of_slots
            || sets_modulus
            || matches!(
                opcode,
                op::MLOAD
                    | op::MSTORE
                    | op::MSTORE8
                    | op::MCOPY
                    | op::CALLDATALOAD
                    | op::CALLDATACOPY
                    | op::CODECOPY
                    | op::EXTCODECOPY
                    | op::RETURNDATACOPY
            )
    }

    /// What the pushes cost that only carry operands of the arithmetic instruction directly behind them.
    fn operands_cost(&self, opcode: u8) -> u64 {
        let pops = self.revision.row(opcode).map_or(0, |row| usize::from(row.pops));
        self.pushes.iter().rev().take(pops).sum()
    }
}

impl Tracer for Counts {
    fn after(&mut self, step: &Step, _: &View<'_>) {
        self.instructions[usize::from(step.opcode)] += 1;
        let operands_cost = if step.field.is_some() { self.operands_cost(step.opcode) } else { 0 };
        let is_push = matches!(step.opcode, op::PUSH0..=op::PUSH32);
        if !is_push {
            self.pushes.clear();
        }
        if step.halt.is_some_and(|halt| halt.is_exceptional()) {
            return;
        }
        let growth =
            memory_cost(step.memory_words.1 + step.slot_words.1) - memory_cost(step.memory_words.0 + step.slot_words.0);
        let cost = step.gas_cost - growth;
        self.memory += growth;
        if let Some(field) = step.field {
            self.arithmetic += cost + operands_cost;
            *self.lanes.entry((field.operation as usize, field.width_limbs)).or_default() += u64::from(field.count);
        } else if self.is_transfer(step.opcode) {
            self.transfer += cost;
        } else if is_push {
            self.pushes.push(cost);
        }
    }
}
