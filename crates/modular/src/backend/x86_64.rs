//! Kernels for x86-64: additions by the carry flag on every CPU, Montgomery products for those with BMI2 and ADX.
//!
//! The products are CIOS with all accumulators in registers. `mulx` leaves the flags alone, so a row keeps two carry
//! chains going: low halves through CF (`adcx`), high halves through OF (`adox`). [`portable`](super::portable) judges
//! them on any operands, modulus and n0.

use core::arch::naked_asm;
use core::arch::x86_64::{_addcarry_u64, _subborrow_u64};
use core::hint::select_unpredictable;
use std::arch::is_x86_feature_detected;

use super::Kernel;
use crate::limbs::Limb;

/// Has this CPU the instructions of the products here? The standard library keeps the answer.
#[inline]
pub(crate) fn has_products() -> bool {
    is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx")
}

/// As [`portable::add`](super::portable::add).
#[inline]
pub(crate) fn add<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    let mut sum = [0; N];
    let mut carry = 0;
    for i in 0..N {
        carry = _addcarry_u64(carry, x[i], y[i], &mut sum[i]);
    }
    sub_if_geq(&sum, carry, m)
}

/// As [`portable::sub`](super::portable::sub).
#[inline]
pub(crate) fn sub<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N]) -> [Limb; N] {
    let mut difference = [0; N];
    let mut borrow = 0;
    for i in 0..N {
        borrow = _subborrow_u64(borrow, x[i], y[i], &mut difference[i]);
    }
    let mut raised = [0; N];
    let mut carry = 0;
    for i in 0..N {
        carry = _addcarry_u64(carry, difference[i], m[i], &mut raised[i]);
    }
    core::array::from_fn(|i| select_unpredictable(borrow != 0, raised[i], difference[i]))
}

/// v = t + top·2^(64N) ↦ v, minus m once if v ≥ m, mod 2^(64N).
#[inline]
fn sub_if_geq<const N: usize>(t: &[Limb; N], top: u8, m: &[Limb; N]) -> [Limb; N] {
    let mut reduced = [0; N];
    let mut borrow = 0;
    for i in 0..N {
        borrow = _subborrow_u64(borrow, t[i], m[i], &mut reduced[i]);
    }
    let borrow = _subborrow_u64(borrow, top.into(), 0, &mut 0);
    core::array::from_fn(|i| select_unpredictable(borrow != 0, t[i], reduced[i]))
}

/// As [`portable::mont_mul`](super::portable::mont_mul); `None` where this CPU or this width has no product here.
#[inline]
pub(crate) fn mont_mul<const N: usize>(x: &[Limb; N], y: &[Limb; N], m: &[Limb; N], n0: Limb) -> Option<[Limb; N]> {
    if !matches!(N, 4 | 6 | 12) || !has_products() {
        return None;
    }
    let mut out = [0; N];
    let (to, x, y, m) = (out.as_mut_ptr(), x.as_ptr(), y.as_ptr(), m.as_ptr());
    // SAFETY: the CPU was asked above; all four pointers are to arrays of N limbs, of which `out` is our own.
    unsafe {
        match N {
            4 => mont_mul_4(to, x, y, m, n0),
            6 => mont_mul_6(to, x, y, m, n0),
            _ => mont_mul_12(to, x, y, m, n0),
        }
    }
    Some(out)
}

/// The Montgomery product of values anywhere in a byte slice: (x, y) ↦ out, with m at byte `m`. Little-endian, any
/// alignment, any overlap. Panics unless the four ranges of 48 bytes lie inside `memory`.
///
/// # Safety
/// This CPU must have the products: [`has_products`].
#[inline]
pub(crate) unsafe fn mont_mul_in_memory(memory: &mut [u8], out: usize, x: usize, y: usize, m: usize, n0: Limb) {
    let last = memory.len().checked_sub(48).expect("the memory holds a value");
    assert!(out.max(x).max(y).max(m) <= last, "values lie inside the memory");
    let base = memory.as_mut_ptr();
    // SAFETY: each of the four ranges of 48 bytes starts at `last` or before, so all lie inside `memory`, which is
    // borrowed mutably. The kernel reads all operands before it writes, only by instructions that take any alignment.
    unsafe { mont_mul_6(base.add(out).cast(), base.add(x).cast(), base.add(y).cast(), base.add(m).cast(), n0) }
}

/// The kernels of a context: one of the products below as a [`Kernel`].
macro_rules! product_kernel {
    ($name:ident, $width:literal, $product:ident) => {
        #[doc = concat!("Any odd modulus of ", $width, " limbs. Chosen only where [`has_products`].")]
        pub(crate) struct $name;

        impl Kernel for $name {
            #[inline(always)]
            fn run(limbs: &mut [Limb], out: usize, x: usize, y: usize, m: &[Limb], n0: Limb) {
                let last = limbs.len().checked_sub($width).expect("the limbs hold a residue");
                assert!(out <= last && x <= last && y <= last && m.len() == $width, "operands lie inside the limbs");
                debug_assert!(has_products(), "the kernel fits the CPU");
                let base = limbs.as_mut_ptr();
                // SAFETY: `kernels` in the module above hands this type out only after `has_products`; each operand
                // starts at `last` or before, so its limbs lie inside the slice, which is borrowed mutably.
                unsafe { $product(base.add(out), base.add(x), base.add(y), m.as_ptr(), n0) }
            }
        }
    };
}

product_kernel!(MontMul4, 4, mont_mul_4);
product_kernel!(MontMul6, 6, mont_mul_6);
product_kernel!(MontMul12, 12, mont_mul_12);

/// Adds rdx × the limbs at `$base` to the accumulators: low halves through CF, high halves through OF. Both flags must be
/// clear before; afterwards CF belongs to the last accumulator and OF to the one beyond it.
macro_rules! columns {
    ($base:literal, $a0:literal, $a1:literal, $a2:literal, $a3:literal, $a4:literal) => {
        concat!(
            column!($base, "0", $a0, $a1),
            column!($base, "8", $a1, $a2),
            column!($base, "16", $a2, $a3),
            column!($base, "24", $a3, $a4),
        )
    };
    ($base:literal, $a0:literal, $a1:literal, $a2:literal, $a3:literal, $a4:literal, $a5:literal, $a6:literal) => {
        concat!(
            columns!($base, $a0, $a1, $a2, $a3, $a4),
            column!($base, "32", $a4, $a5),
            column!($base, "40", $a5, $a6),
        )
    };
}

/// (low, high) += rdx × one limb. The products land in rax and rbx.
macro_rules! column {
    ($base:literal, $offset:literal, $low:literal, $high:literal) => {
        concat!("mulx rbx, rax, [", $base, " + ", $offset, "]\n", "adcx ", $low, ", rax\n", "adox ", $high, ", rbx\n",)
    };
}

/// Where m and x have a spare bit, t < x + m fits the width, and no carry leaves the top accumulator.
macro_rules! row_spare {
    ($y:literal, $a0:literal, $($a:literal,)* top $top:literal) => {
        concat!(
            "mov rdx, [r9 + ", $y, "]\n",
            "xor ", $top, ", ", $top, "\n",
            columns!("rsi", $a0, $($a,)* $top),
            "mov eax, 0\n",
            "adcx ", $top, ", rax\n",
            reduce_spare!($a0, $($a,)* top $top),
        )
    };
}

/// u = a0·n0; t += u·m, which clears a0 for a consistent n0.
macro_rules! reduce_spare {
    ($a0:literal, $($a:literal,)* top $top:literal) => {
        concat!(
            "mov rdx, ", $a0, "\n",
            "imul rdx, r8\n",
            "xor eax, eax\n",
            columns!("rcx", $a0, $($a,)* $top),
            "mov eax, 0\n",
            "adcx ", $top, ", rax\n",
        )
    };
}

/// As `row_spare` for any operands: the top accumulator starts the row as 0 or 1, and its carries go to one more.
macro_rules! row_full {
    ($y:literal, $a0:literal, $($a:literal,)* top $top:literal, over $over:literal) => {
        concat!(
            "mov rdx, [r9 + ", $y, "]\n",
            "xor ", $over, ", ", $over, "\n",
            columns!("rsi", $a0, $($a,)* $top),
            "mov eax, 0\n",
            "adcx ", $top, ", rax\n",
            "adox ", $over, ", rax\n",
            "adcx ", $over, ", rax\n",
            reduce_full!($a0, $($a,)* top $top, over $over),
        )
    };
}

/// As `reduce_spare`, with the carries of the top accumulator added to the one beyond it.
macro_rules! reduce_full {
    ($a0:literal, $($a:literal,)* top $top:literal, over $over:literal) => {
        concat!(
            "mov rdx, ", $a0, "\n",
            "imul rdx, r8\n",
            "xor eax, eax\n",
            columns!("rcx", $a0, $($a,)* $top),
            "mov eax, 0\n",
            "adcx ", $top, ", rax\n",
            "adox ", $over, ", rax\n",
            "adcx ", $over, ", rax\n",
        )
    };
}

/// Keeps the callee's registers of the System V ABI, and y in r9.
macro_rules! enter {
    () => {
        "push rbx\npush rbp\npush r12\npush r13\npush r14\npush r15\nmov r9, rdx\n"
    };
}

/// Undoes [`enter!`].
macro_rules! leave {
    () => {
        "pop r15\npop r14\npop r13\npop r12\npop rbp\npop rbx\nret\n"
    };
}

/// The first row of x·y: nothing to add to yet. Limb 0 of x into r10, r11; then each next limb.
macro_rules! first_row_4 {
    () => {
        "mov rdx, [r9]
        mulx r11, r10, [rsi]
        mulx r12, rax, [rsi + 8]
        add r11, rax
        mulx r13, rax, [rsi + 16]
        adc r12, rax
        mulx r14, rax, [rsi + 24]
        adc r13, rax\n"
    };
}

/// (x, y) ↦ the value that [`portable::mont_mul`](super::portable::mont_mul) defines, four limbs; any operands, overlap and alignment.
///
/// # Safety
/// `out`, `x`, `y`, `m` must be valid for four limbs, `out` for writing; the CPU must have BMI2 and ADX.
#[unsafe(naked)]
unsafe extern "sysv64" fn mont_mul_4(out: *mut Limb, x: *const Limb, y: *const Limb, m: *const Limb, n0: Limb) {
    naked_asm!(
        enter!(),
        "mov rax, [rsi + 24]",
        "or rax, [rcx + 24]",
        "js 2f",
        first_row_4!(),
        "adc r14, 0",
        reduce_spare!("r10", "r11", "r12", "r13", top "r14"),
        row_spare!("8", "r11", "r12", "r13", "r14", top "r10"),
        row_spare!("16", "r12", "r13", "r14", "r10", top "r11"),
        row_spare!("24", "r13", "r14", "r10", "r11", top "r12"),
        "xor r13, r13",
        "jmp 3f",
        "2:",
        "xor r15, r15",
        first_row_4!(),
        "adc r14, 0",
        reduce_full!("r10", "r11", "r12", "r13", top "r14", over "r15"),
        row_full!("8", "r11", "r12", "r13", "r14", top "r15", over "r10"),
        row_full!("16", "r12", "r13", "r14", "r15", top "r10", over "r11"),
        row_full!("24", "r13", "r14", "r15", "r10", top "r11", over "r12"),
        // t = r14, r15, r10, r11, with r12 on top: renamed to where the short path has it.
        "mov r13, r12",
        "mov r12, r11",
        "mov r11, r10",
        "mov r10, r15",
        "3:",
        // t = r14, r10, r11, r12, with r13 on top: minus m unless that borrows.
        "mov rax, r14",
        "sub rax, [rcx]",
        "mov rbx, r10",
        "sbb rbx, [rcx + 8]",
        "mov rdx, r11",
        "sbb rdx, [rcx + 16]",
        "mov rsi, r12",
        "sbb rsi, [rcx + 24]",
        "sbb r13, 0",
        "cmovc rax, r14",
        "cmovc rbx, r10",
        "cmovc rdx, r11",
        "cmovc rsi, r12",
        "mov [rdi], rax",
        "mov [rdi + 8], rbx",
        "mov [rdi + 16], rdx",
        "mov [rdi + 24], rsi",
        leave!(),
    )
}

/// (x, y) ↦ the value that [`portable::mont_mul`](super::portable::mont_mul) defines, six limbs; any operands, overlap and alignment.
///
/// # Safety
/// `out`, `x`, `y`, `m` must be valid for six limbs, `out` for writing; the CPU must have BMI2 and ADX.
#[unsafe(naked)]
unsafe extern "sysv64" fn mont_mul_6(out: *mut Limb, x: *const Limb, y: *const Limb, m: *const Limb, n0: Limb) {
    naked_asm!(
        enter!(),
        "mov rax, [rsi + 40]",
        "or rax, [rcx + 40]",
        "js 2f",
        first_row_4!(),
        "mulx r15, rax, [rsi + 32]",
        "adc r14, rax",
        "mulx rbp, rax, [rsi + 40]",
        "adc r15, rax",
        "adc rbp, 0",
        reduce_spare!("r10", "r11", "r12", "r13", "r14", "r15", top "rbp"),
        row_spare!("8", "r11", "r12", "r13", "r14", "r15", "rbp", top "r10"),
        row_spare!("16", "r12", "r13", "r14", "r15", "rbp", "r10", top "r11"),
        row_spare!("24", "r13", "r14", "r15", "rbp", "r10", "r11", top "r12"),
        row_spare!("32", "r14", "r15", "rbp", "r10", "r11", "r12", top "r13"),
        row_spare!("40", "r15", "rbp", "r10", "r11", "r12", "r13", top "r14"),
        // t = rbp, r10, r11, r12, r13, r14: minus m unless that borrows.
        "mov rax, rbp",
        "sub rax, [rcx]",
        "mov rbx, r10",
        "sbb rbx, [rcx + 8]",
        "mov rdx, r11",
        "sbb rdx, [rcx + 16]",
        "mov rsi, r12",
        "sbb rsi, [rcx + 24]",
        "mov r8, r13",
        "sbb r8, [rcx + 32]",
        "mov r9, r14",
        "sbb r9, [rcx + 40]",
        "cmovc rax, rbp",
        "mov [rdi], rax",
        "cmovc rbx, r10",
        "mov [rdi + 8], rbx",
        "cmovc rdx, r11",
        "mov [rdi + 16], rdx",
        "cmovc rsi, r12",
        "mov [rdi + 24], rsi",
        "cmovc r8, r13",
        "mov [rdi + 32], r8",
        "cmovc r9, r14",
        "mov [rdi + 40], r9",
        leave!(),
        "2:",
        "push rdi",
        "xor edi, edi",
        first_row_4!(),
        "mulx r15, rax, [rsi + 32]",
        "adc r14, rax",
        "mulx rbp, rax, [rsi + 40]",
        "adc r15, rax",
        "adc rbp, 0",
        reduce_full!("r10", "r11", "r12", "r13", "r14", "r15", top "rbp", over "rdi"),
        row_full!("8", "r11", "r12", "r13", "r14", "r15", "rbp", top "rdi", over "r10"),
        row_full!("16", "r12", "r13", "r14", "r15", "rbp", "rdi", top "r10", over "r11"),
        row_full!("24", "r13", "r14", "r15", "rbp", "rdi", "r10", top "r11", over "r12"),
        row_full!("32", "r14", "r15", "rbp", "rdi", "r10", "r11", top "r12", over "r13"),
        row_full!("40", "r15", "rbp", "rdi", "r10", "r11", "r12", top "r13", over "r14"),
        // t = rbp, rdi, r10, r11, r12, r13, with r14 on top: minus m unless that borrows.
        "mov rax, rbp",
        "sub rax, [rcx]",
        "mov rbx, rdi",
        "sbb rbx, [rcx + 8]",
        "mov rdx, r10",
        "sbb rdx, [rcx + 16]",
        "mov rsi, r11",
        "sbb rsi, [rcx + 24]",
        "mov r8, r12",
        "sbb r8, [rcx + 32]",
        "mov r9, r13",
        "sbb r9, [rcx + 40]",
        "sbb r14, 0",
        "pop r14",
        "cmovc rax, rbp",
        "mov [r14], rax",
        "cmovc rbx, rdi",
        "mov [r14 + 8], rbx",
        "cmovc rdx, r10",
        "mov [r14 + 16], rdx",
        "cmovc rsi, r11",
        "mov [r14 + 24], rsi",
        "cmovc r8, r12",
        "mov [r14 + 32], r8",
        "cmovc r9, r13",
        "mov [r14 + 40], r9",
        leave!(),
    )
}

/// (x, y) ↦ the value that [`portable::mont_mul`](super::portable::mont_mul) defines, twelve limbs; any operands and overlap.
/// Schoolbook over halves of six limbs (SOS): four products, then twice a reduction by half of u.
///
/// # Safety
/// `out`, `x`, `y`, `m` must be valid and aligned for twelve limbs, `out` for writing; the CPU must have BMI2 and ADX.
unsafe fn mont_mul_12(out: *mut Limb, x: *const Limb, y: *const Limb, m: *const Limb, n0: Limb) {
    // SAFETY: the caller vouches for twelve limbs, two halves, at each of x, y and m; `out` is written when all is read.
    let ([x0, x1], [y0, y1], m) =
        unsafe { (&*x.cast::<[Half; 2]>(), &*y.cast::<[Half; 2]>(), &*m.cast::<[Half; 2]>()) };
    let (mut t0, mut t1, mut high) = (ZERO, ZERO, [ZERO; 2]);
    let [t2, t3] = &mut high;
    let (mut u, mut v, mut w) = (ZERO, ZERO, ZERO);
    // SAFETY: the operands are references to halves, and the caller vouches for the CPU.
    let top = unsafe {
        // t = x·y, in halves t0 … t3. A window of six limbs goes from product to product.
        mul_add_6(&mut t0, x0, y0, &ZERO, &mut v);
        mul_add_6(&mut w, x1, y0, &v, t2);
        mul_add_6(&mut t1, x0, y1, &w, &mut v);
        let carry_t = add_half(&mut v, t2, 0);
        mul_add_6(t2, x1, y1, &v, t3);
        add_half(t3, &ZERO, carry_t); // x·y has no carry out.
        // t += u·m for the six lower limbs of u, which leaves nothing of t0; then for the six higher.
        reduce_6(&mut u, &t0, &m[0], n0, &mut w);
        let carry_1 = add_half(&mut w, &t1, 0);
        mul_add_6(&mut t1, &u, &m[1], &w, &mut v);
        let carry_2 = add_half(t2, &v, carry_1);
        reduce_6(&mut u, &t1, &m[0], n0, &mut w);
        let carry_3 = add_half(&mut w, t2, 0);
        mul_add_6(t2, &u, &m[1], &w, &mut v);
        let carry_4 = add_half(t3, &v, carry_2);
        add_half(t3, &ZERO, carry_3) | carry_4 // t < 2·2⁷⁶⁸: at most one of them is set.
    };
    let array = |halves: &[Half; 2]| -> [Limb; 12] { core::array::from_fn(|i| halves[i / 6][i % 6]) };
    let reduced = sub_if_geq(&array(&high), top, &array(m));
    // SAFETY: the caller vouches for twelve limbs at `out`.
    unsafe { out.cast::<[Limb; 12]>().write(reduced) }
}

/// Half of a twelve-limb value.
type Half = [Limb; 6];
const ZERO: Half = [0; 6];

/// a ↦ a + b + carry; returns the carry out.
#[inline(always)]
fn add_half(a: &mut Half, b: &Half, mut carry: u8) -> u8 {
    for i in 0..6 {
        carry = _addcarry_u64(carry, a[i], b[i], &mut a[i]);
    }
    carry
}

/// A row of x·y added to a window of six accumulators, whose lowest is then complete.
macro_rules! row_window {
    ($offset:literal, $a0:literal, $($a:literal,)* top $top:literal) => {
        concat!(
            "mov rdx, [r9 + ", $offset, "]\n",
            "xor ", $top, ", ", $top, "\n",
            columns!("rsi", $a0, $($a,)* $top),
            "mov [rdi + ", $offset, "], ", $a0, "\n",
            "mov eax, 0\n",
            "adcx ", $top, ", rax\n",
        )
    };
}

/// A row of u·m added to a window of six accumulators, whose lowest is then dropped.
macro_rules! reduce_window {
    ($offset:literal, $a0:literal, $($a:literal,)* top $top:literal) => {
        concat!(
            "mov rdx, ", $a0, "\n",
            "imul rdx, r8\n",
            "mov [rdi + ", $offset, "], rdx\n",
            "xor ", $top, ", ", $top, "\n",
            columns!("rcx", $a0, $($a,)* $top),
            "mov eax, 0\n",
            "adcx ", $top, ", rax\n",
        )
    };
}

/// Loads or stores a window of six limbs.
macro_rules! load_window {
    ($base:literal) => {
        concat!(
            "mov r10, [",
            $base,
            "]\nmov r11, [",
            $base,
            " + 8]\nmov r12, [",
            $base,
            " + 16]\n",
            "mov r13, [",
            $base,
            " + 24]\nmov r14, [",
            $base,
            " + 32]\nmov r15, [",
            $base,
            " + 40]\n",
        )
    };
}

/// The window has moved round by six of seven registers.
macro_rules! store_window {
    ($base:literal) => {
        concat!(
            "mov [",
            $base,
            "], rbp\nmov [",
            $base,
            " + 8], r10\nmov [",
            $base,
            " + 16], r11\n",
            "mov [",
            $base,
            " + 24], r12\nmov [",
            $base,
            " + 32], r13\nmov [",
            $base,
            " + 40], r14\n",
        )
    };
}

/// (x, y, w) ↦ the low and high halves of w + x·y, which never exceeds two halves.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
#[unsafe(naked)]
unsafe extern "sysv64" fn mul_add_6(low: &mut Half, x: &Half, y: &Half, w: &Half, high: &mut Half) {
    naked_asm!(
        enter!(),
        load_window!("rcx"),
        row_window!("0", "r10", "r11", "r12", "r13", "r14", "r15", top "rbp"),
        row_window!("8", "r11", "r12", "r13", "r14", "r15", "rbp", top "r10"),
        row_window!("16", "r12", "r13", "r14", "r15", "rbp", "r10", top "r11"),
        row_window!("24", "r13", "r14", "r15", "rbp", "r10", "r11", top "r12"),
        row_window!("32", "r14", "r15", "rbp", "r10", "r11", "r12", top "r13"),
        row_window!("40", "r15", "rbp", "r10", "r11", "r12", "r13", top "r14"),
        store_window!("r8"),
        leave!(),
    )
}

/// (w, m, n0) ↦ u and ⌊(w + u·m) / 2³⁸⁴⌋, where limb i of u is n0 × limb i of the sum so far.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
#[unsafe(naked)]
unsafe extern "sysv64" fn reduce_6(u: &mut Half, w: &Half, m: &Half, n0: Limb, high: &mut Half) {
    naked_asm!(
        enter!(),
        "mov r9, r8",
        "mov r8, rcx",
        "mov rcx, rdx",
        load_window!("rsi"),
        reduce_window!("0", "r10", "r11", "r12", "r13", "r14", "r15", top "rbp"),
        reduce_window!("8", "r11", "r12", "r13", "r14", "r15", "rbp", top "r10"),
        reduce_window!("16", "r12", "r13", "r14", "r15", "rbp", "r10", top "r11"),
        reduce_window!("24", "r13", "r14", "r15", "rbp", "r10", "r11", top "r12"),
        reduce_window!("32", "r14", "r15", "rbp", "r10", "r11", "r12", top "r13"),
        reduce_window!("40", "r15", "rbp", "r10", "r11", "r12", "r13", top "r14"),
        store_window!("r9"),
        leave!(),
    )
}
