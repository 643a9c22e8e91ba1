//! `LOADPX` and `STOREPX`: `LOADX` and `STOREX` of values that take as many bytes of memory as the immediate says.

use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::revision::eip6690_2024::{Contexts, transfer_gas};
use num_bigint::BigUint;
use num_traits::Zero;

/// Loads or stores values that are big-endian numbers of the immediate's number of bytes.
pub fn transfer(
    opcode: &FieldOpcode,
    immediate: &[u8],
    frame: &mut Frame<'_>,
    prices: &Prices,
    contexts: &mut Contexts,
) -> Result<(), Halt> {
    let [value_bytes] = *immediate else { return Err(Halt::InvalidInstruction) };
    let value_bytes = usize::from(value_bytes);
    let [to, from, count] = frame.pop()?;
    let context = contexts.active()?;
    if count.is_zero() {
        return Ok(());
    }
    if value_bytes < 8 * context.width_limbs() {
        return Err(Halt::InvalidStride);
    }
    let is_load = opcode.mnemonic == "LOADPX";
    let (offset, first) = if is_load { (to, from) } else { (from, to) };
    let slots = context.slot_range(&first, &count)?;
    let memory = frame.memory.inside(&offset, &(&count * value_bytes)).ok_or(Halt::MemoryOutOfRange)?;
    let price = if is_load { &prices.load } else { &prices.store };
    let gas = transfer_gas(context, opcode, prices, price, (slots.len(), value_bytes))?;
    if is_load {
        frame.charge(gas)?;
        for (slot, at) in slots.zip(memory.step_by(value_bytes)) {
            let digits = context.slots[slot].to_bytes_be();
            frame.memory.write(at, &[vec![0; value_bytes - digits.len()], digits].concat());
        }
        return Ok(());
    }
    let values: Vec<BigUint> = frame.memory.read(memory).chunks(value_bytes).map(BigUint::from_bytes_be).collect();
    if values.iter().any(|value| *value >= context.modulus) {
        return Err(Halt::ValueOutOfRange);
    }
    frame.charge(gas)?;
    for (slot, value) in slots.zip(values) {
        context.slots[slot] = value;
    }
    Ok(())
}
