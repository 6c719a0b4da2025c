# SPDX-License-Identifier: MIT
"""Conversion of array-likes to NumPy arrays in C order, without a copy if the layout allows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrow import from_arrow

#: Types that are passed without conversion, and their names in results.
_AS_THEY_ARE = {"f4": "f32", "f8": "f64", "u1": "u8", "i8": "i64", "u8": "u64", "b1": "bool"}
#: Types that are converted without loss.
_WIDENED = {
    "f2": ("f4", "f16"),
    "i1": ("f4", "i8"),
    "i2": ("f4", "i16"),
    "u2": ("f4", "u16"),
    "i4": ("f8", "i32"),
    "u4": ("f8", "u32"),
}


def to_numpy(value: Any, name: str) -> np.ndarray | list[Any]:
    """A NumPy array, or a list of objects; memory is shared if possible."""
    if isinstance(value, np.ndarray):
        return value
    if _is_torch(value):
        return _from_torch(value)
    if hasattr(value, "__arrow_c_array__") and not hasattr(value, "columns"):
        lent = from_arrow(value)
        if lent is not None:
            return lent
    if hasattr(value, "to_pylist"):  # what pyarrow holds beside numbers
        return _from_sequence(value.to_pylist(), name)
    if hasattr(value, "to_numpy"):  # pandas and polars
        return _from_frame(value)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError):
            pass  # on another device, or of a type unknown to NumPy: __array__ may work
    if isinstance(value, (str, bytes)):
        raise TypeError(f"`{name}` is a string, not an array; give an array, or a path to the functions that take one")
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__") or isinstance(value, (list, tuple, range)):
        return _from_sequence(value, name)
    if hasattr(value, "__iter__"):
        return _from_sequence(list(value), name)
    raise TypeError(f"`{name}` is of type {type(value).__name__}; give an array, a tensor, a frame or a list")


def lend(value: Any, name: str) -> tuple[np.ndarray | list[Any], str]:
    """An array in the form that the extension module takes, and the name of its dtype."""
    array = to_numpy(value, name)
    if isinstance(array, list):
        return [_plain(item) for item in array], "object"
    if array.ndim == 0:
        raise ValueError(f"`{name}` is a single value of type {array.dtype}; give one row per sample")
    kind = array.dtype.kind
    if kind in "US":
        shape = array.shape
        if kind == "S":
            array = np.char.decode(array, "utf-8")
        if len([n for n in shape if n != 1]) > 1:
            raise ValueError(f"`{name}` holds texts in shape {shape}; give one per row, shape ({shape[0]},)")
        return [str(item) for item in array.ravel()], "str"
    if kind == "O":
        if array.ndim > 1:
            numbers = _numbers(array)
            if numbers is not None:
                return _contiguous(numbers), "f64"
            raise ValueError(
                f"`{name}` holds Python objects in shape {array.shape}; give numbers, or one label per row"
            )
        return [_plain(item) for item in array.tolist()], "object"
    if kind in "Mm":
        return [str(item) for item in array.ravel()], "str"
    if kind not in "fiub":
        raise TypeError(f"`{name}` has dtype {array.dtype}; give real numbers, booleans or strings")
    code = array.dtype.str[1:]
    if code in _AS_THEY_ARE:
        return _contiguous(array.astype(array.dtype.newbyteorder("="), copy=False)), _AS_THEY_ARE[code]
    if code in _WIDENED:
        wide, dtype = _WIDENED[code]
        return np.ascontiguousarray(array, dtype=wide), dtype
    return np.ascontiguousarray(array, dtype="f8"), str(array.dtype)  # long double


def rows_of(value: Any) -> int:
    """Number of samples."""
    shape = getattr(value, "shape", None)
    return int(shape[0]) if shape else len(value)


def _contiguous(array: np.ndarray) -> np.ndarray:
    return np.require(array, requirements=["C", "A"])


def _is_torch(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach")


def _from_torch(tensor: Any) -> np.ndarray:
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()
    return tensor.numpy()


def _from_frame(frame: Any) -> np.ndarray | list[Any]:
    """A frame or column of pandas or polars."""
    array = np.asarray(frame.to_numpy())
    if array.dtype.kind == "O":
        numbers = _numbers(array) if array.ndim > 1 else None
        return array if numbers is None else numbers
    return array


def _from_sequence(value: Any, name: str) -> np.ndarray | list[Any]:
    if isinstance(value, (list, tuple)) and any(isinstance(item, str) or item is None for item in value):
        return list(value)
    if isinstance(value, (list, tuple)) and value and all(_is_torch(item) for item in value):
        return np.stack([_from_torch(item) for item in value])
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"`{name}` has rows of different lengths: {error}") from None
    if array.dtype.kind == "O" and isinstance(value, (list, tuple)):
        return list(value)
    return array


def _numbers(array: np.ndarray) -> np.ndarray | None:
    """The numbers in an array of objects, if all are numbers."""
    try:
        return array.astype("f8")
    except (TypeError, ValueError):
        return None


def _plain(item: Any) -> Any:
    """A plain Python object: converts NumPy scalars and missing values of pandas."""
    if item is None or isinstance(item, (bool, int, float, str)):
        return item
    if isinstance(item, np.generic):
        return item.item()
    if type(item).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(item, bytes):
        return item.decode("utf-8")
    return str(item)
