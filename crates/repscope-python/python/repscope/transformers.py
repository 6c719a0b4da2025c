# SPDX-License-Identifier: MIT
"""A callback for the Trainer of Hugging Face: metrics of embeddings every N steps, in its log history and a logger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._loggers import write
from ._scores import Scores
from ._types import Logger
from ._watched import Watched

try:
    from transformers import TrainerCallback as _Base
except ImportError:
    _Base = object  # type: ignore[assignment,misc]

__all__ = ["EmbeddingCallback"]


class EmbeddingCallback(_Base):  # type: ignore[misc,valid-type]
    """Evaluate embeddings every ``every`` steps.

    ::

        watch = EmbeddingCallback(batches, encode=lambda model, batch: model(**batch).last_hidden_state[:, 0], every=500)
        Trainer(model, arguments, train_dataset=data, callbacks=[watch])

    The scores stand in ``state.log_history``, and in ``logger`` where one is given (``wandb``, ``mlflow``, a SummaryWriter).
    ``batches``, ``metrics``, ``every`` and options are those of :class:`repscope.lightning.EmbeddingMonitor`.
    """

    def __init__(
        self,
        batches: Iterable[Any],
        metrics: str | Iterable[str] = ("rankme", "uniformity"),
        *,
        every: int = 1000,
        encode: Callable[[Any, Any], Any] | None = None,
        logger: Logger | None = None,
        prefix: str = "repscope/",
        **options: Any,
    ) -> None:
        self._watched = Watched(batches, metrics, every, encode, options)
        self.logger = logger
        self.prefix = prefix

    @property
    def history(self) -> list[tuple[int, Scores]]:
        """The steps of the evaluations and their scores."""
        return self._watched.history

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Evaluates where enough steps have passed. Only the first process does."""
        if not getattr(state, "is_world_process_zero", True):
            return
        scores = self._watched.at(int(state.global_step), model)
        if scores is None:
            return
        values = {f"{self.prefix}{name}": score.value for name, score in scores.items() if score.value is not None}
        state.log_history.append({**values, "step": state.global_step})
        if self.logger is not None:
            write(self.logger, values, state.global_step)
