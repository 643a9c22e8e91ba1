//! The codes that the process has analysed, with their blocks and plans, shared by all engines and threads.
//!
//! A code is found by hash, revision and batching: jump targets and blocks follow from these, and plans from the blocks and this machine's
//! features, which do not change. Nothing here depends on prices. Codes and plans are bounded; what was used longest ago leaves.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use residue_isa::Revision;
use revm::primitives::{B256, Bytes};

use crate::analysis::Executed;
use crate::blocks::Batching;
use crate::planned::plan_bytes;

/// Bytes of all codes kept, with their jump targets and blocks: 64 MiB, about four hundred contracts of the largest size on mainnet where
/// blocks are found, and more than a thousand where they are not.
const CODE_BYTES_MAX: usize = 64 << 20;
/// What an entry takes beyond that, about: so that many small codes count too.
const ENTRY_BYTES: usize = 1024;
/// Bytes of all plans beyond which codes leave when another frame begins: three quarters of what plans may take.
const PLAN_BYTES_KEPT: usize = crate::planned::PLAN_BYTES_MAX / 4 * 3;

/// What an analysis depends on besides the code's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// The hash that the code was loaded under.
    pub hash: B256,
    /// The instructions there are.
    pub revision: Revision,
    /// When blocks are planned.
    pub batching: Batching,
}

/// The codes kept.
#[derive(Debug)]
pub(crate) struct Cache {
    code_bytes_max: usize,
    plan_bytes_kept: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    codes: HashMap<Key, Analysed>,
    /// Every key by the number of its last use.
    by_use: BTreeMap<u64, Key>,
    bytes: usize,
    /// Number of uses so far.
    uses: u64,
}

/// A code as it was given, kept so that nothing but these very bytes finds it again, and as it is executed.
#[derive(Debug)]
struct Analysed {
    source: Bytes,
    executed: Executed,
    /// The number of its last use.
    last_use: u64,
    bytes: usize,
}

static SHARED: LazyLock<Arc<Cache>> = LazyLock::new(Arc::default);

impl Default for Cache {
    fn default() -> Self {
        Self::new(CODE_BYTES_MAX, PLAN_BYTES_KEPT)
    }
}

impl Cache {
    /// That of the process.
    pub fn shared() -> Arc<Self> {
        Arc::clone(&SHARED)
    }

    fn new(code_bytes_max: usize, plan_bytes_kept: usize) -> Self {
        Self { code_bytes_max, plan_bytes_kept, kept: Mutex::default() }
    }

    /// What was kept for this code, or what `analyse` makes of it. Threads wait for each other.
    pub fn get(&self, key: Key, source: &Bytes, analyse: impl FnOnce() -> Executed) -> Executed {
        // A panic elsewhere cannot leave the map half changed, so a poisoned lock is as good as any.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let this_use = kept.uses;
        let executed = kept.find(&key, source, this_use).unwrap_or_else(|| {
            let executed = analyse();
            let bytes = ENTRY_BYTES + source.len() + executed.bytes();
            kept.insert(
                key,
                Analysed { source: source.clone(), executed: executed.clone(), last_use: this_use, bytes },
            );
            executed
        });
        while (kept.bytes > self.code_bytes_max || plan_bytes() > self.plan_bytes_kept) && kept.remove_oldest(this_use)
        {
        }
        executed
    }
}

impl Kept {
    /// What is kept for this code, used once more.
    fn find(&mut self, key: &Key, source: &Bytes, this_use: u64) -> Option<Executed> {
        let found = self.codes.get_mut(key).filter(|found| is_same(&found.source, source))?;
        self.by_use.remove(&found.last_use);
        self.by_use.insert(this_use, *key);
        found.last_use = this_use;
        Some(found.executed.clone())
    }

    fn insert(&mut self, key: Key, analysed: Analysed) {
        self.bytes += analysed.bytes;
        self.by_use.insert(analysed.last_use, key);
        if let Some(replaced) = self.codes.insert(key, analysed) {
            self.by_use.remove(&replaced.last_use);
            self.bytes -= replaced.bytes;
        }
    }

    /// Lets go of the code used longest ago; false if that is the one in use now. Frames that run it keep their share.
    fn remove_oldest(&mut self, this_use: u64) -> bool {
        let Some(oldest) = self.by_use.first_entry().filter(|oldest| *oldest.key() != this_use) else {
            return false;
        };
        if let Some(removed) = self.codes.remove(&oldest.remove()) {
            self.bytes -= removed.bytes;
        }
        true
    }
}

/// Whether two codes are the same bytes; at once if they are the same allocation, which is the usual case.
fn is_same(a: &Bytes, b: &Bytes) -> bool {
    (a.as_ptr() == b.as_ptr() && a.len() == b.len()) || a == b
}

#[cfg(test)]
mod tests {
    use super::*;
    use revm::state::Bytecode;

    fn executed(source: &Bytes) -> Executed {
        Executed { code: Bytecode::new_legacy(source.clone()), blocks: None, memory_blocks: None }
    }

    fn key(number: u8) -> Key {
        Key { hash: B256::repeat_byte(number), revision: Revision::Eip6690_2024, batching: Batching::Warm }
    }

    #[test]
    fn the_code_used_longest_ago_leaves() {
        // Room for two: an entry has the code's bytes twice, as it was given and as it is executed, and their jump targets.
        let cache = Cache::new(2 * (ENTRY_BYTES + 350), usize::MAX);
        let get = |number: u8| {
            let source = Bytes::from(vec![number; 100]);
            let mut is_new = false;
            let found = cache.get(key(number), &source, || {
                is_new = true;
                executed(&source)
            });
            assert_eq!(found.code.original_byte_slice(), &source[..]);
            let kept = cache.kept.lock().unwrap();
            assert_eq!(kept.bytes, kept.codes.values().map(|code| code.bytes).sum::<usize>());
            assert!(kept.codes.values().all(|code| code.bytes > ENTRY_BYTES + 200));
            assert!(kept.by_use.iter().all(|(last_use, key)| kept.codes[key].last_use == *last_use));
            assert!(kept.codes.len() <= 2 && kept.by_use.len() == kept.codes.len());
            is_new
        };
        assert_eq!([1, 2, 1, 3, 1, 2, 1].map(get), [true, true, false, true, false, true, false]);
    }

    #[test]
    fn another_code_under_the_same_hash_takes_the_place_of_the_first() {
        let cache = Cache::new(1 << 20, usize::MAX);
        for byte in [7, 8, 7] {
            let source = Bytes::from(vec![byte; 100]);
            let found = cache.get(key(1), &source, || executed(&source));
            assert_eq!(found.code.original_byte_slice(), &source[..]);
            let kept = cache.kept.lock().unwrap();
            assert_eq!((kept.codes.len(), kept.by_use.len()), (1, 1));
            assert_eq!(kept.bytes, kept.codes[&key(1)].bytes);
        }
    }

    #[test]
    fn a_code_beyond_the_limit_is_kept_while_it_is_in_use() {
        let cache = Cache::new(50, 0);
        let source = Bytes::from(vec![9; 100]);
        cache.get(key(1), &source, || executed(&source));
        cache.get(key(1), &source, || panic!("it is kept"));
    }
}
