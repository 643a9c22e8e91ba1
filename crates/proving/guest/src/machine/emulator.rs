//! Calls of the project's emulator: four addresses in registers, and any odd modulus.

use core::arch::{asm, global_asm};

use residue_engine::PerOp;
use residue_engine::accelerators::Accelerators;

/// Numbers of calls: `exit` is Linux', the others are between this and `crates/proving/src/machine.rs`.
const EXIT: usize = 93;
const READ: usize = 0x5245;
const ANSWER: usize = 0x5246;
/// Products, sums and differences of 256 bits; those of 384 bits are three higher.
const MUL: usize = 0x5250;
const ADD: usize = 0x5251;
const SUB: usize = 0x5252;
const WIDER: usize = 3;

/// Each operation is one call.
pub const ACCELERATORS: Accelerators = Accelerators {
    four: PerOp([compute::<4, ADD>, compute::<4, SUB>, compute::<4, MUL>]),
    six: PerOp([compute::<6, { ADD + WIDER }>, compute::<6, { SUB + WIDER }>, compute::<6, { MUL + WIDER }>]),
};

// The stack is set up.
global_asm!(".globl _start", "_start:", "call {start}", start = sym crate::start);

/// Calls the emulator with four arguments; its answer.
///
/// # Safety
///
/// The memory that the number's call reads and writes must be the caller's.
#[inline(always)]
unsafe fn call(number: usize, arguments: [usize; 4]) -> usize {
    let [mut result, a1, a2, a3] = arguments;
    // SAFETY: the emulator changes a0 and the memory that the caller names.
    unsafe {
        asm!("ecall", inout("a0") result, in("a1") a1, in("a2") a2, in("a3") a3, in("a7") number, options(nostack))
    };
    result
}

/// The call of a number: out = x ∘ y mod m.
fn compute<const N: usize, const NUMBER: usize>(out: &mut [u64; N], x: &[u64; N], y: &[u64; N], modulus: &[u64; N]) {
    let [x, y, modulus] = [x, y, modulus].map(|limbs| limbs.as_ptr() as usize);
    // SAFETY: it reads N limbs of each and writes N.
    unsafe { call(NUMBER, [out.as_mut_ptr() as usize, x, y, modulus]) };
}

/// Ends with a code.
pub fn exit(code: usize) -> ! {
    // SAFETY: no memory is touched.
    unsafe { call(EXIT, [code, 0, 0, 0]) };
    unreachable!("the emulator has ended")
}

/// Hands over an answer and ends.
pub fn end_with(answer: &[u8]) -> ! {
    // SAFETY: it reads the answer.
    unsafe { call(ANSWER, [answer.as_ptr() as usize, answer.len(), 0, 0]) };
    exit(0)
}

/// Reads the call to compute into a place of so many bytes; its length.
///
/// # Safety
///
/// The place must be the caller's.
pub unsafe fn read(place: *mut u8, bytes: usize) -> usize {
    // SAFETY: it writes at most these bytes.
    unsafe { call(READ, [place as usize, bytes, 0, 0]) }
}
