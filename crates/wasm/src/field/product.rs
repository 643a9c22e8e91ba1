//! The Montgomery product (x: i32, y: i32, ret: i32), addresses of values below m: operand scanning in limbs of 28 bits,
//! carries of a column waiting until it is the lowest. Acar 1997, §2.3.2 (CIOS), with 2²⁸ for the word.

use wasm_encoder::{Function, InstructionSink, ValType};

use super::{Field, MUL_LIMB_BITS, MUL_MASK, bits, limb, local, store_reduced};

/// (x, y) ↦ x·y·R⁻¹ mod m, with R = 2²⁸ᴸ.
pub(crate) fn mul(field: &Field) -> Function {
    let m = field.mul_limbs();
    let (l, n) = (m.len(), field.width_limbs());
    // Locals: the limbs of x, the accumulators, then one limb of y (the carry after the loop), and the quotient digit.
    let [x, t, y_i, q] = [3, 3 + l, 3 + 2 * l, 4 + 2 * l];
    // After the loop x is free, and its place holds the packed sum; the difference and the borrow follow.
    let [s, d, borrow, carry] = [5 + 2 * l, 5 + 2 * l + n, 5 + 2 * l + 2 * n, 6 + 2 * l + 2 * n];
    let mut function = Function::new([(local(2 * l + 2 * n + 4), ValType::I64)]);
    let code = &mut function.instructions();
    for j in 0..l {
        unpack(code, 0, j, n);
        code.local_set(local(x + j));
    }
    let n0 = negated_inverse(m[0]);
    for i in 0..l {
        // Column j of this turn; the lowest column of the turn before is the highest of this one.
        let column = |j: usize| local(t + (i + j) % l);
        unpack(code, 1, i, n);
        code.local_set(local(y_i));
        for j in 0..l {
            // t ← t + x·yᵢ.
            let is_fresh = i == 0 || j == l - 1;
            if !is_fresh {
                code.local_get(column(j));
            }
            code.local_get(local(x + j)).local_get(local(y_i)).i64_mul();
            if !is_fresh {
                code.i64_add();
            }
            code.local_set(column(j));
        }
        // q = −t₀·m₀⁻¹ mod 2²⁸; t ← (t + q·m) / 2²⁸.
        code.local_get(column(0)).i64_const(bits(n0)).i64_mul().i64_const(bits(MUL_MASK)).i64_and();
        code.local_set(local(q));
        for (j, &m_j) in m.iter().enumerate() {
            code.local_get(column(j)).local_get(local(q)).i64_const(bits(m_j)).i64_mul().i64_add();
            code.local_set(column(j));
        }
        if l > 1 {
            code.local_get(column(1)).local_get(column(0)).i64_const(MUL_LIMB_BITS as i64).i64_shr_u().i64_add();
            code.local_set(column(1));
        } else {
            code.local_get(column(0)).i64_const(MUL_LIMB_BITS as i64).i64_shr_u().local_set(column(0));
        }
    }
    // The result is in columns 1 to l − 1 of the last turn; with one limb it is in the only one.
    let columns: Vec<usize> = if l == 1 { vec![t] } else { (1..l).map(|j| t + (l - 1 + j) % l).collect() };
    propagate(code, &columns, y_i);
    let overflow = pack(code, &columns, s, n, carry);
    store_reduced(field, code, s, overflow.then_some(carry), d, borrow);
    code.end();
    function
}

/// Pushes bits 28j to 28j + 27 of the value of `n` limbs whose address is in the local `address`.
fn unpack(code: &mut InstructionSink<'_>, address: u32, j: usize, n: usize) {
    let (word, shift) = (MUL_LIMB_BITS * j / 64, MUL_LIMB_BITS * j % 64);
    if word >= n {
        code.i64_const(0);
        return;
    }
    code.local_get(address).i64_load(limb(word));
    if shift > 0 {
        code.i64_const(shift as i64).i64_shr_u();
    }
    if shift + MUL_LIMB_BITS > 64 && word + 1 < n {
        code.local_get(address).i64_load(limb(word + 1)).i64_const((64 - shift) as i64).i64_shl().i64_or();
    }
    code.i64_const(bits(MUL_MASK)).i64_and();
}

/// Leaves 28 bits in each column but the last, which takes the rest.
fn propagate(code: &mut InstructionSink<'_>, columns: &[usize], carry: usize) {
    for (j, &column) in columns.iter().enumerate() {
        if j > 0 {
            code.local_get(local(column)).local_get(local(carry)).i64_add().local_set(local(column));
        }
        if j + 1 < columns.len() {
            code.local_get(local(column)).i64_const(MUL_LIMB_BITS as i64).i64_shr_u().local_set(local(carry));
            code.local_get(local(column)).i64_const(bits(MUL_MASK)).i64_and().local_set(local(column));
        }
    }
}

/// Packs the columns into `n` limbs in the locals from `s` on. Whether there is a bit 2⁶⁴ⁿ, which is then in `carry`.
fn pack(code: &mut InstructionSink<'_>, columns: &[usize], s: usize, n: usize, carry: usize) -> bool {
    let last = columns.len() - 1;
    // Bits that a column may have: a sum below 2m has one bit more than m.
    let width = |j: usize| if j == last { 64 } else { MUL_LIMB_BITS };
    for word in 0..n {
        let mut is_first = true;
        for (j, &column) in columns.iter().enumerate() {
            let start = MUL_LIMB_BITS * j;
            if start >= 64 * (word + 1) || start + width(j) <= 64 * word {
                continue;
            }
            code.local_get(local(column));
            if start > 64 * word {
                code.i64_const((start - 64 * word) as i64).i64_shl();
            } else if start < 64 * word {
                code.i64_const((64 * word - start) as i64).i64_shr_u();
            }
            if !is_first {
                code.i64_or();
            }
            is_first = false;
        }
        if is_first {
            code.i64_const(0);
        }
        code.local_set(local(s + word));
    }
    let start = MUL_LIMB_BITS * last;
    let above = 64 * n - start;
    if above >= 64 {
        return false;
    }
    code.local_get(local(columns[last])).i64_const(above as i64).i64_shr_u().local_set(local(carry));
    true
}

/// −m⁻¹ mod 2²⁸ for m odd, by Newton's iteration: each step doubles the correct bits, of which x = m has three.
fn negated_inverse(m: u64) -> u64 {
    let mut x = m;
    for _ in 0..4 {
        x = x.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(x)));
    }
    x.wrapping_neg() & MUL_MASK
}
