//! A history made shorter as long as something stays wrong with it: runs, contracts, instructions and inputs are left out, numbers
//! made small.

use num_bigint::BigUint;
use residue_engine::Fork;
use residue_isa::FieldInstruction;
use residue_isa::assembly::{Item, LabelId};

use crate::history::{Account, Body, Datum, GAS_AMPLE, Gas, History, Run};
use crate::verdict::Difference;

/// Histories tried, at most.
pub const TRIALS_MAX: u32 = 6_000;

/// Search for a difference in a history; none if it has no fault.
pub type Find<'a> = dyn FnMut(&History) -> Option<Difference> + 'a;

/// The shortest history found in which `find` still finds something, with that; none if it finds nothing in `history` itself.
pub fn minimise(history: &History, find: &mut Find<'_>) -> Option<(History, Difference)> {
    let difference = find(history)?;
    let mut minimiser = Minimiser { history: history.clone(), difference, find, trials: 1 };
    loop {
        let before = minimiser.history.clone();
        minimiser.cut_runs();
        minimiser.simplify_setting();
        minimiser.drop_runs();
        minimiser.drop_contracts();
        minimiser.drop_items();
        minimiser.simplify_runs();
        minimiser.simplify_items();
        minimiser.simplify_inputs();
        if minimiser.history == before || minimiser.trials >= TRIALS_MAX {
            return Some((minimiser.history, minimiser.difference));
        }
    }
}

struct Minimiser<'a, 'f> {
    history: History,
    difference: Difference,
    find: &'a mut Find<'f>,
    trials: u32,
}

impl Minimiser<'_, '_> {
    /// Takes another history if it is one and something is still wrong with it.
    fn attempt(&mut self, change: impl FnOnce(&mut History)) -> bool {
        if self.trials >= TRIALS_MAX {
            return false;
        }
        let mut candidate = self.history.clone();
        change(&mut candidate);
        tidy(&mut candidate);
        if candidate == self.history {
            return false;
        }
        self.trials += 1;
        let Some(difference) = (self.find)(&candidate) else { return false };
        (self.history, self.difference) = (candidate, difference);
        true
    }

    /// Leaves out what comes after the difference.
    fn cut_runs(&mut self) {
        let Difference { run, time, .. } = self.difference;
        self.attempt(|history| {
            history.runs.truncate(run + 1);
            if let (Some(last), Ok(times)) = (history.runs.get_mut(run), u16::try_from(time + 1)) {
                last.times = times;
            }
        });
    }

    fn simplify_setting(&mut self) {
        self.attempt(|history| history.schedule = history.revision.interface().default_schedule.to_owned());
        self.attempt(|history| history.fork = Fork::Osaka);
    }

    fn drop_runs(&mut self) {
        self.drop_pieces(|history| history.runs.len(), |history, range| drop(history.runs.drain(range)));
    }

    fn drop_contracts(&mut self) {
        for at in (0..self.history.contracts.len()).rev() {
            self.attempt(|history| drop(history.contracts.remove(at)));
        }
        for at in 0..self.history.contracts.len() {
            let to = match self.history.contracts[at].body {
                Body::Delegation(to) => to,
                Body::Code(_) => continue,
            };
            let Some(body) = self.history.contract(to).map(|contract| contract.body.clone()) else { continue };
            self.attempt(|history| history.contracts[at].body = body);
        }
    }

    fn drop_items(&mut self) {
        for at in 0..self.history.contracts.len() {
            let count = |history: &History| match &history.contracts[at].body {
                Body::Code(items) => items.len(),
                Body::Delegation(_) => 0,
            };
            self.drop_pieces(count, |history, range| {
                if let Body::Code(items) = &mut history.contracts[at].body {
                    items.drain(range);
                }
            });
        }
    }

    /// Leaves out pieces of a list, long ones first. What is left out may take more with it.
    fn drop_pieces(
        &mut self,
        count: impl Fn(&History) -> usize,
        drop_piece: impl Fn(&mut History, std::ops::Range<usize>),
    ) {
        let mut piece = count(&self.history);
        while piece > 0 {
            let mut start = 0;
            while start < count(&self.history) {
                let end = (start + piece).min(count(&self.history));
                if !self.attempt(|history| drop_piece(history, start..end)) {
                    start += piece;
                }
            }
            piece /= 2;
        }
    }

    fn simplify_runs(&mut self) {
        for at in 0..self.history.runs.len() {
            self.change_run(at, |run| run.is_inspected = false);
            self.change_run(at, |run| run.is_fresh = false);
            self.change_run(at, |run| run.value = 0);
            self.change_run(at, |run| run.authorisations.clear());
            self.change_run(at, |run| run.caller = Account::CALLER);
            self.change_run(at, |run| run.gas = Gas::Limit(GAS_AMPLE));
            self.change_run(at, |run| run.times = 1);
            while self.change_run(at, |run| run.times = (run.times / 2).max(1)) {}
            while self.change_run(at, |run| run.times = run.times.saturating_sub(1).max(1)) {}
        }
    }

    fn change_run(&mut self, at: usize, change: impl FnOnce(&mut Run)) -> bool {
        self.attempt(|history| change(&mut history.runs[at]))
    }

    fn simplify_items(&mut self) {
        for at in 0..self.history.contracts.len() {
            let Body::Code(items) = &self.history.contracts[at].body else { continue };
            for item in 0..items.len() {
                for simpler in self.simpler(at, item) {
                    let took = self.attempt(|history| {
                        if let Body::Code(items) = &mut history.contracts[at].body {
                            items[item] = simpler;
                        }
                    });
                    if took {
                        break;
                    }
                }
            }
        }
    }

    /// Items that are simpler than one, the simplest first.
    fn simpler(&self, contract: usize, item: usize) -> Vec<Item> {
        let Body::Code(items) = &self.history.contracts[contract].body else { return Vec::new() };
        match &items[item] {
            Item::Push(number) => numbers_below(number).into_iter().map(Item::Push).collect(),
            Item::PushBytes(bytes) => vec![Item::Push(BigUint::from_bytes_be(bytes))],
            Item::Data(bytes) if bytes.len() > 1 => vec![Item::Data(bytes[..bytes.len() / 2].to_vec())],
            Item::Field(instruction) => simpler_instructions(instruction).into_iter().map(Item::Field).collect(),
            _ => Vec::new(),
        }
    }

    fn simplify_inputs(&mut self) {
        for at in 0..self.history.runs.len() {
            self.change_run(at, |run| run.input.clear());
            for part in (0..self.history.runs[at].input.len()).rev() {
                self.attempt(|history| {
                    // A jump target becomes the word 0.
                    history.runs[at].input[part] = match &history.runs[at].input[part] {
                        Datum::Bytes(_) => Datum::Bytes(Vec::new()),
                        Datum::Target { .. } => Datum::Bytes(vec![0; 32]),
                    };
                });
                self.simplify_bytes(at, part);
            }
        }
    }

    fn simplify_bytes(&mut self, at: usize, part: usize) {
        let bytes = |history: &History| match history.runs.get(at).and_then(|run| run.input.get(part)) {
            Some(Datum::Bytes(bytes)) => bytes.clone(),
            _ => Vec::new(),
        };
        let put = |history: &mut History, bytes: Vec<u8>| {
            if let Some(datum) = history.runs[at].input.get_mut(part) {
                *datum = Datum::Bytes(bytes);
            }
        };
        let is_last = part + 1 == self.history.runs[at].input.len();
        if is_last {
            // Beyond its end an input is zero.
            self.attempt(|history| {
                let mut shorter = bytes(history);
                shorter.truncate(shorter.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
                put(history, shorter);
            });
            while self.attempt(|history| {
                let mut shorter = bytes(history);
                shorter.truncate(shorter.len() / 2);
                put(history, shorter);
            }) {}
        }
        let mut piece = bytes(&self.history).len();
        while piece >= 4 {
            for start in (0..bytes(&self.history).len()).step_by(piece) {
                self.attempt(|history| {
                    let mut zeroed = bytes(history);
                    let end = (start + piece).min(zeroed.len());
                    zeroed[start.min(end)..end].fill(0);
                    put(history, zeroed);
                });
            }
            piece /= 2;
        }
    }
}

fn numbers_below(number: &BigUint) -> Vec<BigUint> {
    let mut below: Vec<BigUint> = [0u8, 1].map(BigUint::from).to_vec();
    below.extend([number >> 8u8, number >> 1u8, number - number.min(&BigUint::from(1u8))]);
    below.retain(|other| other < number);
    below
}

/// The same operation with fewer lanes, strides of one, and lower slots.
fn simpler_instructions(instruction: &FieldInstruction) -> Vec<FieldInstruction> {
    let mut simpler = Vec::new();
    if let FieldInstruction::Formed(formed) = instruction {
        for place in 0..formed.bytes().len() {
            let mut operands = formed.bytes().to_vec();
            operands[place] /= 2;
            simpler.push(FieldInstruction::formed(formed.form(), &operands));
        }
        simpler.retain(|other| other != instruction);
    }
    let FieldInstruction::Slots { operation, out, x, y, count } = *instruction else { return simpler };
    for fewer in [1, count / 2, count.saturating_sub(1)] {
        if fewer > 0 && fewer < count {
            simpler.push(FieldInstruction::Slots { operation, out, x, y, count: fewer });
        }
    }
    for (new_out, new_x, new_y) in [(lowered(out), x, y), (out, lowered(x), y), (out, x, lowered(y))] {
        if (new_out, new_x, new_y) != (out, x, y) {
            simpler.push(FieldInstruction::Slots { operation, out: new_out, x: new_x, y: new_y, count });
        }
    }
    simpler
}

fn lowered(lanes: residue_isa::Lanes) -> residue_isa::Lanes {
    residue_isa::Lanes { index: lanes.index / 2, stride: lanes.stride.min(1) }
}

/// Leaves out pushes of labels that are gone, and joins parts of inputs.
fn tidy(history: &mut History) {
    let mut defined: Vec<(Account, Vec<LabelId>)> = Vec::new();
    for contract in &mut history.contracts {
        let Body::Code(items) = &mut contract.body else { continue };
        let labels: Vec<LabelId> = items
            .iter()
            .filter_map(|item| match item {
                Item::Label(label) | Item::Mark(label) => Some(*label),
                _ => None,
            })
            .collect();
        items.retain(|item| !matches!(item, Item::PushLabel(label) if !labels.contains(label)));
        defined.push((contract.address, labels));
    }
    for run in &mut history.runs {
        let mut parts: Vec<Datum> = Vec::new();
        for datum in run.input.drain(..) {
            let datum = match datum {
                Datum::Target { contract, label, .. }
                    if !defined.iter().any(|(address, labels)| *address == contract && labels.contains(&label)) =>
                {
                    Datum::Bytes(vec![0; 32])
                }
                datum => datum,
            };
            match (parts.last_mut(), datum) {
                (Some(Datum::Bytes(before)), Datum::Bytes(bytes)) => before.extend(bytes),
                (_, Datum::Bytes(bytes)) if bytes.is_empty() => {}
                (_, datum) => parts.push(datum),
            }
        }
        run.input = parts;
    }
}
