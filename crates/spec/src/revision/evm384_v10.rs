//! `evm384-v10`: as `evm384-v7` with slots of 48 bytes in place of byte offsets, without growth of memory.
//!
//! Source: go-ethereum branch `evm384-v10`, f837e833e. Bits 0..16 of the word are the slot of the modulus, 16..32 y,
//! 32..48 x, 48..64 out; the others are ignored. r_inv is in the first 8 bytes of the slot after the modulus. The
//! highest slot must end before the last byte of memory: otherwise the origin aborts, and this halts with
//! `memory_out_of_range`. The arithmetic is that of `evm384-v7`, which the interface intends; the code checked in there
//! computes over another field.

use super::evm384::{VALUE_BYTES, bits, opcodes, operate, prices, r_inv, value, write};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v10",
    summary: "384-bit values in memory, packed in one stack word of 16-bit slot numbers.",
    opcodes: &opcodes(1, 1, 0),
    prefix: None,
    prices: || vec![geth()],
    start: || Box::new(Stateless),
};

/// A frame keeps nothing between instructions.
struct Stateless;

/// go-ethereum's prices, branch `evm384-v10`.
pub fn geth() -> Prices {
    prices("geth", 2, 2, 7)
}

impl FieldState for Stateless {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        let [word] = frame.pop()?;
        let [m_at, y_at, x_at, out_at] = [0, 16, 32, 48].map(|lowest_bit| 48 * bits(&word, lowest_bit, 16));
        let highest = m_at.max(y_at).max(x_at).max(out_at);
        if highest + VALUE_BYTES >= frame.memory.size_bytes() {
            return Err(Halt::MemoryOutOfRange);
        }

        // Memory ends at a multiple of 32 and the modulus at one of 16 below it, so r_inv lies inside.
        let r_inv = r_inv(frame, m_at + VALUE_BYTES);
        let result = operate(opcode, &value(frame, x_at), &value(frame, y_at), &value(frame, m_at), r_inv)?;
        write(frame, out_at, &result);
        Ok(())
    }
}
