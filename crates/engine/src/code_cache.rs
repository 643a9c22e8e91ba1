//! The codes that the process has analysed, with their blocks and plans, shared by all engines and threads.
//!
//! A code is found by hash, revision and batching: jump targets and blocks follow from these, and plans from the blocks and this machine's
//! features, which do not change. Nothing here depends on prices. Codes and plans are bounded; what was used longest ago leaves.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use residue_isa::Revision;
use revm::primitives::{B256, Bytes};

use crate::analysis::Executed;
use crate::blocks::Batching;
use crate::planned::plan_bytes;

/// Bytes of all codes kept: 64 MiB, which is more than two thousand contracts of the largest size on mainnet.
const CODE_BYTES_MAX: usize = 64 << 20;
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
        let found = kept.codes.get_mut(&key).filter(|found| is_same(&found.source, source)).map(|found| {
            found.last_use = this_use;
            found.executed.clone()
        });
        let executed = found.unwrap_or_else(|| {
            let executed = analyse();
            kept.insert(key, Analysed { source: source.clone(), executed: executed.clone(), last_use: this_use });
            executed
        });
        while (kept.bytes > self.code_bytes_max || plan_bytes() > self.plan_bytes_kept) && kept.remove_oldest(this_use)
        {
        }
        executed
    }
}

impl Kept {
    fn insert(&mut self, key: Key, analysed: Analysed) {
        self.bytes += analysed.source.len();
        if let Some(replaced) = self.codes.insert(key, analysed) {
            self.bytes -= replaced.source.len();
        }
    }

    /// Lets go of the code used longest ago; false if that is the one in use now. Frames that run it keep their share.
    fn remove_oldest(&mut self, this_use: u64) -> bool {
        let oldest = self.codes.iter().min_by_key(|(_, analysed)| analysed.last_use);
        let Some(key) = oldest.filter(|(_, oldest)| oldest.last_use != this_use).map(|(&key, _)| key) else {
            return false;
        };
        if let Some(removed) = self.codes.remove(&key) {
            self.bytes -= removed.source.len();
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
        let cache = Cache::new(250, usize::MAX);
        let get = |number: u8| {
            let source = Bytes::from(vec![number; 100]);
            let mut is_new = false;
            let found = cache.get(key(number), &source, || {
                is_new = true;
                executed(&source)
            });
            assert_eq!(found.code.original_byte_slice(), &source[..]);
            let kept = cache.kept.lock().unwrap();
            assert_eq!(kept.bytes, kept.codes.values().map(|code| code.source.len()).sum::<usize>());
            assert!(kept.codes.len() <= 2);
            is_new
        };
        assert_eq!([1, 2, 1, 3, 1, 2, 1].map(get), [true, true, false, true, false, true, false]);
    }

    #[test]
    fn a_code_beyond_the_limit_is_kept_while_it_is_in_use() {
        let cache = Cache::new(50, 0);
        let source = Bytes::from(vec![9; 100]);
        cache.get(key(1), &source, || executed(&source));
        cache.get(key(1), &source, || panic!("it is kept"));
    }
}
