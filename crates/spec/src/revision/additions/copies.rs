//! `MOVX`: copies of slots, in lanes.

use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::revision::eip6690_2024::Context;
use num_bigint::BigUint;

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
    if out_stride == 0 || count == 0 {
        return Err(Halt::InvalidStride);
    }
    if (out + out_stride * (count - 1)).max(x + x_stride * (count - 1)) >= context.slots.len() {
        return Err(Halt::SlotOutOfRange);
    }
    let price = prices.copy.at(context.width_limbs(), opcode)?;
    frame.charge(prices.times(price, count as u64))?; // style: S11: below 256
    let values: Vec<BigUint> = (0..count).map(|lane| context.slots[x + x_stride * lane].clone()).collect();
    for (lane, value) in values.into_iter().enumerate() {
        context.slots[out + out_stride * lane] = value;
    }
    Ok(())
}
