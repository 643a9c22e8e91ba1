//! Arithmetic of 256-bit words: a in locals 0 to 3, b in locals 4 to 7, least significant limb first.

use wasm_encoder::{BlockType, Function, InstructionSink, ValType};

use super::super::routine::Routine;
use super::super::words::{LIMBS, any, read, write};
use crate::field::{Field, bits};

/// Addresses of a and b.
const A: u32 = 0;
const B: u32 = 4;
/// The first local after them.
const FREE: u32 = 8;

/// A word ↦ its lowest limb, or 2³² if it is above.
pub(super) fn clamp(_: &Field) -> Function {
    let mut function = Function::new([]);
    let code = &mut function.instructions();
    code.i64_const(1 << 32).local_get(A);
    code.local_get(A).i64_const(32).i64_shr_u().local_get(A + 1).local_get(A + 2).local_get(A + 3);
    any(code);
    code.i64_const(0).i64_ne().select().end();
    function
}

/// (s, c, a, b) ↦ a·b + s + c < 2¹²⁸: four products of 32-bit halves.
pub(super) fn mul_add(_: &Field) -> Function {
    let [s, c, a, b, low, mid, other, high] = [0, 1, 2, 3, 4, 5, 6, 7];
    let half = bits(u64::from(u32::MAX));
    let mut function = Function::new([(4, ValType::I64)]);
    let code = &mut function.instructions();
    let product = |code: &mut InstructionSink<'_>, high_a: bool, high_b: bool| {
        for (operand, is_high) in [(a, high_a), (b, high_b)] {
            code.local_get(operand);
            if is_high {
                code.i64_const(32).i64_shr_u();
            } else {
                code.i64_const(half).i64_and();
            }
        }
        code.i64_mul();
    };
    product(code, false, false);
    code.local_set(low);
    // mid = a₀·b₁ + ⌊a₀·b₀ / 2³²⌋ and other = a₁·b₀ + mid mod 2³² stay below 2⁶⁴.
    product(code, false, true);
    code.local_get(low).i64_const(32).i64_shr_u().i64_add().local_set(mid);
    product(code, true, false);
    code.local_get(mid).i64_const(half).i64_and().i64_add().local_set(other);
    product(code, true, true);
    code.local_get(mid).i64_const(32).i64_shr_u().i64_add();
    code.local_get(other).i64_const(32).i64_shr_u().i64_add().local_set(high);
    code.local_get(other).i64_const(32).i64_shl().local_get(low).i64_const(half).i64_and().i64_or().local_set(low);
    for summand in [s, c] {
        code.local_get(low).local_get(summand).i64_add().local_tee(low).local_get(summand).i64_lt_u();
        code.i64_extend_i32_u().local_get(high).i64_add().local_set(high);
    }
    code.local_get(low).local_get(high).end();
    function
}

/// a + b mod 2²⁵⁶.
pub(super) fn add(_: &Field) -> Function {
    let [carry, r] = [FREE, FREE + 1];
    let mut function = Function::new([(1 + LIMBS, ValType::I64)]);
    let code = &mut function.instructions();
    for i in 0..LIMBS {
        code.local_get(A + i).local_get(B + i).i64_add().local_tee(r + i).local_get(A + i).i64_lt_u();
        code.local_get(r + i).local_get(carry).i64_add().local_tee(r + i).local_get(carry).i64_lt_u().i32_or();
        code.i64_extend_i32_u().local_set(carry);
    }
    read(code, r);
    code.end();
    function
}

/// a − b into the locals from `r` on; the borrow stays in `borrow`, which is 0 before.
fn subtract(code: &mut InstructionSink<'_>, [a, b, r, borrow]: [u32; 4]) {
    for i in 0..LIMBS {
        code.local_get(a + i).local_get(b + i).i64_lt_u();
        code.local_get(a + i).local_get(b + i).i64_sub().local_tee(r + i).local_get(borrow).i64_lt_u().i32_or();
        code.local_get(r + i).local_get(borrow).i64_sub().local_set(r + i);
        code.i64_extend_i32_u().local_set(borrow);
    }
}

/// a − b mod 2²⁵⁶.
pub(super) fn sub(_: &Field) -> Function {
    let mut function = Function::new([(1 + LIMBS, ValType::I64)]);
    let code = &mut function.instructions();
    subtract(code, [A, B, FREE + 1, FREE]);
    read(code, FREE + 1);
    code.end();
    function
}

/// 1 if a < b: the borrow of a − b.
pub(super) fn less_than(_: &Field) -> Function {
    let mut function = Function::new([(1 + LIMBS, ValType::I64)]);
    let code = &mut function.instructions();
    subtract(code, [A, B, FREE + 1, FREE]);
    code.local_get(FREE).end();
    function
}

/// 1 if a = b.
pub(super) fn equal(_: &Field) -> Function {
    let mut function = Function::new([]);
    let code = &mut function.instructions();
    for i in 0..LIMBS {
        code.local_get(A + i).local_get(B + i).i64_xor();
    }
    any(code);
    code.i64_eqz().i64_extend_i32_u().end();
    function
}

/// Limb by limb.
pub(super) fn bitwise(
    join: impl for<'c, 's> Fn(&'c mut InstructionSink<'s>) -> &'c mut InstructionSink<'s>,
) -> Function {
    let mut function = Function::new([]);
    let code = &mut function.instructions();
    for i in 0..LIMBS {
        join(code.local_get(A + i).local_get(B + i));
    }
    code.end();
    function
}

/// a·b mod 2²⁵⁶, row by row.
pub(super) fn mul(_: &Field) -> Function {
    let [carry, r] = [FREE, FREE + 1];
    let mut function = Function::new([(1 + LIMBS, ValType::I64)]);
    let code = &mut function.instructions();
    for i in 0..LIMBS {
        code.i64_const(0).local_set(carry);
        for j in 0..LIMBS - i {
            code.local_get(r + i + j).local_get(carry).local_get(A + i).local_get(B + j);
            code.call(Routine::MulAdd.index()).local_set(carry).local_set(r + i + j);
        }
    }
    read(code, r);
    code.end();
    function
}

/// Result of a division: quotient or remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// ⌊a / b⌋.
    Quotient,
    /// a mod b.
    Remainder,
}

/// A part of a division, 0 for b = 0: at once where both fit a limb, else bit by bit.
pub(super) fn divide(part: Part) -> Function {
    // The remainder so far, the difference to b, its borrow, the bit that leaves the remainder, turns left.
    let [r, d, borrow, top, turns] = [FREE, FREE + 4, FREE + 8, FREE + 9, FREE + 10];
    let mut function = Function::new([(11, ValType::I64)]);
    let code = &mut function.instructions();
    let zeros = |code: &mut InstructionSink<'_>, count: u32| {
        for _ in 0..count {
            code.i64_const(0);
        }
    };
    read(code, B);
    any(code);
    code.i64_eqz().if_(BlockType::Empty);
    zeros(code, LIMBS);
    code.return_().end();
    for limb in 1..LIMBS {
        code.local_get(A + limb).local_get(B + limb).i64_or();
    }
    code.i64_or().i64_or().i64_eqz().if_(BlockType::Empty).local_get(A).local_get(B);
    if part == Part::Quotient {
        code.i64_div_u();
    } else {
        code.i64_rem_u();
    }
    zeros(code, LIMBS - 1);
    code.return_().end();

    code.i64_const(256).local_set(turns).loop_(BlockType::Empty);
    // (r, a) moves left by a bit; the lowest bit of a becomes the bit of the quotient.
    code.local_get(r + 3).i64_const(63).i64_shr_u().local_set(top);
    let limbs: Vec<u32> = (A..A + LIMBS).chain(r..r + LIMBS).collect();
    for (place, &limb) in limbs.iter().enumerate().rev() {
        code.local_get(limb).i64_const(1).i64_shl();
        if place > 0 {
            code.local_get(limbs[place - 1]).i64_const(63).i64_shr_u().i64_or();
        }
        code.local_set(limb);
    }
    code.i64_const(0).local_set(borrow);
    subtract(code, [r, B, d, borrow]);
    code.local_get(top).local_get(borrow).i64_eqz().i64_extend_i32_u().i64_or().i64_const(0).i64_ne();
    code.if_(BlockType::Empty);
    read(code, d);
    write(code, r);
    code.local_get(A).i64_const(1).i64_or().local_set(A).end();
    code.local_get(turns).i64_const(1).i64_sub().local_tee(turns).i64_const(0).i64_ne().br_if(0).end();
    read(code, if part == Part::Quotient { A } else { r });
    code.end();
    function
}

/// Returns 0 if the shift b is 256 or more.
fn without_large_shifts(code: &mut InstructionSink<'_>) {
    code.local_get(B).i64_const(8).i64_shr_u().local_get(B + 1).local_get(B + 2).local_get(B + 3);
    any(code);
    code.i64_const(0).i64_ne().if_(BlockType::Empty);
    code.i64_const(0).i64_const(0).i64_const(0).i64_const(0).return_().end();
}

/// If the bit `bit` of the shift is set, each limb of `targets` becomes that of `sources`, or 0 after their end.
fn move_limbs(code: &mut InstructionSink<'_>, bit: i64, targets: [u32; 4], distance: usize) {
    code.local_get(B).i64_const(bit).i64_and().i64_const(0).i64_ne().if_(BlockType::Empty);
    for (place, &target) in targets.iter().enumerate() {
        match targets.get(place + distance) {
            Some(&source) => code.local_get(source).local_set(target),
            None => code.i64_const(0).local_set(target),
        };
    }
    code.end();
}

/// a·2ᵇ mod 2²⁵⁶: by limbs, then by bits. Shifts take their distance modulo 64.
pub(super) fn shift_left(_: &Field) -> Function {
    let mut function = Function::new([]);
    let code = &mut function.instructions();
    without_large_shifts(code);
    move_limbs(code, 128, [A + 3, A + 2, A + 1, A], 2);
    move_limbs(code, 64, [A + 3, A + 2, A + 1, A], 1);
    for limb in (A..A + LIMBS).rev() {
        code.local_get(limb).local_get(B).i64_shl();
        if limb > A {
            code.local_get(limb - 1).i64_const(1).i64_shr_u().i64_const(63).local_get(B).i64_sub().i64_shr_u();
            code.i64_or();
        }
        code.local_set(limb);
    }
    read(code, A);
    code.end();
    function
}

/// ⌊a / 2ᵇ⌋: by limbs, then by bits.
pub(super) fn shift_right(_: &Field) -> Function {
    let mut function = Function::new([]);
    let code = &mut function.instructions();
    without_large_shifts(code);
    move_limbs(code, 128, [A, A + 1, A + 2, A + 3], 2);
    move_limbs(code, 64, [A, A + 1, A + 2, A + 3], 1);
    for limb in A..A + LIMBS {
        code.local_get(limb).local_get(B).i64_shr_u();
        if limb + 1 < A + LIMBS {
            code.local_get(limb + 1).i64_const(1).i64_shl().i64_const(63).local_get(B).i64_sub().i64_shl().i64_or();
        }
        code.local_set(limb);
    }
    read(code, A);
    code.end();
    function
}

/// Byte b of a from the most significant; 0 for b > 31.
pub(super) fn byte(_: &Field) -> Function {
    let mut function = Function::new([]);
    let code = &mut function.instructions();
    code.i64_const(0).local_get(A);
    // Eight bytes lie in each limb, the first of them in the highest.
    for limb in 1..LIMBS {
        let bytes_above = i64::from(8 * (LIMBS - limb));
        code.local_get(A + limb).local_get(B).i64_const(bytes_above).i64_ge_u().select();
    }
    code.i64_const(56).local_get(B).i64_const(8).i64_mul().i64_sub().i64_shr_u().i64_const(0xff).i64_and();
    code.local_get(B).i64_const(5).i64_shr_u().local_get(B + 1).local_get(B + 2).local_get(B + 3);
    any(code);
    code.i64_const(0).i64_ne().select().end();
    function
}
