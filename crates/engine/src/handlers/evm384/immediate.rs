//! `evm384-v9`, its experiment `x-383` and `evm384-v12`: operands after the opcode.

use residue_isa::revision::evm384::Evm384;
use residue_isa::revision::{evm384_v9, evm384_v12, x_383};
use residue_modular::short::ShortModulus;
use revm::interpreter::InstructionResult;
use revm::interpreter::interpreter_types::{Immediates, Jumps};

use super::arithmetic::{ADD, SUB, grow, operate_if_short, reach_bytes};
use super::blocks::{charge_arithmetic, runs_in_block, settle_operands};
use crate::halt::Halt;
use crate::handlers::{FieldHost, Frame, Handled, charge_base, halt, index, pop};

/// Four byte offsets.
pub fn v9<const OPCODE: u8, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    four_offsets::<OPCODE, H>(frame, &evm384_v9::EVM384)
}

/// As [`v9`] under a modulus that is not too long.
pub fn x_383<const OPCODE: u8, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    four_offsets::<OPCODE, H>(frame, &x_383::EVM384)
}

#[inline(always)]
fn four_offsets<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>, interface: &Evm384) -> Handled {
    if runs_in_block(&mut frame) {
        return Ok(());
    }
    let Some(immediate) = immediate(&mut frame) else {
        return Err(halt(&mut frame, Halt::InvalidInstruction));
    };
    charge_arithmetic::<OPCODE, H>(&mut frame)?;
    let offsets = evm384_v9::unpack(immediate).map(|offset| offset as usize); // u32 to usize widens.
    settle_operands(&mut frame, offsets);
    grow(&mut frame, offsets, reach_bytes(OPCODE))?;
    operate_if_short::<OPCODE, H>(&mut frame, offsets, interface)
}

/// Three byte offsets of values as long as the modulus of the frame. Without one there is nothing to do.
pub fn v12<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let Some(offsets) = immediate(&mut frame).and_then(evm384_v12::unpack) else {
        return Err(halt(&mut frame, Halt::InvalidInstruction));
    };
    charge_base::<OPCODE, H>(&mut frame)?;
    let size_bytes = frame.host.chain().frame.short_modulus.size_bytes();
    if size_bytes == 0 {
        return Ok(());
    }
    let [out, x, y] = offsets.map(usize::from);
    grow(&mut frame, [out, x, y, y], size_bytes)?;
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    let modulus = &frame.host.chain().frame.short_modulus;
    match OPCODE {
        ADD => modulus.add_in_memory(memory, out, x, y),
        SUB => modulus.sub_in_memory(memory, out, x, y),
        _ => modulus.mul_in_memory(memory, out, x, y),
    }
    Ok(())
}

/// `SETMOD`: copies the modulus from memory, for the rest of the frame.
pub fn setmod<H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [offset, size] = pop(&mut frame)?;
    charge_base::<{ evm384_v12::SETMOD }, H>(&mut frame)?;
    let Some(size) = index(size).filter(|&size| size <= evm384_v12::MODULUS_BYTES_MAX) else {
        return Err(halt(&mut frame, Halt::InvalidModulus));
    };
    let mut modulus = ShortModulus::default();
    if size > 0 {
        let offset = index(offset).filter(|offset| offset.checked_add(size).is_some());
        let offset = offset.ok_or(InstructionResult::OutOfGas)?;
        frame.interpreter.resize_memory(frame.host.gas_params(), offset, size)?;
        let bytes = &frame.interpreter.memory.context_memory()[offset..][..size];
        modulus = ShortModulus::from_le_bytes(bytes).expect("its length was checked above");
    }
    frame.host.chain_mut().frame.short_modulus = modulus;
    Ok(())
}

/// The bytes after the opcode; goes on after them. None if the code ends within them.
#[inline(always)]
fn immediate<const N: usize, H>(frame: &mut Frame<'_, H>) -> Option<[u8; N]> {
    let code = &mut frame.interpreter.bytecode;
    let immediate = code.read_slice(N).try_into().expect("a slice of that length was asked for");
    code.relative_jump(N as isize); // At most 16.
    (code.pc() <= code.len()).then_some(immediate)
}
