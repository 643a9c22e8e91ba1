//! Inputs that follow the layout of a history, and differ in moduli, slot counts, turns and words for the stack.

use num_bigint::BigUint;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use residue_isa::revision::evm384::{BLS12_381_P, BLS12_381_R_INV, ByteOrder, Evm384, Modulus, VALUE_BYTES};
use residue_isa::revision::rules::SizeUnit;

use super::layout::{Layout, STACK, WORDS, WORDS_BYTES};
use crate::history::text::targets;
use crate::history::{Contract, Datum};

/// Values of one input.
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
                self.moduli = [(); 2].map(|()| modulus_of_evm384(random, width_bytes, interface, is_good));
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

/// A modulus of EVM384 with r_inv after it; one that is too long only where it need not be good.
fn modulus_of_evm384(random: &mut ChaCha8Rng, width_bytes: usize, interface: &Evm384, is_good: bool) -> Vec<u8> {
    let mut m = [0; VALUE_BYTES];
    if interface.modulus == Modulus::Fixed || random.random_ratio(1, 4) {
        for (limb, bytes) in BLS12_381_P.iter().zip(m.chunks_exact_mut(8)) {
            bytes.copy_from_slice(&limb.to_le_bytes());
        }
    } else {
        random.fill(&mut m[..width_bytes]);
        m[width_bytes - 1] |= 0x80;
        if width_bytes == VALUE_BYTES && interface.limits_moduli() && (is_good || !random.random_ratio(1, 8)) {
            m[width_bytes - 1] = m[width_bytes - 1] & 0x7f | 0x40;
        }
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
    if interface.byte_order == ByteOrder::Big {
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
