// SPDX-License-Identifier: MIT
//! Catches panics of decoders and runtimes that are not ours.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::thread;

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `work` and returns its result, or `None` if it panicked.
///
/// A caught panic prints nothing, because the caller reports the error. The same holds for panics on the worker threads of
/// rten, which do most of its work. Other panics are reported as before.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    HOOK.call_once(|| {
        let default_hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let in_rten = thread::current().name().is_some_and(|name| name.starts_with("rten-"));
            if !CATCHING.get() && !in_rten {
                default_hook(info);
            }
        }));
    });
    let outer = CATCHING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_gives_none_and_later_calls_work() {
        assert_eq!(catch_panic(|| -> u8 { panic!("a decoder failed") }), None);
        assert_eq!(catch_panic(|| 7), Some(7));
        assert!(!CATCHING.get());
    }

    #[test]
    fn a_caught_panic_inside_another_call_leaves_the_outer_call_silent() {
        let inner = catch_panic(|| {
            assert_eq!(catch_panic(|| -> u8 { panic!("a runtime failed") }), None);
            CATCHING.get()
        });
        assert_eq!(inner, Some(true));
    }
}
