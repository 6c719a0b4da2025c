# SPDX-License-Identifier: MIT
"""Calls of the extension module: arguments become the words of a command, arrays are passed by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _progress, _repscope
from ._arrays import lend

#: Prefix of array names in place of file paths.
_PREFIX = "memory:"


class Call:
    """A command line under construction."""

    def __init__(self, *command: str) -> None:
        self._words = list(command)
        self._arrays: dict[str, tuple[Any, str]] = {}
        self._encoders: dict[str, Callable] = {}

    def array(self, name: str, value: Any) -> str:
        """Passes an array, or a file by its path; returns its name for use in an option."""
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        # Some characters have a meaning in paths, so they are not used in the names of arrays.
        plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name) or "_"
        path, count = _PREFIX + plain, 1
        while path in self._arrays:
            count += 1
            path = f"{_PREFIX}{plain}_{count}"
        self._arrays[path] = lend(value, name)
        return path

    def encoder(self, path: str, encode: Callable) -> None:
        """Registers the encoder behind the embeddings at a path, so that it can be run on noisy inputs."""
        self._encoders[path] = encode

    def option(self, name: str, value: Any) -> Call:
        """Adds an option; None omits it."""
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            return self
        if value is True:
            self._words.append(option)
        elif isinstance(value, (list, tuple, set, frozenset)) or _is_array(value):
            self._words.extend(f"{option}={_word(item)}" for item in value)
        else:
            self._words.append(f"{option}={_word(value)}")
        return self

    def lent(self, option: str, value: Any, name: str | None = None) -> Call:
        """Adds an option whose value is an array or a path; None omits it."""
        if value is None:
            return self
        return self.option(option, self.array(name or option, value))

    def words(self, words: Iterable[str]) -> Call:
        """Adds words unchanged."""
        self._words.extend(words)
        return self

    def run(
        self, metrics: Iterable[str] = (), *, threads: int | None = None, progress: bool | None = None
    ) -> _repscope.Run:
        """Runs the command and returns its results; writes no files."""
        return _watched(
            progress,
            lambda bar: _repscope.compute(
                self._words, self._arrays, self._encoders, list(metrics), _count(threads), bar
            ),
        )

    def encode(self, *, threads: int | None = None, progress: bool | None = None) -> list[tuple[str, Any]]:
        """Runs the command and returns the embeddings."""
        return _watched(progress, lambda bar: _repscope.encode(self._words, self._arrays, _count(threads), bar))


def _watched(progress: bool | None, run: Callable) -> Any:
    bar = _progress.bar(progress)
    try:
        return run(bar)
    finally:
        if bar is not None:
            bar.close()


def name_of_model(name: Any) -> str:
    """The name of a model in the form of the command line."""
    text = str(name)
    if not text or "=" in text:
        raise ValueError(f"a model cannot be called {text!r}; give it a name without `=`")
    return text


def models_of(models: Any) -> dict[str, Any]:
    """Models by name: a mapping, or a single model, which is then called `model`."""
    if isinstance(models, Mapping):
        if not models:
            raise ValueError("there is no model; give {name: codes}")
        return {name_of_model(name): model for name, model in models.items()}
    return {"model": models}


def _count(threads: int | None) -> int | None:
    if threads is None:
        return None
    if isinstance(threads, bool) or int(threads) != threads or threads < 1:
        raise ValueError(f"threads = {threads!r} must be a whole number of at least 1; leave it out to use all cores")
    return int(threads)


def _is_array(value: Any) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, (str, bytes, os.PathLike, Mapping))


def _word(value: Any) -> str:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float):
        return repr(value)
    if hasattr(value, "item"):
        return _word(value.item())
    return str(value)
