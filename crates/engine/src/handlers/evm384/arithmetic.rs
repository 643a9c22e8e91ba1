//! The three operations on values in memory, whichever words, bytes or slots have named them.

use residue_isa::revision::evm384::{BLS12_381_P, BLS12_381_R_INV, Evm384, R_INV_BYTES, VALUE_BYTES};
use residue_isa::{PerOp, Revision};
use residue_modular::evm384;
use revm::interpreter::InstructionResult;

use crate::halt::Halt;
use crate::handlers::{FieldHost, Frame, Handled, halt};

/// Opcode of additions.
pub(super) const ADD: u8 = 0xc0;
/// Opcode of subtractions.
pub(super) const SUB: u8 = 0xc1;
/// Opcode of multiplications.
pub(super) const MUL: u8 = 0xc2;

const _: () = {
    let mut i = 0;
    while i < Revision::ALL.len() {
        if Revision::ALL[i].evm384().is_some() {
            assert!(matches!(Revision::ALL[i].interface().arithmetic, PerOp([ADD, SUB, MUL])));
        }
        i += 1;
    }
};

/// Bytes that an operation reaches after its highest offset where r_inv follows the modulus: evmone's rule, which counts 8
/// bytes more than needed if the highest operand of a multiplication is not the modulus.
pub(super) const fn reach_bytes(opcode: u8) -> usize {
    if opcode == MUL { VALUE_BYTES + R_INV_BYTES } else { VALUE_BYTES }
}

/// Grows memory to `bytes` after the highest offset.
#[inline(always)]
pub(super) fn grow<H: FieldHost>(frame: &mut Frame<'_, H>, offsets: [usize; 4], bytes: usize) -> Handled {
    let [a, b, c, d] = offsets;
    let highest = a.max(b).max(c.max(d));
    frame.interpreter.resize_memory(frame.host.gas_params(), highest, bytes)
}

/// The operation in memory, which holds all operands, with r_inv after the modulus.
#[inline(always)]
pub(super) fn operate<const OPCODE: u8, H>(frame: &mut Frame<'_, H>, offsets: [usize; 4]) {
    operate_on::<OPCODE>(&mut frame.interpreter.memory.context_memory_mut(), offsets);
}

/// As [`operate`], unless the modulus is too long: then the frame ends.
#[inline(always)]
pub(super) fn operate_if_short<const OPCODE: u8, H: FieldHost>(
    frame: &mut Frame<'_, H>,
    offsets: [usize; 4],
    interface: &Evm384,
) -> Handled {
    let is_short = {
        let memory = &mut *frame.interpreter.memory.context_memory_mut();
        let is_short = !interface.refuses(memory, offsets[3]);
        if is_short {
            operate_on::<OPCODE>(memory, offsets);
        }
        is_short
    };
    if is_short { Ok(()) } else { Err(too_long(frame)) }
}

#[inline(always)]
fn operate_on<const OPCODE: u8>(memory: &mut [u8], [out, x, y, modulus]: [usize; 4]) {
    match OPCODE {
        ADD => evm384::add_in_memory(memory, out, x, y, modulus),
        SUB => evm384::sub_in_memory(memory, out, x, y, modulus),
        _ => evm384::mul_in_memory(memory, out, x, y, modulus),
    }
}

/// As [`operate`] with r_inv given.
#[inline(always)]
pub(super) fn operate_with<const OPCODE: u8, H>(
    frame: &mut Frame<'_, H>,
    [out, x, y, modulus]: [usize; 4],
    r_inv: u64,
) {
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    match OPCODE {
        ADD => evm384::add_in_memory(memory, out, x, y, modulus),
        SUB => evm384::sub_in_memory(memory, out, x, y, modulus),
        _ => evm384::mul_in_memory_with(memory, out, x, y, modulus, r_inv),
    }
}

/// As [`operate`] under the base field of BLS12-381.
#[inline(always)]
pub(super) fn operate_fixed<const OPCODE: u8, H>(frame: &mut Frame<'_, H>, [out, x, y]: [usize; 3]) {
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    let [x, y] = [x, y].map(|at| evm384::read_le(bytes_at(memory, at)));
    let result = compute::<OPCODE>(&x, &y, &BLS12_381_P, BLS12_381_R_INV);
    evm384::write_le(&result, bytes_at_mut(memory, out));
}

/// The operation on values.
#[inline(always)]
pub(super) fn compute<const OPCODE: u8>(
    x: &evm384::Value,
    y: &evm384::Value,
    m: &evm384::Value,
    r_inv: u64,
) -> evm384::Value {
    match OPCODE {
        ADD => evm384::add(x, y, m),
        SUB => evm384::sub(x, y, m),
        _ => evm384::mont_mul(x, y, m, r_inv),
    }
}

/// The bytes of a value inside memory.
#[inline(always)]
pub(super) fn bytes_at(memory: &[u8], at: usize) -> &[u8; VALUE_BYTES] {
    memory[at..][..VALUE_BYTES].try_into().expect("the slice was cut to 48 bytes")
}

#[inline(always)]
pub(super) fn bytes_at_mut(memory: &mut [u8], at: usize) -> &mut [u8; VALUE_BYTES] {
    (&mut memory[at..][..VALUE_BYTES]).try_into().expect("the slice was cut to 48 bytes")
}

/// Ends the frame where memory would have had to grow.
#[cold]
#[inline(never)]
pub(super) fn outside<H: FieldHost>(frame: &mut Frame<'_, H>) -> InstructionResult {
    halt(frame, Halt::MemoryOutOfRange)
}

#[cold]
#[inline(never)]
fn too_long<H: FieldHost>(frame: &mut Frame<'_, H>) -> InstructionResult {
    halt(frame, Halt::InvalidModulus)
}
