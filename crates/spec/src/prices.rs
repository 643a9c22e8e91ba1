//! Gas prices as a value: base gas by opcode and dynamic gas by width. Each revision's file has those published for it.

use crate::halt::Halt;
use crate::revision::FieldOpcode;
use std::collections::BTreeMap;

/// Everything that a run is charged for, in whole gas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    /// The schedule's name.
    pub name: String,
    /// Base gas of each field opcode, by mnemonic.
    pub base: BTreeMap<String, u64>,
    /// Setting an odd modulus, beside the base.
    pub set_modulus: ByWidth,
    /// One lane of an addition.
    pub add: ByWidth,
    /// One lane of a subtraction.
    pub sub: ByWidth,
    /// One lane of a multiplication.
    pub mul: ByWidth,
    /// One value loaded or stored, under an odd modulus.
    pub transfer: ByWidth,
    /// One word of 32 bytes loaded or stored, under a power-of-two modulus.
    pub copy_per_word: u64,
    /// Base gas of EVM opcodes where it differs from Osaka's.
    pub evm: BTreeMap<u8, u64>,
}

/// A price for each width, that of one limb first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByWidth(pub Vec<u64>);

impl Prices {
    /// Base gas only; all tables empty.
    pub fn of_base(name: &str, base: &[(&str, u64)]) -> Self {
        Self {
            name: name.to_owned(),
            base: base.iter().map(|&(mnemonic, gas)| (mnemonic.to_owned(), gas)).collect(),
            set_modulus: ByWidth::default(),
            add: ByWidth::default(),
            sub: ByWidth::default(),
            mul: ByWidth::default(),
            transfer: ByWidth::default(),
            copy_per_word: 0,
            evm: BTreeMap::new(),
        }
    }

    /// Base gas of `opcode`.
    pub fn base(&self, opcode: &FieldOpcode) -> Result<u64, Halt> {
        self.base.get(opcode.mnemonic).copied().ok_or(Halt::Unpriced { opcode: opcode.byte })
    }
}

impl ByWidth {
    /// The price at `width_limbs`, charged for `opcode`. A width the table does not have is no verdict.
    pub fn at(&self, width_limbs: usize, opcode: &FieldOpcode) -> Result<u64, Halt> {
        let price = width_limbs.checked_sub(1).and_then(|index| self.0.get(index));
        price.copied().ok_or(Halt::Unpriced { opcode: opcode.byte })
    }
}
