# SPDX-License-Identifier: MIT
"""Arrays of Arrow, by the C interface that pyarrow, polars, DuckDB and others share (``__arrow_c_array__``).

Numbers, and lists of numbers of one length, are used where they lie. What is not read here (texts, records, missing
values) is left to the other ways of :mod:`repscope._arrays`.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

#: Formats of numbers and their dtypes.
_NUMBERS = {
    "c": "i1", "C": "u1", "s": "<i2", "S": "<u2", "i": "<i4", "I": "<u4", "l": "<i8", "L": "<u8", "e": "<f2", "f": "<f4", "g": "<f8",
}  # fmt: skip


class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Lent:
    """Memory that belongs to a capsule, which lives as long as the array."""

    def __init__(self, owner: Any, address: int, shape: tuple[int, ...], dtype: str) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "shape": shape,
            "typestr": np.dtype(dtype).str,
            "data": (address, True),
            "version": 3,
        }


def from_arrow(value: Any) -> np.ndarray | None:
    """The numbers of an array, or None where it holds something else."""
    capsules = value.__arrow_c_array__()
    schema = _Schema.from_address(_pointer(capsules[0], b"arrow_schema"))
    array = _Array.from_address(_pointer(capsules[1], b"arrow_array"))
    form = (schema.format or b"").decode("utf-8", "replace")
    if array.null_count or schema.dictionary:
        return None
    if form in _NUMBERS:
        return _numbers(capsules, array, form, array.offset, (array.length,))
    if schema.n_children != 1 or array.n_children != 1:
        return None
    item, items = schema.children[0].contents, array.children[0].contents
    kind = (item.format or b"").decode("utf-8", "replace")
    if kind not in _NUMBERS or items.null_count or item.dictionary:
        return None
    if form.startswith("+w:"):
        width = int(form[3:])
        first = array.offset * width
    elif form in ("+l", "+L"):
        size = 4 if form == "+l" else 8
        lent = _Lent(capsules, array.buffers[1] + size * array.offset, (array.length + 1,), f"<i{size}")
        ends = np.asarray(lent)
        widths = np.diff(ends)
        if not len(widths) or (widths != widths[0]).any():
            return None
        first, width = int(ends[0]), int(widths[0])
    else:
        return None
    return _numbers(capsules, items, kind, items.offset + first, (array.length, width))


def _numbers(owner: Any, array: _Array, form: str, first: int, shape: tuple[int, ...]) -> np.ndarray:
    dtype = _NUMBERS[form]
    if not np.prod(shape):
        return np.empty(shape, dtype=dtype)
    address = array.buffers[1] + np.dtype(dtype).itemsize * first
    return np.asarray(_Lent(owner, address, shape, dtype))
