//! `evm384-v3`: as `evm384-v2` without growth of memory.
//!
//! Source: evmone branch `v0.5.0-evm384-v2-unsafe`, c30e1933, which does not check its operands. Chosen here: a value
//! that does not lie inside memory halts with `memory_out_of_range`.

use super::evm384::{MULMODMONT384, evmone, inside, opcodes, operate, r_inv_word, value, write};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v3",
    summary: "Offsets of 384-bit values on the stack, memory does not grow.",
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
        let [out_at, x_at, y_at, m_at] = inside(frame, [&out, &x, &y, &modulus])?;

        let result = operate(opcode, &value(frame, x_at), &value(frame, y_at), &value(frame, m_at), r_inv)?;
        write(frame, out_at, &result);
        Ok(())
    }
}
