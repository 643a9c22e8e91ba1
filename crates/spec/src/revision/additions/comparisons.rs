//! `EQX` and `LTX`: comparison of two slots as integers below the modulus, on the stack.

use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::revision::eip6690_2024::Context;
use crate::word::Word;
use num_bigint::BigUint;

/// 1 on the stack if the values of both slots are equal, else 0.
pub fn equal(immediate: &[u8], frame: &mut Frame<'_>, context: &Context) -> Result<(), Halt> {
    let [x, y] = values(immediate, context)?;
    frame.push(Word::from(u8::from(x == y)))
}

/// 1 on the stack if the value of the first slot is less than that of the second, else 0. Under an odd modulus both
/// cost as much as loading them.
pub fn less(
    opcode: &FieldOpcode,
    immediate: &[u8],
    frame: &mut Frame<'_>,
    prices: &Prices,
    context: &Context,
) -> Result<(), Halt> {
    let [x, y] = values(immediate, context)?;
    if context.modulus.bit(0) {
        frame.charge(prices.times(prices.load.at(context.width_limbs(), opcode)?, 2))?;
    }
    frame.push(Word::from(u8::from(x < y)))
}

fn values<'a>(immediate: &[u8], context: &'a Context) -> Result<[&'a BigUint; 2], Halt> {
    let [x, y] = *immediate else { return Err(Halt::InvalidInstruction) };
    let value = |slot: u8| context.slots.get(usize::from(slot)).ok_or(Halt::SlotOutOfRange);
    Ok([value(x)?, value(y)?])
}
