//! `evm384-v8`: as `evm384-v7` with values and r_inv in big-endian.
//!
//! Source: evmone branch `evm384-v8`, 6c29724. The 48 bytes of every value, the modulus too, and the 8 bytes of r_inv are most
//! significant first. Memory grows as in `evm384-v7`.

use super::evm384::{MULMODMONT384, R_INV_BYTES, VALUE_BYTES, bits, evmone, grow, opcodes, operate};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v8",
    summary: "384-bit values in memory, big-endian, operands packed in one stack word of 32-bit byte offsets.",
    opcodes: &opcodes(1, 1, 0),
    prefix: None,
    prices: || vec![evmone()],
    start: || Box::new(Stateless),
};

/// A frame keeps nothing between instructions.
struct Stateless;

impl FieldState for Stateless {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        let [word] = frame.pop()?;
        let [m_at, y_at, x_at, out_at] = [0, 32, 64, 96].map(|lowest_bit| bits(&word, lowest_bit, 32));
        let is_product = opcode.byte == MULMODMONT384;
        let reach_bytes = if is_product { VALUE_BYTES + R_INV_BYTES } else { VALUE_BYTES };
        grow(frame, &[m_at, y_at, x_at, out_at], reach_bytes)?;

        let big_endian = |at: usize, bytes: usize| BigUint::from_bytes_be(frame.memory.read(at..at + bytes));
        let [m, x, y] = [m_at, x_at, y_at].map(|at| big_endian(at, VALUE_BYTES));
        let r_inv = if is_product { big_endian(m_at + VALUE_BYTES, R_INV_BYTES) } else { BigUint::ZERO };
        let r_inv = r_inv.to_u64().expect("eight bytes are below 2⁶⁴");
        let result = operate(opcode, &x, &y, &m, r_inv)?;

        let mut bytes = result.to_bytes_le();
        bytes.resize(VALUE_BYTES, 0);
        bytes.reverse();
        frame.memory.write(out_at, &bytes);
        Ok(())
    }
}
