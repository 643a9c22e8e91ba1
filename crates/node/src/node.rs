//! The node: the chain, the waiting transactions, and settings made by hand. Every write takes the one lock, and is
//! answered when it is on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use alloy_consensus::Transaction;
use alloy_primitives::{Address, B256, Bytes};
use tokio::sync::{broadcast, watch};

use crate::chain::{Attributes, Built, Chain, ChainError, Sent};
use crate::keys::Keys;
use crate::pool::Pool;
use crate::rpc::filters::Filters;
use crate::store::{StateAt, StateView};

/// Events that a slow subscriber may be behind.
const EVENTS_KEPT: usize = 1024;

/// The node.
#[derive(Debug)]
pub struct Node {
    /// The chain.
    pub chain: Chain,
    /// The development accounts.
    pub keys: Keys,
    first_mining: Mining,
    working: Mutex<Working>,
    events: broadcast::Sender<Event>,
    /// For the task that mines by the clock.
    pace: watch::Sender<Mining>,
}

/// Events for subscriptions.
#[derive(Debug, Clone)]
pub enum Event {
    /// A block was written.
    Block(u64),
    /// A transaction waits.
    Pending(B256),
}

/// State beside the chain, lost with the process.
#[derive(Debug, Default)]
pub struct Working {
    /// Transactions that wait.
    pub pool: Pool,
    /// The occasion for blocks that no request asks for.
    pub mining: Mining,
    /// Seconds that the chain's clock is before the machine's.
    pub time_offset: i64,
    /// The time of the next block.
    pub next_time: Option<u64>,
    /// Seconds between blocks, whatever the clock says.
    pub interval: Option<u64>,
    /// The base fee of the next block.
    pub next_base_fee: Option<u64>,
    /// The random value of the next block.
    pub next_randao: Option<B256>,
    /// Wei for a unit of gas that a transaction has to offer, before London.
    pub gas_price_min: u128,
    /// Recipient of fees.
    pub coinbase: Address,
    /// Gas of a block; none: as the parent's.
    pub gas_limit: Option<u64>,
    /// Senders whose transactions need no signature.
    pub impersonated: BTreeSet<Address>,
    /// True if all senders are impersonated.
    pub impersonates_all: bool,
    /// Installed filters.
    pub filters: Filters,
    /// Clock offsets by snapshot.
    pub snapshots: BTreeMap<u64, i64>,
}

/// The occasion for blocks that no request asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mining {
    /// Never.
    #[default]
    Never,
    /// When a transaction comes.
    WithTransactions,
    /// Every so many seconds.
    Every(u64),
}

impl Node {
    /// A node over a chain.
    pub fn new(chain: Chain, keys: Keys, mining: Mining) -> Self {
        let (events, _) = broadcast::channel(EVENTS_KEPT);
        let working = Working { mining, ..Working::default() };
        let (pace, _) = watch::channel(mining);
        Self { chain, keys, first_mining: mining, working: Mutex::new(working), events, pace }
    }

    /// The lock that whatever writes takes.
    pub fn lock(&self) -> MutexGuard<'_, Working> {
        // Nothing is half done that another request could see: the database has its own transactions.
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receiver of events from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// Tells subscribers. That there are none is no error.
    pub fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// Inputs of the next block.
    pub fn attributes(&self, working: &Working) -> Result<Attributes, ChainError> {
        let (number, _, parent) = self.chain.head()?;
        let clock = now().saturating_add_signed(working.time_offset);
        let after = |seconds: u64| parent.timestamp.saturating_add(seconds);
        let time = match (working.next_time, working.interval) {
            (Some(time), _) => time,
            (None, Some(seconds)) => after(seconds),
            (None, None) => clock.max(after(1)),
        };
        // The value of a block is fixed by its number, so that a chain built twice is the same.
        let random = alloy_primitives::keccak256((number + 1).to_be_bytes());
        Ok(Attributes {
            time: time.max(after(1)),
            beneficiary: working.coinbase,
            gas_limit: working.gas_limit.unwrap_or(parent.gas_limit),
            prev_randao: working.next_randao.unwrap_or(random),
            base_fee: working.next_base_fee,
            beacon_root: B256::ZERO,
            extra_data: Bytes::new(),
            withdrawals: Default::default(),
        })
    }

    /// The next block as it would be now, with all that can be executed of what waits. Nothing is written.
    pub fn pending(&self, working: &Working) -> Result<Built, ChainError> {
        let attributes = self.attributes(working)?;
        let state = self.chain.store().state(StateAt::Present)?;
        let nonce = |address| Ok::<_, ChainError>(state.account(address)?.map_or(0, |account| account.nonce));
        let ready = working.pool.ready(nonce)?;
        self.chain.build(&attributes, ready)
    }

    /// As [`Node::pending`], with the state after that block.
    pub fn pending_state(&self) -> Result<(Built, StateView), ChainError> {
        let working = self.lock();
        let built = self.pending(&working)?;
        let state = self.chain.store().state_after(Arc::clone(built.after()))?;
        Ok((built, state))
    }

    /// Sets the occasion for blocks that no request asks for.
    pub fn set_mining(&self, working: &mut Working, mining: Mining) {
        working.mining = mining;
        self.pace.send_replace(mining);
    }

    /// Mines by the clock, as long as that is asked for, until the process ends.
    pub async fn mine_by_the_clock(self: Arc<Self>) {
        let mut pace = self.pace.subscribe();
        loop {
            let Mining::Every(seconds) = *pace.borrow_and_update() else {
                if pace.changed().await.is_err() {
                    return;
                }
                continue;
            };
            let mut clock = tokio::time::interval(Duration::from_secs(seconds.max(1)));
            clock.tick().await;
            while !pace.has_changed().unwrap_or(true) {
                tokio::select! {
                    _ = clock.tick() => {}
                    _ = pace.changed() => break,
                }
                let node = Arc::clone(&self);
                let mined = tokio::task::spawn_blocking(move || node.mine(&mut node.lock()).map(|_| ())).await;
                if let Ok(Err(error)) = mined {
                    tracing::error!(%error, "no block was mined");
                }
            }
        }
    }

    /// Takes back all blocks after one. The clock goes on from that one, and what waits goes on waiting.
    pub fn rewind(&self, working: &mut Working, number: u64) -> Result<(), ChainError> {
        self.chain.rewind(number)?;
        let (_, _, head) = self.chain.head()?;
        working.time_offset = i64::try_from(i128::from(head.timestamp) - i128::from(now())).unwrap_or(i64::MAX);
        self.follow_chain(working)
    }

    /// Makes the node what it was when it began, save how it mines, which is as it is or as it was then.
    pub fn reset(&self, working: &mut Working, mining: Option<Mining>) -> Result<(), ChainError> {
        self.chain.reset()?;
        let filters = std::mem::take(&mut working.filters);
        *working = Working { filters, mining: working.mining, ..Working::default() };
        let mining = mining.unwrap_or(working.mining);
        self.set_mining(working, mining);
        self.follow_chain(working)
    }

    /// The mode of mining that it began with.
    pub fn first_mining(&self) -> Mining {
        self.first_mining
    }

    /// Brings what stands beside the chain to a head that is no child of the last one.
    pub fn follow_chain(&self, working: &mut Working) -> Result<(), ChainError> {
        let (number, _, _) = self.chain.head()?;
        (working.next_time, working.next_base_fee, working.next_randao) = (None, None, None);
        working.filters.follow(number);
        self.drop_mined(working)
    }

    /// Drops what waits and can never be executed, as its nonce is used.
    fn drop_mined(&self, working: &mut Working) -> Result<(), ChainError> {
        let state = self.chain.store().state(StateAt::Present)?;
        working.pool.retain(|tx| {
            let nonce = state.account(tx.signer()).ok().flatten().map_or(0, |account| account.nonce);
            tx.nonce() >= nonce
        });
        Ok(())
    }

    /// Mines a block of these transactions after the head; one of them that cannot be executed is left out. What waits goes on waiting.
    pub fn mine_these(&self, working: &mut Working, sent: Vec<Sent>) -> Result<Built, ChainError> {
        let built = self.chain.build(&self.attributes(working)?, sent)?;
        self.written(working, built)
    }

    /// Mines a block of what waits, and returns it when it is on disk.
    pub fn mine(&self, working: &mut Working) -> Result<Built, ChainError> {
        let built = self.pending(working)?;
        self.written(working, built)
    }

    /// Writes a block that was built on the head.
    fn written(&self, working: &mut Working, built: Built) -> Result<Built, ChainError> {
        self.chain.commit(&built)?;
        (working.next_time, working.next_base_fee, working.next_randao) = (None, None, None);
        // A block whose time was set by hand moves the clock.
        let ahead = built.block.header.timestamp.saturating_sub(now().saturating_add_signed(working.time_offset));
        if working.interval.is_none() && ahead > 1 {
            working.time_offset = working.time_offset.saturating_add_unsigned(ahead);
        }
        self.drop_mined(working)?;
        for (tx, reason) in &built.rejected {
            tracing::debug!(hash = %tx.tx_hash(), reason, "a transaction stays out of the block");
        }
        let header = &built.block.header;
        tracing::info!(
            number = header.number,
            hash = %built.hash,
            transactions = built.block.body.transactions.len(),
            gas = header.gas_used,
            "block"
        );
        self.tell(Event::Block(header.number));
        Ok(built)
    }

    /// Adds a transaction, and mines a block if that is to be done at once.
    pub fn submit(&self, working: &mut Working, tx: Sent) -> Result<B256, ChainError> {
        let hash = *tx.tx_hash();
        working.pool.insert(tx);
        self.tell(Event::Pending(hash));
        if working.mining == Mining::WithTransactions {
            self.mine(working)?;
        }
        Ok(hash)
    }
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
