// SPDX-License-Identifier: MIT
//! PyTorch's part of a pickle: storages, which are blocks of numbers outside the pickle, and tensors,
//! which are views of them. Only the parts are noted here; sizes are checked where they are used.

use super::calls::Callable;
use super::machine::Machine;
use super::{Fault, Id, Step, Value, damaged, refuse};
use crate::element::Element;

/// The type of the numbers in a storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read(Element),
    /// A type that is not read: its name, and its bytes per number.
    Other(&'static str, usize),
}

/// A block of numbers outside the pickle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Storage {
    pub(crate) kind: Kind,
    pub(crate) key: Id,
    /// How many numbers the pickle says it has.
    pub(crate) count: i64,
    /// Where a view of an older file begins, in numbers.
    pub(crate) start: i64,
}

/// A view of a storage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tensor {
    pub(crate) storage: Id,
    pub(crate) offset: Id,
    pub(crate) shape: Id,
    pub(crate) strides: Id,
    /// The type of the numbers where the storage holds mere bytes.
    pub(crate) kind: Option<Kind>,
}

/// Functions that make a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rebuild {
    /// `_rebuild_tensor(storage, offset, shape, strides)`, version 2 with more arguments behind.
    Tensor,
    /// `_rebuild_tensor_v3(…, requires_grad, hooks, dtype, metadata)`.
    TypedTensor,
    /// `_rebuild_parameter(tensor, …)`.
    Parameter,
    /// `_rebuild_from_type_v2(function, class, arguments, state)`.
    FromType,
}

impl Kind {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Kind::Read(element) => element.bytes(),
            Kind::Other(_, bytes) => bytes,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Read(element) => element.name(),
            Kind::Other(name, _) => name,
        }
    }
}

/// The stand-in of a name of PyTorch.
pub(super) fn find(module: &str, name: &str) -> Option<Callable> {
    Some(match (module, name) {
        ("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2") => Callable::Rebuild(Rebuild::Tensor),
        ("torch._utils", "_rebuild_tensor_v3") => Callable::Rebuild(Rebuild::TypedTensor),
        ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state") => {
            Callable::Rebuild(Rebuild::Parameter)
        }
        ("torch._tensor", "_rebuild_from_type_v2") => Callable::Rebuild(Rebuild::FromType),
        ("torch", "Size") => Callable::Same,
        ("torch" | "torch.storage" | "torch.cuda", _) => {
            Callable::Kind(storage_kind(name).or_else(|| dtype_kind(name).filter(|_| module == "torch"))?)
        }
        _ => return None,
    })
}

impl Machine {
    /// The storage that a persistent id names: `('storage', type, key, location, count[, view])`.
    pub(super) fn storage(&self, id: Id) -> Step<Value> {
        let Some([word, kind, key, _, count, view @ ..]) = self.parts(id) else {
            return refuse("refers to something outside itself that is no storage");
        };
        match (&self.values[*word], &self.values[*kind]) {
            (Value::Plain(crate::array::Object::Text(word)), Value::Callable(Callable::Kind(kind)))
                if word == "storage" =>
            {
                let start = match view.first().and_then(|&view| self.parts(view)) {
                    Some([_, start, _]) => self.int(*start)?,
                    _ => 0,
                };
                Ok(Value::Storage(Storage {
                    kind: *kind,
                    key: *key,
                    count: self.int(*count)?,
                    start,
                }))
            }
            (_, Value::Name(name)) => refuse(format!("holds numbers in a `{name}`, which is not known")),
            _ => refuse("refers to something outside itself that is no storage"),
        }
    }

    /// What one of PyTorch's functions would return.
    pub(super) fn rebuild(&mut self, rebuild: Rebuild, arguments: &[Id]) -> Step<Id> {
        match (rebuild, arguments) {
            (Rebuild::Tensor, &[storage, offset, shape, strides, ..]) => self.add(Value::Tensor(Tensor {
                storage,
                offset,
                shape,
                strides,
                kind: None,
            })),
            (Rebuild::TypedTensor, &[storage, offset, shape, strides, _, _, dtype, ..]) => {
                let Value::Callable(Callable::Kind(kind)) = self.values[dtype] else {
                    return refuse("holds a tensor of an unknown type");
                };
                self.add(Value::Tensor(Tensor {
                    storage,
                    offset,
                    shape,
                    strides,
                    kind: Some(kind),
                }))
            }
            (Rebuild::Parameter, &[tensor, ..]) => Ok(tensor),
            (Rebuild::FromType, &[function, _, inner, ..]) => match self.values[function] {
                // One level only: a function that rebuilds by type again would let a pickle recurse.
                Value::Callable(Callable::Rebuild(function)) if function != Rebuild::FromType => {
                    let inner = self.first_parts(inner)?;
                    self.rebuild(function, &inner)
                }
                _ => self.record(function, inner),
            },
            _ => Err(damaged()),
        }
    }

    fn int(&self, id: Id) -> Result<i64, Fault> {
        match self.values[id] {
            Value::Plain(crate::array::Object::Int(number)) => Ok(number),
            _ => Err(damaged()),
        }
    }
}

/// The types of storages and of tensors: the name of the storage before `Storage`, the names of the type, and what it is.
const KINDS: [(&str, &str, Kind); 26] = [
    ("Float", "float32 float", Kind::Read(Element::F32)),
    ("Double", "float64 double", Kind::Read(Element::F64)),
    ("Half", "float16 half", Kind::Read(Element::F16)),
    ("BFloat16", "bfloat16", Kind::Read(Element::BF16)),
    ("Long", "int64 long", Kind::Read(Element::I64)),
    ("Int", "int32 int", Kind::Read(Element::I32)),
    ("Short", "int16 short", Kind::Read(Element::I16)),
    ("Char", "int8", Kind::Read(Element::I8)),
    ("", "uint64", Kind::Read(Element::U64)),
    ("", "uint32", Kind::Read(Element::U32)),
    ("", "uint16", Kind::Read(Element::U16)),
    ("Byte Untyped", "uint8", Kind::Read(Element::U8)),
    ("Bool", "bool", Kind::Read(Element::Bool)),
    ("", "complex32", Kind::Other("complex32", 4)),
    ("ComplexFloat", "complex64", Kind::Other("complex64", 8)),
    ("ComplexDouble", "complex128", Kind::Other("complex128", 16)),
    ("QInt8", "qint8", Kind::Other("qint8", 1)),
    ("QInt32", "qint32", Kind::Other("qint32", 4)),
    ("QUInt8", "quint8", Kind::Other("quint8", 1)),
    ("QUInt4x2", "", Kind::Other("quint4x2", 1)),
    ("QUInt2x4", "", Kind::Other("quint2x4", 1)),
    ("", "float8_e4m3fn", Kind::Other("float8_e4m3fn", 1)),
    ("", "float8_e4m3fnuz", Kind::Other("float8_e4m3fnuz", 1)),
    ("", "float8_e5m2", Kind::Other("float8_e5m2", 1)),
    ("", "float8_e5m2fnuz", Kind::Other("float8_e5m2fnuz", 1)),
    ("", "float8_e8m0fnu", Kind::Other("float8_e8m0fnu", 1)),
];

fn storage_kind(name: &str) -> Option<Kind> {
    let name = name.strip_suffix("Storage")?;
    let found = KINDS
        .iter()
        .find(|(storages, ..)| storages.split_whitespace().any(|own| own == name));
    found.map(|(.., kind)| *kind)
}

fn dtype_kind(name: &str) -> Option<Kind> {
    let found = KINDS
        .iter()
        .find(|(_, types, _)| types.split_whitespace().any(|own| own == name));
    found.map(|(.., kind)| *kind)
}
