# SPDX-License-Identifier: MIT
"""The types of arguments and results, as signatures and stubs name them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame
else:

    class DataFrame:
        """Stands for ``pandas.DataFrame``: pandas is only imported by those who ask for a frame."""


__all__ = [
    "Any",
    "ArrayLike",
    "Callable",
    "DataFrame",
    "Iterable",
    "Literal",
    "Logger",
    "Mapping",
    "Model",
    "PathLike",
    "Sequence",
    "SummaryWriter",
    "SupportsDLPack",
    "TextEncoder",
]


class SupportsArray(Protocol):
    """An array of another library, converted by NumPy."""

    def __array__(self) -> np.ndarray:
        """The array."""


class SupportsDLPack(Protocol):
    """An array of another library, shared by DLPack."""

    def __dlpack__(self) -> Any:
        """The capsule."""

    def __dlpack_device__(self) -> tuple[Any, Any]:
        """The device."""


class SupportsEncode(Protocol):
    """A text encoder with a method, as in sentence-transformers."""

    def encode(self, sentences: Any) -> Any:
        """One embedding per text."""


class SupportsEncodeTextsClip(Protocol):
    """A text encoder with the method of the original label retrieval script."""

    def encode_texts_clip(self, texts: Any, device: Any) -> Any:
        """One embedding per text."""


class SummaryWriter(Protocol):
    """What writes scalars during training: the SummaryWriter of torch or tensorboardX."""

    def add_scalar(self, tag: str, scalar_value: Any, global_step: Any, /) -> object:
        """Writes a number."""


class SupportsLog(Protocol):
    """``wandb`` or a run of it, ``trackio`` or a run of it."""

    def log(self, data: dict[str, Any], /, *, step: Any = None) -> object:
        """Records numbers."""


class SupportsLogMetrics(Protocol):
    """``mlflow``, or a logger of Lightning."""

    def log_metrics(self, metrics: dict[str, float], /, *, step: Any = None) -> object:
        """Records numbers."""


#: A path in the file system.
PathLike = str | os.PathLike[str]
#: An array, a tensor, a frame, a sequence, or the path of a file that holds an array.
ArrayLike = np.ndarray | SupportsArray | SupportsDLPack | Iterable[Any] | os.PathLike[str]
#: Embeddings, a path of embeddings or of an encoder, or a callable that encodes a batch.
Model = ArrayLike | Callable[[Any], Any]
#: A callable for a list of texts, an object with a method for it, or the path of a text model.
TextEncoder = Callable[[list[str]], Any] | SupportsEncode | SupportsEncodeTextsClip | PathLike
#: What records the numbers of a run.
Logger = SummaryWriter | SupportsLog | SupportsLogMetrics | Callable[[dict[str, float], int], object]
