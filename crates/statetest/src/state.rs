//! The accounts before and after a transaction, and their root.

use std::collections::BTreeMap;
use std::convert::Infallible;

use alloy_trie::TrieAccount;
use alloy_trie::root::{state_root_unhashed, storage_root_unhashed};
use residue_engine::revm::DatabaseRef;
use residue_engine::revm::database::states::PlainAccount;
use residue_engine::revm::database::{CacheState, EmptyDB};
use residue_engine::revm::primitives::{Address, B256, Log, U256, keccak256};
use residue_engine::revm::state::{AccountInfo, Bytecode, EvmState};
use serde_json::{Map, Value, json};

use crate::format::{AccountParts, Accounts};
use crate::quantity::{bytes_written, padded};

/// No more differences are named.
const DIFFERENCES_MAX: usize = 20;

/// The accounts before a transaction, as revm reads them. The hash of a block is that of its number, as state tests have it.
#[derive(Debug, Clone)]
pub struct State(CacheState);

/// An account as it is compared: balance, nonce, code hash, and storage without zeros.
type Compared = (U256, u64, B256, BTreeMap<U256, U256>);

impl State {
    /// The state that a test begins with.
    pub fn new(accounts: &Accounts) -> Self {
        let mut state = CacheState::new();
        for (address, parts) in accounts {
            let storage = parts.storage.iter().map(|(key, value)| (key.0, value.0)).collect();
            state.insert_account_with_storage(address.0, info(parts), storage);
        }
        Self(state)
    }

    /// The state after a transaction.
    pub fn after(&self, changes: EvmState) -> Self {
        let mut after = self.clone();
        after.0.apply_evm_state(changes, |_, _| {});
        after
    }

    /// The same with an empty account if there is none at this address.
    pub fn with_account(&self, address: Address) -> Self {
        let mut with = self.clone();
        if self.account(address).is_none() {
            with.0.insert_account_with_storage(address, AccountInfo::default(), Default::default());
        }
        with
    }

    /// The same after an account got so many wei, as withdrawals give them.
    pub fn with_gain(&self, address: Address, wei: U256) -> Self {
        let mut with = self.clone();
        if !wei.is_zero() {
            let PlainAccount { mut info, storage } = self.account(address).cloned().unwrap_or_default();
            info.balance = info.balance.saturating_add(wei);
            with.0.insert_account_with_storage(address, info, storage);
        }
        with
    }

    /// The root of the trie of accounts.
    pub fn root(&self) -> B256 {
        state_root_unhashed(self.accounts().map(|(address, account)| {
            let storage = account.storage.iter().filter(|(_, value)| !value.is_zero());
            let account = TrieAccount {
                nonce: account.info.nonce,
                balance: account.info.balance,
                storage_root: storage_root_unhashed(storage.map(|(key, value)| (B256::from(*key), *value))),
                code_hash: account.info.code_hash,
            };
            (address, account)
        }))
    }

    /// Every account, as a test lists them.
    pub fn listed(&self) -> Value {
        let accounts: BTreeMap<Address, &PlainAccount> = self.accounts().collect();
        let listed = accounts.into_iter().map(|(address, account)| {
            let storage: BTreeMap<U256, U256> = account.storage.iter().map(|(key, value)| (*key, *value)).collect();
            let storage = storage.into_iter().filter(|(_, value)| !value.is_zero());
            let code = account.info.code.as_ref().map(Bytecode::original_bytes).unwrap_or_default();
            let parts = json!({
                "nonce": padded(U256::from(account.info.nonce)),
                "balance": padded(account.info.balance),
                "code": bytes_written(&code),
                "storage": storage.map(|(key, value)| (padded(key), padded(value).into())).collect::<Map<_, _>>(),
            });
            (bytes_written(address.as_slice()), parts)
        });
        listed.collect::<Map<_, _>>().into()
    }

    /// In wei; 0 where there is no account.
    pub fn balance(&self, address: Address) -> U256 {
        self.account(address).map(|account| account.info.balance).unwrap_or_default()
    }

    /// True if an account has storage and nothing else that a new contract would collide with.
    pub fn has_storage_only(&self, address: Address) -> bool {
        self.account(address).is_some_and(|account| {
            let is_new = account.info.nonce == 0 && account.info.is_empty_code_hash();
            is_new && account.storage.values().any(|value| !value.is_zero())
        })
    }

    /// Differences of this state from the expected one, a line for each: `0x…: balance 5, expected 6`.
    pub fn differences(&self, expected: &State) -> Vec<String> {
        let [got, wanted] = [self.compared(), expected.compared()];
        let mut lines = Vec::new();
        for (address, account) in &got {
            match wanted.get(address) {
                Some(wanted) => lines.extend(account_differences(*address, account, wanted)),
                None => lines.push(format!("{address}: is there, not expected")),
            }
        }
        lines.extend(
            wanted
                .keys()
                .filter(|address| !got.contains_key(*address))
                .map(|address| format!("{address}: expected, is not there")),
        );
        let left_out = lines.len().saturating_sub(DIFFERENCES_MAX);
        if left_out > 0 {
            lines.truncate(DIFFERENCES_MAX);
            lines.push(format!("and {left_out} differences more"));
        }
        lines
    }

    fn accounts(&self) -> impl Iterator<Item = (Address, &PlainAccount)> {
        self.0.trie_account().into_iter()
    }

    fn account(&self, address: Address) -> Option<&PlainAccount> {
        self.0.accounts.get(&address)?.account.as_ref()
    }

    fn compared(&self) -> BTreeMap<Address, Compared> {
        let compared = |(address, account): (Address, &PlainAccount)| {
            let storage = account.storage.iter().filter(|(_, value)| !value.is_zero());
            let storage = storage.map(|(key, value)| (*key, *value)).collect();
            (address, (account.info.balance, account.info.nonce, account.info.code_hash, storage))
        };
        self.accounts().map(compared).collect()
    }
}

impl DatabaseRef for State {
    type Error = Infallible;

    fn basic_ref(&self, address: Address) -> Result<Option<AccountInfo>, Infallible> {
        Ok(self.account(address).map(|account| account.info.clone()))
    }

    fn code_by_hash_ref(&self, hash: B256) -> Result<Bytecode, Infallible> {
        // Accounts carry their code.
        EmptyDB::default().code_by_hash_ref(hash)
    }

    fn storage_ref(&self, address: Address, key: U256) -> Result<U256, Infallible> {
        Ok(self.account(address).and_then(|account| account.storage.get(&key).copied()).unwrap_or_default())
    }

    fn block_hash_ref(&self, number: u64) -> Result<B256, Infallible> {
        EmptyDB::default().block_hash_ref(number)
    }
}

/// The hash of the logs of a transaction: that of their list in RLP.
pub fn logs_hash(logs: &[Log]) -> B256 {
    let mut encoded = Vec::new();
    alloy_rlp::encode_list(logs, &mut encoded);
    keccak256(&encoded)
}

fn info(parts: &AccountParts) -> AccountInfo {
    let code = &parts.code.0;
    // What begins as a delegation and is none is code like any other.
    let code = Bytecode::new_raw_checked(code.clone()).unwrap_or_else(|_| Bytecode::new_legacy(code.clone()));
    AccountInfo {
        balance: parts.balance.0,
        nonce: parts.nonce.at_most_u64(),
        code_hash: code.hash_slow(),
        code: Some(code),
        ..AccountInfo::default()
    }
}

fn account_differences(address: Address, got: &Compared, wanted: &Compared) -> Vec<String> {
    let mut lines = Vec::new();
    if got.0 != wanted.0 {
        lines.push(format!("{address}: balance {}, expected {}", got.0, wanted.0));
    }
    if got.1 != wanted.1 {
        lines.push(format!("{address}: nonce {}, expected {}", got.1, wanted.1));
    }
    if got.2 != wanted.2 {
        lines.push(format!("{address}: code hash {}, expected {}", got.2, wanted.2));
    }
    let keys = got.3.keys().chain(wanted.3.keys().filter(|key| !got.3.contains_key(*key)));
    for key in keys {
        let [got, wanted] = [&got.3, &wanted.3].map(|storage| storage.get(key).copied().unwrap_or_default());
        if got != wanted {
            lines.push(format!("{address}: storage {key:#x} is {got:#x}, expected {wanted:#x}"));
        }
    }
    lines
}
