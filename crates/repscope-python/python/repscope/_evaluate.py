# SPDX-License-Identifier: MIT
"""Whole analyses: evaluation of models, paired comparison, and robustness of encoders to noise."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _repscope
from ._arrays import to_numpy
from ._call import Call, models_of, name_of_model
from ._encoders import Encoder, is_encoder
from ._replicates import Replicates
from ._results import Results
from ._signatures import put_options, with_options
from ._types import ArrayLike, Model, PathLike

#: Default batch size of encoders.
BATCH = 256


@with_options("evaluate", without=("replicates",))
def evaluate(
    models: Mapping[str, Model | Replicates] | Model,
    states: ArrayLike | None = None,
    next_states: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    episodes: ArrayLike | None = None,
    *,
    views: Mapping[str, ArrayLike] | ArrayLike | None = None,
    against_states: ArrayLike | None = None,
    performance: Mapping[str, float] | PathLike | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    batch_size: int = BATCH,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Results:
    """Run every analysis whose inputs are given.

    Parameters
    ----------
    models : mapping, array, path or callable
        ``{name: model}``, or one model. A model is an array of embeddings, a path (embeddings or a supported
        encoder), or any callable ``encode(batch) -> embeddings``, which is run on ``states`` and ``next_states``; a
        torch module is run in evaluation mode without gradients. Training runs of one recipe are
        ``Replicates([Z1, Z2, Z3])``; layers of one model are a mapping ``{layer: embeddings}``, which a callable may
        also return.
    states, next_states : array or path, optional
        The inputs of the models, one sample per row, and the successor of each.
    labels, episodes : array or path, optional
        A class and an episode per row.
    views : mapping or array, optional
        Embeddings of a second view of the same samples, for alignment: ``{name: embeddings}``, or an array for a single
        model. A list of arrays in place of one holds further views, for LiDAR.
    against_states : array or path, optional
        The inputs of reference rows, for drift: models that are encoders are run on them.
    performance : mapping or path, optional
        Downstream performance of each model: ``{name: number}``.
    settings : mapping, optional
        Options of single analyses: ``{"geometry": {"splits": 20}}``.
    batch_size : int
        Number of rows per batch for callables.
    """
    call = Call("evaluate")
    _inputs(call, models_of(models), states, next_states, labels, episodes, views, against_states, batch_size, progress)
    call.option("performance", performance_of(performance)).option("analyses", settings)
    put_options(evaluate, "evaluate", call, options)
    return Results(call.run(threads=threads, progress=progress))


@with_options("compare", without=("replicates",))
def compare(
    models: Mapping[str, Model | Replicates],
    states: ArrayLike | None = None,
    next_states: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    episodes: ArrayLike | None = None,
    *,
    views: Mapping[str, ArrayLike] | ArrayLike | None = None,
    against_states: ArrayLike | None = None,
    batch_size: int = BATCH,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Results:
    """Compare models by paired differences over rows.

    Takes the parameters of :func:`evaluate`, at least two models, ``reference``, the model that the others are compared
    with, and ``equivalent``, the margin within which models count as the same. ``.differences`` of the result lists every
    difference with interval, adjusted p-value and effect size.
    """
    call = Call("compare")
    _inputs(call, models_of(models), states, next_states, labels, episodes, views, against_states, batch_size, progress)
    put_options(compare, "compare", call, options)
    return Results(call.run(threads=threads, progress=progress))


@with_options("robustness", without=("model", "replicates", "clean", "noisy"))
def robustness(
    encoders: Mapping[str, Callable[[Any], Any] | PathLike] | Callable[[Any], Any] | PathLike,
    states: ArrayLike,
    *,
    episodes: ArrayLike | None = None,
    batch_size: int = BATCH,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Results:
    """Measure how far noise in the input moves the embedding.

    Parameters
    ----------
    encoders : mapping, callable or path
        ``{name: encoder}``, or one encoder: any callable ``encode(batch) -> embeddings``, or the path of a supported
        model.
    states : array or path
        The inputs of the encoders, one sample per row. All encoders get the same noise.
    episodes : array or path, optional
        The episode of each row: intervals are then taken over episodes.
    batch_size : int
        Number of rows per batch for callables.
    """
    call = Call("robustness")
    named = models_of(encoders)
    runs = [(name, run) for name, model in named.items() for run in _runs(model)]
    for name, encoder in runs:
        if not is_encoder(encoder) and not isinstance(encoder, (str, os.PathLike)):
            raise TypeError(
                f"`{name}` is of type {type(encoder).__name__}; noise goes into what an encoder sees: give a callable "
                "encode(batch) -> embeddings, or the path of a model"
            )
    _inputs(call, named, states, None, None, episodes, None, None, batch_size, progress)
    put_options(robustness, "robustness", call, options)
    return Results(call.run(threads=threads, progress=progress))


@with_options("similarity", without=("model", "replicates", "states", "episodes"))
def similarity(
    models: Mapping[str, Model | Replicates],
    states: ArrayLike | None = None,
    episodes: ArrayLike | None = None,
    *,
    metrics: Sequence[str] = (),
    batch_size: int = BATCH,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Results:
    """Measure how similar every two models are, calibrated by shuffled rows.

    Scores speak of two models, ``score.model`` and ``score.other``. Row i of every model is the same sample.

    Parameters
    ----------
    models : mapping
        ``{name: model}``, at least two: arrays, paths or callables as in :func:`evaluate`.
    states : array or path, optional
        The inputs of models that are encoders.
    episodes : array or path, optional
        The group of each row: intervals are taken over groups, and groups are shuffled as wholes.
    metrics : sequence of str
        Names of measures, such as ``cka`` and ``mutual_knn``; all by default.
    batch_size : int
        Number of rows per batch for callables.
    """
    call = Call("similarity")
    _inputs(call, models_of(models), states, None, None, episodes, None, None, batch_size, progress)
    put_options(similarity, "similarity", call, options)
    families = [name.partition("(")[0].partition("@")[0].partition(".")[0] for name in metrics]
    if unknown := [name for name in families if name not in measures_of("similarity")]:
        raise ValueError(
            f"metrics = {unknown[0]!r} is no measure of similarity: {', '.join(measures_of('similarity'))}"
        )
    return Results(call.run(families, threads=threads, progress=progress))


@with_options("encode", without=("encoder", "input"))
def encode(
    encoder: PathLike,
    data: ArrayLike,
    *,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> np.ndarray | dict[str, np.ndarray]:
    """Run a stored model (.onnx, weights of a known network, a text model) on an array, a list of texts, or a path.

    Returns the embeddings, or a dict of embeddings if the model has several outputs.

    Parameters
    ----------
    encoder : path
        The model.
    data : array, list of str or path
        Its inputs, one sample per row.
    """
    call = Call("encode").option("encoder", os.fspath(encoder)).lent("input", data)
    put_options(encode, "encode", call, options)
    embeddings = call.encode(threads=threads, progress=progress)
    return embeddings[0][1] if len(embeddings) == 1 else dict(embeddings)


def measures_of(command: str) -> list[str]:
    """The names of the metrics of a command."""
    declared = json.loads(_repscope.declared_metrics())
    return [metric["id"] for metric in declared if metric["command"] == command]


def _inputs(
    call: Call,
    models: Mapping[str, Any],
    states: Any,
    next_states: Any,
    labels: Any,
    episodes: Any,
    views: Any,
    against_states: Any,
    batch_size: int,
    progress: bool | None,
) -> None:
    if isinstance(batch_size, bool) or int(batch_size) != batch_size or batch_size < 1:
        raise ValueError(f"batch_size = {batch_size!r} must be an integer of at least 1")
    call.option("batch_size", int(batch_size))
    call.lent("states", states).lent("next_states", next_states).lent("labels", labels).lent("episodes", episodes)
    _reference(call, models, against_states, int(batch_size), progress)
    for name, model in models.items():
        is_recipe = isinstance(model, Replicates)
        for number, run in enumerate(_runs(model), 1):
            own = f"{name}/{number}" if is_recipe else name
            given = _model(call, own, run, states, next_states, int(batch_size), progress)
            if isinstance(given, dict) and is_recipe:
                raise TypeError(f"`{own}` is a training run with several layers; give the runs of one layer")
            if isinstance(given, dict):
                call.layers_of(name)
                for layer, (source, following) in given.items():
                    call.add("models", f"{name}/{layer}", source, following)
            else:
                call.add("replicates" if is_recipe else "models", name, *given)
    if views is not None:
        named = views if isinstance(views, Mapping) else dict.fromkeys(list(models)[:1], views)
        for name, view in named.items():
            for number, own in enumerate(_runs(view), 1):
                run = f"{name}/{number}" if isinstance(view, Replicates) else name
                for one in own if isinstance(own, (list, tuple)) and _are_arrays(own) else [own]:
                    call.add("views", run, call.array(f"view of {run}", one))


def _reference(call: Call, models: Mapping[str, Any], states: Any, batch_size: int, progress: bool | None) -> None:
    """The inputs of reference rows, or what callables make of them."""
    callables = {name: model for name, model in models.items() if is_encoder(model)}
    if states is None or not callables:
        call.lent("against_states", states)
        return
    if len(callables) < len(models):
        others = ", ".join(f"`{name}`" for name in models if name not in callables)
        raise TypeError(
            f"against_states is shown to callables, and {others} is none; give callables alone, or embeddings of the "
            "reference rows of each model (against)"
        )
    for name, model in callables.items():
        found = Encoder(name, model, _shown(name, states, "against_states"), batch_size).embeddings(states, progress)
        if isinstance(found, dict):
            raise TypeError(f"`{name}` gives several layers; give embeddings of the reference rows (against)")
        call.add("against", name, call.array(f"reference rows of {name}", found))


def _shown(name: str, states: Any, argument: str) -> Any:
    """What a callable is shown, which must be loaded."""
    if isinstance(states, (str, os.PathLike)):
        raise TypeError(
            f"`{name}` is a callable, and {argument} is the path {os.fspath(states)!r}; load the states, as with "
            "numpy.load, so that it can be run on batches of them"
        )
    return states


def _are_arrays(items: Sequence[Any]) -> bool:
    """Whether these are whole arrays or paths, not the rows of one."""
    return all(isinstance(own, (str, os.PathLike)) or len(getattr(own, "shape", ())) >= 2 for own in items)


def _runs(model: Any) -> list[Any]:
    """The training runs of a recipe, or the one model."""
    return model.runs if isinstance(model, Replicates) else [model]


def _model(
    call: Call, name: str, model: Any, states: Any, next_states: Any, batch_size: int, progress: bool | None
) -> tuple[Any, Any] | dict[str, tuple[Any, Any]]:
    """The source of a model, and that of its embeddings of the next inputs; those of its layers by their names."""
    if isinstance(model, Mapping):
        if not model:
            raise ValueError(f"`{name}` has no layers; give {{layer: embeddings}}")
        layers: dict[str, tuple[Any, Any]] = {}
        for layer, own in model.items():
            found = _model(call, f"{name}/{layer}", own, states, next_states, batch_size, progress)
            if isinstance(found, dict):
                raise TypeError(f"the layer {layer!r} of `{name}` has layers of its own; give its embeddings")
            layers[name_of_model(layer)] = found
        return layers
    if isinstance(model, tuple) and len(model) == 2 and next_states is not None:
        return call.array(name, model[0]), call.array(f"{name}_next", model[1])
    if not is_encoder(model):
        return call.array(name, model), None
    if states is None:
        raise ValueError(f"`{name}` is an encoder, and there is nothing to run it on; give states")
    encoder = Encoder(name, model, _shown(name, states, "states"), batch_size)
    found = encoder.embeddings(states, progress)
    following = None if next_states is None else encoder.embeddings(next_states, progress)
    if isinstance(found, dict):
        after = following if isinstance(following, dict) else {}
        of_next = {layer: call.array(f"{name}/{layer}_next", own) for layer, own in after.items()}
        return {layer: (call.array(f"{name}/{layer}", own), of_next.get(layer)) for layer, own in found.items()}
    noisy = encoder.noisy if _are_numbers(states) else None
    source = call.array(name, found, noisy)
    return source, None if following is None else call.array(f"{name}_next", following)


def _are_numbers(states: Any) -> bool:
    array = to_numpy(states, "states")
    return not isinstance(array, list) and array.dtype.kind in "fiub"


def performance_of(performance: Any) -> dict[str, float | None] | str | None:
    """Performance as numbers by model, or as the path of a table. NaN is no number."""
    if performance is None or isinstance(performance, (str, os.PathLike)):
        return performance if performance is None else os.fspath(performance)
    if not isinstance(performance, Mapping):
        raise TypeError("performance must be a mapping {model: number}, or the path of a table")
    numbers = {str(name): float(value) for name, value in performance.items()}
    return {name: None if math.isnan(value) else value for name, value in numbers.items()}
