//! A gas schedule: every price of a revision's field instructions in one value, which is handed in and never compiled in.
//!
//! A schedule is a TOML file. `[base]` prices every opcode of the revisions it is for; a revision whose modulus is set by an
//! instruction adds `[per_width]`, prices by width of the modulus in limbs, and may add `[per_word]` for moduli that are powers
//! of two and `[narrow]` for moduli of at most 32 bits; `[evm]` may replace base prices of the EVM's own opcodes. Which ranges memory grows to is a rule of the revision, not a price.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

mod parse;
mod price;

use alloc::collections::BTreeMap;
use core::fmt::Write;
use core::ops::Add;

use once_cell::race::OnceBox;
use thiserror::Error;

pub use parse::ScheduleFault;
use parse::WidthKey;
pub use price::{Price, PriceFault};

use crate::field_instruction::{FieldOp, PerOp};
use crate::form::{Form, PerFormPrice};
use crate::names::UnknownName;
use crate::revision::{Family, Revision};

/// ADDMOD and MULMOD: Yellow Paper, appendix G, `Gmid`.
const MULMOD_GAS: u64 = 8;

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
    ("eip5843-r5.toml", include_str!("../schedules/eip5843-r5.toml")),
    ("eip5843-r2.toml", include_str!("../schedules/eip5843-r2.toml")),
    ("eip5843-r1.toml", include_str!("../schedules/eip5843-r1.toml")),
    ("eip6601.toml", include_str!("../schedules/eip6601.toml")),
    ("geth6601.toml", include_str!("../schedules/geth6601.toml")),
    ("evmone-2023.toml", include_str!("../schedules/evmone-2023.toml")),
    ("eip7747.toml", include_str!("../schedules/eip7747.toml")),
    ("eip6690.toml", include_str!("../schedules/eip6690.toml")),
    ("eip6690-geth.toml", include_str!("../schedules/eip6690-geth.toml")),
    ("evmone-2025.toml", include_str!("../schedules/evmone-2025.toml")),
    ("evmone-bits.toml", include_str!("../schedules/evmone-bits.toml")),
    ("evmmax-next.toml", include_str!("../schedules/evmmax-next.toml")),
    ("x-widex.toml", include_str!("../schedules/x-widex.toml")),
    ("x-vectorx.toml", include_str!("../schedules/x-vectorx.toml")),
    ("x-fp2x.toml", include_str!("../schedules/x-fp2x.toml")),
    ("x-movx.toml", include_str!("../schedules/x-movx.toml")),
    ("x-fp6x.toml", include_str!("../schedules/x-fp6x.toml")),
    ("x-selectx.toml", include_str!("../schedules/x-selectx.toml")),
    ("x-cmpx.toml", include_str!("../schedules/x-cmpx.toml")),
    ("x-squarex.toml", include_str!("../schedules/x-squarex.toml")),
    ("x-383.toml", include_str!("../schedules/x-383.toml")),
    ("x-383-fractional.toml", include_str!("../schedules/x-383-fractional.toml")),
    ("x-383-model-b-fractional.toml", include_str!("../schedules/x-383-model-b-fractional.toml")),
    ("evm.toml", include_str!("../schedules/evm.toml")),
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
    rounds_instructions: bool,
}

/// The prices by width, that of one limb first.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SlotPrices {
    widths: Vec<WidthPrices>,
    /// For moduli of at most 32 bits.
    narrow: Option<WidthPrices>,
    transfer_per_word: Option<Price>,
}

/// The prices of one width of the modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WidthPrices {
    /// Setting a new odd modulus, beside the base and growth.
    pub set_modulus: Price,
    /// Price of an arithmetic instruction beside its lanes; zero if only lanes are priced.
    pub start: Price,
    /// One lane of each operation, in the order of [`FieldOp::ALL`].
    pub arithmetic: PerOp<Price>,
    /// One lane of a multiplication whose factors are the same slots; zero if squares are priced as other products.
    pub square: Price,
    /// One value loaded.
    pub load: Price,
    /// One value stored, or brought into Montgomery form.
    pub store: Price,
    /// The prices of forms; zero where there is no such form.
    pub forms: PerFormPrice<Price>,
}

/// Why there is no such schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// No schedule of this name comes with the program for this revision.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// The schedule is for other revisions.
    #[error("the gas schedule {name} is not for {revision}; those for it are {}", known.join(", "))]
    NotFor {
        /// The schedule.
        name: String,
        /// The revision asked for.
        revision: Revision,
        /// The schedules for it.
        known: Vec<String>,
    },
    /// The text of a schedule is wrong.
    #[error("{file}:{line}: {fault}")]
    InFile {
        /// The file as the caller named it.
        file: String,
        /// Line of the offending key or value, from 1.
        line: usize,
        /// Error at that place.
        fault: ScheduleFault,
    },
}

impl GasSchedule {
    /// This schedule for one of its revisions with other prices: `base` by mnemonic, `widths` by width in limbs. All else
    /// stays as it is.
    pub fn repriced(
        &self,
        name: &str,
        summary: &str,
        revision: Revision,
        base: impl Fn(&'static str, Price) -> Price,
        widths: impl Fn(usize, WidthPrices) -> WidthPrices,
    ) -> Self {
        let mut schedule = self.clone();
        schedule.name = name.to_owned();
        schedule.summary = summary.to_owned();
        schedule.revisions = vec![revision];
        schedule.base.retain(|mnemonic, _| revision.opcodes().iter().any(|row| row.mnemonic == *mnemonic));
        for (&mnemonic, price) in &mut schedule.base {
            *price = base(mnemonic, *price);
        }
        if let Some(slots) = &mut schedule.slots {
            slots.widths.truncate(revision.width_limbs_max());
            for (width_limbs, prices) in (1..).zip(&mut slots.widths) {
                *prices = widths(width_limbs, *prices);
                // Other revisions of the schedule may have prices that this one lacks.
                for key in WidthKey::every().filter(|key| !key.is_of(revision)) {
                    key.set(prices, Price::default());
                }
            }
        }
        schedule
    }

    /// This schedule with other base prices for opcodes of the EVM.
    pub fn with_evm(mut self, evm: impl IntoIterator<Item = (u8, Price)>) -> Self {
        self.evm.extend(evm);
        self
    }

    /// This schedule with the EVM's own opcodes at the fork's prices.
    pub fn with_stock_evm(mut self) -> Self {
        self.evm.clear();
        self
    }

    /// A schedule that comes with the program.
    pub fn named(name: &str, revision: Revision) -> Result<Self, ScheduleError> {
        let all = Self::bundled()?;
        let is_named = |schedule: &&Self| schedule.name.eq_ignore_ascii_case(name);
        let named: Vec<&Self> = all.iter().filter(is_named).collect();
        let known = all.iter().filter(|schedule| schedule.is_for(revision)).map(|schedule| schedule.name.as_str());
        match (named.iter().find(|schedule| schedule.is_for(revision)), named.first()) {
            (Some(&found), _) => Ok(found.clone()),
            (None, Some(other)) => {
                let (name, known) = (other.name.clone(), known.map(str::to_owned).collect());
                Err(ScheduleError::NotFor { name, revision, known })
            }
            (None, None) => Err(Self::unknown(&format!(" for {revision}"), name, known).into()),
        }
    }

    /// The message on a name that none of the `known` schedules has; `whose` follows the noun, as in ` for evm`.
    pub fn unknown<'a>(whose: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> UnknownName {
        UnknownName::new(format!("gas schedule{whose}"), name, known).listed_by("residue list schedules")
    }

    /// The schedule of a revision when none is chosen.
    pub fn default_for(revision: Revision) -> Result<Self, ScheduleError> {
        Self::named(revision.default_schedule(), revision)
    }

    /// Names of the schedules that come with the program for a revision.
    pub fn names(revision: Revision) -> Vec<String> {
        let all = Self::bundled().into_iter().flatten();
        all.filter(|schedule| schedule.is_for(revision)).map(|schedule| schedule.name.clone()).collect()
    }

    /// Reads and validates a schedule. `file` appears in errors only.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, ScheduleError> {
        parse::parse(text, file)
    }

    /// All that come with the program, read once.
    fn bundled() -> Result<&'static [Self], ScheduleError> {
        static READ: OnceBox<Vec<GasSchedule>> = OnceBox::new();
        if let Some(read) = READ.get() {
            return Ok(read);
        }
        let read = BUNDLED.iter().map(|(file, text)| Self::from_toml(text, file)).collect::<Result<_, _>>()?;
        Ok(READ.get_or_init(|| Box::new(read)))
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

    /// True if it prices this revision.
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
    /// With prices by width this comes on top of [`GasSchedule::base`] and [`WidthPrices::start`], once a lane. For EVM384 an instruction is one lane
    /// and nothing comes on top: this *is* the base price, at any width. [`GasSchedule::instruction`] has the sum.
    ///
    /// # Panics
    /// With prices by width, for a width outside 1..=[`Revision::width_limbs_max`]. Width 0 stands for at most 32 bits where
    /// the schedule has prices for it.
    pub fn arithmetic(&self, operation: FieldOp, width_limbs: usize) -> Price {
        match &self.slots {
            Some(slots) => slots.at(width_limbs).arithmetic[operation],
            None => self.arithmetic_base(operation),
        }
    }

    /// The whole price of an arithmetic instruction of `count` lanes, without pushes of its operands.
    ///
    /// # Panics
    /// As [`GasSchedule::arithmetic`].
    pub fn instruction(&self, operation: FieldOp, width_limbs: usize, count: u8) -> Price {
        let base = self.arithmetic_base(operation);
        match &self.slots {
            Some(slots) => {
                let WidthPrices { start, arithmetic, .. } = slots.at(width_limbs);
                base + start + arithmetic[operation] * u64::from(count)
            }
            None => base,
        }
    }

    /// The whole price of an instruction beside arithmetic, of `count` lanes, under an odd modulus.
    ///
    /// # Panics
    /// As [`GasSchedule::arithmetic`].
    pub fn formed(&self, form: Form, width_limbs: usize, count: u8) -> Price {
        let prices = self.at_width(width_limbs);
        let charges = form.row().charges.iter().map(|charge| charge.of(&prices) * charge.times(count.into(), true));
        charges.fold(self.base(form.row().mnemonic).unwrap_or(Price::ZERO), Price::add)
    }

    /// All prices of a width; all zero for EVM384.
    ///
    /// # Panics
    /// As [`GasSchedule::arithmetic`].
    pub fn at_width(&self, width_limbs: usize) -> WidthPrices {
        self.slots.as_ref().map_or(WidthPrices::default(), |slots| slots.at(width_limbs))
    }

    /// True if it has prices for moduli of at most 32 bits: width 0.
    pub fn has_narrow(&self) -> bool {
        self.slots.as_ref().is_some_and(|slots| slots.narrow.is_some())
    }

    /// Price of setting a new odd modulus of this width, on top of the base price and of growth. Zero for EVM384.
    ///
    /// # Panics
    /// As [`GasSchedule::arithmetic`].
    pub fn set_modulus(&self, width_limbs: usize) -> Price {
        self.at_width(width_limbs).set_modulus
    }

    /// Price of a load per value, on top of the base price, for an odd modulus; a store costs the same in most
    /// schedules, see [`WidthPrices::store`]. Zero for EVM384.
    ///
    /// # Panics
    /// As [`GasSchedule::arithmetic`].
    pub fn transfer_per_value(&self, width_limbs: usize) -> Price {
        self.at_width(width_limbs).load
    }

    /// Price of a load or a store per begun 32 bytes of all its values, on top of the base price, for a modulus that is
    /// a power of two. Zero if [`GasSchedule::prices_words`] is false.
    pub fn transfer_per_word(&self) -> Price {
        self.slots.as_ref().and_then(|slots| slots.transfer_per_word).unwrap_or(Price::ZERO)
    }

    /// True if loads and stores are priced by the word for moduli that are powers of two; else they are priced as for
    /// odd moduli.
    pub fn prices_words(&self) -> bool {
        self.slots.as_ref().is_some_and(|slots| slots.transfer_per_word.is_some())
    }

    /// Base prices that replace those of the EVM's own opcodes, by ascending opcode.
    pub fn evm_overrides(&self) -> impl Iterator<Item = (u8, Price)> + '_ {
        self.evm.iter().map(|(&opcode, &price)| (opcode, price))
    }

    /// True if every price is whole gas, so that execution itself meters it exactly.
    pub fn is_whole(&self) -> bool {
        let slots = self.slots.iter().flat_map(|slots| {
            let widths = slots.widths.iter().chain(&slots.narrow).copied().flat_map(WidthPrices::all);
            widths.chain(slots.transfer_per_word)
        });
        self.base.values().chain(self.evm.values()).copied().chain(slots).all(Price::is_whole)
    }

    /// True if the schedule itself rounds fractions up, once per field instruction with all its lanes. Else fractions
    /// add up over an execution.
    pub fn rounds_instructions(&self) -> bool {
        self.rounds_instructions
    }

    /// True if execution, which meters whole gas, charges exactly the prices of the schedule.
    pub fn is_metered_exactly(&self) -> bool {
        self.rounds_instructions || self.is_whole()
    }

    /// The text that reads back as the same schedule.
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let revisions: Vec<String> = self.revisions.iter().map(|revision| quoted(revision.name())).collect();
        let mut text = format!("name = {}\nsummary = {}\n", quoted(&self.name), quoted(&self.summary));
        let mut line = |args: core::fmt::Arguments<'_>| {
            text.write_fmt(args).expect("writing to a string does not fail");
            text.push('\n');
        };
        line(format_args!("revisions = [{}]", revisions.join(", ")));
        if self.rounds_instructions {
            line(format_args!("rounding = {}", quoted(parse::ROUNDING)));
        }
        line(format_args!("\n[base]"));
        for (mnemonic, price) in &self.base {
            line(format_args!("{mnemonic} = {price}"));
        }
        if let Some(slots) = &self.slots {
            let keys = parse::width_keys(&self.revisions, &slots.widths);
            line(format_args!("\n[per_width]"));
            for key in &keys {
                let prices: Vec<String> = slots.widths.iter().map(|width| key.of(width).to_string()).collect();
                line(format_args!("{} = [{}]", key.name(), prices.join(", ")));
            }
            if let Some(narrow) = &slots.narrow {
                line(format_args!("\n[narrow]"));
                for key in &keys {
                    line(format_args!("{} = {}", key.name(), key.of(narrow)));
                }
            }
            if let Some(price) = slots.transfer_per_word {
                line(format_args!("\n[per_word]\ntransfer = {price}"));
            }
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

    fn arithmetic_base(&self, operation: FieldOp) -> Price {
        let revision = self.revisions[0];
        if revision.family() == Family::Words {
            return Price::from_gas(MULMOD_GAS);
        }
        let row = revision.row(revision.arithmetic_opcode(operation));
        row.and_then(|row| self.base(row.mnemonic)).expect("validation asks for a base price of every opcode")
    }
}

impl SlotPrices {
    fn at(&self, width_limbs: usize) -> WidthPrices {
        let found = match width_limbs.checked_sub(1) {
            Some(index) => self.widths.get(index),
            None => self.narrow.as_ref(),
        };
        *found.unwrap_or_else(|| panic!("width of {width_limbs} limbs is outside 1..={}", self.widths.len()))
    }
}

impl WidthPrices {
    fn all(self) -> impl Iterator<Item = Price> + use<> {
        WidthKey::every().map(move |key| key.of(&self))
    }
}
