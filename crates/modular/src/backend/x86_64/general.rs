//! Montgomery products of any operands for the widths without a routine of their own: CIOS with all accumulators in registers.
//!
//! N limbs take N + 2 accumulators: those of t, one for its top limb, one for its carries within a row. From row to row
//! the names move round by one, as the lowest accumulator is then complete.

use core::arch::naked_asm;

use crate::limbs::Limb;

/// One row for each limb of y: t += x·yᵢ, then t += u·m with u = t₀·n0, then the lowest accumulator begins again as the one beyond.
/// After the last row t goes to where the stack says, its top limb to rax.
macro_rules! rows {
    ([] [$($offsets:literal)*] $($accumulators:literal)*) => {
        concat!("mov rdx, [rsp + 16]\n", store!([$($offsets)*] $($accumulators)*))
    };
    ([$y:literal $($ys:literal)*] [$($offsets:literal)*] $lowest:literal $($more:literal)*) => {
        concat!(
            "mov rdx, [rsp + 8]\nmov rdx, [rdx + ", $y, "]\nxor eax, eax\n",
            add_row!("rsi", [$($offsets)*] $lowest $($more)*),
            "mov rdx, ", $lowest, "\nimul rdx, [rsp]\nxor eax, eax\n",
            add_row!("rcx", [$($offsets)*] $lowest $($more)*),
            "xor ", $lowest, ", ", $lowest, "\n",
            rows!([$($ys)*] [$($offsets)*] $($more)* $lowest)
        )
    };
}

/// A routine for one width, with its limbs' offsets and its accumulators.
macro_rules! routine {
    ($name:ident, [$($offsets:literal)*] $($accumulators:literal)*) => {
        /// As [`mont_rows`].
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(
            t: *mut Limb,
            x: *const Limb,
            y: *const Limb,
            m: *const Limb,
            n0: Limb,
        ) -> Limb {
            naked_asm!(
                "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
                // Where the rest is found: t at 16, y at 8, n0 at 0.
                "push rdi", "push rdx", "push r8",
                $(concat!("xor ", $accumulators, ", ", $accumulators),)*
                rows!([$($offsets)*] [$($offsets)*] $($accumulators)*),
                "add rsp, 24",
                "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
                "ret",
            )
        }
    };
}

routine!(rows_3, ["0" "8" "16"] "r8" "r9" "r10" "r11" "r12");
routine!(rows_5, ["0" "8" "16" "24" "32"] "r8" "r9" "r10" "r11" "r12" "r13" "r14");
routine!(rows_7, ["0" "8" "16" "24" "32" "40" "48"] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbp");
routine!(rows_8, ["0" "8" "16" "24" "32" "40" "48" "56"] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbp" "rdi");

/// (x, y) ↦ t mod 2^(64N) and its top limb, which is 0 or 1, for the t that
/// [`portable::mont_mul`](super::super::portable::mont_mul) defines before it takes m away; 3, 5, 7 or 8 limbs.
///
/// # Safety
/// `t`, `x`, `y`, `m` must be valid for N limbs, `t` for writing; the CPU must have BMI2 and ADX.
#[inline(always)]
pub(super) unsafe fn mont_rows<const N: usize>(
    t: *mut Limb,
    x: *const Limb,
    y: *const Limb,
    m: *const Limb,
    n0: Limb,
) -> u8 {
    // SAFETY: as the caller vouches.
    let top = unsafe {
        match N {
            3 => rows_3(t, x, y, m, n0),
            5 => rows_5(t, x, y, m, n0),
            7 => rows_7(t, x, y, m, n0),
            8 => rows_8(t, x, y, m, n0),
            _ => unreachable!("there are four routines"),
        }
    };
    top as u8 // 0 or 1.
}
