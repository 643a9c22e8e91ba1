//! `evm384-v1` to `evm384-v5`: byte offsets as words on the stack.
//!
//! From the top: out (in version 1 that is x), x, y; in versions 1 to 3 the modulus, and for `MULMODMONT384` r_inv, which is out of gas from 2⁶⁴
//! on. Versions 4 and 5 have the base field of BLS12-381 only. Memory grows to the highest offset + 48 in versions 1, 2 and 4; in the others a value that
//! does not lie inside memory halts with `memory_out_of_range`, chosen here: their sources do not check operands.

use super::evm384::{
    BLS12_381_P, BLS12_381_R_INV, MULMODMONT384, VALUE_BYTES, evmone, grow, inside, offsets, opcodes, operate,
    r_inv_word, value, write,
};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use num_bigint::BigUint;

/// Source: ethereum/evmone `v0.5.0-evm384-v1`; axic/evmone 72da5ec.
pub const V1: Revision = Revision {
    name: "evm384-v1",
    summary: "Offsets of 384-bit values on the stack, the result overwrites the first operand.",
    opcodes: &opcodes(3, 4, 0),
    prefix: None,
    prices: || vec![evmone()],
    start: || Box::new(Words { has_out: false, has_modulus: true, grows: true }),
};

/// Source: ethereum/evmone `v0.5.0-evm384-v2`.
pub const V2: Revision = Revision {
    name: "evm384-v2",
    summary: "Offsets of 384-bit values on the stack.",
    opcodes: &opcodes(4, 5, 0),
    start: || Box::new(Words { has_out: true, has_modulus: true, grows: true }),
    ..V1
};

/// Source: evmone branch `v0.5.0-evm384-v2-unsafe`, c30e1933.
pub const V3: Revision = Revision {
    name: "evm384-v3",
    summary: "Offsets of 384-bit values on the stack, memory does not grow.",
    start: || Box::new(Words { has_out: true, has_modulus: true, grows: false }),
    ..V2
};

/// Source: jwasinger/evmone branch `evm384-v4`, 65535fa.
pub const V4: Revision = Revision {
    name: "evm384-v4",
    summary: "Offsets of 384-bit values on the stack, only the base field of BLS12-381.",
    opcodes: &opcodes(3, 3, 0),
    start: || Box::new(Words { has_out: true, has_modulus: false, grows: true }),
    ..V1
};

/// Source: jwasinger/evmone branch `evm384-v5`, 1689324.
pub const V5: Revision = Revision {
    name: "evm384-v5",
    summary: "Offsets of 384-bit values on the stack, only the base field of BLS12-381, memory does not grow.",
    start: || Box::new(Words { has_out: true, has_modulus: false, grows: false }),
    ..V4
};

/// The differences of the versions; a frame keeps nothing between instructions.
struct Words {
    has_out: bool,
    has_modulus: bool,
    grows: bool,
}

impl FieldState for Words {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        let [first, second] = frame.pop()?;
        let [out, x, y] = match self.has_out {
            true => frame.pop().map(|[y]| [first, second, y])?,
            false => [first.clone(), first, second],
        };
        let modulus = if self.has_modulus { frame.pop().map(|[modulus]| Some(modulus))? } else { None };
        let r_inv = match opcode.byte {
            MULMODMONT384 if self.has_modulus => frame.pop().and_then(|[r_inv]| r_inv_word(&r_inv))?,
            _ => BLS12_381_R_INV,
        };
        // Without an operand for it the modulus takes no memory of its own.
        let words = [&out, &x, &y, modulus.as_ref().unwrap_or(&x)];
        let [out_at, x_at, y_at, m_at] = if self.grows { offsets(words)? } else { inside(frame, words)? };
        if self.grows {
            grow(frame, &[out_at, x_at, y_at, m_at], VALUE_BYTES)?;
        }

        let m = match modulus {
            Some(_) => value(frame, m_at),
            None => BigUint::parse_bytes(BLS12_381_P.as_bytes(), 16).expect("it is a number"),
        };
        let result = operate(opcode, &value(frame, x_at), &value(frame, y_at), &m, r_inv)?;
        write(frame, out_at, &result);
        Ok(())
    }
}
