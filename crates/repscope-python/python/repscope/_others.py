# SPDX-License-Identifier: MIT
"""Functions of metrics that take more than the embeddings of one model: retrieval, generated texts, predictions, pools of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._arrays import lend, rows_of
from ._call import Call, models_of
from ._evaluate import performance_of
from ._functions import SHARED, function, named_parameters, pick, returned, run, shared
from ._results import Results
from ._scores import Score, Scores, Undefined
from ._signatures import REQUIRED, Parameter, options, parameter, put_option

#: What a function of retrieval calls an option of the command, and its default where that differs.
_RENAMED = {"k_values": ("k", 10), "no_normalize": ("normalize", True)}


def _ranked(metric: Mapping[str, Any]) -> Callable[..., Any]:
    return function(metric, *parameters_of_search(metric), lambda given: search(metric["id"], given))


def parameters_of_search(metric: Mapping[str, Any]) -> tuple[list[Parameter], list[Parameter], str]:
    """Parameters by position and by name of a metric of a retrieval, and what it returns."""
    first = [
        Parameter("queries", "ArrayLike", REQUIRED, "Embeddings that search."),
        Parameter(
            "targets",
            "ArrayLike | None",
            REQUIRED,
            "Embeddings that are found; None: the queries themselves, where no row finds itself.",
        ),
    ]
    named = []
    if "labels" in metric["takes"]:
        about = "A label per query, and per target if both have the same rows."
        first.append(Parameter("labels", "ArrayLike", REQUIRED, about))
        about = "A label per target, if targets have other rows than queries."
        named.append(Parameter("target_labels", "ArrayLike | None", None, about))
    for option in metric["options"]:
        own = parameter(option)
        name, default = _RENAMED.get(own.name, (own.name, own.default))
        about = "Cosine similarity; False: inner product." if name == "normalize" else own.about
        named.append(Parameter(name, own.kind, default, about))
    has_k = any(own.name == "k" for own in named)
    returned = "Score | Undefined | Scores" if has_k else "Score | Undefined"
    named += shared(metric, *SHARED)
    return first, named, returned


def search(identity: str, given: Mapping[str, Any]) -> Score | Undefined | Scores:
    """One metric of queries that search targets; without targets they search each other and never find themselves."""
    queries, targets = given["queries"], given["targets"]
    labels, target_labels = given.get("labels"), given.get("target_labels")
    call = Call("retrieval")
    call.add("spaces", "queries", call.array("queries", queries))
    name = "queries"
    if targets is not None:
        name = "targets"
        call.add("spaces", "targets", call.array("targets", targets))
    if labels is None:
        # Metrics of the ranking alone need none, the command requires some.
        labels = np.zeros(rows_of(queries), dtype="i8")
        target_labels = None if targets is None else np.zeros(rows_of(targets), dtype="i8")
    if target_labels is None and targets is not None and rows_of(targets) != rows_of(queries):
        raise ValueError(
            f"there are {rows_of(queries)} queries and {rows_of(targets)} targets, but one set of labels; "
            "give target_labels"
        )
    if target_labels is None:
        call.lent("labels", labels)
    else:
        call.add("labels", "queries", call.array("labels", labels))
        call.add("labels", "targets", call.array("target_labels", target_labels))
    call.option("directions", [f"queries2{name}"]).option("no_normalize", not given.get("normalize", True))
    k = given.get("k")
    call.option("k_values", k).option("interval", given.get("interval"))
    results = run(call, given, [identity])
    own = {
        s.metric.replace(f".queries2{name}", "", 1): s for s in results.scores if s.metric.startswith(identity + ".")
    }
    plain = {key: s for key, s in own.items() if key.partition("@")[0] == identity}
    if k is not None and hasattr(k, "__len__"):
        return Scores({int(key.partition("@")[2]): s for key, s in plain.items()}, results.warnings)
    chosen = next(iter(plain.values()))
    chosen.all, chosen.warnings = Scores(own, results.warnings), results.warnings
    return chosen


def _texts(metric: Mapping[str, Any]) -> Callable[..., Any]:
    identity = metric["id"]
    has_one = any(output["id"] == identity for output in metric["outputs"])

    def compute(given: Mapping[str, Any]) -> Score | Undefined | Scores:
        generated = list(given["generated"])
        texts, _ = lend(generated, "generated")
        # Scores of texts need no embeddings; the command requires some, and these are not used.
        nothing = np.ones((max(len(texts), 1), 2), dtype="f4")
        call = Call("etes").lent("signal", nothing).lent("reference", nothing).option("permutations", 0)
        call.add("generated", "system", call.array("generated", nothing))
        call.add("generated_text", "system", call.array("texts", generated))
        call.lent("reference_text", list(given["references"]))
        scores = run(call, given, [identity]).scores
        own = {s.metric: s for s in scores if s.metric.partition("@")[0].split(".")[0] == identity}
        # Warnings about the embeddings are of no interest.
        if has_one:
            own[identity].all = Scores(own)
            return own[identity]
        return Scores(
            {
                int(key.partition("@")[2]) if "@" in key else key.removeprefix(identity + "."): s
                for key, s in own.items()
            }
        )

    first = [
        Parameter("generated", "Iterable[str]", REQUIRED, "A generated text per sample."),
        Parameter("references", "Iterable[str]", REQUIRED, "The true text of each sample."),
    ]
    returned = "Score | Undefined" if has_one else "Scores"
    return function(metric, first, shared(metric, *SHARED), returned, compute)


def _energies(metric: Mapping[str, Any]) -> Callable[..., Any]:
    def compute(given: Mapping[str, Any]) -> Scores:
        call = Call("etes").lent("signal", given["signal"]).lent("reference", given["reference"])
        call.add("generated", "system", call.array("generated", given["generated"]))
        if given["texts"] is not None:
            call.add("generated_text", "system", call.array("texts", list(given["texts"])))
        if given["reference_texts"] is not None:
            call.lent("reference_text", list(given["reference_texts"]))
        if given["fluency"] is not None:
            call.add("fluency", "system", call.array("fluency", given["fluency"]))
        for option in metric["options"]:
            put_option(call, option, given[option["name"].replace("-", "_")])
        results = run(call, given, ["etes"])
        own = {s.metric.removeprefix("etes."): s for s in results.scores if s.metric.startswith("etes.")}
        return Scores(own, results.warnings)

    first = [
        Parameter("signal", "ArrayLike", REQUIRED, "Embeddings of the signals, one per row."),
        Parameter("generated", "ArrayLike", REQUIRED, "Embeddings of the texts that were generated from them."),
        Parameter("reference", "ArrayLike | None", None, "Embeddings of the true texts."),
    ]
    named = [
        Parameter("texts", "Iterable[str] | None", None, "The generated texts."),
        Parameter("reference_texts", "Iterable[str] | None", None, "The true texts."),
        Parameter("fluency", "ArrayLike | None", None, "The log-perplexity of each generated text."),
        *(parameter(option) for option in metric["options"]),
        *shared(metric, *SHARED),
    ]
    return function(metric, first, named, "Scores", compute)


def _predictions(metric: Mapping[str, Any]) -> Callable[..., Any]:
    identity = metric["id"]

    def compute(given: Mapping[str, Any]) -> Scores:
        call = Call("perturb").option("name", "model")
        sets = {"labels": given["labels"], "baseline": given["baseline"], **(given["perturbed"] or {})}
        for name, heads in sets.items():
            if not isinstance(heads, Mapping):
                heads = {"class": heads}
            for head, values in heads.items():
                call.add("predictions", f"{name}/{head}", call.array(f"{name}/{head}", values))
        results = run(call, given, [identity])
        own = {s.metric.removeprefix(identity + "."): s for s in results.scores if s.metric.startswith(identity + ".")}
        return Scores(own, results.warnings)

    heads = "ArrayLike | Mapping[str, ArrayLike]"
    first = [
        Parameter("labels", heads, REQUIRED, "The true class of each sample; {head: classes} for several heads."),
        Parameter(
            "baseline", heads, REQUIRED, "Predictions for the samples as they are: classes, or one row of outputs each."
        ),
        Parameter(
            "perturbed",
            f"Mapping[str, {heads}] | None",
            None,
            "Predictions under perturbation: {'top1': …, 'random5': …}; the number is the percentage.",
        ),
    ]
    return function(metric, first, shared(metric, *SHARED), "Scores", compute)


def _pools(metric: Mapping[str, Any]) -> Callable[..., Any]:
    first = [
        Parameter("models", "Mapping[str, ArrayLike]", REQUIRED, "The embeddings of at least four models."),
        Parameter("performance", "Mapping[str, float] | PathLike", REQUIRED, "How well each model does elsewhere."),
    ]
    own = {
        name: option
        for name, option in options("clid").items()
        if name not in ("model", "replicates", "performance", *SHARED)
    }

    def compute(given: Mapping[str, Any]) -> Results:
        call = Call("clid")
        for name, embeddings in models_of(given["models"]).items():
            call.add("models", name, call.array(name, embeddings))
        call.option("performance", performance_of(given["performance"]))
        for name, option in own.items():
            put_option(call, option, given[name])
        # Performance is related to the scores of all other metrics.
        return run(call, given)

    named = [parameter(option) for option in own.values()] + shared(metric, *SHARED)
    return function(metric, first, named, "Results", compute)


def _alike(metric: Mapping[str, Any]) -> Callable[..., Any]:
    first = [
        Parameter("first", "ArrayLike", REQUIRED, "The embeddings of one model, one row per sample."),
        Parameter("second", "ArrayLike", REQUIRED, "The embeddings of another model for the same samples."),
    ]

    def compute(given: Mapping[str, Any]) -> Score | Undefined | Scores:
        call = Call("similarity")
        for name in ("first", "second"):
            call.add("models", name, call.array(name, given[name]))
        call.lent("episodes", given["episodes"])
        for option in metric["options"]:
            put_option(call, option, given[option["name"].replace("-", "_")])
        return pick(metric, run(call, given, [metric["id"]]), given)

    return function(metric, first, named_parameters(metric), returned(metric), compute)


#: The families of functions, by the input that only they take.
_FAMILIES = {
    "queries": _ranked,
    "texts": _texts,
    "text_embeddings": _energies,
    "predictions": _predictions,
    "performance": _pools,
    "models": _alike,
}


def make(metric: Mapping[str, Any]) -> Callable[..., Any]:
    """The function of a metric that takes more than the embeddings of one model."""
    return next(make(metric) for what, make in _FAMILIES.items() if what in metric["takes"])
