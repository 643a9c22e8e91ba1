//! A chain that becomes shorter, begins anew, or goes on from a state that was written elsewhere; and the whole state, to be written there.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_trie::TrieAccount;
use redb::{ReadableDatabase, ReadableTable};

use super::tables::{self, SLOT_KEY, When};
use super::view::decode_account;
use super::{Result, StateAt, Store, Writer, corrupt};

/// The present state, whole: accounts, their slots, and codes by hash.
#[derive(Debug, Default)]
pub struct Dumped {
    /// Accounts with their slots.
    pub accounts: BTreeMap<Address, (TrieAccount, BTreeMap<U256, U256>)>,
    /// Codes by hash.
    pub codes: BTreeMap<B256, Bytes>,
}

impl Store {
    /// Takes back all blocks after one, with what they and changes by hand after it have done.
    pub fn rewind(&self, number: u64) -> Result<()> {
        let (changes, tries) = self.state(StateAt::Block(number))?.taking_back()?;
        self.write(|writer| {
            writer.change_state(When::ByHandAfter(number), &changes, &tries)?;
            writer.forget_after(number)
        })
    }

    /// The present state, as far as it is here.
    pub fn dump(&self) -> Result<Dumped> {
        let txn = self.db.begin_read()?;
        let mut dumped = Dumped::default();
        for entry in txn.open_table(tables::ACCOUNTS)?.iter()? {
            let (address, account) = entry?;
            if let Some(account) = decode_account(account.value())? {
                dumped.accounts.insert(Address::from(address.value()), (account, BTreeMap::new()));
            }
        }
        for entry in txn.open_table(tables::SLOTS)?.iter()? {
            let (key, value) = entry?;
            let key = key.value();
            let (address, slot) = key.split_at(20);
            if let Some((_, slots)) = dumped.accounts.get_mut(&Address::from_slice(address)) {
                slots.insert(U256::from_be_slice(slot), U256::from_be_bytes(value.value()));
            }
        }
        let codes = txn.open_table(tables::CODES)?;
        for (account, _) in dumped.accounts.values() {
            if let Some(code) = codes.get(account.code_hash.0)? {
                dumped.codes.insert(account.code_hash, Bytes::copy_from_slice(code.value()));
            }
        }
        Ok(dumped)
    }
}

impl Writer<'_> {
    /// Takes out blocks after one, and what history has of later moments. The state is as [`Writer::change_state`] left it.
    pub fn forget_after(&mut self, number: u64) -> Result<()> {
        let from = When::Block(number).moment().saturating_add(1);
        let later = self.changed.range((from, &[][..])..)?.map(|entry| {
            let (key, _) = entry?;
            let (moment, key) = key.value();
            Ok((moment, key.to_vec()))
        });
        let later: Vec<(u64, Vec<u8>)> = later.collect::<Result<_>>()?;
        for (moment, key) in later {
            if let Ok(slot) = <[u8; SLOT_KEY]>::try_from(key.as_slice()) {
                self.slots_before.remove((slot, moment))?;
            } else {
                let address = <[u8; 20]>::try_from(key.as_slice()).map_err(|_| corrupt("a changed key"))?;
                self.accounts_before.remove((address, moment))?;
            }
            self.changed.remove((moment, key.as_slice()))?;
        }
        self.forget_blocks(number.saturating_add(1))
    }

    /// Takes out the blocks from a number on.
    pub fn forget_blocks(&mut self, from: u64) -> Result<()> {
        self.txn.open_table(tables::HASHES)?.retain_in(from.., |_, _| false)?;
        self.txn.open_table(tables::HEADERS)?.retain_in(from.., |_, _| false)?;
        self.txn.open_table(tables::BLOCKS)?.retain_in(from.., |_, _| false)?;
        self.txn.open_table(tables::SENDERS)?.retain_in(from.., |_, _| false)?;
        self.txn.open_table(tables::RECEIPTS)?.retain_in(from.., |_, _| false)?;
        self.txn.open_table(tables::NUMBERS)?.retain(|_, number| number < from)?;
        self.txn.open_table(tables::TRANSACTIONS)?.retain(|_, (number, _)| number < from)?;
        Ok(())
    }

    /// Forgets every state before the present one, which counts as that after a block.
    pub fn forget_history(&mut self, number: u64) -> Result<()> {
        self.accounts_before.retain(|_, _| false)?;
        self.slots_before.retain(|_, _| false)?;
        self.changed.retain(|_, _| false)?;
        self.set_meta(tables::STATE_SINCE, &number.to_string())
    }

    /// Forgets blocks, state and snapshots. What the database says about itself stays.
    pub(super) fn forget_all(&mut self) -> Result<()> {
        self.forget_history(0)?;
        self.forget_blocks(0)?;
        self.accounts.retain(|_, _| false)?;
        self.slots.retain(|_, _| false)?;
        self.txn.open_table(tables::CODES)?.retain(|_, _| false)?;
        self.txn.open_table(tables::NODES)?.retain(|_, _| false)?;
        self.txn.open_table(tables::META)?.remove("state root")?;
        let snapshots: Vec<u64> = self.txn.list_persistent_savepoints()?.collect();
        for id in snapshots {
            self.txn.delete_persistent_savepoint(id)?;
        }
        Ok(())
    }
}
