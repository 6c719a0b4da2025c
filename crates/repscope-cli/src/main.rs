// SPDX-License-Identifier: MIT
//! The repscope command. Exit codes: 0 ok, 1 a gate failed, 2 error.

use std::process::ExitCode;

fn main() -> ExitCode {
    repscope_cli::isolate_models();
    repscope_cli::main(std::env::args_os())
}
