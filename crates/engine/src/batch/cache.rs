//! Cache of the process, over transactions: jump targets of codes that ran lately, and blocks of codes whose field
//! instructions have paid for them. Both are bounded in bytes; the least recently used leaves first.
//!
//! The key of a code is its hash and revision, for blocks also the batching; a hit requires equal bytes. Nothing here
//! depends on prices. Locks are held for looking up only: analysing, walking and planning happen outside of them.

use alloc::sync::Arc;
use core::hash::Hash;

use lru::LruCache;
use residue_isa::Revision;
use residue_lanes::locks::{LazyLock, Mutex, lock};
use revm::bytecode::Bytecode;
use revm::primitives::B256;

use super::Batching;
use super::blocks::Blocks;
use super::budget::{Budget, bytes_of};
use super::memory::Memory;
use super::slots::Slots;
use super::tuning::{BLOCK_BYTES_KEPT, CODE_BYTES_KEPT};

/// Approximate bytes of an entry beyond its code and its jump targets, so that many small codes count too.
const ENTRY_BYTES: usize = 512;

/// Inputs of the analysis of a code, besides its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CodeKey {
    /// The hash that the code was loaded under.
    pub hash: B256,
    /// The instructions there are.
    pub revision: Revision,
}

/// Inputs of blocks, besides the code's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BlocksKey {
    /// The code.
    pub code: CodeKey,
    /// When blocks are planned.
    pub batching: Batching,
}

/// Blocks of either kind.
#[derive(Debug, Clone)]
pub(crate) enum AnyBlocks {
    Slots(Arc<Blocks<Slots>>),
    Memory(Arc<Blocks<Memory>>),
}

/// Contents of the cache.
#[derive(Debug)]
pub(crate) struct Cache {
    codes: Mutex<Kept<CodeKey, Bytecode>>,
    blocks: Mutex<Kept<BlocksKey, AnyBlocks>>,
    block_bytes_kept: usize,
    /// Of all blocks that were made for this cache.
    pub budget: Budget,
}

static SHARED: LazyLock<Arc<Cache>> = LazyLock::new(Arc::default);

impl Default for Cache {
    fn default() -> Self {
        Self::new(CODE_BYTES_KEPT, BLOCK_BYTES_KEPT)
    }
}

impl Cache {
    /// That of the process.
    pub fn shared() -> Arc<Self> {
        Arc::clone(&SHARED)
    }

    fn new(code_bytes_kept: usize, block_bytes_kept: usize) -> Self {
        Self {
            codes: Mutex::new(Kept::new(code_bytes_kept)),
            blocks: Mutex::new(Kept::new(usize::MAX)),
            block_bytes_kept,
            budget: Budget::default(),
        }
    }

    /// The analysed form of `source`, if it is kept.
    pub fn code(&self, key: &CodeKey, source: &Bytecode) -> Option<Bytecode> {
        let found = lock(&self.codes).get(key).cloned();
        found.filter(|found| is_same(found, source))
    }

    /// Keeps the analysed form of a code.
    pub fn keep_code(&self, key: CodeKey, analysed: Bytecode) {
        let bytes = ENTRY_BYTES + bytes_of(&analysed);
        lock(&self.codes).insert(key, analysed, bytes);
    }

    /// The blocks of `source`, if there are any.
    pub fn blocks(&self, key: &BlocksKey, source: &Bytecode) -> Option<AnyBlocks> {
        let found = lock(&self.blocks).get(key).cloned()?;
        // What has no room left to learn anything new begins again.
        let is_of_use = is_same(found.code(), source) && !found.is_full();
        if !is_of_use {
            lock(&self.blocks).remove(key);
        }
        is_of_use.then_some(found)
    }

    /// Keeps paid blocks, unless another thread was faster; returns the kept ones.
    pub fn keep_blocks(&self, key: BlocksKey, new: AnyBlocks) -> AnyBlocks {
        let mut blocks = lock(&self.blocks);
        if let Some(found) = blocks.get(&key).filter(|found| is_same(found.code(), new.code())) {
            return found.clone();
        }
        blocks.insert(key, new.clone(), 0);
        drop(blocks);
        self.trim();
        new
    }

    /// Lets go of the codes whose blocks ran longest ago, but for the latest, until the rest is within bounds. Frames that run them keep
    /// their share.
    pub fn trim(&self) {
        while self.budget.bytes() > self.block_bytes_kept {
            let Some(removed) = lock(&self.blocks).remove_oldest() else { return };
            drop(removed); // Not under the lock: there may be much of it.
        }
    }
}

impl AnyBlocks {
    /// The code that they are of.
    pub fn code(&self) -> &Bytecode {
        match self {
            Self::Slots(blocks) => &blocks.code,
            Self::Memory(blocks) => &blocks.code,
        }
    }

    /// True if they hold as much memory as those of one code may.
    fn is_full(&self) -> bool {
        match self {
            Self::Slots(blocks) => blocks.is_full(),
            Self::Memory(blocks) => blocks.is_full(),
        }
    }
}

/// Values by key, those used last within a number of bytes.
#[derive(Debug)]
struct Kept<K: Hash + Eq, V> {
    values: LruCache<K, (V, usize)>,
    bytes: usize,
    bytes_max: usize,
}

impl<K: Hash + Eq, V> Kept<K, V> {
    fn new(bytes_max: usize) -> Self {
        Self { values: LruCache::unbounded(), bytes: 0, bytes_max }
    }

    fn get(&mut self, key: &K) -> Option<&V> {
        Some(&self.values.get(key)?.0)
    }

    fn insert(&mut self, key: K, value: V, bytes: usize) {
        self.bytes += bytes;
        if let Some((_, replaced)) = self.values.put(key, (value, bytes)) {
            self.bytes -= replaced;
        }
        while self.bytes > self.bytes_max && self.remove_oldest().is_some() {}
    }

    fn remove(&mut self, key: &K) {
        if let Some((_, bytes)) = self.values.pop(key) {
            self.bytes -= bytes;
        }
    }

    /// Removes the least recently used entry, but never the last one.
    fn remove_oldest(&mut self) -> Option<V> {
        if self.values.len() < 2 {
            return None;
        }
        let (_, (value, bytes)) = self.values.pop_lru()?;
        self.bytes -= bytes;
        Some(value)
    }
}

/// True if two codes have equal bytes; no bytes are compared if they are the same allocation, the usual case.
pub(crate) fn is_same(a: &Bytecode, b: &Bytecode) -> bool {
    let (a, b) = (a.original_byte_slice(), b.original_byte_slice());
    core::ptr::eq(a, b) || a == b
}

#[cfg(test)]
mod tests {
    use super::*;
    use revm::primitives::Bytes;

    fn key(number: u8) -> CodeKey {
        CodeKey { hash: B256::repeat_byte(number), revision: Revision::Eip6690_2024 }
    }

    fn code(byte: u8) -> Bytecode {
        Bytecode::new_legacy(Bytes::from(vec![byte; 100]))
    }

    #[test]
    fn the_code_used_longest_ago_leaves() {
        // Room for two, just: an entry has the code's bytes, one more and their jump targets.
        let cache = Cache::new(2 * (ENTRY_BYTES + 114), 0);
        let is_new = |number: u8| {
            let is_new = cache.code(&key(number), &code(number)).is_none();
            if is_new {
                cache.keep_code(key(number), code(number));
            }
            let kept = lock(&cache.codes);
            assert_eq!(kept.bytes, kept.values.iter().map(|(_, (_, bytes))| bytes).sum::<usize>());
            assert!(kept.values.len() <= 2);
            is_new
        };
        assert_eq!([1, 2, 1, 3, 1, 2, 1].map(is_new), [true, true, false, true, false, true, false]);
    }

    #[test]
    fn another_code_under_the_same_hash_is_not_found() {
        let cache = Cache::default();
        cache.keep_code(key(1), code(7));
        assert!(cache.code(&key(1), &code(8)).is_none());
        assert!(cache.code(&key(1), &code(7)).is_some());
        cache.keep_code(key(1), code(8));
        assert!(cache.code(&key(1), &code(7)).is_none());
        let kept = lock(&cache.codes);
        assert_eq!(kept.bytes, ENTRY_BYTES + bytes_of(&code(8)));
    }

    #[test]
    fn blocks_beyond_the_limit_are_kept_while_they_are_the_latest() {
        let cache = Cache::new(0, 0);
        let key = |number| BlocksKey { code: key(number), batching: Batching::Always };
        for number in 1..4 {
            let blocks = Blocks::new(code(0x5b), Revision::Eip6690_2024, Batching::Always, &cache.budget).unwrap();
            cache.keep_blocks(key(number), AnyBlocks::Slots(Arc::new(blocks)));
            assert!(cache.blocks(&key(number), &code(0x5b)).is_some());
            assert!(cache.blocks(&key(number - 1), &code(0x5b)).is_none());
        }
        let budget = Budget::default();
        let _one = Blocks::<Slots>::new(code(0x5b), Revision::Eip6690_2024, Batching::Always, &budget);
        assert_eq!(cache.budget.bytes(), budget.bytes());
    }

    #[test]
    fn there_is_one_cache_of_the_process() {
        assert!(Arc::ptr_eq(&Cache::shared(), &Cache::shared()));
    }

    #[test]
    fn blocks_leave_only_beyond_the_limit() {
        let budget = Budget::default();
        let one = Blocks::<Slots>::new(code(0x5b), Revision::Eip6690_2024, Batching::Always, &budget).unwrap();
        // The code with what follows it and its jump targets, a mark of four bytes for each byte, and the blocks themselves.
        let padded = one.code.bytes_slice().len();
        assert_eq!(bytes_of(&one.code), padded + 13);
        let bytes = size_of::<Blocks<Slots>>() + bytes_of(&one.code) + 4 * 100;
        assert_eq!(budget.bytes(), bytes);
        for (kept, is_kept) in [(2 * bytes, true), (2 * bytes - 1, false)] {
            let cache = Cache::new(0, kept);
            for number in [1, 2] {
                let key = BlocksKey { code: key(number), batching: Batching::Always };
                let blocks = Blocks::new(code(0x5b), Revision::Eip6690_2024, Batching::Always, &cache.budget).unwrap();
                cache.keep_blocks(key, AnyBlocks::Slots(Arc::new(blocks)));
            }
            let first = BlocksKey { code: key(1), batching: Batching::Always };
            assert_eq!(cache.blocks(&first, &code(0x5b)).is_some(), is_kept);
        }
    }
}
