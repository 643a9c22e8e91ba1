//! `evm384-v0`: the values themselves on the stack, two words each.
//!
//! Source: the first EVM384 note, of which only the opening is public: each instruction takes six words, x, y and the
//! modulus as two words each; the first 48 of these 64 bytes are the value, little-endian; the 8 bytes after the
//! modulus are r_inv. It pushes two. Chosen here: the first word of a pair is above the second, and the 16 bytes after
//! a result are 0.

use super::evm384::{evmone, opcodes, operate};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::word::{Word, to_be_bytes};
use num_bigint::BigUint;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v0",
    summary: "384-bit values on the stack, two words each.",
    opcodes: &opcodes(6, 6, 0),
    prefix: None,
    prices: || vec![evmone()],
    start: || Box::new(Stateless),
};

/// A frame keeps nothing between instructions.
struct Stateless;

impl FieldState for Stateless {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        let [x0, x1, y0, y1, m0, m1] = frame.pop()?;
        let x = BigUint::from_bytes_le(&pair(&x0, &x1)[..48]);
        let y = BigUint::from_bytes_le(&pair(&y0, &y1)[..48]);
        let modulus = pair(&m0, &m1);
        let m = BigUint::from_bytes_le(&modulus[..48]);
        let r_inv = u64::from_le_bytes(modulus[48..56].try_into().expect("eight bytes"));
        let result = operate(opcode, &x, &y, &m, r_inv)?;

        let mut bytes = result.to_bytes_le();
        bytes.resize(64, 0);
        frame.push(Word::from_bytes_be(&bytes[32..]))?;
        frame.push(Word::from_bytes_be(&bytes[..32]))
    }
}

/// The 64 bytes of two words.
fn pair(first: &Word, second: &Word) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(&to_be_bytes(first));
    bytes[32..].copy_from_slice(&to_be_bytes(second));
    bytes
}
