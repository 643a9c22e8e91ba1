//! EIP-6690 of 2024: field contexts with slots, strided instructions.
//!
//! Source: EIP-6690 at commit 968159a9b; the order of checks is unknown opcode, truncated immediate, stack, base gas,
//! operands, growth, dynamic gas.

use residue_isa::revision::eip6690_2024::{
    ADDMODX, IMMEDIATE_BYTES, LOADX, MODULUS_BYTES_MAX, MULMODX, Operands, SETMODX, SLOT_BYTES_MAX, SLOTS_MAX, STOREX,
    SUBMODX, unpack,
};
use residue_isa::{Arithmetic, Lanes, Revision};
use residue_modular::limbs::LIMB_BYTES;
use residue_modular::{FieldContext, Modulus, Strided};
use revm::interpreter::InstructionResult;
use revm::interpreter::interpreter_types::{Immediates, Jumps, LegacyBytecode};
use revm::primitives::U256;

use super::{FieldHost, Frame, Step, charge, charge_base, halt, index, pop};
use crate::halt::Halt;
use crate::machine::{ID_MAX, words};
use crate::prices::{WidthPrices, memory_cost};
use crate::slot_file::SlotFile;

/// `ADDMODX`: out = x + y mod m in each lane.
pub fn addmodx<H: FieldHost>(frame: Frame<'_, H>) -> Step {
    arithmetic::<ADDMODX, H>(frame, Arithmetic::Add, SlotFile::add)
}

/// `SUBMODX`: out = x − y mod m in each lane.
pub fn submodx<H: FieldHost>(frame: Frame<'_, H>) -> Step {
    arithmetic::<SUBMODX, H>(frame, Arithmetic::Sub, SlotFile::sub)
}

/// `MULMODX`: out = x·y mod m in each lane.
pub fn mulmodx<H: FieldHost>(frame: Frame<'_, H>) -> Step {
    arithmetic::<MULMODX, H>(frame, Arithmetic::Mul, SlotFile::mul)
}

/// `SETMODX`: activates the field context of an id; if the id is new, creates it with a modulus from memory and zeroed
/// slots, which count as memory from then on.
pub fn setmodx<H: FieldHost>(mut frame: Frame<'_, H>) -> Step {
    let [id, offset, size, slot_count] = pop(&mut frame)?;
    charge_base::<SETMODX, H>(&mut frame)?;
    let Some(id) = index(id).filter(|&id| id <= ID_MAX) else {
        return Err(halt(&mut frame, Halt::NoContext));
    };
    let machine = frame.host.chain_mut();
    if machine.frame.activate(id, &machine.prices.per_width) {
        return Ok(());
    }

    let Some(slot_count) = index(slot_count).filter(|count| (1..=SLOTS_MAX).contains(count)) else {
        return Err(halt(&mut frame, Halt::SlotOutOfRange));
    };
    let Some(size) = index(size).filter(|size| (1..=MODULUS_BYTES_MAX).contains(size)) else {
        return Err(halt(&mut frame, Halt::InvalidModulus));
    };
    let width_limbs = size.div_ceil(LIMB_BYTES);
    let old_slot_words = frame.host.chain().slot_words();
    let slot_bytes = frame.host.chain().frame.slot_bytes() + slot_count * width_limbs * LIMB_BYTES;
    if slot_bytes > SLOT_BYTES_MAX {
        return Err(halt(&mut frame, Halt::SlotOutOfRange));
    }
    let Some(range) = memory_range(&frame, offset, size) else {
        return Err(halt(&mut frame, Halt::MemoryOutOfRange));
    };
    let modulus = Modulus::with_width(&frame.interpreter.memory.context_memory()[range], width_limbs);
    let Ok(modulus) = modulus else {
        return Err(halt(&mut frame, Halt::InvalidModulus));
    };

    let memory_words = words(frame.interpreter.memory.len());
    let growth = memory_cost(memory_words + words(slot_bytes)) - memory_cost(memory_words + old_slot_words);
    charge(&mut frame.interpreter.gas, growth)?;
    let machine = frame.host.chain_mut();
    if !modulus.is_power_of_two() {
        charge(&mut frame.interpreter.gas, machine.prices.per_width[width_limbs].set_modulus)?;
    }
    machine.frame.insert(id, FieldContext::new(modulus, slot_count), &machine.prices.per_width);
    Ok(())
}

/// `LOADX`: copies slots into memory, canonical and big-endian.
pub fn loadx<H: FieldHost>(mut frame: Frame<'_, H>) -> Step {
    let [offset, first_slot, count] = pop(&mut frame)?;
    charge_base::<LOADX, H>(&mut frame)?;
    let Some(transfer) = transfer(&mut frame, offset, first_slot, count)? else {
        return Ok(());
    };
    charge(&mut frame.interpreter.gas, transfer.cost)?;
    if let Some((context, _)) = frame.host.chain_mut().frame.active() {
        let memory = &mut *frame.interpreter.memory.context_memory_mut();
        context.load(transfer.first_slot, &mut memory[transfer.range]);
    }
    Ok(())
}

/// `STOREX`: copies memory into slots; every value must be canonical, that is below the modulus.
pub fn storex<H: FieldHost>(mut frame: Frame<'_, H>) -> Step {
    let [first_slot, offset, count] = pop(&mut frame)?;
    charge_base::<STOREX, H>(&mut frame)?;
    let Some(transfer) = transfer(&mut frame, offset, first_slot, count)? else {
        return Ok(());
    };
    let mut stored = Ok(());
    if let Some((context, _)) = frame.host.chain_mut().frame.active() {
        let memory = frame.interpreter.memory.context_memory();
        stored = context.store(transfer.first_slot, &memory[transfer.range]);
    }
    if stored.is_err() {
        return Err(halt(&mut frame, Halt::ValueOutOfRange));
    }
    charge(&mut frame.interpreter.gas, transfer.cost)
}

/// An arithmetic instruction: `count` lanes of one operation on slots of the active field context.
#[inline(always)]
fn arithmetic<const OPCODE: u8, H: FieldHost>(
    mut frame: Frame<'_, H>,
    operation: Arithmetic,
    operate: impl FnOnce(&mut SlotFile, Strided, Strided, Strided, usize),
) -> Step {
    if frame.host.chain().in_blocks && run_block(&mut frame) {
        return Ok(());
    }
    let Operands { out, x, y, count } = immediate(&mut frame);
    let machine = frame.host.chain_mut();
    let base = machine.prices.base[usize::from(OPCODE)];
    let Some((context, prices)) = machine.frame.active() else {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::NoContext));
    };
    if count == 0 || out.stride == 0 {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::InvalidStride));
    }
    let last = out.last(count).max(x.last(count)).max(y.last(count));
    if last as usize >= context.slot_count() {
        // u32 to usize widens.
        return Err(halt_of_arithmetic(&mut frame, base, Halt::SlotOutOfRange));
    }
    let cost = base + prices.lane[operation as usize] * u64::from(count);
    charge(&mut frame.interpreter.gas, cost)?;
    operate(context, strided(out), strided(x), strided(y), usize::from(count));
    Ok(())
}

/// Runs the block that begins at this instruction, if there is one, gas covers all of it, its slots exist and it has a
/// plan. Then it is as if its instructions had run one by one: none of them can halt.
#[inline(always)]
fn run_block<H: FieldHost>(frame: &mut Frame<'_, H>) -> bool {
    let pc = frame.interpreter.bytecode.pc() - 1; // revm has moved on behind the opcode.
    let blocks = frame.host.chain().frame.blocks.as_ref();
    let Some(block) = blocks.and_then(|blocks| blocks.get(pc)) else {
        return false;
    };
    run_planned(frame, pc, block.end)
}

#[inline(never)]
fn run_planned<H: FieldHost>(frame: &mut Frame<'_, H>, pc: usize, end: usize) -> bool {
    let machine = frame.host.chain_mut();
    let Some(blocks) = machine.frame.blocks.clone() else { return false };
    let Some(block) = blocks.get(pc) else { return false };
    let Some((context, width)) = machine.frame.active() else { return false };
    if block.last_slot >= context.slot_count() {
        return false;
    }
    let code = frame.interpreter.bytecode.bytecode_slice();
    let Some(plan) = block.plan(blocks.batching(), code, Revision::Eip6690_2024, context.slot_count(), context.shape())
    else {
        return false;
    };
    let width = *width;
    let cost = block.cost(&machine.prices, &width, [ADDMODX, SUBMODX, MULMODX]);
    if charge(&mut frame.interpreter.gas, cost).is_err() {
        return false;
    }
    if let Some((context, _)) = machine.frame.active() {
        context.run(plan);
    }
    // From behind the first opcode to behind the block: both lie in the code.
    frame.interpreter.bytecode.relative_jump((end - pc - 1) as isize);
    true
}

/// The operands behind the opcode; goes on behind them.
#[inline(always)]
fn immediate<H>(frame: &mut Frame<'_, H>) -> Operands {
    let code = &mut frame.interpreter.bytecode;
    let immediate = code.read_slice(IMMEDIATE_BYTES).try_into().expect("a slice of that length was asked for");
    code.relative_jump(IMMEDIATE_BYTES as isize); // 7.
    unpack(immediate)
}

/// Halts of arithmetic by the order of checks. A truncated immediate comes first; padding makes its last byte, the count,
/// zero, so it always arrives here. Then the base price, which only then has to be affordable.
#[cold]
#[inline(never)]
fn halt_of_arithmetic<H: FieldHost>(frame: &mut Frame<'_, H>, base: u64, reason: Halt) -> InstructionResult {
    let code = &frame.interpreter.bytecode;
    if code.pc() > code.len() {
        return halt(frame, Halt::InvalidInstruction);
    }
    match charge(&mut frame.interpreter.gas, base) {
        Ok(()) => halt(frame, reason),
        Err(out_of_gas) => out_of_gas,
    }
}

/// What a load or store moves and costs.
struct Transfer {
    first_slot: usize,
    /// In memory.
    range: std::ops::Range<usize>,
    cost: u64,
}

/// Checks the operands of a load or store. None if the count is 0: then there is nothing to do or to charge, whatever the
/// other operands are.
fn transfer<H: FieldHost>(
    frame: &mut Frame<'_, H>,
    offset: U256,
    first_slot: U256,
    count: U256,
) -> Result<Option<Transfer>, InstructionResult> {
    let machine = frame.host.chain_mut();
    let per_word = machine.prices.transfer_per_word;
    let Some((context, &WidthPrices { transfer: per_value, .. })) = machine.frame.active() else {
        return Err(halt(frame, Halt::NoContext));
    };
    if count.is_zero() {
        return Ok(None);
    }
    let slot_count = context.slot_count();
    let element_bytes = context.element_bytes();
    let is_power_of_two = context.is_power_of_two();
    let slots = index(first_slot)
        .zip(index(count))
        .filter(|&(first, count)| first.checked_add(count).is_some_and(|end| end <= slot_count));
    let Some((first_slot, count)) = slots else {
        return Err(halt(frame, Halt::SlotOutOfRange));
    };
    let bytes = count * element_bytes;
    let Some(range) = memory_range(frame, offset, bytes) else {
        return Err(halt(frame, Halt::MemoryOutOfRange));
    };
    let cost = if is_power_of_two { per_word * words(bytes) } else { per_value * count as u64 }; // At most 256.
    Ok(Some(Transfer { first_slot, range, cost }))
}

/// The range in memory, or none if it does not lie inside.
fn memory_range<H>(frame: &Frame<'_, H>, offset: U256, bytes: usize) -> Option<std::ops::Range<usize>> {
    let start = index(offset)?;
    let end = start.checked_add(bytes)?;
    (end <= frame.interpreter.memory.len()).then_some(start..end)
}

#[inline(always)]
fn strided(lanes: Lanes) -> Strided {
    Strided { index: usize::from(lanes.index), stride: usize::from(lanes.stride) }
}
