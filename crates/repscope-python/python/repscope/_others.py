# SPDX-License-Identifier: MIT
"""Functions of metrics that need more than the embeddings of one model: retrieval, texts, predictions, pools."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._arrays import lend, rows_of
from ._call import Call, models_of
from ._evaluate import _table
from ._functions import documentation
from ._results import Results
from ._scores import Score, Scores, Undefined

_EMPTY = object()


def search(
    identity: str,
    queries: Any,
    targets: Any,
    labels: Any,
    target_labels: Any,
    k: Any,
    normalize: bool,
    options: Mapping[str, Any],
) -> Score | Undefined | Scores:
    """One retrieval metric; without targets, the queries are the targets, and a query is never its own target."""
    call = Call("retrieval", "--quiet")
    call.option("space", f"queries={call.array('queries', queries)}")
    name = "queries"
    if targets is not None:
        name = "targets"
        call.option("space", f"targets={call.array('targets', targets)}")
    if labels is None:
        # Metrics of the ranking alone need no labels, but the command requires them.
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
        call.option("labels", f"queries={call.array('labels', labels)}")
        call.option("labels", f"targets={call.array('target_labels', target_labels)}")
    call.option("directions", f"queries2{name}").option("no_normalize", not normalize)
    several = k is not None and hasattr(k, "__len__")
    if k is not None:
        call.option("k_values", list(k) if several else k)
    results = _run(call, identity, options)
    own = {
        s.metric.replace(f".queries2{name}", "", 1): s for s in results.scores if s.metric.startswith(identity + ".")
    }
    everything = Scores(own, results.warnings)
    plain = {key: s for key, s in own.items() if key.partition("@")[0] == identity}
    if several:
        return Scores({int(key.partition("@")[2]): s for key, s in plain.items()}, results.warnings)
    return _one(next(iter(plain.values())), everything, results)


def _ranked(metric: Mapping[str, Any]) -> Callable:
    identity = metric["id"]
    has_k = any(output["id"].endswith("@K") for output in metric["outputs"])
    needs_labels = "labels" in metric["takes"]

    if needs_labels and has_k:

        def function(queries, targets, labels, *, target_labels=None, k=10, normalize=True, seed=42, level=0.95,
                     threads=None, progress=None):  # fmt: skip
            return search(identity, queries, targets, labels, target_labels, k, normalize, locals())

    elif needs_labels:

        def function(queries, targets, labels, *, target_labels=None, normalize=True, seed=42, level=0.95,
                     threads=None, progress=None):  # fmt: skip
            return search(identity, queries, targets, labels, target_labels, None, normalize, locals())

    elif has_k:

        def function(queries, targets, *, k=10, normalize=True, seed=42, level=0.95, threads=None, progress=None):
            return search(identity, queries, targets, None, None, k, normalize, locals())

    else:

        def function(queries, targets, *, level=0.95, seed=42, threads=None, progress=None):
            return search(identity, queries, targets, None, None, None, True, locals())

    about = [
        ("queries", "ArrayLike", _EMPTY, "Rows that search."),
        (
            "targets",
            "ArrayLike | None",
            _EMPTY,
            "Rows that are found; None: the queries themselves, never the own row.",
        ),
    ]
    if needs_labels:
        about.append(
            ("labels", "ArrayLike", _EMPTY, "A label per query, and per target where both have the same rows.")
        )
        about.append(("target_labels", "ArrayLike | None", None, "A label per target, where targets have other rows."))
    if has_k:
        about.append(("k", "int | Sequence[int]", 10, "How many of the first targets to look at."))
    about.append(("normalize", "bool", True, "Compare by cosine; False: by inner product."))
    return _named(function, metric, about)


def _texts(metric: Mapping[str, Any]) -> Callable:
    identity = metric["id"]

    def function(generated, references, *, seed=42, level=0.95, threads=None, progress=None):
        options = {"seed": seed, "level": level, "threads": threads, "progress": progress}
        texts, _ = lend(list(generated), "generated")
        call = Call("etes", "--quiet")
        # Text scores need no embeddings, but the command requires them; these are not used.
        nothing = np.ones((max(len(texts), 1), 2), dtype="f4")
        call.lent("signal", nothing).lent("reference", nothing).option("permutations", 0)
        call.option("generated", f"system={call.array('generated', nothing)}")
        call.option("generated_text", f"system={call.array('texts', list(generated))}")
        call.lent("reference_text", list(references))
        results = _run(call, identity, options)
        own = {s.metric: s for s in results.scores if s.metric.partition("@")[0].split(".")[0] == identity}
        # Warnings about the placeholder embeddings are dropped.
        if identity in own:
            own[identity].all = Scores(own)
            return own[identity]
        return Scores(
            {
                int(key.partition("@")[2]) if "@" in key else key.removeprefix(identity + "."): s
                for key, s in own.items()
            }
        )

    about = [
        ("generated", "Sequence[str]", _EMPTY, "A generated text per sample."),
        ("references", "Sequence[str]", _EMPTY, "The true text of each sample."),
    ]
    return _named(function, metric, about)


def _energies(metric: Mapping[str, Any]) -> Callable:
    def function(signal, generated, reference=None, *, texts=None, reference_texts=None, k=(1, 5, 10), permutations=999,
                 bands=None, fluency=None, fluency_weight=0.1, seed=42, level=0.95, threads=None, progress=None):  # fmt: skip
        options = {"seed": seed, "level": level, "threads": threads, "progress": progress}
        call = Call("etes", "--quiet").lent("signal", signal).lent("reference", reference)
        call.option("generated", f"system={call.array('generated', generated)}")
        if texts is not None:
            call.option("generated_text", f"system={call.array('texts', list(texts))}")
        if reference_texts is not None:
            call.lent("reference_text", list(reference_texts))
        if fluency is not None:
            call.option("fluency", f"system={call.array('fluency', fluency)}").option("fluency_weight", fluency_weight)
        call.option("k", k).option("permutations", permutations)
        if bands is not None:
            call.words(["--bands", *(str(float(band)) for band in bands)])
        results = _run(call, "etes", options)
        own = {s.metric.removeprefix("etes."): s for s in results.scores if s.metric.startswith("etes.")}
        return Scores(own, results.warnings)

    about = [
        ("signal", "ArrayLike", _EMPTY, "Embeddings of the signals, one per row."),
        ("generated", "ArrayLike", _EMPTY, "Embeddings of the texts that were generated from them."),
        ("reference", "ArrayLike | None", None, "Embeddings of the true texts."),
        ("k", "int | Sequence[int]", (1, 5, 10), "Is the own text among the K nearest?"),
        ("permutations", "int", 999, "Random pairings behind the p-value; 0 leaves it out."),
    ]
    return _named(function, metric, about)


def _predictions(metric: Mapping[str, Any]) -> Callable:
    identity = metric["id"]

    def function(labels, baseline, perturbed=None, *, seed=42, level=0.95, threads=None, progress=None):
        options = {"seed": seed, "level": level, "threads": threads, "progress": progress}
        with tempfile.TemporaryDirectory(prefix="repscope-") as folder:
            sets = {"labels": labels, "baseline": baseline, **(perturbed or {})}
            for name, heads in sets.items():
                if not isinstance(heads, Mapping):
                    heads = {"class": heads}
                os.mkdir(os.path.join(folder, name))
                for head, values in heads.items():
                    array, dtype = lend(values, f"{name} of {head}")
                    array = np.asarray(array) if dtype in ("str", "object") else array
                    np.save(os.path.join(folder, name, f"{head}.npy"), array, allow_pickle=False)
            call = Call("perturb", "evaluate", "--quiet", f"--predictions={folder}", "--name=model")
            results = _run(call, identity, options)
        own = {s.metric.removeprefix(identity + "."): s for s in results.scores if s.metric.startswith(identity + ".")}
        return Scores(own, results.warnings)

    about = [
        ("labels", "ArrayLike | Mapping", _EMPTY, "The true class of each sample; {head: classes} for several heads."),
        ("baseline", "ArrayLike | Mapping", _EMPTY, "What is predicted for samples as they are: classes, or rows of outputs."),
        ("perturbed", "Mapping", None, "What is predicted with perturbation: {'top1': …, 'random5': …}, the number being the percentage."),
    ]  # fmt: skip
    return _named(function, metric, about)


def _pools(metric: Mapping[str, Any]) -> Callable:
    def function(models, performance, *, seed=42, level=0.95, threads=None, progress=None, **options):
        shared = {"seed": seed, "level": level, "threads": threads, "progress": progress}
        with tempfile.TemporaryDirectory(prefix="repscope-") as folder:
            call = Call("clid", "--quiet")
            for name, codes in models_of(models).items():
                call.option("model", f"{name}={call.array(name, codes)}")
            call.option("performance", _table(performance, folder))
            for name, value in options.items():
                call.option(name, value)
            # The scores of all other metrics are correlated with the performance.
            return Results(_run_all(call, shared))

    about = [
        ("models", "Mapping[str, ArrayLike]", _EMPTY, "The codes of at least four models."),
        ("performance", "Mapping[str, float]", _EMPTY, "How well each does elsewhere."),
    ]
    return _named(function, metric, about)


def make(metric: Mapping[str, Any]) -> Callable | None:
    """The function of a metric that needs more than the embeddings of one model."""
    takes = metric["takes"]
    if "queries" in takes:
        return _ranked(metric)
    if "texts" in takes:
        return _texts(metric)
    if "text_codes" in takes:
        return _energies(metric)
    if "predictions" in takes:
        return _predictions(metric)
    if "performance" in takes:
        return _pools(metric)
    return None


def _run(call: Call, identity: str, options: Mapping[str, Any]) -> Results:
    call.option("seed", options["seed"]).option("level", options["level"])
    return Results(call.run([identity], threads=options["threads"], progress=options["progress"]))


def _run_all(call: Call, options: Mapping[str, Any]) -> Any:
    call.option("seed", options["seed"]).option("level", options["level"])
    return call.run(threads=options["threads"], progress=options["progress"])


def _one(chosen: Score | Undefined, everything: Scores, results: Results) -> Score | Undefined:
    chosen.all = everything
    chosen.warnings = results.warnings
    return chosen


def _named(function: Callable, metric: Mapping[str, Any], about: list[tuple]) -> Callable:
    import inspect

    function.__name__ = function.__qualname__ = metric["id"]
    function.__module__ = "repscope"
    listed = [(n, k, inspect.Parameter.empty if d is _EMPTY else d, a) for n, k, d, a in about]
    function.__doc__ = documentation(metric, listed)
    return function
