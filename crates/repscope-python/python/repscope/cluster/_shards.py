# SPDX-License-Identifier: MIT
"""Matrices in shards: opened by their headers, and read row by row by whoever needs the rows."""

from __future__ import annotations

import glob
import hashlib
import json
import math
import os
import re
import socket
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, BinaryIO

import numpy as np

from .._repscope import DataError, InputError

#: Types that are read as they are or widened without loss, and as what.
_READ_AS = {
    "f2": "f4",
    "f4": "f4",
    "f8": "f8",
    "b1": "f4",
    "i1": "f4",
    "u1": "f4",
    "i2": "f4",
    "u2": "f4",
    "i4": "f8",
    "u4": "f8",
    "i8": "f8",
    "u8": "f8",
}
#: Types of safetensors; bfloat16 has none in NumPy.
_SAFETENSORS = {
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
    "BF16": "bf16",
    "I8": "|i1",
    "U8": "|u1",
    "I16": "<i2",
    "U16": "<u2",
    "I32": "<i4",
    "U32": "<u4",
    "I64": "<i8",
    "BOOL": "|b1",
}
#: The largest magnitude whose square can be added up; the same as in memory.
_LARGEST = 1e150
#: Single rows that are at most so far apart are read together.
_GAP = 64


class Shard:
    """Rows of one file or array. Subclasses read a range of rows."""

    name: str
    rows: int
    columns: int
    #: ``f4`` or ``f8``
    kind: str
    fingerprint: str

    def read(self, first: int, last: int) -> np.ndarray:
        """The rows from the first to before the last."""
        raise NotImplementedError

    def _checked(self, rows: np.ndarray, first: int) -> np.ndarray:
        """The same rows, in C order, if all are finite."""
        rows = np.require(rows, dtype=self.kind, requirements=["C", "A"])
        # A sum is finite if all are: the common case costs one pass.
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(np.add.reduce(rows, axis=None, dtype=np.float64)) if rows.size else 0.0
        if not math.isfinite(total) or self.kind == "f8":
            wrong = ~np.isfinite(rows) if self.kind == "f4" else ~(np.abs(rows) <= _LARGEST)
            if wrong.any():
                row, column = (int(place) for place in np.argwhere(wrong)[0])
                raise DataError(
                    f"{self.name} holds {rows[row, column]} at row {first + row} of the shard, column {column} (counted from "
                    "0); remove or fill such rows first"
                )
        return rows


class _Bytes(Shard):
    """Rows that lie one behind the other in a file."""

    def __init__(self, path: str, name: str, start: int, shape: tuple[int, int], dtype: str, version: str) -> None:
        self._path, self.name, self._start, self._dtype = path, name, start, dtype
        self.rows, self.columns = shape
        self.kind = "f4" if dtype == "bf16" else _READ_AS[np.dtype(dtype).str[1:]]
        self.fingerprint = f"{name} {start} {shape} {dtype} {version}"

    def read(self, first: int, last: int) -> np.ndarray:
        stored = np.dtype("<u2" if self._dtype == "bf16" else self._dtype)
        width = self.columns * stored.itemsize
        data = _range(self._path, self._start + first * width, (last - first) * width, self.name)
        rows = np.frombuffer(data, dtype=stored).reshape(last - first, self.columns)
        if self._dtype == "bf16":
            rows = (rows.astype("<u4") << 16).view("<f4")
        return self._checked(rows.astype(self.kind, copy=False), first)


class _Parquet(Shard):
    """A column of lists of numbers."""

    def __init__(self, path: str, column: str, name: str, version: str) -> None:
        self._path, self._column, self.name = path, column, name
        with open_file(path) as file:
            source = _parquet(file, name)
            groups = [source.metadata.row_group(g).num_rows for g in range(source.metadata.num_row_groups)]
            if column not in source.schema_arrow.names:
                known = ", ".join(source.schema_arrow.names)
                raise InputError(f"{name}: there is no column `{column}`; there are {known}")
            kind = source.schema_arrow.field(column).type
            first = next(source.iter_batches(1, columns=[column]), None)
        self._starts = np.concatenate([[0], np.cumsum(groups, dtype=np.int64)])
        self.rows = int(self._starts[-1])
        values = kind.value_type if hasattr(kind, "value_type") else kind
        code = np.dtype(values.to_pandas_dtype()).str[1:]
        if code not in _READ_AS:
            raise InputError(f"{name}: the column holds {values}; rows are lists of numbers")
        self.kind = _READ_AS[code]
        self.columns = 0 if first is None else _lists(first.column(0), name, 0).shape[1]
        self.fingerprint = f"{name} {self.rows} {kind} {version}"

    def read(self, first: int, last: int) -> np.ndarray:
        groups = [g for g in range(len(self._starts) - 1) if self._starts[g] < last and self._starts[g + 1] > first]
        start = int(self._starts[groups[0]]) if groups else 0
        with open_file(self._path) as file:
            column = _parquet(file, self.name).read_row_groups(groups, columns=[self._column]).column(0)
        column = column.slice(first - start, last - first).combine_chunks()
        rows = _lists(column, self.name, first)
        if rows.shape != (last - first, self.columns):
            raise InputError(
                f"{self.name}: rows {first} to {last - 1} have shape {rows.shape}, not {(last - first, self.columns)}; "
                "was the file changed?"
            )
        return self._checked(rows, first)


class _Array(Shard):
    """An array in memory, or the reference of one in the object store of Ray."""

    def __init__(self, value: Any, name: str, shape: tuple[int, ...], dtype: str, fingerprint: str) -> None:
        self._value, self.name = value, name
        self.rows, self.columns = _two_dimensions(shape, name)
        self.kind = _kind_of(dtype, name)
        self.fingerprint = fingerprint

    def read(self, first: int, last: int) -> np.ndarray:
        value = self._value
        if not isinstance(value, np.ndarray):
            import ray

            value = as_rows(ray.get(value), self.name)
        return self._checked(value[first:last], first)


class Matrix:
    """Rows in shards, one behind the other."""

    def __init__(self, name: str, shards: Sequence[Shard]) -> None:
        if not shards:
            raise InputError(f"`{name}` has no shards")
        self.name, self.shards = name, list(shards)
        first = shards[0]
        for other in shards:
            if other.rows and other.columns != first.columns:
                raise InputError(
                    f"the shards of `{name}` have different numbers of columns: {first.name} has {first.columns} and "
                    f"{other.name} has {other.columns}; give shards of one model"
                )
        self.columns = first.columns
        self.starts = np.concatenate([[0], np.cumsum([own.rows for own in shards], dtype=np.int64)])
        self.rows = int(self.starts[-1])
        if self.rows == 0 or self.columns == 0:
            raise InputError(f"`{name}` is empty ({self.rows} rows, {self.columns} columns)")
        self.kind = "f4" if all(own.kind == "f4" for own in shards) else "f8"
        self.digest = digest([own.fingerprint for own in shards])

    def read(self, first: int, last: int) -> np.ndarray:
        """The rows from the first to before the last, in C order."""
        parts = [self.shards[s].read(a, b) for s, a, b in self._pieces(first, last)]
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return np.require(whole, dtype=self.kind, requirements=["C", "A"])

    def pick(self, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """Single rows, in this order."""
        wanted = np.asarray(rows, dtype=np.int64)
        picked = np.empty((len(wanted), self.columns), dtype=self.kind)
        order = np.argsort(wanted, kind="stable")
        ends = np.flatnonzero(np.diff(wanted[order]) > _GAP) + 1
        for run in np.split(order, ends) if len(order) else []:
            first = int(wanted[run[0]])
            picked[run] = self.read(first, int(wanted[run[-1]]) + 1)[wanted[run] - first]
        return picked

    def fingerprint(self, first: int, last: int) -> str:
        """What identifies the contents of some rows."""
        return digest([f"{self.shards[s].fingerprint} {a} {b}" for s, a, b in self._pieces(first, last)])

    def _pieces(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """Which rows of which shards these are."""
        pieces = []
        shard = int(np.searchsorted(self.starts, first, side="right")) - 1
        while first < last:
            start, end = int(self.starts[shard]), int(self.starts[shard + 1])
            if end > first:
                pieces.append((shard, first - start, min(end, last) - start))
                first = min(end, last)
            shard += 1
        return pieces


def open_matrix(
    name: str, source: Any, peek: Callable[[Any], tuple[Any, tuple[int, ...], str]] | None = None
) -> Matrix:
    """A matrix of what a user gives: a pattern, a path, a list of both or of arrays or references, a Ray Dataset."""
    shards: list[Shard] = []
    for number, item in enumerate(_items(source)):
        if isinstance(item, (str, os.PathLike)):
            paths = expand(os.fspath(item))
            shards += [_open(path, key) for path, key in paths]
        elif is_reference(item):
            if peek is None:
                raise InputError(
                    f"`{name}` is a list of object references; they are read by Ray, not by other executors"
                )
            own, shape, dtype = peek(item)
            shards.append(_Array(own, f"{name}, reference {number}", shape, dtype, f"reference {item.hex()}"))
        else:
            rows = as_rows(item, f"{name}, array {number}")
            content = hashlib.blake2b(np.ascontiguousarray(rows).data, digest_size=16).hexdigest()
            fingerprint = f"array {rows.shape} {rows.dtype} {content}"
            shards.append(_Array(rows, f"{name}, array {number}", rows.shape, rows.dtype.str[1:], fingerprint))
    return Matrix(name, shards)


def open_column(name: str, source: Any) -> Any:
    """Labels or groups: an array or list as it is, or the values of files, one behind the other."""
    if not isinstance(source, (str, os.PathLike)) and not (
        isinstance(source, (list, tuple)) and source and all(isinstance(own, os.PathLike) for own in source)
    ):
        return source
    parts: list[np.ndarray] = []
    for item in _items(source):
        for path, key in expand(os.fspath(item)):
            parts.append(_column(path, key, name))
    return np.concatenate(parts)


def as_rows(value: Any, name: str) -> np.ndarray:
    """An array of two dimensions; a dict of one column, as blocks of a Ray Dataset are, gives that column."""
    if isinstance(value, dict):
        if len(value) != 1:
            raise InputError(f"{name} has the columns {', '.join(value)}; select the one with the embeddings")
        (value,) = value.values()
    array = np.asarray(value)
    if array.dtype.kind == "O":
        array = np.stack([np.asarray(row) for row in array])
    return array


def is_reference(item: Any) -> bool:
    """Whether this is an object reference of Ray."""
    return type(item).__module__.split(".")[0] == "ray" and hasattr(item, "hex")


def digest(texts: Iterable[str]) -> str:
    """A digest of texts in their order."""
    hasher = hashlib.blake2b(digest_size=32)
    for text in texts:
        encoded = text.encode()
        hasher.update(struct.pack("<q", len(encoded)) + encoded)
    return hasher.hexdigest()


def expand(text: str) -> list[tuple[str, str | None]]:
    """The files of a path or pattern in natural order, each with the key behind ``#``."""
    path, _, key = text.partition("#")
    own = key or None
    if not any(mark in path for mark in "*?["):
        return [(path, own)]
    if "://" in path:
        system, inner = _filesystem(path)
        # What was listed before may have changed.
        system.invalidate_cache()
        scheme = path.partition("://")[0]
        found = [f"{scheme}://{match}" for match in system.glob(inner)]
    else:
        found = glob.glob(path)
    if not found:
        raise FileNotFoundError(f"no file matches {path}")
    return [(match, own) for match in sorted(found, key=_natural)]


def open_file(path: str) -> BinaryIO:
    """A file of this machine, of a shared folder, or of an object store."""
    try:
        if "://" in path:
            system, inner = _filesystem(path)
            return system.open(inner, "rb")  # type: ignore[no-any-return]
        return open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        raise _not_found(path) from None


def _not_found(path: str) -> FileNotFoundError:
    return FileNotFoundError(
        f"{path}: not found on {socket.gethostname()}; put the shards where all machines see them under one path: a "
        "shared folder or an object store"
    )


def _filesystem(path: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise InputError(f"{path}: paths with :// need the package fsspec: pip install fsspec") from None
    return fsspec.core.url_to_fs(path)  # type: ignore[no-any-return]


def _version(path: str) -> str:
    """What changes when a file does."""
    if "://" in path:
        system, inner = _filesystem(path)
        system.invalidate_cache(inner)
        info = system.info(inner)
        known = [str(info.get(own)) for own in ("size", "ETag", "etag", "mtime", "LastModified", "updated")]
        return " ".join(known)
    found = os.stat(path)
    return f"{found.st_size} {found.st_mtime_ns}"


def _size(path: str) -> int:
    if "://" in path:
        system, inner = _filesystem(path)
        return int(system.size(inner))
    return os.stat(path).st_size


def _open(path: str, key: str | None) -> Shard:
    with open_file(path):
        version = _version(path)
    ending = path.rpartition(".")[2].lower()
    if ending == "npy":
        return _open_npy(path, version)
    if ending == "safetensors":
        return _open_safetensors(path, key, version)
    if ending in ("parquet", "pq"):
        if key is None:
            raise InputError(f"{path}: name the column that holds the embeddings, as in {path}#embedding")
        return _Parquet(path, key, f"{path}#{key}", version)
    raise InputError(f"{path}: shards are .npy, .safetensors#KEY or .parquet#COLUMN")


def _open_npy(path: str, version: str) -> Shard:
    with open_file(path) as file:
        try:
            major, minor = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
            shape, is_fortran, dtype = read(file)
            start = file.tell()
        except ValueError as error:
            raise InputError(f"{path}: not a .npy file: {error}") from None
    rows, columns = _two_dimensions(shape, path)
    _kind_of(dtype.str[1:], path)
    if is_fortran and columns > 1 and rows > 1:
        raise InputError(f"{path} is stored column by column; write it with np.save(path, np.ascontiguousarray(Z))")
    _refuse_cut(path, start + rows * columns * dtype.itemsize)
    return _Bytes(path, path, start, (rows, columns), dtype.str, version)


def _open_safetensors(path: str, key: str | None, version: str) -> Shard:
    with open_file(path) as file:
        (length,) = struct.unpack("<Q", _exactly(file, 8, path))
        if length > min(_size(path), 100 << 20):
            raise InputError(f"{path}: not a .safetensors file, or cut")
        header = json.loads(_exactly(file, length, path))
    header.pop("__metadata__", None)
    if key is None and len(header) == 1:
        (key,) = header
    if key not in header:
        raise InputError(
            f"{path}: name one of its tensors, as in {path}#{next(iter(header), 'KEY')}; there are {', '.join(header)}"
        )
    entry = header[key]
    name = f"{path}#{key}"
    dtype = _SAFETENSORS.get(entry["dtype"])
    if dtype is None:
        raise InputError(f"{name} holds {entry['dtype']}; rows are numbers of up to 64 bits")
    shape = _two_dimensions(tuple(entry["shape"]), name)
    _refuse_cut(path, 8 + length + entry["data_offsets"][1])
    return _Bytes(path, name, 8 + length + entry["data_offsets"][0], shape, dtype, version)


def _refuse_cut(path: str, needed: int) -> None:
    found = _size(path)
    if found < needed:
        raise InputError(f"{path} is cut: its header says {needed} bytes and there are {found}; copy or write it again")


def _range(path: str, start: int, count: int, name: str) -> bytes:
    """Some bytes of a file; of an object store exactly these are asked for."""
    if "://" not in path:
        with open_file(path) as file:
            file.seek(start)
            return _exactly(file, count, name)
    system, inner = _filesystem(path)
    try:
        data = system.cat_file(inner, start=start, end=start + count) if count else b""
    except FileNotFoundError:
        raise _not_found(path) from None
    return _whole(data, count, name)


def _exactly(file: BinaryIO, count: int, name: str) -> bytes:
    return _whole(file.read(count), count, name)


def _whole(data: bytes, count: int, name: str) -> bytes:
    if len(data) != count:
        raise InputError(
            f"{name} is cut: {count} bytes were to be read and there are {len(data)}; copy or write it again"
        )
    return data


def _two_dimensions(shape: tuple[int, ...], name: str) -> tuple[int, int]:
    if len(shape) == 1:
        return int(shape[0]), 1
    if len(shape) != 2:
        raise InputError(f"{name} has shape {shape}; shards have two dimensions, one row per sample")
    return int(shape[0]), int(shape[1])


def _kind_of(code: str, name: str) -> str:
    if code not in _READ_AS:
        raise InputError(f"{name} holds {code}; rows are numbers of up to 64 bits")
    return _READ_AS[code]


def _parquet(file: BinaryIO, name: str) -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise InputError(f"{name}: shards of .parquet need the package pyarrow: pip install pyarrow") from None
    try:
        return pyarrow.parquet.ParquetFile(file)
    except pyarrow.ArrowInvalid as error:
        raise InputError(f"{name}: not a .parquet file, or cut: {error}") from None


def _lists(column: Any, name: str, first: int) -> np.ndarray:
    """A column of lists of one length as rows."""
    if column.null_count:
        row = next(row for row, own in enumerate(column.is_null().to_pylist()) if own)
        raise DataError(f"{name} has nothing at row {first + row} of the shard; remove or fill such rows first")
    if not hasattr(column.type, "value_type"):
        return column.to_numpy(zero_copy_only=False).reshape(-1, 1)  # type: ignore[no-any-return]
    values = column.flatten()
    if values.null_count:
        raise DataError(f"{name} has lists with missing numbers from row {first} of the shard on; fill them first")
    if len(column) and len(values) % len(column):
        raise InputError(f"{name} has lists of different lengths from row {first} of the shard on")
    if hasattr(column, "value_lengths"):
        lengths = np.asarray(column.value_lengths())
        if len(lengths) and (lengths != lengths[0]).any():
            row = int(np.flatnonzero(lengths != lengths[0])[0])
            raise InputError(
                f"{name} has a list of {lengths[row]} numbers at row {first + row} of the shard and of {lengths[0]} before; "
                "rows must have one length"
            )
    return values.to_numpy(zero_copy_only=False).reshape(len(column), -1)  # type: ignore[no-any-return]


def _column(path: str, key: str | None, name: str) -> np.ndarray:
    ending = path.rpartition(".")[2].lower()
    with open_file(path) as file:
        if ending == "npy":
            return np.load(file, allow_pickle=False)  # type: ignore[no-any-return]
        if ending in ("parquet", "pq"):
            if key is None:
                raise InputError(f"{path}: name the column of `{name}`, as in {path}#class")
            column = _parquet(file, path).read(columns=[key]).column(0)
            return column.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    raise InputError(f"{path}: `{name}` may be .npy or .parquet#COLUMN, an array or a list")


def _items(source: Any) -> list[Any]:
    if isinstance(source, (list, tuple)):
        return list(source)
    if hasattr(source, "to_numpy_refs"):
        # Blocks come as they are done, unless asked otherwise; labels belong to rows in their order.
        options = source.context.execution_options
        before, options.preserve_order = options.preserve_order, True
        try:
            return list(source.to_numpy_refs())
        finally:
            options.preserve_order = before
    return [source]


def _natural(text: str) -> list[Any]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]
