# SPDX-License-Identifier: MIT
"""repscope on more than one machine: embeddings in shards that no machine holds together.

:func:`evaluate` and a function for each metric take what the functions of :mod:`repscope` take, but embeddings are shards: a pattern
or list of ``.npy``, ``.safetensors#key`` or ``.parquet#column`` files (on a shared folder, or on an object store through fsspec), a
Ray Dataset, or a list of object references. Workers read them block by block; values, intervals and comparisons are those of one
machine, to the last bit. ``sample=M`` takes M random query rows against all rows, for any number of rows.

>>> import repscope.cluster as rc
>>> rc.evaluate({"jepa": "s3://bucket/jepa/*.parquet#embedding", "pca": "pca-*.npy"}, labels="labels.parquet#class",
...             metrics=["two_nn", "uniformity", "rankme"], sample=10_000, address="auto")  # doctest: +SKIP

Ray is an optional dependency: ``pip install "repscope[ray]"``. :class:`Local` runs the same tasks on threads of this process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _functions, _others, _repscope
from .._call import EXECUTOR, Call, Elsewhere, models_of
from .._replicates import Replicates
from .._results import Results
from .._signatures import Parameter, put_options, with_options
from .._signatures import options as options_of
from .._types import PathLike
from ._executors import Executor, Local, Ray
from ._shards import Matrix, open_column, open_matrix
from ._stages import Stages

_ALL = _repscope.metrics_of_blocks()
#: The metrics of models that are computed of shards. `label_precision` is one of queries and targets.
METRICS = tuple(metric for metric in _ALL if metric != "label_precision")

_OWN = [
    Parameter(
        "address", "str | None", None, "The address of a Ray cluster; `auto` for the one this machine belongs to."
    ),
    Parameter("executor", "Any", None, "Who runs the tasks: `Local()` or `Ray(...)`; by default Ray at the address."),
    Parameter("cores", "int", 1, "Cores, and threads, of a task."),
    Parameter("memory", "int | str | None", None, "What a worker may use, such as `8G`; by default 4 GiB."),
    Parameter("resume", "PathLike | None", None, "A folder for partials: a run that was stopped goes on from there."),
]


#: Options of an evaluation that shards have, too; the others are about encoders, second views and files.
_KEPT = ("only", "skip", "k", "knn_k", "rank_by", "clusters", "seed", "level")


@with_options("evaluate", without=set(options_of("evaluate")) - set(_KEPT))
def evaluate(
    models: Mapping[str, Any] | Any,
    states: Any = None,
    *,
    labels: Any = None,
    episodes: Any = None,
    ids: Mapping[str, Any] | None = None,
    metrics: Sequence[str] | None = None,
    sample: int | None = None,
    address: str | None = None,
    executor: Executor | None = None,
    cores: int = 1,
    memory: int | str | None = None,
    resume: PathLike | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Results:
    """Evaluate models whose embeddings are in shards.

    Parameters
    ----------
    models : mapping, or shards
        ``{name: shards}``, or the shards of one model. Shards are a pattern (``"z-*.npy"``, ``"s3://…/*.parquet#embedding"``), a list
        of paths, arrays or object references, or a Ray Dataset of one column. They may have different numbers of rows.
    states : shards, optional
        The inputs of the models, for trustworthiness and continuity.
    labels, episodes : array, list or path, optional
        A class and an episode (or another group) per row; files are ``.npy`` or ``.parquet#column``.
    ids : mapping, optional
        An id per row, for each model and for ``states``, ``labels`` and ``episodes``: ``{"jepa": "jepa-*.parquet#id", "labels": ids}``.
        Rows are joined by them, so shards may have their rows in another order, or lack some. Single rows are read where rows do not
        follow each other as in the first of these.
    metrics : sequence of str, optional
        Which metrics; by default all in :data:`METRICS` whose inputs are given.
    sample : int, optional
        So many random rows are queries, against all rows; by default all rows are, which is for up to some millions.
    address : str, optional
        The address of a Ray cluster; ``auto`` for the one this machine belongs to.
    executor : Executor, optional
        Who runs the tasks: :class:`Local` or :class:`Ray`; by default Ray at the address.
    cores : int
        Cores, and threads, of a task.
    memory : int or str, optional
        What a worker may use, such as ``"8G"``; by default 4 GiB.
    resume : path, optional
        A folder, shared by all machines, for partials: a run that was stopped goes on from there.
    settings : mapping, optional
        Options of single analyses: ``{"geometry": {"splits": 20}}``.
    """
    known = set(METRICS)
    wanted = list(METRICS) if metrics is None else list(metrics)
    for metric in wanted:
        if metric not in known:
            raise ValueError(f"{metric!r} is not computed of shards; there are {', '.join(METRICS)}")
    if states is None and metrics is None:
        wanted = [metric for metric in wanted if metric not in ("trustworthiness", "continuity")]
    by_id = {metric["id"]: metric["command"] for metric in _functions.declared()}
    given = dict(options)
    if "only" not in given:
        given["only"] = sorted({by_id[metric] for metric in wanted})

    def run(stages: Stages, opened: Callable[[str, Any], Any]) -> Results:
        call = Call("evaluate")
        call.lent("states", opened("states", states))
        call.lent("labels", open_column("labels", labels)).lent("episodes", open_column("episodes", episodes))
        for name, model in models_of(_one(models)).items():
            if isinstance(model, Replicates):
                for number, own in enumerate(model.runs, 1):
                    call.add("replicates", name, call.array(f"{name}/{number}", opened(f"{name}/{number}", own)))
            else:
                call.add("models", name, call.array(name, opened(name, model)))
        for name, own in (ids or {}).items():
            call.add("ids", name, call.array(f"ids of {name}", open_column(f"ids of {name}", own)))
        call.option("sample", sample).option("analyses", settings)
        put_options(evaluate, "evaluate", call, given)
        return Results(call.run(wanted, progress=progress))

    return _run(run, address, executor, cores, memory, resume)


def neighbors(
    Z: Any,
    k: int = 10,
    *,
    sample: int | None = None,
    seed: int = 42,
    address: str | None = None,
    executor: Executor | None = None,
    cores: int = 1,
    memory: int | str | None = None,
    resume: PathLike | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The exact nearest neighbors of rows of shards.

    Returns the query rows, and for each of them the k nearest other rows and their Euclidean distances, nearest first; of rows at the
    same distance the one with the smaller number comes first. With ``sample``, so many random rows are queries, else all are.
    """

    def run(stages: Stages, opened: Callable[[str, Any], Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        queries, rows, distances = _stoppable(
            stages, lambda: _repscope.neighbors(tuple(opened("Z", Z)), int(k), sample, seed, stages)
        )
        return queries, rows.reshape(-1, k), distances.reshape(-1, k)

    return _run(run, address, executor, cores, memory, resume)


def _run(
    run: Callable[[Stages, Callable[[str, Any], Any]], Any],
    address: str | None,
    executor: Executor | None,
    cores: int,
    memory: int | str | None,
    resume: PathLike | None,
) -> Any:
    if executor is None:
        executor = Ray(address, threads=cores)
    stages = Stages(executor, memory, None if resume is None else os.fspath(resume))

    def opened(name: str, source: Any) -> Any:
        if source is None or isinstance(source, Elsewhere):
            return source
        matrix = source if isinstance(source, Matrix) else open_matrix(name, source, executor.peek)
        return stages.add(matrix)

    token = EXECUTOR.set(stages)
    try:
        return run(stages, opened)
    finally:
        EXECUTOR.reset(token)
        stages.forget()


def _stoppable(stages: Stages, call: Callable[[], Any]) -> Any:
    """Runs a call on a thread, so that Ctrl-C is answered here and stops its stages."""
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(call)
        while True:
            try:
                return future.result(timeout=0.1)
            except concurrent.futures.TimeoutError:
                if future.done():
                    raise
            except KeyboardInterrupt:
                stages.stop()
                raise


def _one(models: Any) -> Any:
    """A list of shards is one model, not several."""
    return {"model": models} if isinstance(models, (list, tuple)) else models


def _make(metric: Mapping[str, Any]) -> Callable[..., Any]:
    if metric["id"] in METRICS:
        (first, named), returned = _functions.parameters(metric), _functions.returned(metric)
    else:
        first, named, returned = _others.parameters_of_search(metric)
    own = {parameter.name for parameter in _OWN}
    named = [parameter for parameter in named if parameter.name not in own | {"threads"}] + _OWN
    about = "Shards: a pattern or list of files, a Ray Dataset, or a list of object references."
    first = [
        parameter._replace(kind="Any", about=f"{parameter.about} {about}") if parameter.name in _SHARDS else parameter
        for parameter in first
    ]

    def compute(given: Mapping[str, Any]) -> Any:
        def run(stages: Stages, opened: Callable[[str, Any], Any]) -> Any:
            inputs = dict(given) | {"threads": None, "memory": None}
            for name in _SHARDS:
                if name in given:
                    inputs[name] = opened(name, given[name])
            for name in ("labels", "target_labels", "episodes"):
                if name in given:
                    inputs[name] = open_column(name, given[name])
            if metric["id"] in METRICS:
                return _functions._compute(metric, inputs)
            return _others.search(metric["id"], inputs)

        return _run(run, *(given[parameter.name] for parameter in _OWN))

    function = _functions.function(metric, first, named, returned, compute)
    function.__module__ = "repscope.cluster"
    return function


#: Arguments that are shards.
_SHARDS = ("X", "Z", "queries", "targets")

__all__ = ["METRICS", "Executor", "Local", "Ray", "evaluate", "neighbors", *_ALL]

for _metric in _functions.declared():
    if _metric["id"] in _ALL:
        globals()[_metric["id"]] = _make(_metric)
