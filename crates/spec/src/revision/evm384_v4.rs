//! `evm384-v4`: as `evm384-v2` over the base field of BLS12-381 only, without operands for modulus and r_inv.
//!
//! Source: jwasinger/evmone branch `evm384-v4`, 65535fa. From the top: out, x, y. Memory grows to max(out, x, y) + 48.

use super::evm384::{BLS12_381_P, BLS12_381_R_INV, VALUE_BYTES, evmone, grow, offsets, opcodes, operate, value, write};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use num_bigint::BigUint;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v4",
    summary: "Offsets of 384-bit values on the stack, only the base field of BLS12-381.",
    opcodes: &opcodes(3, 3, 0),
    prefix: None,
    prices: || vec![evmone()],
    start: || Box::new(Stateless),
};

/// A frame keeps nothing between instructions.
struct Stateless;

impl FieldState for Stateless {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        let [out, x, y] = frame.pop()?;
        let [out_at, x_at, y_at] = offsets([&out, &x, &y])?;
        grow(frame, &[out_at, x_at, y_at], VALUE_BYTES)?;

        let p = BigUint::parse_bytes(BLS12_381_P.as_bytes(), 16).expect("it is a number");
        let result = operate(opcode, &value(frame, x_at), &value(frame, y_at), &p, BLS12_381_R_INV)?;
        write(frame, out_at, &result);
        Ok(())
    }
}
