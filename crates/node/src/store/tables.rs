//! The tables. Numbers in keys of bytes are big-endian, so that keys are in the order of numbers.

use redb::{TableDefinition, WriteTransaction};

use super::Result;

type Fixed<const N: usize> = [u8; N];

/// Bytes of an address with a slot.
pub const SLOT_KEY: usize = 52;

/// Metadata of the database.
pub const META: TableDefinition<'_, &str, &str> = TableDefinition::new("meta");
/// The entry of [`META`] with the first block whose state is known: the one that the chain was forked at, or the newest one of a state that was
/// loaded. Without it all states are known.
pub const STATE_SINCE: &str = "state since";
/// Number ↦ hash.
pub const HASHES: TableDefinition<'_, u64, Fixed<32>> = TableDefinition::new("hashes");
/// Hash ↦ number.
pub const NUMBERS: TableDefinition<'_, Fixed<32>, u64> = TableDefinition::new("numbers");
/// Number ↦ header in RLP.
pub const HEADERS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("headers");
/// Number ↦ block in RLP.
pub const BLOCKS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("blocks");
/// Number ↦ senders, 20 bytes each.
pub const SENDERS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("senders");
/// Number ↦ receipts in RLP.
pub const RECEIPTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("receipts");
/// Hash of a transaction ↦ number of its block, index in it.
pub const TRANSACTIONS: TableDefinition<'_, Fixed<32>, (u64, u64)> = TableDefinition::new("transactions");
/// Address ↦ account in RLP.
pub const ACCOUNTS: TableDefinition<'_, Fixed<20>, &[u8]> = TableDefinition::new("accounts");
/// Address, slot ↦ value.
pub const SLOTS: TableDefinition<'_, Fixed<SLOT_KEY>, Fixed<32>> = TableDefinition::new("slots");
/// Hash ↦ code.
pub const CODES: TableDefinition<'_, Fixed<32>, &[u8]> = TableDefinition::new("codes");
/// Address, moment of a change ↦ account before that, empty for none.
pub const ACCOUNTS_BEFORE: TableDefinition<'_, (Fixed<20>, u64), &[u8]> = TableDefinition::new("accounts before");
/// Address, slot, moment of a change ↦ value before that.
pub const SLOTS_BEFORE: TableDefinition<'_, (Fixed<SLOT_KEY>, u64), Fixed<32>> = TableDefinition::new("slots before");
/// Moment, key of what was changed then: an address, or an address with a slot.
pub const CHANGED: TableDefinition<'_, (u64, &[u8]), ()> = TableDefinition::new("changed");
/// Path ↦ node of a trie.
pub const NODES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("nodes");

/// When the state was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// By a block.
    Block(u64),
    /// By hand after a block, before the next one.
    ByHandAfter(u64),
}

impl When {
    /// The moment, as history counts them: blocks are even, so that what was done by hand stands between them.
    pub const fn moment(self) -> u64 {
        match self {
            When::Block(number) => number.saturating_mul(2),
            When::ByHandAfter(number) => number.saturating_mul(2).saturating_add(1),
        }
    }
}

/// Makes those tables that are not there.
pub fn create(txn: &WriteTransaction) -> Result<()> {
    txn.open_table(META)?;
    txn.open_table(HASHES)?;
    txn.open_table(NUMBERS)?;
    txn.open_table(HEADERS)?;
    txn.open_table(BLOCKS)?;
    txn.open_table(SENDERS)?;
    txn.open_table(RECEIPTS)?;
    txn.open_table(TRANSACTIONS)?;
    txn.open_table(ACCOUNTS)?;
    txn.open_table(SLOTS)?;
    txn.open_table(CODES)?;
    txn.open_table(ACCOUNTS_BEFORE)?;
    txn.open_table(SLOTS_BEFORE)?;
    txn.open_table(CHANGED)?;
    txn.open_table(NODES)?;
    Ok(())
}

/// The key of a slot.
pub fn slot_key(address: alloy_primitives::Address, slot: alloy_primitives::U256) -> Fixed<SLOT_KEY> {
    let mut key = [0; SLOT_KEY];
    key[..20].copy_from_slice(address.as_slice());
    key[20..].copy_from_slice(&slot.to_be_bytes::<32>());
    key
}
