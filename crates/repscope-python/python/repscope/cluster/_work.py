# SPDX-License-Identifier: MIT
"""What a worker does: reads the rows of tasks, computes their partials, and stores them where asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _repscope
from ._shards import Matrix, as_rows
from ._stored import Store

#: The number of a matrix, and a span of rows or an array of single rows.
Read = tuple[int, "tuple[int, int] | None", Any]


class Task(NamedTuple):
    """One block of work."""

    key: str
    reads: Sequence[Read]
    #: Which of the parts that come along it needs.
    parts: Sequence[int]
    body: bytes


def work(
    tasks: Sequence[Task],
    matrices: Mapping[int, Matrix],
    store: Store | None,
    threads: int,
    shared: bytes,
    *parts: bytes,
) -> list[bytes]:
    """The partials of some tasks."""
    partials = []
    rows = _Rows(matrices)
    for task in tasks:
        given = [(matrices[read[0]].name, rows.read(read)) for read in task.reads]
        own = [parts[part] for part in task.parts]
        partial = _repscope.run_task(shared, own, task.body, given, threads)
        if store is not None:
            store.put(task.key, partial)
        partials.append(partial)
    return partials


class _Rows:
    """Reads rows, and keeps the two blocks that were read last: tasks that go together often share one."""

    def __init__(self, matrices: Mapping[int, Matrix]) -> None:
        self._matrices = matrices
        self._kept: list[tuple[Read, np.ndarray]] = []

    def read(self, read: Read) -> np.ndarray:
        number, span, single = read
        for known, rows in self._kept:
            if known[:2] == read[:2] and (single is None or np.array_equal(single, known[2])):
                return rows
        del self._kept[:-1]
        matrix = self._matrices[number]
        rows = matrix.pick(single) if span is None else matrix.read(*span)
        self._kept.append((read, rows))
        return rows


def peek(value: Any) -> tuple[tuple[int, ...], str, bool]:
    """The shape and type of an array in the object store, and whether it can be read as it is."""
    rows = as_rows(value, "the object reference")
    return rows.shape, rows.dtype.str[1:], isinstance(value, np.ndarray) and value.dtype.kind != "O"


def plain(value: Any) -> np.ndarray:
    """The same as an array of numbers: blocks of a Ray Dataset are tables, and their rows may be lists."""
    return as_rows(value, "the object reference")
