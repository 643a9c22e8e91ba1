//! `evm384-v6`: 256 slots of 48 bytes at the bottom of memory, three slot numbers in one word of the stack.
//!
//! Source: evmone branch `evm384-v6`, dad5443. Bits 0..8 of the word are y, 8..16 x, 16..24 out; the others are ignored. The
//! modulus is at byte 12288, after the slots, and r_inv after it. Memory grows to 12336, for `MULMODMONT384` to 12344.

use super::evm384::{
    MULMODMONT384, R_INV_BYTES, VALUE_BYTES, bits, evmone, grow, opcodes, operate, r_inv, value, write,
};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v6",
    summary: "384-bit values in 256 slots at the bottom of memory, packed in one stack word of slot numbers.",
    opcodes: &opcodes(1, 1, 0),
    prefix: None,
    prices: || vec![evmone()],
    start: || Box::new(Stateless),
};

/// A frame keeps nothing between instructions.
struct Stateless;

/// Offset of the modulus in memory.
const MODULUS_AT: usize = 12288;

impl FieldState for Stateless {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        let [word] = frame.pop()?;
        let [y_at, x_at, out_at] = [0, 8, 16].map(|lowest_bit| 48 * bits(&word, lowest_bit, 8));
        let is_product = opcode.byte == MULMODMONT384;
        grow(frame, &[MODULUS_AT], if is_product { VALUE_BYTES + R_INV_BYTES } else { VALUE_BYTES })?;

        let r_inv = if is_product { r_inv(frame, MODULUS_AT + VALUE_BYTES) } else { 0 };
        let result = operate(opcode, &value(frame, x_at), &value(frame, y_at), &value(frame, MODULUS_AT), r_inv)?;
        write(frame, out_at, &result);
        Ok(())
    }
}
