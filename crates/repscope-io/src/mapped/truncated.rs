// SPDX-License-Identifier: MIT
//! A mapped file that another program cuts off: reading behind its new end raises SIGBUS, which would end the process. A handler puts
//! zeros there instead and takes a note of it; the run ends with an error, because its inputs are not what they were.
//!
//! Faults outside of our mappings go to the handler that was there before.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many mappings can be guarded at a time. Images are mapped one by one as they are decoded.
const MOST: usize = 1024;
/// An entry of the table that is neither free nor filled.
const BEING_FILLED: usize = 1;

struct Range {
    /// 0 in a free entry.
    start: AtomicUsize,
    end: AtomicUsize,
}

static GUARDED: [Range; MOST] = [const {
    Range {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
    }
}; MOST];
static HAPPENED: AtomicBool = AtomicBool::new(false);
static PAGE: AtomicUsize = AtomicUsize::new(4096);
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Whether anything was cut off.
pub fn happened() -> bool {
    HAPPENED.load(Ordering::Relaxed)
}

/// A mapping that may be cut off. Must be dropped before it is unmapped.
pub struct Guard(Option<&'static Range>);

impl Guard {
    /// `None` where the table is full.
    pub fn new(mapping: &[u8]) -> Option<Self> {
        if mapping.is_empty() {
            return Some(Guard(None));
        }
        install();
        let is_claimed = |range: &&Range| {
            let (now, order) = (BEING_FILLED, Ordering::AcqRel);
            range.start.compare_exchange(0, now, order, Ordering::Relaxed).is_ok()
        };
        let range = GUARDED.iter().find(is_claimed)?;
        let bytes = mapping.as_ptr_range();
        range.end.store(bytes.end as usize, Ordering::Release);
        range.start.store(bytes.start as usize, Ordering::Release);
        Some(Guard(Some(range)))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(range) = self.0 {
            range.start.store(0, Ordering::Release);
        }
    }
}

/// Installs the handler, once.
fn install() {
    BEFORE.get_or_init(|| {
        // SAFETY: plain calls of the C library. The new action is filled in before it is passed, the old one by the call.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE);
            if let Ok(page) = usize::try_from(page) {
                PAGE.store(page, Ordering::Relaxed);
            }
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
            action.sa_sigaction = handler as usize;
            // On the stack that the thread has for signals, without blocking the signal for the handler before us.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(libc::SIGBUS, &raw const action, before.as_mut_ptr());
            before.assume_init()
        }
    });
}

/// Calls nothing but system calls: it may interrupt anything.
extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo_t to a handler with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    let page = PAGE.load(Ordering::Relaxed);
    for range in &GUARDED {
        let start = range.start.load(Ordering::Acquire);
        let end = range.end.load(Ordering::Acquire).next_multiple_of(page);
        if start > BEING_FILLED && (start..end).contains(&address) {
            let first = address & !(page - 1);
            // SAFETY: these pages belong to a mapping of ours that is read only, and from the fault on none of them has a byte
            // of the file any more: a file is cut off at one place.
            let zeros = unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
                libc::mmap(first as *mut c_void, end - first, libc::PROT_READ, flags, -1, 0)
            };
            if zeros != libc::MAP_FAILED {
                HAPPENED.store(true, Ordering::Relaxed);
                return;
            }
        }
    }
    pass_on(signal, info, context);
}

/// Does what would have been done without us.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(before) = BEFORE.get() else {
        // Before `install` is done there is no mapping to fault in.
        return;
    };
    // SAFETY: the action is the one that the C library gave, so its handler has the type that its flags say.
    unsafe {
        match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                // The instruction faults again and ends the process.
                libc::sigaction(signal, before, ptr::null_mut());
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
                std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
            }
            handler => std::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal),
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "files are damaged in place here, as other programs would"
)]
mod tests {
    use crate::mapped::{MappedFile, was_truncated};
    use std::fs::OpenOptions;

    #[test]
    fn what_is_cut_off_reads_as_zeros_and_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        std::fs::write(&path, vec![7; 300_000]).unwrap();
        let file = MappedFile::open(&path).unwrap();
        assert_eq!(file.iter().map(|&b| usize::from(b)).sum::<usize>(), 2_100_000);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(10).unwrap();
        assert_eq!((file[5], file[299_999], file[150_000]), (7, 0, 0));
        assert!(was_truncated());
        OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        assert_eq!(file[5], 0);
    }

    #[test]
    fn more_files_than_can_be_guarded_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, b"seven").unwrap();
        let files: Vec<MappedFile> = (0..super::MOST + 3).map(|_| MappedFile::open(&path).unwrap()).collect();
        assert!(files.iter().all(|file| **file == *b"seven"));
        drop(files);
        assert_eq!(*MappedFile::open(&path).unwrap(), *b"seven");
    }
}
