# SPDX-License-Identifier: MIT
"""Metrics as scorers of scikit-learn: ``cross_validate(estimator, X, y, scoring=scorer("knn_accuracy", k=5))``.

A scorer transforms the held-out rows with the estimator and scores the embeddings. It is larger for better embeddings, as
scikit-learn expects: metrics of which less is better have their sign changed. An undefined score is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _functions
from ._scores import Score, Scores, Undefined
from ._signatures import REQUIRED

__all__ = ["Scorer", "scorer"]


class Scorer:
    """A metric of embeddings that an estimator makes; see :func:`scorer`."""

    def __init__(self, metric: str, options: dict[str, Any], method: str | None) -> None:
        self.metric = metric
        self.options = options
        self.method = method

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        declared = _metric(self.metric)
        embeddings = self._embeddings(estimator, X)
        takes = [own.name for own in _functions.parameters(declared)[0] if own.default is REQUIRED]
        arrays = {"Z": embeddings, "X": X, "labels": y, "y": y}
        if any(name in ("labels", "y") for name in takes) and y is None:
            raise ValueError(f"{self.metric} needs a class per row; pass y to cross_validate")
        given = [arrays[name] if arrays[name] is y else np.asarray(arrays[name]) for name in takes]
        answer = _functions.make(declared)(*given, **{"progress": False, **self.options})
        score = _one(answer, self.metric)
        if score.value is None:
            return float("nan")
        return -float(score.value) if score.better == "lower" else float(score.value)

    def _embeddings(self, estimator: Any, X: Any) -> np.ndarray:
        methods = [self.method] if self.method else ["transform", "decision_function", "predict_proba"]
        for method in methods:
            if hasattr(estimator, method):
                return np.asarray(getattr(estimator, method)(X))
        raise TypeError(
            f"{type(estimator).__name__} has no {' and no '.join(methods)}; name what makes embeddings with method="
        )

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"scorer({self.metric!r}{options})"


def scorer(metric: str, *, method: str | None = None, **options: Any) -> Scorer:
    """A scorer for ``cross_validate``, ``GridSearchCV`` and others.

    Parameters
    ----------
    metric : str
        A metric of embeddings, by function name ("two_nn") or by id of one of its scores ("knn_accuracy@5").
    method : str, optional
        The method of the estimator that makes embeddings; ``transform`` where there is one, else ``decision_function`` or
        ``predict_proba``.
    options
        Options of the metric's function, such as ``k=5``.
    """
    declared = _metric(metric)
    takes = [own.name for own in _functions.parameters(declared)[0] if own.default is REQUIRED]
    unknown = [name for name in takes if name not in ("Z", "X", "labels", "y")]
    if unknown:
        raise ValueError(f"{metric} needs {', '.join(unknown)}, which a scorer does not have")
    return Scorer(metric, options, method)


def _metric(name: str) -> Any:
    bare = str(name).partition("@")[0]
    for metric in _functions.declared():
        outputs = [output["id"].partition("@")[0] for output in metric["outputs"]]
        if _functions.is_of_embeddings(metric) and (metric["id"] == name or bare in outputs):
            return metric
    raise ValueError(f"there is no metric of embeddings called {name!r}")


def _one(answer: Score | Undefined | Scores, name: str) -> Score | Undefined:
    if not isinstance(answer, Scores):
        return answer
    named = {score.metric: score for score in answer.values()}
    if name in named:
        return named[name]
    if len(named) == 1:
        return next(iter(named.values()))
    raise ValueError(f"{name} has the scores {', '.join(named)}; name one of them")
