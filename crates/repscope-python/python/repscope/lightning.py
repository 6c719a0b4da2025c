# SPDX-License-Identifier: MIT
"""A callback for Lightning: metrics of embeddings every N steps, in the logger of the trainer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._scores import Scores
from ._watched import Watched

try:
    from lightning.pytorch.callbacks import Callback as _Base
except ImportError:
    try:
        from pytorch_lightning.callbacks import Callback as _Base  # type: ignore[no-redef]
    except ImportError:
        _Base = object  # type: ignore[assignment,misc]

__all__ = ["EmbeddingMonitor"]


class EmbeddingMonitor(_Base):  # type: ignore[misc,valid-type]
    """Evaluate embeddings every ``every`` steps.

    ::

        watch = EmbeddingMonitor(held_out, metrics=["rankme", "uniformity"], every=500)
        Trainer(callbacks=[watch]).fit(module)

    Parameters
    ----------
    batches : iterable
        Batches that are encoded each time: a DataLoader or a list.
    metrics : sequence of str
        As of :class:`repscope.Monitor`; so are ``rows`` and further options.
    every : int, default 1000
        Number of optimizer steps between evaluations.
    encode : callable, optional
        ``encode(module, batch)`` gives the embeddings of a batch; by default the module is called with it.
    """

    def __init__(
        self,
        batches: Iterable[Any],
        metrics: str | Iterable[str] = ("rankme", "uniformity"),
        *,
        every: int = 1000,
        encode: Callable[[Any, Any], Any] | None = None,
        prefix: str = "repscope/",
        **options: Any,
    ) -> None:
        self._watched = Watched(batches, metrics, every, encode, options)
        self.prefix = prefix

    @property
    def history(self) -> list[tuple[int, Scores]]:
        """The steps of the evaluations and their scores."""
        return self._watched.history

    def on_train_batch_end(self, trainer: Any, pl_module: Any, *_: Any, **__: Any) -> None:
        """Evaluates where enough steps have passed. Only the first process does."""
        if not getattr(trainer, "is_global_zero", True):
            return
        scores = self._watched.at(int(trainer.global_step), pl_module)
        if scores is not None and getattr(trainer, "logger", None) is not None:
            values = {f"{self.prefix}{name}": score.value for name, score in scores.items() if score.value is not None}
            trainer.logger.log_metrics(values, step=int(trainer.global_step))
