//! The layout of inputs, which the contracts of a history share.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use residue_isa::Revision;
use residue_isa::revision::evm384::{Modulus, VALUE_BYTES};
use residue_isa::revision::rules::{SetForm, SizeUnit};

/// Words at the beginning of an input.
pub(super) const WORDS: usize = 8;
/// Bytes of them.
pub(super) const WORDS_BYTES: usize = 32 * WORDS;
/// The word with the number of slots; in EVM384 any.
pub(super) const SLOT_COUNT: usize = 0;
/// The word with the declared size of the modulus.
pub(super) const SIZE: usize = 1;
/// The word with the turns of loops.
pub(super) const TURNS: usize = 2;
/// The word with how deep calls may go.
pub(super) const DEPTH: usize = 3;
/// The word with the gas of calls.
pub(super) const CALL_GAS: usize = 4;
/// The first of the words for the stack.
pub(super) const STACK: usize = 5;

/// Bytes of a modulus in EVM384, with r_inv after it.
const MODULUS_BYTES: usize = VALUE_BYTES + 8;

/// Layout shared by the contracts of a history.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub revision: Revision,
    /// Slots, or values in memory, that the codes name.
    pub named: usize,
    /// Those of them that most instructions name.
    pub near: usize,
    /// The declared size of moduli that most runs have; 48 in EVM384.
    pub size: usize,
    /// The sizes that runs may have.
    pub sizes: Vec<usize>,
    /// Bytes for a modulus in the input; in EVM384 for both, each with r_inv.
    pub modulus_bytes: usize,
    /// Offsets of values in memory, in EVM384.
    pub places: Vec<u32>,
    /// Offsets of moduli in memory, in EVM384.
    pub moduli: Vec<u32>,
}

impl Layout {
    pub fn new(revision: Revision, random: &mut ChaCha8Rng) -> Self {
        match revision.evm384() {
            Some(_) => Self::of_memory(revision, random),
            None => Self::of_slots(revision, random),
        }
    }

    fn of_slots(revision: Revision, random: &mut ChaCha8Rng) -> Self {
        let named = match random.random_range(0..10) {
            0..6 => random.random_range(2..13),
            6 => random.random_range(13..65),
            7 | 8 => 64,
            _ => random.random_range(65..=256),
        };
        let near = if random.random_ratio(1, 2) { named } else { random.random_range(1..=named) };
        let (mut sizes, mut modulus_bytes) = (vec![48], 96);
        if let Some(rules) = revision.slot_rules() {
            let candidates: &[usize] = match rules.moduli.unit {
                SizeUnit::Bytes => &[1, 8, 9, 16, 24, 31, 32, 33, 40, 47, 48, 49, 56, 64, 80, 95, 96],
                SizeUnit::Bits => &[3, 8, 15, 17, 31, 32, 33, 63, 64, 65, 128, 254, 255, 256, 381, 384, 512, 768],
            };
            let allowed = candidates.iter().copied().filter(|size| rules.modulus_bytes(*size).is_some());
            let allowed: Vec<usize> = allowed.collect();
            let count = random.random_range(1..4);
            sizes = (0..count).map(|_| *allowed.choose(random).expect("every revision has some of them")).collect();
            // A modulus of six limbs is what most codes will have.
            let common = if rules.moduli.unit == SizeUnit::Bits { 384 } else { 48 };
            if random.random_ratio(1, 2) && allowed.contains(&common) {
                sizes[0] = common;
            }
            modulus_bytes = 96;
        }
        Self { revision, named, near, size: sizes[0], sizes, modulus_bytes, places: Vec::new(), moduli: Vec::new() }
    }

    fn of_memory(revision: Revision, random: &mut ChaCha8Rng) -> Self {
        let interface = revision.evm384().expect("the caller has asked");
        let count = random.random_range(3..15);
        let unit = interface.unit_bytes;
        // Side by side, with gaps, or at odd places; now and then one overlaps another.
        let stride = *[48, 64, 96, 49].choose(random).expect("it is not empty");
        let stride = if unit == 1 { stride } else { 48 };
        let start = if unit == 1 { *[0, 32, 96, 7].choose(random).expect("it is not empty") } else { 48 };
        let mut places: Vec<u32> = (0..count).map(|number| start + stride * number).collect();
        let end = start + stride * count;
        if unit == 1 && random.random_ratio(1, 6) {
            let at = random.random_range(0..places.len());
            places[at] += random.random_range(1..40);
        }
        let moduli = match interface.modulus {
            Modulus::Place(at) => vec![at],
            _ => (0..2).map(|number| (end + 96 + 96 * number).next_multiple_of(unit.max(1))).collect(),
        };
        let sizes = vec![VALUE_BYTES];
        let modulus_bytes = 2 * MODULUS_BYTES;
        Self {
            revision,
            named: places.len(),
            near: places.len(),
            size: VALUE_BYTES,
            sizes,
            modulus_bytes,
            places,
            moduli,
        }
    }

    /// Bytes of one value in memory, under a modulus of a declared size.
    pub fn element_bytes(&self, size: usize) -> usize {
        match self.revision.slot_rules() {
            Some(rules) => rules.element_bytes(rules.modulus_bytes(size).unwrap_or(size)),
            None => VALUE_BYTES,
        }
    }

    /// Values in an input.
    pub fn value_count(&self) -> usize {
        self.near.min(16)
    }

    /// Bytes of all values in an input, at most.
    pub fn values_bytes(&self) -> usize {
        self.value_count() * self.element_bytes_max()
    }

    /// Bytes of one value in memory, under the widest modulus.
    pub fn element_bytes_max(&self) -> usize {
        self.sizes.iter().map(|&size| self.element_bytes(size)).max().unwrap_or(VALUE_BYTES)
    }
}

/// True if setting a modulus names a field context.
pub(super) fn has_ids(revision: Revision) -> bool {
    revision.slot_rules().is_some_and(|rules| rules.form != SetForm::One)
}
