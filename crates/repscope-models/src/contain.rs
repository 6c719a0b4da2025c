// SPDX-License-Identifier: MIT
//! Keeps a panic of a runtime that is not ours from reaching the user.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::thread;

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `work`; none where it panicked. Nothing is printed then, also not by the threads of rten, where most of the work is
/// done: the caller knows what to say. Panics elsewhere are reported as before.
pub(crate) fn contain_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let of_rten = thread::current().name().is_some_and(|name| name.starts_with("rten-"));
            if !CONTAINED.get() && !of_rten {
                usual(info);
            }
        }));
    });
    let outer = CONTAINED.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(outer);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_no_result_and_what_follows_goes_on() {
        assert_eq!(contain_panics(|| -> u8 { panic!("a runtime tripped") }), None);
        assert_eq!(contain_panics(|| 7), Some(7));
        assert!(!CONTAINED.get());
    }
}
