//! Another node, read at one block: the base of a forked chain. Fetched data is kept, first here, then in the database.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_trie::{EMPTY_ROOT_HASH, KECCAK_EMPTY, TrieAccount};
use serde_json::{Value, json};

/// Seconds that the other node has for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of an answer that a message shows.
const ANSWER_SHOWN: usize = 100;
/// Bytes of one answer.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Why the other node does not help.
#[derive(Debug, thiserror::Error)]
#[error("{url}: {method}: {reason}")]
pub struct RemoteError {
    url: String,
    method: String,
    reason: String,
}

type Result<T> = std::result::Result<T, RemoteError>;

/// The other node.
#[derive(Debug)]
pub struct Remote {
    agent: ureq::Agent,
    url: String,
    block: u64,
    fetched: Mutex<Fetched>,
}

/// Data fetched since the database was last written.
#[derive(Debug, Default)]
pub struct Fetched {
    /// Accounts, with an empty storage root: that of what is here.
    pub accounts: BTreeMap<Address, TrieAccount>,
    /// Slots.
    pub slots: BTreeMap<(Address, U256), U256>,
    /// Codes by hash.
    pub codes: BTreeMap<B256, Bytes>,
    hashes: BTreeMap<u64, B256>,
}

impl Fetched {
    /// Accounts and slots are in the database now. Codes stay: a state that is looked at since before does not find them there.
    pub fn is_written(&mut self) {
        self.accounts.clear();
        self.slots.clear();
    }
}

impl Remote {
    /// The node at a URL, at a block or its newest one. With the block's header and the chain's id.
    pub fn connect(url: &str, block: Option<u64>) -> Result<(Self, Header, u64)> {
        let agent = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).build().into();
        let mut remote = Self { agent, url: url.to_owned(), block: 0, fetched: Mutex::default() };
        let id = block.map_or("latest".to_owned(), |number| format!("{number:#x}"));
        let answer = remote.ask("eth_getBlockByNumber", json!([id, false]))?;
        if answer.is_null() {
            let newest: U256 = remote.get("eth_blockNumber", json!([]))?;
            return Err(remote.error(
                "eth_getBlockByNumber",
                format!("there is no block {}: the newest is {newest}", block.unwrap_or_default()),
            ));
        }
        let header: alloy_rpc_types_eth::Header = remote.read("eth_getBlockByNumber", answer)?;
        let (found, header) = (header.hash, header.inner);
        if header.hash_slow() != found {
            return Err(remote
                .error("eth_getBlockByNumber", format!("the header of {found} has fields that are not known here")));
        }
        remote.block = header.number;
        let chain_id: U256 = remote.get("eth_chainId", json!([]))?;
        Ok((remote, header, chain_id.saturating_to()))
    }

    /// The block that is read.
    pub fn block(&self) -> u64 {
        self.block
    }

    /// Address of the other node.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// An account as it was there; an empty one where there was none. Its storage root is that of no storage.
    pub fn account(&self, address: Address) -> Result<Option<TrieAccount>> {
        let held = self.lock().accounts.get(&address).copied();
        let account = match held {
            Some(account) => account,
            None => {
                let params = || json!([address, self.id()]);
                let code: Bytes = self.get("eth_getCode", params())?;
                let nonce: U256 = self.get("eth_getTransactionCount", params())?;
                let code_hash = if code.is_empty() { KECCAK_EMPTY } else { keccak256(&code) };
                let balance = self.get("eth_getBalance", params())?;
                let account =
                    TrieAccount { nonce: nonce.saturating_to(), balance, storage_root: EMPTY_ROOT_HASH, code_hash };
                let mut fetched = self.lock();
                fetched.accounts.insert(address, account);
                fetched.codes.insert(code_hash, code);
                account
            }
        };
        let is_empty = account.nonce == 0 && account.balance.is_zero() && account.code_hash == KECCAK_EMPTY;
        Ok((!is_empty).then_some(account))
    }

    /// A slot as it was there.
    pub fn slot(&self, address: Address, slot: U256) -> Result<U256> {
        if let Some(value) = self.lock().slots.get(&(address, slot)) {
            return Ok(*value);
        }
        let value: B256 = self.get("eth_getStorageAt", json!([address, B256::from(slot), self.id()]))?;
        let value = U256::from_be_bytes(value.0);
        self.lock().slots.insert((address, slot), value);
        Ok(value)
    }

    /// Code that came with an account.
    pub fn code(&self, hash: B256) -> Option<Bytes> {
        self.lock().codes.get(&hash).cloned()
    }

    /// The hash of a block up to the one that is read.
    pub fn hash(&self, number: u64) -> Result<Option<B256>> {
        if number > self.block {
            return Ok(None);
        }
        if let Some(hash) = self.lock().hashes.get(&number) {
            return Ok(Some(*hash));
        }
        let answer = self.ask("eth_getBlockByNumber", json!([format!("{number:#x}"), false]))?;
        let hash: B256 = self.read("eth_getBlockByNumber", answer.get("hash").cloned().unwrap_or_default())?;
        self.lock().hashes.insert(number, hash);
        Ok(Some(hash))
    }

    /// Fetched data, to be written.
    pub fn lock(&self) -> MutexGuard<'_, Fetched> {
        // Whole values are put in; none is half there.
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn id(&self) -> String {
        format!("{:#x}", self.block)
    }

    fn get<T: serde::de::DeserializeOwned>(&self, method: &str, params: Value) -> Result<T> {
        self.read(method, self.ask(method, params)?)
    }

    fn read<T: serde::de::DeserializeOwned>(&self, method: &str, answer: Value) -> Result<T> {
        T::deserialize(&answer).map_err(|error| {
            let mut shown = answer.to_string();
            if let Some((end, _)) = shown.char_indices().nth(ANSWER_SHOWN) {
                shown.truncate(end);
                shown.push('…');
            }
            self.error(method, format!("{error}, in the answer {shown}"))
        })
    }

    fn error(&self, method: &str, reason: String) -> RemoteError {
        RemoteError { url: self.url.clone(), method: method.to_owned(), reason }
    }

    fn ask(&self, method: &str, params: Value) -> Result<Value> {
        let failed = |error: &dyn std::fmt::Display| self.error(method, error.to_string());
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let sent = self.agent.post(&self.url).header("content-type", "application/json").send(body);
        let mut answer = sent.map_err(|error| failed(&error))?;
        let text = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
        let answer: Value = serde_json::from_str(&text.map_err(|error| failed(&error))?)
            .map_err(|_| self.error(method, "the answer is no JSON".to_owned()))?;
        match (answer.get("error").filter(|error| !error.is_null()), answer.get("result")) {
            (Some(error), _) => Err(failed(error)),
            (None, Some(result)) => Ok(result.clone()),
            (None, None) => Err(self.error(method, "the answer has no result: is it a node?".to_owned())),
        }
    }
}
