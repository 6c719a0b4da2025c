# SPDX-License-Identifier: MIT
"""Metrics during training: batches in, scores out, in bounded memory, mergeable across processes.

A monitor keeps at most ``rows`` rows. Up to that number it keeps all rows, and scores are exact. Beyond, it keeps a
uniform random sample: every row gets a 64-bit key, and the rows with the smallest keys are kept. The key is a hash of
the seed, the values of the row, its position in its monitor and the ``stream`` of the monitor. Therefore

- the key of a row does not depend on batch sizes or on other rows, seen or merged: the sample, and every bit of the
  scores, is the same for every order and nesting of merges;
- copies of a row get different keys, so the share of equal rows in the sample matches the data, and a collapse is
  detected. With keys of the values alone, copies would all be kept or all be dropped;
- monitors of several processes sample independently, because their rows differ. Only equal rows at the same position of
  monitors with the same ``stream`` get equal keys; use one ``stream`` per process to avoid this.

Scores are computed on the rows in the order of a hash of their values. While all rows are kept, it therefore does not
matter which monitor saw a row, or when: merged monitors give the same bits as a single one.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from . import _functions
from ._arrays import lend
from ._loggers import write
from ._scores import Score, Scores, Undefined
from ._signatures import REQUIRED, Parameter, sign, signature
from ._types import ArrayLike, Logger

__all__ = ["Monitor"]

#: The odd increments of splitmix64 and of two further Weyl sequences.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_STREAM_STEP = np.uint64(0xD1B54A32D192ED03)
_SEED_STEP = np.uint64(0x8CB92BA72F3D8DD7)
#: Options of functions that the monitor sets itself or does not support: sampled rows have no order.
_OWN = ("seed", "episodes")


class Monitor:
    """Monitor embeddings during training.

    ::

        monitor = repscope.Monitor(["rankme", "uniformity", "two_nn"])
        for step, batch in enumerate(batches):
            z = model(batch)
            monitor.update(z)
            if step % 1000 == 999:
                monitor.log(writer, step)  # writer: your SummaryWriter
                monitor.reset()

    Parameters
    ----------
    metrics : sequence of str
        Metrics of embeddings alone, by function name ("two_nn") or by id ("two_nn(fit=mle)").
    rows : int, default 10000
        Maximum number of rows to keep. Memory is rows × columns numbers; beyond, scores are those of a random sample.
    seed : int, default 42
        Random seed of the sample and of the metrics.
    stream : int, default 0
        Number of this monitor among those it will be merged with, such as the rank of the process; see the module.

    The other parameters are those of the metrics' functions, such as ``discard=0.2`` or ``threads=1``. Each is passed to
    the metrics that have it; None is their default.
    """

    def __init__(
        self, metrics: str | Iterable[str], *, rows: int = 10000, seed: int = 42, stream: int = 0, **options: Any
    ) -> None:
        names = [metrics] if isinstance(metrics, str) else list(metrics)
        if not names:
            raise ValueError('there are no metrics to watch; give some, such as ["rankme", "uniformity", "two_nn"]')
        self._metrics = list(dict.fromkeys(names))
        self._rows = _whole("rows", rows, 1)
        self._seed = _whole("seed", seed, 0)
        self._stream = _whole("stream", stream, 0)
        self._options = {name: value for name, value in options.items() if value is not None}
        _check_options(options, {_metric_of(name)["id"]: _metric_of(name) for name in self._metrics})
        self.reset()

    @property
    def metrics(self) -> list[str]:
        """The requested metrics."""
        return list(self._metrics)

    @property
    def seen(self) -> int:
        """Number of rows seen, including merged ones; ``len(monitor)`` is the number of rows kept."""
        return self._seen

    def reset(self) -> None:
        """Drop all rows."""
        self._place = 0  # own rows, not counting merged ones
        self._seen = 0
        self._embeddings: np.ndarray | None = None  # with capacity for more rows
        self._keys = np.empty(0, dtype="u8")
        self._contents = np.empty(0, dtype="u8")

    def update(self, batch: ArrayLike) -> None:
        """Add a batch of embeddings, an array or tensor of shape (B, D); a tensor is detached and copied."""
        embeddings = _embeddings_of(batch)
        self._check_columns(embeddings, "a batch")
        contents = _content_hashes(embeddings, self._seed)
        places = np.arange(self._place, self._place + len(embeddings), dtype="u8")
        start = _mixed(_word(self._seed) * _SEED_STEP + _mixed(_word(self._stream) * _STREAM_STEP + _STEP))
        keys = _mixed(contents ^ _mixed(places * _STEP + start))
        self._place += len(embeddings)
        self._seen += len(embeddings)
        self._take(embeddings, keys, contents)

    def merge(self, other: Monitor) -> Monitor:
        """Add the rows of another monitor, which is not changed; return this one.

        Both need the same ``rows``, seed and number of columns. Any order and nesting of merges gives the same scores.
        """
        if not isinstance(other, Monitor):
            raise TypeError(f"a monitor merges with a monitor, not with {type(other).__name__}")
        for name, own, its in (("rows", self._rows, other._rows), ("seed", self._seed, other._seed)):
            if own != its:
                raise ValueError(f"monitors with {name} = {own} and {name} = {its} do not merge; give both the same")
        if other._embeddings is None:
            return self
        count = len(other)
        self._check_columns(other._embeddings, "the other monitor")
        # Copies, because a monitor may be merged with itself.
        self._take(other._embeddings[:count].copy(), other._keys.copy(), other._contents.copy())
        self._seen += other._seen
        return self

    def compute(self) -> Scores:
        """The scores by requested name; a metric with several scores is listed by the ids of its scores."""
        if not len(self):
            raise ValueError("the monitor has no rows yet; call update(batch) first")
        assert self._embeddings is not None
        embeddings = self._embeddings[np.argsort(self._contents, kind="stable")]
        warnings = []
        if self._seen > len(embeddings):
            warnings.append(
                f"scores of a random sample of {len(embeddings)} of {self._seen} rows; raise rows to keep more"
            )
        answers: dict[str, Score | Undefined | Scores] = {}
        scores: dict[str, Score | Undefined] = {}
        for name in self._metrics:
            metric = _metric_of(name)
            identity = metric["id"]
            if identity not in answers:
                answers[identity] = self._ask(metric, embeddings)
                warnings += [warning for warning in answers[identity].warnings if warning not in warnings]
            scores |= _picked(name, metric, answers[identity])
        return Scores(scores, warnings)

    def log(self, writer: Logger, step: int, prefix: str = "repscope/") -> Scores:
        """Write every score under ``prefix + name``; return the scores. Undefined scores are not written.

        ``writer`` is a SummaryWriter, ``wandb``, ``mlflow`` or ``trackio`` (the module or a run), a logger of Lightning, or
        a function of a dict and a step. MLflow takes fewer characters in names: others become ``_``.
        """
        scores = self.compute()
        values = {f"{prefix}{name}": score.value for name, score in scores.items() if score.value is not None}
        write(writer, values, step)
        return scores

    def __len__(self) -> int:
        return len(self._keys)

    def __bool__(self) -> bool:
        return True  # an empty monitor is still a monitor

    def __getstate__(self) -> dict[str, Any]:
        # Without spare capacity.
        embeddings = None if self._embeddings is None else self._embeddings[: len(self)]
        return {**self.__dict__, "_embeddings": embeddings}

    def __repr__(self) -> str:
        return f"<Monitor of {', '.join(self._metrics)}: {len(self)} of {self._seen} rows>"

    def _take(self, embeddings: np.ndarray, keys: np.ndarray, contents: np.ndarray) -> None:
        """Adds rows, then drops those with the largest keys; kept rows do not move."""
        self._grow(len(embeddings), embeddings)
        assert self._embeddings is not None
        room = min(self._rows - len(self), len(embeddings))
        if room > 0:
            self._embeddings[len(self) : len(self) + room] = embeddings[:room]
            self._keys = np.concatenate([self._keys, keys[:room]])
            self._contents = np.concatenate([self._contents, contents[:room]])
            embeddings, keys, contents = embeddings[room:], keys[room:], contents[room:]
        if not len(embeddings):
            return
        new = np.flatnonzero(keys < self._keys.max())
        if not len(new):
            return
        held = len(self)
        order = np.argsort(np.concatenate([self._keys, keys[new]]), kind="stable")
        goes, comes = order[held:], order[:held]
        goes, comes = goes[goes < held], new[comes[comes >= held] - held]
        self._embeddings[goes], self._keys[goes], self._contents[goes] = embeddings[comes], keys[comes], contents[comes]

    def _grow(self, count: int, embeddings: np.ndarray) -> None:
        """Increases the capacity for `count` more rows."""
        held = len(self)
        if self._embeddings is None:
            self._embeddings = np.empty((min(self._rows, count), embeddings.shape[1]), dtype=embeddings.dtype)
        dtype = np.promote_types(self._embeddings.dtype, embeddings.dtype)
        room, needed = len(self._embeddings), min(self._rows, held + count)
        if needed > room or dtype != self._embeddings.dtype:
            room = room if needed <= room else min(self._rows, max(needed, 2 * room))
            larger = np.empty((room, embeddings.shape[1]), dtype=dtype)
            larger[:held] = self._embeddings[:held]
            self._embeddings = larger

    def _check_columns(self, embeddings: np.ndarray, what: str) -> None:
        if self._embeddings is not None and embeddings.shape[1] != self._embeddings.shape[1]:
            raise ValueError(
                f"{what} has {embeddings.shape[1]} columns, and the rows before it had {self._embeddings.shape[1]}; "
                "use a monitor for each kind of embeddings, or reset()"
            )

    def _ask(self, metric: Mapping[str, Any], embeddings: np.ndarray) -> Score | Undefined | Scores:
        own = {name: value for name, value in self._options.items() if name in _options_of(metric)}
        # No progress bar in every training step.
        own.setdefault("progress", False)
        return _functions.make(metric)(embeddings, seed=self._seed, **own)


def _embeddings_of(batch: Any) -> np.ndarray:
    """Finite embeddings as f32 or f64 in C order, of shape (B, D)."""
    array, dtype = lend(batch, "batch")
    if isinstance(array, list):
        raise TypeError(f"`batch` holds {'texts' if dtype == 'str' else 'Python objects'}; give numbers, shape (B, D)")
    if array.ndim != 2 or not array.shape[1]:
        raise ValueError(f"`batch` has shape {array.shape}; give one row of embeddings per sample, shape (B, D)")
    embeddings = array if array.dtype in (np.float32, np.float64) else array.astype("f8")
    is_finite = np.isfinite(embeddings).all(axis=1)
    if not is_finite.all():
        wrong = np.flatnonzero(~is_finite)
        raise ValueError(
            f"`batch` holds NaN or infinity in {len(wrong)} of {len(embeddings)} rows, row {wrong[0]} first; none of it was "
            "taken"
        )
    return embeddings


def _content_hashes(embeddings: np.ndarray, seed: int) -> np.ndarray:
    """A 64-bit hash of the values of each row; the same for f32 and f64."""
    # + 0.0 maps −0.0 to 0.0.
    words = (embeddings.astype("f8") + 0.0).view("u8")
    # The low half of a converted f32 is mostly zeros, and a product only carries upward.
    words ^= words >> np.uint64(32)
    columns = np.arange(1, embeddings.shape[1] + 1, dtype="u8")
    words *= _mixed(columns * _STEP + _word(seed)) | np.uint64(1)
    words ^= words >> np.uint64(29)
    return _mixed(words.sum(axis=1, dtype="u8"))


def _word(number: int) -> np.ndarray:
    """A number as an array of one element, whose arithmetic wraps without warnings."""
    return np.array([number], dtype="u8")


def _mixed(words: np.ndarray) -> np.ndarray:
    """The finalizer of splitmix64 (Steele, Lea and Flood 2014): every bit depends on every bit."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


@cache
def _watchable() -> dict[str, Mapping[str, Any]]:
    """The metrics of embeddings alone, by name."""
    return {metric["id"]: metric for metric in _functions.declared() if _needs_embeddings_alone(metric)}


def _needs_embeddings_alone(metric: Mapping[str, Any]) -> bool:
    # A probe reads labels or targets out, and has nothing to do without both.
    if not _functions.is_of_embeddings(metric) or "values_if_any" in metric["takes"]:
        return False
    return [own.name for own in _functions.parameters(metric)[0] if own.default is REQUIRED] == ["Z"]


def _metric_of(name: str) -> Mapping[str, Any]:
    """The metric of a function name or score id."""
    watchable = _watchable()
    if name in watchable:
        return watchable[name]
    for metric in watchable.values():
        if any(output["id"] == name for output in metric["outputs"]):
            return metric
    bare = str(name).partition("(")[0].partition(".")[0]
    if bare in watchable:
        there = ", ".join(output["id"] for output in watchable[bare]["outputs"])
        raise ValueError(f"{bare} has no score {name!r}; it has {there}")
    if any(metric["id"] == bare for metric in _functions.declared()):
        raise ValueError(f"{name!r} needs more than embeddings; a monitor watches {', '.join(watchable)}")
    raise ValueError(f"there is no metric {name!r}; a monitor watches {', '.join(watchable)}")


def _options_of(metric: Mapping[str, Any]) -> dict[str, Parameter]:
    return {own.name: own for own in _functions.parameters(metric)[1] if own.name not in _OWN}


def _check_options(options: Iterable[str], metrics: Mapping[str, Mapping[str, Any]]) -> None:
    known = {name for metric in metrics.values() for name in _options_of(metric)}
    for name in options:
        if name not in known:
            raise TypeError(
                f"none of {', '.join(metrics)} has an option {name!r}; there are {', '.join(sorted(known))}"
            )


def _sign() -> None:
    """Lists the options of all metrics that can be watched in the signature of the monitor."""
    kinds: dict[str, dict[str, None]] = {}
    for metric in _watchable().values():
        for name, own in _options_of(metric).items():
            kinds.setdefault(name, {}).update(dict.fromkeys(own.kind.split(" | ")))
    options = [Parameter(name, " | ".join(dict.fromkeys([*own, "None"])), None, "") for name, own in kinds.items()]
    form = inspect.signature(Monitor.__init__)
    written = [own for own in form.parameters.values() if own.kind is not own.VAR_KEYWORD]
    sign(Monitor.__init__, form.replace(parameters=written + list(signature([], options, "").parameters.values())))


def _picked(name: str, metric: Mapping[str, Any], answer: Score | Undefined | Scores) -> dict[str, Score | Undefined]:
    """The scores that a name selects from the return value of its function."""
    if name == metric["id"] and not isinstance(answer, Scores):
        # A variant is logged under its full name.
        return {answer.metric if "(" in answer.metric else name: answer}
    every = answer if isinstance(answer, Scores) else answer.all
    printed = {score.metric: score for score in every.values()}
    return printed if name == metric["id"] else {name: printed[name]}


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or int(value) != value or not least <= value < 1 << 64:
        raise ValueError(f"{name} = {value!r} must be an integer from {least} to 2^64 − 1")
    return int(value)


_sign()
