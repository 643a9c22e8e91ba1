//! Proofs and roots: of the present state, and of that after an earlier block by undoing the later changes.

use std::collections::BTreeMap;

use alloy_primitives::{Address, U256};
use alloy_trie::TrieAccount;

use super::view::{StateAt, StateView, storage_root};
use super::{Result, StateChanges, corrupt};
use crate::trie::{AccountChange, StateTrie, TrieChanges, TrieError};

/// Former accounts with their former slots.
type Undone = BTreeMap<Address, (Option<TrieAccount>, BTreeMap<U256, U256>)>;

impl StateView {
    /// Tries of this state after changes. Only that of the present one may be written.
    pub fn changed(&self, changes: &BTreeMap<Address, AccountChange>) -> Result<TrieChanges> {
        if self.at() != StateAt::Present {
            return self.changed_from_the_present(&self.over_undone(changes)?);
        }
        self.changed_from_the_present(changes)
    }

    /// Changes of this state as changes of the present one: what was done since is undone first.
    fn over_undone(&self, changes: &BTreeMap<Address, AccountChange>) -> Result<BTreeMap<Address, AccountChange>> {
        let info = |account: &TrieAccount| (account.nonce, account.balance, account.code_hash);
        let undone = self.undone(None)?.into_iter().map(|(address, (account, slots))| {
            (address, AccountChange { info: account.as_ref().map(info), is_wiped: false, slots })
        });
        let mut all: BTreeMap<Address, AccountChange> = undone.collect();
        for (address, change) in changes {
            let held = all.entry(*address).or_insert_with(|| change.clone());
            held.info = change.info;
            if change.is_wiped {
                held.is_wiped = true;
                held.slots.clear();
            }
            held.slots.extend(&change.slots);
        }
        Ok(all)
    }

    /// The changes that make this state of the present one.
    pub(super) fn taking_back(&self) -> Result<(StateChanges, TrieChanges)> {
        let accounts = self.over_undone(&BTreeMap::new())?;
        let tries = self.changed_from_the_present(&accounts)?;
        Ok((StateChanges { accounts, codes: BTreeMap::new() }, tries))
    }

    fn changed_from_the_present(&self, changes: &BTreeMap<Address, AccountChange>) -> Result<TrieChanges> {
        let present = |address| {
            let account = self.present_account(address).map_err(TrieError::Store)?;
            Ok(storage_root(account.as_ref()))
        };
        Ok(StateTrie::new(self, self.present_root()).changed(changes, present)?)
    }

    /// An account with the proof of it and of slots, in this state.
    pub fn proofs(&self, address: Address, slots: &[U256]) -> Result<(Option<TrieAccount>, Proofs)> {
        let account = self.account(address)?;
        let present_root = storage_root(self.present_account(address)?.as_ref());
        let undone = self.undone(Some(address))?;
        let (account_proof, slot_proofs) = StateTrie::new(self, self.present_root()).proofs(
            address,
            slots,
            &undone,
            account.as_ref(),
            present_root,
        )?;
        Ok((account, Proofs { account: account_proof, slots: slot_proofs }))
    }

    /// Every account that was changed after this state as it is here, with the slots of the one that is asked for, or of all.
    fn undone(&self, asked: Option<Address>) -> Result<Undone> {
        let mut undone = Undone::new();
        let Some(moment) = self.at().moment() else {
            return Ok(undone);
        };
        for entry in self.changed.range((moment.saturating_add(1), &[][..])..)? {
            let (key, _) = entry?;
            let (_, key) = key.value();
            let (address, slot) = key.split_at_checked(20).ok_or_else(|| corrupt("a changed key"))?;
            let address = Address::from_slice(address);
            if let std::collections::btree_map::Entry::Vacant(entry) = undone.entry(address) {
                entry.insert((self.account(address)?, BTreeMap::new()));
            }
            if !slot.is_empty() && asked.is_none_or(|asked| asked == address) {
                let slot = U256::try_from_be_slice(slot).ok_or_else(|| corrupt("a changed slot"))?;
                let value = self.slot(address, slot)?;
                undone.entry(address).or_default().1.insert(slot, value);
            }
        }
        Ok(undone)
    }
}

/// Proofs: nodes from the root on.
#[derive(Debug)]
pub struct Proofs {
    /// Of the account.
    pub account: Vec<Vec<u8>>,
    /// Of each slot asked for.
    pub slots: Vec<Vec<Vec<u8>>>,
}
