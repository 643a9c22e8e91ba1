//! Counting: executed instructions, and gas by purpose.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use residue_isa::form::GasPart;
use residue_isa::opcode::evm as op;
use residue_isa::revision::eip5843;
use residue_isa::revision::evm384::Modulus;
use residue_isa::revision::evm384_v12::SETMOD;
use residue_isa::revision::rules::SetForm;
use residue_isa::{Family, FieldOp, Form, Revision};

use crate::outcome::Outcome;
use crate::prices::memory_cost;
use crate::trace::{Step, Tracer, View};

/// An outcome with counts of executed instructions and gas by purpose.
#[derive(Debug, Clone)]
pub struct Counted {
    /// As without counting.
    pub outcome: Outcome,
    /// Counts of executed instructions.
    pub counts: Counts,
    /// Gas by purpose.
    pub gas_split: GasSplit,
}

/// Gas by purpose; the four add up to the gas used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GasSplit {
    /// Field arithmetic, with pushes that only carry packed operands of the instruction directly after them.
    pub arithmetic: u64,
    /// Moving data: loads and stores of slots and memory, copies, setting the modulus. Without growth.
    pub transfer: u64,
    /// Growth of memory and slots.
    pub memory: u64,
    /// The rest: pushes, jumps, word arithmetic, calls with precompiles, and gas burnt by exceptional halts, in callees
    /// too.
    pub control: u64,
}

impl GasSplit {
    /// The gas used.
    pub fn total(&self) -> u64 {
        self.arithmetic + self.transfer + self.memory + self.control
    }
}

/// Values that loads and stores have moved, and new moduli, by width of the modulus in limbs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moved {
    /// Values loaded from slots.
    pub loaded: BTreeMap<usize, u64>,
    /// Values stored in slots, or brought into Montgomery form.
    pub stored: BTreeMap<usize, u64>,
    /// Values that came out of Montgomery form to be compared.
    pub compared: BTreeMap<usize, u64>,
    /// Field contexts made.
    pub moduli: BTreeMap<usize, u64>,
}

/// Counts of executed instructions, over all frames. An instruction that halts exceptionally counts as executed.
#[derive(Debug, Clone)]
pub struct Counts {
    revision: Revision,
    instructions: [u64; 256],
    lanes: BTreeMap<(usize, usize), u64>,
    /// Lanes of squares that have a price of their own, by width.
    priced_squares: BTreeMap<usize, u64>,
    moved: Moved,
    /// Values that the next instruction moves, if it is a load or a store.
    moving: Option<u64>,
    /// Field contexts before the instruction.
    contexts: usize,
    arithmetic: u64,
    transfer: u64,
    memory: u64,
    /// Costs of the pushes directly before this point.
    pushes: Vec<u64>,
}

impl Counts {
    /// Nothing counted yet.
    pub fn new(revision: Revision) -> Self {
        Self {
            revision,
            instructions: [0; 256],
            lanes: BTreeMap::new(),
            priced_squares: BTreeMap::new(),
            moved: Moved::default(),
            moving: None,
            contexts: 0,
            arithmetic: 0,
            transfer: 0,
            memory: 0,
            pushes: Vec::new(),
        }
    }

    /// Number of executions of `opcode`.
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
    pub fn lanes(&self, operation: FieldOp, width_limbs: usize) -> u64 {
        self.lanes.get(&(operation as usize, width_limbs)).copied().unwrap_or(0)
    }

    /// Those lanes of multiplications over moduli of a width that are squares with a price of their own.
    pub fn priced_squares(&self, width_limbs: usize) -> u64 {
        self.priced_squares.get(&width_limbs).copied().unwrap_or(0)
    }

    /// Numbers of values moved by loads and stores, for revisions with field contexts.
    pub fn moved(&self) -> &Moved {
        &self.moved
    }

    /// The widths, in limbs, over which something was computed, ascending.
    pub fn widths_limbs(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.lanes.keys().map(|&(_, width_limbs)| width_limbs).collect();
        widths.sort_unstable();
        widths.dedup();
        widths
    }

    /// Gas of the run by purpose.
    pub fn gas_split(&self, gas_used: u64) -> GasSplit {
        let Self { arithmetic, transfer, memory, .. } = *self;
        GasSplit { arithmetic, transfer, memory, control: gas_used.saturating_sub(arithmetic + transfer + memory) }
    }

    fn is_transfer(&self, opcode: u8) -> bool {
        let of_slots = match self.revision.slot_rules() {
            Some(rules) => {
                [rules.set_modulus, rules.load, rules.store].contains(&opcode)
                    || rules.form_of(opcode).is_some_and(|form| form.row().part == GasPart::Transfer)
            }
            None => {
                self.revision.family() == Family::MemorySlots && matches!(opcode, eip5843::SETMODX | eip5843::TOMONTX)
            }
        };
        let sets_modulus =
            self.revision.evm384().is_some_and(|evm384| evm384.modulus == Modulus::Set) && opcode == SETMOD;
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

    /// Counts the values moved by a load, a store or a new modulus.
    fn note_moved(&mut self, step: &Step, view: &View<'_>) {
        let Some(width_limbs) = view.width_limbs() else { return };
        let moving = self.moving.take().unwrap_or(0);
        let rules = self.revision.slot_rules();
        let form = rules.and_then(|rules| rules.form_of(step.opcode));
        match rules {
            Some(rules) if step.opcode == rules.load => *self.moved.loaded.entry(width_limbs).or_default() += moving,
            Some(_) if form == Some(Form::Less) => {
                *self.moved.compared.entry(width_limbs).or_default() += 2;
            }
            Some(rules) if step.opcode == rules.store || form == Some(Form::StoreFromCode) => {
                *self.moved.stored.entry(width_limbs).or_default() += moving;
            }
            Some(rules)
                if (step.opcode == rules.set_modulus || form == Some(Form::SetModulusInCode))
                    && (rules.form == SetForm::One || view.context_count() > self.contexts) =>
            {
                *self.moved.moduli.entry(width_limbs).or_default() += 1;
            }
            None if self.revision.family() == Family::MemorySlots => match step.opcode {
                eip5843::SETMODX => *self.moved.moduli.entry(width_limbs).or_default() += 1,
                eip5843::TOMONTX => *self.moved.stored.entry(width_limbs).or_default() += 1,
                _ => {}
            },
            _ => {}
        }
    }

    /// True for arithmetic without lanes of one operation.
    fn is_other_arithmetic(&self, opcode: u8) -> bool {
        let form = self.revision.slot_rules().and_then(|rules| rules.form_of(opcode));
        form.is_some_and(|form| form.row().part == GasPart::Arithmetic)
    }

    /// Gas of the pushes that only carry operands of the arithmetic instruction directly after them.
    fn operands_cost(&self, opcode: u8) -> u64 {
        let pops = self.revision.row(opcode).map_or(0, |row| usize::from(row.pops));
        self.pushes.iter().rev().take(pops).sum()
    }
}

impl Tracer for Counts {
    fn before(&mut self, view: &View<'_>) {
        let Some(rules) = self.revision.slot_rules() else { return };
        let opcode = view.code().get(view.pc()..).map(|code| self.revision.opcode_at(code));
        self.moving = None;
        self.contexts = view.context_count();
        let is_from_code = opcode.is_some() && opcode == rules.opcode(Form::StoreFromCode);
        if opcode == Some(rules.load) || opcode == Some(rules.store) || is_from_code {
            self.moving = view.number(2 + usize::from(rules.transfer_names_context));
        }
    }

    fn after(&mut self, step: &Step, view: &View<'_>) {
        self.instructions[usize::from(step.opcode)] += 1;
        let operands_cost = if step.field.is_some() { self.operands_cost(step.opcode) } else { 0 };
        let is_push = matches!(step.opcode, op::PUSH0..=op::PUSH32);
        let is_lost = step.halt.is_some_and(|halt| halt.is_exceptional());
        if !is_push || is_lost {
            self.pushes.clear();
        }
        if is_lost {
            return;
        }
        self.note_moved(step, view);
        // Where one field context replaces another, fewer words of slots give nothing back.
        let growth = memory_cost(step.memory_words.1 + step.slot_words.1)
            .saturating_sub(memory_cost(step.memory_words.0 + step.slot_words.0));
        let cost = step.gas_cost.saturating_sub(growth);
        self.memory += growth;
        if let Some(field) = step.field {
            self.arithmetic += cost + operands_cost;
            *self.lanes.entry((field.operation as usize, field.width_limbs)).or_default() += u64::from(field.count);
            if field.is_priced_square {
                *self.priced_squares.entry(field.width_limbs).or_default() += u64::from(field.count);
            }
        } else if self.is_other_arithmetic(step.opcode) {
            self.arithmetic += cost;
        } else if self.is_transfer(step.opcode) {
            self.transfer += cost;
        } else if is_push {
            self.pushes.push(cost);
        }
    }
}
