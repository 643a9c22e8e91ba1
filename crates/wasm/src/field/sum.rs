//! Sum and difference: (x: i32, y: i32, ret: i32), addresses of values below m. All limbs are read before any is written.

use wasm_encoder::{Function, ValType};

use super::{Field, bits, limb, local, store_reduced};

/// (x, y) ↦ x + y mod m.
pub(crate) fn add(field: &Field) -> Function {
    let n = field.width_limbs();
    let [s, d, carry, borrow] = [3, 3 + n, 3 + 2 * n, 4 + 2 * n];
    let mut function = Function::new([(local(2 * n + 2), ValType::I64)]);
    let code = &mut function.instructions();
    for i in 0..n {
        // sᵢ = xᵢ + yᵢ + carry.
        code.local_get(0).i64_load(limb(i)).local_tee(local(d)).local_get(1).i64_load(limb(i)).i64_add();
        code.local_tee(local(s + i)).local_get(local(d)).i64_lt_u();
        if i > 0 {
            code.local_get(local(s + i)).local_get(local(carry)).i64_add().local_tee(local(s + i));
            code.local_get(local(carry)).i64_lt_u().i32_or();
        }
        code.i64_extend_i32_u().local_set(local(carry));
    }
    store_reduced(field, code, s, Some(carry), d, borrow);
    code.end();
    function
}

/// (x, y) ↦ x − y mod m.
pub(crate) fn sub(field: &Field) -> Function {
    let n = field.width_limbs();
    let [d, x, borrow, part] = [3, 3 + n, 4 + n, 5 + n];
    let mut function = Function::new([(local(n + 3), ValType::I64)]);
    let code = &mut function.instructions();
    for i in 0..n {
        // dᵢ = xᵢ − yᵢ − borrow.
        code.local_get(0).i64_load(limb(i)).local_tee(local(x)).local_get(1).i64_load(limb(i)).local_tee(local(part));
        code.i64_sub().local_set(local(d + i));
        code.local_get(local(x)).local_get(local(part)).i64_lt_u();
        if i > 0 {
            code.local_get(local(d + i)).local_get(local(borrow)).i64_lt_u().i32_or();
            code.local_get(local(d + i)).local_get(local(borrow)).i64_sub().local_set(local(d + i));
        }
        code.i64_extend_i32_u().local_set(local(borrow));
    }
    // All ones if d < 0: then m is added, and the carry out of the top is the borrow.
    let (mask, carry) = (x, borrow);
    code.i64_const(0).local_get(local(borrow)).i64_sub().local_set(local(mask));
    for (i, &m_i) in field.limbs().iter().enumerate() {
        code.local_get(local(mask)).i64_const(bits(m_i)).i64_and().local_set(local(part));
        code.local_get(local(d + i)).local_get(local(part)).i64_add().local_tee(local(d + i));
        code.local_get(local(part)).i64_lt_u();
        if i > 0 {
            code.local_get(local(d + i)).local_get(local(carry)).i64_add().local_tee(local(d + i));
            code.local_get(local(carry)).i64_lt_u().i32_or();
        }
        code.i64_extend_i32_u().local_set(local(carry));
    }
    for i in 0..n {
        code.local_get(2).local_get(local(d + i)).i64_store(limb(i));
    }
    code.end();
    function
}
