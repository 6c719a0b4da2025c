// SPDX-License-Identifier: MIT
//! A panic is our mistake, and an error like any other for whoever runs the command: a message and exit code 2.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

use anyhow::{Result, anyhow};

/// What the last panic said, and where it was.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Runs a command; a panic of it, on whatever thread, becomes an error.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let usual = panic::take_hook();
    let is_asked_for = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    panic::set_hook(Box::new(move |info| {
        if let Ok(mut last) = LAST.lock() {
            *last = Some(info.to_string().replacen("panicked at ", "", 1).replace('\n', " "));
        }
        if is_asked_for {
            usual(info);
        }
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let last = LAST.lock().ok().and_then(|mut last| last.take());
        let said = last.unwrap_or_else(|| "nothing is known of it".to_string());
        Err(anyhow!(
            "internal error ({said}). Please report this with the command line and, if you can, the files"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_on_any_thread_is_an_error_with_its_place() {
        let error = caught(|| -> Result<()> {
            #[allow(clippy::disallowed_methods)] // the driver passes panics on by itself
            let thread = std::thread::spawn(|| panic!("a list of {} is empty", 3));
            thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            Ok(())
        });
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("panics.rs") && error.contains("a list of 3 is empty"),
            "{error}"
        );
        assert!(caught(|| Ok(7)).is_ok());
    }
}
