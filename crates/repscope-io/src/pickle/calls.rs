// SPDX-License-Identifier: MIT
//! The names a pickled NumPy array may mention, and what stands in for calling them.

use super::machine::Value;
use super::{damaged, refuse};
use crate::array::{Data, Object};
use crate::element::ByteOrder;
use crate::error::Parsed;
use crate::npy::{Content, parse_descr, read_one_text};

/// A name that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Callable {
    /// `numpy.core.multiarray._reconstruct`: an empty array, filled later.
    Reconstruct,
    /// `numpy.ndarray`, an argument of the former.
    Ndarray,
    /// `numpy.dtype`.
    Dtype,
    /// `numpy.core.multiarray.scalar`: one NumPy number or string.
    Scalar,
    /// `_codecs.encode`: how protocol 2 writes bytes.
    Encode,
}

/// The type of a NumPy array or scalar: `O8`, `i8`, `U3`.
#[derive(Debug, Clone)]
pub(super) struct Dtype {
    name: String,
    order: ByteOrder,
}

impl Callable {
    /// The value a global name stands for.
    pub(super) fn find(module: &str, name: &str) -> Parsed<Value> {
        let callable = match (module, name) {
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Callable::Reconstruct,
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Callable::Scalar,
            ("numpy", "ndarray") => Callable::Ndarray,
            ("numpy", "dtype") => Callable::Dtype,
            ("_codecs", "encode") => Callable::Encode,
            ("pandas" | "pandas._libs.missing", "NA") => return Ok(Value::Plain(Object::None)),
            _ => return refuse(format!("asks Python for `{module}.{name}`")),
        };
        Ok(Value::Callable(callable))
    }

    /// What the real function would return for these arguments, as far as plain values need it.
    pub(super) fn call(self, arguments: &[&Value]) -> Parsed<Value> {
        match (self, arguments) {
            (Callable::Reconstruct, [Value::Callable(Callable::Ndarray), ..]) => Ok(Value::Array(None)),
            (Callable::Dtype, [Value::Plain(Object::Text(name)), ..]) => Ok(Value::Dtype(Dtype {
                name: name.clone(),
                order: ByteOrder::Little,
            })),
            (Callable::Scalar, [Value::Dtype(dtype), Value::Bytes(bytes)]) => dtype.scalar(bytes).map(Value::Plain),
            (Callable::Encode, [Value::Plain(Object::Text(text)), Value::Plain(Object::Text(codec))])
                if codec == "latin1" =>
            {
                let byte = |c: char| u8::try_from(u32::from(c)).map_err(|_| damaged());
                Ok(Value::Bytes(text.chars().map(byte).collect::<Parsed<_>>()?))
            }
            _ => refuse("calls NumPy in an unknown way"),
        }
    }
}

impl Value {
    /// The value after `__setstate__(state)`: an array gets its contents, a type its byte order.
    pub(super) fn with_state(&self, state: &[&Value]) -> Parsed<Value> {
        match (self, state) {
            // (version, shape, type, is Fortran, contents); object lists are in C order always.
            (Value::Array(None), [_, _, Value::Dtype(dtype), _, Value::List(items)]) if dtype.name.starts_with('O') => {
                Ok(Value::Array(Some(items.clone())))
            }
            // (version, byte order, …)
            (Value::Dtype(dtype), [_, Value::Plain(Object::Text(order)), ..]) => {
                let order = if order == ">" {
                    ByteOrder::Big
                } else {
                    ByteOrder::Little
                };
                Ok(Value::Dtype(Dtype { order, ..dtype.clone() }))
            }
            _ => refuse("builds something else than an array of text or numbers"),
        }
    }
}

impl Dtype {
    fn scalar(&self, bytes: &[u8]) -> Parsed<Object> {
        let content = parse_descr(&self.name)?;
        if let Content::Unicode(..) | Content::Bytes(_) = content {
            return read_one_text(bytes, content, self.order).map(Object::Text);
        }
        let Content::Numbers(element, _) = content else {
            return refuse("holds a NumPy scalar that is no number or text");
        };
        if bytes.len() != element.bytes() {
            return Err(damaged());
        }
        let whole = element.name().starts_with(['i', 'u']);
        Ok(match element.read(&mut &*bytes, self.order, 1)? {
            Data::Bool(v) => Object::Bool(v[0]),
            Data::I64(v) => Object::Int(v[0]),
            Data::U64(v) => i64::try_from(v[0]).map_or_else(|_| Object::Text(v[0].to_string()), Object::Int),
            Data::F32(v) if whole => Object::Int((*v).as_ref()[0] as i64),
            Data::F64(v) if whole => Object::Int((*v).as_ref()[0] as i64),
            Data::F32(v) => Object::Float(f64::from((*v).as_ref()[0])),
            Data::F64(v) => Object::Float((*v).as_ref()[0]),
            _ => return Err(damaged()),
        })
    }
}
