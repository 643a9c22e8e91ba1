//! `MOVX` and `SELECTX`: copies of slots, in lanes, and choices between them.

use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::revision::eip6690_2024::Context;
use num_bigint::BigUint;
use num_traits::Zero;

/// out = x in each lane. All lanes are read before any is written.
pub fn copy(
    opcode: &FieldOpcode,
    immediate: &[u8],
    frame: &mut Frame<'_>,
    prices: &Prices,
    context: &mut Context,
) -> Result<(), Halt> {
    let operands: Vec<usize> = immediate.iter().map(|&byte| usize::from(byte)).collect();
    let [out, out_stride, x, x_stride, count] = operands[..] else {
        return Err(Halt::InvalidInstruction);
    };
    transfer(opcode, (frame, prices), context, &[(out, out_stride), (x, x_stride)], count)
}

/// out = x in each lane where the word that is popped is not zero, else y. All lanes are read before any is written.
pub fn select(
    opcode: &FieldOpcode,
    immediate: &[u8],
    frame: &mut Frame<'_>,
    prices: &Prices,
    context: &mut Context,
) -> Result<(), Halt> {
    let operands: Vec<usize> = immediate.iter().map(|&byte| usize::from(byte)).collect();
    let [out, out_stride, x, x_stride, y, y_stride, count] = operands[..] else {
        return Err(Halt::InvalidInstruction);
    };
    let [word] = frame.pop()?;
    let (x, y) = ((x, x_stride), (y, y_stride));
    let [chosen, other] = if word.is_zero() { [y, x] } else { [x, y] };
    transfer(opcode, (frame, prices), context, &[(out, out_stride), chosen, other], count)
}

/// Copies the second of these places, first slot and stride, to the first; all of them have to be there.
fn transfer(
    opcode: &FieldOpcode,
    (frame, prices): (&mut Frame<'_>, &Prices),
    context: &mut Context,
    places: &[(usize, usize)],
    count: usize,
) -> Result<(), Halt> {
    let [(out, out_stride), (x, x_stride), ..] = *places else { return Err(Halt::InvalidInstruction) };
    if out_stride == 0 || count == 0 {
        return Err(Halt::InvalidStride);
    }
    if places.iter().any(|&(first, stride)| first + stride * (count - 1) >= context.slots.len()) {
        return Err(Halt::SlotOutOfRange);
    }
    let price = prices.added("copy", context.width_limbs(), opcode)?;
    frame.charge(prices.times(price, count as u64))?; // style: S11: below 256
    let values: Vec<BigUint> = (0..count).map(|lane| context.slots[x + x_stride * lane].clone()).collect();
    for (lane, value) in values.into_iter().enumerate() {
        context.slots[out + out_stride * lane] = value;
    }
    Ok(())
}
