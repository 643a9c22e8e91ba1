//! Montgomery products of four and six limbs: CIOS with all accumulators in registers.
//!
//! If the top bits of x and m are clear, t < x + m fits the width throughout and rows save their last carries; other
//! operands take a second path with one accumulator more. Both are exact for any y and any n0.

use core::arch::naked_asm;

use crate::limbs::Limb;

/// Row for m and x with a spare bit: t < x + m fits the width, and no carry leaves the top accumulator.
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

/// (x, y) ↦ the value that [`portable::mont_mul`](super::super::portable::mont_mul) defines, four limbs; any operands, overlap and alignment.
///
/// # Safety
/// `out`, `x`, `y`, `m` must be valid for four limbs, `out` for writing; the CPU must have BMI2 and ADX.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mont_mul_4(
    out: *mut Limb,
    x: *const Limb,
    y: *const Limb,
    m: *const Limb,
    n0: Limb,
) {
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

/// (x, y) ↦ the value that [`portable::mont_mul`](super::super::portable::mont_mul) defines, six limbs; any operands, overlap and alignment.
///
/// # Safety
/// `out`, `x`, `y`, `m` must be valid for six limbs, `out` for writing; the CPU must have BMI2 and ADX.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mont_mul_6(
    out: *mut Limb,
    x: *const Limb,
    y: *const Limb,
    m: *const Limb,
    n0: Limb,
) {
    // style: S2: one block of assembly.
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
