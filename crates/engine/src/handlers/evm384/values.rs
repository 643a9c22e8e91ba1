//! `evm384-v0`: the values on the stack, two words each.

use residue_modular::evm384::Value;
use revm::primitives::U256;

use super::arithmetic::compute;
use crate::handlers::{FieldHost, Frame, Handled, charge_base, pop};

/// From the top: x, y and modulus, each a pair whose first word is above the second; r_inv is after the modulus. The result
/// is such a pair too.
pub fn v0<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [x0, x1, y0, y1, m0, m1] = pop(&mut frame)?;
    charge_base::<OPCODE, H>(&mut frame)?;
    let r_inv = m1.as_limbs()[1].swap_bytes();
    let result = compute::<OPCODE>(&value(x0, x1), &value(y0, y1), &value(m0, m1), r_inv);
    let [r0, r1, r2, r3, r4, r5] = result.map(u64::swap_bytes);
    // Six words have just left the stack.
    let pushed = frame.interpreter.stack.push(U256::from_limbs([0, 0, r5, r4]))
        && frame.interpreter.stack.push(U256::from_limbs([r3, r2, r1, r0]));
    assert!(pushed, "there is room for two words");
    Ok(())
}

/// The value in the first 48 of the 64 bytes of two words. Words are big-endian and the value is little-endian, so limbs
/// follow each other from the word's highest one on.
#[inline(always)]
fn value(first: U256, second: U256) -> Value {
    let [d, c, b, a] = *first.as_limbs();
    let [.., f, e] = *second.as_limbs();
    [a, b, c, d, e, f].map(u64::swap_bytes)
}
