//! EVM384: the same three operations in every revision, on operands that each revision names in its own way.
//!
//! Source: evmone branches `evm384-v1` to `-v9`, go-ethereum branch `evm384-v10`, poemm/EVMcurves; the files of
//! `residue_isa::revision` have the places. Operands need not be below the modulus. [`words`] has the revisions with an
//! operand a word, [`packed`] those with one word for all, [`immediate`] those with operands behind the opcode and [`values`]
//! the one with values on the stack.

pub(crate) mod blocks;
mod immediate;
mod packed;
mod values;
mod words;

use residue_isa::revision::evm384::{BLS12_381_P, BLS12_381_R_INV, R_INV_BYTES, VALUE_BYTES};
use residue_isa::revision::{evm384_v7::LOGF, evm384_v12::SETMOD};
use residue_isa::{PerOp, Revision};
use residue_modular::evm384;
use revm::interpreter::Instruction;
use revm::interpreter::InstructionResult;
use revm::interpreter::interpreter::EthInterpreter;

use super::{FieldHost, Frame, Step, charge_base, pop};

/// Opcode of additions.
const ADD: u8 = 0xc0;
/// Opcode of subtractions.
const SUB: u8 = 0xc1;
/// Opcode of multiplications.
const MUL: u8 = 0xc2;

const _: () = {
    let mut i = 0;
    while i < Revision::ALL.len() {
        if Revision::ALL[i].evm384().is_some() {
            assert!(matches!(Revision::ALL[i].interface().arithmetic, PerOp([ADD, SUB, MUL])));
        }
        i += 1;
    }
};

/// The handler of an opcode of a revision of EVM384; none for other revisions and other opcodes.
pub(crate) fn handler<H: FieldHost>(revision: Revision, opcode: u8) -> Option<Instruction<EthInterpreter, H>> {
    macro_rules! operations {
        ($family:ident::$handler:ident) => {
            match opcode {
                ADD => Instruction::new($family::$handler::<ADD, H>),
                SUB => Instruction::new($family::$handler::<SUB, H>),
                MUL => Instruction::new($family::$handler::<MUL, H>),
                _ => return None,
            }
        };
    }
    Some(match (revision, opcode) {
        (Revision::Evm384V7, LOGF) => Instruction::new(logf),
        (Revision::Evm384V12, SETMOD) => Instruction::new(immediate::setmod),
        (Revision::Evm384V0, _) => operations!(values::v0),
        (Revision::Evm384V1, _) => operations!(words::v1),
        (Revision::Evm384V2, _) => operations!(words::v2),
        (Revision::Evm384V3, _) => operations!(words::v3),
        (Revision::Evm384V4, _) => operations!(words::v4),
        (Revision::Evm384V5, _) => operations!(words::v5),
        (Revision::Evm384V6, _) => operations!(packed::v6),
        (Revision::Evm384V7, _) => operations!(packed::v7),
        (Revision::Evm384V8, _) => operations!(packed::v8),
        (Revision::Evm384V9, _) => operations!(immediate::v9),
        (Revision::Evm384V10, _) => operations!(packed::v10),
        (Revision::Evm384V12, _) => operations!(immediate::v12),
        _ => return None,
    })
}

/// `LOGF`: offset, element size and number of elements, without effect.
fn logf<H: FieldHost>(mut frame: Frame<'_, H>) -> Step {
    let [_offset, _element_size, _count] = pop(&mut frame)?;
    charge_base::<LOGF, H>(&mut frame)
}

/// Bytes that an operation reaches behind its highest offset where r_inv follows the modulus: evmone's rule, which counts 8
/// bytes more than needed if the highest operand of a multiplication is not the modulus.
const fn reach_bytes(opcode: u8) -> usize {
    if opcode == MUL { VALUE_BYTES + R_INV_BYTES } else { VALUE_BYTES }
}

/// Grows memory to `bytes` behind the highest offset.
#[inline(always)]
fn grow<H: FieldHost>(frame: &mut Frame<'_, H>, offsets: [usize; 4], bytes: usize) -> Step {
    let [a, b, c, d] = offsets;
    let highest = a.max(b).max(c.max(d));
    frame.interpreter.resize_memory(frame.host.gas_params(), highest, bytes)
}

/// The operation in memory, which holds all operands, with r_inv behind the modulus.
#[inline(always)]
fn operate<const OPCODE: u8, H>(frame: &mut Frame<'_, H>, [out, x, y, modulus]: [usize; 4]) {
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    match OPCODE {
        ADD => evm384::add_in_memory(memory, out, x, y, modulus),
        SUB => evm384::sub_in_memory(memory, out, x, y, modulus),
        _ => evm384::mul_in_memory(memory, out, x, y, modulus),
    }
}

/// As [`operate`] with r_inv given.
#[inline(always)]
fn operate_with<const OPCODE: u8, H>(frame: &mut Frame<'_, H>, [out, x, y, modulus]: [usize; 4], r_inv: u64) {
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    match OPCODE {
        ADD => evm384::add_in_memory(memory, out, x, y, modulus),
        SUB => evm384::sub_in_memory(memory, out, x, y, modulus),
        _ => evm384::mul_in_memory_with(memory, out, x, y, modulus, r_inv),
    }
}

/// As [`operate`] under the base field of BLS12-381.
#[inline(always)]
fn operate_fixed<const OPCODE: u8, H>(frame: &mut Frame<'_, H>, [out, x, y]: [usize; 3]) {
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    let [x, y] = [x, y].map(|at| evm384::read_le(bytes_at(memory, at)));
    let result = compute::<OPCODE>(&x, &y, &BLS12_381_P, BLS12_381_R_INV);
    evm384::write_le(&result, bytes_at_mut(memory, out));
}

/// The operation on values.
#[inline(always)]
fn compute<const OPCODE: u8>(x: &evm384::Value, y: &evm384::Value, m: &evm384::Value, r_inv: u64) -> evm384::Value {
    match OPCODE {
        ADD => evm384::add(x, y, m),
        SUB => evm384::sub(x, y, m),
        _ => evm384::mont_mul(x, y, m, r_inv),
    }
}

/// The bytes of a value inside memory.
#[inline(always)]
fn bytes_at(memory: &[u8], at: usize) -> &[u8; VALUE_BYTES] {
    memory[at..][..VALUE_BYTES].try_into().expect("the slice was cut to 48 bytes")
}

#[inline(always)]
fn bytes_at_mut(memory: &mut [u8], at: usize) -> &mut [u8; VALUE_BYTES] {
    (&mut memory[at..][..VALUE_BYTES]).try_into().expect("the slice was cut to 48 bytes")
}

/// Ends the frame where memory would have had to grow.
#[cold]
#[inline(never)]
fn outside<H: FieldHost>(frame: &mut Frame<'_, H>) -> InstructionResult {
    super::halt(frame, crate::halt::Halt::MemoryOutOfRange)
}
