//! The state at one block, as revm reads it.

use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};
use alloy_rlp::Decodable;
use alloy_trie::{EMPTY_ROOT_HASH, KECCAK_EMPTY, TrieAccount};
use redb::{ReadOnlyTable, ReadTransaction};
use residue_engine::revm::bytecode::Bytecode;
use residue_engine::revm::primitives::Bytes;
use residue_engine::revm::state::AccountInfo;
use residue_engine::revm::{Database, DatabaseRef};

use super::tables::{self, SLOT_KEY, When, slot_key};
use super::writer::StateChanges;
use super::{Result, StoreError, corrupt};
use crate::remote::Remote;
use crate::trie::{Nodes, TrieChanges};

/// Choice of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateAt {
    /// As it is now.
    Present,
    /// As it was after a block: what its state root is of.
    Block(u64),
    /// As a block found it: with what was done by hand since the one before.
    Before(u64),
}

impl StateAt {
    /// The block that the state is after; none for the present state.
    fn number(self) -> Option<u64> {
        match self {
            StateAt::Present => None,
            StateAt::Block(number) => Some(number),
            StateAt::Before(number) => Some(number.saturating_sub(1)),
        }
    }

    /// The last moment whose changes count; none if all do.
    pub fn moment(self) -> Option<u64> {
        match self {
            StateAt::Present => None,
            StateAt::Block(number) => Some(When::Block(number).moment()),
            StateAt::Before(number) => Some(When::Block(number).moment().saturating_sub(1)),
        }
    }
}

/// The changes of a block to the present state, before it is written.
#[derive(Debug)]
pub struct Overlay {
    /// Of the state.
    pub changes: StateChanges,
    /// Of its tries.
    pub tries: TrieChanges,
    accounts: BTreeMap<Address, Option<TrieAccount>>,
    nodes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Overlay {
    /// Of changes, with what they make of the tries.
    pub fn new(changes: StateChanges, tries: TrieChanges) -> Self {
        let (accounts, nodes) = (tries.accounts.iter().copied().collect(), tries.nodes.iter().cloned().collect());
        Self { changes, tries, accounts, nodes }
    }

    /// A slot; none where it is as it was.
    fn slot(&self, address: Address, slot: U256) -> Option<U256> {
        let change = self.changes.accounts.get(&address)?;
        let is_gone = change.is_wiped || change.info.is_none();
        change.slots.get(&slot).copied().or_else(|| is_gone.then_some(U256::ZERO))
    }

    /// A node of a trie, which may be gone; none where it is as it was.
    fn node(&self, path: &[u8]) -> Option<Option<Vec<u8>>> {
        let is_wiped = || self.tries.wiped.iter().any(|prefix| path.starts_with(prefix));
        self.nodes.get(path).cloned().or_else(|| is_wiped().then_some(None))
    }
}

/// A state that does not change while it is looked at, whatever is written meanwhile.
pub struct StateView {
    at: StateAt,
    accounts: ReadOnlyTable<[u8; 20], &'static [u8]>,
    slots: ReadOnlyTable<[u8; SLOT_KEY], [u8; 32]>,
    codes: ReadOnlyTable<[u8; 32], &'static [u8]>,
    pub(super) accounts_before: ReadOnlyTable<([u8; 20], u64), &'static [u8]>,
    pub(super) slots_before: ReadOnlyTable<([u8; SLOT_KEY], u64), [u8; 32]>,
    pub(super) changed: ReadOnlyTable<(u64, &'static [u8]), ()>,
    nodes: ReadOnlyTable<&'static [u8], &'static [u8]>,
    hashes: ReadOnlyTable<u64, [u8; 32]>,
    root: B256,
    /// The other node whose state this one extends, if the chain is forked.
    remote: Option<Arc<Remote>>,
    /// The changes of a block that is not written yet.
    overlay: Option<Arc<Overlay>>,
}

impl std::fmt::Debug for StateView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StateView({:?})", self.at)
    }
}

impl StateView {
    pub(super) fn new(txn: &ReadTransaction, at: StateAt, remote: Option<Arc<Remote>>) -> Result<Self> {
        let meta = txn.open_table(tables::META)?;
        let root = meta.get("state root")?.map(|text| text.value().to_owned());
        let since = meta.get(tables::STATE_SINCE)?.and_then(|text| text.value().parse().ok()).unwrap_or(0);
        if let Some((number, moment)) = at.number().zip(at.moment())
            && moment < When::Block(since).moment()
        {
            return Err(StoreError::NoState { number, since });
        }
        let root = root.map_or(Ok(EMPTY_ROOT_HASH), |text| text.parse().map_err(|_| corrupt("a state root")))?;
        Ok(Self {
            at,
            remote,
            overlay: None,
            root,
            accounts: txn.open_table(tables::ACCOUNTS)?,
            slots: txn.open_table(tables::SLOTS)?,
            codes: txn.open_table(tables::CODES)?,
            accounts_before: txn.open_table(tables::ACCOUNTS_BEFORE)?,
            slots_before: txn.open_table(tables::SLOTS_BEFORE)?,
            changed: txn.open_table(tables::CHANGED)?,
            nodes: txn.open_table(tables::NODES)?,
            hashes: txn.open_table(tables::HASHES)?,
        })
    }

    /// The state that a block makes of this one, which is the present one.
    pub(super) fn with_overlay(self, overlay: Arc<Overlay>) -> Self {
        Self { root: overlay.tries.root, overlay: Some(overlay), ..self }
    }

    /// True if the state extends another node's, so that its tries hold only what was changed here.
    pub fn is_forked(&self) -> bool {
        self.remote.is_some()
    }

    /// The chosen state.
    pub fn at(&self) -> StateAt {
        self.at
    }

    /// The root of the present state, at the time when this look began.
    pub fn present_root(&self) -> B256 {
        self.root
    }

    /// An account.
    pub fn account(&self, address: Address) -> Result<Option<TrieAccount>> {
        if let Some(moment) = self.at.moment() {
            let (from, to) = ((address.0.0, moment.saturating_add(1)), (address.0.0, u64::MAX));
            if let Some(entry) = self.accounts_before.range(from..=to)?.next() {
                return decode_account(entry?.1.value());
            }
        }
        self.present_account(address)
    }

    /// An account as it is now.
    pub fn present_account(&self, address: Address) -> Result<Option<TrieAccount>> {
        if let Some(account) = self.overlay.as_ref().and_then(|overlay| overlay.accounts.get(&address)) {
            return Ok(*account);
        }
        match self.accounts.get(address.0.0)? {
            Some(account) => decode_account(account.value()),
            None => self.remote.as_ref().map_or(Ok(None), |remote| Ok(remote.account(address)?)),
        }
    }

    /// The value of a slot; zero where there is none.
    pub fn slot(&self, address: Address, slot: U256) -> Result<U256> {
        let key = slot_key(address, slot);
        if let Some(moment) = self.at.moment() {
            let range = (key, moment.saturating_add(1))..=(key, u64::MAX);
            if let Some(entry) = self.slots_before.range(range)?.next() {
                return Ok(U256::from_be_bytes(entry?.1.value()));
            }
        }
        if let Some(value) = self.overlay.as_ref().and_then(|overlay| overlay.slot(address, slot)) {
            return Ok(value);
        }
        match (self.slots.get(key)?, &self.remote) {
            (Some(value), _) => Ok(U256::from_be_bytes(value.value())),
            (None, Some(remote)) => Ok(remote.slot(address, slot)?),
            (None, None) => Ok(U256::ZERO),
        }
    }

    /// The code of a hash; empty where it is not known.
    pub fn code(&self, hash: B256) -> Result<Bytes> {
        if hash == KECCAK_EMPTY {
            return Ok(Bytes::new());
        }
        if let Some(code) = self.overlay.as_ref().and_then(|overlay| overlay.changes.codes.get(&hash)) {
            return Ok(code.clone());
        }
        let held = self.codes.get(hash.0)?.map(|code| Bytes::copy_from_slice(code.value()));
        Ok(held.or_else(|| self.remote.as_ref()?.code(hash)).unwrap_or_default())
    }

    /// The hash of a block of the chain.
    pub fn hash(&self, number: u64) -> Result<Option<B256>> {
        match (self.hashes.get(number)?, &self.remote) {
            (Some(hash), _) => Ok(Some(B256::from(hash.value()))),
            (None, Some(remote)) => Ok(remote.hash(number)?),
            (None, None) => Ok(None),
        }
    }
}

/// An account of the database's bytes; none of no bytes.
pub(super) fn decode_account(bytes: &[u8]) -> Result<Option<TrieAccount>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    TrieAccount::decode(&mut &*bytes).map(Some).map_err(|_| corrupt("an account"))
}

/// The storage root of an account that may not be there.
pub(super) fn storage_root(account: Option<&TrieAccount>) -> B256 {
    account.map_or(EMPTY_ROOT_HASH, |account| account.storage_root)
}

impl Nodes for StateView {
    type Error = StoreError;

    fn node(&self, path: &[u8]) -> Result<Option<Vec<u8>>> {
        if let Some(node) = self.overlay.as_ref().and_then(|overlay| overlay.node(path)) {
            return Ok(node);
        }
        Ok(self.nodes.get(path)?.map(|node| node.value().to_vec()))
    }
}

impl DatabaseRef for StateView {
    type Error = StoreError;

    fn basic_ref(&self, address: Address) -> Result<Option<AccountInfo>> {
        let info = |account: TrieAccount| AccountInfo {
            balance: account.balance,
            nonce: account.nonce,
            code_hash: account.code_hash,
            code: None,
            ..AccountInfo::default()
        };
        Ok(self.account(address)?.map(info))
    }

    fn code_by_hash_ref(&self, hash: B256) -> Result<Bytecode> {
        // Code of the form of a delegation (EIP-7702) is one.
        Ok(Bytecode::new_raw(self.code(hash)?))
    }

    fn storage_ref(&self, address: Address, slot: U256) -> Result<U256> {
        self.slot(address, slot)
    }

    fn block_hash_ref(&self, number: u64) -> Result<B256> {
        Ok(self.hash(number)?.unwrap_or_default())
    }
}

impl Database for StateView {
    type Error = StoreError;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>> {
        self.basic_ref(address)
    }

    fn code_by_hash(&mut self, hash: B256) -> Result<Bytecode> {
        self.code_by_hash_ref(hash)
    }

    fn storage(&mut self, address: Address, slot: U256) -> Result<U256> {
        self.storage_ref(address, slot)
    }

    fn block_hash(&mut self, number: u64) -> Result<B256> {
        self.block_hash_ref(number)
    }
}
