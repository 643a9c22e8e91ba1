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

/// The handlers of one revision by opcode: those of the three operations, and of what it has besides.
macro_rules! by_opcode {
    ($($revision:ident: $family:ident::$handler:ident $(, $opcode:ident => $other:expr)?;)*) => {
        $(
            /// The handler of an opcode of this revision.
            pub(crate) fn $revision<H: FieldHost>(opcode: u8) -> Option<Instruction<EthInterpreter, H>> {
                match opcode {
                    ADD => Some(Instruction::new($family::$handler::<ADD, H>)),
                    SUB => Some(Instruction::new($family::$handler::<SUB, H>)),
                    MUL => Some(Instruction::new($family::$handler::<MUL, H>)),
                    $($opcode => Some(Instruction::new($other)),)?
                    _ => None,
                }
            }
        )*
    };
}

by_opcode! {
    v0: values::v0;
    v1: words::v1;
    v2: words::v2;
    v3: words::v3;
    v4: words::v4;
    v5: words::v5;
    v6: packed::v6;
    v7: packed::v7, LOGF => logf;
    v8: packed::v8;
    v9: immediate::v9;
    v10: packed::v10;
    v12: immediate::v12, SETMOD => immediate::setmod;
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
