//! Jump analysis: a jumpdest is a 0x5b byte at the start of an instruction, so bytes within immediates are none,
//! neither those of pushes nor those of the revision's field instructions. The same holds of ENTERSUB. Nor is any byte
//! after a prefix the start of an instruction.

use crate::evm;
use crate::revision::{Revision, subroutines};
use std::collections::BTreeSet;

/// Opcode of `JUMPDEST`.
const JUMPDEST: u8 = 0x5b;

/// Offsets that a jump may go to.
pub fn jumpdests(revision: &Revision, code: &[u8]) -> BTreeSet<usize> {
    starts(revision, code).filter(|&pc| code[pc] == JUMPDEST).collect()
}

/// Offsets that `CALLSUB` may go to; none where the revision has no subroutines.
pub fn entries(revision: &Revision, code: &[u8]) -> BTreeSet<usize> {
    let is_entry = |&pc: &usize| revision.opcode(code, pc) == Some(&subroutines::ENTERSUB);
    starts(revision, code).filter(is_entry).collect()
}

/// Offsets where instructions begin.
fn starts(revision: &Revision, code: &[u8]) -> impl Iterator<Item = usize> {
    let after = |&pc: &usize| code.get(pc).map(|&byte| pc + instruction_bytes(revision, code, pc, byte));
    std::iter::successors(Some(0), after).take_while(|&pc| pc < code.len())
}

/// Bytes of the instruction at `pc`, which begins with `byte`.
fn instruction_bytes(revision: &Revision, code: &[u8], pc: usize, byte: u8) -> usize {
    match revision.opcode(code, pc) {
        Some(field) => revision.opcode_bytes() + field.immediate_bytes,
        None if revision.prefix == Some(byte) => revision.opcode_bytes(),
        None => 1 + evm::immediate_bytes(byte),
    }
}
