//! The machine under the guest: its beginning, memory that is never given back, and calls of the emulator.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::{asm, global_asm};
use core::cell::{Cell, UnsafeCell};
use core::panic::PanicInfo;

/// Numbers of calls: `exit` is Linux', the others are between this and `crates/proving/src/machine.rs`.
const EXIT: usize = 93;
const READ: usize = 0x5245;
const ANSWER: usize = 0x5246;

/// Bytes of the longest call.
const INPUT_BYTES: usize = 5 << 17;
/// Bytes that can be allocated. With code, input and stack they are below the emulator's 4 MiB.
const HEAP_BYTES: usize = 3 << 19;

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

/// Has the emulator compute numbers of N limbs out of others, by the call of this number, which reads no more of them and writes no more.
#[inline(always)]
pub fn compute<const N: usize>(number: usize, out: &mut [u64; N], operands: [&[u64; N]; 3]) {
    let [x, y, modulus] = operands.map(|limbs| limbs.as_ptr() as usize);
    // SAFETY: as said above.
    unsafe { call(number, [out.as_mut_ptr() as usize, x, y, modulus]) };
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

struct Input(UnsafeCell<[u8; INPUT_BYTES]>);

// SAFETY: there is one thread.
unsafe impl Sync for Input {}

/// The call to compute.
pub fn input() -> &'static [u8] {
    static INPUT: Input = Input(UnsafeCell::new([0; INPUT_BYTES]));
    // SAFETY: it writes at most these bytes, before anybody reads them; it is called once.
    unsafe {
        let length = call(READ, [INPUT.0.get() as usize, INPUT_BYTES, 0, 0]);
        core::slice::from_raw_parts(INPUT.0.get().cast(), length.min(INPUT_BYTES))
    }
}

#[repr(align(16))]
struct Arena(UnsafeCell<[u8; HEAP_BYTES]>);

/// Memory in the order in which it is asked for; only the last piece grows in place or is taken back.
struct Heap {
    arena: Arena,
    used: Cell<usize>,
}

// SAFETY: there is one thread.
unsafe impl Sync for Heap {}

impl Heap {
    fn end_of(&self, pointer: *mut u8, size: usize) -> usize {
        pointer as usize - self.arena.0.get() as usize + size
    }
}

// SAFETY: pieces do not overlap, lie in the arena and are aligned.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.arena.0.get() as usize;
        let at = (base + self.used.get()).next_multiple_of(layout.align()) - base;
        if layout.size() > HEAP_BYTES.saturating_sub(at) {
            return core::ptr::null_mut();
        }
        self.used.set(at + layout.size());
        // SAFETY: inside the arena, as just compared.
        unsafe { self.arena.0.get().cast::<u8>().add(at) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if self.end_of(pointer, layout.size()) == self.used.get() {
            self.used.set(self.end_of(pointer, 0));
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let is_last = self.end_of(pointer, layout.size()) == self.used.get();
        if is_last && self.end_of(pointer, size) <= HEAP_BYTES {
            self.used.set(self.end_of(pointer, size));
            return pointer;
        }
        // SAFETY: the old piece has `layout.size()` bytes, the new one `size`.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                core::ptr::copy_nonoverlapping(pointer, new, layout.size().min(size));
            }
            new
        }
    }
}

#[global_allocator]
static HEAP: Heap = Heap { arena: Arena(UnsafeCell::new([0; HEAP_BYTES])), used: Cell::new(0) };

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(2)
}
