//! The Montgomery product of twelve limbs, which do not fit the registers: SOS over halves of six.

use core::arch::naked_asm;
use core::arch::x86_64::_addcarry_u64;

use super::sub_if_geq;
use crate::limbs::Limb;

/// (x, y) ↦ the value that [`portable::mont_mul`](super::super::portable::mont_mul) defines, twelve limbs; any operands and overlap.
/// Schoolbook over halves of six limbs (SOS): four products, then twice a reduction by half of u.
///
/// # Safety
/// `out`, `x`, `y`, `m` must be valid and aligned for twelve limbs, `out` for writing; the CPU must have BMI2 and ADX.
pub(super) unsafe fn mont_mul_12(out: *mut Limb, x: *const Limb, y: *const Limb, m: *const Limb, n0: Limb) {
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

/// Products (x, y) ↦ the t of [`portable::sum_rows`](super::super::portable::sum_rows), N = 12: each product is added to a sum of four halves and a top
/// limb, which is then reduced as in [`mont_mul_12`].
///
/// # Safety
/// The CPU must have BMI2 and ADX. Panics unless N is 12.
pub(super) unsafe fn sum_rows_12<const N: usize>(
    terms: &[[&[Limb; N]; 2]],
    m: &[Limb; N],
    n0: Limb,
) -> ([Limb; N], Limb) {
    let (mut t0, mut t1, mut t2, mut t3, mut top) = (ZERO, ZERO, ZERO, ZERO, 0);
    let (mut u, mut v, mut w, mut a, mut b) = (ZERO, ZERO, ZERO, ZERO, ZERO);
    for [x, y] in terms {
        let ([x0, x1], [y0, y1]) = (halves(x), halves(y));
        // SAFETY: the operands are references to halves, and the caller vouches for the CPU.
        unsafe {
            let before = t0;
            mul_add_6(&mut t0, x0, y0, &before, &mut v);
            let carry_1 = add_half(&mut v, &t1, 0);
            mul_add_6(&mut w, x1, y0, &v, &mut a);
            mul_add_6(&mut t1, x0, y1, &w, &mut b);
            let carry_2 = add_half(&mut a, &b, carry_1);
            let carry_3 = add_half(&mut a, &t2, 0);
            mul_add_6(&mut t2, x1, y1, &a, &mut b);
            top += Limb::from(add_half(&mut t3, &b, carry_2));
            top += Limb::from(add_half(&mut t3, &ZERO, carry_3));
        }
    }
    let [m0, m1] = halves(m);
    // SAFETY: as above.
    unsafe {
        reduce_6(&mut u, &t0, m0, n0, &mut w);
        let carry_1 = add_half(&mut w, &t1, 0);
        mul_add_6(&mut t1, &u, m1, &w, &mut v);
        let carry_2 = add_half(&mut t2, &v, carry_1);
        reduce_6(&mut u, &t1, m0, n0, &mut w);
        let carry_3 = add_half(&mut w, &t2, 0);
        mul_add_6(&mut t2, &u, m1, &w, &mut v);
        top += Limb::from(add_half(&mut t3, &v, carry_2));
        top += Limb::from(add_half(&mut t3, &ZERO, carry_3));
    }
    (core::array::from_fn(|i| if i < 6 { t2[i] } else { t3[i - 6] }), top)
}

/// The halves of twelve limbs.
#[inline(always)]
fn halves<const N: usize>(limbs: &[Limb; N]) -> [&Half; 2] {
    let (halves, []) = limbs.as_chunks() else { unreachable!("twelve limbs are two halves") };
    let [low, high] = halves else { unreachable!("twelve limbs are two halves") };
    [low, high]
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
