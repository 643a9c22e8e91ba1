//! `evm384-v1`: byte offsets as words on the stack; the result overwrites the first operand.
//!
//! Source: ethereum/evmone `v0.5.0-evm384-v1`; axic/evmone 72da5ec. From the top: x, y, modulus, and for `MULMODMONT384`
//! r_inv, which is out of gas from 2⁶⁴ on. Memory grows to max(x, y, modulus) + 48.

use super::evm384::{MULMODMONT384, VALUE_BYTES, evmone, grow, offsets, opcodes, operate, r_inv_word, value, write};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v1",
    summary: "Offsets of 384-bit values on the stack, the result overwrites the first operand.",
    opcodes: &opcodes(3, 4, 0),
    prefix: None,
    prices: || vec![evmone()],
    start: || Box::new(Stateless),
};

/// A frame keeps nothing between instructions.
struct Stateless;

impl FieldState for Stateless {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        let [x, y, modulus] = frame.pop()?;
        let r_inv = match opcode.byte {
            MULMODMONT384 => frame.pop().and_then(|[r_inv]| r_inv_word(&r_inv))?,
            _ => 0,
        };
        let [x_at, y_at, m_at] = offsets([&x, &y, &modulus])?;
        grow(frame, &[x_at, y_at, m_at], VALUE_BYTES)?;

        let result = operate(opcode, &value(frame, x_at), &value(frame, y_at), &value(frame, m_at), r_inv)?;
        write(frame, x_at, &result);
        Ok(())
    }
}
