# SPDX-License-Identifier: MIT
"""One function per metric, built from the declaration of the metric: its inputs, its options and its page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from . import _repscope
from ._call import Call
from ._results import Results
from ._scores import Score, Scores, Undefined
from ._signatures import PROGRESS, REQUIRED, Parameter, documented, options, parameter, put_option, sign, signature

#: Arguments of the inputs of a metric.
ARGUMENTS = {
    "states": Parameter(
        "X", "ArrayLike", REQUIRED, "The inputs of the model, one sample per row; trailing dimensions are flattened."
    ),
    "embeddings": Parameter("Z", "ArrayLike", REQUIRED, "The embeddings of the model, one row per sample."),
    "labels": Parameter("labels", "ArrayLike", REQUIRED, "A class per row: strings, integers or booleans."),
    "labels_if_any": Parameter(
        "labels", "ArrayLike | None", None, "A class per row; without it, the clusters of k-means."
    ),
    "values_if_any": Parameter(
        "targets", "ArrayLike | None", None, "Continuous values of each row, one column per target."
    ),
    "view": Parameter("view", "ArrayLike", REQUIRED, "Embeddings of a second view of the same samples."),
    "reference": Parameter(
        "reference", "ArrayLike", REQUIRED, "Embeddings of the reference rows by the same model, in any number."
    ),
    "batches": Parameter("batches", "ArrayLike", REQUIRED, "The batch of each row: strings, integers or booleans."),
}
#: Defaults that differ from the command, because a function returns one number by default.
DEFAULTS = {name: {"k": 10} for name in ("trustworthiness", "continuity", "q_nx", "r_nx")} | {"mle_id": {"k": 20}}
#: Arguments that mean something else to single metrics.
ABOUT = {"probe": {"labels": "A class per row: strings, integers or booleans."}}
#: Options that every function takes.
SHARED = ("seed", "level", "threads", "memory")
#: What functions of two sets take beside `episodes`.
REFERENCE_GROUPS = Parameter(
    "reference_groups", "ArrayLike | None", None, "The group of each reference row, where `episodes` are given."
)
#: Additional arguments of single metrics.
EXTRA = {
    "smoothness": [
        Parameter("next_states", "ArrayLike | None", None, "The input after each row of X; by default the next row."),
        Parameter("next_codes", "ArrayLike | None", None, "The embeddings of the next inputs."),
    ]
}


@cache
def declared() -> list[dict[str, Any]]:
    """The declarations of all metrics."""
    return json.loads(_repscope.declared_metrics())


def is_of_embeddings(metric: Mapping[str, Any]) -> bool:
    """Whether a metric is computed from the arrays of a single model."""
    return all(what in ARGUMENTS for what in metric["takes"])


def parameters(metric: Mapping[str, Any]) -> tuple[list[Parameter], list[Parameter]]:
    """Parameters by position and by name."""
    about = ABOUT.get(metric["id"], {})
    first = [ARGUMENTS[what] for what in metric["takes"]]
    return [own._replace(about=about.get(own.name, own.about)) for own in first], named_parameters(metric)


def named_parameters(metric: Mapping[str, Any]) -> list[Parameter]:
    """The parameters by name: the variant, the options of the metric, and those that every function has."""
    named = []
    variants = variants_of(metric)
    if variants:
        (name, values), *_ = variants.items()
        kind = f"Literal[{', '.join(repr(value) for value in values)}]"
        named.append(Parameter(name, kind, values[0], f"The variant: {' or '.join(repr(v) for v in values)}."))
    own = DEFAULTS.get(metric["id"], {})
    for option in metric["options"]:
        declared = parameter(option)
        named.append(declared._replace(default=own.get(declared.name, declared.default)))
    if "reference" in metric["takes"]:
        named.append(REFERENCE_GROUPS)
    return named + EXTRA.get(metric["id"], []) + shared(metric, "episodes", *SHARED)


def shared(metric: Mapping[str, Any], *names: str) -> list[Parameter]:
    """Parameters of options of the command that do not change the metric alone."""
    return [parameter(options(metric["command"])[name]) for name in names] + [PROGRESS]


def variants_of(metric: Mapping[str, Any]) -> dict[str, list[str | None]]:
    """The parameter that distinguishes the outputs of a metric, and its values; None stands for the plain name."""
    values: dict[str, list[str | None]] = {}
    # The variant that the bare name stands for comes first: it is the default.
    for output in sorted(metric["outputs"], key=lambda output: not output["bare"]):
        name, _, rest = output["id"].partition("(")
        if name == metric["id"] and rest:
            parameter, _, value = rest.partition(")")[0].partition("=")
            values.setdefault(parameter, []).append(value)
    has_bare = any(output["id"].partition("@")[0] == metric["id"] for output in metric["outputs"])
    return {parameter: [*([None] if has_bare else []), *own] for parameter, own in values.items()}


def make(metric: Mapping[str, Any]) -> Callable[..., Any]:
    """The function of a metric of embeddings."""
    return function(metric, *parameters(metric), returned(metric), lambda given: _compute(metric, given))


def function(
    metric: Mapping[str, Any],
    first: list[Parameter],
    named: list[Parameter],
    returned: str,
    compute: Callable[[Mapping[str, Any]], Any],
) -> Callable[..., Any]:
    """A function with a signature and the page of its metric."""
    form = signature(first, named, returned)

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = form.bind(*args, **kwargs)
        bound.apply_defaults()
        return compute(bound.arguments)

    function.__name__ = function.__qualname__ = metric["id"]
    function.__module__ = "repscope"
    sign(function, form)
    lines = [metric["page"].strip(), "", "Parameters", "----------", *documented(first + named)]
    lines += ["", "Returns", "-------"]
    lines += [f"{output['id']} : {output['about']} ({output['range']})" for output in metric["outputs"]]
    function.__doc__ = "\n".join(lines)
    return function


def returned(metric: Mapping[str, Any]) -> str:
    """The return type of the function of a metric."""
    identity = metric["id"]
    ids = [output["id"] for output in metric["outputs"]]
    if f"{identity}@K" in ids:
        if is_of_scales(metric):
            return "Scores"
        many = any(option["name"] == "k" and option["many"] for option in metric["options"])
        return "Score | Undefined | Scores" if many else "Score | Undefined"
    if any(own.partition("(")[0] == identity for own in ids):
        return "Score | Undefined"
    return "Scores"


def is_of_scales(metric: Mapping[str, Any]) -> bool:
    """Whether there is a score for each K that the data have, as the scales of Gride, and no option says which."""
    has_k = any(output["id"] == f"{metric['id']}@K" for output in metric["outputs"])
    return has_k and not any(option["name"] == "k" for option in metric["options"])


def _compute(metric: Mapping[str, Any], given: Mapping[str, Any]) -> Score | Undefined | Scores:
    call = Call(metric["command"])
    embeddings, following = call.array("Z", given["Z"]), None
    call.lent("states", given.get("X"), "X")
    if given.get("next_states") is not None or given.get("next_codes") is not None:
        if given["next_states"] is None or given["next_codes"] is None:
            raise ValueError("next_states and next_codes belong together; give both")
        call.lent("next_states", given["next_states"])
        following = call.array("next_codes", given["next_codes"])
    call.add("models", "model", embeddings, following)
    call.lent("labels", given.get("labels")).lent("targets", given.get("targets"))
    call.lent("views", given.get("view"), "view").lent("episodes", given["episodes"])
    call.lent("against", given.get("reference"), "reference").lent("batches", given.get("batches"))
    call.lent("against_groups", given.get("reference_groups"), "reference_groups")
    for option in metric["options"]:
        put_option(call, option, given[option["name"].replace("-", "_")])
    return pick(metric, run(call, given, [metric["id"]]), given)


def run(call: Call, given: Mapping[str, Any], metrics: Sequence[str] = ()) -> Results:
    """Runs a call with the options that every function takes."""
    call.option("seed", given["seed"]).option("level", given["level"]).option("memory", given["memory"])
    return Results(call.run(metrics, threads=given["threads"], progress=given["progress"]))


def pick(metric: Mapping[str, Any], results: Results, given: Mapping[str, Any]) -> Score | Undefined | Scores:
    """The return value of a function: the score of its name, one score per K, or all scores by name."""
    identity = metric["id"]
    own = {
        s.metric: s for s in results.scores if s.metric.partition("(")[0].partition("@")[0].split(".")[0] == identity
    }
    everything = Scores(own, results.warnings)
    chosen: Score | Undefined | Scores | None = None
    variants = variants_of(metric)
    name = identity
    if variants:
        (parameter, values), *_ = variants.items()
        value = given.get(parameter)
        if value not in values:
            known = " or ".join(repr(v) for v in values)
            raise ValueError(f"{parameter} = {value!r}; {identity} has {parameter} {known}")
        name = identity if value is None else f"{identity}({parameter}={value})"
    at = {key.partition("@")[2]: s for key, s in own.items() if key.startswith(f"{name}@")}
    if at:
        k = given.get("k")
        if not is_of_scales(metric) and not (isinstance(k, Sequence) or hasattr(k, "__len__")):
            chosen = next(iter(at.values()))
        else:
            chosen = Scores({int(number): s for number, s in at.items()}, results.warnings)
    elif name in own:
        chosen = own[name]
    else:
        chosen = Scores({name.removeprefix(identity + "."): s for name, s in own.items()}, results.warnings)
    if not isinstance(chosen, Scores):
        chosen.all = everything
        chosen.warnings = results.warnings
    return chosen
