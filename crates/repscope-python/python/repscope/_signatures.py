# SPDX-License-Identifier: MIT
"""Signatures and documentation of functions, built from the options that commands declare."""

from __future__ import annotations

import difflib
import inspect
import json
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

from . import _repscope, _types
from ._call import Call
from ._results import Results
from ._scores import Score, Scores, Undefined

#: The default of a parameter that has none.
REQUIRED: Any = inspect.Parameter.empty
#: Headings of options that print, write or check: a program does that itself.
_HEADINGS = ("Results", "Gates", "Cluster")
#: Other options that are not for programs.
_NOT_FOR_PROGRAMS = {"init", "output", "prototype_texts", "resume", "set"}
#: Options that take a file which holds no array.
_FILES = {"checkpoint", "metadata", "runtime_library", "text_encoder"}
#: The names that annotations are made of.
_NAMES = {name: getattr(_types, name) for name in _types.__all__} | {
    "Results": Results,
    "Score": Score,
    "Scores": Scores,
    "Undefined": Undefined,
}
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Parameter(NamedTuple):
    """A parameter of a function."""

    name: str
    kind: str
    default: Any
    about: str


#: What every function takes beside the options of its command.
PROGRESS = Parameter(
    "progress", "bool | None", None, "Whether to show a progress bar; by default in a terminal or notebook."
)


@cache
def options(command: str) -> dict[str, dict[str, Any]]:
    """The declared options of a command, by the names of their parameters."""
    declared = json.loads(_repscope.declared_options(command))
    return {option["name"].replace("-", "_"): option for option in declared if _is_for_programs(option)}


def parameter(option: Mapping[str, Any]) -> Parameter:
    """The parameter of a declared option."""
    return Parameter(option["name"].replace("-", "_"), _kind(option), _default(option), _sentence(option["help"]))


def with_options(command: str, without: Iterable[str] = ()) -> Callable[[_Function], _Function]:
    """Lists the options of a command in the signature of a function that takes them as `**options`."""
    taken = set(without)

    def decorate(function: _Function) -> _Function:
        form = inspect.signature(function)
        written = [own for own in form.parameters.values() if own.kind is not own.VAR_KEYWORD]
        named = taken | {own.name for own in written}
        declared = options(command).items()
        others = [parameter(own) for name, own in declared if not {name, own["field"]} & named]
        parameters = written + [_keyword(own) for own in others]
        sign(function, form.replace(parameters=parameters))
        if function.__doc__ is not None:
            lines = ["Other Parameters", "----------------", *documented(others)]
            function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__), "", *lines])
        return function

    return decorate


def put_options(function: Callable[..., Any], command: str, call: Call, given: Mapping[str, Any]) -> None:
    """Adds options by name; refuses those that the signature of the function does not list."""
    known = inspect.signature(function).parameters
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"repscope.{function.__name__}() has no argument {name!r}{hint}")
        put_option(call, options(command)[name], value)


def put_option(call: Call, option: Mapping[str, Any], value: Any) -> None:
    """Adds an option: arrays by number, those with names by name."""
    name = option["name"].replace("-", "_")
    if option["kind"] in ("source", "named") and value is not None:
        if isinstance(value, Mapping):
            for part, own in value.items():
                call.add(name, str(part), call.array(f"{name} of {part}", own))
        elif option["many"] and isinstance(value, (list, tuple)) and all(isinstance(own, str) for own in value):
            call.option(name, value)
        else:
            call.lent(name, value)
    else:
        call.option(name, value)


def signature(first: Iterable[Parameter], named: Iterable[Parameter], returned: str) -> inspect.Signature:
    """A signature of parameters by position and by name."""
    positional = [
        inspect.Parameter(own.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=own.default, annotation=own.kind)
        for own in first
    ]
    return inspect.Signature(positional + [_keyword(own) for own in named], return_annotation=returned)


def sign(function: Callable[..., Any], form: inspect.Signature) -> None:
    """Gives a function a signature, and annotations that resolve."""
    function.__signature__ = form  # type: ignore[attr-defined]
    annotations = {own.name: own.annotation for own in form.parameters.values() if own.annotation is not REQUIRED}
    function.__annotations__ = annotations | {"return": form.return_annotation}
    function.__annotations__ = typing.get_type_hints(function, {**_NAMES, **function.__globals__})


def documented(parameters: Iterable[Parameter]) -> list[str]:
    """Parameters as lines of a docstring."""
    lines = []
    for own in parameters:
        ending = "" if own.default is REQUIRED else f", default {own.default!r}"
        lines += [f"{own.name} : {own.kind}{ending}", f"    {own.about}"]
    return lines


def _is_for_programs(option: Mapping[str, Any]) -> bool:
    heading = option["heading"] or ""
    return not heading.startswith(_HEADINGS) and option["name"].replace("-", "_") not in _NOT_FOR_PROGRAMS


def _keyword(own: Parameter) -> inspect.Parameter:
    return inspect.Parameter(own.name, inspect.Parameter.KEYWORD_ONLY, default=own.default, annotation=own.kind)


def _kind(option: Mapping[str, Any]) -> str:
    kinds = {
        "count": "int | str",
        "flag": "bool",
        "integer": "int",
        "named": "ArrayLike",
        "number": "float",
        "path": "PathLike",
        "source": "ArrayLike",
        "text": "str",
        "word": "float | str",
    }
    one = "PathLike" if option["field"] in _FILES else kinds[option["kind"]]
    if option["choices"] == ["yes", "no"]:
        return "bool | None"
    if option["choices"]:
        one = f"Literal[{', '.join(repr(choice) for choice in option['choices'])}]"
    if option["kind"] == "named":
        return "Mapping[str, ArrayLike] | ArrayLike | None"
    if option["many"]:
        one = f"{one} | Sequence[{one}]"
    return one if option["default"] or option["kind"] == "flag" else f"{one} | None"


def _default(option: Mapping[str, Any]) -> Any:
    if option["kind"] == "flag":
        return False
    convert = {"integer": int, "number": float}.get(option["kind"], str)
    values = tuple(convert(value) for value in option["default"])
    if option["many"]:
        return values or None
    return values[0] if values else None


def _sentence(text: str) -> str:
    return " ".join(text.split()).rstrip(".") + "."
