//! Code of blocks without field instructions, carried out on numbers: for tests that change it. A jump goes where code has a JUMPDEST.

use num_bigint::BigUint;
use residue_isa::opcode::evm;
use std::collections::BTreeMap;

/// Memory and stack after the bytes of a block; `None` if they read undefined places or do anything else.
pub(crate) fn carry_out(
    code: &[u8],
    memory: BTreeMap<BigUint, BigUint>,
    stack: Vec<BigUint>,
) -> Option<(BTreeMap<BigUint, BigUint>, Vec<BigUint>)> {
    carry_out_to(code, code.len(), memory, stack)
}

/// Jumps that are carried out at most.
const JUMPS_MAX: usize = 1000;

/// The same up to an offset, with what code has after it for subroutines.
pub(crate) fn carry_out_to(
    code: &[u8],
    end: usize,
    mut memory: BTreeMap<BigUint, BigUint>,
    mut stack: Vec<BigUint>,
) -> Option<(BTreeMap<BigUint, BigUint>, Vec<BigUint>)> {
    let targets = crate::wide::read::targets(code);
    let mut jumps = 0;
    let word = BigUint::from(1u8) << 256u32;
    let mut at = 0;
    while at != end {
        let &opcode = code.get(at)?;
        let bytes = usize::from(opcode.checked_sub(evm::PUSH0).filter(|&bytes| bytes <= 32).unwrap_or(0));
        match opcode {
            evm::PUSH0..=evm::PUSH32 => stack.push(BigUint::from_bytes_be(code.get(at + 1..=at + bytes)?)),
            evm::POP => _ = stack.pop()?,
            evm::DUP1..=evm::DUP16 => {
                stack.push(stack.get(stack.len().checked_sub(usize::from(opcode - evm::DUP1) + 1)?)?.clone());
            }
            evm::SWAP1..=evm::SWAP16 => {
                let top = stack.len().checked_sub(1)?;
                stack.swap(top, top.checked_sub(usize::from(opcode - evm::SWAP1) + 1)?);
            }
            evm::MLOAD => {
                let address = stack.pop()?;
                stack.push(memory.get(&address)?.clone());
            }
            evm::MSTORE => _ = memory.insert(stack.pop()?, stack.pop()?),
            evm::JUMP => {
                at = usize::try_from(stack.pop()?).ok().filter(|target| targets.contains(target))?;
                jumps += 1;
                if jumps > JUMPS_MAX {
                    return None;
                }
                continue;
            }
            evm::JUMPDEST => {}
            _ => {
                let (a, b) = (stack.pop()?, stack.pop()?);
                let zero = BigUint::from(0u8);
                let reduced = |number: BigUint, m: &BigUint| if *m == zero { zero.clone() } else { number % m };
                let result = match opcode {
                    evm::ADD => (a + b) % &word,
                    evm::SUB => (a + &word - b) % &word,
                    evm::MUL => a * b % &word,
                    evm::MOD => reduced(a, &b),
                    evm::ADDMOD => reduced(a + b, &stack.pop()?),
                    evm::MULMOD => reduced(a * b, &stack.pop()?),
                    _ => return None,
                };
                stack.push(result);
            }
        }
        at += bytes + 1;
    }
    Some((memory, stack))
}
