# SPDX-License-Identifier: MIT
"""Whole analyses: evaluation of models, paired comparison, and robustness of encoders to noise."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from . import _repscope
from ._arrays import to_numpy
from ._call import Call, models_of
from ._encoders import Encoder, is_encoder
from ._results import Results

#: Default batch size of encoders.
BATCH = 256
#: Options for the command line only: printing, files, gates, study files.
_NOT_FOR_PROGRAMS = {
    "help", "version", "init", "resume", "output-dir", "json", "format", "no-figures", "figure-format", "figure-width",
    "quiet", "gate", "baseline", "max-drop", "model", "set",
}  # fmt: skip


def evaluate(
    models: Any,
    states: Any = None,
    next_states: Any = None,
    labels: Any = None,
    episodes: Any = None,
    *,
    views: Any = None,
    only: str | Iterable[str] | None = None,
    skip: str | Iterable[str] | None = None,
    performance: Any = None,
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
        torch module is run in evaluation mode without gradients.
    states, next_states : array or path, optional
        The inputs of the models, one sample per row, and the successor of each.
    labels, episodes : array or path, optional
        A class and an episode per row.
    views : mapping or array, optional
        Embeddings of a second view of the same samples, for alignment: ``{name: embeddings}``, or an array for a single
        model.
    only, skip : str or list of str, optional
        Analyses to run or to skip: smoothness, robustness, neighborhood, manifold, geometry, rankme, clid.
    performance : mapping or path, optional
        Downstream performance of each model: ``{name: number}``.
    settings : mapping, optional
        Options of single analyses: ``{"geometry": {"splits": 20}}``.
    batch_size : int
        Number of rows per batch for callables.
    **options
        Any other option of ``repscope evaluate``, such as ``k=[5, 10]``, ``seed=1``, ``pool="mean"``.
    """
    call = Call("evaluate", "--quiet")
    with tempfile.TemporaryDirectory(prefix="repscope-") as folder:
        named = models_of(models)
        _inputs(call, named, states, next_states, labels, episodes, views, batch_size, progress)
        call.option("only", _names(only)).option("skip", _names(skip))
        call.option("performance", _table(performance, folder))
        for analysis, own in (settings or {}).items():
            for name, value in own.items():
                call.option("set", f"{analysis}.{name.replace('_', '-')}={_joined(value)}")
        _options("evaluate", call, options)
        return Results(call.run(threads=threads, progress=progress))


def compare(
    models: Mapping[str, Any],
    states: Any = None,
    next_states: Any = None,
    labels: Any = None,
    episodes: Any = None,
    *,
    views: Any = None,
    reference: str | None = None,
    only: str | Iterable[str] | None = None,
    skip: str | Iterable[str] | None = None,
    batch_size: int = BATCH,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Results:
    """Compare models by paired differences over rows.

    Takes the parameters of :func:`evaluate`, at least two models, and ``reference``, the model that the others are
    compared with. ``.differences`` of the result lists every difference with interval and adjusted p-value.
    """
    call = Call("compare", "--quiet")
    _inputs(call, models_of(models), states, next_states, labels, episodes, views, batch_size, progress)
    call.option("only", _names(only)).option("skip", _names(skip)).option("reference", reference)
    _options("compare", call, options)
    return Results(call.run(threads=threads, progress=progress))


def robustness(
    encoders: Any,
    states: Any,
    *,
    noise: float | Iterable[float] | None = None,
    kind: str = "gaussian",
    draws: int = 1,
    clamp: tuple[float, float] | str | None = None,
    episodes: Any = None,
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
    noise : numbers, optional
        Noise levels, by default 0.01, 0.05, 0.1, 0.15, 0.2, in the units of the inputs.
    kind : str
        gaussian, uniform, salt-and-pepper, blur, brightness, contrast, occlusion.
    draws : int
        Number of noise draws per sample.
    clamp : pair or ``"data"``, optional
        Clip noisy inputs to a range, or to the range of the inputs.
    """
    call = Call("robustness", "--quiet")
    named = models_of(encoders)
    for name, encoder in named.items():
        if not is_encoder(encoder) and not isinstance(encoder, (str, os.PathLike)):
            raise TypeError(
                f"`{name}` is of type {type(encoder).__name__}; noise goes into what an encoder sees: give a callable "
                "encode(batch) -> codes, or the path of a model"
            )
    _inputs(call, named, states, None, None, episodes, None, batch_size, progress)
    call.option("noise", noise).option("kind", kind).option("draws", draws)
    if clamp is not None:
        words = [clamp] if isinstance(clamp, str) else [str(float(end)) for end in clamp]
        call.words(["--clamp", *words])
    _options("robustness", call, options)
    return Results(call.run(threads=threads, progress=progress))


def encode(
    encoder: str | os.PathLike,
    data: Any,
    *,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Any:
    """Run a stored model (.onnx, weights of a known network, a text model) on an array, a list of texts, or a path.

    Returns the embeddings, or a dict of embeddings if the model has several outputs. ``options`` are those of
    ``repscope encode``: ``batch_size``, ``checkpoint``, ``template``, ``scale``, …
    """
    call = Call("encode", "--quiet").option("encoder", os.fspath(encoder)).lent("input", data)
    # Nothing is written to this path: the embeddings are returned.
    call.option("output", "codes.npy")
    _options("encode", call, options)
    codes = call.encode(threads=threads, progress=progress)
    return codes[0][1] if len(codes) == 1 else dict(codes)


def _inputs(
    call: Call,
    models: Mapping[str, Any],
    states: Any,
    next_states: Any,
    labels: Any,
    episodes: Any,
    views: Any,
    batch_size: int,
    progress: bool | None,
) -> None:
    if isinstance(batch_size, bool) or int(batch_size) != batch_size or batch_size < 1:
        raise ValueError(f"batch_size = {batch_size!r} must be a whole number of at least 1")
    call.option("batch_size", int(batch_size))
    call.lent("states", states).lent("next_states", next_states).lent("labels", labels).lent("episodes", episodes)
    for name, model in models.items():
        call.option("model", f"{name}={_model(call, name, model, states, next_states, int(batch_size), progress)}")
    if views is not None:
        named = views if isinstance(views, Mapping) else dict.fromkeys(list(models)[:1], views)
        for name, view in named.items():
            call.option("views", f"{name}={call.array(f'view of {name}', view)}")


def _model(
    call: Call, name: str, model: Any, states: Any, next_states: Any, batch_size: int, progress: bool | None
) -> str:
    if isinstance(model, tuple) and len(model) == 2 and next_states is not None:
        return ",".join(call.array(f"{name}{ending}", part) for ending, part in zip(("", "_next"), model))
    if not is_encoder(model):
        return call.array(name, model)
    if states is None:
        raise ValueError(f"`{name}` is an encoder, and there is nothing to run it on; give states")
    if isinstance(states, (str, os.PathLike)):
        raise TypeError(
            f"`{name}` is a callable, and states is the path {os.fspath(states)!r}; load the states, as with numpy.load, "
            "so that it can be shown batches of them"
        )
    encoder = Encoder(name, model, states, batch_size)
    path = call.array(name, encoder.codes(states, progress))
    if _are_numbers(states):
        call.encoder(path, encoder.noisy)
    if next_states is not None:
        path += "," + call.array(f"{name}_next", encoder.codes(next_states, progress))
    return path


def _are_numbers(states: Any) -> bool:
    array = to_numpy(states, "states")
    return not isinstance(array, list) and array.dtype.kind in "fiub"


def _names(names: str | Iterable[str] | None) -> list[str] | None:
    if names is None:
        return None
    return [names] if isinstance(names, str) else list(names)


def _joined(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(str(item) for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _table(performance: Any, folder: str) -> str | None:
    """Writes a table of models and numbers to a file; returns its path."""
    if performance is None or isinstance(performance, (str, os.PathLike)):
        return performance if performance is None else os.fspath(performance)
    if not isinstance(performance, Mapping):
        raise TypeError("performance must be a mapping {model: number}, or the path of a table")
    path = os.path.join(folder, "performance.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        import csv

        writer = csv.writer(file)
        writer.writerow(["model", "performance"])
        writer.writerows((name, float(value)) for name, value in performance.items())
    return path


@cache
def _known(command: str) -> dict[str, dict[str, Any]]:
    options = json.loads(_repscope.declared_options(command))
    return {option["name"]: option for option in options if option["name"] not in _NOT_FOR_PROGRAMS}


def _options(command: str, call: Call, options: Mapping[str, Any]) -> None:
    """Adds options of a command by name; an unknown option raises TypeError, like an unknown argument."""
    known = _known(command)
    for name, value in options.items():
        option = name.replace("_", "-")
        if option not in known:
            import difflib

            near = difflib.get_close_matches(option, known, 1)
            hint = f"; did you mean {near[0].replace('-', '_')!r}?" if near else ""
            raise TypeError(f"repscope.{command}() has no argument {name!r}{hint}")
        if option == "ids" and isinstance(value, Mapping):
            value = [f"{part}={call.array(f'ids of {part}', ids)}" for part, ids in value.items()]
        call.option(name, value)
