//! What a library prints goes to stderr: stdout is the suite's, and 0.7 has a `println!` in its decoder.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};

extern "C" {
    fn dup2(from: i32, to: i32) -> i32;
}

/// Puts stdout back, after a panic too.
struct Kept(File);

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        unsafe { dup2(self.0.as_raw_fd(), 1) };
    }
}

/// Calls with stdout led to stderr.
pub fn aside<T>(call: impl FnOnce() -> T) -> T {
    let kept = io::stdout().flush().and_then(|()| io::stdout().as_fd().try_clone_to_owned());
    let _kept = kept.map(|fd| Kept(fd.into()));
    unsafe { dup2(2, 1) };
    call()
}
