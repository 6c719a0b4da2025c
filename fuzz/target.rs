// SPDX-License-Identifier: MIT
//! One target: the reader that the program is named after.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| repscope_fuzz::read(env!("CARGO_BIN_NAME"), bytes));
