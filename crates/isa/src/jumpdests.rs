//! Jump analysis: which bytes of a code are jump targets under a revision.
//!
//! A JUMPDEST byte inside an immediate, be it of a PUSH or of a field instruction, is not a target.

use crate::opcode::evm::JUMPDEST;
use crate::revision::Revision;

/// The jump targets of a code, one bit a byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jumpdests {
    /// Bit i mod 8, from the least significant, of byte ⌊i / 8⌋ is set if offset i is a target.
    pub bits: Vec<u8>,
    /// Number of meaningful bits: the bytes of the code.
    pub code_bytes: usize,
    /// Offset of the last instruction; 0 if there is none.
    pub last: usize,
    /// Offset after the last instruction with its immediate, of which the end of the code may have cut off a part.
    pub end: usize,
}

impl Jumpdests {
    /// Whether a jump to `offset` is valid.
    pub fn contains(&self, offset: usize) -> bool {
        offset < self.code_bytes && self.bits[offset / 8] >> (offset % 8) & 1 == 1
    }
}

/// Finds the jump targets of `code` in one pass.
pub fn jumpdests(code: &[u8], revision: Revision) -> Jumpdests {
    let mut bits = vec![0; code.len().div_ceil(8)];
    let (mut pc, mut last) = (0, 0);
    while let Some(&opcode) = code.get(pc) {
        if opcode == JUMPDEST {
            bits[pc / 8] |= 1 << (pc % 8);
        }
        last = pc;
        pc += revision.instruction_bytes(opcode);
    }
    Jumpdests { bits, code_bytes: code.len(), last, end: pc }
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
    }
}
