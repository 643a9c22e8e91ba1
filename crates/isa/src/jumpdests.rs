//! Jump analysis: which bytes of a code are jump targets under a revision.
//!
//! A JUMPDEST byte inside an immediate, be it of a PUSH or of a field instruction, is not a target. Nor is an ENTERSUB
//! byte there, in revisions with subroutines. JUMPDEST is a target of jumps only, ENTERSUB of CALLSUB only.

use alloc::vec;
use alloc::vec::Vec;

use crate::opcode::evm::JUMPDEST;
use crate::opcode::subroutine::ENTERSUB;
use crate::revision::Revision;

/// The jump targets of a code, one bit a byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jumpdests {
    /// Bit i mod 8, from the least significant, of byte ⌊i / 8⌋ is set if offset i is a target.
    pub bits: Vec<u8>,
    /// The same for targets of CALLSUB; empty if the revision has no subroutines.
    pub entries: Vec<u8>,
    /// Number of meaningful bits: the bytes of the code.
    pub code_bytes: usize,
    /// Offset of the last instruction; 0 if there is none.
    pub last: usize,
    /// Offset after the last instruction with its immediate, even if the end of the code cuts that off.
    pub end: usize,
}

impl Jumpdests {
    /// True if a jump to `offset` is valid.
    pub fn contains(&self, offset: usize) -> bool {
        offset < self.code_bytes && self.bits[offset / 8] >> (offset % 8) & 1 == 1
    }

    /// True if CALLSUB may go to `offset`.
    pub fn is_entry(&self, offset: usize) -> bool {
        self.entries.get(offset / 8).is_some_and(|bits| bits >> (offset % 8) & 1 == 1)
    }
}

/// Bytes that are looked at together.
const WORD_BYTES: usize = 8;

/// Finds the jump targets of `code` in one pass.
///
/// The start of an instruction depends on all instructions before it; the length of the instruction that a byte would
/// start does not. Lengths are computed for eight bytes at once, so that a step to the next instruction waits for no
/// memory, and words without immediates need no steps. Codes at which this takes longest are in
/// `residue lab attack --cycle`.
pub fn jumpdests(code: &[u8], revision: Revision) -> Jumpdests {
    let immediates = &revision.interface().immediates;
    let prefixed = revision.prefix().map(|prefix| (prefix, immediates_after_prefix(revision)));
    let mut bits = vec![0; code.len().div_ceil(8)];
    let mut entries = vec![0; if revision.has_subroutines() { bits.len() } else { 0 }];
    // Bytes that belong to an immediate which has begun before.
    let mut skipped = 0;
    let mut last = (0, 1_u8);
    for (number, (chunk, bits)) in code.chunks(WORD_BYTES).zip(&mut bits).enumerate() {
        if skipped >= WORD_BYTES {
            skipped -= WORD_BYTES;
            continue;
        }
        let word = word_of(chunk);
        let mut lengths = lengths(word, immediates);
        if let Some((prefix, immediates)) = &prefixed {
            let next = code.get(WORD_BYTES * (number + 1)).copied();
            lengths |= lengths_of_prefixed(word, targets(word, *prefix), next, immediates);
        }
        let (begin, after) = starts(lengths, skipped);
        skipped = after;
        let starts = begin & (u8::MAX >> (WORD_BYTES - chunk.len()));
        *bits = targets(word, JUMPDEST) & starts;
        if let Some(entries) = entries.get_mut(number) {
            *entries = targets(word, ENTERSUB) & starts;
        }
        if starts != 0 {
            last = (number, starts);
        }
    }
    let (number, starts) = last;
    let last = WORD_BYTES * number + starts.ilog2() as usize; // u32 to usize widens.
    let end = code.get(last..).map_or(0, |code| last + revision.bytes_at(code));
    Jumpdests { bits, entries, code_bytes: code.len(), last, end }
}

/// Finds the jump targets of `code` as engines do that know no immediate but those of PUSH: go-ethereum's branches of EVMMAX and evmone's.
pub fn jumpdests_of_pushes(code: &[u8]) -> Jumpdests {
    // A revision without immediates: all that is skipped is what the EVM itself skips.
    jumpdests(code, Revision::EvmCallsub)
}

/// Up to eight bytes as a word, the first one lowest; after the end of the code, zeros.
#[inline(always)]
fn word_of(chunk: &[u8]) -> [u8; WORD_BYTES] {
    chunk.try_into().unwrap_or_else(|_| {
        let mut word = [0; WORD_BYTES];
        word[..chunk.len()].copy_from_slice(chunk);
        word
    })
}

/// Immediate length of each byte as an opcode.
#[inline(always)]
fn lengths(word: [u8; WORD_BYTES], immediates: &[u8; 256]) -> u64 {
    let length = |at: usize| u64::from(immediates[usize::from(word[at])]) << (8 * at);
    (length(0) | length(1)) | (length(2) | length(3)) | ((length(4) | length(5)) | (length(6) | length(7)))
}

/// Immediate bytes of the revision's own opcodes, which stand after a prefix.
fn immediates_after_prefix(revision: Revision) -> [u8; 256] {
    let mut immediates = [0; 256];
    for row in revision.opcodes() {
        immediates[usize::from(row.byte)] = row.immediate_bytes;
    }
    immediates
}

/// Length after each prefix of a word: the opcode, which may be the byte `next` after the word, and its immediate.
#[inline(always)]
fn lengths_of_prefixed(word: [u8; WORD_BYTES], mut prefixes: u8, next: Option<u8>, immediates: &[u8; 256]) -> u64 {
    let mut lengths = 0;
    while prefixes != 0 {
        let at = prefixes.trailing_zeros() as usize; // u32 to usize widens.
        let opcode = word.get(at + 1).copied().or(next);
        let length = 1 + opcode.map_or(0, |opcode| immediates[usize::from(opcode)]);
        lengths |= u64::from(length) << (8 * at);
        prefixes &= prefixes - 1;
    }
    lengths
}

/// Instruction starts from offset `at` on, one bit a byte, and the offset of the first start after the word, from the
/// word's end.
#[inline(always)]
fn starts(lengths: u64, mut at: usize) -> (u8, usize) {
    if lengths >> (8 * at) == 0 {
        return (u8::MAX << at, 0);
    }
    let mut starts = 0_u8;
    while at < WORD_BYTES {
        starts |= 1 << at;
        at += 1 + (lengths >> (8 * at) & 0xff) as usize; // Below 256.
    }
    (starts, at - WORD_BYTES)
}

/// Bytes equal to `opcode`, one bit a byte.
#[inline(always)]
fn targets(word: [u8; WORD_BYTES], opcode: u8) -> u8 {
    const LOW_BITS: u64 = u64::MAX / 255 * 0x7f;
    // A byte of `others` is 0 where the opcode is; the highest bit of no sum carries into the next byte.
    let others = u64::from_le_bytes(word) ^ (u64::MAX / 255 * u64::from(opcode));
    let zeros = !(((others & LOW_BITS) + LOW_BITS) | others | LOW_BITS);
    // The highest bits of all bytes, gathered in the highest byte.
    ((zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8 // Eight bits are left.
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, revision: Revision, expected: &[usize]) {
        let code = hex::decode(code).unwrap();
        let found = jumpdests(&code, revision);
        assert_eq!(found.code_bytes, code.len());
        assert_eq!(found.bits.len(), code.len().div_ceil(8));
        let targets: Vec<usize> = (0..code.len() + 64).filter(|&offset| found.contains(offset)).collect();
        assert_eq!(targets, expected);
    }

    #[test]
    fn immediates_hide_jumpdests() {
        for &revision in Revision::ALL {
            check("", revision, &[]);
            check("5b", revision, &[0]);
            check("605b5b", revision, &[2]);
            check("5f5b615b5b5b", revision, &[1, 5]);
            check("7f5b5b5b", revision, &[]);
            check("0c5bfe5b000000005b5b", revision, &[1, 3, 8, 9]);
        }
    }

    /// The judge: one instruction after the other.
    fn one_by_one(code: &[u8], revision: Revision) -> Jumpdests {
        let mut bits = vec![0; code.len().div_ceil(8)];
        let mut entries = vec![0; if revision.has_subroutines() { bits.len() } else { 0 }];
        let (mut pc, mut last) = (0, 0);
        while let Some(&opcode) = code.get(pc) {
            bits[pc / 8] |= u8::from(opcode == JUMPDEST) << (pc % 8);
            if revision.has_subroutines() {
                entries[pc / 8] |= u8::from(opcode == ENTERSUB) << (pc % 8);
            }
            last = pc;
            pc += revision.bytes_at(&code[pc..]);
        }
        Jumpdests { bits, entries, code_bytes: code.len(), last, end: pc }
    }

    #[test]
    fn others_take_operands_for_opcodes() {
        let targets = |code: &str| {
            let found = jumpdests_of_pushes(&hex::decode(code).unwrap());
            (0..found.code_bytes).filter(|&offset| found.contains(offset)).collect::<Vec<_>>()
        };
        assert_eq!(targets("c35b0100010001015b"), [1, 8]);
        assert_eq!(targets("c30001000100016101025b5b"), [10, 11]);
        assert_eq!(targets("605b5b"), [2]);
        for opcode in Revision::EvmCallsub.opcodes() {
            assert_eq!(opcode.immediate_bytes, 0);
        }
    }

    #[test]
    fn windows_are_as_one_instruction_after_the_other() {
        let mut state = 1_u64;
        let mut random = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        for round in 0..4000 {
            let length =
                if round % 4 == 0 { [0, 1, 63, 64, 65, 127, 128, 129][random(8) as usize] } else { random(300) };
            let opcodes: &[u8] = match round % 4 {
                0 => &[0x5b, 0x60, 0x7f, 0xc3, 0xc5, 0x22, 0x00, 0xb1],
                1 => &[0x5b, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b, 0x7f],
                2 => &[0xae, 0xae, 0xc0, 0xc3, 0x5b, 0x5b, 0x60],
                _ => &[],
            };
            let byte = |random: &mut dyn FnMut(u64) -> u64| match opcodes {
                [] => random(256) as u8,
                _ => opcodes[random(opcodes.len() as u64) as usize],
            };
            let code: Vec<u8> = (0..length).map(|_| byte(&mut random)).collect();
            for revision in Revision::every() {
                assert_eq!(jumpdests(&code, revision), one_by_one(&code, revision), "{revision} {code:02x?}");
            }
        }
    }

    #[test]
    fn subroutines_have_targets_of_their_own() {
        let code = hex::decode("b1 5b 60b1 c3b1b1b1b1b1b1b1 b1".replace(' ', "")).unwrap();
        for revision in Revision::every() {
            let found = jumpdests(&code, revision);
            let entries: Vec<usize> = (0..code.len() + 64).filter(|&offset| found.is_entry(offset)).collect();
            let expected: &[usize] = match revision {
                Revision::XCallsub => &[0, 12],
                Revision::EvmCallsub => &[0, 5, 6, 7, 8, 9, 10, 11, 12],
                _ => &[],
            };
            assert_eq!((found.contains(1), found.contains(0), &*entries), (true, false, expected), "{revision}");
        }
    }

    #[test]
    fn only_the_revision_with_immediates_skips_them() {
        check("c35b5b5b5b5b5b5b5b", Revision::Eip6690_2024, &[8]);
        check("c35b5b5b5b5b5b5b5b", Revision::Evm384V7, &[1, 2, 3, 4, 5, 6, 7, 8]);
        check("c55b5b", Revision::Eip6690_2024, &[]);
        check("c05bc15bc25b", Revision::Eip6690_2024, &[1, 3, 5]);
        check("225b5b5b5b", Revision::Geth5843, &[4]);
        check("225b5b5b5b5b", Revision::Geth6601Push3, &[5]);
        check("215b5b", Revision::Eip6601, &[2]);
        check("c65b5b5b5b5b5b", Revision::Evmone2025, &[6]);
        check("c65b", Revision::EvmoneBits, &[1]);
        check("aec35b5b5b5b5b5b5b5b", Revision::XExtx, &[9]);
        check("aec05bae5b5bc35bae605bae", Revision::XExtx, &[2, 5, 7, 10]);
        check("5b5b5b5b5b5b5baec55b5b5b5b5b5b5b5b", Revision::XExtx, &[0, 1, 2, 3, 4, 5, 6, 16]);
    }
}
