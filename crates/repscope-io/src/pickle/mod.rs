// SPDX-License-Identifier: MIT
//! Pickles, read and never executed.
//!
//! A pickle is a program for a small stack machine that can call any Python function. This machine
//! calls none. The names that NumPy arrays and PyTorch tensors are made with have stand-ins (see
//! [`calls`] and [`tensors`]). For an object array every other name is refused. A checkpoint may mention
//! classes of its author: they become records that can be looked into, and names that only an attack
//! needs are refused. Values live in one flat list and refer to each other by number, so a hostile
//! pickle can neither recurse nor grow far beyond its own size.

mod calls;
mod cursor;
mod machine;
mod tensors;

use crate::array::Object;
use crate::error::{Parsed, Problem, problem};
use calls::{Dtype, Names};
use cursor::text;
use machine::Machine;

pub(crate) use calls::Callable;
pub(crate) use tensors::{Kind, Storage, Tensor};

/// How to turn an object array into one that needs no pickle.
const ADVICE: &str = "pickled objects are never executed here; save plain text with np.save(path, labels.astype(str))";

/// One text may stand in many rows of an array. Together they may not need more bytes than this, and so many for each byte of the pickle:
/// a row costs two or three bytes, and names of classes are short.
const TEXT_LIMIT: usize = 64 << 20;
const TEXT_PER_BYTE: usize = 100;

/// Why a pickle is not read.
#[derive(Debug)]
enum Fault {
    Damaged,
    /// What the pickle does, as the rest of "a pickle that".
    Refused(String),
    /// The function it would call.
    Attack(String),
    /// What another parser found.
    Other(Problem),
}

type Step<T> = Result<T, Fault>;

/// The objects of a pickled array, in C order.
pub(crate) fn read_objects(bytes: &[u8]) -> Parsed<Vec<Object>> {
    let read = Machine::new(Names::Arrays, bytes.len())
        .run(bytes)
        .and_then(|(pickled, _)| objects(&pickled, bytes.len()));
    read.map_err(|fault| match fault {
        Fault::Damaged => problem!("holds a damaged pickle; {ADVICE}"),
        Fault::Refused(what) => problem!("holds a pickle that {what}; {ADVICE}"),
        Fault::Attack(name) => problem!("holds a pickle that loads the Python object `{name}`; {ADVICE}"),
        Fault::Other(problem) => problem,
    })
}

/// The values of a checkpoint's pickle, and the bytes that follow it.
pub(crate) fn read_checkpoint(bytes: &[u8]) -> Parsed<(Pickled, &[u8])> {
    Machine::new(Names::Checkpoint, bytes.len())
        .run(bytes)
        .map_err(|fault| match fault {
            Fault::Damaged => problem!(
                "holds a damaged pickle; within its {} bytes it may have been cut off while copying",
                bytes.len()
            ),
            Fault::Refused(what) => problem!("holds a pickle that {what}; save it again with torch.save"),
            Fault::Attack(name) => problem!(
                "is refused: it makes Python call `{name}`, which is an attack or a mistake, as no weights need \
                 it; nothing was run"
            ),
            Fault::Other(problem) => problem,
        })
}

fn objects(pickled: &Pickled, length: usize) -> Step<Vec<Object>> {
    let none = || refuse("does not hold an array of text or numbers");
    let Value::Array(Some(array)) = pickled.get(pickled.root) else {
        return none();
    };
    let (Value::List(items), Value::Dtype(dtype)) = (pickled.get(array.data), pickled.get(array.dtype)) else {
        return none();
    };
    if !dtype.is_object() {
        return none();
    }
    let limit = length.saturating_mul(TEXT_PER_BYTE).saturating_add(TEXT_LIMIT);
    let mut bytes_left = limit;
    let object = |(row, &id): (usize, &Id)| {
        let object = match pickled.get(id) {
            Value::Plain(object) => object.clone(),
            Value::Bytes(bytes) => Object::Text(text(bytes)?),
            _ => {
                return refuse(format!(
                    "holds something else than text, a number or None at value {row}"
                ));
            }
        };
        if let Object::Text(text) = &object {
            match bytes_left.checked_sub(text.len()) {
                Some(left) => bytes_left = left,
                None => return refuse(format!("repeats its texts, to more than {limit} bytes out of {length}")),
            }
        }
        Ok(object)
    };
    items.iter().enumerate().map(object).collect()
}

fn refuse<T>(what: impl std::fmt::Display) -> Step<T> {
    Err(Fault::Refused(what.to_string()))
}

fn damaged() -> Fault {
    Fault::Damaged
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Fault::Other(problem)
    }
}

/// The number of a value in the list of a pickle.
pub(crate) type Id = usize;

/// One value.
#[derive(Debug)]
pub(crate) enum Value {
    Plain(Object),
    Bytes(Vec<u8>),
    /// A list or a set.
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A name that has a stand-in.
    Callable(Callable),
    /// Any other name, as `module.name`.
    Name(String),
    /// What calling such a name would have made.
    Record(Box<Record>),
    Dtype(Dtype),
    /// A NumPy array; `None` until its contents arrive.
    Array(Option<NumpyArray>),
    Storage(Storage),
    Tensor(Tensor),
}

/// An object of a class that is not known here.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) class: Id,
    pub(crate) arguments: Id,
    pub(crate) state: Option<Id>,
    pub(crate) entries: Vec<(Id, Id)>,
    pub(crate) items: Vec<Id>,
}

/// The parts of a NumPy array.
#[derive(Debug)]
pub(crate) struct NumpyArray {
    pub(crate) shape: Id,
    pub(crate) dtype: Id,
    pub(crate) fortran_order: bool,
    /// Bytes, or a list of objects.
    pub(crate) data: Id,
}

/// A pickle that was read.
#[derive(Debug)]
pub(crate) struct Pickled {
    values: Vec<Value>,
    pub(crate) root: Id,
}

impl Pickled {
    pub(crate) fn get(&self, id: Id) -> &Value {
        &self.values[id]
    }

    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    /// `module.name` of what was called to make a record.
    pub(crate) fn class_name(&self, class: Id) -> &str {
        match self.get(class) {
            Value::Name(name) => name,
            Value::Record(record) => match self.get(record.class) {
                Value::Name(name) => name,
                _ => "an object",
            },
            _ => "an object",
        }
    }

    pub(crate) fn text(&self, id: Id) -> Option<&str> {
        match self.get(id) {
            Value::Plain(Object::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn int(&self, id: Id) -> Option<i64> {
        match self.get(id) {
            Value::Plain(Object::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// How many entries a dict has; 0 for anything else.
    pub(crate) fn entries(&self, id: Id) -> usize {
        match self.get(id) {
            Value::Dict(entries) => entries.len(),
            _ => 0,
        }
    }

    /// The parts of a tuple or list.
    pub(crate) fn parts(&self, id: Id) -> Option<&[Id]> {
        match self.get(id) {
            Value::Tuple(items) | Value::List(items) => Some(items),
            _ => None,
        }
    }
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

    #[test]
    fn the_class_of_a_record_keeps_its_name_and_its_state() {
        let (pickled, rest) = read_checkpoint(b"\x80\x02csrc.data\nSet\n)\x81}U\x01xK\x07sb.rest").unwrap();
        assert_eq!(rest, b"rest");
        let Value::Record(record) = pickled.get(pickled.root) else {
            panic!("an unknown class is a record")
        };
        assert_eq!(pickled.class_name(record.class), "src.data.Set");
        let Value::Dict(state) = pickled.get(record.state.unwrap()) else {
            panic!("its state is a dict")
        };
        assert!(matches!(pickled.get(state[0].1), Value::Plain(Object::Int(7))));
    }

    #[test]
    fn a_list_that_is_used_again_and_again_is_not_copied_each_time() {
        // 1,000 pairs in a list, made into a dict over and over: each time costs 8 bytes of pickle.
        let mut bytes = b"\x80\x02]q\x00(".to_vec();
        bytes.extend(b"NN\x86".repeat(1000));
        bytes.extend(b"e0");
        bytes.extend(b"ccollections\nOrderedDict\nq\x010");
        bytes.extend(b"h\x01h\x00\x85R0".repeat(1000));
        bytes.extend(b"N.");
        let error = read_checkpoint(&bytes).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("repeats its parts"), "{error}");
    }
}
