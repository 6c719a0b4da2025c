// SPDX-License-Identifier: MIT
//! Arrays from Python and back. The Python side has already made NumPy arrays in C order of everything, or lists.

use std::sync::Arc;

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString};
use repscope_io::{Array, Data, Object};

use crate::errors::InputError;
use crate::lent::Lent;

/// An array and the name of the type that its numbers had: `f16`, `i32`.
pub type Given<'py> = (Bound<'py, PyAny>, String);

/// Takes an array. Numbers of 32 and 64 bits and bytes are not copied.
pub fn array(given: &Given<'_>) -> PyResult<Array> {
    let (value, dtype) = given;
    let (shape, data) = if let Ok(list) = value.cast::<PyList>() {
        (vec![list.len()], objects(list)?)
    } else if let Ok(array) = value.cast::<PyArrayDyn<f32>>() {
        (array.shape().to_vec(), Data::F32(Arc::new(Lent::new(array)?)))
    } else if let Ok(array) = value.cast::<PyArrayDyn<f64>>() {
        (array.shape().to_vec(), Data::F64(Arc::new(Lent::new(array)?)))
    } else if let Ok(array) = value.cast::<PyArrayDyn<u8>>() {
        (array.shape().to_vec(), Data::U8(Arc::new(Lent::new(array)?)))
    } else if let Ok(array) = value.cast::<PyArrayDyn<i64>>() {
        (array.shape().to_vec(), Data::I64(array.to_vec()?))
    } else if let Ok(array) = value.cast::<PyArrayDyn<u64>>() {
        (array.shape().to_vec(), Data::U64(array.to_vec()?))
    } else if let Ok(array) = value.cast::<PyArrayDyn<bool>>() {
        (array.shape().to_vec(), Data::Bool(array.to_vec()?))
    } else {
        let kind = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "internal error: an array of type {kind} ({dtype}) was not converted"
        )));
    };
    Array::new(shape, dtype, data).map_err(|error| InputError::new_err(error.to_string()))
}

/// Objects as labels and texts have them.
fn objects(list: &Bound<'_, PyList>) -> PyResult<Data> {
    let mut objects = Vec::with_capacity(list.len());
    for (row, value) in list.iter().enumerate() {
        objects.push(if value.is_none() {
            Object::None
        } else if let Ok(text) = value.cast::<PyString>() {
            Object::Text(text.to_cow()?.into_owned())
        } else if let Ok(value) = value.cast::<PyBool>() {
            Object::Bool(value.is_true())
        } else if value.is_instance_of::<PyInt>() {
            Object::Int(value.extract()?)
        } else if value.is_instance_of::<PyFloat>() {
            Object::Float(value.extract()?)
        } else {
            return Err(PyTypeError::new_err(format!(
                "row {row} holds {}, of type {}; give numbers, strings or booleans",
                value.repr()?,
                value.get_type().name()?
            )));
        });
    }
    Ok(Data::from_objects(objects))
}

/// An array of numbers for Python.
pub fn to_python<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let shape = array.shape().to_vec();
    Ok(match array.data() {
        Data::F32(values) => PyArray1::from_slice(py, (**values).as_ref()).reshape(shape)?.into_any(),
        Data::F64(values) => PyArray1::from_slice(py, (**values).as_ref()).reshape(shape)?.into_any(),
        other => {
            return Err(PyTypeError::new_err(format!(
                "internal error: {} numbers of another type than embeddings have",
                other.len()
            )));
        }
    })
}
