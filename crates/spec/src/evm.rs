//! The EVM's opcodes that field programs use, with Osaka's gas: one table, in which the row of a plain operation is its
//! whole specification.
//!
//! Source: Ethereum yellow paper, appendix H, as changed by the EIPs named at the rows.

pub mod control;
pub mod data;
pub mod integer;

use crate::frame::Frame;
use crate::halt::Halt;
use crate::word::{WORD_BITS, Word, from_bool, from_signed, to_be_bytes, to_signed, two_to, wrap};
use num_traits::Zero;

/// One opcode of the EVM.
#[derive(Debug, Clone, Copy)]
pub struct Opcode {
    /// The opcode.
    pub byte: u8,
    /// Its name, without the number of the `PUSH`, `DUP` and `SWAP` families.
    pub mnemonic: &'static str,
    /// Base gas.
    pub gas: u64,
    /// Semantics, after the base gas is charged.
    pub execute: fn(&mut Frame<'_>) -> Result<(), Halt>,
}

macro_rules! opcodes {
    ($($byte:literal $mnemonic:ident $gas:literal $execute:expr;)*) => {
        /// The opcodes, but for the families that number their opcodes: see [`opcode`].
        pub const OPCODES: &[Opcode] =
            &[$(Opcode { byte: $byte, mnemonic: stringify!($mnemonic), gas: $gas, execute: $execute }),*];
    };
}

opcodes! {
    0x00 STOP 0 |_| Err(Halt::Stop);
    0x01 ADD 3 |f| binary(f, |a, b| wrap(a + b));
    0x02 MUL 5 |f| binary(f, |a, b| wrap(a * b));
    0x03 SUB 3 |f| binary(f, |a, b| wrap(a + two_to(WORD_BITS) - b));
    0x04 DIV 5 |f| binary(f, |a, b| if b.is_zero() { b } else { a / b });
    0x05 SDIV 5 |f| binary(f, |a, b| if b.is_zero() { b } else { from_signed(to_signed(&a) / to_signed(&b)) });
    0x06 MOD 5 |f| binary(f, |a, b| if b.is_zero() { b } else { a % b });
    0x07 SMOD 5 |f| binary(f, |a, b| if b.is_zero() { b } else { from_signed(to_signed(&a) % to_signed(&b)) });
    0x08 ADDMOD 8 |f| ternary(f, |a, b, n| if n.is_zero() { n } else { (a + b) % n });
    0x09 MULMOD 8 |f| ternary(f, |a, b, n| if n.is_zero() { n } else { (a * b) % n });
    0x0a EXP 10 integer::exp; // EIP-160
    0x0b SIGNEXTEND 5 |f| binary(f, integer::sign_extend);
    0x10 LT 3 |f| binary(f, |a, b| from_bool(a < b));
    0x11 GT 3 |f| binary(f, |a, b| from_bool(a > b));
    0x12 SLT 3 |f| binary(f, |a, b| from_bool(to_signed(&a) < to_signed(&b)));
    0x13 SGT 3 |f| binary(f, |a, b| from_bool(to_signed(&a) > to_signed(&b)));
    0x14 EQ 3 |f| binary(f, |a, b| from_bool(a == b));
    0x15 ISZERO 3 |f| unary(f, |a| from_bool(a.is_zero()));
    0x16 AND 3 |f| binary(f, |a, b| a & b);
    0x17 OR 3 |f| binary(f, |a, b| a | b);
    0x18 XOR 3 |f| binary(f, |a, b| a ^ b);
    0x19 NOT 3 |f| unary(f, |a| two_to(WORD_BITS) - 1u8 - a);
    0x1a BYTE 3 |f| binary(f, integer::byte);
    0x1b SHL 3 |f| binary(f, integer::shift_left); // EIP-145
    0x1c SHR 3 |f| binary(f, integer::shift_right); // EIP-145
    0x1d SAR 3 |f| binary(f, integer::shift_arithmetic_right); // EIP-145
    0x1e CLZ 5 |f| unary(f, |a| Word::from(WORD_BITS - a.bits())); // EIP-7939
    0x20 KECCAK256 30 data::keccak256;
    0x30 ADDRESS 2 |f| f.push(Word::from_bytes_be(&f.env.address));
    0x33 CALLER 2 |f| f.push(Word::from_bytes_be(&f.env.caller));
    0x34 CALLVALUE 2 |f| f.push(f.env.call_value.clone());
    0x35 CALLDATALOAD 3 data::calldataload;
    0x36 CALLDATASIZE 2 |f| f.push(f.input.len());
    0x37 CALLDATACOPY 3 |f| data::copy(f, f.input);
    0x38 CODESIZE 2 |f| f.push(f.code.len());
    0x39 CODECOPY 3 |f| data::copy(f, f.code);
    0x3d RETURNDATASIZE 2 |f| f.push(0u8); // EIP-211; this frame makes no calls
    0x3e RETURNDATACOPY 3 data::returndatacopy; // EIP-211
    0x50 POP 2 |f| f.pop().map(|[_]| ());
    0x51 MLOAD 3 data::mload;
    0x52 MSTORE 3 data::mstore;
    0x53 MSTORE8 3 data::mstore8;
    0x56 JUMP 8 control::jump;
    0x57 JUMPI 10 control::jumpi;
    0x58 PC 2 |f| f.push(f.pc);
    0x59 MSIZE 2 |f| f.push(f.memory.size_bytes());
    0x5a GAS 2 |f| f.push(f.gas_left());
    0x5b JUMPDEST 1 |_| Ok(());
    0x5e MCOPY 3 data::mcopy; // EIP-5656
    0x5f PUSH0 2 |f| f.push(0u8); // EIP-3855
    0xf3 RETURN 0 |f| control::return_or_revert(f, Halt::Return);
    0xfd REVERT 0 |f| control::return_or_revert(f, Halt::Revert); // EIP-140
    0xfe INVALID 0 |_| Err(Halt::InvalidInstruction); // EIP-141
}

/// The EVM opcode that `byte` is, if it is one of those here.
pub fn opcode(byte: u8) -> Option<Opcode> {
    let numbered = |mnemonic, execute| Some(Opcode { byte, mnemonic, gas: 3, execute });
    match byte {
        0x60..=0x7f => numbered("PUSH", control::push),
        0x80..=0x8f => numbered("DUP", control::dup),
        0x90..=0x9f => numbered("SWAP", control::swap),
        _ => OPCODES.iter().find(|opcode| opcode.byte == byte).copied(),
    }
}

/// Bytes after the opcode that belong to the instruction: n for `PUSHn`.
pub fn immediate_bytes(byte: u8) -> usize {
    match byte {
        0x60..=0x7f => usize::from(byte - 0x5f),
        _ => 0,
    }
}

/// True if Osaka defines `byte` as an opcode that reads or changes the world around the frame.
pub fn needs_world(byte: u8) -> bool {
    match byte {
        0x31 | 0x32 | 0x3a..=0x3c | 0x3f => true, // BALANCE ORIGIN GASPRICE EXTCODESIZE EXTCODECOPY EXTCODEHASH
        0x40..=0x4a => true,                      // BLOCKHASH .. BLOBBASEFEE
        0x54 | 0x55 | 0x5c | 0x5d => true,        // SLOAD SSTORE TLOAD TSTORE
        0xa0..=0xa4 => true,                      // LOG0 .. LOG4
        0xf0..=0xf2 | 0xf4 | 0xf5 | 0xfa | 0xff => true, // the CREATE and CALL families, SELFDESTRUCT
        _ => false,
    }
}

/// Replaces the top word a by `operation(a)`.
fn unary(frame: &mut Frame<'_>, operation: impl Fn(Word) -> Word) -> Result<(), Halt> {
    let [a] = frame.pop()?;
    frame.push(operation(a))
}

/// Replaces the top two words, a above b, by `operation(a, b)`.
fn binary(frame: &mut Frame<'_>, operation: impl Fn(Word, Word) -> Word) -> Result<(), Halt> {
    let [a, b] = frame.pop()?;
    frame.push(operation(a, b))
}

/// Replaces the top three words, a above b above n, by `operation(a, b, n)`.
fn ternary(frame: &mut Frame<'_>, operation: impl Fn(Word, Word, Word) -> Word) -> Result<(), Halt> {
    let [a, b, n] = frame.pop()?;
    frame.push(operation(a, b, n))
}

/// Number of words of 32 bytes in `size` bytes, by which copies and hashes are priced.
fn words_of(size: u64) -> u64 {
    size.div_ceil(32)
}

/// A size or offset that gas could pay for; anything larger ends the frame.
fn affordable(word: &Word) -> Result<u64, Halt> {
    num_traits::ToPrimitive::to_u64(word).ok_or(Halt::OutOfGas)
}

/// The byte at `index` of a word, the most significant being 0, as integer.
fn byte_of(word: &Word, index: usize) -> Word {
    Word::from(to_be_bytes(word)[index])
}
