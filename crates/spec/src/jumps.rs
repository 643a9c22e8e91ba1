//! Jump analysis: a jumpdest is a 0x5b byte at the start of an instruction, so bytes within immediates are none,
//! neither those of pushes nor those of the revision's field instructions. The same holds of ENTERSUB.

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
    let is_entry = |&pc: &usize| revision.opcode(code[pc]) == Some(&subroutines::ENTERSUB);
    starts(revision, code).filter(is_entry).collect()
}

/// Offsets where instructions begin.
fn starts(revision: &Revision, code: &[u8]) -> impl Iterator<Item = usize> {
    let after = |&pc: &usize| Some(pc + 1 + immediate_bytes(revision, *code.get(pc)?));
    std::iter::successors(Some(0), after).take_while(|&pc| pc < code.len())
}

/// Bytes after the opcode that belong to the instruction.
pub fn immediate_bytes(revision: &Revision, opcode: u8) -> usize {
    match revision.opcode(opcode) {
        Some(field) => field.immediate_bytes,
        None => evm::immediate_bytes(opcode),
    }
}
