//! What the targets share.

use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::Once;

static QUIET: Once = Once::new();

/// Calls a library. A panic ends the call and not the fuzzer, because these targets measure coverage.
pub fn survived(call: impl FnOnce()) {
    QUIET.call_once(|| set_hook(Box::new(|_| {})));
    let _ = catch_unwind(AssertUnwindSafe(call));
}
