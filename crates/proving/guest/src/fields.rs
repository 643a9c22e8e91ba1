//! The six instructions of EIP-6690 as rewritten in November and December 2024, with moduli of at most 384 bits.
//!
//! Gas is that of the EIP's tables at these widths, except that memory's growth does not count slots. Halts are not told apart.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use revm_context_interface::Host;
use revm_context_interface::host::DummyHost;
use revm_interpreter::interpreter_types::{Immediates, Jumps};
use revm_interpreter::{
    Instruction, InstructionContext, InstructionExecResult, InstructionResult, InstructionTable, Interpreter,
};
use revm_primitives::U256;

use crate::arithmetic::{Modulus, Operation};
use crate::evm::Wire;

type Context<'a> = InstructionContext<'a, DummyHost, Wire>;

/// Opcodes and limits of the EIP.
const SETMODX: usize = 0xc0;
const LOADX: usize = 0xc1;
const STOREX: usize = 0xc2;
const ADDMODX: usize = 0xc3;
const SUBMODX: usize = 0xc4;
const MULMODX: usize = 0xc5;
const SLOTS_MAX: usize = 256;
const ID_MAX: u16 = 256;
const IMMEDIATE_BYTES: usize = 7;
/// Bytes of the widest modulus here.
const BYTES_MAX: usize = 48;

/// Prices by limbs of the modulus, from 1 (EIP-6690's tables, as `crates/isa/schedules/eip6690.toml` has them).
const SET_MODULUS_GAS: [u64; 6] = [23, 26, 29, 32, 36, 39];
const PRODUCT_GAS: [u64; 6] = [1, 1, 1, 2, 2, 3];
const SUM_GAS: u64 = 1;
/// Of SETMODX, LOADX and STOREX each.
const BASE_GAS: u64 = 1;

/// The field contexts of a frame.
#[derive(Default)]
pub struct Contexts {
    /// True if each operation is one call.
    pub by_calls: bool,
    active: Option<u16>,
    all: BTreeMap<u16, Field>,
}

enum Field {
    Four(Slots<4>),
    Six(Slots<6>),
}

struct Slots<const N: usize> {
    modulus: Modulus<N>,
    values: Vec<[u64; N]>,
    element_limbs: usize,
}

/// Puts the six instructions into a table.
pub fn add_to(table: &mut InstructionTable<Wire, DummyHost>) {
    table[SETMODX] = Instruction::new(set_modulus);
    table[LOADX] = Instruction::new(load);
    table[STOREX] = Instruction::new(store);
    table[ADDMODX] = Instruction::new(|context| lanes(context, Operation::Add));
    table[SUBMODX] = Instruction::new(|context| lanes(context, Operation::Sub));
    table[MULMODX] = Instruction::new(|context| lanes(context, Operation::Mul));
}

impl<const N: usize> Slots<N> {
    fn new(modulus: &[u8], slot_count: usize, by_calls: bool) -> Self {
        let modulus_limbs = limbs(modulus);
        let element_limbs = modulus.len().div_ceil(8);
        Self { modulus: Modulus::new(modulus_limbs, by_calls), values: vec![[0; N]; slot_count], element_limbs }
    }

    /// The lanes of an instruction, all read before any is written.
    #[inline(always)]
    fn lanes(&mut self, operation: Operation, immediate: [u8; IMMEDIATE_BYTES]) {
        let [out, out_stride, x, x_stride, y, y_stride, count] = immediate.map(usize::from);
        let compute = |slots: &Self, lane: usize| {
            let [x, y] = [x + lane * x_stride, y + lane * y_stride].map(|slot| &slots.values[slot]);
            slots.modulus.compute(operation, x, y)
        };
        let last = |first: usize, stride: usize| first + stride * (count - 1);
        // Lane by lane the same slots, or others than are written.
        let is_apart = |first: usize, stride: usize| {
            (first, stride) == (out, out_stride) || last(first, stride) < out || first > last(out, out_stride)
        };
        if count == 1 || is_apart(x, x_stride) && is_apart(y, y_stride) {
            for lane in 0..count {
                self.values[out + lane * out_stride] = compute(self, lane);
            }
        } else {
            let results: Vec<[u64; N]> = (0..count).map(|lane| compute(self, lane)).collect();
            for (lane, result) in results.into_iter().enumerate() {
                self.values[out + lane * out_stride] = result;
            }
        }
    }

    fn store(&mut self, first: usize, bytes: &[u8]) -> Option<()> {
        for (slot, value) in self.values[first..].iter_mut().zip(bytes.chunks_exact(8 * self.element_limbs)) {
            *slot = self.modulus.enter(limbs(value))?;
        }
        Some(())
    }

    fn load(&self, first: usize, bytes: &mut [u8]) {
        let element_limbs = self.element_limbs;
        for (slot, value) in self.values[first..].iter().zip(bytes.chunks_exact_mut(8 * element_limbs)) {
            let canonical = self.modulus.leave(*slot);
            for (limb, bytes) in canonical[..element_limbs].iter().zip(value.rchunks_exact_mut(8)) {
                bytes.copy_from_slice(&limb.to_be_bytes());
            }
        }
    }
}

/// Limbs of a big-endian number that fits, the least first.
fn limbs<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut limbs = [0; N];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.rchunks(8)) {
        *limb = bytes.iter().fold(0, |limb, byte| limb << 8 | u64::from(*byte));
    }
    limbs
}

impl Field {
    fn shape(&self) -> (usize, usize) {
        match self {
            Self::Four(slots) => (slots.values.len(), slots.element_limbs),
            Self::Six(slots) => (slots.values.len(), slots.element_limbs),
        }
    }
}

impl Contexts {
    fn active(&mut self) -> Result<&mut Field, InstructionResult> {
        let active = self.active.and_then(|id| self.all.get_mut(&id));
        active.ok_or(InstructionResult::InvalidOperandOOG)
    }
}

fn pop<const N: usize>(interpreter: &mut Interpreter<Wire>) -> Result<[usize; N], InstructionResult> {
    let Some(words) = interpreter.stack.popn::<N>() else {
        return Err(InstructionResult::StackUnderflow);
    };
    let mut numbers = [0; N];
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = index(word).ok_or(InstructionResult::InvalidOperandOOG)?;
    }
    Ok(numbers)
}

fn index(word: U256) -> Option<usize> {
    usize::try_from(word).ok().filter(|index| *index <= usize::try_from(i32::MAX).unwrap_or(0))
}

fn charge(interpreter: &mut Interpreter<Wire>, gas: u64) -> InstructionExecResult {
    if interpreter.gas.record_cost_unsafe(gas) { Err(InstructionResult::OutOfGas) } else { Ok(()) }
}

fn set_modulus(context: Context<'_>) -> InstructionExecResult {
    let InstructionContext { interpreter, host } = context;
    let [id, offset, size, slot_count] = pop(interpreter)?;
    charge(interpreter, BASE_GAS)?;
    let id = u16::try_from(id).ok().filter(|id| *id <= ID_MAX).ok_or(InstructionResult::InvalidOperandOOG)?;
    interpreter.extend.active = Some(id);
    if interpreter.extend.all.contains_key(&id) {
        return Ok(());
    }
    if !(1..=BYTES_MAX).contains(&size) || !(1..=SLOTS_MAX).contains(&slot_count) {
        return Err(InstructionResult::InvalidOperandOOG);
    }
    interpreter.resize_memory(host.gas_params(), offset, size)?;
    let modulus = interpreter.memory.slice_len(offset, size).to_vec();
    if modulus.iter().all(|byte| *byte == 0) {
        return Err(InstructionResult::InvalidOperandOOG);
    }
    if modulus[size - 1] & 1 == 1 {
        charge(interpreter, SET_MODULUS_GAS[size.div_ceil(8) - 1])?;
    }
    let by_calls = interpreter.extend.by_calls;
    let field = if size <= 32 {
        Field::Four(Slots::new(&modulus, slot_count, by_calls))
    } else {
        Field::Six(Slots::new(&modulus, slot_count, by_calls))
    };
    interpreter.extend.all.insert(id, field);
    Ok(())
}

/// First slot, memory offset and bytes of a transfer, which has been charged and lies within slots and memory.
fn transfer(
    context: &mut Context<'_>,
    [first, offset, count]: [usize; 3],
) -> Result<(usize, usize, usize), InstructionResult> {
    let (slot_count, element_limbs) = context.interpreter.extend.active()?.shape();
    if first > slot_count || count > slot_count - first {
        return Err(InstructionResult::InvalidOperandOOG);
    }
    // usize to u64 widens.
    charge(context.interpreter, BASE_GAS + PRODUCT_GAS[element_limbs - 1] * count as u64)?;
    let bytes = 8 * element_limbs * count;
    if bytes > 0 {
        context.interpreter.resize_memory(context.host.gas_params(), offset, bytes)?;
    }
    Ok((first, offset, bytes))
}

fn load(mut context: Context<'_>) -> InstructionExecResult {
    let [offset, first, count] = pop(context.interpreter)?;
    let (first, offset, bytes) = transfer(&mut context, [first, offset, count])?;
    let Interpreter { extend, memory, .. } = context.interpreter;
    let mut memory = memory.slice_mut(offset, bytes);
    match extend.active()? {
        Field::Four(slots) => slots.load(first, &mut memory),
        Field::Six(slots) => slots.load(first, &mut memory),
    }
    Ok(())
}

fn store(mut context: Context<'_>) -> InstructionExecResult {
    let [first, offset, count] = pop(context.interpreter)?;
    let (first, offset, bytes) = transfer(&mut context, [first, offset, count])?;
    let Interpreter { extend, memory, .. } = context.interpreter;
    let memory = memory.slice_len(offset, bytes);
    let stored = match extend.active()? {
        Field::Four(slots) => slots.store(first, &memory),
        Field::Six(slots) => slots.store(first, &memory),
    };
    stored.ok_or(InstructionResult::InvalidOperandOOG)
}

#[inline(always)]
fn lanes(context: Context<'_>, operation: Operation) -> InstructionExecResult {
    let interpreter = context.interpreter;
    let mut immediate = [0; IMMEDIATE_BYTES];
    immediate.copy_from_slice(interpreter.bytecode.read_slice(IMMEDIATE_BYTES));
    interpreter.bytecode.relative_jump(IMMEDIATE_BYTES as isize);
    let [out, out_stride, x, x_stride, y, y_stride, count] = immediate.map(usize::from);
    let field = interpreter.extend.active()?;
    let (slot_count, element_limbs) = field.shape();
    let last = |first: usize, stride: usize| first + stride * count.saturating_sub(1);
    let furthest = last(out, out_stride).max(last(x, x_stride)).max(last(y, y_stride));
    if count == 0 || out_stride == 0 || furthest >= slot_count {
        return Err(InstructionResult::InvalidOperandOOG);
    }
    let lane = if operation == Operation::Mul { PRODUCT_GAS[element_limbs - 1] } else { SUM_GAS };
    charge(interpreter, lane * count as u64)?; // usize to u64 widens.
    match interpreter.extend.active()? {
        Field::Four(slots) => slots.lanes(operation, immediate),
        Field::Six(slots) => slots.lanes(operation, immediate),
    }
    Ok(())
}
