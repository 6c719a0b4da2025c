# SPDX-License-Identifier: MIT
"""What the callbacks of training frameworks share: batches that are encoded every N steps."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ._scores import Scores
from .monitor import Monitor


class Watched:
    """Encodes the same batches every ``every`` steps and scores their embeddings."""

    def __init__(
        self,
        batches: Iterable[Any],
        metrics: str | Iterable[str],
        every: int,
        encode: Callable[[Any, Any], Any] | None,
        options: dict[str, Any],
    ) -> None:
        if every < 1:
            raise ValueError(f"every = {every} must be at least 1")
        self._batches = batches
        self._monitor = Monitor(metrics, **options)
        self._every = every
        self._encode = encode or (lambda module, batch: module(batch))
        self.history: list[tuple[int, Scores]] = []

    def at(self, step: int, module: Any) -> Scores | None:
        """The scores at this step, or None where it is none of those that are evaluated, or was already."""
        if step < 1 or step % self._every or (self.history and self.history[-1][0] == step):
            return None
        self._monitor.reset()
        with _evaluating(module), _without_gradients():
            for batch in self._batches:
                self._monitor.update(self._encode(module, batch))
        scores = self._monitor.compute()
        self.history.append((step, scores))
        return scores


@contextlib.contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    """Evaluation mode, and afterwards the mode that each part had: frozen parts are not trained."""
    if not getattr(module, "training", False):
        yield
        return
    parts = list(module.modules()) if hasattr(module, "modules") else [module]
    trained = [part for part in parts if part.training]
    module.eval()
    try:
        yield
    finally:
        for part in trained:
            part.training = True


def _without_gradients() -> Any:
    torch = sys.modules.get("torch")
    return contextlib.nullcontext() if torch is None else torch.no_grad()
