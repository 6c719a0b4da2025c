// SPDX-License-Identifier: MIT
//! The names that have a stand-in, and what it makes in place of calling them.

use super::machine::Machine;
use super::tensors::{self, Kind, Rebuild};
use super::{Fault, Id, NumpyArray, Step, Value, damaged, refuse};
use crate::array::{Data, Object};
use crate::element::ByteOrder;
use crate::error::Parsed;
use crate::npy::{Content, parse_descr, read_one_text};

/// A name that has a stand-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callable {
    /// `numpy.core.multiarray._reconstruct`: an empty array, filled later.
    Reconstruct,
    /// `numpy.ndarray`, an argument of the former.
    Ndarray,
    /// `numpy.core.numeric._frombuffer`: an array in protocol 5.
    FromBuffer,
    /// `numpy.dtype`.
    Dtype,
    /// `numpy.core.multiarray.scalar`: one NumPy number or string.
    Scalar,
    /// `_codecs.encode`: how protocol 2 writes bytes.
    Encode,
    /// `bytes`: how protocol 2 writes no bytes.
    Bytes,
    /// Kinds of dict.
    Dict,
    /// Kinds of list and set, and what else is as good as its only argument.
    Same,
    /// A function that makes a tensor.
    Rebuild(Rebuild),
    /// The type of a storage or tensor.
    Kind(Kind),
}

/// The type of a NumPy array or scalar: `O8`, `i8`, `U3`.
#[derive(Debug, Clone)]
pub(crate) struct Dtype {
    name: String,
    order: ByteOrder,
}

/// Longer names of types are refused: a pickle could repeat one at the cost of three bytes.
const DTYPE_LENGTH: usize = 32;

impl Callable {
    /// The value a global name stands for.
    pub(super) fn find(names: Names, module: &str, name: &str) -> Step<Value> {
        let callable = match (module, name) {
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Callable::Reconstruct,
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Callable::Scalar,
            ("numpy", "ndarray") => Callable::Ndarray,
            ("numpy", "dtype") => Callable::Dtype,
            ("_codecs", "encode") => Callable::Encode,
            ("pandas" | "pandas._libs.missing", "NA") => return Ok(Value::Plain(Object::None)),
            _ if names == Names::Arrays => return Err(Fault::Attack(format!("{module}.{name}"))),
            _ if is_attack(module, name) => return Err(Fault::Attack(format!("{module}.{name}"))),
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Callable::FromBuffer,
            ("collections", "OrderedDict" | "defaultdict") | ("builtins" | "__builtin__", "dict") => Callable::Dict,
            ("builtins" | "__builtin__", "bytes" | "bytearray") => Callable::Bytes,
            ("builtins" | "__builtin__", "set" | "frozenset" | "list" | "tuple") => Callable::Same,
            _ => match tensors::find(module, name) {
                Some(callable) => callable,
                None => return Ok(Value::Name(format!("{module}.{name}"))),
            },
        };
        Ok(Value::Callable(callable))
    }
}

impl Machine {
    /// What the real function would return for these arguments, as far as plain values need it.
    pub(super) fn call(&mut self, callable: Callable, arguments: &[Id]) -> Step<Id> {
        if let Callable::Rebuild(rebuild) = callable {
            return self.rebuild(rebuild, arguments);
        }
        let given: Vec<&Value> = arguments.iter().map(|&id| &self.values[id]).collect();
        let made = match (callable, &given[..]) {
            (Callable::Reconstruct, [Value::Callable(Callable::Ndarray), ..]) => Value::Array(None),
            (Callable::FromBuffer, [_, Value::Dtype(_), _, Value::Plain(Object::Text(order))]) => {
                Value::Array(Some(NumpyArray {
                    data: arguments[0],
                    dtype: arguments[1],
                    shape: arguments[2],
                    fortran_order: order == "F",
                }))
            }
            (Callable::Dtype, [Value::Plain(Object::Text(name)), ..]) if name.len() <= DTYPE_LENGTH => {
                Value::Dtype(Dtype {
                    name: name.clone(),
                    order: ByteOrder::Little,
                })
            }
            (Callable::Scalar, [Value::Dtype(dtype), Value::Bytes(bytes)]) => {
                let (length, value) = (bytes.len(), Value::Plain(dtype.scalar(bytes)?));
                self.spend(length)?;
                value
            }
            (Callable::Encode, [Value::Plain(Object::Text(text)), Value::Plain(Object::Text(codec))])
                if codec == "latin1" =>
            {
                let byte = |c: char| u8::try_from(u32::from(c)).map_err(|_| damaged());
                let bytes: Vec<u8> = text.chars().map(byte).collect::<Step<_>>()?;
                self.spend(bytes.len())?;
                Value::Bytes(bytes)
            }
            (Callable::Same, []) => Value::List(Vec::new()),
            (Callable::Bytes, []) => Value::Bytes(Vec::new()),
            (Callable::Bytes, [Value::Bytes(_), ..]) => return Ok(arguments[0]),
            (Callable::Same, [_, ..]) => return Ok(arguments[0]),
            (Callable::Dict, [Value::List(pairs) | Value::Tuple(pairs)]) => {
                let pair = |&id: &Id| match self.parts(id) {
                    Some(&[key, value]) => Ok((key, value)),
                    _ => Err(damaged()),
                };
                // Looked at before it is copied, because a pickle can name one list many times.
                let count = pairs.len();
                let made = if count <= self.left() {
                    Value::Dict(pairs.iter().map(pair).collect::<Step<_>>()?)
                } else {
                    Value::Dict(Vec::new())
                };
                self.spend(count)?;
                made
            }
            (Callable::Dict, _) => Value::Dict(Vec::new()),
            _ => return refuse("calls a known function in an unknown way"),
        };
        self.add(made)
    }

    /// Gives an object its contents, as `__setstate__` would.
    pub(super) fn set_state(&mut self, target: Id, state: Id) -> Step<()> {
        let parts: Vec<Id> = self.parts(state).unwrap_or_default().iter().take(5).copied().collect();
        let given: Vec<&Value> = parts.iter().map(|&id| &self.values[id]).collect();
        let built = match (&self.values[target], &given[..]) {
            // (version, shape, type, is Fortran, contents)
            (Value::Array(None), [_, _, Value::Dtype(_), Value::Plain(Object::Bool(fortran_order)), _]) => {
                Value::Array(Some(NumpyArray {
                    shape: parts[1],
                    dtype: parts[2],
                    fortran_order: *fortran_order,
                    data: parts[4],
                }))
            }
            // (version, byte order, …)
            (Value::Dtype(dtype), [_, Value::Plain(Object::Text(order)), ..]) => {
                let order = if order == ">" {
                    ByteOrder::Big
                } else {
                    ByteOrder::Little
                };
                Value::Dtype(Dtype { order, ..dtype.clone() })
            }
            // Attributes of a dict or tensor, such as the versions in a state dict, are of no use here.
            (Value::Dict(_) | Value::Tensor(_) | Value::List(_), _) => return Ok(()),
            (Value::Record(_), _) => {
                if let Value::Record(record) = &mut self.values[target] {
                    record.state = Some(state);
                }
                return Ok(());
            }
            _ => return refuse("builds something else than an array of text or numbers"),
        };
        self.values[target] = built;
        Ok(())
    }
}

impl Dtype {
    /// Whether it stands for Python objects.
    pub(crate) fn is_object(&self) -> bool {
        self.name.starts_with('O')
    }

    /// What values of this type are.
    pub(crate) fn content(&self) -> Parsed<Content> {
        Ok(match parse_descr(&self.name)? {
            Content::Numbers(element, _) => Content::Numbers(element, self.order),
            Content::Unicode(width, _) => Content::Unicode(width, self.order),
            other => other,
        })
    }

    fn scalar(&self, bytes: &[u8]) -> Step<Object> {
        let content = self.content()?;
        if let Content::Unicode(..) | Content::Bytes(_) = content {
            return Ok(read_one_text(bytes, content, self.order).map(Object::Text)?);
        }
        let Content::Numbers(element, order) = content else {
            return refuse("holds a NumPy scalar that is no number or text");
        };
        if bytes.len() != element.bytes() {
            return Err(damaged());
        }
        let whole = element.name().starts_with(['i', 'u']);
        Ok(match element.read(&mut &*bytes, order, 1)? {
            Data::Bool(v) => Object::Bool(v[0]),
            Data::I64(v) => Object::Int(v[0]),
            Data::U64(v) => i64::try_from(v[0]).map_or_else(|_| Object::Text(v[0].to_string()), Object::Int),
            Data::U8(v) => Object::Int(i64::from((*v).as_ref()[0])),
            Data::F32(v) if whole => Object::Int((*v).as_ref()[0] as i64),
            Data::F64(v) if whole => Object::Int((*v).as_ref()[0] as i64),
            Data::F32(v) => Object::Float(f64::from((*v).as_ref()[0])),
            Data::F64(v) => Object::Float((*v).as_ref()[0]),
            _ => return Err(damaged()),
        })
    }
}

/// How much a pickle is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// An object array: nothing but what NumPy itself writes.
    Arrays,
    /// A checkpoint: any class, as a record.
    Checkpoint,
}

/// Modules that start programs, import code or reach the network. No weights need anything of them.
const MODULES: &str = "_pickle asyncio bdb cPickle cProfile code codeop commands ctypes dbm ftplib http imp importlib marshal nt os pdb \
    pickle pip pkgutil popen2 posix profile pty requests runpy shutil signal smtplib socket subprocess sys urllib \
    webbrowser";

/// Functions that run code, in modules that also hold harmless names.
const FUNCTIONS: &str = "__import__ _io.FileIO _io.open breakpoint compile delattr eval exec execfile globals input io.FileIO io.open \
    open operator.methodcaller timeit.timeit torch.hub.load torch.load torch.serialization.load types.CodeType \
    types.FunctionType";

/// Whether a name is only of use to an attack. Nothing is ever called here; the refusal is for those
/// who would next load the file with Python.
pub(super) fn is_attack(module: &str, name: &str) -> bool {
    // With `os` a dotted name such as `path.join` also counts: it may lead anywhere.
    let top = module.split('.').next().unwrap_or(module);
    let builtin = matches!(module, "builtins" | "__builtin__");
    let full = format!("{module}.{name}");
    let is_in = |list: &str, name: &str| list.split_whitespace().any(|known| known == name);
    is_in(MODULES, top) || is_in(FUNCTIONS, if builtin { name } else { &full })
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
