//! Candidates of the search: a loop around a list of genes, each a few instructions that may hurt an engine.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use residue_isa::opcode::evm as op;
use residue_isa::revision::eip6690_2024::{LOADX, SETMODX, STOREX};
use residue_isa::revision::evm384::{BLS12_381_P, BLS12_381_R_INV};
use residue_isa::{Arithmetic, Assembly, FieldInstruction, Lanes, ModulusAt, Revision};

use super::{BOUND_BYTES, below};
use crate::error::LabError;

/// Memory that candidates with operands anywhere reach: about what a million gas of growth buys, and more than caches near
/// the core hold.
const FAR_BYTES: u32 = 700_000;
/// Slots of each of two field contexts of 48 bytes: together the 24,576 bytes that EIP-6690 allows, or a quarter of them.
const SLOTS: u8 = 255;
const SLOTS_WITHIN: u8 = 63;
/// Genes of a candidate.
const GENES_MAX: usize = 24;
/// Bytes of random values that a candidate finds in memory.
const IMAGE_BYTES: u32 = 4096;
/// Bytes of an element.
const ELEMENT: u32 = 48;

/// Where operands may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// As far as gas reaches.
    Anywhere,
    /// In 64 KiB of memory, or in a quarter of the slots.
    Within,
}

/// One thing that a candidate does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gene {
    /// Field arithmetic: places are offsets or slots.
    Field { operation: Arithmetic, out: u32, x: u32, y: u32, count: u8, stride: u8 },
    /// Switches to a field context.
    Switch(u8),
    /// Loads a slot to memory, or stores one.
    Transfer { is_load: bool, slot: u8 },
    /// A jump target: ends a block.
    Jumpdest,
    /// Reads a word of memory.
    Read(u32),
}

/// A candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Genome {
    genes: Vec<Gene>,
    /// How often the list stands in the code, with a jump target behind each copy: many blocks, each entered rarely.
    copies: usize,
}

/// Code with its calldata.
pub(super) struct Program {
    pub code: Vec<u8>,
    pub input: Vec<u8>,
}

/// Whether candidates are written for a revision: offsets of four bytes behind or under the opcode, or slots.
pub(super) fn is_supported(revision: Revision) -> bool {
    matches!(revision, Revision::Evm384V7 | Revision::Evm384V9 | Revision::Eip6690_2024)
}

impl Gene {
    fn random(random: &mut ChaCha8Rng, revision: Revision, bounds: Bounds) -> Self {
        let is_slots = revision == Revision::Eip6690_2024;
        let operation = Arithmetic::ALL[below(random, 3)];
        match below(random, 12) {
            0..=6 if is_slots => {
                let slots = if bounds == Bounds::Anywhere { SLOTS } else { SLOTS_WITHIN };
                let count = [1, 1, 2, 4, 8, 16, 30][below(random, 7)];
                let stride = 1 + below(random, usize::from(slots / count).clamp(1, 8)) as u8; // At most 8.
                let most =
                    usize::from(slots) - usize::from(count - 1) * usize::from(stride).min(usize::from(slots / count));
                let stride = stride.min(slots / count).max(1);
                let [out, x, y] = [0; 3].map(|_| below(random, most.max(1)) as u32); // At most 255.
                Gene::Field { operation, out, x, y, count, stride }
            }
            0..=6 => {
                let [out, x, y] = [0; 3].map(|_| place(random, bounds));
                Gene::Field { operation, out, x, y, count: 1, stride: 1 }
            }
            7 if is_slots => Gene::Switch(below(random, 2) as u8), // 0 or 1.
            8 | 9 if is_slots => Gene::Transfer { is_load: below(random, 2) == 0, slot: below(random, 60) as u8 }, // Below 60.
            10 | 11 => Gene::Jumpdest,
            _ => Gene::Read(place(random, bounds)),
        }
    }

    fn emit(self, code: &mut Assembly, revision: Revision) -> Result<(), LabError> {
        let is_slots = revision == Revision::Eip6690_2024;
        match self {
            Gene::Field { operation, out, x, y, count, stride } => {
                let lanes = |slot: u32| Lanes { index: u8::try_from(slot).unwrap_or(u8::MAX), stride };
                let instruction = if is_slots {
                    FieldInstruction::Slots { operation, out: lanes(out), x: lanes(x), y: lanes(y), count }
                } else {
                    FieldInstruction::Memory { operation, out, x, y, modulus: ModulusAt::Offset(0) }
                };
                let mut bytes = Vec::new();
                revision.encode(&instruction, &mut bytes).map_err(LabError::Encode)?;
                code.data(bytes);
            }
            Gene::Switch(id) => {
                code.push(u32::from(SLOTS) + 1).push(ELEMENT).push(ELEMENT).push(id).op(SETMODX);
            }
            Gene::Transfer { is_load: true, slot } => {
                code.push(1_u8).push(slot).push(IMAGE_BYTES).op(LOADX);
            }
            Gene::Transfer { is_load: false, slot } => {
                code.push(1_u8).push(2 * ELEMENT).push(slot).op(STOREX);
            }
            Gene::Jumpdest => {
                code.op(op::JUMPDEST);
            }
            Gene::Read(offset) => {
                code.push(offset).op(op::MLOAD).op(op::POP);
            }
        }
        Ok(())
    }

    fn name(self) -> &'static str {
        match self {
            Gene::Field { operation: Arithmetic::Add, .. } => "add",
            Gene::Field { operation: Arithmetic::Sub, .. } => "sub",
            Gene::Field { operation: Arithmetic::Mul, .. } => "mul",
            Gene::Switch(_) => "switch of context",
            Gene::Transfer { is_load: true, .. } => "load",
            Gene::Transfer { is_load: false, .. } => "store",
            Gene::Jumpdest => "jump target",
            Gene::Read(_) => "read of memory",
        }
    }
}

/// A byte offset behind the modulus: in a line, across lines, across pages, or far.
fn place(random: &mut ChaCha8Rng, bounds: Bounds) -> u32 {
    let most = if bounds == Bounds::Anywhere { FAR_BYTES } else { BOUND_BYTES - 64 };
    let reach = [256, 4096, 65_000, most][below(random, 4)].min(most);
    64 + (random.next_u32() % (reach - 128)).min(most - 128)
}

impl Genome {
    /// A candidate of the first generation.
    pub fn random(random: &mut ChaCha8Rng, revision: Revision, bounds: Bounds) -> Self {
        let genes = (0..1 + below(random, GENES_MAX)).map(|_| Gene::random(random, revision, bounds)).collect();
        Self { genes, copies: 1 << below(random, 12) }
    }

    /// A candidate from two others: genes of both, some of them changed.
    pub fn child(&self, other: &Self, random: &mut ChaCha8Rng, revision: Revision, bounds: Bounds) -> Self {
        let cut = below(random, self.genes.len() + 1);
        let behind = other.genes.iter().skip(below(random, other.genes.len() + 1));
        let mut genes: Vec<Gene> = self.genes[..cut].iter().chain(behind).copied().take(GENES_MAX).collect();
        for gene in &mut genes {
            if below(random, 6) == 0 {
                *gene = Gene::random(random, revision, bounds);
            }
        }
        if genes.is_empty() || below(random, 3) == 0 {
            genes.push(Gene::random(random, revision, bounds));
        }
        let copies = match below(random, 4) {
            0 => (self.copies / 2).max(1),
            1 => self.copies * 2,
            2 => other.copies,
            _ => self.copies,
        };
        Self { genes, copies: copies.min(1 << 14) }
    }

    /// The loop, with as many copies as fit into the code.
    pub(super) fn program(&self, revision: Revision, code_bytes_max: usize) -> Result<Program, LabError> {
        let one = self.code(revision, 1)?.len();
        let two = self.code(revision, 2)?.len();
        let room = code_bytes_max.saturating_sub(one) / (two - one).max(1);
        let code = self.code(revision, self.copies.clamp(1, room + 1))?;
        Ok(Program { code, input: image(revision) })
    }

    fn code(&self, revision: Revision, copies: usize) -> Result<Vec<u8>, LabError> {
        let mut code = Assembly::new();
        code.push(IMAGE_BYTES).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
        if revision == Revision::Eip6690_2024 {
            // The modulus big-endian, in the second element of the image.
            for id in [1_u8, 0] {
                code.push(u32::from(SLOTS) + 1).push(ELEMENT).push(ELEMENT).push(id).op(SETMODX);
            }
        }
        let top = code.new_label();
        code.label(top);
        for _ in 0..copies {
            for gene in &self.genes {
                gene.emit(&mut code, revision)?;
            }
            code.op(op::JUMPDEST);
        }
        code.push_label(top).op(op::JUMP);
        crate::measure::assembled(&code, revision)
    }

    /// What it is made of.
    pub fn description(&self, bounds: Bounds) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for gene in &self.genes {
            *counts.entry(gene.name()).or_default() += 1;
        }
        let genes: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let bounds = if bounds == Bounds::Anywhere { "anywhere" } else { "within the bound" };
        format!("{} in each of up to {} copies, operands {bounds}", genes.join(", "), self.copies)
    }
}

/// For offsets the modulus and r_inv, little-endian; for slots the modulus in the second element and a value below it in
/// the third, big-endian. Bytes at random behind.
fn image(revision: Revision) -> Vec<u8> {
    let mut image = vec![0; IMAGE_BYTES as usize]; // u32 to usize widens.
    ChaCha8Rng::seed_from_u64(0).fill_bytes(&mut image);
    let little: Vec<u8> = BLS12_381_P.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    if revision == Revision::Eip6690_2024 {
        let big = little.into_iter().rev();
        image[48..96].iter_mut().zip(big).for_each(|(byte, modulus)| *byte = modulus);
        image[96] = 0;
    } else {
        image[..48].copy_from_slice(&little);
        image[48..56].copy_from_slice(&BLS12_381_R_INV.to_le_bytes());
    }
    image
}
