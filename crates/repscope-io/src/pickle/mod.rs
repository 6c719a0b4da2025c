// SPDX-License-Identifier: MIT
//! Object arrays: the pickle of a NumPy array of Python strings and numbers.
//!
//! A pickle is a program for a small stack machine that can call any Python function. This machine
//! calls none. It knows the opcodes that such an array is made of and the five names NumPy uses for
//! it (see [`calls`]); every other name or opcode is refused. Values live in one flat list and refer
//! to each other by number, so a hostile pickle can neither recurse nor grow beyond its own size.

mod calls;
mod cursor;
mod machine;
mod numbers;

use crate::array::Object;
use crate::error::{Parsed, Problem, problem};

/// How to turn an object array into one that needs no pickle.
const ADVICE: &str = "pickled objects are never executed here; save plain text with np.save(path, labels.astype(str))";

/// The objects of a pickled array, in C order.
pub(crate) fn read_objects(bytes: &[u8]) -> Parsed<Vec<Object>> {
    let mut machine = machine::Machine::default();
    machine.run(bytes)?;
    machine.into_objects()
}

fn refuse<T>(what: impl std::fmt::Display) -> Parsed<T> {
    problem(format!("holds a pickle that {what}; {ADVICE}"))
}

fn damaged() -> Problem {
    Problem::new(format!("holds a damaged pickle; {ADVICE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_to_another_function_is_refused_by_name() {
        let error = read_objects(b"cos\nsystem\n(S'touch x'\ntR.").unwrap_err().to_string();
        assert!(
            error.contains("`os.system`") && error.contains("never executed"),
            "{error}"
        );
    }

    #[test]
    fn a_pickle_that_is_not_an_array_is_refused() {
        for bytes in [&b"N."[..], b".", b"", b"(", b"]q\x00h\x00a.", b"2.", b"\x80\x04\x95"] {
            assert!(read_objects(bytes).is_err(), "{bytes:?}");
        }
    }
}
