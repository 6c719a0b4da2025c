# SPDX-License-Identifier: MIT
"""Training runs of one recipe."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ._types import Model, PathLike


class Replicates:
    """Training runs of one recipe, such as the same model trained with several seeds.

    In place of a model, its scores are means over the runs, and intervals and comparisons speak about the recipe: they hold what
    differs between training runs beside what differs between rows.

    Parameters
    ----------
    runs : sequence of models, or path
        At least two models with the same rows: arrays of embeddings, paths or callables. A path may be a pattern, such as
        ``"runs/jepa-*.npy"``.
    """

    def __init__(self, runs: Iterable[Model] | PathLike) -> None:
        if isinstance(runs, (str, os.PathLike)):
            self.runs: list[Any] = [os.fspath(runs)]
            return
        if hasattr(runs, "shape"):
            raise TypeError(
                f"Replicates takes a sequence of models, not an array of shape {tuple(runs.shape)}; give [Z1, Z2, Z3]"
            )
        self.runs = list(runs)
        if len(self.runs) < 2:
            raise ValueError(
                f"a recipe needs at least 2 training runs, but {len(self.runs)} is given; pass it as a model"
            )

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"Replicates of {len(self.runs)} training runs"
