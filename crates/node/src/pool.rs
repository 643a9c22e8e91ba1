//! Transactions that wait for a block.

use std::collections::BTreeMap;

use alloy_consensus::Transaction;
use alloy_primitives::{Address, B256};

use crate::chain::Sent;

/// Transactions that may wait.
pub const LEN_MAX: usize = 16_384;
/// Least fees of a replacement transaction, in percent of the replaced one's.
const REPLACEMENT_PERCENT: u128 = 110;

/// By sender and nonce, with the order in which they came.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    waiting: BTreeMap<(Address, u64), (u64, Sent)>,
    arrivals: u64,
}

/// Why a transaction may not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It waits already.
    #[error("already known")]
    Known,
    /// Another one with its nonce offers nearly as much.
    #[error("replacement transaction underpriced")]
    Underpriced,
    /// There are too many.
    #[error("txpool is full")]
    Full,
}

impl Pool {
    /// Errors if a transaction may not wait.
    pub fn accepts(&self, tx: &Sent) -> Result<(), Refused> {
        let Some((_, held)) = self.waiting.get(&(tx.signer(), tx.nonce())) else {
            return if self.waiting.len() < LEN_MAX { Ok(()) } else { Err(Refused::Full) };
        };
        if held.tx_hash() == tx.tx_hash() {
            return Err(Refused::Known);
        }
        let is_more = |new: u128, old: u128| new.saturating_mul(100) >= old.saturating_mul(REPLACEMENT_PERCENT);
        let tip = |tx: &Sent| tx.max_priority_fee_per_gas().unwrap_or_else(|| tx.max_fee_per_gas());
        match is_more(tx.max_fee_per_gas(), held.max_fee_per_gas()) && is_more(tip(tx), tip(held)) {
            true => Ok(()),
            false => Err(Refused::Underpriced),
        }
    }

    /// Adds a transaction, in place of another one with its nonce.
    pub fn insert(&mut self, tx: Sent) {
        self.arrivals += 1;
        self.waiting.insert((tx.signer(), tx.nonce()), (self.arrivals, tx));
    }

    /// Keeps some.
    pub fn retain(&mut self, keep: impl Fn(&Sent) -> bool) {
        self.waiting.retain(|_, (_, tx)| keep(tx));
    }

    /// Takes one out.
    pub fn remove(&mut self, hash: B256) -> Option<Sent> {
        let key = *self.waiting.iter().find(|(_, (_, tx))| *tx.tx_hash() == hash)?.0;
        self.waiting.remove(&key).map(|(_, tx)| tx)
    }

    /// All, by sender and nonce.
    pub fn all(&self) -> impl Iterator<Item = &Sent> {
        self.waiting.values().map(|(_, tx)| tx)
    }

    /// One by its hash.
    pub fn find(&self, hash: B256) -> Option<&Sent> {
        self.all().find(|tx| *tx.tx_hash() == hash)
    }

    /// Those whose turn it is, or will be after others here: by sender from the nonce of the account on, without a gap.
    pub fn executable<E>(&self, nonce: impl Fn(Address) -> Result<u64, E>) -> Result<Vec<&(u64, Sent)>, E> {
        let mut found = Vec::new();
        let mut next: Option<(Address, u64)> = None;
        for ((sender, at), held) in &self.waiting {
            let expected = match next {
                Some((last, expected)) if last == *sender => expected,
                _ => nonce(*sender)?,
            };
            let is_next = *at == expected;
            next = Some((*sender, if is_next { expected + 1 } else { expected }));
            if is_next {
                found.push(held);
            }
        }
        Ok(found)
    }

    /// As [`Pool::executable`], for a block: what pays more comes first, and of what pays the same what came first, each sender's in the order of nonces.
    pub fn ready<E>(&self, nonce: impl Fn(Address) -> Result<u64, E>) -> Result<Vec<Sent>, E> {
        let mut by_sender: BTreeMap<Address, std::collections::VecDeque<&(u64, Sent)>> = BTreeMap::new();
        for held in self.executable(nonce)? {
            by_sender.entry(held.1.signer()).or_default().push_back(held);
        }
        let rank = |(arrival, tx): &(u64, Sent)| {
            let tip = tx.max_priority_fee_per_gas().unwrap_or_else(|| tx.max_fee_per_gas());
            (std::cmp::Reverse(tip), *arrival, tx.signer())
        };
        let mut heads: std::collections::BTreeSet<_> =
            by_sender.values().filter_map(|queue| queue.front()).map(|held| rank(held)).collect();
        let mut ready = Vec::new();
        while let Some((_, _, sender)) = heads.pop_first() {
            let Some(queue) = by_sender.get_mut(&sender) else { continue };
            if let Some((_, tx)) = queue.pop_front() {
                ready.push(tx.clone());
            }
            heads.extend(queue.front().map(|held| rank(held)));
        }
        Ok(ready)
    }
}
