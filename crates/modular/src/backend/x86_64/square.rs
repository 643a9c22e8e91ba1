//! Montgomery squarings of six limbs, one after the other, for chains in which each waits for the one before: all of a
//! value stays in registers, and the reduction waits for as little as it can.
//!
//! If 8m < R, values below 2m stay below 2m (Walter 1999, "Montgomery exponentiation needs no final subtractions"), so
//! m is subtracted once, after the last squaring. A row of the square is xᵢ·(xᵢ + 2·Σ xⱼ·2⁶⁴⁽ʲ⁻ⁱ⁾) over j > i: two
//! limbs are complete after each row, and the reduction takes two at a time, u = t·N mod 2¹²⁸ with N = −m⁻¹ mod 2¹²⁸:
//! limb 1 of u need not wait for the contribution of limb 0 to t.

use core::arch::naked_asm;

use crate::limbs::Limb;

/// Bits at the top of m that must be clear.
pub(super) const SPARE_BITS: u32 = 3;

/// (m, n0) ↦ limb 1 of −m⁻¹ mod 2¹²⁸, where n0 is limb 0: m·n0 + 1 = c·2⁶⁴, and limb 1 is n0·(c + n0·m₁).
#[inline]
pub(super) fn n1_of(m: &[Limb; 6], n0: Limb) -> Limb {
    let high = (u128::from(m[0]) * u128::from(n0)) >> 64;
    let carry = (high as Limb).wrapping_add(1); // Below 2⁶⁴.
    n0.wrapping_mul(carry.wrapping_add(n0.wrapping_mul(m[1])))
}

/// (low, high) += rdx × one limb, the low half through CF and the high half through OF. `$h` takes the high half.
macro_rules! step {
    ($limb:literal, $low:literal, $high:literal, $h:literal) => {
        concat!("mulx ", $h, ", rax, ", $limb, "\nadcx ", $low, ", rax\nadox ", $high, ", ", $h, "\n")
    };
}

/// The last of a row: its high half begins an accumulator, and takes both carries.
macro_rules! step_fresh {
    ($limb:literal, $low:literal, $high:literal) => {
        concat!(
            "mulx ",
            $high,
            ", rax, ",
            $limb,
            "\nadcx ",
            $low,
            ", rax\n",
            "mov eax, 0\nadcx ",
            $high,
            ", rax\nadox ",
            $high,
            ", rax\n",
        )
    };
}

/// The complete limbs t0, t1 ↦ u, of which limb 0 goes to `$u0` and limb 1 to `$u1`.
macro_rules! quotient {
    ($t0:literal, $t1:literal, $u0:literal, $u1:literal, $h:literal) => {
        concat!(
            "mov rdx, ",
            $t0,
            "\n",
            "mulx ",
            $h,
            ", ",
            $u0,
            ", [rsp + 96]\n",
            "imul rdx, [rsp + 104]\n",
            "mov ",
            $u1,
            ", [rsp + 96]\n",
            "imul ",
            $u1,
            ", ",
            $t1,
            "\n",
            "add ",
            $h,
            ", rdx\n",
            "add ",
            $u1,
            ", ",
            $h,
            "\n",
        )
    };
}

/// t += u·m for the limbs of u in `$u0` and `$u1`, which makes zeros of `$t0` and `$t1`; these are not written, only what
/// they carry goes on, which is 1 unless they were zero before their last summand. What leaves `$a5` goes to `$over`.
macro_rules! reduce {
    ($t0:literal, $t1:literal, $u0:literal, $u1:literal, $h:literal, $a0:literal, $a1:literal, $a2:literal, $a3:literal,
     $a4:literal, $a5:literal $(, over $over:literal)?) => {
        concat!(
            "mov rdx, ", $u0, "\n",
            "xor ", $u0, ", ", $u0, "\n",
            "adcx ", $t0, ", [rsp + 112]\n",
            "mulx ", $h, ", rax, [rcx]\n",
            "adox ", $t1, ", ", $h, "\n",
            step!("[rcx + 8]", $t1, $a0, $h),
            step!("[rcx + 16]", $a0, $a1, $h),
            step!("[rcx + 24]", $a1, $a2, $h),
            step!("[rcx + 32]", $a2, $a3, $h),
            last_of_modulus!($a3, $a4, $u0, $h),
            "adox ", $a5, ", ", $u0, "\n",
            $("adox ", $over, ", ", $u0, "\n",)?
            "mov rdx, ", $u1, "\n",
            "xor eax, eax\n",
            "adcx ", $t1, ", [rsp + 112]\n",
            "mulx ", $h, ", rax, [rcx]\n",
            "adox ", $a0, ", ", $h, "\n",
            step!("[rcx + 8]", $a0, $a1, $h),
            step!("[rcx + 16]", $a1, $a2, $h),
            step!("[rcx + 24]", $a2, $a3, $h),
            step!("[rcx + 32]", $a3, $a4, $h),
            last_of_modulus!($a4, $a5, $u0, $h),
            $("adox ", $over, ", ", $u0, "\n",)?
        )
    };
}

/// As [`step!`] for the top limb of m, which is so short that the high half takes CF.
macro_rules! last_of_modulus {
    ($low:literal, $high:literal, $zero:literal, $h:literal) => {
        concat!(
            "mulx ",
            $h,
            ", rax, [rcx + 40]\nadcx ",
            $low,
            ", rax\nadcx ",
            $h,
            ", ",
            $zero,
            "\nadox ",
            $high,
            ", ",
            $h,
            "\n",
        )
    };
}

/// x ↦ x^(2^count)·R^(1 − 2^count) mod m, below m: `count` Montgomery squarings of six limbs. Requires m odd, 8m < R,
/// x < 2m, n0 = −m⁻¹ mod 2⁶⁴, n1 from [`n1_of`] and count ≥ 1. Any overlap and alignment.
///
/// # Safety
/// `out`, `x`, `m` must be valid for six limbs, `out` for writing; the CPU must have BMI2 and ADX.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mont_square_6(
    out: *mut Limb,
    x: *const Limb,
    m: *const Limb,
    n0: Limb,
    n1: Limb,
    count: u64,
) {
    // style: S2: one block of assembly.
    // On the stack: x₁ … x₅ at 0, 2·x₂ … 2·x₅ at 40, limbs 3 … 5 of 2·x at 72, N at 96, −1, count and out.
    naked_asm!(
        "push rbx\npush rbp\npush r12\npush r13\npush r14\npush r15\nsub rsp, 136",
        "mov [rsp + 96], rcx",
        "mov [rsp + 104], r8",
        "mov qword ptr [rsp + 112], -1",
        "mov [rsp + 120], r9",
        "mov [rsp + 128], rdi",
        "mov rcx, rdx",
        "mov r8, [rsi]",
        "mov r9, [rsi + 8]",
        "mov r10, [rsi + 16]",
        "mov r11, [rsi + 24]",
        "mov r12, [rsi + 32]",
        "mov r13, [rsi + 40]",
        ".p2align 5",
        "2:",
        // Row 0: limbs 0 and 1 of 2·x without what limb 0 carries, so that each row doubles what lies above it.
        "mov rdx, r8",
        "mov [rsp], r9",
        "mov [rsp + 8], r10",
        "mov [rsp + 16], r11",
        "mov [rsp + 24], r12",
        "mov [rsp + 32], r13",
        "lea rax, [r10 + r10]\nmov [rsp + 40], rax",
        "lea rax, [r11 + r11]\nmov [rsp + 48], rax",
        "lea rax, [r12 + r12]\nmov [rsp + 56], rax",
        "lea rax, [r13 + r13]\nmov [rsp + 64], rax",
        "add r9, r9",
        "adc r10, r10",
        "adc r11, r11\nmov [rsp + 72], r11",
        "adc r12, r12\nmov [rsp + 80], r12",
        "adc r13, r13\nmov [rsp + 88], r13",
        "mulx r15, r14, rdx",
        "mulx rbp, rax, r9\nadd r15, rax",
        "mulx rsi, rax, r10\nadc rbp, rax",
        "mulx rdi, rax, r11\nadc rsi, rax",
        "mulx rbx, rax, r12\nadc rdi, rax",
        "mulx r8, rax, r13\nadc rbx, rax",
        "adc r8, 0",
        quotient!("r14", "r15", "r12", "r11", "r13"),
        // Rows 1 and 2, which the reduction by two limbs of u adds to. Rows follow as there are accumulators for them.
        "mov rdx, [rsp]\nxor eax, eax",
        step!("rdx", "rbp", "rsi", "r13"),
        step!("[rsp + 40]", "rsi", "rdi", "r13"),
        step!("[rsp + 72]", "rdi", "rbx", "r13"),
        step!("[rsp + 80]", "rbx", "r8", "r13"),
        step_fresh!("[rsp + 88]", "r8", "r9"),
        "mov rdx, [rsp + 8]\nxor eax, eax",
        step!("rdx", "rdi", "rbx", "r13"),
        step!("[rsp + 48]", "rbx", "r8", "r13"),
        step!("[rsp + 80]", "r8", "r9", "r13"),
        step_fresh!("[rsp + 88]", "r9", "r10"),
        reduce!("r14", "r15", "r12", "r11", "r13", "rbp", "rsi", "rdi", "rbx", "r8", "r9", over "r10"),
        quotient!("rbp", "rsi", "r14", "r15", "r13"),
        "mov rdx, [rsp + 16]\nxor eax, eax",
        step!("rdx", "r8", "r9", "r13"),
        step!("[rsp + 56]", "r9", "r10", "r13"),
        step_fresh!("[rsp + 88]", "r10", "r11"),
        "mov rdx, [rsp + 24]\nxor eax, eax",
        step!("rdx", "r10", "r11", "r13"),
        step_fresh!("[rsp + 64]", "r11", "r12"),
        reduce!("rbp", "rsi", "r14", "r15", "r13", "rdi", "rbx", "r8", "r9", "r10", "r11", over "r12"),
        quotient!("rdi", "rbx", "r14", "r15", "rbp"),
        "mov rdx, [rsp + 32]",
        "mulx r13, rax, rdx\nadd r12, rax\nadc r13, 0",
        reduce!("rdi", "rbx", "r14", "r15", "rbp", "r8", "r9", "r10", "r11", "r12", "r13"),
        "dec qword ptr [rsp + 120]",
        "jnz 2b",
        // r8 … r13 < 2m: minus m unless that borrows.
        "mov rax, r8\nsub rax, [rcx]",
        "mov rbx, r9\nsbb rbx, [rcx + 8]",
        "mov rdx, r10\nsbb rdx, [rcx + 16]",
        "mov rsi, r11\nsbb rsi, [rcx + 24]",
        "mov rbp, r12\nsbb rbp, [rcx + 32]",
        "mov r14, r13\nsbb r14, [rcx + 40]",
        "mov rdi, [rsp + 128]",
        "cmovc rax, r8\nmov [rdi], rax",
        "cmovc rbx, r9\nmov [rdi + 8], rbx",
        "cmovc rdx, r10\nmov [rdi + 16], rdx",
        "cmovc rsi, r11\nmov [rdi + 24], rsi",
        "cmovc rbp, r12\nmov [rdi + 32], rbp",
        "cmovc r14, r13\nmov [rdi + 40], r14",
        "add rsp, 136\npop r15\npop r14\npop r13\npop r12\npop rbp\npop rbx\nret",
    )
}
