//! `evm384-v7`: values of 48 bytes, little-endian, in EVM memory; the stack word packs four byte offsets. The frame has
//! no state beside memory.
//!
//! Source: evmone branches `evm384-v7` and `evm384-v7-logf`; EIP draft `evm384` of ewasm/EIPs. Memory grows as in
//! evmone: to the highest of all four operands plus 48 bytes, for `MULMODMONT384` plus 56.

use super::{FieldOpcode, FieldState, Revision};
use crate::arithmetic::{add, mont_mul, sub};
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::word::{Word, two_to};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v7",
    summary: "384-bit values in memory, operands packed in one stack word of 32-bit byte offsets.",
    opcodes: OPCODES,
    prices: || vec![evmone(), eip(), model_a(), model_b()],
    start: || Box::new(Stateless),
};

const ADDMOD384: u8 = 0xc0;
const SUBMOD384: u8 = 0xc1;
const MULMODMONT384: u8 = 0xc2;
const LOGF: u8 = 0xc3;

const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: ADDMOD384, mnemonic: "ADDMOD384", immediate_bytes: 0, pops: 1 },
    FieldOpcode { byte: SUBMOD384, mnemonic: "SUBMOD384", immediate_bytes: 0, pops: 1 },
    FieldOpcode { byte: MULMODMONT384, mnemonic: "MULMODMONT384", immediate_bytes: 0, pops: 1 },
    FieldOpcode { byte: LOGF, mnemonic: "LOGF", immediate_bytes: 0, pops: 3 },
];

/// Bytes of a value.
const VALUE_BYTES: usize = 48;

/// Bytes of r_inv, which follows the modulus.
const R_INV_BYTES: usize = 8;

/// evmone's prices, branch `evm384-v7`.
pub fn evmone() -> Prices {
    prices("evmone", 8, 8, 24)
}

/// The EIP draft's prices (ewasm/EIPs `evm384`).
pub fn eip() -> Prices {
    prices("eip", 3, 3, 6)
}

/// Model A of update 5 of the EVM384 notes: running time at 10 ns a gas, the interpreter loop counted.
pub fn model_a() -> Prices {
    prices("model-a", 2, 2, 6)
}

/// Model B of update 5 of the EVM384 notes: running time relative to `KECCAK256` and its price.
pub fn model_b() -> Prices {
    prices("model-b", 1, 1, 3)
}

/// LOGF costs 1 in evmone and is in no other schedule, so it costs 1 in all.
fn prices(name: &str, add: u64, sub: u64, mul: u64) -> Prices {
    Prices::of_base(name, &[("ADDMOD384", add), ("SUBMOD384", sub), ("MULMODMONT384", mul), ("LOGF", 1)])
}

/// A frame keeps nothing between instructions.
struct Stateless;

impl FieldState for Stateless {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        match opcode.byte {
            ADDMOD384 => arithmetic(frame, VALUE_BYTES, |x, y, m, _| add(x, y, m, 48)),
            SUBMOD384 => arithmetic(frame, VALUE_BYTES, |x, y, m, _| sub(x, y, m, 48)),
            MULMODMONT384 => {
                arithmetic(frame, VALUE_BYTES + R_INV_BYTES, |x, y, m, r_inv| mont_mul(x, y, m, r_inv, 48))
            }
            LOGF => frame.pop::<3>().map(|_num_elements_element_size_offset| ()),
            _ => Err(Halt::InvalidInstruction),
        }
    }
}

/// Reads x, y, m (and r_inv) from memory, then writes `operation` of them to `out`.
/// Memory grows to hold `reach_bytes` behind each of the four offsets.
fn arithmetic(
    frame: &mut Frame<'_>,
    reach_bytes: usize,
    operation: impl Fn(&BigUint, &BigUint, &BigUint, u64) -> BigUint,
) -> Result<(), Halt> {
    let [word] = frame.pop()?;
    let modulus = offset(&word, 0);
    let y = offset(&word, 32);
    let x = offset(&word, 64);
    let out = offset(&word, 96);
    let highest = modulus.max(y).max(x).max(out);
    frame.grow(&highest.into(), &reach_bytes.into())?;

    let m = read(frame, modulus, VALUE_BYTES);
    let x = read(frame, x, VALUE_BYTES);
    let y = read(frame, y, VALUE_BYTES);
    let r_inv = if reach_bytes > VALUE_BYTES { read(frame, modulus + VALUE_BYTES, R_INV_BYTES) } else { BigUint::ZERO };
    let r_inv = r_inv.to_u64().expect("eight bytes are below 2⁶⁴");
    let result = operation(&x, &y, &m, r_inv);

    let mut bytes = result.to_bytes_le();
    bytes.resize(VALUE_BYTES, 0);
    frame.memory.write(out, &bytes);
    Ok(())
}

/// Bits `lowest_bit` to `lowest_bit` + 31 of the operand word: a byte offset in memory.
fn offset(word: &Word, lowest_bit: u64) -> usize {
    ((word >> lowest_bit) % two_to(32)).to_usize().expect("32 bits fit every supported machine")
}

/// The little-endian integer of `size_bytes` at `offset`, which memory holds.
fn read(frame: &Frame<'_>, offset: usize, size_bytes: usize) -> BigUint {
    BigUint::from_bytes_le(frame.memory.read(offset..offset + size_bytes))
}
