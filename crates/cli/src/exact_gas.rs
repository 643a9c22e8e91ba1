//! Exact gas of a schedule with fractional prices: execution meters whole gas, each price rounded up; this tracer sums what
//! was metered too much, in thousandths, and the total is rounded up once at the end.

use std::collections::BTreeMap;

use residue_engine::{Counts, GasSplit, Outcome, Step, Tracer, View};
use residue_isa::opcode::evm::{PUSH0, PUSH32};
use residue_isa::revision::eip6690_2024::{LOADX, SETMODX, STOREX};
use residue_isa::{Family, GasSchedule, Price, Revision};

/// Counts as [`Counts`] does, with exact gas.
#[derive(Debug)]
pub struct CountingExactly<'a> {
    revision: Revision,
    schedule: &'a GasSchedule,
    evm: BTreeMap<u8, Price>,
    counts: Counts,
    /// One for each nested call that runs; empty if every price is whole, since then nothing is metered too much.
    frames: Vec<FrameExcess>,
    is_whole: bool,
    operands: Operands,
}

/// What was metered too much in a frame and in those it called, in thousandths of gas.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Excess {
    arithmetic: u64,
    transfer: u64,
    control: u64,
}

#[derive(Debug, Default)]
struct FrameExcess {
    excess: Excess,
    /// That of each push just executed, while it is not known whether it carries an operand of the next instruction.
    pushes: Vec<u64>,
    /// Field contexts by id, and the active one.
    contexts: BTreeMap<[u8; 32], Context>,
    active: Option<Context>,
}

#[derive(Debug, Clone, Copy)]
struct Context {
    width_limbs: usize,
    is_odd: bool,
}

/// What an instruction that is about to be executed finds on the stack.
#[derive(Debug, Default)]
struct Operands {
    /// Of SETMODX: the id and what a new context of it would be.
    set_modulus: Option<([u8; 32], Context)>,
    /// Of LOADX and STOREX: the number of values.
    count: u64,
}

impl<'a> CountingExactly<'a> {
    /// Nothing counted yet.
    pub fn new(revision: Revision, schedule: &'a GasSchedule) -> Self {
        Self {
            revision,
            schedule,
            evm: schedule.evm_overrides().collect(),
            counts: Counts::new(revision),
            frames: Vec::new(),
            is_whole: schedule.is_whole(),
            operands: Operands::default(),
        }
    }

    /// What was executed.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What the gas of the run went to; the parts add up to the exact gas. An exceptional halt uses what it was given.
    pub fn gas_split(&self, outcome: &Outcome) -> GasSplit {
        let metered = self.counts.gas_split(outcome.gas_used);
        match self.frames.first() {
            Some(frame) if !outcome.halt.is_exceptional() => less(metered, frame.excess),
            _ => metered,
        }
    }

    fn frame(&mut self, depth: usize) -> &mut FrameExcess {
        while self.frames.len() > depth + 1 {
            self.leave();
        }
        while self.frames.len() <= depth {
            self.frames.push(FrameExcess::default());
        }
        &mut self.frames[depth]
    }

    /// A callee has ended: its excess was its caller's gas.
    fn leave(&mut self) {
        let Excess { arithmetic, transfer, control } = self.frames.pop().map(|frame| frame.excess).unwrap_or_default();
        if let Some(FrameExcess { excess, .. }) = self.frames.last_mut() {
            excess.arithmetic += arithmetic;
            excess.transfer += transfer;
            excess.control += control;
        }
    }

    /// What the base price of an opcode is rounded up by.
    fn base_excess(&self, opcode: u8) -> u64 {
        let own = self.revision.opcodes().iter().find(|row| row.byte == opcode);
        let price = match own {
            Some(row) => self.schedule.base(row.mnemonic),
            None => self.evm.get(&opcode).copied(),
        };
        price.map_or(0, rounding)
    }

    /// What the prices of an instruction that depend on its operands are rounded up by.
    fn dynamic_excess(&mut self, step: &Step) -> u64 {
        if self.revision.family() == Family::Memory384 {
            return 0;
        }
        let schedule = self.schedule;
        let Operands { set_modulus, count } = std::mem::take(&mut self.operands);
        let frame = self.frame(step.depth);
        if let Some(field) = step.field {
            return rounding(schedule.arithmetic(field.operation, field.width_limbs)) * u64::from(field.count);
        }
        match step.opcode {
            SETMODX => {
                let Some((id, context)) = set_modulus else { return 0 };
                let is_new = !frame.contexts.contains_key(&id);
                let context = *frame.contexts.entry(id).or_insert(context);
                frame.active = Some(context);
                if is_new && context.is_odd { rounding(schedule.set_modulus(context.width_limbs)) } else { 0 }
            }
            LOADX | STOREX => match frame.active {
                None => 0,
                Some(Context { width_limbs, is_odd: true }) => {
                    rounding(schedule.transfer_per_value(width_limbs)) * count
                }
                // An element has 8 bytes a limb, a word four limbs; at most 256 values of 12 limbs are moved at once.
                Some(Context { width_limbs, .. }) => {
                    rounding(schedule.transfer_per_word()) * (count * width_limbs as u64).div_ceil(4)
                }
            },
            _ => 0,
        }
    }

    /// Notes what was metered too much where [`Counts`] has put the cost.
    fn note(&mut self, step: &Step, is_transfer: bool) {
        let excess = self.base_excess(step.opcode) + self.dynamic_excess(step);
        let pops = self.revision.row(step.opcode).map_or(0, |row| usize::from(row.pops));
        let frame = self.frame(step.depth);
        if (PUSH0..=PUSH32).contains(&step.opcode) {
            frame.pushes.push(excess);
            return;
        }
        let pushes = std::mem::take(&mut frame.pushes);
        let operands = if step.field.is_some() { pops.min(pushes.len()) } else { 0 };
        let (before, operands) = pushes.split_at(pushes.len() - operands);
        frame.excess.control += before.iter().sum::<u64>();
        if step.field.is_some() {
            frame.excess.arithmetic += operands.iter().sum::<u64>() + excess;
        } else if is_transfer {
            frame.excess.transfer += excess;
        } else {
            frame.excess.control += excess;
        }
    }
}

impl Tracer for CountingExactly<'_> {
    fn before(&mut self, view: &View<'_>) {
        let opcode = view.code().get(view.pc()).copied();
        if self.is_whole || self.revision.family() != Family::Slots {
            return;
        }
        self.operands = match opcode {
            Some(SETMODX) => Operands { set_modulus: set_modulus(view), count: 0 },
            Some(LOADX | STOREX) => Operands { set_modulus: None, count: number(view, 2).unwrap_or(0) },
            _ => Operands::default(),
        };
    }

    fn after(&mut self, step: &Step, view: &View<'_>) {
        let transfer_before = self.counts.gas_split(0).transfer;
        self.counts.after(step, view);
        if self.is_whole {
            return;
        }
        if step.halt.is_some_and(|halt| halt.is_exceptional()) {
            *self.frame(step.depth) = FrameExcess::default();
            return;
        }
        let is_transfer = self.counts.gas_split(0).transfer > transfer_before;
        self.note(step, is_transfer);
        if step.halt.is_some() {
            let frame = self.frame(step.depth);
            frame.excess.control += std::mem::take(&mut frame.pushes).iter().sum::<u64>();
        }
    }
}

/// What metering whole gas rounds a price up by, in thousandths.
fn rounding(price: Price) -> u64 {
    Price::from_gas(price.whole()).0 - price.0
}

/// `metered` without `excess`. Every running sum of the parts is rounded up, so the total is, and once.
fn less(metered: GasSplit, excess: Excess) -> GasSplit {
    let exact = |gas: u64, excess: u64| u128::from(gas) * 1000 - u128::from(excess);
    let arithmetic = exact(metered.arithmetic, excess.arithmetic);
    let transfer = arithmetic + exact(metered.transfer, excess.transfer);
    let control = transfer + exact(metered.control, excess.control);
    // A part is at most its metered part plus one, so it fits wherever the metered total does.
    let whole = |thousandths: u128| u64::try_from(thousandths.div_ceil(1000)).unwrap_or(u64::MAX);
    GasSplit {
        arithmetic: whole(arithmetic),
        transfer: whole(transfer) - whole(arithmetic),
        memory: metered.memory,
        control: whole(control) - whole(transfer),
    }
}

/// The id of a SETMODX and the context that it creates if the id is new, if its operands allow one.
fn set_modulus(view: &View<'_>) -> Option<([u8; 32], Context)> {
    let id = view.stack(0)?;
    let offset = number(view, 1).and_then(|offset| usize::try_from(offset).ok());
    let size = number(view, 2).and_then(|size| usize::try_from(size).ok()).filter(|&size| (1..=96).contains(&size));
    let context = match offset.zip(size) {
        Some((offset, size)) => {
            let last = offset.checked_add(size - 1).map_or(0, |last| view.memory(last, 1)[0]);
            Context { width_limbs: size.div_ceil(8), is_odd: last % 2 == 1 }
        }
        // Only a known id can go with such operands.
        None => Context { width_limbs: 1, is_odd: false },
    };
    Some((id, context))
}

/// A word of the stack, if it is below 2⁶⁴.
fn number(view: &View<'_>, position: usize) -> Option<u64> {
    let word = view.stack(position)?;
    let (high, low) = word.split_at(24);
    high.iter().all(|&byte| byte == 0).then(|| u64::from_be_bytes(low.try_into().expect("32 − 24 bytes")))
}
