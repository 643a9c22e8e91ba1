//! Jump analysis: a jumpdest is a 0x5b byte at the start of an instruction, so bytes within immediates are none,
//! neither those of pushes nor those of the revision's field instructions.

use crate::evm;
use crate::revision::Revision;
use std::collections::BTreeSet;

/// Opcode of `JUMPDEST`.
const JUMPDEST: u8 = 0x5b;

/// Offsets that a jump may go to.
pub fn jumpdests(revision: &Revision, code: &[u8]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut pc = 0;
    while let Some(&opcode) = code.get(pc) {
        if opcode == JUMPDEST {
            found.insert(pc);
        }
        pc += 1 + immediate_bytes(revision, opcode);
    }
    found
}

/// Bytes after the opcode that belong to the instruction.
pub fn immediate_bytes(revision: &Revision, opcode: u8) -> usize {
    match revision.opcode(opcode) {
        Some(field) => field.immediate_bytes,
        None => evm::immediate_bytes(opcode),
    }
}
