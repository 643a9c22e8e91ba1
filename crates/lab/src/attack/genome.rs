//! Candidates of the search: a world of contracts with a history of calls from outside.
//!
//! A contract is a loop around [`Section`]s of genes. Ways to a section may lead through heads, each of which ends with a jump
//! to a copy of the word on the stack, so that what follows it is decided where it is entered. Copies of the contract, each
//! with another number in it, are called in turn by one more contract.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::gene::{Call, CallKind, Gene};
use super::ground::{Bounds, Ground};
use super::{below, one_of};

/// Genes of a section.
const GENES_MAX: usize = 24;
/// Sections of a contract.
const SECTIONS_MAX: usize = 5;
/// Copies of a section's genes in the code.
const COPIES_MAX: usize = 1 << 14;
/// Slots of a field context, one number for each candidate; within the bound a quarter of the most.
const SLOTS: [u16; 5] = [4, 16, 64, 100, 256];
/// Within the bound.
const SLOTS_BOUNDED: u16 = 64;
/// Turns of the inner loop.
const TURNS: [u16; 6] = [1, 1, 2, 16, 100, 255];
/// Contracts of a world.
const CONTRACTS: [u16; 8] = [1, 1, 1, 2, 8, 60, 600, CONTRACTS_MAX];
/// The most contracts of a world.
pub const CONTRACTS_MAX: u16 = 2000;
/// Calls from outside.
const ENTRIES_MAX: usize = 7;

/// A candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Genome {
    /// Code of a contract, in order.
    pub sections: Vec<Section>,
    /// Ways to the sections of the tail.
    pub heads: Heads,
    /// Repetitions of a turn's sections before the sections after it.
    pub turns: u16,
    /// Slots of each field context.
    pub slots: u16,
    /// Bytes of a modulus; the revision may have no such modulus, and then it is the nearest below.
    pub width_bytes: u16,
    /// True if a contract stops at once, so that nothing in it is executed.
    pub is_idle: bool,
    /// Bytes after the executed code.
    pub filler: Filler,
    /// Contracts that differ in their number alone.
    pub contracts: u16,
    /// Calls of the contracts, if there are several.
    pub call: Call,
    /// Calls from outside, one after the other.
    pub history: Vec<Entry>,
}

/// Genes one after the other, in some copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The genes of a copy.
    pub genes: Vec<Gene>,
    /// Number of copies in the code.
    pub copies: usize,
    /// True if a jump target follows each copy: many blocks, each entered rarely.
    pub has_targets: bool,
    /// Place in the contract.
    pub place: Place,
}

/// Place of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// In each turn.
    Turn,
    /// After all turns.
    After,
    /// After a jump from a head; in each turn, if there are no heads.
    Tail,
}

/// Blocks that end with a jump to a copied word: to the tail, or to a way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heads {
    /// Number of heads.
    pub count: u8,
    /// Genes of each head.
    pub genes: Vec<Gene>,
    /// Entries of each head with the way out, for each entry with the tail.
    pub short_entries: u8,
    /// True if a word of calldata selects whether the tail is entered: see [`Entry::to_tail`].
    pub asks_calldata: bool,
}

/// Bytes after the executed code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Filler {
    /// Nothing.
    Nothing,
    /// Jump targets to the end.
    Targets,
    /// Blocks of one product each.
    Blocks,
    /// Bytes at random.
    Noise,
}

/// A call from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Heads that lead to the tail if calldata decides: bit i for every head of number i mod 8.
    pub to_tail: u8,
    /// A share of the gas of a search, in sixteenths.
    pub gas_16ths: u8,
}

impl Entry {
    /// All of the gas.
    pub const WHOLE: Self = Self { to_tail: u8::MAX, gas_16ths: 16 };
}

impl Section {
    /// Genes in each turn.
    pub fn of(genes: Vec<Gene>, copies: usize) -> Self {
        Self { genes, copies, has_targets: false, place: Place::Turn }
    }

    fn random(random: &mut ChaCha8Rng, ground: &Ground) -> Self {
        let genes = (0..1 + below(random, GENES_MAX)).map(|_| Gene::random(random, ground)).collect();
        let place = one_of(random, &[Place::Turn, Place::Turn, Place::Turn, Place::After, Place::Tail]);
        Self { genes, copies: 1 << below(random, 12), has_targets: below(random, 4) > 0, place }
    }

    /// Genes of both, some of them changed.
    fn child(&self, other: &Self, random: &mut ChaCha8Rng, ground: &Ground) -> Self {
        let cut = below(random, self.genes.len() + 1);
        let rest = other.genes.iter().skip(below(random, other.genes.len() + 1));
        let mut genes: Vec<Gene> = self.genes[..cut].iter().chain(rest).copied().take(GENES_MAX).collect();
        mutate(&mut genes, random, ground);
        let copies = match below(random, 4) {
            0 => (self.copies / 2).max(1),
            1 => self.copies * 2,
            2 => other.copies,
            _ => self.copies,
        };
        let has_targets = self.has_targets ^ (below(random, 12) == 0);
        Self { genes, copies: copies.min(COPIES_MAX), has_targets, place: self.place }
    }
}

/// Changes some genes, and adds one at times.
fn mutate(genes: &mut Vec<Gene>, random: &mut ChaCha8Rng, ground: &Ground) {
    for gene in genes.iter_mut() {
        if below(random, 6) == 0 {
            *gene = Gene::random(random, ground);
        }
    }
    if genes.is_empty() || below(random, 3) == 0 {
        genes.push(Gene::random(random, ground));
    }
}

impl Heads {
    /// None.
    pub const NONE: Self = Self { count: 0, genes: Vec::new(), short_entries: 0, asks_calldata: false };

    fn random(random: &mut ChaCha8Rng, ground: &Ground) -> Self {
        Self {
            count: one_of(random, &[1, 2, 8, 31]),
            genes: (0..1 + below(random, 4)).map(|_| Gene::random(random, ground)).collect(),
            short_entries: one_of(random, &[0, 1, 4, 5, 6, 20]),
            asks_calldata: below(random, 3) == 0,
        }
    }
}

impl Genome {
    /// One contract that does a section again and again.
    pub fn of(sections: Vec<Section>) -> Self {
        Self {
            sections,
            heads: Heads::NONE,
            turns: 1,
            slots: 16,
            width_bytes: 48,
            is_idle: false,
            filler: Filler::Nothing,
            contracts: 1,
            call: Call { kind: CallKind::Static, gas: 3_000 },
            history: vec![Entry::WHOLE],
        }
    }

    /// A candidate of the first generation.
    pub fn random(random: &mut ChaCha8Rng, ground: &Ground) -> Self {
        let mut genome = Self::of((0..1 + below(random, 3)).map(|_| Section::random(random, ground)).collect());
        genome.slots = one_of(random, &SLOTS);
        genome.width_bytes = one_of(random, &ground.widths());
        for _ in 0..below(random, 4) {
            genome.change(random, ground);
        }
        genome
    }

    /// A candidate from two others: sections of both, some of them changed.
    pub fn child(&self, other: &Self, random: &mut ChaCha8Rng, ground: &Ground) -> Self {
        let mut child = Self { sections: Vec::new(), ..self.clone() };
        for (number, section) in self.sections.iter().enumerate() {
            let partner = other.sections.get(number).unwrap_or(section);
            child.sections.push(match below(random, 4) {
                0 => section.clone(),
                1 => section.child(section, random, ground),
                _ => section.child(partner, random, ground),
            });
        }
        if below(random, 6) == 0 {
            child.sections.push(Section::random(random, ground));
        }
        if below(random, 8) == 0 && child.sections.len() > 1 {
            child.sections.remove(below(random, child.sections.len()));
        }
        child.sections.truncate(SECTIONS_MAX);
        if below(random, 3) == 0 {
            let another = one_of(random, &SLOTS);
            child.slots = one_of(random, &[other.slots, another]);
        }
        if below(random, 4) == 0 {
            child.heads = other.heads.clone();
        }
        if below(random, 4) == 0 {
            (child.contracts, child.is_idle, child.filler) = (other.contracts, other.is_idle, other.filler);
        }
        if below(random, 2) == 0 {
            child.change(random, ground);
        }
        child
    }

    /// Changes one thing beside the genes of sections.
    fn change(&mut self, random: &mut ChaCha8Rng, ground: &Ground) {
        match below(random, 12) {
            0 => self.width_bytes = one_of(random, &ground.widths()),
            1 => self.turns = one_of(random, &TURNS),
            2 | 3 => self.contracts = one_of(random, &CONTRACTS),
            4 => self.is_idle = !self.is_idle && self.contracts > 1,
            5 => self.filler = one_of(random, &[Filler::Nothing, Filler::Targets, Filler::Blocks, Filler::Noise]),
            6 => self.call = Call::random(random),
            7 => self.heads = Heads::random(random, ground),
            8 if self.heads.count > 0 => {
                self.heads.short_entries = one_of(random, &[0, 1, 4, 5, 6, 20]);
                mutate(&mut self.heads.genes, random, ground);
            }
            8 => self.heads = Heads::NONE,
            9 => {
                let section = below(random, self.sections.len().max(1));
                if let Some(section) = self.sections.get_mut(section) {
                    section.place = one_of(random, &[Place::Turn, Place::After, Place::Tail]);
                }
            }
            _ => {
                let entry = |random: &mut ChaCha8Rng| Entry {
                    to_tail: one_of(random, &[0, 0, u8::MAX, 0b0101_0101]),
                    gas_16ths: one_of(random, &[1, 4, 16]),
                };
                self.history = (0..below(random, ENTRIES_MAX)).map(|_| entry(random)).collect();
                self.history.push(Entry::WHOLE);
            }
        }
    }

    /// Every gene.
    pub fn genes(&self) -> impl Iterator<Item = &Gene> {
        self.sections.iter().flat_map(|section| &section.genes).chain(&self.heads.genes)
    }

    /// Slots of a field context within the bounds.
    pub fn slots_within(&self, bounds: Bounds) -> u16 {
        match bounds {
            Bounds::Anywhere => self.slots,
            Bounds::Within => self.slots.min(SLOTS_BOUNDED),
        }
    }

    /// Description in words.
    pub fn description(&self, ground: &Ground) -> String {
        let mut parts: Vec<String> = Vec::new();
        if self.contracts > 1 {
            parts.push(format!("{} contracts called in turn with {} gas each", self.contracts, self.call.gas));
        }
        if self.is_idle {
            parts.push("which stop at once".to_owned());
        } else {
            parts.extend(self.sections.iter().map(Section::description));
        }
        if self.heads.count > 0 && !self.is_idle {
            let Heads { count, short_entries, .. } = self.heads;
            parts.push(format!("{count} heads, {short_entries} short entries of each before a long one"));
        }
        if self.turns > 1 {
            parts.push(format!("{} turns", self.turns));
        }
        if self.filler != Filler::Nothing {
            parts.push(format!("{:?} to the end of the code", self.filler).to_lowercase());
        }
        if self.history.len() > 1 {
            parts.push(format!("{} transactions", self.history.len()));
        }
        if ground.has_slots() {
            parts.push(format!("{} slots of {} bytes at most", self.slots, self.width_bytes));
        }
        parts.push(format!(
            "operands {}",
            if ground.bounds == Bounds::Anywhere { "anywhere" } else { "within the bound" }
        ));
        parts.join("; ")
    }
}

impl Section {
    fn description(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for gene in &self.genes {
            *counts.entry(gene.name()).or_default() += 1;
        }
        let genes: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let place = match self.place {
            Place::Turn => "",
            Place::After => " after the turns",
            Place::Tail => " in the tail",
        };
        let targets = if self.has_targets { ", each before a jump target" } else { "" };
        format!("{} in each of up to {} copies{place}{targets}", genes.join(", "), self.copies)
    }
}
