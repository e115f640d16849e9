//! A heap with an end for the library, at twice what the suite lets a case unpack to: an allocation beyond it fails, in
//! the same way wherever the suite runs. What Rust then does is its own: it aborts, but for the few calls that can say
//! so. What the driver makes of a value to show it has no end: of 131,071 small records its JSON is larger than that.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const LIMIT: usize = 128 << 20;

static USED: AtomicUsize = AtomicUsize::new(0);

/// The bytes in use at which an allocation fails.
static END: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Sets the end back to what it was, after a panic too.
struct Restored(usize);

impl Drop for Restored {
    fn drop(&mut self) {
        END.store(self.0, Relaxed);
    }
}

/// Calls the library, which gets `LIMIT` bytes beyond those in use.
pub fn limited<T>(call: impl FnOnce() -> T) -> T {
    let _end = Restored(END.swap(USED.load(Relaxed).saturating_add(LIMIT), Relaxed));
    call()
}

/// Does the driver's own work inside such a call.
pub fn unlimited<T>(work: impl FnOnce() -> T) -> T {
    let _end = Restored(END.swap(usize::MAX, Relaxed));
    work()
}

struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        bounded(layout.size(), || System.alloc(layout))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        bounded(layout.size(), || System.alloc_zeroed(layout))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        System.dealloc(block, layout)
    }
}

fn bounded(size: usize, allocate: impl FnOnce() -> *mut u8) -> *mut u8 {
    if USED.fetch_add(size, Relaxed).saturating_add(size) <= END.load(Relaxed) {
        let block = allocate();
        if !block.is_null() {
            return block;
        }
    }
    USED.fetch_sub(size, Relaxed);
    null_mut()
}
