// SPDX-License-Identifier: MIT
//! Was stdout open when the process began?
//!
//! Before `main`, the standard library opens `/dev/null` for a stdout that is closed (`>&-`), so that no other file becomes file 1. After that
//! the two cannot be told apart. The loader calls the functions of `.init_array` earlier, which is where the standard library itself takes the
//! arguments from on Linux. Elsewhere nothing is known, and stdout counts as open.

/// Whether stdout was closed when the process began, so that a result would go nowhere.
#[cfg(target_os = "linux")]
pub fn stdout_was_closed() -> bool {
    // Reading the entry keeps the linker from leaving it out.
    std::hint::black_box(before_main::LOOK);
    before_main::WAS_CLOSED.load(std::sync::atomic::Ordering::Relaxed)
}

/// Whether stdout was closed when the process began: not known here.
#[cfg(not(target_os = "linux"))]
pub fn stdout_was_closed() -> bool {
    false
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
mod before_main {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    // SAFETY: the loader calls it once, before `main` or when a Python process loads the module, with arguments that it may ignore. It makes
    // one system call and stores a value, and needs nothing that is set up later.
    #[used]
    #[unsafe(link_section = ".init_array")]
    pub(super) static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: a system call that only asks.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }
}
