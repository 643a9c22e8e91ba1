//! `evm384-v2`: byte offsets as words on the stack.
//!
//! Source: ethereum/evmone `v0.5.0-evm384-v2`. From the top: out, x, y, modulus, and for `MULMODMONT384` r_inv, which is out
//! of gas from 2⁶⁴ on. Memory grows to max(out, x, y, modulus) + 48.

use super::evm384::{MULMODMONT384, VALUE_BYTES, evmone, grow, offsets, opcodes, operate, r_inv_word, value, write};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v2",
    summary: "Offsets of 384-bit values on the stack.",
    opcodes: &opcodes(4, 5, 0),
    prefix: None,
    prices: || vec![evmone()],
    start: || Box::new(Stateless),
};

/// A frame keeps nothing between instructions.
struct Stateless;

impl FieldState for Stateless {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        let [out, x, y, modulus] = frame.pop()?;
        let r_inv = match opcode.byte {
            MULMODMONT384 => frame.pop().and_then(|[r_inv]| r_inv_word(&r_inv))?,
            _ => 0,
        };
        let [out_at, x_at, y_at, m_at] = offsets([&out, &x, &y, &modulus])?;
        grow(frame, &[out_at, x_at, y_at, m_at], VALUE_BYTES)?;

        let result = operate(opcode, &value(frame, x_at), &value(frame, y_at), &value(frame, m_at), r_inv)?;
        write(frame, out_at, &result);
        Ok(())
    }
}
