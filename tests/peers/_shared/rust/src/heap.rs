//! A heap with an end, at twice what the suite lets a case unpack to: an allocation beyond it fails, in the
//! same way wherever the suite runs. What Rust then does is its own: it aborts, but for the few calls that
//! can say so.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const LIMIT: usize = 128 << 20;

static USED: AtomicUsize = AtomicUsize::new(0);

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
    if USED.fetch_add(size, Relaxed).saturating_add(size) <= LIMIT {
        let block = allocate();
        if !block.is_null() {
            return block;
        }
    }
    USED.fetch_sub(size, Relaxed);
    null_mut()
}
