//! Analysed code: jump targets under the revision, and padding that makes every read of an immediate stay inside.
//!
//! revm's own analysis skips the immediates of PUSH only. Where the revision has immediates of its own, a JUMPDEST byte
//! inside one must not be a target, a PUSH byte inside one must not hide a target behind it, and an immediate cut off by
//! the end of the code must be readable. Each code is analysed once and kept by its hash (see [`crate::code_cache`]).

use std::sync::Arc;

use residue_isa::{Revision, jumpdests};
use revm::bytecode::{Bytecode, JumpTable};
use revm::primitives::B256;

use crate::blocks::{Batching, Blocks};
use crate::code_cache::{Cache, Key};
use crate::memory_blocks::MemoryBlocks;

/// Zero bytes behind every analysed code: the longest immediate and one opcode, which is STOP.
const PADDING_BYTES: usize = IMMEDIATE_BYTES_MAX + 1;
/// The longest immediate of any opcode of any revision: PUSH32's.
const IMMEDIATE_BYTES_MAX: usize = 32;
const _: () = {
    let mut revision = 0;
    while revision < Revision::ALL.len() {
        let mut opcode = 0;
        while opcode < 256 {
            assert!(Revision::ALL[revision].interface().immediates[opcode] as usize <= IMMEDIATE_BYTES_MAX);
            opcode += 1;
        }
        revision += 1;
    }
};

/// The analysis of a revision. What it has analysed is shared by all of the process.
#[derive(Debug)]
pub(crate) struct Analysis {
    revision: Revision,
    batching: Batching,
    needed: bool,
    finds_memory_blocks: bool,
    cache: Arc<Cache>,
}

/// What a frame runs on.
#[derive(Debug, Clone)]
pub(crate) struct Executed {
    /// The code with the revision's own jump table.
    pub code: Bytecode,
    /// Its blocks, if there are any and the code is kept.
    pub blocks: Option<Arc<Blocks>>,
    pub memory_blocks: Option<Arc<MemoryBlocks>>,
}

impl Executed {
    /// Bytes it takes, about: code, a bit for each byte that may be a jump target, blocks. Plans are counted by themselves.
    pub fn bytes(&self) -> usize {
        let code = self.code.bytecode().len();
        let blocks = self.blocks.as_ref().map_or(0, |blocks| blocks.bytes());
        code + code.div_ceil(8) + blocks + self.memory_blocks.as_ref().map_or(0, |blocks| blocks.bytes())
    }
}

impl Analysis {
    pub fn new(revision: Revision, batching: Batching) -> Self {
        let needed = revision.opcodes().iter().any(|row| row.immediate_bytes > 0);
        let finds_memory_blocks = MemoryBlocks::are_found(revision) && batching != Batching::Off;
        Self { revision, batching, needed, finds_memory_blocks, cache: Cache::shared() }
    }

    /// With a cache of its own.
    pub fn unshared(revision: Revision, batching: Batching) -> Self {
        Self { cache: Arc::new(Cache::default()), ..Self::new(revision, batching) }
    }

    /// The analysed form of raw code of any length and content.
    pub fn analyse(&self, code: &[u8]) -> Bytecode {
        if self.needed { with_immediates(code, self.revision) } else { Bytecode::new_legacy(code.to_vec().into()) }
    }

    /// The analysed form of code that revm has loaded, or none if revm's own form is all there is to it. `hash` is that of the code if
    /// it is known, and then the result is kept.
    pub fn replace(&self, code: &Bytecode, hash: Option<B256>) -> Option<Executed> {
        if !self.needed && !self.finds_memory_blocks {
            return None;
        }
        let source = code.original_bytes();
        let executed = || if self.needed { with_immediates(&source, self.revision) } else { code.clone() };
        let Some(hash) = hash else {
            return Some(Executed { code: executed(), blocks: None, memory_blocks: None });
        };
        let key = Key { hash, revision: self.revision, batching: self.batching };
        Some(self.cache.get(key, &source, || {
            let blocks = Blocks::find(&source, self.revision, self.batching).map(Arc::new);
            let memory_blocks = MemoryBlocks::find(&source, self.revision, self.batching).map(Arc::new);
            Executed { code: executed(), blocks, memory_blocks }
        }))
    }
}

#[allow(unsafe_code, reason = "revm takes a jump table that is not its own through an unsafe constructor only")]
fn with_immediates(code: &[u8], revision: Revision) -> Bytecode {
    let targets = jumpdests(code, revision);
    assert_eq!(targets.code_bytes, code.len());
    let mut padded = Vec::with_capacity(code.len() + PADDING_BYTES);
    padded.extend_from_slice(code);
    padded.resize(code.len() + PADDING_BYTES, 0);
    let table = JumpTable::from_slice(&targets.bits, targets.code_bytes);
    // SAFETY: no execution may read behind `padded`. It starts at offset 0 and moves on by whole instructions or to a
    // target of `table`, all below `code.len()`. An instruction that starts in the code has an immediate of at most
    // `IMMEDIATE_BYTES_MAX` bytes (asserted above for every revision; revm's DUPN, SWAPN and EXCHANGE have one byte), so
    // it ends, with one byte left, inside the padding, where the next opcode is STOP.
    unsafe { Bytecode::new_analyzed(padded.into(), code.len(), table) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use revm::primitives::Bytes;

    fn random_code(random: &mut impl Rng) -> Vec<u8> {
        let interesting = [0x5b, 0x60, 0x7f, 0xc3, 0xc4, 0xc5, 0x00];
        let len = random.random_range(0..200);
        let byte = |random: &mut _| match Rng::random_range(random, 0..3) {
            0 => Rng::random(random),
            _ => interesting[Rng::random_range(random, 0..interesting.len())],
        };
        (0..len).map(|_| byte(random)).collect()
    }

    /// The safe twin: without field immediates the result is that of revm's own analysis.
    #[test]
    fn agrees_with_revm_where_the_revision_has_no_immediates() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for _ in 0..2000 {
            let code = random_code(&mut random);
            let ours = with_immediates(&code, Revision::Evm384V7);
            let theirs = Bytecode::new_legacy(code.clone().into());
            assert_eq!(ours.original_byte_slice(), theirs.original_byte_slice());
            let (ours, theirs) = (ours.legacy_jump_table().unwrap(), theirs.legacy_jump_table().unwrap());
            assert!((0..code.len() + 40).all(|pc| ours.is_valid(pc) == theirs.is_valid(pc)), "{code:02x?}");
        }
    }

    #[test]
    fn code_is_analysed_once_and_found_by_hash_and_bytes() {
        let analysis = Analysis::new(Revision::Eip6690_2024, Batching::Warm);
        let code = Bytecode::new_legacy(Bytes::from_static(&[0xc3, 0x5b, 0, 0, 0, 0, 0, 0, 0x5b]));
        let first = analysis.replace(&code, Some(code.hash_slow())).unwrap().code;
        let second = analysis.replace(&code, Some(code.hash_slow())).unwrap().code;
        assert_eq!(first.bytecode_ptr(), second.bytecode_ptr());
        let table = first.legacy_jump_table().unwrap();
        assert!(!table.is_valid(1) && table.is_valid(8));

        let other = Bytecode::new_legacy(Bytes::from_static(&[0x5b]));
        let wrong_hash = analysis.replace(&other, Some(code.hash_slow())).unwrap().code;
        assert_eq!(wrong_hash.original_byte_slice(), [0x5b], "a wrong hash must not bring in other code");
    }

    #[test]
    fn revisions_without_immediates_keep_the_code_of_revm() {
        let code = Bytecode::new_legacy(Bytes::from_static(&[0xc0]));
        assert!(Analysis::new(Revision::Evm384V7, Batching::Off).replace(&code, Some(code.hash_slow())).is_none());
        let replaced = Analysis::new(Revision::Evm384V7, Batching::Always).replace(&code, Some(code.hash_slow()));
        assert_eq!(replaced.unwrap().code.bytecode_ptr(), code.bytecode_ptr());
    }
}
