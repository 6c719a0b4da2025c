# SPDX-License-Identifier: MIT
"""What a worker does: reads the rows of tasks, computes their partials, and stores them where asked."""

from __future__ import annotations

import threading
import time
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
    #: Whether to keep what is made of its rows, and not to store its partial: such tasks are many and short.
    keeps: bool = False


class Bits(NamedTuple):
    """Single rows in ascending order, as bits from the first: those of a half of all rows take one or two bits each."""

    first: int
    bits: bytes

    @classmethod
    def of(cls, rows: np.ndarray) -> Bits | np.ndarray:
        """The rows as bits, or as they are where these are shorter."""
        first = int(rows[0]) if len(rows) else 0
        if len(rows) < 2 or int(rows[-1]) - first > 32 * len(rows) or (rows[1:] <= rows[:-1]).any():
            return rows
        is_in = np.zeros(int(rows[-1]) - first + 1, dtype=bool)
        is_in[rows - np.uint32(first)] = True
        return cls(first, np.packbits(is_in).tobytes())

    def rows(self) -> np.ndarray:
        """The rows again."""
        return np.flatnonzero(np.unpackbits(np.frombuffer(self.bits, dtype=np.uint8))) + self.first


class Keep(NamedTuple):
    """How a worker keeps what tasks make of rows: for which run, since which of its rounds, and how many bytes at most."""

    run: str
    round: int
    most: int


class Keeping:
    """What this process keeps from task to task. What nobody asked for in some rounds makes room, what is new does not: rounds come
    to all blocks in turn, so the block that was used longest ago is the next one to be used."""

    #: Rounds after which something may go.
    ROUNDS = 8
    #: Seconds after which it goes.
    SECONDS = 60.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[Any, tuple[_repscope.Kept, int, Keep, float]] = {}
        self._timer: threading.Timer | None = None

    def take(self, key: Any) -> _repscope.Kept:
        """What is kept under a key, which is then the caller's own; something empty where nothing is."""
        with self._lock:
            return self._all.pop(key)[0] if key in self._all else _repscope.Kept()

    def put(self, key: Any, kept: _repscope.Kept, keep: Keep) -> None:
        """Keeps something, if there is room."""
        size = kept.bytes()
        with self._lock:
            if sum(own[1] for own in self._all.values()) + size > keep.most:
                old = lambda own: own.run != keep.run or own.round < keep.round - self.ROUNDS  # noqa: E731
                self._all = {known: own for known, own in self._all.items() if not old(own[2])}
            if sum(own[1] for own in self._all.values()) + size > keep.most:
                return
            self._all[key] = (kept, size, keep, time.monotonic())
            self._watch()

    def forget(self, run: str) -> None:
        """Drops what is kept for a run."""
        with self._lock:
            self._all = {known: own for known, own in self._all.items() if own[2].run != run}

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(self.SECONDS, self._drop_old)
            self._timer.daemon = True
            self._timer.start()

    def _drop_old(self) -> None:
        with self._lock:
            since = time.monotonic() - self.SECONDS
            self._all = {known: own for known, own in self._all.items() if own[3] > since}
            self._timer = None
            if self._all:
                self._watch()


KEEPING = Keeping()


def work(
    tasks: Sequence[Task],
    matrices: Mapping[int, Matrix],
    store: Store | None,
    threads: int,
    keep: Keep,
    shared: bytes,
    *parts: bytes,
) -> list[bytes]:
    """The partials of some tasks."""
    partials = []
    rows = _Rows(matrices)
    for task in tasks:
        own = [parts[part] for part in task.parts]
        if task.keeps:
            key = tuple((matrices[number].digest, span, _plain(single)) for number, span, single in task.reads)
            kept = KEEPING.take(key)
            given = [] if kept.serves(task.body) else _given(task, matrices, rows)
            partial = _repscope.run_task(shared, own, task.body, given, threads, kept)
            KEEPING.put(key, kept, keep)
        else:
            partial = _repscope.run_task(shared, own, task.body, _given(task, matrices, rows), threads)
            if store is not None:
                store.put(task.key, partial)
        partials.append(partial)
    return partials


def _plain(single: Any) -> Any:
    return single.tobytes() if isinstance(single, np.ndarray) else single


def _given(task: Task, matrices: Mapping[int, Matrix], rows: _Rows) -> list[tuple[str, np.ndarray]]:
    return [(matrices[read[0]].name, rows.read(read)) for read in task.reads]


class _Rows:
    """Reads rows, and keeps the two blocks that were read last: tasks that go together often share one."""

    def __init__(self, matrices: Mapping[int, Matrix]) -> None:
        self._matrices = matrices
        self._kept: list[tuple[Read, np.ndarray]] = []

    def read(self, read: Read) -> np.ndarray:
        number, span, single = read
        if isinstance(single, Bits):
            single = single.rows()
            read = (number, span, single)
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
