//! Exact gas of a schedule with fractional prices: execution meters whole gas, each price rounded up; this tracer sums
//! the excess, in thousandths, and the total is rounded up once at the end.

use std::collections::BTreeMap;

use residue_engine::{Counts, GasSplit, Outcome, Step, Tracer, View};
use residue_isa::form::GasPart;
use residue_isa::opcode::evm::{PUSH0, PUSH32};
use residue_isa::revision::eip5843;
use residue_isa::revision::rules::{SetForm, SlotRules};
use residue_isa::{Family, Form, GasSchedule, Price, Revision};

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

/// Gas metered in excess in a frame and in those it called, in thousandths of gas.
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
    /// Row of the price table for arithmetic, loads and stores.
    width: usize,
    /// Row of the price table for setting the modulus.
    set_width: usize,
    is_odd: bool,
}

/// Operands of the next instruction, on the stack and after its opcode.
#[derive(Debug, Default)]
enum Operands {
    #[default]
    None,
    /// The id, what a new context of it would be, and whether it takes the place of one before.
    SetModulus { id: [u8; 32], context: Context, replaces: bool },
    /// The number of values, and the id of their context if it is named.
    Load(u64, Option<[u8; 32]>),
    /// As for loads.
    Store(u64, Option<[u8; 32]>),
    /// An instruction beside arithmetic, and the last byte of its operands: its count, where it has one.
    Formed(Form, u8),
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
            is_whole: schedule.is_metered_exactly(),
            operands: Operands::default(),
        }
    }

    /// Counts of executed operations.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Breakdown of the run's gas; the parts add up to the exact gas. An exceptional halt uses all gas given to it.
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

    /// Rounding of an opcode's base price, in thousandths of gas.
    fn base_excess(&self, opcode: u8) -> u64 {
        let own = self.revision.opcodes().iter().find(|row| row.byte == opcode);
        let price = match own {
            Some(row) => self.schedule.base(row.mnemonic),
            None => self.evm.get(&opcode).copied(),
        };
        price.map_or(0, rounding)
    }

    /// Rounding of the prices of an instruction that depend on its operands, in thousandths of gas.
    fn dynamic_excess(&mut self, step: &Step) -> u64 {
        if self.revision.family() == Family::Memory384 {
            return 0;
        }
        let schedule = self.schedule;
        let operands = std::mem::take(&mut self.operands);
        let frame = self.frame(step.depth);
        if let (Some(field), Some(context)) = (step.field, frame.active) {
            let price = match field.is_priced_square {
                true => schedule.at_width(context.width).square,
                false => schedule.arithmetic(field.operation, context.width),
            };
            return rounding(price) * u64::from(field.count);
        }
        let of_context = |frame: &FrameExcess, id: Option<[u8; 32]>| match id {
            Some(id) => frame.contexts.get(&id).copied(),
            None => frame.active,
        };
        let transfer = |context: Option<Context>, count: u64, is_load: bool| match context {
            // An element has 8 bytes a limb, a word four limbs; at most 256 values of 12 limbs are moved as one.
            Some(Context { width, is_odd: false, .. }) if schedule.prices_words() => {
                rounding(schedule.transfer_per_word()) * (count * width as u64).div_ceil(4)
            }
            Some(Context { width, .. }) => {
                let prices = schedule.at_width(width);
                rounding(if is_load { prices.load } else { prices.store }) * count
            }
            None => 0,
        };
        match operands {
            Operands::None => 0,
            Operands::SetModulus { id, context, replaces } => {
                let is_new = replaces || !frame.contexts.contains_key(&id);
                if is_new {
                    frame.contexts.insert(id, context);
                }
                frame.active = frame.contexts.get(&id).copied();
                let is_priced = is_new && (context.is_odd || replaces);
                if is_priced { rounding(schedule.set_modulus(context.set_width)) } else { 0 }
            }
            Operands::Load(count, id) => transfer(of_context(frame, id), count, true),
            Operands::Store(count, id) => transfer(of_context(frame, id), count, false),
            Operands::Formed(form, count) => frame.active.map_or(0, |context| {
                let prices = schedule.at_width(context.width);
                let charges = form.row().charges.iter();
                charges.map(|charge| rounding(charge.of(&prices)) * charge.times(count.into(), context.is_odd)).sum()
            }),
        }
    }

    /// Notes what was metered too much where [`Counts`] has put the cost.
    fn note(&mut self, step: &Step, is_transfer: bool) {
        let excess = self.base_excess(step.opcode) + self.dynamic_excess(step);
        let pops = self.revision.row(step.opcode).map_or(0, |row| usize::from(row.pops));
        let form = self.revision.slot_rules().and_then(|rules| rules.form_of(step.opcode));
        let is_inversion = form.is_some_and(|form| form.row().part == GasPart::Arithmetic);
        let frame = self.frame(step.depth);
        if (PUSH0..=PUSH32).contains(&step.opcode) {
            frame.pushes.push(excess);
            return;
        }
        let pushes = std::mem::take(&mut frame.pushes);
        let operands = if step.field.is_some() { pops.min(pushes.len()) } else { 0 };
        let (before, operands) = pushes.split_at(pushes.len() - operands);
        frame.excess.control += before.iter().sum::<u64>();
        if step.field.is_some() || is_inversion {
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
        if self.is_whole {
            return;
        }
        let opcode = self.revision.opcode_at(view.code().get(view.pc()..).unwrap_or_default());
        self.operands = match (self.revision.slot_rules(), self.revision.family()) {
            (Some(rules), _) => operands(rules, opcode, view),
            (None, Family::MemorySlots) => operands_of_eip5843(opcode, view),
            (None, _) => Operands::None,
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

/// Difference between a price metered in whole gas and the exact one, in thousandths of gas.
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

/// The operands of a revision with slots.
fn operands(rules: &SlotRules, opcode: u8, view: &View<'_>) -> Operands {
    let form = rules.form_of(opcode);
    let is_in_code = form == Some(Form::SetModulusInCode);
    if opcode == rules.set_modulus || is_in_code {
        return set_modulus(rules, view, is_in_code).unwrap_or_default();
    }
    let named = usize::from(rules.transfer_names_context);
    let id = if rules.transfer_names_context { view.stack(0) } else { None };
    let count = number(view, named + 2).unwrap_or(0);
    match form {
        _ if opcode == rules.load => Operands::Load(count, id),
        _ if opcode == rules.store => Operands::Store(count, id),
        Some(Form::StoreFromCode) => Operands::Store(count, id),
        Some(form) => {
            // The count is the last operand, where there is one.
            let last = view.pc() + form.row().immediate_bytes() + usize::from(rules.prefix.is_some());
            Operands::Formed(form, view.code().get(last).copied().unwrap_or(0))
        }
        None => Operands::None,
    }
}

/// The operands of EIP-5843, whose moduli are odd and replace each other.
fn operands_of_eip5843(opcode: u8, view: &View<'_>) -> Operands {
    match opcode {
        eip5843::SETMODX => {
            let width = number(view, 1).and_then(|width| usize::try_from(width).ok());
            let width = width.filter(|width| (1..=eip5843::WIDTH_LIMBS_MAX).contains(width)).unwrap_or(1);
            let context = Context { width, set_width: width, is_odd: true };
            Operands::SetModulus { id: [0; 32], context, replaces: true }
        }
        eip5843::TOMONTX => Operands::Store(1, None),
        _ => Operands::None,
    }
}

/// The id and the context that setting a modulus creates if the id is new, if its operands allow one.
fn set_modulus(rules: &SlotRules, view: &View<'_>, is_in_code: bool) -> Option<Operands> {
    let (id, below) = match rules.form {
        SetForm::IdOnStack => (view.stack(0)?, 1),
        SetForm::IdImmediate => {
            let mut id = [0; 32];
            id[31] = *view.code().get(view.pc() + 1)?;
            (id, 0)
        }
        SetForm::One => ([0; 32], 0),
    };
    let offset = number(view, below).and_then(|offset| usize::try_from(offset).ok());
    let size = number(view, below + 1).and_then(|size| usize::try_from(size).ok());
    let bytes = size.and_then(|size| rules.modulus_bytes(size));
    let context = match (offset, size, bytes) {
        (Some(offset), Some(size), Some(bytes)) => {
            let byte = |at: usize| if is_in_code { view.code().get(at).copied() } else { view.memory(at, 1).pop() };
            let last = offset.checked_add(bytes - 1).and_then(byte).unwrap_or(0);
            let (width, set_width) = (rules.price_width(size), rules.set_modulus_price_width(size));
            Context { width, set_width, is_odd: last % 2 == 1 }
        }
        // Only a known id can go with such operands.
        _ => Context { width: 1, set_width: 1, is_odd: false },
    };
    Some(Operands::SetModulus { id, context, replaces: rules.form == SetForm::One })
}

/// A word of the stack, if it is below 2⁶⁴.
fn number(view: &View<'_>, position: usize) -> Option<u64> {
    let word = view.stack(position)?;
    let (high, low) = word.split_at(24);
    high.iter().all(|&byte| byte == 0).then(|| u64::from_be_bytes(low.try_into().expect("32 − 24 bytes")))
}
