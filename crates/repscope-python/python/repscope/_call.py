# SPDX-License-Identifier: MIT
"""Calls of the extension module: options are plain data, arrays are passed along by number."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from . import _progress, _repscope
from ._arrays import lend


class Elsewhere(NamedTuple):
    """A matrix that is not in memory: the executor of the call has tasks read it by its number."""

    number: int
    rows: int
    columns: int
    is_single: bool
    digest: str

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.columns


#: Runs stages of tasks on matrices that are elsewhere.
EXECUTOR: ContextVar[Callable[..., Any] | None] = ContextVar("repscope_executor", default=None)


class Call:
    """A request under construction."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._options: dict[str, Any] = {}
        self._layers: list[str] = []
        self._arrays: list[tuple[str, tuple[Any, str], Callable[..., Any] | None]] = []

    def array(self, name: str, value: Any, encoder: Callable[..., Any] | None = None) -> Any:
        """The value of an option for an array or a path; an encoder is the callable behind the embeddings, for noisy inputs."""
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        if isinstance(value, Elsewhere):
            self._arrays.append((name, (tuple(value), "elsewhere"), None))
            return {"array": len(self._arrays) - 1}
        self._arrays.append((name, lend(value, name), encoder))
        return {"array": len(self._arrays) - 1}

    def option(self, name: str, value: Any) -> Call:
        """Sets an option; None omits it."""
        if value is not None:
            self._options[name] = _plain(value)
        return self

    def lent(self, option: str, value: Any, name: str | None = None) -> Call:
        """Sets an option whose value is an array or a path; None omits it."""
        if value is None:
            return self
        return self.option(option, self.array(name or option, value))

    def add(self, option: str, name: str, source: Any, next_source: Any = None) -> Call:
        """Adds a named source to an option that takes several."""
        if isinstance(source, str) and next_source is None:
            item: Any = f"{name}={source}"
        else:
            item = {"name": name, "source": source} | ({} if next_source is None else {"next": next_source})
        self._options.setdefault(option, []).append(item)
        return self

    def layers_of(self, name: str) -> None:
        """Says that the models `name/…` are layers of one."""
        self._layers.append(name)

    def run(
        self, metrics: Iterable[str] = (), *, threads: int | None = None, progress: bool | None = None
    ) -> _repscope.Run:
        """Runs the request and returns its results; writes no files."""
        options = dict(self._options)
        if self._layers:
            said = options.get("layers", [])
            options["layers"] = list(dict.fromkeys(self._layers + ([said] if isinstance(said, str) else said)))
        if chosen := list(metrics):
            options["metrics"] = chosen
        words = json.dumps(options)
        return _watched(
            progress,
            lambda bar: _repscope.compute(self._command, words, self._arrays, _count(threads), bar, EXECUTOR.get()),
        )

    def encode(self, *, threads: int | None = None, progress: bool | None = None) -> list[tuple[str, Any]]:
        """Runs an encoder and returns the embeddings."""
        words = json.dumps(self._options)
        return _watched(progress, lambda bar: _repscope.encode(words, self._arrays, _count(threads), bar))


def _watched(progress: bool | None, run: Callable[..., Any]) -> Any:
    bar = _progress.bar(progress)
    try:
        return run(bar)
    finally:
        if bar is not None:
            bar.close()


def name_of_model(name: Any) -> str:
    """The name of a model in results."""
    text = str(name)
    if not text or "=" in text:
        raise ValueError(f"a model cannot be called {text!r}; give it a name without `=`")
    return text


def models_of(models: Any) -> dict[str, Any]:
    """Models by name: a mapping, or a single model, which is then called `model`."""
    if isinstance(models, Mapping):
        if not models:
            raise ValueError("there is no model; give {name: embeddings}")
        return {name_of_model(name): model for name, model in models.items()}
    if isinstance(models, (list, tuple)):
        shapes = [tuple(shape) for shape in (getattr(model, "shape", None) for model in models) if shape is not None]
        if any(len(shape) >= 2 for shape in shapes):
            listed = ", ".join(str(shape) for shape in shapes[:5])
            raise TypeError(
                f"models is a {type(models).__name__} of {len(models)} arrays with shapes {listed}; name the models: "
                '{"a": first, "b": second}'
            )
    return {"model": models}


def _count(threads: int | None) -> int | None:
    if threads is None:
        return None
    if isinstance(threads, bool) or int(threads) != threads or threads < 1:
        raise ValueError(f"threads = {threads!r} must be an integer of at least 1; leave it out to use all cores")
    return int(threads)


def _plain(value: Any) -> Any:
    """A value in the form of JSON: paths as text, arrays as lists, NumPy scalars and tensors of one number as numbers."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such number
    if isinstance(value, (str, bool, int, float)) or value is None:
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "__iter__"):
        return [_plain(item) for item in value]
    return str(value)
