//! `evm384-v9`: as `evm384-v7` with the offsets after the opcode.
//!
//! Source: evmone branch `evm384-v9`, a19ae3a. The 16 immediate bytes are out, x, y and modulus, four bytes each,
//! little-endian. Memory grows as in `evm384-v7`.

use super::evm384::{
    MULMODMONT384, R_INV_BYTES, VALUE_BYTES, eip, evmone, grow, opcodes, operate, r_inv, update_5, value, write,
};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use num_bigint::BigUint;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v9",
    summary: "384-bit values in memory, four 32-bit byte offsets after the opcode.",
    opcodes: &opcodes(0, 0, 16),
    prefix: None,
    prices: || [vec![evmone(), eip()], update_5()].concat(),
    start: || Box::new(Stateless),
};

/// A frame keeps nothing between instructions.
struct Stateless;

impl FieldState for Stateless {
    fn execute(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        _: &Prices,
    ) -> Result<(), Halt> {
        calculate(opcode, immediate, frame, |_| Ok(()))
    }
}

/// Executes an instruction with the immediate out, x, y, modulus. Fails with the halt of `allows` if that rejects the
/// modulus.
pub fn calculate(
    opcode: &FieldOpcode,
    immediate: &[u8],
    frame: &mut Frame<'_>,
    allows: impl Fn(&BigUint) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let offset = |i: usize| {
        let bytes = immediate[4 * i..4 * i + 4].try_into().expect("four bytes");
        usize::try_from(u32::from_le_bytes(bytes)).expect("32 bits fit every supported machine")
    };
    let [out_at, x_at, y_at, m_at] = [0, 1, 2, 3].map(offset);
    let is_product = opcode.byte == MULMODMONT384;
    let reach_bytes = if is_product { VALUE_BYTES + R_INV_BYTES } else { VALUE_BYTES };
    grow(frame, &[out_at, x_at, y_at, m_at], reach_bytes)?;

    let m = value(frame, m_at);
    allows(&m)?;
    let r_inv = if is_product { r_inv(frame, m_at + VALUE_BYTES) } else { 0 };
    let result = operate(opcode, &value(frame, x_at), &value(frame, y_at), &m, r_inv)?;
    write(frame, out_at, &result);
    Ok(())
}
