//! A state in memory with roots computed from scratch by alloy-trie, and nothing that a node has to make them fast.

use std::collections::BTreeMap;
use std::convert::Infallible;

use alloy_genesis::GenesisAccount;
use alloy_trie::TrieAccount;
use alloy_trie::root::{state_root_unhashed, storage_root_unhashed};
use residue_engine::revm::Database;
use residue_engine::revm::database::{BundleAccount, BundleState};
use residue_engine::revm::primitives::{Address, B256, U256};
use residue_engine::revm::state::{AccountInfo, Bytecode};

/// Accounts with their storage, and the hashes of blocks by number.
#[derive(Debug, Clone, Default)]
pub struct World {
    accounts: BTreeMap<Address, (AccountInfo, BTreeMap<U256, U256>)>,
    codes: BTreeMap<B256, Bytecode>,
    pub block_hashes: BTreeMap<u64, B256>,
}

impl World {
    pub fn of_genesis(alloc: &BTreeMap<Address, GenesisAccount>) -> Self {
        let mut world = Self::default();
        for (address, account) in alloc {
            let code = Bytecode::new_legacy(account.code.clone().unwrap_or_default());
            let info = AccountInfo {
                balance: account.balance,
                nonce: account.nonce.unwrap_or_default(),
                code_hash: code.hash_slow(),
                code: Some(code.clone()),
                ..AccountInfo::default()
            };
            let slots = account.storage.iter().flatten();
            let storage = slots.map(|(slot, value)| (U256::from_be_bytes(slot.0), U256::from_be_bytes(value.0)));
            world.codes.insert(info.code_hash, code);
            world.accounts.insert(*address, (info, storage.collect()));
        }
        world
    }

    /// Brings the changes of an execution in.
    pub fn apply(&mut self, changes: &BundleState) {
        self.codes.extend(changes.contracts.iter().map(|(hash, code)| (*hash, code.clone())));
        for (address, BundleAccount { info, storage, status, .. }) in &changes.state {
            let Some(info) = info else {
                self.accounts.remove(address);
                continue;
            };
            let (held, slots) = self.accounts.entry(*address).or_default();
            *held = info.clone();
            if status.was_destroyed() {
                slots.clear();
            }
            slots.extend(storage.iter().map(|(slot, value)| (*slot, value.present_value)));
            slots.retain(|_, value| !value.is_zero());
        }
    }

    pub fn root(&self) -> B256 {
        let account = |(info, storage): &(AccountInfo, BTreeMap<U256, U256>)| TrieAccount {
            nonce: info.nonce,
            balance: info.balance,
            storage_root: storage_root_unhashed(storage.iter().map(|(slot, value)| (B256::from(*slot), *value))),
            code_hash: info.code_hash,
        };
        state_root_unhashed(self.accounts.iter().map(|(address, held)| (*address, account(held))))
    }
}

impl Database for World {
    type Error = Infallible;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>, Infallible> {
        Ok(self.accounts.get(&address).map(|(info, _)| info.clone()))
    }

    fn code_by_hash(&mut self, hash: B256) -> Result<Bytecode, Infallible> {
        Ok(self.codes.get(&hash).cloned().unwrap_or_default())
    }

    fn storage(&mut self, address: Address, slot: U256) -> Result<U256, Infallible> {
        Ok(self.accounts.get(&address).and_then(|(_, storage)| storage.get(&slot)).copied().unwrap_or_default())
    }

    fn block_hash(&mut self, number: u64) -> Result<B256, Infallible> {
        Ok(self.block_hashes.get(&number).copied().unwrap_or_default())
    }
}
