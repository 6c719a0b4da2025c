# SPDX-License-Identifier: MIT
"""Scores to whatever records a run: TensorBoard, Weights & Biases, MLflow, trackio, loggers of Lightning, or a function.

Nothing is imported here: what a logger is shows in the methods it has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: What MLflow takes no other characters than, in names of metrics.
_OTHER = re.compile(r"[^\w\-./: ]+")


def write(logger: Any, values: Mapping[str, float], step: int | None) -> None:
    """Write numbers under their names; ``step`` may be None where the logger counts itself."""
    numbers = {name: float(value) for name, value in values.items()}
    if hasattr(logger, "add_scalar"):
        for name, value in numbers.items():
            logger.add_scalar(name, value, 0 if step is None else step)
    elif hasattr(logger, "log_metrics"):
        if _is_mlflow(logger):
            numbers = {_OTHER.sub("_", name).strip("_"): value for name, value in numbers.items()}
        logger.log_metrics(numbers, step=step)
    elif hasattr(logger, "log"):
        logger.log(numbers, step=step)
    elif callable(logger):
        logger(numbers, step)
    else:
        raise TypeError(
            f"{type(logger).__name__} is no logger; give a SummaryWriter, wandb, mlflow or trackio (the module or a run), a logger of "
            "Lightning, or a function of a dict and a step"
        )


def _is_mlflow(logger: Any) -> bool:
    own = getattr(logger, "__name__", None) or type(logger).__module__
    return own.partition(".")[0] == "mlflow" or type(logger).__name__ == "MLFlowLogger"
