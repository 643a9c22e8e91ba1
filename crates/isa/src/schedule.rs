//! A gas schedule: every price of a revision's field instructions in one value, which is handed in and never compiled in.
//!
//! A schedule is a TOML file. `[base]` prices every opcode of the revisions it is for; a revision with slots adds
//! `[per_width]`, prices by width of the modulus in limbs, and `[per_word]`; `[evm]` may replace base prices of the EVM's own
//! opcodes. Which ranges memory grows to is a rule of the revision, not a price.

mod parse;
mod price;

use std::collections::BTreeMap;
use std::fmt::Write;

use thiserror::Error;

pub use parse::ScheduleFault;
pub use price::{Price, PriceFault};

use crate::field_instruction::Arithmetic;
use crate::revision::{Family, Revision};

/// File name and text of the schedules that come with the program.
const BUNDLED: &[(&str, &str)] = &[
    ("evm384-evmone.toml", include_str!("../schedules/evm384-evmone.toml")),
    ("evm384-geth.toml", include_str!("../schedules/evm384-geth.toml")),
    ("evm384-geth-logf.toml", include_str!("../schedules/evm384-geth-logf.toml")),
    ("evm384-geth-v10.toml", include_str!("../schedules/evm384-geth-v10.toml")),
    ("evm384-eip.toml", include_str!("../schedules/evm384-eip.toml")),
    ("evm384-model-a.toml", include_str!("../schedules/evm384-model-a.toml")),
    ("evm384-model-a-pushdup2.toml", include_str!("../schedules/evm384-model-a-pushdup2.toml")),
    ("evm384-model-a-repriced.toml", include_str!("../schedules/evm384-model-a-repriced.toml")),
    ("evm384-model-a-fractional.toml", include_str!("../schedules/evm384-model-a-fractional.toml")),
    ("evm384-model-b.toml", include_str!("../schedules/evm384-model-b.toml")),
    ("evm384-model-b-pushdup2.toml", include_str!("../schedules/evm384-model-b-pushdup2.toml")),
    ("evm384-model-b-repriced.toml", include_str!("../schedules/evm384-model-b-repriced.toml")),
    ("evm384-model-b-fractional.toml", include_str!("../schedules/evm384-model-b-fractional.toml")),
    ("evm384-evmcurves.toml", include_str!("../schedules/evm384-evmcurves.toml")),
    ("evm384-evmcurves-shr0.toml", include_str!("../schedules/evm384-evmcurves-shr0.toml")),
    ("eip6690.toml", include_str!("../schedules/eip6690.toml")),
];

/// All prices of one or more revisions of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GasSchedule {
    name: String,
    summary: String,
    revisions: Vec<Revision>,
    base: BTreeMap<&'static str, Price>,
    slots: Option<SlotPrices>,
    evm: BTreeMap<u8, Price>,
}

/// The prices that only revisions with slots have. Each table starts with the width of one limb.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SlotPrices {
    set_modulus: Vec<Price>,
    /// In the order of [`Arithmetic::ALL`].
    arithmetic: [Vec<Price>; 3],
    transfer: Vec<Price>,
    transfer_per_word: Price,
}

/// Why there is no such schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// No schedule of this name comes with the program for this revision.
    #[error("{revision} has no gas schedule {name:?}; known are {}", known.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The revision asked for.
        revision: Revision,
        /// The names there are.
        known: Vec<String>,
    },
    /// The text of a schedule is wrong.
    #[error("{file}:{line}: {fault}")]
    InFile {
        /// The file as the caller named it.
        file: String,
        /// Line of the offending key or value, from 1.
        line: usize,
        /// What is wrong there.
        fault: ScheduleFault,
    },
}

impl GasSchedule {
    /// A schedule that comes with the program.
    pub fn named(name: &str, revision: Revision) -> Result<Self, ScheduleError> {
        let bundled = Self::bundled(revision)?;
        let known = bundled.iter().map(|schedule| schedule.name.clone()).collect();
        let found = bundled.into_iter().find(|schedule| schedule.name == name);
        found.ok_or_else(|| ScheduleError::Unknown { name: name.to_owned(), revision, known })
    }

    /// The schedule of a revision when none is chosen.
    pub fn default_for(revision: Revision) -> Result<Self, ScheduleError> {
        Self::named(revision.default_schedule(), revision)
    }

    /// Names of the schedules that come with the program for a revision.
    pub fn names(revision: Revision) -> Vec<String> {
        Self::bundled(revision).into_iter().flatten().map(|schedule| schedule.name).collect()
    }

    /// Reads and validates a schedule. `file` appears in errors only.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, ScheduleError> {
        parse::parse(text, file)
    }

    fn bundled(revision: Revision) -> Result<Vec<Self>, ScheduleError> {
        let mut schedules =
            BUNDLED.iter().map(|(file, text)| Self::from_toml(text, file)).collect::<Result<Vec<_>, _>>()?;
        schedules.retain(|schedule| schedule.is_for(revision));
        Ok(schedules)
    }

    /// The name users write, such as `evmone`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line: whose prices these are.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The revisions it prices: at least one, all of one family.
    pub fn revisions(&self) -> &[Revision] {
        &self.revisions
    }

    /// Whether it prices this revision.
    pub fn is_for(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }

    /// The family of the revisions it prices.
    pub fn family(&self) -> Family {
        self.revisions[0].family()
    }

    /// The fixed part of an opcode's price, by mnemonic. None for opcodes that are not of these revisions.
    pub fn base(&self, mnemonic: &str) -> Option<Price> {
        self.base.get(mnemonic).copied()
    }

    /// The price of one lane of an arithmetic instruction over a modulus of this width.
    ///
    /// With slots this comes on top of [`GasSchedule::base`], once a lane. With values in memory an instruction is one lane
    /// and nothing comes on top: this *is* the base price, at any width. [`GasSchedule::instruction`] has the sum.
    ///
    /// # Panics
    /// With slots, for a width outside 1..=[`Revision::width_limbs_max`].
    pub fn arithmetic(&self, operation: Arithmetic, width_limbs: usize) -> Price {
        match &self.slots {
            Some(slots) => at_width(&slots.arithmetic[operation_index(operation)], width_limbs),
            None => self.arithmetic_base(operation),
        }
    }

    /// The whole price of an arithmetic instruction of `count` lanes, without pushes of its operands.
    ///
    /// # Panics
    /// As [`GasSchedule::arithmetic`].
    pub fn instruction(&self, operation: Arithmetic, width_limbs: usize, count: u8) -> Price {
        let base = self.arithmetic_base(operation);
        match &self.slots {
            Some(_) => base + self.arithmetic(operation, width_limbs) * u64::from(count),
            None => base,
        }
    }

    /// What setting a new odd modulus of this width costs on top of the base price and of growth. Zero without slots.
    ///
    /// # Panics
    /// As [`GasSchedule::arithmetic`].
    pub fn set_modulus(&self, width_limbs: usize) -> Price {
        self.slots.as_ref().map_or(Price::ZERO, |slots| at_width(&slots.set_modulus, width_limbs))
    }

    /// What a load or a store costs for each value on top of the base price, for an odd modulus. Zero without slots.
    ///
    /// # Panics
    /// As [`GasSchedule::arithmetic`].
    pub fn transfer_per_value(&self, width_limbs: usize) -> Price {
        self.slots.as_ref().map_or(Price::ZERO, |slots| at_width(&slots.transfer, width_limbs))
    }

    /// What a load or a store costs for each begun 32 bytes of all its values on top of the base price, for a modulus that
    /// is a power of two. Zero without slots.
    pub fn transfer_per_word(&self) -> Price {
        self.slots.as_ref().map_or(Price::ZERO, |slots| slots.transfer_per_word)
    }

    /// Base prices that replace those of the EVM's own opcodes, by ascending opcode.
    pub fn evm_overrides(&self) -> impl Iterator<Item = (u8, Price)> + '_ {
        self.evm.iter().map(|(&opcode, &price)| (opcode, price))
    }

    /// Whether every price is whole gas, so that execution itself meters it exactly.
    pub fn is_whole(&self) -> bool {
        let slots = self.slots.iter().flat_map(|slots| {
            let tables = slots.arithmetic.iter().chain([&slots.set_modulus, &slots.transfer]);
            tables.flatten().chain([&slots.transfer_per_word])
        });
        self.base.values().chain(self.evm.values()).chain(slots).all(|price| price.is_whole())
    }

    /// The text that reads back as the same schedule.
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let revisions: Vec<String> = self.revisions.iter().map(|revision| quoted(revision.name())).collect();
        let mut text = format!("name = {}\nsummary = {}\n", quoted(&self.name), quoted(&self.summary));
        let mut line = |args: std::fmt::Arguments<'_>| {
            text.write_fmt(args).expect("writing to a string does not fail");
            text.push('\n');
        };
        line(format_args!("revisions = [{}]\n\n[base]", revisions.join(", ")));
        for (mnemonic, price) in &self.base {
            line(format_args!("{mnemonic} = {price}"));
        }
        if let Some(slots) = &self.slots {
            let [add, sub, mul] = &slots.arithmetic;
            line(format_args!("\n[per_width]"));
            for (key, table) in parse::PER_WIDTH_KEYS.iter().zip([&slots.set_modulus, add, sub, mul, &slots.transfer]) {
                let prices: Vec<String> = table.iter().map(Price::to_string).collect();
                line(format_args!("{key} = [{}]", prices.join(", ")));
            }
            line(format_args!("\n[per_word]\ntransfer = {}", slots.transfer_per_word));
        }
        if !self.evm.is_empty() {
            line(format_args!("\n[evm]"));
            for (&opcode, price) in &self.evm {
                let row = crate::opcode::evm().iter().find(|row| row.byte == opcode);
                line(format_args!("{} = {price}", row.expect("overrides are of the EVM's table").mnemonic));
            }
        }
        text
    }

    fn arithmetic_base(&self, operation: Arithmetic) -> Price {
        let revision = self.revisions[0];
        let row = revision.row(revision.arithmetic_opcode(operation));
        row.and_then(|row| self.base(row.mnemonic)).expect("validation asks for a base price of every opcode")
    }
}

fn operation_index(operation: Arithmetic) -> usize {
    match operation {
        Arithmetic::Add => 0,
        Arithmetic::Sub => 1,
        Arithmetic::Mul => 2,
    }
}

fn at_width(table: &[Price], width_limbs: usize) -> Price {
    let price = width_limbs.checked_sub(1).and_then(|index| table.get(index));
    *price.unwrap_or_else(|| panic!("width of {width_limbs} limbs is outside 1..={}", table.len()))
}
