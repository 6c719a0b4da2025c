// SPDX-License-Identifier: MIT
//! The numbers of a NumPy array where they lie, for threads that do not hold the GIL. The only `unsafe` of the package.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A borrowed array. It keeps the array alive, so the memory stays where it is: NumPy neither moves nor resizes the data
/// of an array that somebody else refers to.
pub struct Lent<T> {
    start: *const T,
    count: usize,
    /// Given back when the call ends.
    _owner: Py<PyAny>,
}

// The memory is only read, and stays valid as long as `_owner` does, on whatever thread. That no other Python thread writes
// into it meanwhile is up to the caller, as for every function that works on NumPy arrays without the GIL.
#[allow(unsafe_code)]
unsafe impl<T: Sync> Send for Lent<T> {}
#[allow(unsafe_code)]
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T: Element> Lent<T> {
    pub fn new(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Self> {
        if !array.is_c_contiguous() || !(array.data() as usize).is_multiple_of(align_of::<T>()) {
            return Err(PyValueError::new_err(
                "internal error: an array that is not aligned in C order was not copied",
            ));
        }
        Ok(Lent {
            start: array.data(),
            count: array.len(),
            _owner: array.clone().into_any().unbind(),
        })
    }
}

impl<T> AsRef<[T]> for Lent<T> {
    fn as_ref(&self) -> &[T] {
        if self.count == 0 {
            return &[];
        }
        // `start` is aligned and points to `count` numbers in C order, as `new` has checked; every bit pattern of the
        // element types of NumPy that we take is a number.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts(self.start, self.count)
        }
    }
}
