//! The state before and after: accounts by address.

use std::collections::BTreeMap;

use alloy_primitives::{Address, Bytes, U256, hex, keccak256};
use alloy_trie::KECCAK_EMPTY;
use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use super::json::{Fields, word};
use crate::store::StateChanges;
use crate::trie::AccountChange;

/// An account.
#[derive(Debug, Clone, Default)]
struct Account {
    nonce: u64,
    balance: U256,
    code: Bytes,
    storage: BTreeMap<U256, U256>,
}

/// A state.
#[derive(Debug, Clone, Default)]
pub struct Alloc(BTreeMap<Address, Account>);

impl Alloc {
    /// The state of a file.
    pub fn of(given: &Value) -> Result<Self> {
        let mut all = BTreeMap::new();
        for (address, account) in Fields::of(given)?.all() {
            let at: Address = address.parse().with_context(|| format!("{address:?} is no address of 20 bytes"))?;
            let account = Account::of(account).with_context(|| address.clone())?;
            ensure!(all.insert(at, account).is_none(), "{address} is there twice");
        }
        Ok(Self(all))
    }

    /// Changes from the empty state to this one.
    pub fn changes(&self) -> StateChanges {
        let mut changes = StateChanges::default();
        for (address, account) in &self.0 {
            let code_hash = if account.code.is_empty() { KECCAK_EMPTY } else { keccak256(&account.code) };
            if !account.code.is_empty() {
                changes.codes.insert(code_hash, account.code.clone());
            }
            let info = Some((account.nonce, account.balance, code_hash));
            let slots = account.storage.clone();
            changes.accounts.insert(*address, AccountChange { info, is_wiped: false, slots });
        }
        changes
    }

    /// The state after changes.
    pub fn after(&self, changes: &StateChanges) -> Self {
        let mut all = self.0.clone();
        for (address, change) in &changes.accounts {
            let Some((nonce, balance, code_hash)) = change.info else {
                all.remove(address);
                continue;
            };
            let account = all.entry(*address).or_default();
            (account.nonce, account.balance) = (nonce, balance);
            if code_hash == KECCAK_EMPTY {
                account.code = Bytes::new();
            } else if let Some(code) = changes.codes.get(&code_hash) {
                account.code = code.clone();
            }
            if change.is_wiped {
                account.storage.clear();
            }
            account.storage.extend(&change.slots);
            account.storage.retain(|_, value| !value.is_zero());
        }
        Self(all)
    }

    /// As EELS writes it: what is zero or empty is left out.
    pub fn json(&self) -> Value {
        let one = |(address, account): (&Address, &Account)| {
            let mut fields = Map::new();
            let mut set = |name: &str, value: Option<Value>| {
                value.map(|value| fields.insert(name.to_owned(), value));
            };
            set("balance", (!account.balance.is_zero()).then(|| format!("{:#x}", account.balance).into()));
            set("nonce", (account.nonce > 0).then(|| format!("{:#x}", account.nonce).into()));
            set("code", (!account.code.is_empty()).then(|| account.code.to_string().into()));
            let slot = |(slot, value): (&U256, &U256)| (format!("{slot:#066x}"), format!("{value:#x}").into());
            let storage: Map<String, Value> = account.storage.iter().map(slot).collect();
            set("storage", (!storage.is_empty()).then(|| storage.into()));
            (hex::encode_prefixed(address), Value::Object(fields))
        };
        Value::Object(self.0.iter().map(one).collect())
    }
}

impl Account {
    fn of(given: &Value) -> Result<Self> {
        let fields = Fields::of(given)?;
        let mut storage = BTreeMap::new();
        for (slot, value) in fields.find("storage").map(Fields::of).transpose()?.iter().flat_map(|slots| slots.all()) {
            let value = word(value).with_context(|| format!("storage {slot}"))?;
            let digits = slot.strip_prefix("0x").unwrap_or(slot);
            let at = word(&Value::String(format!("0x{digits}"))).with_context(|| format!("storage {slot}"))?;
            ensure!(storage.insert(at, value).is_none(), "storage {slot} is there twice");
        }
        storage.retain(|_, value| !value.is_zero());
        Ok(Self {
            nonce: fields.number("nonce")?.unwrap_or_default(),
            balance: fields.word("balance")?.unwrap_or_default(),
            code: fields.bytes("code")?,
            storage,
        })
    }
}
