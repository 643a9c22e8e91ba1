//! Words of lanes as code: up to eight words stand on the stack at a time, in runs of steps, and the others in their places.

mod check;
mod plan;
mod put;

use super::Lowering;
use crate::target::push;
use num_bigint::BigUint;
use plan::{Act, Plan, Planned, Quotient, plan};
use put::Turned;
use residue_ir::{LaneStep, Lanes};
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use ruint::aliases::U256;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Words of a vector on the stack: with what stands above and below them all is in reach of DUP16.
const WORDS_AT_ONCE: usize = 8;
/// Bits of a number that is put.
const PUT_BITS: u32 = 64;
/// Deepest word of the stack that DUP reads.
const REACH: usize = 16;
/// Bytes of rows in a transform from which a row and its twin, that has some numbers negated, share a constant: this takes some gas, and halves them.
const SHARED_FROM_BYTES: usize = 12_288;
/// Multiples of q that stand on the stack at most.
const MULTIPLES_HELD: usize = 4;
/// Bytes of a row as a constant.
const ROW_BYTES: usize = 33;

impl Lowering<'_> {
    /// A transform of a vector of words of lanes. [] → []
    pub(super) fn lanes(&mut self, lanes: &Lanes) {
        let home = self.layout.scratch;
        let mut emitter = Emitter {
            lanes,
            scratch: home,
            fail: self.fail,
            code: self.code,
            names: Vec::new(),
            turned: None,
            multiples: Vec::new(),
        };
        emitter.transform();
    }
}

/// A word of the stack that a transform knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Constant(U256),
    Word(u32),
    /// The word that is put, with some lanes negated.
    Turned,
    /// The constant of a row.
    Row,
    Other,
}

struct Emitter<'a> {
    lanes: &'a Lanes,
    scratch: u32,
    fail: LabelId,
    code: &'a mut Assembly,
    /// The stack of the transform, the top last.
    names: Vec<Name>,
    /// Constants that negate lanes, if rows share theirs.
    turned: Option<Turned>,
    /// Multiples of q in all lanes that are added most, if there are butterflies backwards.
    multiples: Vec<U256>,
}

impl Emitter<'_> {
    fn transform(&mut self) {
        let plan = plan(self.lanes);
        check::check(self.lanes, &plan).unwrap_or_else(|error| panic!("lanes are placed wrong: {error}"));
        self.note_turned(&plan);
        self.note_multiples(&plan);
        let mut next = 0;
        while next < self.lanes.steps.len() {
            let end = self.end_of_run(next);
            self.hold(&plan[next..end]);
            self.run(next..end, &plan);
            self.leave(end);
            next = end;
        }
        self.release();
    }

    /// Notes the multiples of q that stand on the stack.
    fn note_multiples(&mut self, plan: &Plan<'_>) {
        let acts = || plan.iter().flatten().map(|planned| planned.act);
        if !acts().any(|act| matches!(act, Act::Back { .. })) {
            return;
        }
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for act in acts() {
            if let Act::Offset { times, .. } | Act::Back { times, .. } = act {
                *counts.entry(times).or_default() += usize::from(times > 0);
            }
        }
        let mut counts: Vec<(usize, u64)> = counts.into_iter().map(|(times, count)| (count, times)).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let often = counts.into_iter().take(MULTIPLES_HELD).filter(|&(count, _)| count > 1);
        self.multiples = often.map(|(_, times)| self.multiple(times)).collect();
    }

    /// Constants that a run uses most stand on the bottom.
    fn hold(&mut self, run: &[Vec<Planned<'_>>]) {
        let (bits, modulus) = (self.lanes.bits, U256::from(self.lanes.modulus));
        let mut held = self.multiples.clone();
        let acts = || run.iter().flatten().map(|planned| planned.act);
        if let Some(Act::Take { from, times, .. }) = acts().find(|act| matches!(act, Act::Take { .. })) {
            held.extend((times > 0).then(|| self.multiple(times)));
            held.push(self.test(from.len()));
        }
        if let Some(Act::Read { bits, times, .. }) = acts().find(|act| matches!(act, Act::Read { .. })) {
            held.extend((times > 0).then(|| self.multiple(times)));
            held.push(self.mask(bits));
        }
        if let Some(Act::Multiply { quotient, .. }) = acts().find(|act| matches!(act, Act::Multiply { .. })) {
            held = self.highest_of_takes(run).into_iter().chain(held.split_off(self.multiples.len())).collect();
            held.extend([U256::MAX, self.mask(bits - quotient.first), self.mask(bits - quotient.shift)]);
        }
        let left = acts().find_map(|act| if let Act::Leave { quotient, .. } = act { quotient } else { None });
        held.extend(left.map(|quotient| self.mask(bits - quotient.shift)));
        if acts().any(|act| matches!(act, Act::Put { .. })) {
            held.extend(self.turned.iter().flat_map(|turned| [turned.multiple, turned.whole]));
            held.extend([U256::from(256 - bits), modulus]);
        }
        held.extend([U256::ZERO.wrapping_sub(modulus), self.mask(bits - bits / 2)]);
        if self.names != held.iter().map(|&constant| Name::Constant(constant)).collect::<Vec<_>>() {
            self.release();
            for constant in held {
                self.push(constant);
                self.name(Name::Constant(constant));
            }
        }
    }

    /// Constants go.
    fn release(&mut self) {
        for _ in self.names.drain(..) {
            self.code.op(evm::POP);
        }
    }

    /// End of the longest run of steps from `first` on that uses no more words than stand on the stack, and takes none that is there.
    fn end_of_run(&self, first: usize) -> usize {
        let mut words = BTreeSet::new();
        let fits = |step: &&LaneStep| {
            let is_again = step.is_set() && step.words().any(|word| words.contains(&word));
            words.extend(step.words());
            !is_again && words.len() <= WORDS_AT_ONCE
        };
        first + self.lanes.steps[first..].iter().take_while(fits).count()
    }

    /// Emits a run of steps: butterflies that do not touch each other in the order that finds their words on top.
    fn run(&mut self, steps: Range<usize>, plan: &Plan<'_>) {
        let mut waiting: Vec<usize> = steps.collect();
        while !waiting.is_empty() {
            let number = waiting.remove(self.choice(&waiting));
            let is_take = |number: usize| match plan[number][..] {
                [Planned { act: Act::Take { from, .. }, .. }] => Some(from.len()),
                _ => None,
            };
            if let Some(sources) = is_take(number) {
                let more = waiting.iter().take_while(|&&number| is_take(number) == Some(sources)).count();
                let takes = std::iter::once(number).chain(waiting.drain(..more));
                let takes: Vec<Act<'_>> = takes.map(|number| plan[number][0].act).collect();
                self.takes(&takes, sources);
                continue;
            }
            let step = &self.lanes.steps[number];
            step.words().filter(|_| !step.is_set()).for_each(|word| self.load(word));
            for planned in &plan[number] {
                self.act(planned.act);
            }
        }
    }

    /// Place among the steps that wait of the one that is next.
    fn choice(&self, waiting: &[usize]) -> usize {
        let mut touched = BTreeSet::new();
        for (place, &number) in waiting.iter().enumerate() {
            let (LaneStep::Butterfly { high, .. } | LaneStep::Back { high, .. }) = &self.lanes.steps[number] else {
                break;
            };
            let is_free = self.lanes.steps[number].words().all(|word| !touched.contains(&word));
            if is_free && self.names.last() == Some(&Name::Word(*high)) {
                return place;
            }
            touched.extend(self.lanes.steps[number].words());
        }
        0
    }

    /// Words that later steps read go to their places, and the others go.
    fn leave(&mut self, next: usize) {
        let (mut later, mut met) = (BTreeSet::new(), BTreeSet::new());
        for step in &self.lanes.steps[next..] {
            later.extend(step.words().filter(|&word| met.insert(word) && !step.is_set()));
        }
        while let Some(&Name::Word(word)) = self.names.last() {
            self.names.pop();
            if later.contains(&word) {
                push(self.code, self.scratch + self.lanes.place(word));
                self.code.op(evm::MSTORE);
            } else {
                self.code.op(evm::POP);
            }
        }
    }

    // --- the stack ----------------------------------------------------------------------------------------------------

    fn name(&mut self, name: Name) {
        *self.names.last_mut().expect("it was pushed") = name;
    }

    fn depth(&self, name: Name) -> Option<usize> {
        self.names.iter().rev().position(|&other| other == name)
    }

    fn push(&mut self, number: U256) {
        self.code.push(BigUint::from_bytes_be(&number.to_be_bytes::<32>()));
        self.names.push(Name::Other);
    }

    fn dup(&mut self, depth: usize) {
        self.code.op(evm::DUP1 + u8::try_from(depth).expect("it is in reach"));
        self.names.push(Name::Other);
    }

    fn swap(&mut self, depth: usize) {
        if depth > 0 {
            self.code.op(evm::SWAP1 + u8::try_from(depth - 1).expect("it is in reach"));
            let top = self.names.len() - 1;
            self.names.swap(top, top - depth);
        }
    }

    /// A constant: a copy of one that is in reach takes one byte.
    fn constant(&mut self, number: U256) {
        match self.depth(Name::Constant(number)).filter(|&depth| depth < REACH) {
            Some(depth) => self.dup(depth),
            None => self.push(number),
        }
    }

    /// An operation of two words.
    fn op(&mut self, opcode: u8) {
        self.code.op(opcode);
        self.names.pop();
        self.name(Name::Other);
    }

    fn shift(&mut self, opcode: u8, bits: u32) {
        if bits > 0 {
            self.constant(U256::from(bits));
            self.op(opcode);
        }
    }

    fn load(&mut self, word: u32) {
        if self.depth(Name::Word(word)).is_none() {
            self.push(U256::from(self.scratch + self.lanes.place(word)));
            self.code.op(evm::MLOAD);
            self.name(Name::Word(word));
        }
    }

    fn raise(&mut self, word: u32) {
        let depth = self.depth(Name::Word(word)).expect("words of a run are on the stack");
        self.swap(depth);
    }

    // --- constants ----------------------------------------------------------------------------------------------------

    /// `number` in all cells of so many bits.
    fn each(bits: u32, number: U256) -> U256 {
        (0..256).step_by(bits as usize).fold(U256::ZERO, |word, bit| word | number << bit) // u32 to usize widens
    }

    /// The lowest `bits` bits of every lane.
    fn mask(&self, bits: u32) -> U256 {
        Self::each(self.lanes.bits, (U256::ONE << bits as usize) - U256::ONE)
    }

    /// Added to numbers below the highest bit of a cell, it sets that of all that are not below q.
    fn test(&self, sources: usize) -> U256 {
        let bits = self.cell_bits(sources);
        Self::each(bits, (U256::ONE << (bits - 1) as usize) - U256::from(self.lanes.modulus))
    }

    /// Bits of a number in calldata.
    fn cell_bits(&self, sources: usize) -> u32 {
        self.lanes.bits * u32::try_from(sources).expect("sources are few")
    }

    /// times·q in every lane.
    fn multiple(&self, times: u64) -> U256 {
        Self::each(self.lanes.bits, U256::from(times) * U256::from(self.lanes.modulus))
    }

    // --- acts ---------------------------------------------------------------------------------------------------------

    /// Words from calldata. The highest bit of a number's cell in v or v + test is set if the number is not below q: all are collected and looked at
    /// once. A sum runs over into other cells only where the bit is set in v, or in the sum of a cell below.
    fn takes(&mut self, takes: &[Act<'_>], sources: usize) {
        let (bits, test) = (self.cell_bits(sources), self.test(sources));
        self.push(U256::ZERO);
        for take in takes {
            let Act::Take { word, from, times } = *take else { unreachable!("takes are what is given") };
            let offset = (times > 0).then(|| self.multiple(times));
            for (number, &first) in from.iter().enumerate() {
                let is_last = number + 1 == from.len();
                self.push(U256::from(first));
                self.code.op(evm::CALLDATALOAD);
                match offset.filter(|_| number == 0 && is_last) {
                    Some(offset) => self.tested_and_moved(test, offset),
                    None => self.tested(test),
                } // [what numbers have, v, (those before)]
                if number > 0 {
                    self.swap(2);
                    self.shift(evm::SHL, self.lanes.bits);
                    self.op(evm::OR);
                    if let Some(offset) = offset.filter(|_| is_last) {
                        self.constant(offset);
                        self.op(evm::ADD);
                    }
                    self.swap(1);
                }
            }
            let below = self.names.len() - 2;
            self.names[below] = Name::Word(word);
        }
        self.constant(Self::highest(bits));
        self.op(evm::AND);
        self.code.push_label(self.fail);
        self.code.op(evm::JUMPI);
        self.names.pop();
    }

    /// The highest bit of all cells of so many bits.
    fn highest(bits: u32) -> U256 {
        Self::each(bits, U256::ONE << (bits - 1) as usize)
    }

    /// The mask that numbers of calldata are looked at with, if a run takes some.
    fn highest_of_takes(&self, run: &[Vec<Planned<'_>>]) -> Option<U256> {
        run.iter().flatten().find_map(|planned| match planned.act {
            Act::Take { from, .. } => Some(Self::highest(self.cell_bits(from.len()))),
            _ => None,
        })
    }

    /// Collects bits of v and v + test. [v, bad] → [bad', v]
    fn tested(&mut self, test: U256) {
        self.swap(1);
        self.dup(1);
        self.op(evm::OR);
        self.dup(1);
        self.constant(test);
        self.op(evm::ADD);
        self.op(evm::OR);
    }

    /// The same, and v is moved by an offset. [v, bad] → [bad', v + offset]
    fn tested_and_moved(&mut self, test: U256, offset: U256) {
        self.dup(0);
        self.dup(0);
        self.constant(test);
        self.op(evm::ADD);
        self.op(evm::OR);
        self.swap(1);
        self.constant(offset);
        self.op(evm::ADD);
        self.swap(2);
        self.op(evm::OR);
    }

    fn act(&mut self, act: Act<'_>) {
        match act {
            Act::Take { .. } => unreachable!("takes are emitted in runs"),
            Act::Offset { word, times } => {
                self.raise(word);
                let multiple = self.multiple(times);
                self.constant(multiple);
                self.op(evm::ADD);
                self.name(Name::Word(word));
            }
            Act::Reduce { word, quotient } => {
                self.raise(word);
                self.reduce(quotient);
                self.name(Name::Word(word));
            }
            Act::Butterfly { low, high, by, is_negative, quotient } => {
                self.raise(high);
                self.times(by, quotient); // [r]
                let (at_low, at_high) = if is_negative { (evm::SUB, evm::ADD) } else { (evm::ADD, evm::SUB) };
                self.dup(0);
                let depth = self.depth(Name::Word(low)).expect("words of a run are on the stack");
                self.dup(depth);
                self.op(at_low); // [a ± r, r, .., a]
                self.swap(depth);
                self.op(at_high);
                self.name(Name::Word(high));
                let place = self.names.len() - depth;
                self.names[place] = Name::Word(low);
            }
            Act::Back { .. } => self.back(act),
            Act::Multiply { word, by, root, of_root, quotient } => self.multiply((word, by), root, (of_root, quotient)),
            Act::Read { word, from, bits, times } => {
                self.push(U256::from(self.scratch + from));
                self.code.op(evm::MLOAD);
                let mask = self.mask(bits);
                self.constant(mask);
                self.op(evm::AND);
                if times > 0 {
                    let multiple = self.multiple(times);
                    self.constant(multiple);
                    self.op(evm::ADD);
                }
                self.name(Name::Word(word));
            }
            Act::Leave { word, quotient, .. } => {
                self.raise(word);
                if let Some(quotient) = quotient {
                    self.reduce(quotient);
                }
                self.push(U256::from(self.scratch + self.lanes.place(word)));
                self.code.op(evm::MSTORE);
                self.names.truncate(self.names.len() - 2);
            }
            Act::Put { word, to, rows, .. } => self.put(word, to, rows),
        }
    }

    /// The butterfly backwards: [.., a, .., b] → [.., a + b, .., r]
    fn back(&mut self, act: Act<'_>) {
        let Act::Back { low, high, by, is_negative, times, quotient } = act else { unreachable!("it is given one") };
        self.raise(high);
        self.dup(0);
        let depth = self.depth(Name::Word(low)).expect("words of a run are on the stack");
        self.dup(depth);
        self.op(evm::ADD);
        self.swap(depth); // [a + b, .., b, a]
        if is_negative {
            self.swap(1);
        }
        self.op(evm::SUB);
        if times > 0 {
            let multiple = self.multiple(times);
            self.constant(multiple);
            self.op(evm::ADD);
        }
        self.times(by, quotient);
        self.name(Name::Word(high));
        let place = self.names.len() - depth;
        self.names[place] = Name::Word(low);
    }

    /// With N = 2²⁵⁶ − 1, MULMOD(a, c, N) sums the low and the high half of a·c, for c = root·b, and MUL(a, b − c) has a·b in place of the low one.
    fn multiply(&mut self, (word, by): (u32, u32), root: u64, (of_root, quotient): (Quotient, Quotient)) {
        self.copy(Name::Word(by));
        self.times(root, of_root); // [c]
        self.constant(U256::MAX);
        self.dup(1);
        self.copy(Name::Word(word));
        self.code.op(evm::MULMOD);
        self.names.truncate(self.names.len() - 2);
        self.name(Name::Other);
        self.swap(1);
        self.copy(Name::Word(by));
        self.op(evm::SUB); // [MULMOD, b − c]
        self.copy(Name::Word(word));
        self.op(evm::MUL);
        self.op(evm::ADD);
        self.reduce(quotient);
        let depth = self.depth(Name::Word(word)).expect("words of a run are on the stack");
        self.swap(depth);
        self.code.op(evm::POP);
        self.names.pop();
        let place = self.names.len() - depth;
        self.names[place] = Name::Word(word);
    }

    /// [v] → [v·by − h·q]
    fn times(&mut self, by: u64, quotient: Quotient) {
        self.push(U256::from(by));
        self.dup(1);
        self.op(evm::MUL);
        self.swap(1);
        self.push(U256::from(quotient.factor));
        self.op(evm::MUL);
        self.less_quotient(quotient);
    }

    /// [v] → [v − h·q]
    fn reduce(&mut self, quotient: Quotient) {
        self.dup(0);
        if quotient.first > 0 {
            self.shift(evm::SHR, quotient.first);
            let mask = self.mask(self.lanes.bits - quotient.first);
            self.constant(mask);
            self.op(evm::AND);
        }
        self.push(U256::from(quotient.factor));
        self.op(evm::MUL);
        self.less_quotient(quotient);
    }

    /// [v·factor, u] → [u − h·q]
    fn less_quotient(&mut self, quotient: Quotient) {
        self.shift(evm::SHR, quotient.shift);
        let mask = self.mask(self.lanes.bits - quotient.shift);
        self.constant(mask);
        self.op(evm::AND);
        self.constant(U256::ZERO.wrapping_sub(U256::from(self.lanes.modulus)));
        self.op(evm::MUL);
        self.op(evm::ADD);
    }
}
