// SPDX-License-Identifier: MIT
//! The repscope command. Exit codes: 0 ok, 1 a gate failed, 2 error.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The link names the program that runs, also where its file was replaced meanwhile.
    let link = PathBuf::from("/proc/self/exe");
    let program = if link.exists() {
        Ok(link)
    } else {
        std::env::current_exe()
    };
    if let Ok(program) = program {
        repscope_cli::isolate_models(vec![program.into()]);
    }
    repscope_cli::main(std::env::args_os())
}
