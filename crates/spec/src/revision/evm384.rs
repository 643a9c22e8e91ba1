//! Shared parts of the EVM384 revisions: three opcodes, their prices, values of 48 bytes. Not a revision itself.
//!
//! Source: evmone branches `evm384-v1` to `evm384-v9`, `lib/evmone/instructions`; the sources of the single versions are in
//! their files. Nothing is pushed but by version 0, and nothing halts but for the reasons a version's file gives.

use crate::arithmetic::{add, mont_mul, sub};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::word::Word;
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Opcode of `ADDMOD384`.
pub const ADDMOD384: u8 = 0xc0;
/// Opcode of `SUBMOD384`.
pub const SUBMOD384: u8 = 0xc1;
/// Opcode of `MULMODMONT384`.
pub const MULMODMONT384: u8 = 0xc2;

/// Bytes of a value.
pub const VALUE_BYTES: usize = 48;

/// Bytes of r_inv.
pub const R_INV_BYTES: usize = 8;

/// The base field of BLS12-381, the only one of versions 4 and 5.
pub const BLS12_381_P: &str =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
/// Its r_inv.
pub const BLS12_381_R_INV: u64 = 0x89f3_fffc_fffc_fffd;

/// The three opcodes: additions and subtractions take `pops` words, multiplications `mul_pops`.
pub const fn opcodes(pops: usize, mul_pops: usize, immediate_bytes: usize) -> [FieldOpcode; 3] {
    [
        FieldOpcode { byte: ADDMOD384, mnemonic: "ADDMOD384", immediate_bytes, pops },
        FieldOpcode { byte: SUBMOD384, mnemonic: "SUBMOD384", immediate_bytes, pops },
        FieldOpcode { byte: MULMODMONT384, mnemonic: "MULMODMONT384", immediate_bytes, pops: mul_pops },
    ]
}

/// Prices of the three opcodes.
pub fn prices(name: &str, add: u64, sub: u64, mul: u64) -> Prices {
    Prices::of_base(name, &[("ADDMOD384", add), ("SUBMOD384", sub), ("MULMODMONT384", mul)])
}

/// evmone's prices, the same on all its branches.
pub fn evmone() -> Prices {
    prices("evmone", 8, 8, 24)
}

/// The EIP draft's prices (ewasm/EIPs `evm384`).
pub fn eip() -> Prices {
    prices("eip", 3, 3, 6)
}

/// The models of update 5 of the EVM384 notes (ewasm/evm384_f6m_mul, branch update5, gascosts_calculator.py): A is running
/// time at 10 ns a gas with the interpreter loop, B running time relative to `KECCAK256` and its price. The fractional
/// ones are rounded up to whole gas, which is what a run is charged.
pub fn update_5() -> Vec<Prices> {
    vec![
        prices("model-a", 2, 2, 6),
        of_evm(prices("model-a-pushdup2", 2, 2, 6), 2, 2, 3),
        of_evm(prices("model-a-repriced", 2, 2, 5), 1, 1, 1),
        of_evm(prices("model-a-fractional", 2, 2, 5), 1, 1, 1), // 1.1, 1.1, 5.0; 0.9, 0.7, MSTORE 0.8, MLOAD 1.0
        prices("model-b", 1, 1, 3),
        of_evm(prices("model-b-pushdup2", 1, 1, 3), 2, 2, 3),
        of_evm(prices("model-b-repriced", 1, 1, 3), 1, 1, 1),
        of_evm(prices("model-b-fractional", 1, 1, 3), 1, 1, 1), // 0.8, 0.7, 3.0; as above
    ]
}

/// `prices` with others for `PUSH1..32`, `DUP1..16`, and `MLOAD` and `MSTORE`, where they differ from the EVM's 3.
fn of_evm(mut prices: Prices, push: u64, dup: u64, memory: u64) -> Prices {
    let groups = [(0x60..=0x7f, push), (0x80..=0x8f, dup), (0x51..=0x52, memory)];
    for (opcodes, gas) in groups.into_iter().filter(|&(_, gas)| gas != 3) {
        prices.evm.extend(opcodes.map(|opcode| (opcode, gas)));
    }
    prices
}

/// The result of an opcode on values x, y under m and r_inv.
pub fn operate(opcode: &FieldOpcode, x: &BigUint, y: &BigUint, m: &BigUint, r_inv: u64) -> Result<BigUint, Halt> {
    match opcode.byte {
        ADDMOD384 => Ok(add(x, y, m, 48)),
        SUBMOD384 => Ok(sub(x, y, m, 48)),
        MULMODMONT384 => Ok(mont_mul(x, y, m, r_inv, 48)),
        _ => Err(Halt::InvalidInstruction),
    }
}

/// The little-endian integer of `size_bytes` at `offset`, which memory holds.
pub fn read(frame: &Frame<'_>, offset: usize, size_bytes: usize) -> BigUint {
    BigUint::from_bytes_le(frame.memory.read(offset..offset + size_bytes))
}

/// The value at `offset`, which memory holds.
pub fn value(frame: &Frame<'_>, offset: usize) -> BigUint {
    read(frame, offset, VALUE_BYTES)
}

/// The eight bytes at `offset`, which memory holds.
pub fn r_inv(frame: &Frame<'_>, offset: usize) -> u64 {
    read(frame, offset, R_INV_BYTES).to_u64().expect("eight bytes are below 2⁶⁴")
}

/// Writes a value to `offset`, where memory holds it.
pub fn write(frame: &mut Frame<'_>, offset: usize, value: &BigUint) {
    let mut bytes = value.to_bytes_le();
    bytes.resize(VALUE_BYTES, 0);
    frame.memory.write(offset, &bytes);
}

/// Words of the stack as byte offsets: out of gas above 2³² − 1, as evmone has it.
pub fn offsets<const N: usize>(words: [&Word; N]) -> Result<[usize; N], Halt> {
    let mut offsets = [0; N];
    for (offset, word) in offsets.iter_mut().zip(words) {
        *offset = word.to_u32().and_then(|word| usize::try_from(word).ok()).ok_or(Halt::OutOfGas)?;
    }
    Ok(offsets)
}

/// Words of the stack as offsets of values that lie inside memory.
pub fn inside<const N: usize>(frame: &Frame<'_>, words: [&Word; N]) -> Result<[usize; N], Halt> {
    let mut offsets = [0; N];
    for (offset, word) in offsets.iter_mut().zip(words) {
        *offset = frame.memory.inside(word, &VALUE_BYTES.into()).ok_or(Halt::MemoryOutOfRange)?.start;
    }
    Ok(offsets)
}

/// Grows memory to `bytes` after the highest offset.
pub fn grow(frame: &mut Frame<'_>, offsets: &[usize], bytes: usize) -> Result<(), Halt> {
    let highest = offsets.iter().copied().max().unwrap_or(0);
    frame.grow(&highest.into(), &bytes.into()).map(|_range| ())
}

/// r_inv as a word of the stack: out of gas from 2⁶⁴ on, as evmone has it.
pub fn r_inv_word(word: &Word) -> Result<u64, Halt> {
    word.to_u64().ok_or(Halt::OutOfGas)
}

/// `size` bits of a word from `lowest_bit` on.
pub fn bits(word: &Word, lowest_bit: u64, size: u64) -> usize {
    ((word >> lowest_bit) % crate::word::two_to(size)).to_usize().expect("at most 32 bits fit every supported machine")
}
