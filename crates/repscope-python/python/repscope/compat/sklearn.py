# SPDX-License-Identifier: MIT
"""scikit-learn's ``trustworthiness``, ``silhouette_score`` and ``normalized_mutual_info_score``, computed by repscope.

Signatures, results (plain floats) and errors are those of scikit-learn 1.9, which is not imported. Euclidean
distances are computed by repscope without a distance matrix. ``metric="cosine"`` and ``metric="precomputed"`` use a
distance matrix; for every other metric, and for extra arguments of a metric, scikit-learn computes the matrix if it
is installed.

If distances are tied, trustworthiness ranks the smaller row number first; in scikit-learn this depends on the sort.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

import repscope

from .._arrays import rows_of, to_numpy
from .._types import ArrayLike
from . import _AT_ONCE, check_finite, check_lengths, check_rows, nearest

__all__ = ["InvalidParameterError", "normalized_mutual_info_score", "silhouette_score", "trustworthiness"]

#: Arguments of silhouette_score that affect how distances are computed, but not their values.
_HOW = ("n_jobs", "working_memory")
_MEANS: dict[str, Callable[[float, float], float]] = {
    "arithmetic": lambda a, b: (a + b) / 2.0,
    "geometric": lambda a, b: float(np.sqrt(a * b)),
    "max": max,
    "min": min,
}


class InvalidParameterError(ValueError, TypeError):
    """A parameter has a wrong type or value."""


def trustworthiness(
    X: ArrayLike, X_embedded: ArrayLike, *, n_neighbors: int = 5, metric: str | Callable[..., float] = "euclidean"
) -> float:
    """Are neighbors in the embedding also neighbors in the input space? See :func:`repscope.trustworthiness`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples)
        The inputs, or with ``metric="precomputed"`` their distances.
    X_embedded : array-like or sparse matrix of shape (n_samples, n_components)
        The embedding, compared by Euclidean distance.
    n_neighbors : int, default 5
        Fewer than half the samples.
    metric : str or callable, default "euclidean"
        Metric of the inputs: "euclidean", "cosine", "precomputed"; others need scikit-learn.
    """
    _check_count(n_neighbors, "n_neighbors", "trustworthiness")
    metric = _checked_metric(metric, "trustworthiness")
    count = rows_of(X)
    if n_neighbors >= count / 2:
        raise ValueError(f"n_neighbors ({n_neighbors}) should be less than n_samples / 2 ({count / 2})")
    k = int(n_neighbors)
    codes = check_rows(X_embedded, "X_embedded")
    if metric == "euclidean":
        states = check_rows(X, "X")
        check_lengths(states, codes)
        return _number(repscope.trustworthiness(states, codes, k=k))
    distances = _distances(X, metric, {}, "trustworthiness")
    check_lengths(distances, codes)
    neighbors, _ = nearest(codes, k)
    penalty = 0
    step = max(1, _AT_ONCE // count)
    for first in range(0, count, step):
        block = distances[first : first + step].astype("f8")
        own = np.arange(len(block))
        block[own, first + own] = np.inf
        order = np.argsort(block, axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(1, count + 1)[None, :], axis=1)
        penalty += int(np.maximum(ranks[own[:, None], neighbors[first : first + step]] - k, 0).sum())
    return float(1.0 - 2.0 / (count * k * (2.0 * count - 3.0 * k - 1.0)) * penalty)


def silhouette_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable[..., float] = "euclidean",
    sample_size: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    **kwds: Any,
) -> float:
    """Cohesion versus separation from the nearest other class, −1 to 1; see :func:`repscope.silhouette`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples)
        The samples, or with ``metric="precomputed"`` their distances.
    labels : array-like of shape (n_samples,)
        A class per sample; from two to n_samples − 1 of them.
    metric : str or callable, default "euclidean"
        "euclidean", "cosine", "precomputed"; others need scikit-learn.
    sample_size : int, optional
        Score a random subset of this size.
    random_state : int or RandomState, optional
        Seed of the random subset; the same subset as in scikit-learn.
    **kwds
        Further arguments of the metric; these need scikit-learn.
    """
    metric = _checked_metric(metric, "silhouette_score")
    if sample_size is not None:
        _check_count(sample_size, "sample_size", "silhouette_score")
    rows = check_rows(X, "X")
    classes = _labels(labels, "y")
    if classes.ndim == 2 and classes.shape[1] == 1:
        classes = classes.ravel()
    if classes.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {classes.shape} instead.")
    check_lengths(rows, classes)
    if sample_size is not None:
        chosen = _random(random_state).permutation(len(rows))[:sample_size]
        rows = rows[np.ix_(chosen, chosen)] if metric == "precomputed" else rows[chosen]
        classes = classes[chosen]
    if metric == "precomputed":
        _check_diagonal(rows)
    names, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    if not 1 < len(names) < len(rows):
        raise ValueError(f"Number of labels is {len(names)}. Valid values are 2 to n_samples - 1 (inclusive)")
    kwds = {name: value for name, value in kwds.items() if name not in _HOW}
    if metric == "euclidean" and not kwds:
        return _number(repscope.silhouette(rows, codes.astype("i8")))
    return _mean_silhouette(_distances(rows, metric, kwds, "silhouette_score"), codes, counts)


def normalized_mutual_info_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, average_method: str = "arithmetic"
) -> float:
    """Agreement of two partitions of the same samples, 0 to 1.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        A class per sample.
    average_method : {"arithmetic", "geometric", "max", "min"}
        The mean of both entropies by which the mutual information is divided.
    """
    if not isinstance(average_method, str) or average_method not in _MEANS:
        _refuse("average_method", "normalized_mutual_info_score", f"a str among {set(_MEANS)}", average_method)
    true, pred = _labels(labels_true), _labels(labels_pred)
    kinds = [_kind(true), _kind(pred)]
    if "continuous" in kinds:
        message = "Clustering metrics expects discrete values but received"
        warnings.warn(
            f"{message} {kinds[0]} values for label, and {kinds[1]} values for target", UserWarning, stacklevel=2
        )
    for name, labels in (("labels_true", true), ("labels_pred", pred)):
        if labels.ndim != 1:
            raise ValueError(f"{name} must be 1D: shape is {labels.shape!r}")
    check_lengths(true, pred)
    a_names, a, a_counts = np.unique(true, return_inverse=True, return_counts=True)
    b_names, b, b_counts = np.unique(pred, return_inverse=True, return_counts=True)
    if len(a_names) == len(b_names) <= 1:
        return 1.0  # both partitions are trivial and equal
    if len(a_names) == 1 or len(b_names) == 1:
        return 0.0
    # As the metric nmi: I = Σ n_ij/N (ln(n_ij / a_i) + ln(N / b_j)), H = Σ a_i/N ln(N / a_i), over cells that occur.
    total = len(true)
    cells, counts = np.unique(a.astype("i8") * len(b_names) + b, return_counts=True)
    row, column = np.divmod(cells, len(b_names))
    information = float(np.sum(counts / total * (np.log(counts / a_counts[row]) + np.log(total / b_counts[column]))))
    # Independent partitions have 0 up to rounding.
    if information <= np.finfo("f8").eps:
        return 0.0
    entropies = [float(np.sum(counts / total * np.log(total / counts))) for counts in (a_counts, b_counts)]
    return min(information / _MEANS[average_method](*entropies), 1.0)


def _number(score: repscope.Score | repscope.Undefined) -> float:
    """The plain number; an undefined score raises ValueError."""
    if score.value is None:
        raise ValueError(score.reason)
    return score.value


def _mean_silhouette(distances: np.ndarray, codes: np.ndarray, counts: np.ndarray) -> float:
    """The mean over rows of (b − a) / max(a, b), 0 for the only row of its class."""
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    values = np.empty(len(codes))
    step = max(1, _AT_ONCE // len(codes))
    for first in range(0, len(codes), step):
        own = codes[first : first + step]
        place = np.arange(len(own)), own
        sums = np.add.reduceat(distances[first : first + step].astype("f8")[:, order], starts, axis=1)
        within = sums[place] / np.maximum(counts[own] - 1, 1)
        sums[place] = np.inf
        between = (sums / counts).min(axis=1)
        larger = np.maximum(within, between)
        scored = (counts[own] > 1) & (larger > 0)
        values[first : first + step] = np.where(scored, (between - within) / np.where(larger > 0, larger, 1.0), 0.0)
    return float(np.mean(values))


def _distances(X: Any, metric: str | Callable[..., float], kwds: dict[str, Any], function: str) -> np.ndarray:
    """All distances between rows."""
    if metric == "precomputed":
        given = check_rows(X, "X")
        if given.shape[0] != given.shape[1]:
            shape = f"Got {given.shape} for {given.shape[0]} indexed."
            raise ValueError(f"Precomputed metric requires shape (n_queries, n_indexed). {shape}")
        if given.min() < 0:
            raise ValueError(
                f"Negative values in data passed to {function}. Precomputed distances must not be negative."
            )
        return given
    if metric == "cosine" and not kwds:
        rows = check_rows(X, "X").astype("f8")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1.0)
        # A row of zeros has no direction: its distance to all others is 1.
        distances = np.clip(1.0 - rows @ rows.T, 0.0, 2.0)
        np.fill_diagonal(distances, 0.0)
        return distances
    try:
        from sklearn.metrics import pairwise_distances
    except ImportError:
        asked = f"metric = {metric!r}" + (f" with {', '.join(kwds)}" if kwds else "")
        raise ValueError(
            f"{asked} needs scikit-learn, which is not installed; without it {function} takes 'euclidean', 'cosine' "
            "and 'precomputed'"
        ) from None
    return np.asarray(pairwise_distances(X, metric=metric, **kwds))


def _check_diagonal(distances: np.ndarray) -> None:
    if np.any(np.abs(distances.diagonal()) > 100 * np.finfo(distances.dtype).eps):
        raise ValueError(
            "The precomputed distance matrix contains non-zero elements on the diagonal. Use np.fill_diagonal(X, 0)."
        )


def _labels(value: Any, name: str = "") -> np.ndarray:
    """Labels as an array; strings may be given as lists."""
    labels = np.asarray(to_numpy(value, name or "labels"))
    check_finite(labels, name)
    return labels


def _kind(labels: np.ndarray) -> str:
    if labels.dtype.kind == "f" and np.any(labels != np.trunc(labels)):
        return "continuous"
    return "binary" if labels.ndim == 1 and len(np.unique(labels)) <= 2 else "multiclass"


def _random(state: Any) -> Any:
    """A legacy NumPy generator, as used by scikit-learn."""
    if state is None or state is np.random:
        return np.random
    if isinstance(state, Integral):
        return np.random.RandomState(int(state))
    if isinstance(state, np.random.RandomState):
        return state
    raise InvalidParameterError(f"{state!r} cannot be used to seed a numpy.random.RandomState instance")


def _check_count(value: Any, name: str, function: str) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        _refuse(name, function, "an int in the range [1, inf)", value)


def _checked_metric(metric: Any, function: str) -> str | Callable[..., float]:
    if not isinstance(metric, str) and not callable(metric):
        _refuse("metric", function, "a str or a callable", metric)
    return "euclidean" if metric == "l2" else metric


def _refuse(name: str, function: str, wanted: str, value: Any) -> None:
    raise InvalidParameterError(f"The {name!r} parameter of {function} must be {wanted}. Got {value!r} instead.")
