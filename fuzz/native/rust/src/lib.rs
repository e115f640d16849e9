//! What the targets share.

use std::collections::HashSet;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, Once};

static HOOKED: Once = Once::new();
static FOUND: Mutex<Option<HashSet<String>>> = Mutex::new(None);

/// Calls a library. A panic is told once for each place and ends the call, not the fuzzer, because these targets
/// measure how far a fuzzer gets.
pub fn survived(call: impl FnOnce()) {
    HOOKED.call_once(|| set_hook(Box::new(tell)));
    let _ = catch_unwind(AssertUnwindSafe(call));
}

fn tell(panic: &PanicHookInfo) {
    let place = panic.location().map_or("nowhere".to_string(), |place| place.to_string());
    if let Ok(mut found) = FOUND.lock() {
        if found.get_or_insert_with(HashSet::new).insert(place.clone()) {
            eprintln!("finding: panic at {place}");
        }
    }
}
