//! The state's tries: that of the accounts, and one of the storage of each.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, U256, keccak256};
use alloy_trie::{EMPTY_ROOT_HASH, TrieAccount};

use super::{NodeChanges, Nodes, Trie, TrieError};

/// Change of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountChange {
    /// Nonce, balance and hash of the code; none if the account is gone. Its storage root is computed.
    pub info: Option<(u64, U256, B256)>,
    /// True if all former storage is deleted.
    pub is_wiped: bool,
    /// Slots that change.
    pub slots: BTreeMap<U256, U256>,
}

/// Changes of a state's tries.
#[derive(Debug, Default)]
pub struct TrieChanges {
    /// The state root.
    pub root: B256,
    /// The changed accounts with their storage roots.
    pub accounts: Vec<(Address, Option<TrieAccount>)>,
    /// Nodes by their keys in the store.
    pub nodes: NodeChanges,
    /// Prefixes of keys whose nodes all go before `nodes` are written.
    pub wiped: Vec<Vec<u8>>,
}

/// Encoded nodes from the root on.
pub type Proof = Vec<Vec<u8>>;

/// The tries of one state. `root` and `account` say how it is.
#[derive(Debug)]
pub struct StateTrie<'s, S> {
    store: &'s S,
    root: B256,
}

/// Nodes of one of the tries, by the prefix of its keys.
#[derive(Debug)]
struct Under<'s, S> {
    store: &'s S,
    prefix: Vec<u8>,
    is_empty: bool,
}

impl<S: Nodes> Nodes for Under<'_, S> {
    type Error = S::Error;

    fn node(&self, path: &[u8]) -> Result<Option<Vec<u8>>, S::Error> {
        if self.is_empty {
            return Ok(None);
        }
        self.store.node(&[&self.prefix, path].concat())
    }
}

/// The first byte of the keys of the accounts' nodes, and of those of storage.
const ACCOUNTS: u8 = 0;
const STORAGE: u8 = 1;

/// The prefix of the keys of an account's storage nodes.
fn storage_prefix(address: Address) -> Vec<u8> {
    [&[STORAGE], account_key(address).as_slice()].concat()
}

/// The key of an account in the trie.
pub fn account_key(address: Address) -> B256 {
    keccak256(address)
}

impl<'s, S: Nodes> StateTrie<'s, S> {
    /// The tries under a state root.
    pub fn new(store: &'s S, root: B256) -> Self {
        Self { store, root }
    }

    fn accounts(&self) -> Trie<Under<'s, S>> {
        Trie::new(Under { store: self.store, prefix: vec![ACCOUNTS], is_empty: false }, self.root)
    }

    fn storage(&self, address: Address, root: B256) -> Trie<Under<'s, S>> {
        let is_empty = root == EMPTY_ROOT_HASH;
        Trie::new(Under { store: self.store, prefix: storage_prefix(address), is_empty }, root)
    }

    /// Tries of the state after changes; `storage_root` returns the current storage root of an account.
    pub fn changed(
        &self,
        changes: &BTreeMap<Address, AccountChange>,
        storage_root: impl Fn(Address) -> Result<B256, TrieError<S::Error>>,
    ) -> Result<TrieChanges, TrieError<S::Error>> {
        let mut result = TrieChanges::default();
        let mut accounts = self.accounts();
        for (address, change) in changes {
            let mut root = storage_root(*address)?;
            if (change.is_wiped || change.info.is_none()) && root != EMPTY_ROOT_HASH {
                result.wiped.push(storage_prefix(*address));
                root = EMPTY_ROOT_HASH;
            }
            let account = match change.info {
                None => None,
                Some((nonce, balance, code_hash)) => {
                    let (storage_root, nodes) = self.storage_changed(*address, root, &change.slots)?;
                    result.nodes.extend(nodes);
                    Some(TrieAccount { nonce, balance, storage_root, code_hash })
                }
            };
            accounts.set(account_key(*address), account.as_ref().map(alloy_rlp::encode).unwrap_or_default())?;
            result.accounts.push((*address, account));
        }
        let (root, nodes) = accounts.into_changes();
        result.root = root;
        result.nodes.extend(under(&[ACCOUNTS], nodes));
        Ok(result)
    }

    fn storage_changed(
        &self,
        address: Address,
        root: B256,
        slots: &BTreeMap<U256, U256>,
    ) -> Result<(B256, NodeChanges), TrieError<S::Error>> {
        if slots.is_empty() {
            return Ok((root, NodeChanges::new()));
        }
        let mut trie = self.storage(address, root);
        for (slot, value) in slots {
            trie.set(slot_key(*slot), if value.is_zero() { Vec::new() } else { alloy_rlp::encode(value) })?;
        }
        let (root, nodes) = trie.into_changes();
        Ok((root, under(&storage_prefix(address), nodes)))
    }

    /// Proofs of an account and of slots of it, in the state that `undone` makes of this one. `account` is the account there.
    pub fn proofs(
        &self,
        address: Address,
        slots: &[U256],
        undone: &BTreeMap<Address, (Option<TrieAccount>, BTreeMap<U256, U256>)>,
        account: Option<&TrieAccount>,
        present_storage_root: B256,
    ) -> Result<(Proof, Vec<Proof>), TrieError<S::Error>> {
        let mut accounts = self.accounts();
        for (changed, (before, _)) in undone {
            accounts.set(account_key(*changed), before.as_ref().map(alloy_rlp::encode).unwrap_or_default())?;
        }
        let proof = accounts.proof(account_key(address))?;
        let mut storage = self.storage(address, present_storage_root);
        for (slot, value) in undone.get(&address).map(|(_, slots)| slots).into_iter().flatten() {
            storage.set(slot_key(*slot), if value.is_zero() { Vec::new() } else { alloy_rlp::encode(value) })?;
        }
        let is_there = account.is_some_and(|account| account.storage_root != EMPTY_ROOT_HASH);
        let prove = |slot: &U256| if is_there { storage.proof(slot_key(*slot)) } else { Ok(Vec::new()) };
        Ok((proof, slots.iter().map(prove).collect::<Result<_, _>>()?))
    }
}

fn slot_key(slot: U256) -> B256 {
    keccak256(B256::from(slot))
}

fn under(prefix: &[u8], nodes: NodeChanges) -> NodeChanges {
    nodes.into_iter().map(|(path, node)| ([prefix, &path].concat(), node)).collect()
}
