//! Writing: a block with all that comes of it, or changes of the state by hand.

use std::collections::BTreeMap;

use alloy_consensus::ReceiptEnvelope;
use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_rlp::Encodable;
use redb::{ReadableTable, Table, WriteTransaction};

use super::tables::{self, SLOT_KEY, When, slot_key};
use super::{ChainBlock, Result};
use crate::remote::Fetched;
use crate::trie::{AccountChange, TrieChanges};

/// A block with all that comes of it.
#[derive(Debug)]
pub struct NewBlock<'a> {
    /// The block.
    pub block: &'a ChainBlock,
    /// Its hash.
    pub hash: B256,
    /// The senders of its transactions.
    pub senders: &'a [Address],
    /// Their receipts.
    pub receipts: &'a [ReceiptEnvelope],
}

/// Changes of the state.
#[derive(Debug, Default)]
pub struct StateChanges {
    /// By address.
    pub accounts: BTreeMap<Address, AccountChange>,
    /// New codes by hash.
    pub codes: BTreeMap<B256, Bytes>,
}

/// One transaction of writing.
pub struct Writer<'t> {
    pub(super) txn: &'t WriteTransaction,
    pub(super) accounts: Table<'t, [u8; 20], &'static [u8]>,
    pub(super) slots: Table<'t, [u8; SLOT_KEY], [u8; 32]>,
    pub(super) accounts_before: Table<'t, ([u8; 20], u64), &'static [u8]>,
    pub(super) slots_before: Table<'t, ([u8; SLOT_KEY], u64), [u8; 32]>,
    pub(super) changed: Table<'t, (u64, &'static [u8]), ()>,
    /// True if zero slots and deleted accounts are stored, since absent ones are looked up in the other node.
    keeps_zeros: bool,
}

impl<'t> Writer<'t> {
    pub(super) fn new(txn: &'t WriteTransaction, keeps_zeros: bool) -> Result<Self> {
        Ok(Self {
            txn,
            accounts: txn.open_table(tables::ACCOUNTS)?,
            slots: txn.open_table(tables::SLOTS)?,
            accounts_before: txn.open_table(tables::ACCOUNTS_BEFORE)?,
            slots_before: txn.open_table(tables::SLOTS_BEFORE)?,
            changed: txn.open_table(tables::CHANGED)?,
            keeps_zeros,
        })
    }

    /// Sets a text of the database about itself.
    pub fn set_meta(&mut self, name: &str, text: &str) -> Result<()> {
        self.txn.open_table(tables::META)?.insert(name, text)?;
        Ok(())
    }

    /// Adds a block.
    pub fn add_block(&mut self, new: &NewBlock<'_>) -> Result<()> {
        let number = new.block.header.number;
        let mut encoded = Vec::new();
        new.block.header.encode(&mut encoded);
        self.txn.open_table(tables::HEADERS)?.insert(number, encoded.as_slice())?;
        encoded.clear();
        new.block.encode(&mut encoded);
        self.txn.open_table(tables::BLOCKS)?.insert(number, encoded.as_slice())?;
        encoded.clear();
        new.receipts.to_vec().encode(&mut encoded);
        self.txn.open_table(tables::RECEIPTS)?.insert(number, encoded.as_slice())?;
        let senders: Vec<u8> = new.senders.iter().flat_map(|sender| sender.0.0).collect();
        self.txn.open_table(tables::SENDERS)?.insert(number, senders.as_slice())?;
        self.txn.open_table(tables::HASHES)?.insert(number, new.hash.0)?;
        self.txn.open_table(tables::NUMBERS)?.insert(new.hash.0, number)?;
        let mut places = self.txn.open_table(tables::TRANSACTIONS)?;
        for (index, transaction) in (0u64..).zip(&new.block.body.transactions) {
            places.insert(transaction.tx_hash().0, (number, index))?;
        }
        Ok(())
    }

    /// Adds what was fetched of another node, where nothing newer is.
    pub fn add_fetched(&mut self, fetched: &Fetched) -> Result<()> {
        for (address, account) in &fetched.accounts {
            if self.accounts.get(address.0.0)?.is_none() {
                self.accounts.insert(address.0.0, alloy_rlp::encode(account).as_slice())?;
            }
        }
        for ((address, slot), value) in &fetched.slots {
            let key = slot_key(*address, *slot);
            if self.slots.get(key)?.is_none() {
                self.slots.insert(key, value.to_be_bytes())?;
            }
        }
        let mut codes = self.txn.open_table(tables::CODES)?;
        for (hash, code) in &fetched.codes {
            codes.insert(hash.0, code.as_ref())?;
        }
        Ok(())
    }

    /// Sets the hash of a block of which nothing else is known.
    pub fn set_hash(&mut self, number: u64, hash: B256) -> Result<()> {
        self.txn.open_table(tables::HASHES)?.insert(number, hash.0)?;
        Ok(())
    }

    /// Changes the state by what a block did, or what was done by hand. `tries` are those of the same changes.
    pub fn change_state(&mut self, when: When, changes: &StateChanges, tries: &TrieChanges) -> Result<()> {
        let moment = when.moment();
        let mut codes = self.txn.open_table(tables::CODES)?;
        for (hash, code) in &changes.codes {
            codes.insert(hash.0, code.as_ref())?;
        }
        drop(codes);
        for (address, change) in &changes.accounts {
            if change.is_wiped || change.info.is_none() {
                self.wipe(moment, *address)?;
            }
            for (slot, value) in &change.slots {
                self.set_slot(moment, slot_key(*address, *slot), *value)?;
            }
        }
        for (address, account) in &tries.accounts {
            let account = account.as_ref().map(alloy_rlp::encode).unwrap_or_default();
            self.set_account(moment, *address, &account)?;
        }
        let mut nodes = self.txn.open_table(tables::NODES)?;
        for prefix in &tries.wiped {
            // Nibbles are at most 15.
            let end = [prefix.as_slice(), &[0xff]].concat();
            nodes.retain_in(prefix.as_slice()..end.as_slice(), |_, _| false)?;
        }
        for (key, node) in &tries.nodes {
            match node {
                Some(node) => drop(nodes.insert(key.as_slice(), node.as_slice())?),
                None => drop(nodes.remove(key.as_slice())?),
            }
        }
        self.txn.open_table(tables::META)?.insert("state root", tries.root.to_string().as_str())?;
        Ok(())
    }

    fn wipe(&mut self, moment: u64, address: Address) -> Result<()> {
        let range = slot_key(address, U256::ZERO)..=slot_key(address, U256::MAX);
        let slots: Vec<_> = self
            .slots
            .range(range)?
            .map(|slot| slot.map(|(key, _)| key.value()))
            .collect::<std::result::Result<_, _>>()?;
        slots.into_iter().try_for_each(|key| self.set_slot(moment, key, U256::ZERO))
    }

    fn set_slot(&mut self, moment: u64, key: [u8; SLOT_KEY], value: U256) -> Result<()> {
        let old = match value.is_zero() && !self.keeps_zeros {
            true => self.slots.remove(key)?.map(|old| old.value()),
            false => self.slots.insert(key, value.to_be_bytes())?.map(|old| old.value()),
        };
        let old = old.unwrap_or_default();
        if U256::from_be_bytes(old) != value && self.slots_before.get((key, moment))?.is_none() {
            self.slots_before.insert((key, moment), old)?;
            self.changed.insert((moment, key.as_slice()), ())?;
        }
        Ok(())
    }

    fn set_account(&mut self, moment: u64, address: Address, account: &[u8]) -> Result<()> {
        let key = address.0.0;
        let old = match account.is_empty() && !self.keeps_zeros {
            true => self.accounts.remove(key)?.map(|old| old.value().to_vec()),
            false => self.accounts.insert(key, account)?.map(|old| old.value().to_vec()),
        };
        let old = old.unwrap_or_default();
        if old != account && self.accounts_before.get((key, moment))?.is_none() {
            self.accounts_before.insert((key, moment), old.as_slice())?;
            self.changed.insert((moment, key.as_slice()), ())?;
        }
        Ok(())
    }
}
