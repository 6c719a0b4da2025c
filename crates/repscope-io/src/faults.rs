// SPDX-License-Identifier: MIT
//! Faults on demand, for tests: the n-th operation on a file fails, or the process ends there as if it were killed.
//!
//! Everything here that writes, renames, forces to disk or opens a file asks first. `REPSCOPE_FAULT=fail:7` makes the seventh operation
//! fail, `die:7` ends the process. A build without debug assertions, such as every release, does not look at it.

use std::io;

#[cfg(debug_assertions)]
pub(crate) fn operation(what: &str) -> io::Result<()> {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static WANTED: OnceLock<Option<(bool, u64)>> = OnceLock::new();
    static DONE: AtomicU64 = AtomicU64::new(0);
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("REPSCOPE_FAULT").ok()?;
        let (kind, number) = text.split_once(':')?;
        Some((kind == "die", number.parse().ok()?))
    });
    let Some((dies, number)) = wanted else {
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
