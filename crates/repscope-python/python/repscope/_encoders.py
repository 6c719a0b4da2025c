# SPDX-License-Identifier: MIT
"""Encoders that are Python callables `encode(batch) -> embeddings`, such as torch modules."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _progress
from ._arrays import lend, rows_of, to_numpy


class Encoder:
    """A callable that is run on batches of the inputs: tensors if the inputs are tensors, else NumPy arrays.

    A torch module is set to evaluation mode during the call and run without gradients, on the device of its parameters.
    """

    def __init__(self, name: str, function: Any, states: Any, batch_size: int) -> None:
        self.name = name
        self._function = function
        self._states = states
        self._batch_size = batch_size

    def embeddings(self, states: Any, progress: bool | None = None) -> np.ndarray | dict[str, np.ndarray]:
        """The embeddings of all inputs, computed in batches; of several layers by their names, where the callable gives a mapping."""
        count = rows_of(states)
        if count == 0:
            raise ValueError(f"there are no states to show to `{self.name}`")
        bar = _progress.bar(progress)
        parts: list[dict[str | None, np.ndarray]] = []
        try:
            with self.quiet():
                for first in range(0, count, self._batch_size):
                    last = min(first + self._batch_size, count)
                    parts.append(self._by_layer(self._call(_slice(states, first, last)), last - first))
                    if bar is not None:
                        bar(f"encoding, {self.name}", last, count)
        finally:
            if bar is not None:
                bar.close()
        keys = list(parts[0])
        if any(list(part) != keys for part in parts):
            raise ValueError(
                f"`{self.name}` gave other layers for some batches than for the first: {', '.join(map(str, keys))}"
            )
        joined = {key: np.concatenate([part[key] for part in parts]) for key in keys}
        if keys == [None]:
            return joined[None]
        return {str(key): array for key, array in joined.items()}

    def noisy(self, batch: np.ndarray) -> tuple[Any, str]:
        """The embeddings of noisy inputs, in the form that the extension module takes."""
        with self.quiet():
            return lend(self._checked(self._call(_like(batch, self._states)), len(batch)), f"embeddings of {self.name}")

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Evaluation mode for torch modules, and no gradients if torch is in use."""
        torch = sys.modules.get("torch")
        if torch is None:
            yield
            return
        is_module = isinstance(self._function, torch.nn.Module)
        modes = [(part, part.training) for part in self._function.modules()] if is_module else []
        if is_module:
            self._function.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            for part, mode in modes:
                part.training = mode

    def _call(self, batch: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(self._function, torch.nn.Module):
            if isinstance(batch, np.ndarray):
                batch = torch.from_numpy(np.ascontiguousarray(batch))
            parameter = next(self._function.parameters(), None)
            if parameter is not None and hasattr(batch, "to"):
                batch = batch.to(parameter.device)
                if batch.is_floating_point():
                    batch = batch.to(parameter.dtype)
        return self._function(batch)

    def _by_layer(self, embeddings: Any, count: int) -> dict[str | None, np.ndarray]:
        if not isinstance(embeddings, Mapping):
            return {None: self._checked(embeddings, count)}
        if not embeddings:
            raise ValueError(f"`{self.name}` gave an empty mapping; it must give {{layer: embeddings}}")
        return {str(layer): self._checked(own, count) for layer, own in embeddings.items()}

    def _checked(self, embeddings: Any, count: int) -> np.ndarray:
        if (
            isinstance(embeddings, (tuple, list))
            and embeddings
            and not isinstance(embeddings[0], (int, float))
            and len(embeddings) != count
        ):
            raise TypeError(
                f"`{self.name}` gave {len(embeddings)} outputs; wrap it in a function that returns the embeddings alone, "
                "or {name: embeddings} of several layers"
            )
        array = to_numpy(embeddings, f"embeddings of {self.name}")
        if not isinstance(array, np.ndarray) or array.ndim == 0 or len(array) != count:
            shape = array.shape if isinstance(array, np.ndarray) else (len(array),)
            raise ValueError(
                f"`{self.name}` was shown {count} rows and gave embeddings of shape {tuple(shape)}; "
                "it must give one row per row"
            )
        return array


def is_encoder(model: Any) -> bool:
    """Whether a model is a callable encoder, not an array or a path."""
    return callable(model) and not hasattr(model, "__array__") and not hasattr(model, "__dlpack__")


def _slice(states: Any, first: int, last: int) -> Any:
    return states.iloc[first:last] if hasattr(states, "iloc") else states[first:last]


def _like(batch: np.ndarray, states: Any) -> Any:
    """A batch of floats of the same type as the inputs: for tensors, a tensor on their device."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(states, torch.Tensor):
        dtype = states.dtype if states.is_floating_point() else torch.float32
        return torch.from_numpy(batch).to(device=states.device, dtype=dtype)
    if type(states).__module__.startswith(("jax", "jaxlib")):
        import jax.numpy

        return jax.numpy.asarray(batch)
    if isinstance(states, np.ndarray) and states.dtype.kind == "f":
        return batch.astype(states.dtype, copy=False)
    return batch
