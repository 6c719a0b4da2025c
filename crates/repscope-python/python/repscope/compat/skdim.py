# SPDX-License-Identifier: MIT
"""scikit-dimension's ``skdim.id.TwoNN``, computed by repscope.

``TwoNN().fit(X).dimension_`` and the other methods of scikit-dimension 0.5 are here, without scikit-learn, numba and
joblib. Numbers differ from scikit-dimension only by rounding: repscope computes distances from differences,
scikit-dimension above 25 columns from inner products, which may separate equal rows.

Where scikit-dimension returns a slope of 0, because both neighbors are equally distant everywhere as on a grid, this
class raises a ValueError.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import repscope

from .._types import ArrayLike
from . import check_rows, nearest

__all__ = ["NotFittedError", "TwoNN"]


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before it was fitted."""


class TwoNN:
    """Intrinsic dimension from the two nearest neighbors; see :func:`repscope.two_nn`.

    Parameters
    ----------
    discard_fraction : float, default 0.1
        Share of the largest ratios that is left out.
    dist : bool, default False
        Whether the two columns of X are the distances to the first and the second neighbor.
    method : {"linear", "mle"}
        Linear fit, or maximum likelihood with the discarded ratios as censored.

    Attributes
    ----------
    dimension_ : float
        The dimension.
    x_, y_ : arrays of shape (n_kept, 1)
        ln μ and −ln(1 − F) of the kept ratios, ascending. Computed on first access.
    n_features_in_ : int
        Columns of X.
    dimension_pw_, dimension_pw_smooth_ : arrays of shape (n_samples,)
        Local dimensions around each row, after :meth:`fit_pw`.
    """

    discard_fraction: float
    dist: bool
    method: str
    dimension_: float
    dimension_pw_: np.ndarray
    dimension_pw_smooth_: np.ndarray
    n_features_in_: int

    def __init__(self, discard_fraction: float = 0.1, dist: bool = False, method: str = "linear") -> None:
        self.discard_fraction = discard_fraction
        self.dist = dist
        self.method = method

    def fit(self, X: ArrayLike, y: object = None) -> TwoNN:
        """Estimates the dimension of the rows of X; y is not used."""
        rows = self._checked(X)
        self._line: tuple[np.ndarray, np.ndarray] | None = None
        self._rows = rows.copy()  # for x_ and y_, even if X changes later
        self.n_features_in_ = rows.shape[1]
        self.dimension_ = self._dimension(rows)
        self.is_fitted_ = True
        return self

    def transform(self, X: ArrayLike | None = None) -> float:
        """The estimated dimension; X is only checked."""
        self._check_fitted("is_fitted_", "fit")
        if X is not None:
            columns = check_rows(X, "X").shape[1]
            if columns != self.n_features_in_:
                raise ValueError(
                    f"X has {columns} features, but TwoNN is expecting {self.n_features_in_} features as input."
                )
        return self.dimension_

    def fit_transform(self, X: ArrayLike, y: object = None) -> float:
        """Estimates and gives the dimension."""
        return self.fit(X).dimension_

    def fit_pw(
        self,
        X: ArrayLike,
        precomputed_knn: ArrayLike | None = None,
        smooth: bool = False,
        n_neighbors: int = 100,
        n_jobs: int = 1,
    ) -> TwoNN:
        """Estimates the dimension of the neighbors of each row, which are ``n_neighbors`` or ``precomputed_knn``.

        ``smooth`` also averages it over the row and its neighbors; ``n_jobs`` is not used.
        """
        rows = self._checked(X)
        if len(rows) < n_neighbors + 1:
            least = n_neighbors + 1
            raise ValueError(
                f"Found array with {len(rows)} sample(s) (shape={rows.shape}) while a minimum of {least} is required."
            )
        self.n_features_in_ = rows.shape[1]
        lists = nearest(rows, n_neighbors)[0] if precomputed_knn is None else np.asarray(precomputed_knn)
        self.dimension_pw_ = np.array([self._dimension(rows[own]) for own in lists])
        if smooth:
            around = self.dimension_pw_[lists].sum(axis=1)
            self.dimension_pw_smooth_ = (self.dimension_pw_ + around) / (1 + lists.shape[1])
        return self

    def transform_pw(self, X: ArrayLike | None = None) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """What :meth:`fit_pw` estimated: an array, or two after smoothing."""
        self._check_fitted("dimension_pw_", "fit_pw")
        if hasattr(self, "dimension_pw_smooth_"):
            return self.dimension_pw_, self.dimension_pw_smooth_
        return self.dimension_pw_

    def fit_transform_pw(
        self,
        X: ArrayLike,
        precomputed_knn: ArrayLike | None = None,
        smooth: bool = False,
        n_neighbors: int = 100,
        n_jobs: int = 1,
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Estimates and gives the dimension around each row; the estimator keeps nothing of it."""
        own = TwoNN(**self.get_params())
        return own.fit_pw(X, precomputed_knn, smooth, n_neighbors, n_jobs).transform_pw()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {"discard_fraction": self.discard_fraction, "dist": self.dist, "method": self.method}

    def set_params(self, **params: Any) -> TwoNN:
        """Changes parameters."""
        for name, value in params.items():
            if name not in self.get_params():
                valid = sorted(self.get_params())
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {valid}.")
            setattr(self, name, value)
        return self

    @property
    def x_(self) -> np.ndarray:
        """ln μ of the ratios that were kept, ascending."""
        return self._fitted_line()[0]

    @property
    def y_(self) -> np.ndarray:
        """−ln(1 − F) of the same ratios."""
        return self._fitted_line()[1]

    def __repr__(self) -> str:
        defaults = TwoNN().get_params()
        changed = (f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name])
        return f"TwoNN({', '.join(changed)})"

    def _checked(self, X: Any) -> np.ndarray:
        if self.method not in ("linear", "mle"):
            raise ValueError("method must be 'linear' or 'mle'")
        if not 0.0 <= self.discard_fraction < 1.0:
            raise ValueError(f"discard_fraction = {self.discard_fraction} must be at least 0 and below 1")
        if self.discard_fraction == 0 and self.method == "linear":
            raise ValueError(
                "discard_fraction = 0 leaves the largest ratio in, whose −ln(1 − F) is infinite; leave some out, or "
                "use method='mle'"
            )
        rows = check_rows(X, "X", columns=2)
        if len(rows) < (2 if self.dist else 3):
            raise ValueError(f"two neighbors need at least 3 rows, not {len(rows)}")
        return rows

    def _dimension(self, rows: np.ndarray) -> float:
        """The dimension of rows; ratios of distance 0 are warned of and left out."""
        if self.dist or self.method == "mle":
            x, y, count = self._line_of(rows)
            _warn_of_duplicates(len(rows) - count)
            if not x[-1] > 0.0:
                raise ValueError("first and second neighbor are equally far everywhere, as on a grid")
            if self.method == "mle":
                return float((len(x) - 1) / (np.sum(x) + (count - len(x)) * x[-1]))
            return float(x @ y / (x @ x))
        score = repscope.two_nn(rows, discard=self.discard_fraction)
        if score.value is not None:
            _warn_of_duplicates(len(rows) - score.n)
            return score.value
        if score.n < len(rows):
            raise ValueError(f"Fewer than 2 points left to estimate the dimension: {score.reason}")
        raise ValueError(score.reason)

    def _line_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """ln μ and −ln(1 − F) of the ratios that are kept, and how many there are in all."""
        first, second = (rows if self.dist else nearest(rows, 2)[1]).T[:2].astype("f8")
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = second / first
        ratios = np.sort(ratios[np.isfinite(ratios)])
        count = len(ratios)
        kept = int(count * (1 - self.discard_fraction))
        if kept < 2:
            raise ValueError("Fewer than 2 points left to estimate the dimension.")
        with np.errstate(divide="ignore"):
            heights = -np.log(1 - np.arange(1, 1 + kept) / count)
        return np.log(ratios[:kept]), heights, count

    def _fitted_line(self) -> tuple[np.ndarray, np.ndarray]:
        self._check_fitted("is_fitted_", "fit")
        if self._line is None:
            x, y, _ = self._line_of(self._rows)
            self._line = x[:, None], y[:, None]
        return self._line

    def _check_fitted(self, attribute: str, method: str) -> None:
        if not hasattr(self, attribute):
            raise NotFittedError(f"This TwoNN instance is not fitted yet. Call '{method}' before using this method.")


def _warn_of_duplicates(count: int) -> None:
    if count:
        warnings.warn(
            f"Dropping {count} points with zero distance to their nearest neighbour (duplicate points).", stacklevel=4
        )
