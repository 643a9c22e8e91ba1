//! Instructions of the experiments `x-sumx`, `x-fp2x`, `x-fp6x`, `x-movx`, `x-selectx`, `x-arrayx` and `x-padx`: sums of products, products in Fp2 and Fp6, copies of slots, choices between them, copies between slots and an array, and loads and stores of
//! values that are wider in memory than the modulus.

use residue_isa::revision::rules::ARRAY_ELEMENTS_MAX;
use residue_isa::revision::strided::{Operands, unpack};
use residue_isa::{Form, Fp2Lanes, Fp2Products, Fp6Product, Lanes, SumOfProducts};
use residue_modular::{Fp2Strided, Fp6Slots};
use revm::primitives::U256;

use super::super::{FieldHost, Frame, Handled, charge, halt, pop};
use super::{
    Rules, base_of, check_complete, halt_of_arithmetic, immediate, is_inside, runs_in_block, strided, transfer,
};
use crate::halt::Halt;
use crate::machine::words;
use crate::prices::memory_cost;

/// `LOADPX`: copies slots into memory, each with zeros in front up to the bytes that the immediate says.
pub(super) fn load_padded<R: Rules, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [value_bytes] = immediate(&mut frame);
    check_complete(&mut frame)?;
    let [offset, first_slot, count] = pop(&mut frame)?;
    let opcode = R::RULES.opcode(Form::LoadPadded).unwrap_or_default();
    let value = Some(usize::from(value_bytes));
    let Some(transfer) = transfer::<R, H>(&mut frame, (opcode, value), U256::ZERO, offset, first_slot, count)? else {
        return Ok(());
    };
    charge(&mut frame.interpreter.gas, transfer.cost)?;
    if let Some((context, _)) = frame.host.chain_mut().frame.at(transfer.context) {
        let pad_bytes = usize::from(value_bytes) - context.element_bytes();
        let memory = &mut *frame.interpreter.memory.context_memory_mut();
        for (value, slot) in memory[transfer.range].chunks_exact_mut(value_bytes.into()).zip(transfer.first_slot..) {
            let (padding, value) = value.split_at_mut(pad_bytes);
            padding.fill(0);
            context.load(slot, value);
        }
    }
    Ok(())
}

/// `STOREPX`: copies memory into slots, each from as many bytes as the immediate says: a number below the modulus.
pub(super) fn store_padded<R: Rules, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [value_bytes] = immediate(&mut frame);
    check_complete(&mut frame)?;
    let [first_slot, offset, count] = pop(&mut frame)?;
    let opcode = R::RULES.opcode(Form::StorePadded).unwrap_or_default();
    let value = Some(usize::from(value_bytes));
    let Some(transfer) = transfer::<R, H>(&mut frame, (opcode, value), U256::ZERO, offset, first_slot, count)? else {
        return Ok(());
    };
    let mut is_stored = true;
    if let Some((context, _)) = frame.host.chain_mut().frame.at(transfer.context) {
        let pad_bytes = usize::from(value_bytes) - context.element_bytes();
        let memory = frame.interpreter.memory.context_memory();
        for (value, slot) in memory[transfer.range].chunks_exact(value_bytes.into()).zip(transfer.first_slot..) {
            let (padding, value) = value.split_at(pad_bytes);
            // Where one is refused, the frame ends, and with it the slots of those before.
            is_stored &= padding.iter().all(|&byte| byte == 0) && context.store(slot, value).is_ok();
        }
    }
    if !is_stored {
        return Err(halt(&mut frame, Halt::ValueOutOfRange));
    }
    charge(&mut frame.interpreter.gas, transfer.cost)
}

/// `SUM2X` to `SUM6X`, with `BYTES` bytes after the opcode: out = ± x₁·y₁ ± x₂·y₂ … mod m.
pub(super) fn sum<R: Rules, H: FieldHost, const BYTES: usize>(mut frame: Frame<'_, H>) -> Handled {
    if frame.host.chain().in_blocks && runs_in_block::<R, H>(&mut frame) {
        return Ok(());
    }
    let operands = SumOfProducts::unpack(&immediate::<BYTES, H>(&mut frame));
    let sum = operands.expect("an opcode has as many bytes as its products need");
    check_complete(&mut frame)?;
    let machine = frame.host.chain_mut();
    let form = const { [Form::Sum2, Form::Sum3, Form::Sum4, Form::Sum5, Form::Sum6][(BYTES - 6) / 2] };
    let base = base_of::<R>(machine, form);
    let Some((context, prices)) = machine.frame.active() else {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::NoContext));
    };
    // Those that are no products' are zeros.
    let last = sum.products.iter().flatten().fold(sum.out, |last, &slot| last.max(slot));
    if usize::from(last) >= context.slot_count() {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::SlotOutOfRange));
    }
    let cost = base + prices.charge(form, 1, true);
    charge(&mut frame.interpreter.gas, cost)?;
    machine.frame.earned += cost;
    let products = sum.products.map(|slots| slots.map(u16::from));
    let (context, _) = machine.frame.active().expect("the context is active still");
    context.sum_products(usize::from(sum.out), sum.signs, &products[..usize::from(sum.count)]);
    Ok(())
}

/// `FP2MULX`: out = x·y in Fp2 with u² = −1 in each lane.
pub(super) fn mul_fp2<R: Rules, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    if frame.host.chain().in_blocks && runs_in_block::<R, H>(&mut frame) {
        return Ok(());
    }
    let products = Fp2Products::unpack(immediate(&mut frame));
    let Fp2Products { out, x, y, count } = products;
    let machine = frame.host.chain_mut();
    let base = base_of::<R>(machine, Form::MulFp2);
    let Some((context, prices)) = machine.frame.active() else {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::NoContext));
    };
    // The count of a truncated immediate is 0.
    if count == 0 || out.stride == 0 {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::InvalidStride));
    }
    if usize::from(products.last()) >= context.slot_count() {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::SlotOutOfRange));
    }
    let cost = base + prices.charge(Form::MulFp2, count.into(), true);
    charge(&mut frame.interpreter.gas, cost)?;
    machine.frame.earned += cost;
    let (context, _) = machine.frame.active().expect("the context is active still");
    let [out, x, y] = [out, x, y]
        .map(|Fp2Lanes { c0, c1, stride }| Fp2Strided { first: [c0, c1].map(usize::from), stride: stride.into() });
    context.mul_fp2(out, x, y, count.into());
    Ok(())
}

/// `FP6MULX`: out = x·y in Fp6 with u² = −1 and v³ = a + b·u.
pub(super) fn mul_fp6<R: Rules, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    if frame.host.chain().in_blocks && runs_in_block::<R, H>(&mut frame) {
        return Ok(());
    }
    let product = Fp6Product::unpack(immediate(&mut frame));
    check_complete(&mut frame)?;
    let machine = frame.host.chain_mut();
    let base = base_of::<R>(machine, Form::MulFp6);
    let Some((context, prices)) = machine.frame.active() else {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::NoContext));
    };
    if usize::from(product.last()) >= context.slot_count() {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::SlotOutOfRange));
    }
    let cost = base + prices.charge(Form::MulFp6, 1, true);
    charge(&mut frame.interpreter.gas, cost)?;
    machine.frame.earned += cost;
    let (context, _) = machine.frame.active().expect("the context is active still");
    let Fp6Product { out, x, y, xi } = product;
    let [out, x, y] = [out, x, y].map(|slots| slots.map(usize::from));
    context.mul_fp6(&Fp6Slots { out, x, y, xi });
    Ok(())
}

/// `MOVX`: out = x in each lane.
pub(super) fn copy<R: Rules, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    if frame.host.chain().in_blocks && runs_in_block::<R, H>(&mut frame) {
        return Ok(());
    }
    let [out, out_stride, x, x_stride, count] = immediate(&mut frame);
    let [out, x] = [(out, out_stride), (x, x_stride)].map(|(index, stride)| Lanes { index, stride });
    let machine = frame.host.chain_mut();
    let base = base_of::<R>(machine, Form::Copy);
    let Some((context, prices)) = machine.frame.active() else {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::NoContext));
    };
    // The count of a truncated immediate is 0.
    if count == 0 || out.stride == 0 {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::InvalidStride));
    }
    if [out, x].iter().any(|lanes| !is_inside::<R>(lanes, count, context.slot_count())) {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::SlotOutOfRange));
    }
    let cost = base + prices.charge(Form::Copy, count.into(), true);
    charge(&mut frame.interpreter.gas, cost)?;
    machine.frame.earned += cost;
    let (context, _) = machine.frame.active().expect("the context is active still");
    context.copy(strided(out), strided(x), count.into());
    Ok(())
}

/// `SELECTX`: out = x in each lane if the word on the stack is not zero, else y.
pub(super) fn select<R: Rules, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let Operands { out, x, y, count } = unpack(immediate(&mut frame));
    check_complete(&mut frame)?;
    let [word] = pop(&mut frame)?;
    let machine = frame.host.chain_mut();
    let base = base_of::<R>(machine, Form::Select);
    charge(&mut frame.interpreter.gas, base)?;
    let Some((context, &prices)) = machine.frame.active() else {
        return Err(halt(&mut frame, Halt::NoContext));
    };
    if count == 0 || out.stride == 0 {
        return Err(halt(&mut frame, Halt::InvalidStride));
    }
    if [out, x, y].iter().any(|lanes| !is_inside::<R>(lanes, count, context.slot_count())) {
        return Err(halt(&mut frame, Halt::SlotOutOfRange));
    }
    charge(&mut frame.interpreter.gas, prices.charge(Form::Select, count.into(), true))?;
    let chosen = if word.is_zero() { y } else { x };
    let (context, _) = machine.frame.active().expect("the context is active still");
    context.copy(strided(out), strided(chosen), count.into());
    Ok(())
}

/// `GETX` and `PUTX`: copies elements of the array to slots, or slots to elements, from an index on. The array grows to hold them, and
/// counts as memory.
pub(super) fn element<R: Rules, H: FieldHost, const IS_GET: bool>(mut frame: Frame<'_, H>) -> Handled {
    let [first_slot, count] = immediate(&mut frame).map(usize::from);
    check_complete(&mut frame)?;
    let [word] = pop(&mut frame)?;
    let machine = frame.host.chain_mut();
    let form = if IS_GET { Form::Get } else { Form::Put };
    let base = base_of::<R>(machine, form);
    charge(&mut frame.interpreter.gas, base)?;
    let Some((context, &prices)) = machine.frame.active() else {
        return Err(halt(&mut frame, Halt::NoContext));
    };
    if count == 0 {
        return Err(halt(&mut frame, Halt::InvalidStride));
    }
    // The lowest 16 bits, whatever stands above them.
    let start = usize::from(word.as_limbs()[0] as u16);
    if start + count > ARRAY_ELEMENTS_MAX || first_slot + count > context.slot_count() {
        return Err(halt(&mut frame, Halt::SlotOutOfRange));
    }
    if start + count > context.array_len() {
        let added_bytes = (start + count - context.array_len()) * context.element_bytes();
        let memory_words = words(frame.interpreter.memory.len());
        let after = memory_cost(memory_words + words(machine.frame.counted_bytes() + added_bytes));
        charge(&mut frame.interpreter.gas, after - memory_cost(memory_words + machine.slot_words()))?;
        machine.frame.grow_array(start + count);
    }
    charge(&mut frame.interpreter.gas, prices.charge(form, count as u64, true))?; // usize to u64 widens.
    let (context, _) = machine.frame.active().expect("the context is active still");
    if IS_GET {
        context.get(first_slot, count, start);
    } else {
        context.put(first_slot, count, start);
    }
    Ok(())
}
