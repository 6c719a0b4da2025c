// SPDX-License-Identifier: MIT
//! What a pickle is made of. Values refer to their parts by number, also to themselves.

use super::calls::{Callable, Dtype};
use super::tensors::{Storage, Tensor};
use crate::array::Object;

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
    pub(super) values: Vec<Value>,
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

    /// The parts of a tuple or list.
    pub(crate) fn parts(&self, id: Id) -> Option<&[Id]> {
        match self.get(id) {
            Value::Tuple(items) | Value::List(items) => Some(items),
            _ => None,
        }
    }
}
