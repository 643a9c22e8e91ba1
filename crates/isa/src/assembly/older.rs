//! Replacements for opcodes that forks before Constantinople, Shanghai and Cancun lack.
//!
//! A shift is a multiplication by a power of two or a division by it, which are the same modulo 2²⁵⁶ for every
//! distance: from 256 on the power is 0, and so is the product or quotient. A copy in memory goes word by word.

use alloc::vec::Vec;

use num_bigint::BigUint;

use super::{Assembly, Item};
use crate::opcode::evm;

/// The addresses of a copy in memory that are the same whenever the code runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KnownAddresses {
    /// Source address.
    pub from: Option<u32>,
    /// Destination address.
    pub to: Option<u32>,
}

/// Bytes of a word of memory.
const WORD_BYTES: u32 = 32;
/// Words that are copied one after the other; more are copied in a loop.
const WORDS_UNROLLED: u32 = 32;

/// Appends a shift: [value, distance] → [shifted]. Nothing for other opcodes; whether it was one.
pub(super) fn shift(code: &mut Assembly, opcode: u8) -> bool {
    let to_the_left = match opcode {
        evm::SHL => true,
        evm::SHR => false,
        _ => return false,
    };
    match code.items.pop() {
        Some(Item::Push(distance)) => {
            let distance = u32::try_from(distance).ok().filter(|&distance| distance < 256);
            code.push(distance.map_or(BigUint::ZERO, |distance| BigUint::from(1u8) << distance));
        }
        last => {
            code.items.extend(last);
            code.push(2u32).op(evm::EXP);
        }
    }
    if to_the_left {
        code.op(evm::MUL);
    } else {
        code.op(evm::SWAP1).op(evm::DIV);
    }
    true
}

/// Address in the middle of a copy: a number, or a stack word, by its depth if nothing else has been pushed, and the
/// distance from it.
#[derive(Debug, Clone, Copy)]
enum Address {
    Known(u32),
    Stack { depth: u8 },
}

impl Address {
    /// [] → [address + offset], with `above` words above the operands of the copy.
    fn push(self, code: &mut Assembly, offset: u32, above: u8) {
        match self {
            Address::Known(address) => {
                code.push(address + offset);
            }
            Address::Stack { depth } => {
                code.op(evm::DUP1 + depth + above);
                if offset > 0 {
                    code.push(offset).op(evm::ADD);
                }
            }
        }
    }
}

/// Appends a copy: [bytes, from, to] → [].
pub(super) fn copy(code: &mut Assembly, size_bytes: u32, known: KnownAddresses) {
    let operands = take_operands(code, size_bytes, known);
    let from = known.from.map_or(Address::Stack { depth: 1 }, Address::Known);
    let to = known.to.map_or(Address::Stack { depth: 0 }, Address::Known);
    let is_apart = |(from, to): (u32, u32)| from.abs_diff(to) >= size_bytes;
    let overlaps = known.from.zip(known.to).is_some_and(|addresses| !is_apart(addresses));
    let words = size_bytes / WORD_BYTES;
    let is_static = known.from.is_some() && known.to.is_some();
    if size_bytes < WORD_BYTES {
        part_of_word(code, size_bytes, from, to);
    } else if overlaps {
        let offsets: Vec<u32> = offsets(size_bytes, 0).collect();
        for &offset in &offsets {
            from.push(code, offset, 0);
            code.op(evm::MLOAD);
        }
        for &offset in offsets.iter().rev() {
            to.push(code, offset, 0);
            code.op(evm::MSTORE);
        }
    } else {
        let looped = if is_static && words > WORDS_UNROLLED { words } else { 0 };
        if looped > 0 {
            copy_in_loop(code, looped * WORD_BYTES, from, to);
        }
        for offset in offsets(size_bytes, looped * WORD_BYTES) {
            from.push(code, offset, 0);
            code.op(evm::MLOAD);
            to.push(code, offset, 1);
            code.op(evm::MSTORE);
        }
    }
    for _ in 0..operands {
        code.op(evm::POP);
    }
}

/// Takes back the pushes of operands that are known, if they are the last items; how many operands stay on the stack.
fn take_operands(code: &mut Assembly, size_bytes: u32, known: KnownAddresses) -> usize {
    if let (Some(from), Some(to)) = (known.from, known.to) {
        let pushes = [size_bytes, from, to].map(|number| Item::Push(number.into()));
        if code.items.ends_with(&pushes) {
            code.items.truncate(code.items.len() - pushes.len());
            return 0;
        }
    }
    3
}

/// Offsets of the words of `size_bytes` ≥ 32 bytes, from `done` on; the last word overlaps the one before.
fn offsets(size_bytes: u32, done: u32) -> impl Iterator<Item = u32> {
    (done..size_bytes).step_by(WORD_BYTES as usize).map(move |offset| offset.min(size_bytes - WORD_BYTES)) // u32 to usize widens
}

/// Copies fewer bytes than a word has: those after them stay as they are.
fn part_of_word(code: &mut Assembly, size_bytes: u32, from: Address, to: Address) {
    if size_bytes == 0 {
        return;
    }
    let rest = (BigUint::from(1u8) << (8 * (WORD_BYTES - size_bytes))) - 1u8;
    code.push(rest);
    to.push(code, 0, 1);
    code.op(evm::MLOAD).op(evm::DUP2).op(evm::AND).op(evm::SWAP1).op(evm::NOT);
    from.push(code, 0, 2);
    code.op(evm::MLOAD).op(evm::AND).op(evm::OR);
    to.push(code, 0, 1);
    code.op(evm::MSTORE);
}

/// Copies whole words between ranges that are apart. [] → []
fn copy_in_loop(code: &mut Assembly, size_bytes: u32, from: Address, to: Address) {
    let top = code.new_label();
    code.push(0u32).label(top);
    for (address, opcode) in [(from, evm::MLOAD), (to, evm::MSTORE)] {
        code.op(if opcode == evm::MLOAD { evm::DUP1 } else { evm::DUP2 });
        address.push(code, 0, 0);
        code.op(evm::ADD).op(opcode);
    }
    code.push(WORD_BYTES).op(evm::ADD).op(evm::DUP1).push(size_bytes).op(evm::GT);
    code.push_label(top).op(evm::JUMPI).op(evm::POP);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork::Fork;
    use crate::revision::Revision;

    #[track_caller]
    fn check(fork: Fork, expected: &str, write: impl FnOnce(&mut Assembly)) {
        let mut code = Assembly::for_fork(fork);
        write(&mut code);
        assert_eq!(hex::encode(code.assemble(Revision::Eip6690_2024).unwrap().bytes), expected);
    }

    fn known(from: Option<u32>, to: Option<u32>) -> KnownAddresses {
        KnownAddresses { from, to }
    }

    #[test]
    fn shifts_are_products_and_quotients_before_constantinople() {
        for fork in [Fork::Petersburg, Fork::Osaka] {
            check(fork, "60041b1c", |code| _ = code.push(4u32).op(evm::SHL).op(evm::SHR));
        }
        check(Fork::Byzantium, "60100260ff0260020a9004", |code| {
            _ = code.push(4u32).op(evm::SHL).push(255u32).op(evm::MUL).op(evm::SHR);
        });
        // 2²⁵⁶ is 0 in a word.
        check(Fork::Byzantium, "60009004", |code| _ = code.push(256u32).op(evm::SHR));
        check(Fork::Byzantium, "7f80000000000000000000000000000000000000000000000000000000000000009004", |code| {
            _ = code.push(255u32).op(evm::SHR);
        });
    }

    #[test]
    fn zero_is_a_byte_before_shanghai() {
        check(Fork::Shanghai, "5f", |code| _ = code.push(0u32));
        check(Fork::London, "6000", |code| _ = code.push(0u32));
        let field = Revision::Evm384V2.decode(&[0x5f, 0x5f, 0x5f, 0x5f, 0xc0]).unwrap().0;
        let mut code = Assembly::for_fork(Fork::London);
        assert_eq!(
            code.field(field).assemble(Revision::Evm384V2).unwrap().bytes,
            hex::decode("6000600060006000c0").unwrap()
        );
        assert_eq!(code.fixed_bytes(0..1, Revision::Evm384V2), Ok(9));
    }

    #[test]
    fn copies_go_word_by_word_before_cancun() {
        let statically = |code: &mut Assembly, size_bytes: u32, from: u32, to: u32| {
            code.push(size_bytes).push(from).push(to).copy(size_bytes, known(Some(from), Some(to)));
        };
        check(Fork::Cancun, "603060406080 5e".replace(' ', "").as_str(), |code| statically(code, 0x30, 0x40, 0x80));
        check(Fork::Shanghai, "604051608052605051609052", |code| statically(code, 0x30, 0x40, 0x80));
        // All is read before anything is written where the ranges meet.
        check(Fork::Shanghai, "604051605051605852604852", |code| statically(code, 0x30, 0x40, 0x48));
        check(Fork::Shanghai, "8151 8152 8160100151 8160100152 505050".replace(' ', "").as_str(), |code| {
            _ = code.copy(0x30, known(None, None));
        });
    }
}
