//! `FP2MULX`: products in Fp2 = Fp[u] with u² = −1, an element in two slots, in lanes.

use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::revision::eip6690_2024::Context;
use num_bigint::BigUint;

/// out = x·y in each lane: out₀ = x₀·y₀ − x₁·y₁, out₁ = x₀·y₁ + x₁·y₀. All lanes are read before any is written.
pub fn multiply(
    opcode: &FieldOpcode,
    immediate: &[u8],
    frame: &mut Frame<'_>,
    prices: &Prices,
    context: &mut Context,
) -> Result<(), Halt> {
    let operands: Vec<usize> = immediate.iter().map(|&byte| usize::from(byte)).collect();
    let [out0, out1, out_stride, x0, x1, x_stride, y0, y1, y_stride, count] = operands[..] else {
        return Err(Halt::InvalidInstruction);
    };
    if out_stride == 0 || count == 0 {
        return Err(Halt::InvalidStride);
    }
    let visited =
        [(out0, out_stride), (out1, out_stride), (x0, x_stride), (x1, x_stride), (y0, y_stride), (y1, y_stride)];
    if visited.iter().any(|(slot, stride)| slot + stride * (count - 1) >= context.slots.len()) {
        return Err(Halt::SlotOutOfRange);
    }
    let price = prices.added("fp2", context.width_limbs(), opcode)?;
    frame.charge(prices.times(price, count as u64))?; // style: S11: below 256
    let m = &context.modulus;
    let mut results: Vec<(usize, BigUint)> = Vec::new();
    for lane in 0..count {
        let value = |slot: usize, stride: usize| &context.slots[slot + stride * lane];
        let [a0, a1] = [value(x0, x_stride), value(x1, x_stride)];
        let [b0, b1] = [value(y0, y_stride), value(y1, y_stride)];
        results.push((out0 + out_stride * lane, (a0 * b0 + m * m - a1 * b1) % m));
        results.push((out1 + out_stride * lane, (a0 * b1 + a1 * b0) % m));
    }
    for (slot, value) in results {
        context.slots[slot] = value;
    }
    Ok(())
}
