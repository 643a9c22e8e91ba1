//! Memory under the guest, which is never given back.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::{Cell, UnsafeCell};
use core::panic::PanicInfo;

use super::calls;

/// Bytes of the longest call.
const INPUT_BYTES: usize = 5 << 17;
/// Bytes that can be allocated.
const HEAP_BYTES: usize = 1 << 22;

#[repr(align(8))]
struct Input(UnsafeCell<[u8; INPUT_BYTES]>);

// SAFETY: there is one thread.
unsafe impl Sync for Input {}

/// The call to compute.
pub fn input() -> &'static [u8] {
    static INPUT: Input = Input(UnsafeCell::new([0; INPUT_BYTES]));
    // SAFETY: it writes at most these bytes, before anybody reads them; it is called once.
    unsafe {
        let length = calls::read(INPUT.0.get().cast(), INPUT_BYTES);
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
    calls::exit(2)
}
