//! The layout of inputs, which the contracts of a history share, and inputs that follow it.

use num_bigint::BigUint;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use residue_isa::Revision;
use residue_isa::revision::evm384::{BLS12_381_P, BLS12_381_R_INV, ByteOrder, Modulus, VALUE_BYTES};
use residue_isa::revision::rules::{SetForm, SizeUnit};

use crate::history::text::targets;
use crate::history::{Contract, Datum};

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

/// Bytes of a modulus in EVM384, with r_inv behind it.
const MODULUS_BYTES: usize = VALUE_BYTES + 8;

/// What the contracts of a history agree on.
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
    /// Where values in memory lie, in EVM384.
    pub places: Vec<u32>,
    /// Where moduli lie, in EVM384.
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

/// What one input says.
#[derive(Debug, Clone)]
pub(super) struct Flavour {
    slot_count: usize,
    size: usize,
    moduli: [Vec<u8>; 2],
    values: Vec<u8>,
    turns: u32,
    depth: u32,
    call_gas: u32,
    stack: [Word; WORDS - STACK],
}

/// A word for the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Short(u32),
    Long(u8),
    /// A jump target of a contract, with bits from the 32nd on.
    Target {
        contract: usize,
        number: usize,
        above: u8,
    },
}

impl Flavour {
    pub fn new(layout: &Layout, random: &mut ChaCha8Rng) -> Self {
        let mut flavour = Self {
            slot_count: layout.named,
            size: layout.size,
            moduli: [Vec::new(), Vec::new()],
            values: Vec::new(),
            turns: 1 << random.random_range(0..5),
            depth: random.random_range(0..3),
            call_gas: 20_000,
            stack: [(); WORDS - STACK].map(|()| word(random)),
        };
        flavour.change_numbers(layout, random, true);
        flavour
    }

    /// Changes one of the things it says.
    pub fn change(&mut self, layout: &Layout, random: &mut ChaCha8Rng) {
        match random.random_range(0..12) {
            0 => {
                self.slot_count = match random.random_range(0..4) {
                    0 if random.random_ratio(1, 4) => random.random_range(0..=layout.named),
                    0 | 1 => random.random_range(layout.near..=layout.named),
                    2 => layout.named + 1,
                    _ => random.random_range(layout.named..=256),
                };
            }
            1 => {
                self.size = *layout.sizes.choose(random).expect("there is one");
                self.change_numbers(layout, random, true);
            }
            2 | 3 => self.change_numbers(layout, random, false),
            4 => {
                self.turns = match random.random_range(0..8) {
                    0 => random.random_range(0..400),
                    _ => random.random_range(1..40),
                }
            }
            5 => self.depth = random.random_range(0..4),
            6 | 7 => {
                let bits = random.random_range(6..15);
                self.call_gas = random.random_range(0..1 << bits);
            }
            _ => self.stack[random.random_range(0..WORDS - STACK)] = word(random),
        }
    }

    /// Other words for the stack, most of them long, and something that keeps plans from being made: a modulus without rows, or too few
    /// slots. Codes that such an input meets first are known otherwise than those of the others.
    pub fn spoil(&mut self, layout: &Layout, random: &mut ChaCha8Rng) {
        for word in &mut self.stack {
            if random.random_ratio(2, 3) {
                *word = Word::Long(random.random_range(32..=255));
            }
        }
        let has_powers = layout.revision.slot_rules().is_some_and(|rules| rules.moduli.powers_of_two);
        match random.random_range(0..5) {
            0 | 1 if has_powers => {
                let modulus = &mut self.moduli[0];
                let top = modulus.iter().position(|&byte| byte != 0).unwrap_or_default();
                let bit = modulus[top].checked_ilog2().unwrap_or_default();
                modulus.fill(0);
                modulus[top] = 1 << bit;
            }
            0..3 => self.slot_count = random.random_range(layout.near..=layout.named),
            3 => self.call_gas = random.random_range(100..4000),
            _ => {}
        }
    }

    fn change_numbers(&mut self, layout: &Layout, random: &mut ChaCha8Rng, is_good: bool) {
        match layout.revision.evm384() {
            Some(interface) => {
                let is_big = interface.byte_order == ByteOrder::Big;
                let width_bytes =
                    if random.random_ratio(1, 2) { VALUE_BYTES } else { random.random_range(1..=VALUE_BYTES) };
                let is_fixed = interface.modulus == Modulus::Fixed;
                self.moduli = [(); 2].map(|()| modulus_of_evm384(random, width_bytes, is_big, is_fixed, is_good));
                self.values = values_of_evm384(layout, random, width_bytes, is_big);
            }
            None => {
                self.moduli[0] = modulus(layout, random, self.size, is_good);
                self.values = values(layout, random, self.size);
            }
        }
    }

    /// The input, for these contracts.
    pub fn input(&self, layout: &Layout, contracts: &[Contract], random: &mut ChaCha8Rng) -> Vec<Datum> {
        let mut input = Vec::new();
        let mut bytes = Vec::new();
        for number in [self.slot_count, self.size].map(|number| number as u64) {
            // usize to u64 widens.
            bytes.extend(word_of(number));
        }
        for number in [self.turns, self.depth, self.call_gas] {
            bytes.extend(word_of(number.into()));
        }
        for word in self.stack {
            match word {
                Word::Short(number) => bytes.extend(word_of(number.into())),
                Word::Long(bit) => {
                    let mut long = word_of(random.random_range(0..64));
                    long[31 - usize::from(bit) / 8] |= 1 << (bit % 8);
                    bytes.extend(long);
                }
                Word::Target { contract, number, above } => {
                    let contract = &contracts[contract % contracts.len()];
                    let labels = targets(contract);
                    match labels.get(number % labels.len().max(1)) {
                        None => bytes.extend(word_of(number as u64)), // usize to u64 widens.
                        Some(&label) => {
                            input.push(Datum::Bytes(std::mem::take(&mut bytes)));
                            input.push(Datum::Target { contract: contract.address, label, above });
                        }
                    }
                }
            }
        }
        for modulus in &self.moduli {
            bytes.extend_from_slice(modulus);
        }
        let words_bytes: usize =
            input.iter().map(|datum| if let Datum::Bytes(bytes) = datum { bytes.len() } else { 32 }).sum();
        bytes.resize(WORDS_BYTES - words_bytes + layout.modulus_bytes, 0);
        bytes.extend_from_slice(&self.values);
        input.push(Datum::Bytes(bytes));
        input
    }
}

fn word_of(number: u64) -> [u8; 32] {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&number.to_be_bytes());
    word
}

fn word(random: &mut ChaCha8Rng) -> Word {
    match random.random_range(0..10) {
        0..3 => Word::Short(random.random_range(0..6)),
        3 => Word::Short(random.random()),
        4..6 => Word::Long(random.random_range(32..=255)),
        _ => Word::Target {
            contract: if random.random_ratio(2, 3) { 0 } else { random.random_range(0..6) },
            number: random.random_range(0..40),
            above: if random.random_ratio(1, 8) { 1 } else { 0 },
        },
    }
}

/// A modulus of a declared size with its highest bit set, so that values without it are below it: odd, a power of two, or neither.
fn modulus(layout: &Layout, random: &mut ChaCha8Rng, size: usize, is_good: bool) -> Vec<u8> {
    let rules = layout.revision.slot_rules();
    let bytes = rules.and_then(|rules| rules.modulus_bytes(size)).unwrap_or(size);
    let in_bits = rules.is_some_and(|rules| rules.moduli.unit == SizeUnit::Bits);
    let has_powers = rules.is_some_and(|rules| rules.moduli.powers_of_two);
    let bits = if in_bits { size } else { 8 * bytes };
    let one = || BigUint::from(1u8);
    let top = one() << (bits - 1);
    let m = match random.random_range(0..12) {
        0 if has_powers => top,
        1 => (one() << bits) - 1u8,
        2 => &top + 1u8,
        3 if !is_good => BigUint::from(random.random_range(0..9u8)),
        4 if !is_good => integer(random, bytes) % &top,
        5 if !is_good => (integer(random, bytes) % &top) | one(),
        6 if bits > 8 => &top + (random.random::<u8>() | 1),
        _ => &top | (integer(random, bytes) % &top) | one(),
    };
    be_bytes(&m, bytes)
}

/// Values of a size, most of them below every modulus with its highest bit set.
fn values(layout: &Layout, random: &mut ChaCha8Rng, size: usize) -> Vec<u8> {
    let rules = layout.revision.slot_rules();
    let bytes = rules.and_then(|rules| rules.modulus_bytes(size)).unwrap_or(size);
    let in_bits = rules.is_some_and(|rules| rules.moduli.unit == SizeUnit::Bits);
    let bits = if in_bits { size } else { 8 * bytes };
    let top = BigUint::from(1u8) << (bits - 1);
    let is_faulty = random.random_ratio(1, 30);
    let is_small = random.random_ratio(1, 6);
    let mut all = Vec::new();
    for _ in 0..layout.value_count() {
        let value = match random.random_range(0..8) {
            _ if is_small => BigUint::from(random.random_range(0..2u8)) % &top,
            0 => BigUint::ZERO,
            1 => BigUint::from(1u8) % &top,
            2 => &top - 1u8,
            3 if is_faulty => integer(random, bytes),
            _ => integer(random, bytes) % &top,
        };
        all.extend(be_bytes(&value, layout.element_bytes(size)));
    }
    all
}

/// A modulus of EVM384 with r_inv behind it.
fn modulus_of_evm384(
    random: &mut ChaCha8Rng,
    width_bytes: usize,
    is_big: bool,
    is_fixed: bool,
    is_good: bool,
) -> Vec<u8> {
    let mut m = [0; VALUE_BYTES];
    if is_fixed || random.random_ratio(1, 4) {
        for (limb, bytes) in BLS12_381_P.iter().zip(m.chunks_exact_mut(8)) {
            bytes.copy_from_slice(&limb.to_le_bytes());
        }
    } else {
        random.fill(&mut m[..width_bytes]);
        m[width_bytes - 1] |= 0x80;
        if is_good || !random.random_ratio(1, 8) {
            m[0] |= 1;
        }
    }
    let low = u64::from_le_bytes(m[..8].try_into().expect("eight bytes"));
    let mut r_inv = negated_inverse(low);
    if !is_good && random.random_ratio(1, 6) {
        r_inv = random.random();
    }
    debug_assert!(low != BLS12_381_P[0] || !is_good || r_inv == BLS12_381_R_INV);
    let mut r_inv = r_inv.to_le_bytes();
    if is_big {
        m.reverse();
        r_inv.reverse();
    }
    [&m[..], &r_inv].concat()
}

fn values_of_evm384(layout: &Layout, random: &mut ChaCha8Rng, width_bytes: usize, is_big: bool) -> Vec<u8> {
    let is_faulty = random.random_ratio(1, 8);
    let mut all = Vec::new();
    for _ in 0..layout.value_count() {
        let mut value = [0; VALUE_BYTES];
        match random.random_range(0..8) {
            0 => value[0] = random.random_range(0..2),
            1 if is_faulty => random.fill(&mut value[..]),
            _ => {
                random.fill(&mut value[..width_bytes]);
                value[width_bytes - 1] &= 0x0f;
            }
        }
        if is_big {
            value.reverse();
        }
        all.extend(value);
    }
    all
}

/// −m⁻¹ mod 2⁶⁴ of an odd m, and what the iteration gives for an even one.
fn negated_inverse(m: u64) -> u64 {
    (0..6).fold(1u64, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(inverse)))).wrapping_neg()
}

fn integer(random: &mut ChaCha8Rng, bytes: usize) -> BigUint {
    let mut digits = vec![0; bytes];
    random.fill(&mut digits[..]);
    BigUint::from_bytes_be(&digits)
}

fn be_bytes(value: &BigUint, bytes: usize) -> Vec<u8> {
    let digits = value.to_bytes_be();
    let mut all = vec![0; bytes.saturating_sub(digits.len())];
    all.extend(digits);
    all.drain(..all.len() - bytes);
    all
}

/// Whether setting a modulus names a field context.
pub(super) fn has_ids(revision: Revision) -> bool {
    revision.slot_rules().is_some_and(|rules| rules.form != SetForm::One)
}
