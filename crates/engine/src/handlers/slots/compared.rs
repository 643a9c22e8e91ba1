//! Instructions of the experiments `x-iszerox` and `x-cmpx`, which put an answer about slots on the stack.

use residue_isa::Form;
use revm::interpreter::InstructionResult;
use revm::primitives::U256;

use super::super::{FieldHost, Frame, Handled, charge, halt};
use super::{Rules, base_of, check_complete, immediate};
use crate::batch::slot_file::SlotFile;
use crate::halt::Halt;

/// `ISZEROX`: 1 on the stack if a slot is zero, else 0.
pub(super) fn is_zero<R: Rules, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [slot] = immediate(&mut frame);
    check_complete(&mut frame)?;
    let machine = frame.host.chain_mut();
    let base = base_of::<R>(machine, Form::IsZero);
    charge(&mut frame.interpreter.gas, base)?;
    let Some((context, _)) = machine.frame.active() else {
        return Err(halt(&mut frame, Halt::NoContext));
    };
    let slot = usize::from(slot);
    if slot >= context.slot_count() {
        return Err(halt(&mut frame, Halt::SlotOutOfRange));
    }
    let is_zero = context.is_zero(slot);
    push(&mut frame, is_zero)
}

/// `EQX`: 1 on the stack if the values of two slots are equal, else 0.
pub(super) fn equal<R: Rules, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    compare::<R, H>(frame, Form::Equal, SlotFile::equal)
}

/// `LTX`: 1 on the stack if the value of the first slot is less than that of the second, else 0. Under an odd modulus both come out of
/// Montgomery form, for the price of two values loaded.
pub(super) fn less<R: Rules, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    compare::<R, H>(frame, Form::Less, SlotFile::less)
}

fn compare<R: Rules, H: FieldHost>(
    mut frame: Frame<'_, H>,
    form: Form,
    holds: impl FnOnce(&mut SlotFile, usize, usize) -> bool,
) -> Handled {
    let slots: [u8; 2] = immediate(&mut frame);
    check_complete(&mut frame)?;
    let machine = frame.host.chain_mut();
    let base = base_of::<R>(machine, form);
    charge(&mut frame.interpreter.gas, base)?;
    let Some((context, prices)) = machine.frame.active() else {
        return Err(halt(&mut frame, Halt::NoContext));
    };
    let [x, y] = slots.map(usize::from);
    if x.max(y) >= context.slot_count() {
        return Err(halt(&mut frame, Halt::SlotOutOfRange));
    }
    charge(&mut frame.interpreter.gas, prices.charge(form, 1, context.is_odd()))?;
    let holds = holds(context, x, y);
    push(&mut frame, holds)
}

/// 1 on the stack for true, 0 for false.
fn push<H: FieldHost>(frame: &mut Frame<'_, H>, answer: bool) -> Handled {
    match frame.interpreter.stack.push(U256::from(u8::from(answer))) {
        true => Ok(()),
        false => Err(InstructionResult::StackOverflow),
    }
}
