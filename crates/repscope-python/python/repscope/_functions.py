# SPDX-License-Identifier: MIT
"""One function per metric, built from the declaration of the metric: its inputs, its options and its page."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _repscope
from ._call import Call
from ._results import Results
from ._scores import Score, Scores, Undefined

#: Argument names of the inputs of a metric.
ARGUMENTS = {
    "states": ("X", "ArrayLike", "What the model saw, one sample per row; trailing dimensions are flattened."),
    "codes": ("Z", "ArrayLike", "The codes of the model, one row per sample."),
    "labels": ("labels", "ArrayLike", "A class per row: strings, whole numbers or truth values."),
    "labels_if_any": ("labels", "ArrayLike | None", "A class per row; without it, the clusters of k-means."),
    "view": ("view", "ArrayLike", "Codes of a second view of the same samples."),
}
#: Defaults that differ from the command, because a function returns one number by default.
DEFAULTS = {"trustworthiness": {"k": 10}, "continuity": {"k": 10}}
#: Arguments of every function of embeddings.
SHARED = {
    "episodes": ("ArrayLike | None", None, "The episode of each row: intervals are then taken over episodes."),
    "seed": ("int", 42, "The seed of every random choice."),
    "level": ("float", 0.95, "Confidence level of the interval."),
    "threads": ("int | None", None, "Threads to use, by default all cores; the numbers do not depend on it."),
    "memory": ("str | None", None, "Memory the call may use, such as '4G'; one that needs more is refused at once."),
    "progress": ("bool | None", None, "Whether to show a bar; by default where somebody may be watching."),
}
#: Additional arguments of single metrics.
EXTRA = {
    "smoothness": {
        "next_states": ("ArrayLike | None", None, "The state after each row of X; by default the next row."),
        "next_codes": ("ArrayLike | None", None, "The codes of the next states."),
    }
}


def declared() -> list[dict[str, Any]]:
    """The declarations of all metrics."""
    return json.loads(_repscope.declared_metrics())


def is_of_codes(metric: Mapping[str, Any]) -> bool:
    """Whether a metric is computed from the arrays of a single model."""
    return all(what in ARGUMENTS for what in metric["takes"])


def signature(metric: Mapping[str, Any]) -> tuple[list[tuple], list[tuple]]:
    """Positional and keyword arguments as (name, type, default, about); `inspect._empty` means no default."""
    empty = inspect.Parameter.empty
    first = []
    for what in metric["takes"]:
        name, kind, about = ARGUMENTS[what]
        first.append((name, kind, None if what == "labels_if_any" else empty, about))
    named = []
    variants = variants_of(metric)
    if variants:
        (parameter, values), *_ = variants.items()
        kind = "Literal[" + ", ".join(repr(value) for value in values) + "]"
        named.append((parameter, kind, values[0], f"Which variant: {' or '.join(repr(v) for v in values)}."))
    for option in metric["options"]:
        name = option["name"].replace("-", "_")
        kind, default = _kind(option), _default(option)
        default = DEFAULTS.get(metric["id"], {}).get(name, default)
        named.append((name, kind, default, option["help"] + "."))
    named += [(name, *rest) for name, rest in EXTRA.get(metric["id"], {}).items()]
    named += [(name, *rest) for name, rest in SHARED.items()]
    return first, named


def variants_of(metric: Mapping[str, Any]) -> dict[str, list[str | None]]:
    """The parameter that distinguishes the outputs of a metric, and its values; None stands for the plain name."""
    values: dict[str, list[str | None]] = {}
    for output in metric["outputs"]:
        name, _, rest = output["id"].partition("(")
        if name == metric["id"] and rest:
            parameter, _, value = rest.rstrip(")").partition("=")
            values.setdefault(parameter, []).append(value)
    has_bare = any(output["id"] == metric["id"] for output in metric["outputs"])
    return {parameter: ([None] if has_bare else []) + own for parameter, own in values.items()}


def make(metric: Mapping[str, Any]) -> Callable:
    """The function of a metric of embeddings."""
    first, named = signature(metric)
    parameters = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)
        for name, kind, default, _ in first
    ] + [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, kind, default, _ in named
    ]
    form = inspect.Signature(parameters, return_annotation=returned(metric))
    identity = metric["id"]

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = form.bind(*args, **kwargs)
        bound.apply_defaults()
        return _compute(metric, bound.arguments)

    function.__name__ = function.__qualname__ = identity
    function.__module__ = "repscope"
    function.__signature__ = form
    function.__doc__ = documentation(metric, first + named)
    return function


def documentation(metric: Mapping[str, Any], arguments: Sequence[tuple]) -> str:
    """The page of a metric, with parameters and return values of its function."""
    lines = [metric["page"].strip(), "", "Parameters", "----------"]
    for name, kind, default, about in arguments:
        ending = "" if default is inspect.Parameter.empty else f", default {default!r}"
        lines += [f"{name} : {kind}{ending}", f"    {about}"]
    lines += ["", "Returns", "-------"]
    lines += [f"{output['id']} : {output['about']} ({output['range']})" for output in metric["outputs"]]
    return "\n".join(lines)


def returned(metric: Mapping[str, Any]) -> str:
    """The return type of the function of a metric."""
    identity = metric["id"]
    ids = [output["id"] for output in metric["outputs"]]
    if f"{identity}@K" in ids:
        many = any(option["name"] == "k" and option["many"] for option in metric["options"])
        return "Score | Undefined | Scores" if many else "Score | Undefined"
    if any(own.partition("(")[0] == identity for own in ids):
        return "Score | Undefined"
    return "Scores"


def _compute(metric: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    identity = metric["id"]
    call = Call(metric["command"], "--quiet")
    model = call.array("Z", given["Z"])
    if "X" in given:
        call.lent("states", given["X"], "X")
    if given.get("next_states") is not None or given.get("next_codes") is not None:
        if given["next_states"] is None or given["next_codes"] is None:
            raise ValueError("next_states and next_codes belong together; give both")
        call.lent("next_states", given["next_states"])
        model += "," + call.array("next_codes", given["next_codes"])
    if "labels" in given:
        call.lent("labels", given["labels"])
    if "view" in given:
        call.lent("views", given["view"], "view")
    call.lent("episodes", given["episodes"])
    call.option("model", f"model={model}")
    for option in metric["options"]:
        name = option["name"].replace("-", "_")
        value = given[name]
        if option["choices"] == ["yes", "no"] and isinstance(value, bool):
            value = "yes" if value else "no"
        if value is not None:
            call.option(name, value)
    call.option("seed", given["seed"]).option("level", given["level"]).option("memory", given["memory"])
    run = call.run([identity], threads=given["threads"], progress=given["progress"])
    results = Results(run)
    return pick(metric, results, given)


def pick(metric: Mapping[str, Any], results: Results, given: Mapping[str, Any]) -> Score | Undefined | Scores:
    """The return value of a function: the score of its name, one score per K, or all scores by name."""
    identity = metric["id"]
    own = {
        s.metric: s for s in results.scores if s.metric.partition("(")[0].partition("@")[0].split(".")[0] == identity
    }
    everything = Scores(own, results.warnings)
    chosen: Score | Undefined | Scores | None = None
    variants = variants_of(metric)
    at = {name.partition("@")[2]: s for name, s in own.items() if name.startswith(f"{identity}@")}
    if variants:
        (parameter, values), *_ = variants.items()
        value = given.get(parameter)
        if value not in values:
            known = " or ".join(repr(v) for v in values)
            raise ValueError(f"{parameter} = {value!r}; {identity} has {parameter} {known}")
        chosen = own[identity if value is None else f"{identity}({parameter}={value})"]
    elif at:
        k = given.get("k")
        if k is None or not (isinstance(k, Sequence) or hasattr(k, "__len__")):
            chosen = next(iter(at.values()))
        else:
            chosen = Scores({int(number): s for number, s in at.items()}, results.warnings)
    elif identity in own:
        chosen = own[identity]
    else:
        chosen = Scores({name.removeprefix(identity + "."): s for name, s in own.items()}, results.warnings)
    if not isinstance(chosen, Scores):
        chosen.all = everything
        chosen.warnings = results.warnings
    return chosen


def _kind(option: Mapping[str, Any]) -> str:
    if option["choices"] == ["yes", "no"]:
        return "bool | None"
    if option["choices"]:
        one = "Literal[" + ", ".join(repr(choice) for choice in option["choices"]) + "]"
    else:
        one = {"integer": "int", "number": "float", "text": "str", "flag": "bool"}[option["kind"]]
    if option["name"] == "clusters" and one == "str":
        one = "int | str"
    if option["many"]:
        return f"{one} | Sequence[{one}]"
    return one if option["default"] or option["kind"] == "flag" else f"{one} | None"


def _default(option: Mapping[str, Any]) -> Any:
    convert = {"integer": int, "number": float}.get(option["kind"], str)
    if option["kind"] == "flag":
        return False
    values = tuple(convert(value) for value in option["default"])
    if option["many"]:
        return values or None
    return values[0] if values else None
