// SPDX-License-Identifier: MIT
//! Faults on demand, for tests: the n-th operation on a file fails, or the process ends there as if it were killed.
//!
//! Everything here that writes, renames, forces to disk or opens a file asks first. A build without debug assertions, such as every
//! release, has no faults.

use std::io;

#[cfg(debug_assertions)]
use std::sync::OnceLock;

/// Whether the process ends, and at which operation.
#[cfg(debug_assertions)]
static WANTED: OnceLock<(bool, u64)> = OnceLock::new();

/// Makes an operation fail: `fail:7` the seventh one, and `die:7` ends the process there. What is no fault is passed over.
pub fn inject_fault(text: &str) {
    #[cfg(debug_assertions)]
    if let Some((kind, number)) = text.split_once(':')
        && let Ok(number) = number.parse()
    {
        let _ = WANTED.set((kind == "die", number));
    }
    #[cfg(not(debug_assertions))]
    let _ = text;
}

#[cfg(debug_assertions)]
pub(crate) fn operation(what: &str) -> io::Result<()> {
    use std::io::Write;
    use std::sync::atomic::{AtomicU64, Ordering};

    static DONE: AtomicU64 = AtomicU64::new(0);
    let Some((dies, number)) = WANTED.get() else {
        return Ok(());
    };
    if DONE.fetch_add(1, Ordering::Relaxed) + 1 != *number {
        return Ok(());
    }
    // A test reads here whether there was an operation with this number.
    let _ = writeln!(io::stderr(), "injected fault: {what}");
    if *dies {
        std::process::abort();
    }
    Err(io::Error::other(format!("injected fault: {what}")))
}

#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn operation(_what: &str) -> io::Result<()> {
    Ok(())
}
