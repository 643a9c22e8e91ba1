//! EIP-5843: values in EVM memory at numbered slots, big-endian, in Montgomery form that programs see.
//!
//! Source: ethereum/EIPs pull request 5843 at commit efad4b117 and go-ethereum's reading of it at commit f700b0ad0. The modulus
//! is that of a field context with scratch slots only; operands come from memory and the result goes back there.

use core::ops::Range;

use residue_isa::FieldOp;
use residue_isa::revision::eip5843::{ADDMODX, MULMONTX, SETMODX, SUBMODX, TOMONTX, WIDTH_LIMBS_MAX};
use residue_modular::limbs::{LIMB_BYTES, less_than, read_be, write_be};
use residue_modular::{FieldContext, Modulus, Strided};
use revm::interpreter::Instruction;
use revm::interpreter::interpreter::EthInterpreter;

use super::slots::{check_complete, halt_of_arithmetic, immediate, memory_range};
use super::{FieldHost, Frame, Handled, charge, charge_base, halt, index, pop};
use crate::halt::Halt;

/// The scratch slot for results.
const OUT: usize = 0;
/// The scratch slot for first operands.
const X: usize = 1;
/// The scratch slot for second operands.
const Y: usize = 2;

/// The handler of an opcode of EIP-5843, as its text or as go-ethereum has it.
pub fn handler<const GETH: bool, H: FieldHost>(opcode: u8) -> Option<Instruction<EthInterpreter, H>> {
    Some(match opcode {
        SETMODX => Instruction::new(setmodx::<GETH, H>),
        ADDMODX => Instruction::new(addmodx::<GETH, H>),
        SUBMODX => Instruction::new(submodx::<GETH, H>),
        MULMONTX => Instruction::new(mulmontx::<GETH, H>),
        TOMONTX => Instruction::new(tomontx::<GETH, H>),
        _ => return None,
    })
}

/// `SETMODX`: sets the modulus of the frame, and where slots begin.
fn setmodx<const GETH: bool, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [offset, width_limbs, start] = pop(&mut frame)?;
    charge_base::<SETMODX, H>(&mut frame)?;
    let Some(width_limbs) = index(width_limbs).filter(|width| (1..=WIDTH_LIMBS_MAX).contains(width)) else {
        return Err(halt(&mut frame, Halt::InvalidModulus));
    };
    let bytes = width_limbs * LIMB_BYTES;
    let range = memory_range(&mut frame, offset, bytes, false)?;
    if GETH {
        // go-ethereum asks that the modulus would also lie inside memory after mem_start.
        memory_range(&mut frame, offset.saturating_add(start), bytes, false)?;
    }
    let Some(modulus) = full_odd(&frame.interpreter.memory.context_memory()[range], width_limbs) else {
        return Err(halt(&mut frame, Halt::InvalidModulus));
    };
    let prices = frame.host.chain().prices.per_width[width_limbs];
    charge(&mut frame.interpreter.gas, prices.times(prices.set_modulus, 1))?;
    let state = &mut frame.host.chain_mut().frame;
    state.replace(FieldContext::new(modulus, 3), 0, prices);
    // Beyond 2⁶⁴ no slot lies inside memory, as at the highest address.
    state.memory_start = if GETH { 0 } else { index(start).unwrap_or(usize::MAX) };
    Ok(())
}

/// `ADDMODX`: out = x + y mod m.
fn addmodx<const GETH: bool, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    arithmetic::<GETH, ADDMODX, H>(frame, FieldOp::Add, FieldContext::add)
}

/// `SUBMODX`: out = x − y mod m.
fn submodx<const GETH: bool, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    arithmetic::<GETH, SUBMODX, H>(frame, FieldOp::Sub, FieldContext::sub)
}

/// `MULMONTX`: out = x·y·R⁻¹ mod m.
fn mulmontx<const GETH: bool, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    arithmetic::<GETH, MULMONTX, H>(frame, FieldOp::Mul, FieldContext::mul)
}

/// `TOMONTX`: output = input·R mod m, by slots of memory, or by byte offsets in go-ethereum, where the output is on top.
fn tomontx<const GETH: bool, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [first, second] = pop(&mut frame)?;
    charge_base::<TOMONTX, H>(&mut frame)?;
    let Some((context, &prices)) = frame.host.chain_mut().frame.active() else {
        return Err(halt(&mut frame, Halt::NoContext));
    };
    let bytes = context.element_bytes();
    let ranges = if GETH {
        [second, first].map(|offset| range_at::<GETH, H>(&frame, index(offset)?, bytes))
    } else {
        [first, second].map(|slot| slot_range::<GETH, H>(&frame, slot.byte(0), bytes))
    };
    let [Some(input), Some(output)] = ranges else {
        return Err(halt(&mut frame, Halt::MemoryOutOfRange));
    };
    let mut stored = Ok(());
    with_context(&mut frame, |context, memory| {
        if GETH {
            stored = context.store(OUT, &memory[input]);
        } else {
            context.store_any(OUT, &memory[input]);
        }
    });
    if stored.is_err() {
        return Err(halt(&mut frame, Halt::ValueOutOfRange));
    }
    charge(&mut frame.interpreter.gas, prices.times(prices.store, 1))?;
    with_context(&mut frame, |context, memory| write_be(context.slot(OUT), &mut memory[output]));
    Ok(())
}

#[inline(always)]
fn arithmetic<const GETH: bool, const OPCODE: u8, H: FieldHost>(
    mut frame: Frame<'_, H>,
    operation: FieldOp,
    operate: impl FnOnce(&mut FieldContext, Strided, Strided, Strided, usize),
) -> Handled {
    let slots: [u8; 3] = immediate(&mut frame);
    check_complete(&mut frame)?;
    let machine = frame.host.chain_mut();
    let base = machine.prices.base[usize::from(OPCODE)];
    let Some((context, &prices)) = machine.frame.active() else {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::NoContext));
    };
    let bytes = context.element_bytes();
    let [Some(out), Some(x), Some(y)] = slots.map(|slot| slot_range::<GETH, H>(&frame, slot, bytes)) else {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::MemoryOutOfRange));
    };
    let mut are_canonical = false;
    with_context(&mut frame, |context, memory| {
        are_canonical = read_slot(context, X, &memory[x]) && read_slot(context, Y, &memory[y]);
    });
    if !are_canonical {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::ValueOutOfRange));
    }
    charge(&mut frame.interpreter.gas, base + prices.times(prices.lane[operation], 1))?;
    with_context(&mut frame, |context, memory| {
        let [to, x, y] = [OUT, X, Y].map(Strided::contiguous);
        operate(context, to, x, y, 1);
        write_be(context.slot(OUT), &mut memory[out]);
    });
    Ok(())
}

/// Runs `work` on the active context and memory. Without a context it does nothing; callers check that there is one.
#[inline(always)]
fn with_context<H: FieldHost>(frame: &mut Frame<'_, H>, work: impl FnOnce(&mut FieldContext, &mut [u8])) {
    if let Some((context, _)) = frame.host.chain_mut().frame.active() {
        work(context.limbs_mut(), &mut frame.interpreter.memory.context_memory_mut());
    }
}

/// The modulus in these bytes: odd, above 1, its top limb not zero.
fn full_odd(bytes: &[u8], width_limbs: usize) -> Option<Modulus> {
    let modulus = Modulus::with_width(bytes, width_limbs).ok()?;
    (modulus.is_odd() && modulus.limbs()[width_limbs - 1] != 0).then_some(modulus)
}

/// Reads a value in the form that slots have; false if it is not below the modulus.
#[inline(always)]
fn read_slot(context: &mut FieldContext, slot: usize, bytes: &[u8]) -> bool {
    let mut limbs = [0; WIDTH_LIMBS_MAX];
    let limbs = &mut limbs[..bytes.len() / LIMB_BYTES];
    let fits = read_be(bytes, limbs).is_some() && less_than(limbs, context.modulus().limbs());
    if fits {
        context.set_slot(slot, limbs);
    }
    fits
}

/// The range of a slot, if it lies inside memory.
#[inline(always)]
fn slot_range<const GETH: bool, H: FieldHost>(frame: &Frame<'_, H>, slot: u8, bytes: usize) -> Option<Range<usize>> {
    let start = frame.host.chain().frame.memory_start.checked_add(bytes * usize::from(slot))?;
    range_at::<GETH, H>(frame, start, bytes)
}

/// The range from an address on, if it lies inside memory; in go-ethereum with a byte to spare.
#[inline(always)]
fn range_at<const GETH: bool, H: FieldHost>(frame: &Frame<'_, H>, start: usize, bytes: usize) -> Option<Range<usize>> {
    let end = start.checked_add(bytes)?;
    let size = frame.interpreter.memory.len();
    (if GETH { end < size } else { end <= size }).then_some(start..end)
}
