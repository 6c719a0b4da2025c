#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the type stubs of the package from what metrics declare: `python stubs.py`, or `--check` to compare only."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import repscope
from repscope import _functions

PATH = Path(__file__).parent / "python" / "repscope" / "__init__.pyi"

HEAD = """\
# SPDX-License-Identifier: MIT
# Written by stubs.py from what metrics declare.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._evaluate import compare as compare
from ._evaluate import encode as encode
from ._evaluate import evaluate as evaluate
from ._evaluate import robustness as robustness
from ._repscope import InputError as InputError
from ._repscope import InternalError as InternalError
from ._results import Figure as Figure
from ._results import Results as Results
from ._results import load as load
from ._scores import Score as Score
from ._scores import Scores as Scores
from ._scores import Undefined as Undefined
from .monitor import Monitor as Monitor

ArrayLike = Any
__version__: str

def metrics() -> list[str]: ...
"""


def stubs() -> str:
    """The stubs of all functions."""
    parts = [HEAD]
    for metric in _functions.declared():
        name = metric["id"]
        if name in ("robustness", "etes"):
            continue  # written out, and a module
        if _functions.is_of_codes(metric):
            first, named = _functions.signature(metric)
            parts.append(definition(name, first, named, _functions.returned(metric)))
        else:
            parts.append(definition(name, *written_out(getattr(repscope, name)), "Any"))
    return "".join(parts)


def written_out(function) -> tuple[list, list]:
    """The arguments of a function that is not made from a declaration."""
    first, named = [], []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        entry = (parameter.name, "Any", parameter.default, "")
        (named if parameter.kind is parameter.KEYWORD_ONLY else first).append(entry)
    return first, named


def definition(name: str, first: list, named: list, returned: str) -> str:
    """One function."""

    def argument(entry: tuple) -> str:
        own, kind, default, _ = entry
        return f"    {own}: {kind}" + ("" if default is inspect.Parameter.empty else f" = {default!r}") + ",\n"

    lines = "".join(argument(entry) for entry in first)
    if named:
        lines += "    *,\n" + "".join(argument(entry) for entry in named)
    return f"\ndef {name}(\n{lines}) -> {returned}: ...\n"


if __name__ == "__main__":
    text = stubs()
    if "--check" in sys.argv:
        if PATH.read_text(encoding="utf-8") != text:
            sys.exit(f"{PATH.name} is not what the metrics declare; run stubs.py")
    else:
        PATH.write_text(text, encoding="utf-8")
