# SPDX-License-Identifier: MIT
"""Drop-in replacements: functions of other libraries with their names, signatures and errors, computed by repscope.

``from repscope.compat.sklearn import trustworthiness`` and ``from repscope.compat.skdim import TwoNN`` are the only
lines that change. Neither library has to be installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import to_numpy

#: Maximum number of values in one step of a loop over rows.
_AT_ONCE = 1 << 22


def check_rows(value: Any, name: str, *, columns: int = 1) -> np.ndarray:
    """A finite f32 or f64 array with two dimensions; raises the errors of scikit-learn.

    Sparse matrices are made dense: every distance is computed from whole rows.
    """
    value = value.toarray() if hasattr(value, "toarray") else to_numpy(value, name)
    array = np.asarray(value)
    if array.ndim != 2:
        kind = "scalar" if array.ndim == 0 else f"{array.ndim}D"
        raise ValueError(
            f"Expected 2D array, got {kind} array instead: `{name}` has shape {array.shape}; give one row per sample, "
            f"such as {name}.reshape(-1, 1) for samples of one number"
        )
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: `{name}` has dtype {array.dtype}")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype("f8")
    if array.shape[0] < 1 or array.shape[1] < columns:
        few, least = ("sample", 1) if array.shape[0] < 1 else ("feature", columns)
        count = array.shape[0 if few == "sample" else 1]
        raise ValueError(
            f"Found array with {count} {few}(s) (shape={array.shape}) while a minimum of {least} is required."
        )
    check_finite(array, name)
    return array


def check_finite(array: np.ndarray, name: str = "") -> None:
    """Raises ValueError for NaN and infinity."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return
    what = "NaN" if np.isnan(array).any() else f"infinity or a value too large for {array.dtype!r}"
    raise ValueError(f"Input {name + ' ' if name else ''}contains {what}.")


def check_lengths(first: Any, second: Any) -> None:
    """Raises ValueError for arrays with different numbers of samples."""
    lengths = [len(first), len(second)]
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")


def nearest(rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest other rows of each row and their distances: smaller distance, then smaller row number.

    Used where the command has no such output. Inner products find all candidates; exact distances are then computed
    from differences.
    """
    count, width = rows.shape
    rows = rows.astype("f8")
    centered = rows - rows.mean(axis=0)
    squares = np.einsum("ij,ij->i", centered, centered)
    # Far above the rounding error of an expanded square, far below any relevant distance.
    slack = 1e-12 * width**0.5 * 4.0 * squares.max()
    indices, distances = np.empty((count, k), dtype="i8"), np.empty((count, k))
    step = max(1, _AT_ONCE // (count + k * width))
    for first in range(0, count, step):
        own = np.arange(first, min(first + step, count))
        expanded = squares[own, None] + squares - 2.0 * (centered[own] @ centered.T)
        expanded[own - first, own] = np.inf
        last = np.partition(expanded, k - 1, axis=1)[:, k - 1]
        row, other = np.nonzero(expanded <= (last + slack)[:, None])
        exact = np.empty(len(row))
        pairs = max(1, _AT_ONCE // width)
        for start in range(0, len(row), pairs):
            part = slice(start, start + pairs)
            difference = rows[own[row[part]]] - rows[other[part]]
            exact[part] = np.sqrt(np.einsum("ij,ij->i", difference, difference))
        order = np.lexsort((other, exact, row))
        chosen = order[np.searchsorted(row, np.arange(len(own)))[:, None] + np.arange(k)]
        indices[own], distances[own] = other[chosen], exact[chosen]
    return indices, distances
