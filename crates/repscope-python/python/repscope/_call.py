# SPDX-License-Identifier: MIT
"""Calls of the compiled part: arguments become the words of a command, arrays are lent under names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _progress, _repscope
from ._arrays import lend

#: What arrays are called where a command would name files.
_PREFIX = "memory:"


class Call:
    """A command in the making."""

    def __init__(self, *command: str) -> None:
        self._words = list(command)
        self._arrays: dict[str, tuple[Any, str]] = {}
        self._encoders: dict[str, Callable] = {}

    def array(self, name: str, value: Any) -> str:
        """Lends an array, or names a file; gives what stands for it in an option."""
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        # In a path some characters mean something; in a name of an array none does.
        plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name) or "_"
        path, count = _PREFIX + plain, 1
        while path in self._arrays:
            count += 1
            path = f"{_PREFIX}{plain}_{count}"
        self._arrays[path] = lend(value, name)
        return path

    def encoder(self, path: str, encode: Callable) -> None:
        """Says that the codes lent under a path come from a function, which is then shown states with noise."""
        self._encoders[path] = encode

    def option(self, name: str, value: Any) -> Call:
        """Adds an option; None leaves it out."""
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
        """Adds an option whose value is an array or a path; None leaves it out."""
        if value is None:
            return self
        return self.option(option, self.array(name or option, value))

    def words(self, words: Iterable[str]) -> Call:
        """Adds words as they are."""
        self._words.extend(words)
        return self

    def run(
        self, metrics: Iterable[str] = (), *, threads: int | None = None, progress: bool | None = None
    ) -> _repscope.Run:
        """Runs the command and keeps its results; none of its files are written."""
        return _watched(
            progress,
            lambda bar: _repscope.compute(
                self._words, self._arrays, self._encoders, list(metrics), _count(threads), bar
            ),
        )

    def encode(self, *, threads: int | None = None, progress: bool | None = None) -> list[tuple[str, Any]]:
        """Runs the command and gives the codes that it makes."""
        return _watched(progress, lambda bar: _repscope.encode(self._words, self._arrays, _count(threads), bar))


def _watched(progress: bool | None, run: Callable) -> Any:
    bar = _progress.bar(progress)
    try:
        return run(bar)
    finally:
        if bar is not None:
            bar.close()


def name_of_model(name: Any) -> str:
    """The name of a model as a command takes it."""
    text = str(name)
    if not text or "=" in text:
        raise ValueError(f"a model cannot be called {text!r}; give it a name without `=`")
    return text


def models_of(models: Any) -> dict[str, Any]:
    """Models by name: a mapping, a frame of pairs, or one model, which is then called `model`."""
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
