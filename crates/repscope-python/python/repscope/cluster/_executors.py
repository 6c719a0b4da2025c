# SPDX-License-Identifier: MIT
"""Who runs tasks: threads of this process, or a Ray cluster. Both give all partials in the order of the tasks."""

from __future__ import annotations

import concurrent.futures
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .._repscope import InputError
from ._work import peek, plain, work

#: How long the number of cores is taken to be the same, in seconds.
_ASK = 5.0
#: How long to wait for calls before looking whether the run was stopped, in seconds.
_LOOK = 0.5


class Executor:
    """Runs functions somewhere: subclasses say how.

    ``submit`` starts a call and returns a handle at once, ``gather`` gives what calls return in the order of their handles.
    """

    #: Threads of a task.
    threads: int = 1
    #: Workers of one process.
    sharing: int = 1

    def put(self, value: bytes) -> object:
        """Makes something available to many calls."""
        return value

    def submit(self, function: Callable[..., Any], args: Sequence[Any]) -> object:
        """Starts a call."""
        raise NotImplementedError

    def submit_at(self, place: int | None, function: Callable[..., Any], args: Sequence[Any]) -> object:
        """Starts a call; those of one place find what was kept there, where that can be had."""
        return self.submit(function, args)

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """What the calls return, in the order of the handles."""
        raise NotImplementedError

    def wait(self, handles: Sequence[Any]) -> list[Any]:
        """Waits until at least one call is done, or for a moment; those that are."""
        raise NotImplementedError

    def cancel(self, handles: Iterable[Any]) -> None:
        """Stops calls that nobody waits for any more."""

    def width(self) -> int:
        """How many calls run at a time."""
        raise NotImplementedError

    def peek(self, reference: Any) -> tuple[Any, tuple[int, ...], str]:
        """An array that is given by reference: its reference, or that of a copy that can be read as it is; its shape and type."""
        raise InputError("object references are read by Ray, not by other executors")

    def stream(
        self,
        function: Callable[..., Any],
        calls: Iterable[tuple[int | None, Sequence[Any]]],
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> Iterator[Any]:
        """What calls return, in their order; each comes with the place where it had better run. Only a few more than run at a time are started, and what comes early waits."""
        calls = iter(calls)
        running: dict[Any, int] = {}
        early: dict[int, Any] = {}
        started = given = 0
        is_over = False
        try:
            while True:
                if is_stopped():
                    raise KeyboardInterrupt
                # What waits to be given counts, too: a slow call must not let the others fill the memory.
                while not is_over and started - given < 2 * self.width() + 2:
                    call = next(calls, None)
                    if call is None:
                        is_over = True
                        break
                    running[self.submit_at(call[0], function, call[1])] = started
                    started += 1
                while given in early:
                    yield early.pop(given)
                    given += 1
                if not running:
                    if is_over and not early:
                        return
                    continue
                for handle in self.wait(list(running)):
                    number = running.pop(handle)
                    (early[number],) = self.gather([handle])
        finally:
            self.cancel(running)


class Local(Executor):
    """Threads of this process: for one machine, and for tests."""

    def __init__(self, workers: int | None = None, threads: int = 1) -> None:
        self._workers = workers or max(1, (os.cpu_count() or 1) // threads)
        self.threads = threads
        self.sharing = self._workers
        self._pool = concurrent.futures.ThreadPoolExecutor(self._workers, thread_name_prefix="repscope")

    def submit(self, function: Callable[..., Any], args: Sequence[Any]) -> object:
        return self._pool.submit(function, *args)

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        return [handle.result() for handle in handles]

    def wait(self, handles: Sequence[Any]) -> list[Any]:
        done, _ = concurrent.futures.wait(handles, _LOOK, return_when=concurrent.futures.FIRST_COMPLETED)
        return [handle for handle in handles if handle in done]

    def cancel(self, handles: Iterable[Any]) -> None:
        for handle in handles:
            handle.cancel()

    def width(self) -> int:
        return self._workers


def _knock(address: str | None) -> None:
    """Fails where nobody listens at ``host:port``, which Ray finds out after minutes."""
    host, _, port = (address or "").rpartition(":")
    if port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=10).close()


class Ray(Executor):
    """A Ray cluster.

    Parameters
    ----------
    address : str, optional
        The address of a cluster, or ``auto`` for the one that this machine belongs to. Without it, the cluster that this program is
        connected to, or else a new one on this machine.
    threads : int
        Cores, and threads, of a task.
    options : mapping, optional
        Other options of the tasks, as of ``ray.remote``: ``{"resources": {"big": 1}}``.
    init : mapping, optional
        Other options of ``ray.init``: ``{"runtime_env": {"pip": ["repscope[ray]"]}}``.
    """

    def __init__(
        self,
        address: str | None = None,
        threads: int = 1,
        options: dict[str, Any] | None = None,
        init: dict[str, Any] | None = None,
    ) -> None:
        try:
            import ray
            import ray.util.scheduling_strategies
        except ImportError:
            raise InputError(
                'Ray is not installed here; run pip install "repscope[ray]", on all machines of the cluster'
            ) from None
        self._ray = ray
        self.threads = threads
        if not ray.is_initialized():
            try:
                _knock(address)
                ray.init(address=address, log_to_driver=False, **(init or {}))
            except OSError as error:
                raise InputError(
                    f"no Ray cluster answers at {address!r}: {error}; start one with `ray start --head`, or name its address"
                ) from None
        self._options: dict[str, Any] = {
            "num_cpus": threads,
            "max_retries": 5,
            "scheduling_strategy": "SPREAD",
            **(options or {}),
        }
        self._remote: dict[Callable[..., Any], Any] = {}
        self._width = (1, -math.inf)
        #: A node for each call that runs at a time.
        self._nodes: list[str] = []
        self._place = threading.local()
        self._asked = options or {}

    def put(self, value: bytes) -> object:
        return self._ray.put(value)  # type: ignore[no-any-return]

    def submit(self, function: Callable[..., Any], args: Sequence[Any]) -> object:
        if function not in self._remote:
            self._remote[function] = self._ray.remote(function)
        node = getattr(self._place, "node", None)
        options = dict(self._options)
        if node is not None:
            options["scheduling_strategy"] = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
                node, soft=True
            )
        return self._remote[function].options(**options).remote(*args)  # type: ignore[no-any-return]

    def submit_at(self, place: int | None, function: Callable[..., Any], args: Sequence[Any]) -> object:
        if place is not None and "scheduling_strategy" not in self._asked:
            self.width()
            self._place.node = self._nodes[place % len(self._nodes)] if self._nodes else None
        try:
            return self.submit(function, args)
        finally:
            self._place.node = None

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        try:
            return self._ray.get(list(handles))  # type: ignore[no-any-return]
        except self._ray.exceptions.RayTaskError as error:
            # What the task raised, with its message and not with those of Ray around it.
            raise (error.cause if isinstance(error.cause, Exception) else error) from None

    def wait(self, handles: Sequence[Any]) -> list[Any]:
        done, _ = self._ray.wait(list(handles), num_returns=1, timeout=_LOOK, fetch_local=False)
        return list(done)

    def cancel(self, handles: Iterable[Any]) -> None:
        for handle in handles:
            self._ray.cancel(handle, force=True)

    def width(self) -> int:
        # Asking takes a moment, and rounds may be short.
        width, since = self._width
        if time.monotonic() - since > _ASK:
            cores = self._ray.cluster_resources().get("CPU", 1)
            width = max(1, int(cores // self.threads))
            self._width = (width, time.monotonic())
            alive = sorted((node for node in self._ray.nodes() if node["Alive"]), key=lambda node: node["NodeID"])
            calls = ((node["NodeID"], int(node["Resources"].get("CPU", 0) // self.threads)) for node in alive)
            self._nodes = [node for node, count in calls for _ in range(count)]
        return width

    def peek(self, reference: Any) -> tuple[Any, tuple[int, ...], str]:
        ((shape, dtype, is_plain),) = self.gather([self.submit(peek, [reference])])
        # Made once, and not for each task that reads it.
        return (reference if is_plain else self.submit(plain, [reference])), shape, dtype


__all__ = ["Executor", "Local", "Ray", "work"]
