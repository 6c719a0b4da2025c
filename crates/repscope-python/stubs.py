#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the type stubs of the package from the signatures of its functions: `python stubs.py`, or `--check` to compare only.

The signatures are made of the options that are declared in Rust, so a type checker cannot read them from the source.
"""

from __future__ import annotations

import inspect
import sys
import types
from pathlib import Path

import repscope
from repscope import _functions, _types, etes, monitor, retrieval

FOLDER = Path(__file__).parent / "python" / "repscope"

HEAD = f"""\
# SPDX-License-Identifier: MIT
# Written by stubs.py.
from typing import Generic, Protocol, TypeVar, overload

import numpy as np

from ._replicates import Replicates as Replicates
from ._results import Figure as Figure
from ._results import Results as Results
from ._results import load as load
from ._scores import Score as Score
from ._scores import Scores as Scores
from ._scores import Undefined as Undefined
from ._types import {", ".join(sorted(_types.__all__))}
"""
INIT = """\
from . import compat as compat
from . import retrieval as retrieval
from ._repscope import DataError as DataError
from ._repscope import InputError as InputError
from ._repscope import InternalError as InternalError
from .etes import ETESEvaluator
from .monitor import Monitor as Monitor

__version__: str
"""
#: The functions of the package that no metric is named after.
WRITTEN = ("metrics", "evaluate", "compare", "robustness", "similarity", "encode")
#: What a score by K is called in signatures, and what of it an integer or several give.
MANY = "Score | Undefined | Scores"


def package() -> str:
    """The stubs of the package itself."""
    parts = [HEAD, INIT]
    names = dict.fromkeys([*WRITTEN, *(metric["id"] for metric in _functions.declared())])
    parts += [function(name, inspect.signature(getattr(repscope, name))) for name in names if name != "etes"]
    # A module that can be called: its attributes are those of the module.
    form = inspect.signature(repscope.etes)
    own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *form.parameters.values()]
    parts.append("\nclass _Etes(Protocol):\n    BANDS: tuple[float, ...]\n    ETESEvaluator: type[ETESEvaluator]\n")
    parts.append(function("__call__", form.replace(parameters=own), "    "))
    parts.append("\netes: _Etes\n")
    return "".join(parts)


def module(own: types.ModuleType, imports: str = "") -> str:
    """The stubs of the public names of a module."""
    parts = [HEAD, imports]
    for name in own.__all__:
        value = getattr(own, name)
        if inspect.isclass(value):
            parts.append(class_of(value))
        elif callable(value):
            parts.append(function(name, inspect.signature(value)))
        else:
            parts.append(f"\n{name}: tuple[float, ...]\n")
    return "".join(parts)


def class_of(own: type) -> str:
    """A class with its public attributes and methods."""
    # As printed, but for the module of a name and the sign of a type variable.
    bases = [str(base).replace("typing.", "").replace("~", "") for base in getattr(own, "__orig_bases__", ())]
    parts = [f"\nclass {own.__name__}" + (f"({', '.join(bases)})" if bases else "") + ":\n"]
    annotations = inspect.get_annotations(own)
    parts += [f"    {name}: {kind}\n" for name, kind in annotations.items() if not name.startswith("_")]
    for name, value in own.__dict__.items():
        is_special = name.startswith("__") and name in ("__init__", "__call__", "__len__", "__bool__", "__repr__")
        if name.startswith("_") and not is_special:
            continue
        if isinstance(value, property):
            parts.append("    @property\n" + function(name, inspect.signature(value.fget), "    ").lstrip("\n"))
        elif inspect.isfunction(value):
            parts.append(function(name, inspect.signature(value), "    "))
    return "".join(parts)


def function(name: str, form: inspect.Signature, indent: str = "") -> str:
    """One function; two where an integer K gives a score and several give one each."""
    returned = form.return_annotation
    if returned == MANY:
        k = form.parameters["k"]
        one, _, many = k.annotation.partition(" | ")
        each = (k.replace(annotation=one), "Score | Undefined"), (k.replace(annotation=many, default=k.empty), "Scores")
        forms = []
        for parameter, kind in each:
            own = [parameter if own.name == "k" else own for own in form.parameters.values()]
            forms.append(f"{indent}@overload\n" + definition(name, own, kind, indent).lstrip("\n"))
        return "\n" + "".join(forms)
    return definition(name, list(form.parameters.values()), returned, indent)


def definition(name: str, parameters: list[inspect.Parameter], returned: str, indent: str) -> str:
    """One definition, with a parameter per line."""
    lines = []
    for own in parameters:
        if own.kind is own.KEYWORD_ONLY and "*" not in lines:
            lines.append("*")
        kind = "" if own.annotation is own.empty else f": {own.annotation}"
        equals = " = " if kind else "="
        lines.append(f"{own.name}{kind}" + ("" if own.default is own.empty else f"{equals}{own.default!r}"))
    if len(lines) < 2:
        return f"\n{indent}def {name}({', '.join(lines)}) -> {returned}: ...\n"
    inner = "".join(f"{indent}    {line},\n" for line in lines)
    return f"\n{indent}def {name}(\n{inner}{indent}) -> {returned}: ...\n"


def stubs() -> dict[Path, str]:
    """Every stub by its file."""
    return {
        FOLDER / "__init__.pyi": package(),
        FOLDER / "etes.pyi": module(etes, "from .retrieval import DocumentResults\n"),
        FOLDER / "monitor.pyi": module(monitor),
        FOLDER / "retrieval.pyi": module(retrieval, '\n_Value = TypeVar("_Value")\n'),
    }


if __name__ == "__main__":
    for path, written in stubs().items():
        if "--check" not in sys.argv:
            path.write_text(written, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != written:
            sys.exit(f"{path.name} differs from the signatures of the package; run stubs.py")
