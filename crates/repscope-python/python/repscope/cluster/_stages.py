# SPDX-License-Identifier: MIT
"""Runs the stages of a computation: what is stored is taken, the rest goes to an executor in batches."""

from __future__ import annotations

import hashlib
import re
import threading
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from .. import _repscope
from .._call import Elsewhere
from .._repscope import InputError
from ._executors import Executor
from ._shards import Matrix, digest, open_matrix
from ._stored import Store
from ._work import KEEPING, Bits, Keep, Read, Task, work

#: A task as the compiled part describes it: what it reads, the numbers of its parts, its body, its cost, and whether workers keep
#: what they make of the rows.
Described = tuple[Sequence[Read], Sequence[int], bytes, float, bool]

#: Multiplications of a batch: about a second of one core.
_BATCH = 2e10
#: Reading a number takes as long as so many multiplications.
_READING = 30
#: Calls that are shorter than a tenth of that cost more than they save.
_SHORT = _BATCH / 10
#: And so many tasks at most: a worker holds their partials until the last is done.
_MOST_TASKS = 16
#: What a worker may use where nothing is said.
MEMORY = 4 << 30
#: Which part of it is for what it keeps from task to task.
_KEPT = 8


class Stages:
    """What the compiled part calls for each stage: gives the partials of tasks in their order."""

    def __init__(self, executor: Executor, memory: int | str | None = None, resume: str | None = None) -> None:
        self._executor = executor
        self._memory = MEMORY if memory is None else bytes_of(memory)
        self._store = Store(resume) if resume is not None else None
        self._matrices: dict[int, Matrix] = {}
        self._stopped = threading.Event()
        self._run, self._round = uuid.uuid4().hex, 0
        #: How many tasks were computed, and how many partials were taken from the folder.
        self.computed = self.taken = 0

    def add(self, matrix: Matrix) -> Elsewhere:
        """Makes a matrix known; the same contents have one number."""
        same = (n for n, known in self._matrices.items() if (known.name, known.digest) == (matrix.name, matrix.digest))
        number = next(same, len(self._matrices))
        self._matrices.setdefault(number, matrix)
        return Elsewhere(number, matrix.rows, matrix.columns, matrix.kind == "f4", matrix.digest)

    def open(self, name: str, pattern: str) -> Elsewhere:
        """Opens shards and makes them known."""
        return self.add(open_matrix(name, pattern, self._executor.peek))

    def stop(self) -> None:
        """Ends the stage that is running."""
        self._stopped.set()

    def forget(self) -> None:
        """Drops what this process keeps for the run, if it runs tasks itself."""
        KEEPING.forget(self._run)

    def __call__(self, name: str, shared: bytes, parts: Sequence[bytes], tasks: Sequence[Described]) -> Iterator[bytes]:
        for reads, own, body, _, keeps in tasks:
            self._refuse_large(name, reads, len(shared) + len(body) + sum(len(parts[part]) for part in own), keeps)
        keys = self._keys(shared, parts, tasks) if self._store is not None else [""] * len(tasks)
        is_stored = [self._store is not None and key != "" and self._store.has(key) for key in keys]
        self._round += 1
        keep = Keep(self._run, self._round, self._memory // _KEPT * self._executor.sharing)
        batches = list(self._batches(tasks, is_stored))
        handles: dict[int, Any] = {}
        everywhere = self._executor.put(shared) if batches else shared

        def part(number: int) -> Any:
            if number not in handles:
                handles[number] = self._executor.put(parts[number])
            return handles[number]

        def call(batch: Sequence[int], number: int) -> tuple[int | None, tuple[Any, ...]]:
            needed = sorted({own for number in batch for own in tasks[number][1]})
            place = {own: at for at, own in enumerate(needed)}
            made = []
            for number in batch:
                reads, own, body, _, keeps = tasks[number]
                sent = [(read, span, None if single is None else Bits.of(single)) for read, span, single in reads]
                made.append(Task(keys[number], sent, [place[part] for part in own], body, keeps))
            read = {reading[0] for number in batch for reading in tasks[number][0]}
            matrices = {number: self._matrices[number] for number in read}
            others = [part(own) for own in needed]
            # Rounds come to the same rows in the same order.
            place = number * self._executor.width() // len(batches) if tasks[batch[0]][4] else None
            return place, (made, matrices, self._store, self._executor.threads, keep, everywhere, *others)

        calls = (call(batch, number) for number, batch in enumerate(batches))
        stream = self._executor.stream(work, calls, self._stopped.is_set)
        try:
            coming: list[bytes] = []
            for number, stored in enumerate(is_stored):
                if self._stopped.is_set():
                    raise KeyboardInterrupt
                partial = self._store.take(keys[number]) if stored and self._store is not None else None
                if partial is not None:
                    self.taken += 1
                elif stored:
                    # The file is damaged.
                    (again,) = self._executor.gather([self._executor.submit(work, call([number], 0)[1])])
                    (partial,) = again
                    self.computed += 1
                else:
                    if not coming:
                        coming = list(next(stream))
                    partial = coming.pop(0)
                    self.computed += 1
                yield partial
        finally:
            stream.close()

    def _batches(self, tasks: Sequence[Any], is_stored: Sequence[bool]) -> Iterator[list[int]]:
        """Tasks that follow each other and take about a second, or less where there are too few for all workers."""
        costs = [self._cost(task) for task in tasks]
        total = sum(cost for cost, stored in zip(costs, is_stored) if not stored)
        width = self._executor.width()
        most = min(_BATCH, total / (4 * width))
        batch: list[int] = []
        if total < width * _SHORT:
            # As many calls as run at a time, of about the same length.
            passed = 0.0
            shares: dict[int, list[int]] = {}
            for number, stored in enumerate(is_stored):
                if not stored:
                    shares.setdefault(int((passed + costs[number] / 2) / total * width), []).append(number)
                    passed += costs[number]
            yield from (own[at : at + _MOST_TASKS] for own in shares.values() for at in range(0, len(own), _MOST_TASKS))
            return
        spent = 0.0
        for number, stored in enumerate(is_stored):
            if stored:
                continue
            if batch and (spent + costs[number] > most or len(batch) == _MOST_TASKS):
                yield batch
                batch, spent = [], 0.0
            batch.append(number)
            spent += costs[number]
        if batch:
            yield batch

    def _cost(self, task: Described) -> float:
        numbers = sum(_count(read) * self._matrices[read[0]].columns for read in task[0])
        return min(task[3], 1e18) + _READING * numbers

    def _keys(self, shared: bytes, parts: Sequence[bytes], tasks: Sequence[Any]) -> list[str]:
        """What each partial is stored by: everything that it depends on. Nothing where it is not stored."""
        if tasks and all(task[4] for task in tasks):
            return [""] * len(tasks)
        common = f"{_repscope.__version__} {_hash(shared)}"
        of_parts = [_hash(part) for part in parts]

        def of_read(read: Read) -> str:
            number, span, single = read
            matrix = self._matrices[number]
            if span is not None:
                return f"{matrix.kind} {matrix.fingerprint(*span)}"
            span = (int(single.min()), int(single.max()) + 1)
            return f"{matrix.kind} {matrix.fingerprint(*span)} {_hash(single.tobytes())}"

        return [
            ""
            if keeps
            else digest([common, _hash(body), *(of_parts[part] for part in own), *(of_read(read) for read in reads)])
            for reads, own, body, _, keeps in tasks
        ]

    def _refuse_large(self, name: str, reads: Sequence[Read], others: int, keeps: bool) -> None:
        """Refuses a task that needs more memory than a worker has, before it is sent."""
        needed = others + (self._memory // _KEPT if keeps else 0)
        for read in reads:
            matrix = self._matrices[read[0]]
            numbers = _count(read) * matrix.columns
            # As read, put together, and packed in several ways; and what is found for each row.
            needed += numbers * (2 * (4 if matrix.kind == "f4" else 8) + 16) + 1024 * _count(read)
        if needed > self._memory:
            raise InputError(
                f"{name}: a task needs about {needed / 2**30:.1f} GiB, and a worker may use {self._memory / 2**30:.1f} GiB; "
                "raise memory"
            )


def bytes_of(memory: int | str) -> int:
    """A number of bytes from `4G`, `500M` or a number."""
    if isinstance(memory, int):
        return memory
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kKmMgGtT]?)(?:i?[bB])?\s*", memory)
    if not found:
        raise InputError(f"memory = {memory!r} must be a number of bytes, or like 4G")
    return int(float(found[1]) * 1024 ** " kmgt".index(found[2].lower() or " "))


def _count(read: Read) -> int:
    _, span, single = read
    return span[1] - span[0] if span is not None else len(single)


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()
