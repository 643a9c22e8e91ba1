//! Reading and validating the TOML of a gas schedule; every fault is reported with its line and its value as written.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{GasSchedule, Price, PriceFault, ScheduleError, SlotPrices, WidthPrices};
use crate::field_instruction::{FieldOp, PerOp};
use crate::form::FormPrice;
use crate::names::UnknownName;
use crate::opcode;
use crate::revision::rules::{SizeUnit, SlotRules};
use crate::revision::{Family, Revision};

/// A table of `[per_width]`, and a price of `[narrow]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WidthKey {
    SetModulus,
    Start,
    Add,
    Sub,
    Mul,
    Square,
    /// Loads and stores.
    Transfer,
    Load,
    Store,
    Form(FormPrice),
}

/// The only value of `rounding`.
pub(super) const ROUNDING: &str = "instruction";

const TOP_KEYS: [&str; 9] =
    ["name", "summary", "revisions", "rounding", "base", "per_width", "per_word", "narrow", "evm"];

/// Names in `[evm]` that stand for several opcodes; the price of a single mnemonic goes before its group's.
const EVM_GROUPS: [(&str, RangeInclusive<u8>); 4] = [
    ("PUSH", opcode::evm::PUSH1..=opcode::evm::PUSH32),
    ("DUP", opcode::evm::DUP1..=opcode::evm::DUP16),
    ("SWAP", opcode::evm::SWAP1..=opcode::evm::SWAP16),
    ("LOG", opcode::evm::LOG0..=opcode::evm::LOG4),
];

/// Error at one place of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScheduleFault {
    /// Not TOML.
    #[error("{message}")]
    Syntax {
        /// The parser's words.
        message: String,
    },
    /// A key that means nothing here.
    #[error("unknown key {key:?}; known here are {known}")]
    UnknownKey {
        /// The key.
        key: String,
        /// Known keys.
        known: String,
    },
    /// A key that must be here.
    #[error("{key} is missing")]
    Missing {
        /// The key, with its table.
        key: String,
    },
    /// A value of the wrong type.
    #[error("{key} = {value}: expected {expected}")]
    WrongType {
        /// The key.
        key: String,
        /// The value as written.
        value: String,
        /// Expected type.
        expected: &'static str,
    },
    /// A price that cannot be.
    #[error("{key} = {value}: {fault}")]
    Price {
        /// The opcode or the table.
        key: String,
        /// The value as written.
        value: String,
        /// Why not.
        fault: PriceFault,
    },
    /// A table of prices that does not cover exactly the widths of its revisions.
    #[error("{key} has {found} prices; expected {expected}, one for each width from one limb")]
    TableLength {
        /// The table.
        key: String,
        /// Their number.
        found: usize,
        /// The widest modulus in limbs.
        expected: usize,
    },
    /// A revision that does not exist.
    #[error(transparent)]
    Revision(#[from] UnknownName),
    /// Revisions that cannot share a schedule.
    #[error("revisions of one schedule have one family and the same arithmetic mnemonics: {first} and {other} differ")]
    MixedRevisions {
        /// The first one listed.
        first: Revision,
        /// The one that does not fit to it.
        other: Revision,
    },
}

/// The text, for the lines and values of errors.
struct Source<'a> {
    text: &'a str,
    file: &'a str,
}

type Table<'a> = DeTable<'a>;
type Value<'a> = Spanned<DeValue<'a>>;

pub(super) fn parse(text: &str, file: &str) -> Result<GasSchedule, ScheduleError> {
    let source = Source { text, file };
    let root = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        source.fault(offset, ScheduleFault::Syntax { message: error.message().to_owned() })
    })?;
    let root = root.get_ref();
    source.known_keys(root, &TOP_KEYS)?;
    let name = source.string(root, "name")?;
    let summary = source.string(root, "summary")?;
    let revisions = source.revisions(root)?;
    let base = source.base(root, &revisions)?;
    let slots = match revisions[0].family() {
        Family::Slots | Family::MemorySlots => Some(source.slot_prices(root, &revisions)?),
        Family::Memory384 | Family::Words => {
            // Nothing depends on the width: such tables would be ignored, so they are errors.
            let known: Vec<_> =
                TOP_KEYS.into_iter().filter(|key| !key.starts_with("per_") && *key != "narrow").collect();
            source.known_keys(root, &known)?;
            None
        }
    };
    let evm = match root.get("evm") {
        Some(value) => source.evm_overrides(source.table("evm", value)?)?,
        None => BTreeMap::new(),
    };
    let rounds_instructions = match root.get("rounding") {
        None => false,
        Some(value) if value.get_ref().as_str() == Some(ROUNDING) => true,
        Some(value) => return Err(source.wrong_type("rounding", value, "\"instruction\"")),
    };
    Ok(GasSchedule { name, summary, revisions, base, slots, evm, rounds_instructions })
}

/// The keys under which prices by width are written: loads and stores apart only where they differ.
pub(super) fn width_keys(revisions: &[Revision], widths: &[WidthPrices]) -> Vec<WidthKey> {
    keys(revisions, widths.iter().all(|width| width.load == width.store))
}

fn keys(revisions: &[Revision], together: bool) -> Vec<WidthKey> {
    let is_used = |key: &WidthKey| match key {
        WidthKey::Transfer => together,
        WidthKey::Load | WidthKey::Store => !together,
        _ => revisions.iter().any(|&revision| key.is_of(revision)),
    };
    WidthKey::every().filter(is_used).collect()
}

impl WidthKey {
    const EACH: [Self; 9] = [
        WidthKey::SetModulus,
        WidthKey::Start,
        WidthKey::Add,
        WidthKey::Sub,
        WidthKey::Mul,
        WidthKey::Square,
        WidthKey::Transfer,
        WidthKey::Load,
        WidthKey::Store,
    ];

    /// Every key, in the order of schedules.
    pub fn every() -> impl Iterator<Item = Self> {
        Self::EACH.into_iter().chain(FormPrice::ALL.iter().copied().map(WidthKey::Form))
    }

    /// True if a revision has what it prices.
    pub fn is_of(self, revision: Revision) -> bool {
        let rules = revision.slot_rules();
        match self {
            WidthKey::Start => rules.is_some_and(|rules| rules.prices_starts),
            WidthKey::Square => rules.is_some_and(|rules| rules.prices_squares),
            WidthKey::Form(price) => rules.is_some_and(|rules| rules.form_prices().any(|own| own == price)),
            _ => true,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            WidthKey::SetModulus => "set_modulus",
            WidthKey::Start => "start",
            WidthKey::Add => "add",
            WidthKey::Sub => "sub",
            WidthKey::Mul => "mul",
            WidthKey::Square => "square",
            WidthKey::Transfer => "transfer",
            WidthKey::Load => "load",
            WidthKey::Store => "store",
            WidthKey::Form(price) => price.key(),
        }
    }

    pub fn of(self, prices: &WidthPrices) -> Price {
        match self {
            WidthKey::SetModulus => prices.set_modulus,
            WidthKey::Start => prices.start,
            WidthKey::Add => prices.arithmetic[FieldOp::Add],
            WidthKey::Sub => prices.arithmetic[FieldOp::Sub],
            WidthKey::Mul => prices.arithmetic[FieldOp::Mul],
            WidthKey::Square => prices.square,
            WidthKey::Transfer | WidthKey::Load => prices.load,
            WidthKey::Store => prices.store,
            WidthKey::Form(price) => prices.forms[price],
        }
    }

    pub fn set(self, prices: &mut WidthPrices, price: Price) {
        match self {
            WidthKey::SetModulus => prices.set_modulus = price,
            WidthKey::Start => prices.start = price,
            WidthKey::Add => prices.arithmetic[FieldOp::Add] = price,
            WidthKey::Sub => prices.arithmetic[FieldOp::Sub] = price,
            WidthKey::Mul => prices.arithmetic[FieldOp::Mul] = price,
            WidthKey::Square => prices.square = price,
            WidthKey::Transfer => (prices.load, prices.store) = (price, price),
            WidthKey::Load => prices.load = price,
            WidthKey::Store => prices.store = price,
            WidthKey::Form(form) => prices.forms[form] = price,
        }
    }
}

impl Source<'_> {
    fn fault(&self, offset: usize, fault: ScheduleFault) -> ScheduleError {
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        ScheduleError::InFile { file: self.file.to_owned(), line, fault }
    }

    /// The value as written.
    fn written(&self, value: &Value<'_>) -> String {
        self.text.get(value.span()).unwrap_or_default().to_owned()
    }

    fn wrong_type(&self, key: &str, value: &Value<'_>, expected: &'static str) -> ScheduleError {
        let fault = ScheduleFault::WrongType { key: key.to_owned(), value: self.written(value), expected };
        self.fault(value.span().start, fault)
    }

    /// A missing key is reported on the line of the table it belongs to, in the top table on the first.
    fn required<'t, 'a>(
        &self,
        table: &'t Table<'a>,
        table_offset: usize,
        path: &str,
        key: &str,
    ) -> Result<&'t Value<'a>, ScheduleError> {
        let missing = || self.fault(table_offset, ScheduleFault::Missing { key: format!("{path}{key}") });
        table.get(key).ok_or_else(missing)
    }

    fn known_keys(&self, table: &Table<'_>, known: &[&str]) -> Result<(), ScheduleError> {
        self.keys_among(table, known, || known.join(", "))
    }

    fn keys_among(
        &self,
        table: &Table<'_>,
        known: &[&str],
        in_words: impl Fn() -> String,
    ) -> Result<(), ScheduleError> {
        match table.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            None => Ok(()),
            Some(key) => {
                let fault = ScheduleFault::UnknownKey { key: key.get_ref().to_string(), known: in_words() };
                Err(self.fault(key.span().start, fault))
            }
        }
    }

    fn table<'t, 'a>(&self, key: &str, value: &'t Value<'a>) -> Result<&'t Table<'a>, ScheduleError> {
        value.get_ref().as_table().ok_or_else(|| self.wrong_type(key, value, "a table"))
    }

    fn string(&self, root: &Table<'_>, key: &str) -> Result<String, ScheduleError> {
        let value = self.required(root, 0, "", key)?;
        let text = value.get_ref().as_str().ok_or_else(|| self.wrong_type(key, value, "a string"))?;
        Ok(text.to_owned())
    }

    fn revisions(&self, root: &Table<'_>) -> Result<Vec<Revision>, ScheduleError> {
        const EXPECTED: &str = "a list of one or more names of revisions";
        let value = self.required(root, 0, "", "revisions")?;
        let names = value.get_ref().as_array().filter(|names| !names.is_empty());
        let names = names.ok_or_else(|| self.wrong_type("revisions", value, EXPECTED))?;
        let mut revisions: Vec<Revision> = Vec::new();
        for name in names.iter() {
            let text = name.get_ref().as_str().ok_or_else(|| self.wrong_type("revisions", name, EXPECTED))?;
            let revision: Revision =
                text.parse().map_err(|error| self.fault(name.span().start, ScheduleFault::Revision(error)))?;
            let first = *revisions.first().unwrap_or(&revision);
            if revision.family() != first.family() || arithmetic_mnemonics(revision) != arithmetic_mnemonics(first) {
                return Err(self.fault(name.span().start, ScheduleFault::MixedRevisions { first, other: revision }));
            }
            revisions.push(revision);
        }
        Ok(revisions)
    }

    /// Exactly one price for every opcode of every revision.
    fn base(&self, root: &Table<'_>, revisions: &[Revision]) -> Result<BTreeMap<&'static str, Price>, ScheduleError> {
        let value = self.required(root, 0, "", "base")?;
        let table = self.table("base", value)?;
        let mut mnemonics: Vec<&'static str> = Vec::new();
        for row in revisions.iter().flat_map(|revision| revision.opcodes()) {
            if !mnemonics.contains(&row.mnemonic) {
                mnemonics.push(row.mnemonic);
            }
        }
        self.known_keys(table, &mnemonics)?;
        let price = |mnemonic| {
            let value = self.required(table, value.span().start, "base.", mnemonic)?;
            Ok((mnemonic, self.price(mnemonic, value)?))
        };
        mnemonics.into_iter().map(price).collect()
    }

    fn slot_prices(&self, root: &Table<'_>, revisions: &[Revision]) -> Result<SlotPrices, ScheduleError> {
        let widths_max = revisions.iter().map(|revision| revision.width_limbs_max()).max().unwrap_or(0);
        let value = self.required(root, 0, "", "per_width")?;
        let table = self.table("per_width", value)?;
        let keys = keys(revisions, !table.contains_key("load") && !table.contains_key("store"));
        let names: Vec<&str> = keys.iter().map(|key| key.name()).collect();
        self.known_keys(table, &names)?;
        let mut widths = vec![WidthPrices::default(); widths_max];
        for key in &keys {
            let list = self.required(table, value.span().start, "per_width.", key.name())?;
            for (width, price) in widths.iter_mut().zip(self.prices(key.name(), list, widths_max)?) {
                key.set(width, price);
            }
        }
        Ok(SlotPrices {
            widths,
            narrow: self.narrow(root, revisions, &keys)?,
            transfer_per_word: self.per_word(root, revisions)?,
        })
    }

    /// `[narrow]`, which revisions with sizes in bits must have and no others may.
    fn narrow(
        &self,
        root: &Table<'_>,
        revisions: &[Revision],
        keys: &[WidthKey],
    ) -> Result<Option<WidthPrices>, ScheduleError> {
        let in_bits =
            |revision: &Revision| revision.slot_rules().is_some_and(|rules| rules.moduli.unit == SizeUnit::Bits);
        if !revisions.iter().any(in_bits) {
            let known: Vec<_> = TOP_KEYS.into_iter().filter(|key| *key != "narrow").collect();
            return self.known_keys(root, &known).map(|()| None);
        }
        let value = self.required(root, 0, "", "narrow")?;
        let table = self.table("narrow", value)?;
        let names: Vec<&str> = keys.iter().map(|key| key.name()).collect();
        self.known_keys(table, &names)?;
        let mut prices = WidthPrices::default();
        for key in keys {
            let price = self.required(table, value.span().start, "narrow.", key.name())?;
            key.set(&mut prices, self.price(key.name(), price)?);
        }
        Ok(Some(prices))
    }

    /// `[per_word]`, which revisions must have that price loads and stores by the word under powers of two; no others may.
    fn per_word(&self, root: &Table<'_>, revisions: &[Revision]) -> Result<Option<Price>, ScheduleError> {
        if !revisions.iter().any(|revision| revision.slot_rules().is_some_and(SlotRules::transfers_by_word)) {
            let known: Vec<_> = TOP_KEYS.into_iter().filter(|key| *key != "per_word").collect();
            return self.known_keys(root, &known).map(|()| None);
        }
        let value = self.required(root, 0, "", "per_word")?;
        let table = self.table("per_word", value)?;
        self.known_keys(table, &["transfer"])?;
        let transfer = self.required(table, value.span().start, "per_word.", "transfer")?;
        self.price("transfer", transfer).map(Some)
    }

    fn evm_overrides(&self, table: &Table<'_>) -> Result<BTreeMap<u8, Price>, ScheduleError> {
        let mut overrides = BTreeMap::new();
        let groups = EVM_GROUPS.iter().map(|(name, opcodes)| (*name, opcodes.clone()));
        let singles = opcode::evm().iter().map(|row| (row.mnemonic, row.byte..=row.byte));
        let known: Vec<(&str, RangeInclusive<u8>)> = groups.chain(singles).collect();
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        self.keys_among(table, &names, || "PUSH, DUP, SWAP, LOG and every mnemonic of the EVM".to_owned())?;
        for (name, opcodes) in known {
            if let Some(value) = table.get(name) {
                let price = self.price(name, value)?;
                overrides.extend(opcodes.map(|opcode| (opcode, price)));
            }
        }
        Ok(overrides)
    }

    fn prices(&self, key: &str, value: &Value<'_>, expected: usize) -> Result<Vec<Price>, ScheduleError> {
        let list = value.get_ref().as_array().ok_or_else(|| self.wrong_type(key, value, "a list of prices"))?;
        if list.len() != expected {
            let fault = ScheduleFault::TableLength { key: key.to_owned(), found: list.len(), expected };
            return Err(self.fault(value.span().start, fault));
        }
        list.iter().map(|value| self.price(key, value)).collect()
    }

    /// A price: a number, or a string with one. The digits are read as text, so 1.1 is exactly 1100 thousandths.
    fn price(&self, key: &str, value: &Value<'_>) -> Result<Price, ScheduleError> {
        let digits = match value.get_ref() {
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            DeValue::Float(float) => float.as_str(),
            DeValue::String(text) => text.as_ref(),
            _ => return Err(self.wrong_type(key, value, "a price: a decimal number such as 3 or 0.25")),
        };
        Price::from_decimal(digits).map_err(|fault| {
            let fault = ScheduleFault::Price { key: key.to_owned(), value: self.written(value), fault };
            self.fault(value.span().start, fault)
        })
    }
}

fn arithmetic_mnemonics(revision: Revision) -> PerOp<Option<&'static str>> {
    revision.interface().arithmetic.map(|opcode| revision.row(opcode).map(|row| row.mnemonic))
}
