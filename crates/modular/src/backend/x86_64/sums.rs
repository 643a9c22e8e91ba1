//! Sums of products, reduced once, for the widths that registers hold: each row adds the products' rows in a loop, then one of u·m.

use core::arch::naked_asm;

use crate::limbs::Limb;

/// One row for each limb of the second factors: t += xₖ·yₖᵢ for every product k, then t += u·m with u = t₀·n0, then the lowest accumulator begins
/// again as the one beyond. After the last row t goes to where the stack says, its top limb to rax.
macro_rules! sum_rows {
    ([] [$($offsets:literal)*] $($accumulators:literal)*) => {
        concat!("mov rdx, [rsp + 32]\n", store!([$($offsets)*] $($accumulators)*))
    };
    ([$y:literal $($ys:literal)*] [$($offsets:literal)*] $lowest:literal $($more:literal)*) => {
        concat!(
            "mov rcx, [rsp + 24]\n",
            "2:\n",
            "mov rdx, [rcx + 8]\nmov rsi, [rcx]\nmov rdx, [rdx + ", $y, "]\nxor eax, eax\n",
            add_row!("rsi", [$($offsets)*] $lowest $($more)*),
            "add rcx, 16\ncmp rcx, [rsp + 16]\njne 2b\n",
            "mov rcx, [rsp + 8]\nmov rdx, ", $lowest, "\nimul rdx, [rsp]\nxor eax, eax\n",
            add_row!("rcx", [$($offsets)*] $lowest $($more)*),
            "xor ", $lowest, ", ", $lowest, "\n",
            sum_rows!([$($ys)*] [$($offsets)*] $($more)* $lowest)
        )
    };
}

/// A routine for one width, with its limbs' offsets and its accumulators.
macro_rules! routine {
    ($name:ident, $width:literal, [$($offsets:literal)*] $($accumulators:literal)*) => {
        /// As [`sum_rows`]; `end` is where the terms end.
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(
            t: *mut [Limb; $width],
            terms: *const [&[Limb; $width]; 2],
            end: *const [&[Limb; $width]; 2],
            m: *const [Limb; $width],
            n0: Limb,
        ) -> Limb {
            naked_asm!(
                "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
                // Where all of it is found: t at 32, the terms at 24, their end at 16, m at 8, n0 at 0.
                "push rdi", "push rsi", "push rdx", "push rcx", "push r8",
                $(concat!("xor ", $accumulators, ", ", $accumulators),)*
                sum_rows!([$($offsets)*] [$($offsets)*] $($accumulators)*),
                "add rsp, 40",
                "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
                "ret",
            )
        }
    };
}

routine!(sum_rows_3, 3, ["0" "8" "16"] "r8" "r9" "r10" "r11" "r12");
routine!(sum_rows_4, 4, ["0" "8" "16" "24"] "r8" "r9" "r10" "r11" "r12" "r13");
routine!(sum_rows_5, 5, ["0" "8" "16" "24" "32"] "r8" "r9" "r10" "r11" "r12" "r13" "r14");
routine!(sum_rows_6, 6, ["0" "8" "16" "24" "32" "40"] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15");
routine!(sum_rows_7, 7, ["0" "8" "16" "24" "32" "40" "48"] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbp");
routine!(sum_rows_8, 8, ["0" "8" "16" "24" "32" "40" "48" "56"] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbp" "rdi");

/// Products (x, y), at least one, ↦ the t of [`portable::sum_rows`](super::super::portable::sum_rows); 3 to 8 limbs.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
#[inline(always)]
pub(super) unsafe fn sum_rows<const N: usize>(terms: &[[&[Limb; N]; 2]], m: &[Limb; N], n0: Limb) -> ([Limb; N], Limb) {
    assert!(!terms.is_empty(), "a sum has a product");
    let mut t = [0; N];
    let terms = terms.as_ptr_range();
    // The casts change nothing: N is the routine's width.
    macro_rules! call {
        ($routine:ident) => {
            $routine((&raw mut t).cast(), terms.start.cast(), terms.end.cast(), (&raw const *m).cast(), n0)
        };
    }
    // SAFETY: `t`, `m` and both values of each term are arrays of N limbs, the loop ends where the terms do, of which there is one, and the caller
    // vouches for the CPU.
    let top = unsafe {
        match N {
            3 => call!(sum_rows_3),
            4 => call!(sum_rows_4),
            5 => call!(sum_rows_5),
            6 => call!(sum_rows_6),
            7 => call!(sum_rows_7),
            8 => call!(sum_rows_8),
            _ => unreachable!("there are six routines"),
        }
    };
    (t, top)
}
