//! `evm384-v6`, `-v7`, `-v8` and `-v10`: all operands in one word on the stack.

use residue_isa::revision::evm384::{R_INV_BYTES, VALUE_BYTES};
use residue_isa::revision::evm384_v7::Operands;
use residue_isa::revision::{evm384_v6, evm384_v7, evm384_v10};
use residue_modular::evm384;
use revm::interpreter::InstructionResult;
use revm::primitives::U256;

use super::arithmetic::{MUL, bytes_at, bytes_at_mut, compute, grow, operate, outside, reach_bytes};
use super::blocks::{charge_arithmetic, runs_in_block, settle_operands};
use crate::handlers::{FieldHost, Frame, Handled, pop};

/// Slots of 48 bytes at the bottom of memory, the modulus after all 256.
pub fn v6<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    if runs_in_block(&mut frame) {
        return Ok(());
    }
    let word = word::<OPCODE, H>(&mut frame)?;
    let [low, ..] = *word.as_limbs();
    let [out, x, y] = evm384_v6::unpack(low).map(|slot| usize::from(slot) * VALUE_BYTES);
    let offsets = [out, x, y, evm384_v6::MODULUS_AT];
    settle_operands(&mut frame, offsets);
    grow(&mut frame, offsets, reach_bytes(OPCODE))?;
    operate::<OPCODE, H>(&mut frame, offsets);
    Ok(())
}

/// Four byte offsets.
pub fn v7<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    if runs_in_block(&mut frame) {
        return Ok(());
    }
    let offsets = offsets::<OPCODE, H>(&mut frame)?;
    settle_operands(&mut frame, offsets);
    grow(&mut frame, offsets, reach_bytes(OPCODE))?;
    operate::<OPCODE, H>(&mut frame, offsets);
    Ok(())
}

/// Four byte offsets of big-endian values.
pub fn v8<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    if runs_in_block(&mut frame) {
        return Ok(());
    }
    let offsets = offsets::<OPCODE, H>(&mut frame)?;
    settle_operands(&mut frame, offsets);
    grow(&mut frame, offsets, reach_bytes(OPCODE))?;
    let [out, x, y, modulus] = offsets;
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    let [x, y, m] = [x, y, modulus].map(|at| evm384::read_be(bytes_at(memory, at)));
    let r_inv = match OPCODE {
        MUL => {
            let bytes = &memory[modulus + VALUE_BYTES..][..R_INV_BYTES];
            u64::from_be_bytes(bytes.try_into().expect("the slice was cut to 8 bytes"))
        }
        _ => 0,
    };
    evm384::write_be(&compute::<OPCODE>(&x, &y, &m, r_inv), bytes_at_mut(memory, out));
    Ok(())
}

/// Four numbers of slots of 48 bytes; all slots must end before the last byte of memory.
pub fn v10<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    if runs_in_block(&mut frame) {
        return Ok(());
    }
    let word = word::<OPCODE, H>(&mut frame)?;
    let [low, ..] = *word.as_limbs();
    let offsets = evm384_v10::unpack(low).map(|slot| usize::from(slot) * VALUE_BYTES);
    let [a, b, c, d] = offsets;
    if a.max(b).max(c.max(d)) + VALUE_BYTES >= frame.interpreter.memory.len() {
        return Err(outside(&mut frame));
    }
    settle_operands(&mut frame, offsets);
    // Memory ends at a multiple of 32 and the modulus at one of 16 below it, so r_inv lies inside too.
    operate::<OPCODE, H>(&mut frame, offsets);
    Ok(())
}

/// The word on top of the stack. Charges the base price.
#[inline(always)]
fn word<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>) -> Result<U256, InstructionResult> {
    let [word] = pop(frame)?;
    charge_arithmetic::<OPCODE, H>(frame)?;
    Ok(word)
}

/// The offsets out, x, y and modulus in the word on top of the stack, each below 2³²; its upper half is ignored.
#[inline(always)]
fn offsets<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>) -> Result<[usize; 4], InstructionResult> {
    let word = word::<OPCODE, H>(frame)?;
    let [low, high, ..] = *word.as_limbs();
    let Operands { modulus, y, x, out } = evm384_v7::unpack(u128::from(high) << 64 | u128::from(low));
    Ok([out, x, y, modulus].map(|offset| offset as usize)) // u32 to usize widens.
}
