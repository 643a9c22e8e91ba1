//! Gas prices as a value: base gas by opcode and dynamic gas by width. Each revision's file has those published for it.

use crate::field_opcode::FieldOpcode;
use crate::halt::Halt;
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
    /// An arithmetic instruction beside its lanes, where that is priced.
    pub start: Option<ByWidth>,
    /// One lane of an addition.
    pub add: ByWidth,
    /// One lane of a subtraction.
    pub sub: ByWidth,
    /// One lane of a multiplication.
    pub mul: ByWidth,
    /// One lane of a multiplication whose factors are the same slots, where that is priced.
    pub square: Option<ByWidth>,
    /// One value loaded, under an odd modulus or where there is no other price.
    pub load: ByWidth,
    /// One value stored, as for loads; one value brought into Montgomery form.
    pub store: ByWidth,
    /// Those of instructions beside arithmetic, by name: `invert`, a lane of an inversion; `product` and `reduction`, of a sum of products; `fp2`, a lane of a
    /// product in Fp2; `fp6`, a product in Fp6; `copy`, a value between slots and an array, or between slots.
    pub added: BTreeMap<&'static str, ByWidth>,
    /// Prices of moduli of at most 32 bits: width 0.
    pub narrow: Option<Narrow>,
    /// All prices by width are thousandths of gas, rounded up for each instruction.
    pub in_thousandths: bool,
    /// One word of 32 bytes loaded or stored, under a power-of-two modulus.
    pub copy_per_word: u64,
    /// Base gas of EVM opcodes where it differs from Osaka's.
    pub evm: BTreeMap<u8, u64>,
}

/// Prices of moduli of at most 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Narrow {
    /// Setting the modulus.
    pub set_modulus: u64,
    /// One lane of an addition.
    pub add: u64,
    /// One lane of a subtraction.
    pub sub: u64,
    /// One lane of a multiplication.
    pub mul: u64,
    /// One value loaded.
    pub load: u64,
    /// One value stored.
    pub store: u64,
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
            start: None,
            add: ByWidth::default(),
            sub: ByWidth::default(),
            mul: ByWidth::default(),
            square: None,
            load: ByWidth::default(),
            store: ByWidth::default(),
            added: BTreeMap::new(),
            narrow: None,
            in_thousandths: false,
            copy_per_word: 0,
            evm: BTreeMap::new(),
        }
    }

    /// Base gas of `opcode`.
    pub fn base(&self, opcode: &FieldOpcode) -> Result<u64, Halt> {
        self.base.get(opcode.mnemonic).copied().ok_or(Halt::Unpriced { opcode: opcode.byte })
    }

    /// The price at a width, in the unit of the tables; width 0 is for at most 32 bits.
    pub fn row(
        &self,
        table: &ByWidth,
        width: usize,
        opcode: &FieldOpcode,
        narrow: fn(&Narrow) -> u64,
    ) -> Result<u64, Halt> {
        match width {
            0 => self.narrow.as_ref().map(narrow).ok_or(Halt::Unpriced { opcode: opcode.byte }),
            _ => table.at(width, opcode),
        }
    }

    /// The price called `name` at a width, in the unit of the tables.
    pub fn added(&self, name: &str, width: usize, opcode: &FieldOpcode) -> Result<u64, Halt> {
        self.added.get(name).ok_or(Halt::Unpriced { opcode: opcode.byte })?.at(width, opcode)
    }

    /// `count` times a price, in whole gas.
    pub fn times(&self, price: u64, count: u64) -> u64 {
        let price = price.saturating_mul(count);
        if self.in_thousandths { price.div_ceil(1000) } else { price }
    }
}

impl ByWidth {
    /// The price at `width_limbs`, charged for `opcode`. A width the table does not have is no verdict.
    pub fn at(&self, width_limbs: usize, opcode: &FieldOpcode) -> Result<u64, Halt> {
        let price = width_limbs.checked_sub(1).and_then(|index| self.0.get(index));
        price.copied().ok_or(Halt::Unpriced { opcode: opcode.byte })
    }
}
