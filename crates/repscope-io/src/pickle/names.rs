// SPDX-License-Identifier: MIT
//! Which names a pickle may mention.

/// How much a pickle is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// An object array: nothing but what NumPy itself writes.
    Arrays,
    /// A checkpoint: any class, as a record.
    Checkpoint,
}

/// Modules that start programs, import code or reach the network. No weights need anything of them.
const MODULES: [&str; 35] = [
    "_pickle",
    "asyncio",
    "bdb",
    "cPickle",
    "cProfile",
    "code",
    "codeop",
    "commands",
    "ctypes",
    "dbm",
    "ftplib",
    "http",
    "imp",
    "importlib",
    "marshal",
    "nt",
    "os",
    "pdb",
    "pickle",
    "pip",
    "pkgutil",
    "popen2",
    "posix",
    "profile",
    "pty",
    "requests",
    "runpy",
    "shutil",
    "signal",
    "smtplib",
    "socket",
    "subprocess",
    "sys",
    "urllib",
    "webbrowser",
];

/// Functions that run code, in modules that also hold harmless names.
const FUNCTIONS: [&str; 21] = [
    "__import__",
    "_io.FileIO",
    "_io.open",
    "breakpoint",
    "compile",
    "delattr",
    "eval",
    "exec",
    "execfile",
    "globals",
    "input",
    "io.FileIO",
    "io.open",
    "open",
    "operator.methodcaller",
    "timeit.timeit",
    "torch.hub.load",
    "torch.load",
    "torch.serialization.load",
    "types.CodeType",
    "types.FunctionType",
];

/// Whether a name is only of use to an attack. Nothing is ever called here; the refusal is for those
/// who would next load the file with Python.
pub(super) fn is_attack(module: &str, name: &str) -> bool {
    // With `os` a dotted name such as `path.join` also counts: it may lead anywhere.
    let top = module.split('.').next().unwrap_or(module);
    let builtin = matches!(module, "builtins" | "__builtin__");
    let full = format!("{module}.{name}");
    MODULES.contains(&top) || FUNCTIONS.contains(&if builtin { name } else { &full })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_run_code_are_attacks_and_classes_are_not() {
        for (module, name) in [
            ("posix", "system"),
            ("os.path", "os.system"),
            ("builtins", "eval"),
            ("__builtin__", "exec"),
            ("subprocess", "Popen"),
            ("torch", "load"),
        ] {
            assert!(is_attack(module, name), "{module}.{name}");
        }
        for (module, name) in [
            ("argparse", "Namespace"),
            ("builtins", "getattr"),
            ("src.os", "Evaluator"),
            ("model", "open"),
            ("torch._utils", "_rebuild_tensor_v2"),
        ] {
            assert!(!is_attack(module, name), "{module}.{name}");
        }
    }
}
