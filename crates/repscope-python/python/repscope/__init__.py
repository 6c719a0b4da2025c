# SPDX-License-Identifier: MIT
"""repscope measures the quality of learned representations.

One function per metric (``repscope.two_nn(Z)``, ``repscope.trustworthiness(X, Z, k=10)``), whole analyses
(:func:`evaluate`, :func:`compare`, :func:`robustness`), a :class:`Monitor` for training loops, the library calls of the
label retrieval and EEG–text energy scripts (``repscope.retrieval``, ``repscope.etes``) and drop-in replacements for
other libraries (``repscope.compat``). Arrays may be NumPy arrays, tensors of torch or JAX, frames of pandas or polars.

A missing file raises ``FileNotFoundError``. A wrong input or option raises :class:`InputError`, which is a ``ValueError``;
numbers that cannot be used, such as NaN, raise its subclass :class:`DataError`. :class:`InternalError` is a bug in repscope.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _functions, _others, retrieval
from . import etes as _etes
from ._evaluate import compare, encode, evaluate, robustness, similarity
from ._replicates import Replicates
from ._repscope import DataError, InputError, InternalError, __version__
from ._results import Figure, Results, Verdict, load
from ._scores import Score, Scores, Undefined
from .monitor import Monitor

__all__ = [
    "DataError",
    "Figure",
    "InputError",
    "InternalError",
    "Monitor",
    "Replicates",
    "Results",
    "Score",
    "Scores",
    "Undefined",
    "Verdict",
    "__version__",
    "compare",
    "encode",
    "evaluate",
    "load",
    "metrics",
    "retrieval",
    "robustness",
    "similarity",
]


def metrics() -> list[str]:
    """The names of all metrics, each of which is a function of this package."""
    return [metric["id"] for metric in _functions.declared()]


def _make_functions() -> None:
    for metric in _functions.declared():
        name = metric["id"]
        function: Callable[..., Any]
        if name == "robustness":
            continue  # defined above, because it takes an encoder
        if _functions.is_of_embeddings(metric):
            function = _functions.make(metric)
        else:
            function = _others.make(metric)
        if name == "etes":
            # The module `repscope.etes` is also the function of the metric.
            _etes._function = function
            _etes.__doc__ = (_etes.__doc__ or "") + "\n\n" + (function.__doc__ or "")
        else:
            globals()[name] = function
        __all__.append(name)


_make_functions()
