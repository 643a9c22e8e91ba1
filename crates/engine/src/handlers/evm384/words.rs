//! `evm384-v1` to `evm384-v5`: every operand is a word on the stack.

use residue_isa::revision::evm384::VALUE_BYTES;
use revm::interpreter::InstructionResult;
use revm::primitives::U256;

use super::arithmetic::{MUL, grow, operate_fixed, operate_with, outside};
use crate::handlers::{FieldHost, Frame, Handled, charge_base, index, pop};

/// From the top: x, which the result overwrites, y, modulus, and for a multiplication r_inv.
pub fn v1<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let (words, r_inv) = words_and_r_inv::<OPCODE, 3, H>(&mut frame)?;
    let [x, y, modulus] = offsets(words)?;
    grow(&mut frame, [x, x, y, modulus], VALUE_BYTES)?;
    operate_with::<OPCODE, H>(&mut frame, [x, x, y, modulus], r_inv);
    Ok(())
}

/// From the top: out, x, y, modulus, and for a multiplication r_inv.
pub fn v2<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let (words, r_inv) = words_and_r_inv::<OPCODE, 4, H>(&mut frame)?;
    let offsets = offsets(words)?;
    grow(&mut frame, offsets, VALUE_BYTES)?;
    operate_with::<OPCODE, H>(&mut frame, offsets, r_inv);
    Ok(())
}

/// As [`v2`] in the memory that there is.
pub fn v3<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let (words, r_inv) = words_and_r_inv::<OPCODE, 4, H>(&mut frame)?;
    let offsets = inside(&mut frame, words)?;
    operate_with::<OPCODE, H>(&mut frame, offsets, r_inv);
    Ok(())
}

/// From the top: out, x, y.
pub fn v4<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let words = pop::<3, H>(&mut frame)?;
    charge_base::<OPCODE, H>(&mut frame)?;
    let [out, x, y] = offsets(words)?;
    grow(&mut frame, [out, x, y, y], VALUE_BYTES)?;
    operate_fixed::<OPCODE, H>(&mut frame, [out, x, y]);
    Ok(())
}

/// As [`v4`] in the memory that there is.
pub fn v5<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let words = pop::<3, H>(&mut frame)?;
    charge_base::<OPCODE, H>(&mut frame)?;
    let offsets = inside(&mut frame, words)?;
    operate_fixed::<OPCODE, H>(&mut frame, offsets);
    Ok(())
}

/// `N` words, and r_inv below them for a multiplication, which is out of gas from 2⁶⁴ on. Charges the base price.
#[inline(always)]
fn words_and_r_inv<const OPCODE: u8, const N: usize, H: FieldHost>(
    frame: &mut Frame<'_, H>,
) -> Result<([U256; N], u64), InstructionResult> {
    let words = pop(frame)?;
    let [r_inv] = if OPCODE == MUL { pop(frame)? } else { [U256::ZERO] };
    charge_base::<OPCODE, H>(frame)?;
    let r_inv = u64::try_from(r_inv).map_err(|_| InstructionResult::OutOfGas)?;
    Ok((words, r_inv))
}

/// Words as byte offsets: out of gas above 2³² − 1, as evmone has it.
#[inline(always)]
fn offsets<const N: usize>(words: [U256; N]) -> Result<[usize; N], InstructionResult> {
    let mut offsets = [0; N];
    for (offset, word) in offsets.iter_mut().zip(words) {
        let word = u32::try_from(word).map_err(|_| InstructionResult::OutOfGas)?;
        *offset = word as usize; // u32 to usize widens.
    }
    Ok(offsets)
}

/// Words as byte offsets of values that lie inside memory.
#[inline(always)]
fn inside<const N: usize, H: FieldHost>(
    frame: &mut Frame<'_, H>,
    words: [U256; N],
) -> Result<[usize; N], InstructionResult> {
    let memory_bytes = frame.interpreter.memory.len();
    let mut offsets = [0; N];
    for (offset, word) in offsets.iter_mut().zip(words) {
        let lies_inside = |at: &usize| at.checked_add(VALUE_BYTES).is_some_and(|end| end <= memory_bytes);
        let Some(at) = index(word).filter(lies_inside) else {
            return Err(outside(frame));
        };
        *offset = at;
    }
    Ok(offsets)
}
