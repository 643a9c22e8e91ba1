//! Histories from seeds, made to stress the state that an engine keeps between runs.
//!
//! The contracts of a history share one layout of their input ([`layout`]): words that say how many slots, which size of modulus, how many
//! turns, how deep calls go, and words for the stack; then moduli and values. A contract takes each of these from its input or has it
//! in its code. So the runs of a history ([`flavour`]), which differ in few of them, enter the same blocks with other stacks, moduli,
//! slot counts and amounts of gas. Codes are written by [`writer`] in [`pieces`], those on slots by [`slots`], those on values in memory by
//! [`memory`]; both call, create and store as [`world`] has it.

mod flavour;
mod layout;
mod memory;
mod pieces;
mod slots;
mod world;
mod writer;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::Fork;
use residue_isa::assembly::{Item, disassemble, parse};
use residue_isa::{Family, GasSchedule, Revision};

use crate::generate::{self, Kind};
use crate::history::{Account, Body, Contract, GAS_AMPLE, Gas, History, Run};
use flavour::Flavour;
use layout::Layout;
use writer::Writer;

/// Forks that histories run on.
pub const FORKS: [Fork; 7] =
    [Fork::London, Fork::Paris, Fork::Shanghai, Fork::Cancun, Fork::Prague, Fork::Osaka, Fork::Amsterdam];
/// Weight of a revision in which the engine finds blocks, relative to others.
const BLOCKS_WEIGHT: u32 = 5;

/// The history of a seed, for one revision or any.
pub fn history(seed: u64, revision: Option<Revision>) -> History {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let any = any_revision(&mut random);
    Inventor::new(revision.unwrap_or(any), random).history()
}

fn any_revision(random: &mut ChaCha8Rng) -> Revision {
    let weight = |revision: &Revision| if residue_engine::has_blocks(*revision) { BLOCKS_WEIGHT } else { 1 };
    *Revision::ALL.choose_weighted(random, weight).expect("there are revisions, and their weights are not zero")
}

struct Inventor {
    revision: Revision,
    fork: Fork,
    random: ChaCha8Rng,
    layout: Layout,
    contracts: Vec<Contract>,
    runs: Vec<Run>,
}

impl Inventor {
    fn new(revision: Revision, mut random: ChaCha8Rng) -> Self {
        let fork = match random.random_range(0..3) {
            0 => *FORKS.choose(&mut random).expect("there are forks"),
            _ => Fork::Osaka,
        };
        let layout = Layout::new(revision, &mut random);
        Self { revision, fork, random, layout, contracts: Vec::new(), runs: Vec::new() }
    }

    fn history(mut self) -> History {
        let own = self.revision.interface().default_schedule.to_owned();
        let schedule = match self.random.random_range(0..4) {
            0 => GasSchedule::names(self.revision).choose(&mut self.random).cloned().unwrap_or(own),
            _ => own,
        };
        let count = *[1, 1, 1, 2, 2, 3, 4, 6].choose(&mut self.random).expect("it is not empty");
        for number in 0..count {
            let body = self.body(number, count);
            self.contracts.push(Contract { address: account(number), body });
        }
        self.runs();
        let Self { revision, fork, contracts, runs, .. } = self;
        History { revision, schedule, fork, contracts, runs }
    }

    fn body(&mut self, number: u16, count: u16) -> Body {
        if number > 0 && self.fork >= Fork::Prague && self.random.random_ratio(1, 6) {
            return Body::Delegation(account(self.random.random_range(0..count)));
        }
        let is_written = match self.revision.family() {
            Family::MemorySlots | Family::Words => false,
            Family::Memory384 => self.revision != Revision::Evm384V0,
            Family::Slots => true,
        };
        if !is_written || self.random.random_ratio(1, 20) {
            return Body::Code(self.program());
        }
        let random = ChaCha8Rng::seed_from_u64(self.random.random());
        let mut writer = Writer::new(self.revision, self.fork, random, &self.layout, count);
        writer.contract();
        Body::Code(writer.finish())
    }

    /// A program as [`generate`] makes it, without calls.
    fn program(&mut self) -> Vec<Item> {
        let kind = if self.random.random_ratio(1, 8) { Kind::Damaged } else { Kind::Field };
        let program = generate::program(self.revision, kind, self.random.random());
        let text = disassemble(&program.code, self.revision);
        parse(&text, self.revision).expect("what is disassembled assembles")
    }

    /// A few inputs, each run several times, in an order that mixes them.
    fn runs(&mut self) {
        let first = Flavour::new(&self.layout, &mut self.random);
        let mut flavours = vec![first];
        for _ in 0..self.random.random_range(0..4) {
            let mut other = flavours[0].clone();
            for _ in 0..self.random.random_range(1..4) {
                other.change(&self.layout, &mut self.random);
            }
            flavours.push(other);
        }
        if self.random.random_ratio(1, 3) {
            return self.runs_of_two(&flavours[0]);
        }
        for _ in 0..self.random.random_range(1..12) {
            let flavour = flavours.choose(&mut self.random).expect("there is one").clone();
            let run = self.run(flavour);
            self.runs.push(run);
        }
    }

    /// Runs of an input that is spoiled, and of the same as it was.
    fn runs_of_two(&mut self, good: &Flavour) {
        let mut spoiled = good.clone();
        spoiled.spoil(&self.layout, &mut self.random);
        let contracts = u16::try_from(self.contracts.len()).expect("there are few");
        let to = account(if self.random.random_ratio(3, 4) { 0 } else { self.random.random_range(0..contracts) });
        for _ in 0..self.random.random_range(1..4) {
            let gas = match self.random.random_range(0..3) {
                0 => Gas::Share(self.random.random_range(0..1000)),
                _ => Gas::Limit(GAS_AMPLE),
            };
            for (flavour, gas) in [(&spoiled, gas), (good, Gas::Limit(GAS_AMPLE))] {
                let times = 1 << self.random.random_range(0..5);
                let input = flavour.input(&self.layout, &self.contracts, &mut self.random);
                self.runs.push(Run { gas, times, input, ..Run::new(to) });
            }
        }
    }

    fn run(&mut self, mut flavour: Flavour) -> Run {
        let random = &mut self.random;
        if random.random_ratio(1, 5) {
            flavour.change(&self.layout, random);
        }
        let is_spoiled = random.random_ratio(if self.runs.is_empty() { 1 } else { 0 } + 1, 5);
        if is_spoiled {
            flavour.spoil(&self.layout, random);
        }
        let contracts = u16::try_from(self.contracts.len()).expect("there are few");
        let to = if random.random_ratio(2, 3) { 0 } else { random.random_range(0..contracts) };
        let times = match random.random_range(0..8) {
            0..4 => 1,
            4..7 => random.random_range(2..9),
            _ => random.random_range(5..31),
        };
        let gas = match random.random_range(0..8) {
            _ if is_spoiled && random.random_ratio(1, 3) => Gas::Share(random.random_range(0..1000)),
            0 => Gas::Share(random.random_range(0..1000)),
            1 if random.random_ratio(1, 3) => Gas::Limit(random.random_range(0..20_000)),
            _ => Gas::Limit(GAS_AMPLE),
        };
        let mut run = Run {
            caller: Account(Account::CALLER.0 + random.random_range(0..2)),
            value: if random.random_ratio(1, 8) { random.random_range(1..9) } else { 0 },
            gas,
            times,
            is_inspected: random.random_ratio(1, 10),
            is_fresh: random.random_ratio(1, 4),
            ..Run::new(account(to))
        };
        if self.fork >= Fork::Prague && random.random_ratio(1, 12) {
            run.authorisations.push((Account(Account::CALLER.0 + 16), account(random.random_range(0..contracts))));
            if random.random_ratio(1, 2) {
                run.to = Account(Account::CALLER.0 + 16);
            }
        }
        run.input = flavour.input(&self.layout, &self.contracts, random);
        if random.random_ratio(1, 30) {
            run.input.truncate(random.random_range(0..=run.input.len()));
        }
        run
    }
}

fn account(number: u16) -> Account {
    Account(Account::FIRST.0 + number)
}
