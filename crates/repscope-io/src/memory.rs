// SPDX-License-Identifier: MIT
//! Arrays that a program lends for the time of a call, under names that stand where paths of files do. So everything that
//! reads a file reads them too, and nothing else has to know where an array comes from.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use crate::array::{Array, Data, Object};

thread_local! {
    /// What the calls of this thread lend; the innermost call is the last.
    static LENT: RefCell<Vec<BTreeMap<String, Array>>> = const { RefCell::new(Vec::new()) };
}

/// Runs something to which these arrays are files. They are lent to this thread only, and no longer than it takes.
pub fn lend<T>(arrays: BTreeMap<String, Array>, run: impl FnOnce() -> T) -> T {
    /// Takes the arrays back, also where `run` unwinds.
    struct Lending;
    impl Drop for Lending {
        fn drop(&mut self) {
            LENT.with_borrow_mut(|lent| lent.pop());
        }
    }
    LENT.with_borrow_mut(|lent| lent.push(arrays));
    let _lending = Lending;
    run()
}

/// The array that is lent under this name.
pub(crate) fn lent(path: &Path) -> Option<Array> {
    let name = path.to_str()?;
    LENT.with_borrow(|lent| lent.last()?.get(name).cloned())
}

/// Whether an array is lent under this name.
pub fn is_lent(path: &Path) -> bool {
    path.to_str()
        .is_some_and(|name| LENT.with_borrow(|lent| lent.last().is_some_and(|own| own.contains_key(name))))
}

/// The BLAKE3 digest of an array: its type, shape and values.
pub(crate) fn digest_of(array: &Array) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{} {:?}\n", array.dtype(), array.shape()).as_bytes());
    let mut text = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    match array.data() {
        Data::Text(values) => values.iter().for_each(|value| text(value)),
        Data::Mixed(values) => values.iter().for_each(|value| text(&in_words(value))),
        Data::Bool(values) => {
            let bytes: Vec<u8> = values.iter().map(|&value| u8::from(value)).collect();
            hasher.update(&bytes);
        }
        Data::F32(values) => {
            hasher.update_rayon(bytemuck::cast_slice((**values).as_ref()));
        }
        Data::F64(values) => {
            hasher.update_rayon(bytemuck::cast_slice((**values).as_ref()));
        }
        Data::U8(values) => {
            hasher.update_rayon((**values).as_ref());
        }
        Data::I64(values) => {
            hasher.update_rayon(bytemuck::cast_slice(values));
        }
        Data::U64(values) => {
            hasher.update_rayon(bytemuck::cast_slice(values));
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// The kind of an object and its value.
fn in_words(object: &Object) -> String {
    format!("{object:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::InputPath;
    use crate::{digest, list_arrays, read_array};

    fn one(value: f32) -> Array {
        Array::new(vec![1, 1], "f32", Data::f32(vec![value])).expect("a shape that fits")
    }

    fn lent_as(name: &str, array: Array) -> BTreeMap<String, Array> {
        BTreeMap::from([(name.to_string(), array)])
    }

    #[test]
    fn a_lent_array_is_read_like_a_file_as_long_as_it_is_lent() {
        let path = InputPath::parse("memory:z");
        assert!(read_array(&path).is_err());
        lend(lent_as("memory:z", one(7.0)), || {
            assert_eq!(InputPath::parse("memory:z").key, None);
            assert_eq!(read_array(&path).expect("it is lent").shape(), [1, 1]);
            assert_eq!(list_arrays(&path.path).expect("it is lent")[0].dtype, "f32");
            // A call within the call has arrays of its own.
            lend(BTreeMap::new(), || assert!(!is_lent(&path.path)));
            assert!(is_lent(&path.path));
        });
        assert!(!is_lent(&path.path));
    }

    #[test]
    fn arrays_are_taken_back_when_the_call_unwinds() {
        let unwound = std::panic::catch_unwind(|| {
            lend(lent_as("memory:z", one(7.0)), || {
                std::panic::resume_unwind(Box::new("stop"))
            })
        });
        assert!(unwound.is_err() && !is_lent(Path::new("memory:z")));
    }

    #[test]
    fn the_digest_tells_values_shapes_and_types_apart() {
        let of = |array: Array| lend(lent_as("memory:z", array), || digest(Path::new("memory:z")).unwrap());
        let texts = |texts: [&str; 2]| {
            Array::new(vec![2], "str", Data::Text(texts.map(str::to_string).to_vec())).expect("a shape that fits")
        };
        let flat = Array::new(vec![1], "f32", Data::f32(vec![7.0])).expect("a shape that fits");
        assert_eq!(of(one(7.0)), of(one(7.0)));
        assert_ne!(of(one(7.0)), of(one(8.0)));
        assert_ne!(of(one(7.0)), of(flat));
        assert_ne!(of(texts(["ab", "c"])), of(texts(["a", "bc"])));
    }
}
