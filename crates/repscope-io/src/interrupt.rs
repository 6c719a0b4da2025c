// SPDX-License-Identifier: MIT
//! Signals that end the process (Ctrl-C, `kill`, a terminal that is closed): temporary files are removed first.

/// From now on SIGINT, SIGTERM and SIGHUP remove the temporary files of this process before they end it. Those that the process was
/// started to ignore (`nohup`) stay ignored.
#[cfg(unix)]
#[allow(unsafe_code)]
pub fn clean_up_on_signals() -> std::io::Result<()> {
    use std::ffi::c_int;
    use std::io::Read;
    use std::mem::MaybeUninit;
    use std::os::fd::IntoRawFd;
    use std::ptr;
    use std::sync::atomic::{AtomicI32, Ordering};

    static PIPE: AtomicI32 = AtomicI32::new(-1);

    /// Passes the signal to a thread, which may do what a handler must not.
    extern "C" fn on_signal(signal: c_int) {
        let byte = signal as u8;
        // SAFETY: a system call with one byte that lives.
        unsafe {
            libc::write(PIPE.load(Ordering::Relaxed), ptr::from_ref(&byte).cast(), 1);
        }
    }

    let (mut read, write) = std::io::pipe()?;
    PIPE.store(write.into_raw_fd(), Ordering::Relaxed);
    let end = move || {
        let mut byte = [0];
        if read.read_exact(&mut byte).is_err() {
            return;
        }
        crate::temporary::remove_all();
        let signal = c_int::from(byte[0]);
        // SAFETY: plain calls of the C library. The process ends by the signal, as its parent expects.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    };
    std::thread::Builder::new().name("signals".to_string()).spawn(end)?;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: plain calls of the C library; actions are filled in before they are passed.
        unsafe {
            let mut before: libc::sigaction = MaybeUninit::zeroed().assume_init();
            libc::sigaction(signal, ptr::null(), &raw mut before);
            if before.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            let handler: extern "C" fn(c_int) = on_signal;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigemptyset(&raw mut action.sa_mask);
            if libc::sigaction(signal, &raw const action, ptr::null_mut()) != 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

/// Elsewhere temporary files of a process that was ended are collected by the next one.
#[cfg(not(unix))]
pub fn clean_up_on_signals() -> std::io::Result<()> {
    Ok(())
}
