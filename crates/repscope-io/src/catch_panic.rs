// SPDX-License-Identifier: MIT
//! Keeps a panic of a decoder that is not ours from reaching the user.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `decode`; none where it panicked. Nothing is printed then: the caller knows what to say. Panics
/// elsewhere are reported as before.
pub(crate) fn contain_panics<T>(decode: impl FnOnce() -> T) -> Option<T> {
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CONTAINED.get() {
                usual(info);
            }
        }));
    });
    CONTAINED.set(true);
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    CONTAINED.set(false);
    decoded.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_no_result_and_what_follows_goes_on() {
        assert_eq!(contain_panics(|| -> u8 { panic!("a decoder tripped") }), None);
        assert_eq!(contain_panics(|| 7), Some(7));
        assert!(!CONTAINED.get());
    }
}
