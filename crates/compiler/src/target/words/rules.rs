//! Options for words as slots: the gas that shorter code is worth, and the successive steps of shortening.

use crate::has_elements;
use crate::wide::calls::Counts;
use crate::words::backward::Plans;
use crate::words::prices::{EvmGas, Prices};
use num_bigint::BigUint;
use residue_ir::program::{Program, WordDef};
use ruint::aliases::U256;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Options for words as slots.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Bytes of memory before them.
    pub base_bytes: u32,
    /// Bytes of code that are worth as much as one gas.
    pub bytes_a_gas: u64,
    /// True if p and other numbers stay on the stack wherever the state of a sequence does: parts are shorter then.
    pub holds_numbers: bool,
    /// Slots between those of values and constants, for spills of blocks.
    pub extra_slots: u32,
    /// True if subroutines make results over wide fields however often a block runs.
    pub calls_often: bool,
    /// Numbers of results of each shape over wide fields.
    pub shapes: Rc<RefCell<Counts>>,
    /// Memoised plans of blocks.
    pub plans: Rc<RefCell<Plans>>,
}

impl Rules {
    /// Values of [`Rules::bytes_a_gas`]: gas alone, then shorter code, for which gas is paid.
    pub const BYTES_A_GAS: [u64; 4] = [Prices::GAS_ALONE, 16, 4, 1];
    /// Extra slots needed by the longest blocks.
    pub const EXTRA_SLOTS: u32 = 64;
    /// Runs of a block above which it has no subroutines.
    pub const SELDOM_MAX: f64 = 64.0;
    /// The length of code that has none, as labels are too far apart.
    pub const TOO_FAR: usize = usize::MAX;
}

/// Bytes of code that an account of the main network may have (EIP-170).
const CODE_BYTES_MAX: usize = 24_576;

/// Code from which still shorter code may come to what an account may have.
pub const NEAR_BYTES_MAX: usize = CODE_BYTES_MAX + CODE_BYTES_MAX / 4;
/// The same over wide fields, where subroutines make the most of it shorter.
pub const NEAR_WIDE_BYTES_MAX: usize = 4 * CODE_BYTES_MAX;

impl Rules {
    /// The first ones to try, at these prices, with `plans` of blocks if they were made at the same.
    pub fn remembering(plans: Plans, gas: EvmGas) -> Self {
        let mut plans = if plans.gas == gas { plans } else { Plans::default() };
        plans.gas = gas;
        Self { plans: Rc::new(RefCell::new(plans)), ..Self::default() }
    }

    /// True if gas is traded for shorter code.
    pub const fn is_short(&self) -> bool {
        self.bytes_a_gas < Prices::GAS_ALONE
    }

    /// Over wide fields: how often a block may run for subroutines to make its results.
    pub fn seldom(&self) -> f64 {
        match self.bytes_a_gas {
            _ if self.calls_often => f64::INFINITY,
            0..=1 => Self::SELDOM_MAX,
            2..=4 => 8.0,
            _ => 0.0,
        }
    }

    /// True if an account may have code of this length in bytes.
    pub const fn fits(length: usize) -> bool {
        length <= CODE_BYTES_MAX
    }

    /// True if code over a wide field has labels near enough, and is so long that subroutines make nothing of it that an account may have: they take three
    /// quarters of it away at most.
    pub const fn is_beyond(length: usize) -> bool {
        length > 8 * CODE_BYTES_MAX && length != Self::TOO_FAR
    }

    /// Asks for shorter code where an account could not have so many bytes; whether there is a way. `holds_state`: whether the state of a sequence stays
    /// on the stack. `near_bytes`: from how many on it is of no use to ask again.
    pub fn shorten(&mut self, length: usize, holds_state: bool, near_bytes: usize) -> bool {
        if Self::fits(length) {
            return false;
        }
        if holds_state && !self.holds_numbers {
            self.holds_numbers = true;
            return true;
        }
        let next = Self::BYTES_A_GAS.into_iter().find(|&next| next < self.bytes_a_gas);
        let is_hopeless = self.is_short() && length > near_bytes && length != Self::TOO_FAR;
        match next.filter(|_| !is_hopeless) {
            Some(next) => self.bytes_a_gas = next,
            None => return false,
        }
        true
    }
}

impl Default for Rules {
    /// The first ones to try.
    fn default() -> Self {
        Self {
            base_bytes: 0,
            bytes_a_gas: Self::BYTES_A_GAS[0],
            holds_numbers: false,
            extra_slots: 0,
            calls_often: false,
            shapes: Rc::default(),
            plans: Rc::default(),
        }
    }
}

/// Bytes that a load from memory takes less than a push of p.
const SPARED_BYTES: u64 = 29;

/// The most multiples of p that memory holds.
const MULTIPLES_MAX: u32 = 6;

/// p, 2·p, … as far as they are words.
fn multiples(modulus: &BigUint) -> Vec<BigUint> {
    (1..=MULTIPLES_MAX).map(|k| modulus * k).take_while(|multiple| multiple.bits() <= 256).collect()
}

/// Bytes of code that memory has to spare for a constant of words.
const SPARED_BYTES_MIN: usize = 200;
/// Bytes of a load from a known address.
const LOAD_BYTES: usize = 4;

/// Constants of words that are so long and so often read that code is shorter if memory holds them.
fn long_words(program: &Program) -> Vec<BigUint> {
    let mut reads: BTreeMap<U256, usize> = BTreeMap::new();
    for words in program.functions.iter().map(|function| &function.words) {
        for inner in words.iter().flat_map(WordDef::inner) {
            if let WordDef::Constant(value) = &words[inner.0 as usize] {
                *reads.entry(*value).or_default() += 1;
            }
        }
    }
    let spared = |(value, reads): (U256, usize)| {
        let bytes = 1 + value.byte_len();
        (bytes.saturating_sub(LOAD_BYTES) * reads >= SPARED_BYTES_MIN + bytes)
            .then(|| BigUint::from_bytes_be(&value.to_be_bytes::<32>()))
    };
    reads.into_iter().filter_map(spared).collect()
}

/// Numbers in memory, at an exchange rate of `bytes_a_gas` bytes of code for a gas.
pub(super) fn numbers_in_memory(program: &Program, bytes_a_gas: u64, gas: &EvmGas) -> Vec<BigUint> {
    // A load takes the gas of MLOAD more than a push.
    let is_loaded = bytes_a_gas * gas.load <= SPARED_BYTES;
    // A program without elements has no memory of its own.
    let mut in_memory = match program.modulus.known() {
        Some(modulus) if is_loaded && has_elements(program) => multiples(modulus),
        _ => Vec::new(),
    };
    if !in_memory.is_empty() && bytes_a_gas <= 1 {
        in_memory.extend(long_words(program));
    }
    in_memory
}
