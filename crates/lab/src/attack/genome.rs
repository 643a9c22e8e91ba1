//! Candidates of the search: a loop around a list of genes, each a few instructions that may hurt an engine.
//!
//! Genes know no revision: [`Ground`] writes them for one, and brings their numbers to what there is room for.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use residue_isa::opcode::evm as op;
use residue_isa::{Arithmetic, Assembly};

use super::below;
use super::ground::{Bounds, Ground};
use crate::error::LabError;

/// Genes of a candidate.
const GENES_MAX: usize = 24;
/// Copies of the genes in the code.
const COPIES_MAX: usize = 1 << 14;
/// Slots of a field context, one number for each candidate; within the bound a quarter of them at most.
const SLOTS: [u16; 3] = [16, 64, 256];
/// Gas that called frames get: hardly enough to begin, and as much as there is.
const CALL_GAS: [u32; 4] = [3_000, 20_000, 200_000, u32::MAX];

/// One thing that a candidate does. Places are offsets or slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gene {
    /// Field arithmetic.
    Field(Field),
    /// Sets a modulus, or switches to another field context.
    Modulus(u8),
    /// Changes a byte of a modulus in memory.
    WriteModulus { modulus: u8, byte: u8, value: u8 },
    /// Loads slots to memory, or stores them.
    Transfer { is_load: bool, slot: u8, count: u8 },
    /// Brings a slot into Montgomery form, or inverts it.
    Convert { slot: u8, count: u8 },
    /// A jump target: ends a block.
    Jumpdest,
    /// Reads a word of memory.
    Read(u32),
    /// Calls the code itself.
    Call { gas: u32 },
}

/// The operands of field arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub operation: Arithmetic,
    /// Result, first and second operand.
    pub places: [u32; 3],
    /// Lanes, where a revision has them.
    pub count: u8,
    /// Their strides; the first is not 0.
    pub strides: [u8; 3],
    /// Which modulus, where an instruction names it.
    pub modulus: u8,
}

/// A candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Genome {
    genes: Vec<Gene>,
    /// How often the list stands in the code, with a jump target behind each copy: many blocks, each entered rarely.
    copies: usize,
    /// Slots of each field context.
    slots: u16,
}

/// Code with its calldata.
pub(super) struct Program {
    pub code: Vec<u8>,
    pub input: Vec<u8>,
}

fn byte(random: &mut ChaCha8Rng) -> u8 {
    below(random, 256) as u8 // Below 256.
}

impl Gene {
    fn random(random: &mut ChaCha8Rng, ground: &Ground) -> Self {
        match below(random, 16) {
            0..=7 => Gene::Field(Field {
                operation: Arithmetic::ALL[below(random, 3)],
                places: [(); 3].map(|()| ground.random_place(random)),
                count: [1, 1, 2, 4, 8, 16, 30][below(random, 7)],
                strides: [1 + byte(random) % 8, byte(random) % 9, byte(random) % 9],
                modulus: [0, 0, 0, byte(random)][below(random, 4)],
            }),
            8 | 9 if ground.sets_modulus() => Gene::Modulus(byte(random)),
            10 if ground.has_modulus_in_memory() => {
                Gene::WriteModulus { modulus: byte(random), byte: byte(random), value: byte(random) }
            }
            11 if ground.has_slots() => {
                let (is_load, slot) = (below(random, 2) == 0, byte(random));
                Gene::Transfer { is_load, slot, count: [1, 1, 4, 16][below(random, 4)] }
            }
            12 if ground.converts() => Gene::Convert { slot: byte(random), count: [1, 8][below(random, 2)] },
            13 => Gene::Read(ground.random_place(random)),
            14 => Gene::Call { gas: CALL_GAS[below(random, CALL_GAS.len())] },
            _ => Gene::Jumpdest,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Gene::Field(Field { operation: Arithmetic::Add, .. }) => "add",
            Gene::Field(Field { operation: Arithmetic::Sub, .. }) => "sub",
            Gene::Field(Field { operation: Arithmetic::Mul, .. }) => "mul",
            Gene::Modulus(_) => "other modulus",
            Gene::WriteModulus { .. } => "write of a modulus",
            Gene::Transfer { is_load: true, .. } => "load",
            Gene::Transfer { is_load: false, .. } => "store",
            Gene::Convert { .. } => "conversion",
            Gene::Jumpdest => "jump target",
            Gene::Read(_) => "read of memory",
            Gene::Call { .. } => "call of itself",
        }
    }
}

impl Genome {
    /// A candidate of the first generation.
    pub fn random(random: &mut ChaCha8Rng, ground: &Ground) -> Self {
        let genes = (0..1 + below(random, GENES_MAX)).map(|_| Gene::random(random, ground)).collect();
        Self { genes, copies: 1 << below(random, 12), slots: SLOTS[below(random, SLOTS.len())] }
    }

    /// A candidate from two others: genes of both, some of them changed.
    pub fn child(&self, other: &Self, random: &mut ChaCha8Rng, ground: &Ground) -> Self {
        let cut = below(random, self.genes.len() + 1);
        let behind = other.genes.iter().skip(below(random, other.genes.len() + 1));
        let mut genes: Vec<Gene> = self.genes[..cut].iter().chain(behind).copied().take(GENES_MAX).collect();
        for gene in &mut genes {
            if below(random, 6) == 0 {
                *gene = Gene::random(random, ground);
            }
        }
        if genes.is_empty() || below(random, 3) == 0 {
            genes.push(Gene::random(random, ground));
        }
        let copies = match below(random, 4) {
            0 => (self.copies / 2).max(1),
            1 => self.copies * 2,
            2 => other.copies,
            _ => self.copies,
        };
        let slots = [self.slots, other.slots, SLOTS[below(random, SLOTS.len())]][below(random, 3)];
        Self { genes, copies: copies.min(COPIES_MAX), slots }
    }

    /// The loop, with as many copies as fit into the code.
    pub(super) fn program(&self, ground: &Ground, code_bytes_max: usize) -> Result<Program, LabError> {
        let one = self.code(ground, 1)?.len();
        let two = self.code(ground, 2)?.len();
        let room = code_bytes_max.saturating_sub(one) / (two - one).max(1);
        let code = self.code(ground, self.copies.clamp(1, room + 1))?;
        Ok(Program { code, input: ground.image() })
    }

    fn code(&self, ground: &Ground, copies: usize) -> Result<Vec<u8>, LabError> {
        let slots = match ground.bounds {
            Bounds::Anywhere => self.slots,
            Bounds::Within => self.slots.min(SLOTS[1]),
        };
        let mut code = Assembly::new();
        ground.begin(&mut code, &self.genes, slots);
        let top = code.new_label();
        code.label(top);
        for _ in 0..copies {
            for &gene in &self.genes {
                ground.emit(&mut code, gene, slots)?;
            }
            code.op(op::JUMPDEST);
        }
        code.push_label(top).op(op::JUMP);
        crate::measure::assembled(&code, ground.revision)
    }

    /// What it is made of.
    pub fn description(&self, ground: &Ground) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for gene in &self.genes {
            *counts.entry(gene.name()).or_default() += 1;
        }
        let genes: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let bounds = if ground.bounds == Bounds::Anywhere { "anywhere" } else { "within the bound" };
        let slots = if ground.has_slots() { format!(", {} slots at most", self.slots) } else { String::new() };
        format!("{} in each of up to {} copies, operands {bounds}{slots}", genes.join(", "), self.copies)
    }
}

/// The places in memory that genes name.
pub(super) fn places(genes: &[Gene]) -> impl Iterator<Item = u32> + '_ {
    genes.iter().flat_map(|gene| match gene {
        Gene::Field(field) => field.places.to_vec(),
        Gene::Read(place) => vec![*place],
        _ => Vec::new(),
    })
}
