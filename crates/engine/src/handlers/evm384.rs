//! EVM384 version 7: values in memory, four 32-bit byte offsets in the word on top of the stack.
//!
//! Source: evmone branch `evm384-v7`. Operands need not be below the modulus, and nothing halts but a lack of stack or gas.

use residue_isa::revision::evm384_v7::{
    ADDMOD384, LOGF, MULMODMONT384, Operands, R_INV_BYTES, SUBMOD384, VALUE_BYTES, unpack,
};
use residue_modular::evm384;
use revm::interpreter::InstructionResult;

use super::{FieldHost, Frame, Step, charge_base, pop};

/// `ADDMOD384`: out = x + y, less m once if the sum is at least m.
pub fn addmod384<H: FieldHost>(mut frame: Frame<'_, H>) -> Step {
    let Offsets { out, x, y, modulus } = operands::<ADDMOD384, H>(&mut frame)?;
    grow(&mut frame, [out, x, y, modulus], VALUE_BYTES)?;
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    evm384::add_in_memory(memory, out, x, y, modulus);
    Ok(())
}

/// `SUBMOD384`: out = x − y, plus m once if the difference is negative.
pub fn submod384<H: FieldHost>(mut frame: Frame<'_, H>) -> Step {
    let Offsets { out, x, y, modulus } = operands::<SUBMOD384, H>(&mut frame)?;
    grow(&mut frame, [out, x, y, modulus], VALUE_BYTES)?;
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    evm384::sub_in_memory(memory, out, x, y, modulus);
    Ok(())
}

/// `MULMODMONT384`: out = x·y·R⁻¹ mod m, R = 2³⁸⁴, with r_inv behind the modulus.
pub fn mulmodmont384<H: FieldHost>(mut frame: Frame<'_, H>) -> Step {
    let Offsets { out, x, y, modulus } = operands::<MULMODMONT384, H>(&mut frame)?;
    grow(&mut frame, [out, x, y, modulus], VALUE_BYTES + R_INV_BYTES)?;
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    evm384::mul_in_memory(memory, out, x, y, modulus);
    Ok(())
}

/// `LOGF`: offset, element size and number of elements, without effect.
pub fn logf<H: FieldHost>(mut frame: Frame<'_, H>) -> Step {
    let [_offset, _element_size, _count] = pop(&mut frame)?;
    charge_base::<LOGF, H>(&mut frame)
}

/// Where the operands are in memory, 0 to 2³² − 1.
struct Offsets {
    out: usize,
    x: usize,
    y: usize,
    modulus: usize,
}

/// The operands in the word on top of the stack; its upper half is ignored. Charges the base price.
#[inline(always)]
fn operands<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>) -> Result<Offsets, InstructionResult> {
    let [word] = pop(frame)?;
    charge_base::<OPCODE, H>(frame)?;
    let [low, high, ..] = *word.as_limbs();
    let Operands { modulus, y, x, out } = unpack(u128::from(high) << 64 | u128::from(low));
    let [out, x, y, modulus] = [out, x, y, modulus].map(|offset| offset as usize); // u32 to usize widens.
    Ok(Offsets { out, x, y, modulus })
}

/// Grows memory to the highest offset and `bytes` behind it: evmone's rule, which counts 8 bytes more than needed if the
/// highest operand of a multiplication is not the modulus.
#[inline(always)]
fn grow<H: FieldHost>(frame: &mut Frame<'_, H>, [a, b, c, d]: [usize; 4], bytes: usize) -> Step {
    let highest = a.max(b).max(c.max(d));
    frame.interpreter.resize_memory(frame.host.gas_params(), highest, bytes)
}
