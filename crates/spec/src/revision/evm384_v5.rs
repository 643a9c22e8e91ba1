//! `evm384-v5`: as `evm384-v4` without growth of memory.
//!
//! Source: jwasinger/evmone branch `evm384-v5`, 1689324, which does not check its operands. Chosen here: a value that
//! does not lie inside memory halts with `memory_out_of_range`.

use super::evm384::{BLS12_381_P, BLS12_381_R_INV, evmone, inside, opcodes, operate, value, write};
use super::{FieldState, Revision};
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use num_bigint::BigUint;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm384-v5",
    summary: "Offsets of 384-bit values on the stack, only the base field of BLS12-381, memory does not grow.",
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
        let [out_at, x_at, y_at] = inside(frame, [&out, &x, &y])?;

        let p = BigUint::parse_bytes(BLS12_381_P.as_bytes(), 16).expect("it is a number");
        let result = operate(opcode, &value(frame, x_at), &value(frame, y_at), &p, BLS12_381_R_INV)?;
        write(frame, out_at, &result);
        Ok(())
    }
}
