//! The revisions with slots: field contexts, loads and stores, arithmetic. Their differences are in their
//! [`SlotRules`], which are constants here, so that each revision's handlers are compiled for it alone.
//!
//! Source: the revisions' files in the instruction set. The order of checks is unknown opcode, truncated immediate, stack,
//! base gas, operands, growth, dynamic gas.

mod added;
mod compared;
mod prefix;
mod runs;

use core::ops::Range;

use residue_isa::form::OPERAND_BYTES_MAX;
use residue_isa::revision::rules::{EmptyTransfer, ID_MAX, InvertsModulo, SLOTS_MAX, SetForm, SlotBytesMax, SlotRules};
use residue_isa::revision::strided::{Operands, unpack};
use residue_isa::{FieldOp, Form, Lanes, PerOp, Revision};
use residue_modular::limbs::LIMB_BYTES;
use residue_modular::{FieldContext, Modulus, Strided};
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::{Immediates, Jumps};
use revm::interpreter::{Instruction, InstructionResult};
use revm::primitives::U256;

use super::{FieldHost, Frame, Handled, charge, index, pop, slot_memory};
use crate::batch::run::run_block;
use crate::batch::slot_file::SlotFile;
use crate::batch::slots::Slots;
use crate::halt::Halt;
use crate::machine::{FieldMachine, words};
use crate::prices::memory_cost;

/// Source of a modulus or of stored values: memory, or the running code.
const IN_MEMORY: bool = false;
const IN_CODE: bool = true;

/// The most immediate bytes of any field instruction here.
const IMMEDIATE_BYTES_MAX: usize = OPERAND_BYTES_MAX;

/// One revision's rules, as a type.
trait Rules {
    const RULES: SlotRules;
    const ARITHMETIC: PerOp<u8>;
}

/// Those of the revision with this number in [`Revision::ALL`].
struct RulesOf<const REVISION: usize>;

impl<const REVISION: usize> Rules for RulesOf<REVISION> {
    const RULES: SlotRules = match Revision::ALL[REVISION].slot_rules() {
        Some(rules) => *rules,
        None => panic!("this revision has no slots"),
    };
    const ARITHMETIC: PerOp<u8> = Revision::ALL[REVISION].interface().arithmetic;
}

/// The handler of an opcode, or of the prefix, of the revision with slots that has this number in [`Revision::ALL`].
pub fn handler<const REVISION: usize, H: FieldHost>(opcode: u8) -> Option<Instruction<EthInterpreter, H>> {
    if RulesOf::<REVISION>::RULES.prefix == Some(opcode) {
        return Some(Instruction::new(prefix::after_prefix::<RulesOf<REVISION>, H>));
    }
    handler_of::<RulesOf<REVISION>, H>(opcode)
}

fn handler_of<R: Rules, H: FieldHost>(opcode: u8) -> Option<Instruction<EthInterpreter, H>> {
    let PerOp([add, sub, mul]) = R::ARITHMETIC;
    Some(if opcode == R::RULES.set_modulus {
        Instruction::new(set_modulus::<R, H, IN_MEMORY>)
    } else if opcode == R::RULES.load {
        Instruction::new(load::<R, H>)
    } else if opcode == R::RULES.store {
        Instruction::new(store::<R, H, IN_MEMORY>)
    } else if let Some(form) = R::RULES.form_of(opcode) {
        handler_of_form::<R, H>(form)
    } else if opcode == add {
        Instruction::new(add_lanes::<R, H>)
    } else if opcode == sub {
        Instruction::new(sub_lanes::<R, H>)
    } else if opcode == mul {
        Instruction::new(mul_lanes::<R, H>)
    } else {
        return None;
    })
}

/// The handler of an opcode beside arithmetic.
fn handler_of_form<R: Rules, H: FieldHost>(form: Form) -> Instruction<EthInterpreter, H> {
    match form {
        Form::Invert => match R::RULES.inverts_modulo {
            InvertsModulo::Twice => Instruction::new(invert_doubled::<R, H>),
            InvertsModulo::Modulus => Instruction::new(invert::<R, H>),
        },
        Form::IsZero => Instruction::new(compared::is_zero::<R, H>),
        Form::Sum2 => Instruction::new(added::sum::<R, H, 6>),
        Form::Sum3 => Instruction::new(added::sum::<R, H, 8>),
        Form::Sum4 => Instruction::new(added::sum::<R, H, 10>),
        Form::Sum5 => Instruction::new(added::sum::<R, H, 12>),
        Form::Sum6 => Instruction::new(added::sum::<R, H, 14>),
        Form::Get => Instruction::new(added::element::<R, H, true>),
        Form::Put => Instruction::new(added::element::<R, H, false>),
        Form::LoadPadded => Instruction::new(added::load_padded::<R, H>),
        Form::StorePadded => Instruction::new(added::store_padded::<R, H>),
        Form::SetModulusInCode => Instruction::new(set_modulus::<R, H, IN_CODE>),
        Form::StoreFromCode => Instruction::new(store::<R, H, IN_CODE>),
        Form::MulFp2 => Instruction::new(added::mul_fp2::<R, H>),
        Form::Copy => Instruction::new(added::copy::<R, H>),
        Form::Select => Instruction::new(added::select::<R, H>),
        Form::MulFp6 => Instruction::new(added::mul_fp6::<R, H>),
        Form::Equal => Instruction::new(compared::equal::<R, H>),
        Form::Less => Instruction::new(compared::less::<R, H>),
    }
}

/// Base price of a form.
#[inline(always)]
fn base_of<R: Rules>(machine: &FieldMachine, form: Form) -> u64 {
    R::RULES.opcode(form).map_or(0, |opcode| machine.prices.base[usize::from(opcode)])
}

/// `ADDMODX`: out = x + y mod m in each lane.
fn add_lanes<R: Rules, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    arithmetic::<R, H>(frame, FieldOp::Add, SlotFile::add)
}

/// `SUBMODX`: out = x − y mod m in each lane.
fn sub_lanes<R: Rules, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    arithmetic::<R, H>(frame, FieldOp::Sub, SlotFile::sub)
}

/// `MULMODX`: out = x·y mod m in each lane.
fn mul_lanes<R: Rules, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    arithmetic::<R, H>(frame, FieldOp::Mul, SlotFile::mul)
}

/// `SETMODX`, `SETUPX`: activates the field context of an id; if the id is new, creates it with a modulus from memory and
/// zeroed slots, which count as memory from then on. Without ids it replaces the one context. `SETMODCX`: the same with a modulus from code.
fn set_modulus<R: Rules, H: FieldHost, const WHERE: bool>(mut frame: Frame<'_, H>) -> Handled {
    let (id, [offset, size, slot_count]) = match R::RULES.form {
        SetForm::IdOnStack => {
            let [id, offset, size, slot_count] = pop(&mut frame)?;
            (index(id).filter(|&id| id <= ID_MAX), [offset, size, slot_count])
        }
        SetForm::IdImmediate => {
            let [id] = immediate(&mut frame);
            check_complete(&mut frame)?;
            (Some(usize::from(id)), pop(&mut frame)?)
        }
        SetForm::One => (Some(0), pop(&mut frame)?),
    };
    let machine = frame.host.chain();
    let base = match WHERE {
        IN_CODE => base_of::<R>(machine, Form::SetModulusInCode),
        IN_MEMORY => machine.prices.base[usize::from(R::RULES.set_modulus)],
    };
    charge(&mut frame.interpreter.gas, base)?;
    let Some(id) = id else {
        return Err(super::halt(&mut frame, Halt::NoContext));
    };
    if !matches!(R::RULES.form, SetForm::One) && frame.host.chain_mut().frame.activate(id) {
        return Ok(());
    }
    new_context::<R, H, WHERE>(frame, id, offset, size, slot_count)
}

/// The rest of [`set_modulus`] where there is no such context yet.
#[inline(never)]
fn new_context<R: Rules, H: FieldHost, const WHERE: bool>(
    mut frame: Frame<'_, H>,
    id: usize,
    offset: U256,
    size: U256,
    slot_count: U256,
) -> Handled {
    let Some(slot_count) = index(slot_count).filter(|count| (R::RULES.slots_min..=SLOTS_MAX).contains(count)) else {
        return Err(super::halt(&mut frame, Halt::SlotOutOfRange));
    };
    let size_and_bytes = index(size).and_then(|size| Some((size, R::RULES.modulus_bytes(size)?)));
    let Some((size, modulus_bytes)) = size_and_bytes else {
        return Err(super::halt(&mut frame, Halt::InvalidModulus));
    };
    let element_bytes = R::RULES.element_bytes(modulus_bytes);
    let slot_bytes = R::RULES.slot_bytes(modulus_bytes);
    let all_bytes = frame.host.chain().frame.slot_bytes() + slot_count * slot_bytes;
    let fits = match R::RULES.slot_bytes_max {
        SlotBytesMax::None => true,
        SlotBytesMax::Frame(limit) => all_bytes <= limit,
        SlotBytesMax::Declared(limit) => slot_count * modulus_bytes <= limit,
    };
    if !fits {
        return Err(super::halt(&mut frame, Halt::SlotOutOfRange));
    }
    let range = match WHERE {
        IN_CODE => code_range(&mut frame, offset, modulus_bytes)?,
        IN_MEMORY => memory_range(&mut frame, offset, modulus_bytes, R::RULES.set_modulus_grows)?,
    };
    let modulus = match WHERE {
        IN_CODE => modulus_in::<R>(&frame.interpreter.bytecode.original_byte_slice()[range]),
        IN_MEMORY => modulus_in::<R>(&frame.interpreter.memory.context_memory()[range]),
    };
    let Some(modulus) = modulus else {
        return Err(super::halt(&mut frame, Halt::InvalidModulus));
    };

    let machine = frame.host.chain();
    let memory_words = words(frame.interpreter.memory.len());
    let counted_bytes = R::RULES.counted_bytes(slot_count, slot_bytes);
    let slot_words = match R::RULES.form {
        SetForm::One => words(counted_bytes),
        _ => words(machine.frame.counted_bytes() + counted_bytes),
    };
    let growth =
        memory_cost(memory_words + slot_words).saturating_sub(memory_cost(memory_words + machine.slot_words()));
    let mut prices = machine.prices.per_width[R::RULES.price_width(size)];
    prices.set_modulus = machine.prices.per_width[R::RULES.set_modulus_price_width(size)].set_modulus;
    // evmone charges for constants that powers of two do not need.
    let is_precomputed = modulus.is_odd() || matches!(R::RULES.form, SetForm::One);
    charge(&mut frame.interpreter.gas, growth)?;
    if is_precomputed {
        charge(&mut frame.interpreter.gas, prices.times(prices.set_modulus, 1))?;
    }
    let context = FieldContext::with_element_bytes(modulus, slot_count, element_bytes);
    let state = &mut frame.host.chain_mut().frame;
    match R::RULES.form {
        SetForm::One => state.replace(context, counted_bytes, prices),
        _ => state.insert(id, context, counted_bytes, prices),
    }
    Ok(())
}

/// `LOADX`: copies slots into memory, canonical and big-endian.
fn load<R: Rules, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let id = context_id::<R, H>(&mut frame, 4)?;
    let [offset, first_slot, count] = pop(&mut frame)?;
    let Some(transfer) = transfer::<R, H>(&mut frame, (R::RULES.load, None), id, offset, first_slot, count)? else {
        return Ok(());
    };
    charge(&mut frame.interpreter.gas, transfer.cost)?;
    if let Some((context, _)) = frame.host.chain_mut().frame.at(transfer.context) {
        let memory = &mut *frame.interpreter.memory.context_memory_mut();
        context.load(transfer.first_slot, &mut memory[transfer.range]);
    }
    Ok(())
}

/// `STOREX`: copies memory into slots. Where the revision says so, every value must be canonical, that is below the modulus. `STORECX`: the
/// same from code.
fn store<R: Rules, H: FieldHost, const WHERE: bool>(mut frame: Frame<'_, H>) -> Handled {
    let id = context_id::<R, H>(&mut frame, 4)?;
    let [first_slot, offset, count] = pop(&mut frame)?;
    let opcode = if WHERE == IN_CODE { R::RULES.opcode(Form::StoreFromCode) } else { None }.unwrap_or(R::RULES.store);
    let Some(transfer) = transfer::<R, H>(&mut frame, (opcode, None), id, offset, first_slot, count)? else {
        return Ok(());
    };
    let mut stored = Ok(());
    if let Some((context, _)) = frame.host.chain_mut().frame.at(transfer.context) {
        let memory = frame.interpreter.memory.context_memory();
        let bytes = match WHERE {
            IN_CODE => &frame.interpreter.bytecode.original_byte_slice()[transfer.range],
            IN_MEMORY => &memory[transfer.range],
        };
        if R::RULES.store_reduces {
            context.store_any(transfer.first_slot, bytes);
        } else {
            stored = context.store(transfer.first_slot, bytes);
        }
    }
    if stored.is_err() {
        return Err(super::halt(&mut frame, Halt::ValueOutOfRange));
    }
    charge(&mut frame.interpreter.gas, transfer.cost)
}

/// `INVMODX`: out = x⁻¹ mod m in each lane, 0 where there is no inverse.
fn invert<R: Rules, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [out, out_stride, x, x_stride, count] = immediate(&mut frame);
    let [out, x] = [(out, out_stride), (x, x_stride)].map(|(index, stride)| Lanes { index, stride });
    let machine = frame.host.chain_mut();
    let base = base_of::<R>(machine, Form::Invert);
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
    let cost = base + prices.charge(Form::Invert, count.into(), true);
    charge(&mut frame.interpreter.gas, cost)?;
    let (context, _) = frame.host.chain_mut().frame.active().expect("the context is active still");
    context.invert(strided(out), strided(x), usize::from(count));
    Ok(())
}

/// `INVMODX` of evmone: out = x⁻¹ modulo twice a modulus that is a power of two, lane after lane.
fn invert_doubled<R: Rules, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [out, out_stride, x, x_stride, count] = immediate(&mut frame);
    let [out, x] = [(out, out_stride), (x, x_stride)].map(|(index, stride)| Lanes { index, stride });
    let machine = frame.host.chain_mut();
    let base = base_of::<R>(machine, Form::Invert);
    let Some((context, prices)) = machine.frame.active() else {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::NoContext));
    };
    if [out, x].iter().any(|lanes| !is_inside::<R>(lanes, count, context.slot_count())) {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::SlotOutOfRange));
    }
    if context.is_odd() {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::InvalidModulus));
    }
    let cost = base + prices.charge(Form::Invert, count.into(), true);
    // A truncated immediate ends in zeros: a count of 0, which would do nothing here.
    check_complete(&mut frame)?;
    charge(&mut frame.interpreter.gas, cost)?;
    if let Some((context, _)) = frame.host.chain_mut().frame.active() {
        for lane in 0..usize::from(count) {
            let done = context.limbs_mut().invert_doubled(strided(out).slot(lane), strided(x).slot(lane));
            done.expect("the modulus is even, as has been checked");
        }
    }
    Ok(())
}

/// An arithmetic instruction: `count` lanes of one operation on slots of the active field context.
#[inline(always)]
fn arithmetic<R: Rules, H: FieldHost>(
    mut frame: Frame<'_, H>,
    operation: FieldOp,
    operate: impl Fn(&mut SlotFile, Strided, Strided, Strided, usize),
) -> Handled {
    if frame.host.chain().in_blocks && runs_in_block::<R, H>(&mut frame) {
        return Ok(());
    }
    if frame.host.chain().in_runs && runs::run::<R, H>(&mut frame) {
        return Ok(());
    }
    let opcode = const { R::ARITHMETIC }[operation];
    let Some(Operands { out, x, y, count }) = operands::<R, H>(&mut frame) else {
        return Err(super::halt(&mut frame, Halt::InvalidInstruction));
    };
    if !R::RULES.is_strided || R::RULES.lanes_in_turn {
        // Elsewhere the count of a truncated immediate is 0, which halts below.
        check_complete(&mut frame)?;
    }
    let machine = frame.host.chain_mut();
    let base = machine.prices.base[usize::from(opcode)];
    let Some((context, prices)) = machine.frame.active() else {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::NoContext));
    };
    if R::RULES.is_strided && !R::RULES.lanes_in_turn && (count == 0 || out.stride == 0) {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::InvalidStride));
    }
    let inside = if R::RULES.lanes_in_turn {
        [out, x, y].iter().all(|lanes| is_inside::<R>(lanes, count, context.slot_count()))
    } else {
        // u32 to usize widens.
        (out.last(count).max(x.last(count)).max(y.last(count)) as usize) < context.slot_count()
    };
    if !inside {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::SlotOutOfRange));
    }
    let is_priced_square = R::RULES.prices_squares && operation == FieldOp::Mul && x == y;
    let lanes = if is_priced_square { prices.squares(count.into()) } else { prices.lanes(operation, count.into()) };
    let cost = base + lanes;
    charge(&mut frame.interpreter.gas, cost)?;
    machine.frame.earned += cost;
    let Some((context, _)) = machine.frame.active() else {
        return Err(halt_of_arithmetic(&mut frame, base, Halt::NoContext));
    };
    if R::RULES.lanes_in_turn {
        for lane in 0..usize::from(count) {
            let [out, x, y] = [out, x, y].map(|lanes| Strided::contiguous(strided(lanes).slot(lane)));
            operate(context, out, x, y, 1);
        }
    } else {
        operate(context, strided(out), strided(x), strided(y), usize::from(count));
    }
    Ok(())
}

/// Runs the block that begins at this instruction, if there is one and it may run as one.
#[inline(always)]
fn runs_in_block<R: Rules, H: FieldHost>(frame: &mut Frame<'_, H>) -> bool {
    let opcode_bytes = 1 + usize::from(R::RULES.prefix.is_some());
    let pc = frame.interpreter.bytecode.pc() - opcode_bytes; // The opcode has been read.
    is_due(frame.host.chain(), pc, 0) && run_block::<Slots>(frame.host.chain_mut(), frame.interpreter, pc)
}

/// True if the instruction at `pc` could begin a block, when `unnoted` gas is charged beside what the frame has noted. Where nothing will run, asking
/// more than this would cost as much as the instructions.
#[inline(always)]
fn is_due(machine: &FieldMachine, pc: usize, unnoted: u64) -> bool {
    let state = &machine.frame;
    match &state.blocks {
        Some(blocks) => blocks.is_due(pc, machine.due(unnoted), || state.has_rows()),
        None => state.earned + unnoted >= state.ask_at,
    }
}

/// The operands after the opcode; goes on after them. None if a marker should stand there and does not.
#[inline(always)]
fn operands<R: Rules, H>(frame: &mut Frame<'_, H>) -> Option<Operands> {
    if R::RULES.is_strided {
        return Some(unpack(immediate(frame)));
    }
    let [out, x, y] = match R::RULES.marker {
        None => immediate(frame),
        Some(marker) => {
            let [found, operands @ ..]: [u8; 4] = immediate(frame);
            if found != marker {
                return None;
            }
            operands
        }
    };
    let [out, x, y] = [out, x, y].map(Lanes::one);
    Some(Operands { out, x, y, count: 1 })
}

/// The bytes after the opcode; goes on after them.
#[inline(always)]
pub(super) fn immediate<const N: usize, H>(frame: &mut Frame<'_, H>) -> [u8; N] {
    const { assert!(N <= IMMEDIATE_BYTES_MAX) };
    let code = &mut frame.interpreter.bytecode;
    let immediate = code.read_slice(N).try_into().expect("a slice of that length was asked for");
    code.relative_jump(N as isize); // At most 20.
    immediate
}

/// Halts if the end of the code has cut off the immediate just read.
#[inline(always)]
pub(super) fn check_complete<H: FieldHost>(frame: &mut Frame<'_, H>) -> Handled {
    let code = &frame.interpreter.bytecode;
    if code.pc() <= code.len() { Ok(()) } else { Err(super::halt(frame, Halt::InvalidInstruction)) }
}

/// True if `count` lanes are existing slots. For a count of 0, as in evmone: true if the slot index − stride exists.
#[inline(always)]
fn is_inside<R: Rules>(lanes: &Lanes, count: u8, slot_count: usize) -> bool {
    if R::RULES.lanes_in_turn && count == 0 {
        return lanes.index.checked_sub(lanes.stride).is_some_and(|slot| usize::from(slot) < slot_count);
    }
    (lanes.last(count) as usize) < slot_count // u32 to usize widens.
}

/// Halts of arithmetic by the order of checks. A truncated immediate comes first; where strides halt, padding makes its last
/// byte, the count, zero, so it always arrives here. Then the base price, which only then has to be affordable.
#[cold]
#[inline(never)]
pub(super) fn halt_of_arithmetic<H: FieldHost>(frame: &mut Frame<'_, H>, base: u64, reason: Halt) -> InstructionResult {
    let code = &frame.interpreter.bytecode;
    if code.pc() > code.len() {
        return super::halt(frame, Halt::InvalidInstruction);
    }
    match charge(&mut frame.interpreter.gas, base) {
        Ok(()) => super::halt(frame, reason),
        Err(out_of_gas) => out_of_gas,
    }
}

/// Slots, bytes and cost of a load or store.
struct Transfer {
    /// Index of the field context.
    context: usize,
    first_slot: usize,
    /// In memory, or in code.
    range: Range<usize>,
    cost: u64,
}

/// The id on top of the stack, if loads and stores name their context; `words` is the number of operands in all.
#[inline(always)]
fn context_id<R: Rules, H: FieldHost>(frame: &mut Frame<'_, H>, words: usize) -> Result<U256, InstructionResult> {
    if !R::RULES.transfer_names_context {
        return Ok(U256::ZERO);
    }
    if frame.interpreter.stack.len() < words {
        return Err(InstructionResult::StackUnderflow);
    }
    let [id] = pop(frame)?;
    Ok(id)
}

/// Charges the base price and checks the operands of a load or store. `None` if the count is 0: then there is nothing
/// to do or to charge.
fn transfer<R: Rules, H: FieldHost>(
    frame: &mut Frame<'_, H>,
    (opcode, value_bytes): (u8, Option<usize>),
    id: U256,
    offset: U256,
    first_slot: U256,
    count: U256,
) -> Result<Option<Transfer>, InstructionResult> {
    let base = frame.host.chain().prices.base[usize::from(opcode)];
    charge(&mut frame.interpreter.gas, base)?;
    if count.is_zero() && R::RULES.empty_transfer == EmptyTransfer::Nothing {
        return Ok(None);
    }
    let machine = frame.host.chain_mut();
    let per_word = machine.prices.transfer_per_word;
    let position = match R::RULES.transfer_names_context {
        true => index(id).and_then(|id| machine.frame.position(id)),
        false => Some(machine.frame.active_position()),
    };
    let Some((position, (context, &prices))) =
        position.and_then(|position| Some((position, machine.frame.at(position)?)))
    else {
        return Err(super::halt(frame, Halt::NoContext));
    };
    if count.is_zero() && R::RULES.empty_transfer == EmptyTransfer::Context {
        return Ok(None);
    }
    let slot_count = context.slot_count();
    let element_bytes = value_bytes.unwrap_or(context.element_bytes());
    if element_bytes < context.element_bytes() {
        return Err(super::halt(frame, Halt::InvalidStride));
    }
    let is_odd = context.is_odd();
    let slots = index(first_slot)
        .zip(index(count))
        .filter(|&(first, count)| first.checked_add(count).is_some_and(|end| end <= slot_count));
    let Some((first_slot, count)) = slots else {
        return Err(super::halt(frame, Halt::SlotOutOfRange));
    };
    let bytes = count * element_bytes;
    let is_load = opcode == R::RULES.load || R::RULES.opcode(Form::LoadPadded) == Some(opcode);
    let grows = if is_load { R::RULES.load_grows } else { R::RULES.store_grows };
    let range = match R::RULES.opcode(Form::StoreFromCode) == Some(opcode) {
        true => code_range(frame, offset, bytes)?,
        false => memory_range(frame, offset, bytes, grows)?,
    };
    let cost = match per_word {
        Some(per_word) if !is_odd => per_word * words(bytes),
        _ => {
            let priced = if R::RULES.prices_count_mod_256 { count % 256 } else { count };
            prices.times(if is_load { prices.load } else { prices.store }, priced as u64) // At most 256.
        }
    };
    Ok(Some(Transfer { context: position, first_slot, range, cost }))
}

/// The range in memory, which grows to hold it or must do so already. An empty range is the start of memory.
pub(super) fn memory_range<H: FieldHost>(
    frame: &mut Frame<'_, H>,
    offset: U256,
    bytes: usize,
    grows: bool,
) -> Result<Range<usize>, InstructionResult> {
    if bytes == 0 {
        return Ok(0..0);
    }
    if grows {
        let offset = index(offset).ok_or(InstructionResult::OutOfGas)?;
        slot_memory::grow(frame, offset, bytes)?;
        return Ok(offset..offset + bytes);
    }
    let range = index(offset).and_then(|start| Some(start..start.checked_add(bytes)?));
    match range.filter(|range| range.end <= frame.interpreter.memory.len()) {
        Some(range) => Ok(range),
        None => Err(super::halt(frame, Halt::MemoryOutOfRange)),
    }
}

/// The range in the code that runs, which must have it.
fn code_range<H: FieldHost>(
    frame: &mut Frame<'_, H>,
    offset: U256,
    bytes: usize,
) -> Result<Range<usize>, InstructionResult> {
    let range = index(offset).and_then(|start| Some(start..start.checked_add(bytes)?));
    match range.filter(|range| range.end <= frame.interpreter.bytecode.original_byte_slice().len()) {
        Some(range) => Ok(range),
        None => Err(super::halt(frame, Halt::MemoryOutOfRange)),
    }
}

/// The modulus in these bytes, if the revision has it.
fn modulus_in<R: Rules>(bytes: &[u8]) -> Option<Modulus> {
    let moduli = R::RULES.moduli;
    if moduli.top_byte && bytes.first() == Some(&0) {
        return None;
    }
    let modulus = Modulus::at_least(moduli.min, bytes, bytes.len().div_ceil(LIMB_BYTES)).ok()?;
    (modulus.is_odd() || moduli.powers_of_two).then_some(modulus)
}

#[inline(always)]
fn strided(lanes: Lanes) -> Strided {
    Strided { index: usize::from(lanes.index), stride: usize::from(lanes.stride) }
}
