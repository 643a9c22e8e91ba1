//! Calls of SP1 6: numbers in t0, two addresses. It has x·y mod m for any m of 256 bits, and for 384 bits the three operations of BLS12-381's base field.

use core::arch::{asm, global_asm};

use residue_engine::PerOp;
use residue_engine::accelerators::Accelerators;

/// Numbers of calls: `sp1-core-executor` 6.10.0, `src/syscall_code.rs`.
const HALT: usize = 0;
const WRITE: usize = 2;
const HINT_LEN: usize = 0xf0;
const HINT_READ: usize = 0xf1;
const UINT256_MUL: usize = 0x0001_011d;
const BLS12381_FP_ADD: usize = 0x0001_0120;
const BLS12381_FP_SUB: usize = 0x0001_0121;
const BLS12381_FP_MUL: usize = 0x0001_0122;
/// The stream of answers.
const PUBLIC_VALUES: usize = 13;

/// The modulus of BLS12-381's base field (RFC 9380, section 8.8.1), the least limb first.
const BLS12_381: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// Products by calls; sums and differences of 256 bits in instructions, as there is no call for them.
pub const ACCELERATORS: Accelerators = Accelerators {
    four: PerOp([sum, difference, product]),
    six: PerOp([wide::<BLS12381_FP_ADD>, wide::<BLS12381_FP_SUB>, wide::<BLS12381_FP_MUL>]),
};

// The stack is below the program.
global_asm!(".globl _start", "_start:", "li sp, 0x78000000", "call {start}", start = sym crate::start);

/// Calls the prover's machine with three arguments; its answer.
///
/// # Safety
///
/// The memory that the number's call reads and writes must be the caller's.
#[inline(always)]
unsafe fn call(number: usize, [a0, a1, a2]: [usize; 3]) -> usize {
    let mut result = number;
    // SAFETY: it changes t0 and the memory that the caller names.
    unsafe { asm!("ecall", inout("t0") result, in("a0") a0, in("a1") a1, in("a2") a2, options(nostack)) };
    result
}

/// x·y mod m; x·y mod 2²⁵⁶ for m = 0.
fn product(out: &mut [u64; 4], x: &[u64; 4], y: &[u64; 4], modulus: &[u64; 4]) {
    let factor_and_modulus = [*y, *modulus];
    *out = *x;
    // SAFETY: it reads both places and writes the first.
    unsafe { call(UINT256_MUL, [out.as_mut_ptr() as usize, factor_and_modulus.as_ptr() as usize, 0]) };
}

/// x + y mod m.
fn sum(out: &mut [u64; 4], x: &[u64; 4], y: &[u64; 4], modulus: &[u64; 4]) {
    let (sum, carry) = plus(x, y);
    let (reduced, borrow) = minus(&sum, modulus);
    *out = if carry || !borrow { reduced } else { sum };
}

/// x − y mod m.
fn difference(out: &mut [u64; 4], x: &[u64; 4], y: &[u64; 4], modulus: &[u64; 4]) {
    let (difference, borrow) = minus(x, y);
    *out = if borrow { plus(&difference, modulus).0 } else { difference };
}

/// x ∘ y in BLS12-381's base field. There is no call for others: the program ends.
fn wide<const NUMBER: usize>(out: &mut [u64; 6], x: &[u64; 6], y: &[u64; 6], modulus: &[u64; 6]) {
    // A comparison of arrays would go byte by byte.
    let differences = modulus.iter().zip(&BLS12_381).fold(0, |found, (m, known)| found | m ^ known);
    if differences != 0 {
        exit(3);
    }
    *out = *x;
    // SAFETY: it reads both places and writes the first.
    unsafe { call(NUMBER, [out.as_mut_ptr() as usize, y.as_ptr() as usize, 0]) };
}

/// x + y as limbs, and the carry out of the last.
#[inline(always)]
fn plus(x: &[u64; 4], y: &[u64; 4]) -> ([u64; 4], bool) {
    let (mut out, mut carry) = ([0; 4], false);
    for i in 0..4 {
        (out[i], carry) = x[i].carrying_add(y[i], carry);
    }
    (out, carry)
}

/// x − y as limbs, and the borrow out of the last.
#[inline(always)]
fn minus(x: &[u64; 4], y: &[u64; 4]) -> ([u64; 4], bool) {
    let (mut out, mut borrow) = ([0; 4], false);
    for i in 0..4 {
        (out[i], borrow) = x[i].borrowing_sub(y[i], borrow);
    }
    (out, borrow)
}

/// Ends with a code.
pub fn exit(code: usize) -> ! {
    // SAFETY: no memory is touched.
    unsafe { call(HALT, [code, 0, 0]) };
    unreachable!("the machine has ended")
}

/// Hands over an answer and ends.
pub fn end_with(answer: &[u8]) -> ! {
    // SAFETY: it reads the answer.
    unsafe { call(WRITE, [PUBLIC_VALUES, answer.as_ptr() as usize, answer.len()]) };
    exit(0)
}

/// Reads the call to compute into a place of so many bytes, aligned to eight; its length.
///
/// # Safety
///
/// The place must be the caller's.
pub unsafe fn read(place: *mut u8, bytes: usize) -> usize {
    // SAFETY: no memory is touched.
    let length = unsafe { call(HINT_LEN, [0; 3]) };
    if length >= bytes {
        exit(4);
    }
    // SAFETY: it writes so many bytes, and zeros up to a multiple of eight.
    unsafe { call(HINT_READ, [place as usize, length, 0]) };
    length
}
