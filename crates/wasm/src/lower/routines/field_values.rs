//! Bytes of calldata and output, and questions about field values in memory.

use wasm_encoder::{BlockType, Function, MemArg, ValType};

use super::super::routine::Routine;
use super::super::{CALLDATA_BYTES, INPUT};
use crate::field::{Field, bits, limb};

/// A load at any address.
const UNALIGNED: MemArg = MemArg { offset: 0, align: 0, memory_index: 0 };

/// (pos, count) ↦ the number in `count` ≤ 8 big-endian bytes of calldata from `pos` < 2⁶³; zeros past the end.
pub(super) fn read_be(_: &Field) -> Function {
    let [pos, count, number] = [0, 1, 2];
    let mut function = Function::new([(1, ValType::I64)]);
    let code = &mut function.instructions();
    let size = |code: &mut wasm_encoder::InstructionSink<'_>| {
        code.global_get(CALLDATA_BYTES).i64_extend_i32_u();
    };
    code.local_get(pos).i64_const(8).i64_add();
    size(code);
    code.i64_le_u().local_get(count).i32_const(8).i32_eq().i32_and().if_(BlockType::Empty);
    code.local_get(pos).i32_wrap_i64().global_get(INPUT).i32_add().i64_load(UNALIGNED);
    code.call(Routine::SwapBytes.index()).return_().end();

    code.block(BlockType::Empty).loop_(BlockType::Empty).local_get(count).i32_eqz().br_if(1);
    code.local_get(number).i64_const(8).i64_shl().local_set(number).local_get(pos);
    size(code);
    code.i64_lt_u().if_(BlockType::Empty);
    code.local_get(pos).i32_wrap_i64().global_get(INPUT).i32_add().i64_load8_u(UNALIGNED);
    code.local_get(number).i64_or().local_set(number).end();
    code.local_get(pos).i64_const(1).i64_add().local_set(pos);
    code.local_get(count).i32_const(1).i32_sub().local_set(count).br(0).end().end();
    code.local_get(number).end();
    function
}

/// The bytes of a limb in the other order: within 16 bits, then within 32, then the halves.
pub(super) fn swap_bytes(_: &Field) -> Function {
    let mut function = Function::new([]);
    let code = &mut function.instructions();
    for (shift, mask) in [(8, 0x00ff_00ff_00ff_00ff), (16, 0x0000_ffff_0000_ffff)] {
        code.local_get(0).i64_const(shift).i64_shr_u().i64_const(bits(mask)).i64_and();
        code.local_get(0).i64_const(bits(mask)).i64_and().i64_const(shift).i64_shl().i64_or().local_set(0);
    }
    code.local_get(0).i64_const(32).i64_rotl().end();
    function
}

/// 1 if the number at an address is below m: the borrow of subtracting m.
pub(super) fn is_below(field: &Field) -> Function {
    let [borrow, part] = [1, 2];
    let mut function = Function::new([(2, ValType::I64)]);
    let code = &mut function.instructions();
    for (i, &m_i) in field.limbs().iter().enumerate() {
        code.local_get(0).i64_load(limb(i)).local_tee(part).i64_const(bits(m_i)).i64_lt_u();
        // Where the limbs are equal, the borrow decides.
        code.local_get(part).i64_const(bits(m_i)).i64_eq().local_get(borrow).i32_wrap_i64().i32_and().i32_or();
        code.i64_extend_i32_u().local_set(borrow);
    }
    code.local_get(borrow).end();
    function
}

/// 1 if the value at an address is 0.
pub(super) fn is_zero(field: &Field) -> Function {
    let mut function = Function::new([]);
    let code = &mut function.instructions();
    code.i64_const(0);
    for i in 0..field.width_limbs() {
        code.local_get(0).i64_load(limb(i)).i64_or();
    }
    code.i64_eqz().i64_extend_i32_u().end();
    function
}

/// 1 if the values at two addresses are equal: values are below m, so there is one form of each.
pub(super) fn are_equal(field: &Field) -> Function {
    let mut function = Function::new([]);
    let code = &mut function.instructions();
    code.i64_const(0);
    for i in 0..field.width_limbs() {
        code.local_get(0).i64_load(limb(i)).local_get(1).i64_load(limb(i)).i64_xor().i64_or();
    }
    code.i64_eqz().i64_extend_i32_u().end();
    function
}

/// (from, to): the limbs at `from`, big-endian, the most significant first.
pub(super) fn write_be(field: &Field) -> Function {
    let mut function = Function::new([]);
    let code = &mut function.instructions();
    let n = field.width_limbs();
    for i in 0..n {
        code.local_get(1).local_get(0).i64_load(limb(i)).call(Routine::SwapBytes.index());
        code.i64_store(MemArg { align: 0, ..limb(n - 1 - i) });
    }
    code.end();
    function
}
