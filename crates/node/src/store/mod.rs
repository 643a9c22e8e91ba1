//! The database: one file of redb, or the same in memory. Blocks, receipts, the present state with its tries, and for each change of state what
//! was there before, so that the state at any block is one look away.
//!
//! A block is written as one transaction, and [`Store::write`] returns when it is on disk. Nothing else is needed after a crash: what was not
//! committed is not there.

mod history;
mod rewind;
mod tables;
mod view;
mod writer;

use std::path::Path;
use std::sync::Arc;

use alloy_consensus::{Block, Header, ReceiptEnvelope, TxEnvelope};
use alloy_primitives::{Address, B256};
use alloy_rlp::Decodable;
use redb::backends::InMemoryBackend;
use redb::{Database, Durability, ReadableDatabase, ReadableTable};

pub use history::Proofs;
pub use rewind::Dumped;
pub use tables::When;
pub use view::{Overlay, StateAt, StateView};
pub use writer::{NewBlock, StateChanges, Writer};

use crate::remote::{Remote, RemoteError};
use crate::trie::TrieError;

/// A block as the node keeps it.
pub type ChainBlock = Block<TxEnvelope>;

/// Why the database does not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// redb's words.
    #[error("the database failed: {0}")]
    Redb(String),
    /// Something in it is not as this program writes it.
    #[error("the database holds {what} that cannot be read")]
    Corrupt {
        /// Name of the data read.
        what: String,
    },
    /// A node of a trie is missing.
    #[error("the database holds no valid trie node at {path}")]
    Trie {
        /// The nibbles of its path.
        path: String,
    },
    /// The node that the chain was forked from does not answer.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A state that came without what was before it.
    #[error("the state after block {number} is not known: states are since block {since}")]
    NoState {
        /// The block asked for.
        number: u64,
        /// The first one whose state is known.
        since: u64,
    },
    /// A savepoint that is not there.
    #[error("there is no snapshot {id}")]
    NoSnapshot {
        /// The id asked for.
        id: u64,
    },
}

impl residue_engine::revm::context::DBErrorMarker for StoreError {}

impl From<TrieError<StoreError>> for StoreError {
    fn from(error: TrieError<StoreError>) -> Self {
        match error {
            TrieError::Store(error) => error,
            TrieError::Broken { path } => StoreError::Trie { path: format!("{path:02x?}") },
        }
    }
}

macro_rules! from_redb {
    ($($error:ident)*) => {
        $(impl From<redb::$error> for StoreError {
            fn from(error: redb::$error) -> Self {
                StoreError::Redb(error.to_string())
            }
        })*
    };
}
from_redb!(Error DatabaseError TransactionError TableError StorageError CommitError SavepointError SetDurabilityError);

/// Result of reading and writing.
pub type Result<T> = std::result::Result<T, StoreError>;

/// An error for bytes that are not what this program writes.
pub(crate) fn corrupt(what: impl Into<String>) -> StoreError {
    StoreError::Corrupt { what: what.into() }
}

/// The database.
#[derive(Debug, Clone)]
pub struct Store {
    db: Arc<Database>,
    /// The other node whose state this one extends, if the chain is forked.
    remote: Option<Arc<Remote>>,
}

/// A transaction's place: number of its block, index in it.
pub type Place = (u64, u64);

impl Store {
    /// Opens the database of a folder, which is made where it is not there, or one in memory.
    pub fn open(folder: Option<&Path>) -> Result<Self> {
        let db = match folder {
            Some(folder) => {
                std::fs::create_dir_all(folder).map_err(|error| StoreError::Redb(error.to_string()))?;
                Database::create(folder.join("residue.redb"))?
            }
            None => Database::builder().create_with_backend(InMemoryBackend::new())?,
        };
        let store = Self { db: Arc::new(db), remote: None };
        let txn = store.db.begin_write()?;
        tables::create(&txn)?;
        txn.commit()?;
        Ok(store)
    }

    /// The same over another node: what is not here is as it was there.
    pub fn over(self, remote: Remote) -> Self {
        Self { remote: Some(remote.into()), ..self }
    }

    /// The other node, if the chain is forked.
    pub fn remote(&self) -> Option<&Remote> {
        self.remote.as_deref()
    }

    /// Makes changes as one. They are on disk when this returns, or none of them is made.
    pub fn write<T>(&self, change: impl FnOnce(&mut Writer<'_>) -> Result<T>) -> Result<T> {
        self.write_over(false, change)
    }

    /// As [`Store::write`], on a database without blocks, state and snapshots.
    pub fn write_anew<T>(&self, change: impl FnOnce(&mut Writer<'_>) -> Result<T>) -> Result<T> {
        self.write_over(true, change)
    }

    fn write_over<T>(&self, nothing: bool, change: impl FnOnce(&mut Writer<'_>) -> Result<T>) -> Result<T> {
        let mut txn = self.db.begin_write()?;
        txn.set_durability(Durability::Immediate)?;
        let mut writer = Writer::new(&txn, self.remote.is_some())?;
        if nothing {
            writer.forget_all()?;
        }
        // Kept until the transaction is there: readers may look for it meanwhile.
        let mut fetched = self.remote.as_ref().map(|remote| remote.lock());
        if let Some(fetched) = &fetched {
            writer.add_fetched(fetched)?;
        }
        let result = change(&mut writer)?;
        drop(writer);
        txn.commit()?;
        if let Some(fetched) = &mut fetched {
            fetched.is_written();
        }
        Ok(result)
    }

    /// A text of the database about itself.
    pub fn meta(&self, name: &str) -> Result<Option<String>> {
        let table = self.db.begin_read()?.open_table(tables::META)?;
        Ok(table.get(name)?.map(|text| text.value().to_owned()))
    }

    /// Number and hash of the newest block; none before the genesis block.
    pub fn head(&self) -> Result<Option<(u64, B256)>> {
        let table = self.db.begin_read()?.open_table(tables::HASHES)?;
        Ok(table.last()?.map(|(number, hash)| (number.value(), B256::from(hash.value()))))
    }

    /// The hash of a block.
    pub fn hash(&self, number: u64) -> Result<Option<B256>> {
        let table = self.db.begin_read()?.open_table(tables::HASHES)?;
        Ok(table.get(number)?.map(|hash| B256::from(hash.value())))
    }

    /// The number of a block.
    pub fn number(&self, hash: B256) -> Result<Option<u64>> {
        let table = self.db.begin_read()?.open_table(tables::NUMBERS)?;
        Ok(table.get(hash.0)?.map(|number| number.value()))
    }

    /// The header of a block.
    pub fn header(&self, number: u64) -> Result<Option<Header>> {
        let table = self.db.begin_read()?.open_table(tables::HEADERS)?;
        let decode = |bytes: &[u8]| Header::decode(&mut &*bytes).map_err(|_| corrupt(format!("header {number}")));
        table.get(number)?.map(|bytes| decode(bytes.value())).transpose()
    }

    /// A block.
    pub fn block(&self, number: u64) -> Result<Option<ChainBlock>> {
        let table = self.db.begin_read()?.open_table(tables::BLOCKS)?;
        let decode = |bytes: &[u8]| ChainBlock::decode(&mut &*bytes).map_err(|_| corrupt(format!("block {number}")));
        table.get(number)?.map(|bytes| decode(bytes.value())).transpose()
    }

    /// The senders of a block's transactions.
    pub fn senders(&self, number: u64) -> Result<Vec<Address>> {
        let table = self.db.begin_read()?.open_table(tables::SENDERS)?;
        let senders = table.get(number)?;
        Ok(senders.map(|all| all.value().chunks(20).map(Address::from_slice).collect()).unwrap_or_default())
    }

    /// The receipts of a block.
    pub fn receipts(&self, number: u64) -> Result<Option<Vec<ReceiptEnvelope>>> {
        let table = self.db.begin_read()?.open_table(tables::RECEIPTS)?;
        let decode = |bytes: &[u8]| {
            Vec::<ReceiptEnvelope>::decode(&mut &*bytes).map_err(|_| corrupt(format!("receipts {number}")))
        };
        table.get(number)?.map(|bytes| decode(bytes.value())).transpose()
    }

    /// Place of a transaction.
    pub fn place(&self, transaction: B256) -> Result<Option<Place>> {
        let table = self.db.begin_read()?.open_table(tables::TRANSACTIONS)?;
        Ok(table.get(transaction.0)?.map(|place| place.value()))
    }

    /// The state after a block, or the present one, which may have been changed by hand since the newest block.
    pub fn state(&self, at: StateAt) -> Result<StateView> {
        StateView::new(&self.db.begin_read()?, at, self.remote.clone())
    }

    /// The present state after a block that is not written yet.
    pub fn state_after(&self, overlay: Arc<Overlay>) -> Result<StateView> {
        Ok(self.state(StateAt::Present)?.with_overlay(overlay))
    }

    /// Keeps the database as it is now, for [`Store::revert`]. Its pages stay as long as the savepoint is there.
    pub fn snapshot(&self) -> Result<u64> {
        let txn = self.db.begin_write()?;
        let id = txn.persistent_savepoint()?;
        txn.commit()?;
        Ok(id)
    }

    /// Forgets a snapshot, if it is there.
    pub fn forget_snapshot(&self, id: u64) -> Result<()> {
        let txn = self.db.begin_write()?;
        txn.delete_persistent_savepoint(id)?;
        Ok(txn.commit()?)
    }

    /// Makes the database what it was at a snapshot; that and all later ones are gone.
    pub fn revert(&self, id: u64) -> Result<()> {
        let mut txn = self.db.begin_write()?;
        let savepoint = txn.get_persistent_savepoint(id).map_err(|_| StoreError::NoSnapshot { id })?;
        txn.restore_savepoint(&savepoint)?;
        txn.commit()?;
        let txn = self.db.begin_write()?;
        let later: Vec<u64> = txn.list_persistent_savepoints()?.filter(|&other| other >= id).collect();
        for other in later {
            txn.delete_persistent_savepoint(other)?;
        }
        txn.commit()?;
        Ok(())
    }
}
