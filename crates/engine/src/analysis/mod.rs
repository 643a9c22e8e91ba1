//! Analysed code: jump targets under the revision, and padding that makes every read of an immediate stay inside.
//!
//! revm's own analysis skips the immediates of PUSH only. If the revision has immediates of its own, a JUMPDEST byte
//! inside one must not be a target, a PUSH byte inside one must not hide a target after it, and an immediate cut off by
//! the end of the code must be readable. If the revision has subroutines, their entries are targets too. A code is
//! analysed once in a transaction ([`transaction`]), and not again while the process keeps it
//! ([`crate::batch::cache`]).

use alloc::vec::Vec;

pub(crate) mod transaction;

use alloc::sync::Arc;

use residue_isa::{Jumpdests, Revision, jumpdests};
use revm::bytecode::opcode::{DUPN, EXCHANGE, STOP};
use revm::bytecode::{Bytecode, JumpTable};
use revm::primitives::{B256, Bytes};

use crate::batch::cache::{AnyBlocks, BlocksKey, Cache, CodeKey};
use crate::batch::{Batching, has_blocks};
use transaction::{Analysed, TransactionCodes, address};

/// Zero bytes after every analysed code: the longest immediate and one opcode, which is STOP.
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
        let (rows, mut row) = (Revision::ALL[revision].opcodes(), 0);
        while row < rows.len() {
            // An opcode after a prefix is as long as a byte more of immediate.
            assert!((rows[row].immediate_bytes as usize) < IMMEDIATE_BYTES_MAX);
            row += 1;
        }
        revision += 1;
    }
};

/// Analysis of a revision, shared by the whole process.
#[derive(Debug)]
pub(crate) struct Analysis {
    pub revision: Revision,
    pub batching: Batching,
    needed: bool,
    /// True if codes may have blocks.
    pub has_blocks: bool,
    pub cache: Arc<Cache>,
}

/// Code in the form in which a frame executes it.
#[derive(Debug)]
pub(crate) struct Executed {
    /// The code with the revision's own jump table; none if revm's own form does.
    pub code: Option<Bytecode>,
    /// Its index among the codes of the transaction, if it is one of them.
    pub met: Option<usize>,
}

impl Analysis {
    pub fn new(revision: Revision, batching: Batching) -> Self {
        let needed = revision.has_subroutines() || revision.opcodes().iter().any(|row| row.immediate_bytes > 0);
        let has_blocks = has_blocks(revision) && batching.has_blocks();
        Self { revision, batching, needed, has_blocks, cache: Cache::shared() }
    }

    /// Of code without field instructions: revm's own analysis is all there is to it.
    pub fn of_plain_code(revision: Revision) -> Self {
        Self { needed: false, has_blocks: false, cache: Arc::default(), ..Self::new(revision, Batching::Off) }
    }

    /// With a cache of its own.
    pub fn unshared(revision: Revision, batching: Batching) -> Self {
        Self { cache: Arc::default(), ..Self::new(revision, batching) }
    }

    /// Raw code of any length and content as revm holds it.
    pub fn load(&self, code: &[u8]) -> Bytecode {
        Bytecode::new_legacy(Bytes::copy_from_slice(code))
    }

    /// Form in which a frame executes the code that revm has loaded. `hash` is that of the code, if known; then the
    /// code is added to those of the transaction.
    #[inline]
    pub fn execute(
        &self,
        source: &Bytecode,
        hash: impl FnOnce() -> Option<B256>,
        codes: &mut TransactionCodes,
    ) -> Executed {
        if !self.needed && !self.has_blocks {
            return Executed { code: None, met: None };
        }
        match codes.find_own(source) {
            Some(met) => Executed { code: None, met: Some(met) },
            None => self.look_up(source, hash(), codes),
        }
    }

    #[inline(never)]
    fn look_up(&self, source: &Bytecode, hash: Option<B256>, codes: &mut TransactionCodes) -> Executed {
        let is_own = |code: &Bytecode| address(code) == address(source);
        let Some(hash) = hash else {
            let code = self.needed.then(|| self.analyse(source));
            return Executed { code: code.filter(|code| !is_own(code)), met: None };
        };
        if let Some((met, analysed)) = codes.find(source) {
            let code = match analysed {
                Analysed::Own => None,
                Analysed::Whole(code) => Some(code.clone()),
                Analysed::Targets(targets) => {
                    let code = source.original_byte_slice();
                    Some(with_targets(padded(code), code.len(), targets.clone()))
                }
            };
            return Executed { code, met: Some(met) };
        }
        let code = self.executed(source, hash);
        let met = codes.add(source.clone(), hash, code.clone());
        Executed { code: Some(code).filter(|code| !is_own(code)), met }
    }

    /// The key of the blocks of a code.
    pub fn blocks_key(&self, hash: B256) -> BlocksKey {
        BlocksKey { code: CodeKey { hash, revision: self.revision }, batching: self.batching }
    }

    /// The blocks that are kept of a code.
    pub fn blocks(&self, source: &Bytecode, hash: B256) -> Option<AnyBlocks> {
        self.cache.trim();
        self.cache.blocks(&self.blocks_key(hash), source).filter(|_| self.has_blocks)
    }

    /// A code as it is executed: with revm's own bytes, if they have enough padding after them.
    pub fn analyse(&self, source: &Bytecode) -> Bytecode {
        let code = source.original_byte_slice();
        let mut targets = jumpdests(code, self.revision);
        for (bits, entries) in targets.bits.iter_mut().zip(&targets.entries) {
            *bits |= entries; // The byte says which of the two it is.
        }
        let table = JumpTable::from_slice(&targets.bits, targets.code_bytes);
        let held = source.bytes_slice().len() - code.len();
        match !code.is_empty() && padding_bytes(code, &targets) <= held {
            true if has_targets(source, &table) => source.clone(),
            true => with_targets(source.bytes(), code.len(), table),
            false => with_targets(padded(code), code.len(), table),
        }
    }

    /// The form that a code is executed in.
    pub fn executed(&self, source: &Bytecode, hash: B256) -> Bytecode {
        if self.needed { self.kept(source, hash) } else { source.clone() }
    }

    fn kept(&self, source: &Bytecode, hash: B256) -> Bytecode {
        let key = CodeKey { hash, revision: self.revision };
        match self.cache.code(&key, source) {
            Some(kept) if serves(source, &kept) => source.clone(),
            Some(kept) => kept,
            None => {
                let analysed = self.analyse(source);
                self.cache.keep_code(key, analysed.clone());
                analysed
            }
        }
    }
}

/// True if revm's own jump targets of a code are these.
fn has_targets(source: &Bytecode, targets: &JumpTable) -> bool {
    source.legacy_jump_table().is_some_and(|own| own.len() == targets.len() && own == targets)
}

/// True if revm's own form of a code does as well as the analysed one: it has the same jump targets, and as many bytes after its end.
fn serves(source: &Bytecode, analysed: &Bytecode) -> bool {
    source.bytes_slice().len() >= analysed.bytes_slice().len()
        && analysed.legacy_jump_table().is_some_and(|targets| has_targets(source, targets))
}

/// Bytes after the end of a code that an execution may read: the rest of its last instruction, and an opcode, which is
/// STOP. None if the last instruction is STOP itself: nothing after it is read.
fn padding_bytes(code: &[u8], targets: &Jumpdests) -> usize {
    // The opcodes of EIP-8024, some of which take a byte that jump analysis does not skip.
    let takes_byte =
        |at: Option<usize>| at.and_then(|at| code.get(at)).is_some_and(|opcode| (DUPN..=EXCHANGE).contains(opcode));
    if code.get(targets.last) == Some(&STOP) && !takes_byte(targets.last.checked_sub(1)) {
        return 0;
    }
    targets.end - code.len() + 1 + usize::from(takes_byte(Some(targets.last)))
}

/// A copy of a code that is long enough for any last instruction.
fn padded(code: &[u8]) -> Bytes {
    let mut padded = Vec::with_capacity(code.len() + PADDING_BYTES);
    padded.extend_from_slice(code);
    padded.resize(code.len() + PADDING_BYTES, 0);
    padded.into()
}

#[allow(unsafe_code, reason = "revm takes a jump table that is not its own through an unsafe constructor only")]
fn with_targets(padded: Bytes, code_bytes: usize, targets: JumpTable) -> Bytecode {
    assert_eq!(targets.len(), code_bytes);
    // SAFETY: no execution may read after `padded`. It starts at offset 0 and moves on by whole instructions or to a
    // target of the table, all below `code_bytes`, or back to after a CALLSUB, which has no immediate: below `code_bytes`, or where the
    // padding begins. An instruction that starts in the code has an immediate of at most
    // `IMMEDIATE_BYTES_MAX` bytes (asserted above for every revision; revm's DUPN, SWAPN and EXCHANGE have one byte), so
    // in a copy it ends, with one byte left, inside the padding, where the next opcode is STOP. Where the bytes are
    // revm's own, `padding_bytes` has said that they reach as far: they follow from the same walk as the targets, over the
    // same bytes, and revm pads with zeros.
    unsafe { Bytecode::new_analyzed(padded, code_bytes, targets) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn random_code(random: &mut impl Rng) -> Vec<u8> {
        let interesting = [0x5b, 0x60, 0x7f, 0xc3, 0xc4, 0xc5, 0x00, 0xe6, 0xae];
        let len = random.random_range(0..200);
        let byte = |random: &mut _| match Rng::random_range(random, 0..3) {
            0 => Rng::random(random),
            _ => interesting[Rng::random_range(random, 0..interesting.len())],
        };
        (0..len).map(|_| byte(random)).collect()
    }

    fn analysis(revision: Revision) -> Analysis {
        Analysis::unshared(revision, Batching::Warm)
    }

    /// The safe twin: without field immediates the result is that of revm's own analysis.
    #[test]
    fn agrees_with_revm_where_the_revision_has_no_immediates() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let analysis = analysis(Revision::Evm384V7);
        for _ in 0..2000 {
            let code = random_code(&mut random);
            let theirs = analysis.load(&code);
            let ours = analysis.analyse(&theirs);
            assert_eq!(ours.original_byte_slice(), theirs.original_byte_slice());
            if !code.is_empty() {
                assert_eq!(ours.bytecode_ptr(), theirs.bytecode_ptr(), "revm's padding is enough: {code:02x?}");
            }
            let (ours, theirs) = (ours.legacy_jump_table().unwrap(), theirs.legacy_jump_table().unwrap());
            assert!((0..code.len() + 40).all(|pc| ours.is_valid(pc) == theirs.is_valid(pc)), "{code:02x?}");
        }
    }

    /// In any code, every instruction that execution can reach ends inside the bytes, with an opcode after it.
    #[test]
    fn no_instruction_reaches_beyond_the_padding() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(2);
        let (mut shared, mut copied) = (0, 0);
        for _ in 0..4000 {
            let code = random_code(&mut random);
            for revision in [Revision::Eip6690_2024, Revision::Evm384V9, Revision::Evmone2023, Revision::XExtx] {
                let analysis = analysis(revision);
                let source = analysis.load(&code);
                let analysed = analysis.analyse(&source);
                let is_shared = analysed.bytecode_ptr() == source.bytecode_ptr();
                (shared, copied) = (shared + usize::from(is_shared), copied + usize::from(!is_shared));
                let bytes = analysed.bytes_slice();
                let mut pc = 0;
                while pc < code.len() {
                    let opcode = bytes[pc];
                    let takes_byte = (DUPN..=EXCHANGE).contains(&opcode);
                    let end = pc + revision.bytes_at(&code[pc..]) + usize::from(takes_byte);
                    assert!(opcode == STOP || end < bytes.len(), "{revision} {code:02x?} at {pc}");
                    pc += revision.bytes_at(&code[pc..]);
                }
                assert!(bytes[code.len()..].iter().all(|&byte| byte == 0));
            }
        }
        assert!(shared > 1000 && copied > 100, "{shared} {copied}");
    }

    #[test]
    fn code_is_analysed_once_in_a_transaction_and_found_by_hash_and_bytes_after_it() {
        let analysis = analysis(Revision::Eip6690_2024);
        let code = analysis.load(&[0xc3, 0x5b, 0, 0, 0, 0, 0, 0, 0x5b]);
        let mut codes = TransactionCodes::default();
        let mut execute = |source: &Bytecode, hash| {
            let executed = analysis.execute(source, || Some(hash), &mut codes);
            (executed.code.unwrap_or_else(|| source.clone()), executed.met)
        };
        let (first, met) = execute(&code, code.hash_slow());
        assert_eq!(execute(&code, code.hash_slow()).1, met);
        let table = first.legacy_jump_table().unwrap();
        assert!(!table.is_valid(1) && table.is_valid(8));
        let other = analysis.load(&[0x5b]);
        let (wrong_hash, _) = execute(&other, code.hash_slow());
        assert_eq!(wrong_hash.original_byte_slice(), [0x5b], "a wrong hash must not bring in other code");
        let again = analysis.execute(&code, || Some(code.hash_slow()), &mut TransactionCodes::default()).code.unwrap();
        assert_eq!(again.original_byte_slice(), code.original_byte_slice());
    }

    /// Many codes, so that places among those found fast are shared.
    #[test]
    fn code_that_revm_has_analysed_alike_is_executed_as_revm_holds_it() {
        let analysis = analysis(Revision::Eip6690_2024);
        let mut codes = TransactionCodes::default();
        let code = |number: u8, last| analysis.load(&[0x60, number, 0x5b, last, 0x5b, 0, 0]);
        let plain: Vec<Bytecode> = (0..50).map(|number| code(number, 0x5b)).collect();
        // An immediate holds the second target, and is cut off.
        let hiding: Vec<Bytecode> = (0..5).map(|number| code(number, 0xc3)).collect();
        for _ in 0..3 {
            for (number, source) in plain.iter().chain(&hiding).enumerate() {
                let executed = analysis.execute(source, || Some(source.hash_slow()), &mut codes);
                assert_eq!(executed.met, Some(number), "transactions find what those before have met");
                assert_eq!(executed.code.is_none(), number < plain.len());
                let is_target = |code: Bytecode| code.legacy_jump_table().unwrap().is_valid(4);
                assert!(executed.code.is_none_or(|code| !is_target(code)));
            }
            codes.clear();
        }
        // A code that ends within an instruction has the same targets, and not the bytes after it.
        for (bytes, is_own) in [(&[0x5b, 0x5b], true), (&[0x5b, 0xc3], false)] {
            let sources = [(); 2].map(|()| analysis.load(bytes));
            for source in &sources {
                // The second is another allocation of what the cache knows.
                let kept = analysis.kept(source, source.hash_slow());
                assert_eq!(core::ptr::eq(kept.bytes_ref(), source.bytes_ref()), is_own);
            }
        }
    }

    #[test]
    fn a_transaction_finds_no_earnings_of_the_one_before() {
        let analysis = analysis(Revision::Eip6690_2024);
        let mut codes = TransactionCodes::default();
        let source = analysis.load(&[0x5b]);
        for _ in 0..2 {
            let met = analysis.execute(&source, || Some(source.hash_slow()), &mut codes).met.unwrap();
            let met = codes.get_mut(met).unwrap();
            assert_eq!((met.earned, met.is_plain), (0, false));
            (met.earned, met.is_plain) = (1, true);
            codes.clear();
        }
        let large = analysis.load(&vec![0x5b; 2 << 20]);
        let met = analysis.execute(&large, || Some(large.hash_slow()), &mut codes).met;
        assert_eq!(met, Some(1));
        codes.clear();
        assert!(codes.find(&large).is_none() && codes.find(&source).is_none(), "what is large is not kept");
    }

    #[test]
    fn copies_are_made_again_where_there_is_no_room_to_keep_them() {
        let analysis = analysis(Revision::Eip6690_2024);
        let mut codes = TransactionCodes::default();
        let mut kept = 0;
        for number in 0..2600u32 {
            let mut code = vec![0x5b; 24_576];
            code[..4].copy_from_slice(&number.to_be_bytes());
            *code.last_mut().unwrap() = 0xc3; // Its immediate is cut off.
            let source = analysis.load(&code);
            let [first, second] = [(); 2].map(|()| {
                let executed = analysis.execute(&source, || Some(source.hash_slow()), &mut codes);
                assert!(executed.met.is_some());
                executed.code.unwrap()
            });
            assert!(first.bytes_slice().len() > code.len() + 7 && second.original_byte_slice() == code);
            kept += usize::from(first.bytecode_ptr() == second.bytecode_ptr());
        }
        assert!((2000..2600).contains(&kept), "{kept}");
    }

    #[test]
    fn revisions_without_immediates_keep_the_code_of_revm() {
        let mut codes = TransactionCodes::default();
        for (batching, is_met) in [(Batching::Off, false), (Batching::Always, true)] {
            let analysis = Analysis::unshared(Revision::Evm384V7, batching);
            let code = analysis.load(&[0xc0]);
            let executed = analysis.execute(&code, || Some(code.hash_slow()), &mut codes);
            assert!(executed.code.is_none());
            assert_eq!(executed.met.is_some(), is_met);
        }
    }
}
