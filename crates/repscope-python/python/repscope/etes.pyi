# SPDX-License-Identifier: MIT
# Written by stubs.py.
from typing import Generic, Protocol, TypeVar, overload

import numpy as np

from ._replicates import Replicates as Replicates
from ._results import Figure as Figure
from ._results import Results as Results
from ._results import load as load
from ._scores import Score as Score
from ._scores import Scores as Scores
from ._scores import Undefined as Undefined
from ._types import Any, ArrayLike, Callable, DataFrame, Iterable, Literal, Logger, Mapping, Model, PathLike, Sequence, SummaryWriter, SupportsDLPack, TextEncoder
from .retrieval import DocumentResults

BANDS: tuple[float, ...]

class ETESEvaluator:
    text_encoder: TextEncoder | None
    fluency: Callable[[list[str]], Any] | PathLike | None
    fluency_weight: float
    fluency_kind: str
    bands: tuple[float, ...]
    device: Any
    batch_size: int
    threads: int | None
    progress: bool | None
    options: dict[str, Any]

    def __init__(
        self,
        text_encoder: TextEncoder | None = None,
        fluency: Callable[[list[str]], Any] | PathLike | None = None,
        *,
        fluency_weight: float = 0.1,
        fluency_kind: str = 'log-perplexity',
        bands: Sequence[float] = (-0.8, -0.5, -0.2, 0.0),
        device: Any = None,
        batch_size: int = 32,
        threads: int | None = None,
        progress: bool | None = None,
        ids: ArrayLike | None = None,
        runtime: Literal['auto', 'builtin', 'rust', 'onnxruntime'] = 'auto',
        runtime_library: PathLike | None = None,
        provider: Literal['cpu', 'cuda'] | None = None,
        no_cache: bool = False,
        architecture: Literal['conv-encoder', 'efficientnet-lite', 'resnet', 'two-head', 'vit'] | None = None,
        input_name: str | None = None,
        row_axis: int | None = None,
        output_name: str | None = None,
        layout: Literal['channels-first', 'channels-last', 'flat'] | None = None,
        scale: float | None = None,
        mean: float | Sequence[float] | None = None,
        std: float | Sequence[float] | None = None,
        activation: Literal['silu', 'relu', 'gelu'] | None = None,
        heads: int | None = None,
        pad_id: int | None = None,
        skip_bad: bool = False,
        checkpoint: PathLike | None = None,
        template: str | None = None,
        max_tokens: int | None = None,
        token_pooling: Literal['mean', 'cls', 'max', 'last', 'pooler', 'eos'] | None = None,
        no_projection: bool = False,
        aligner_heads: int = 8,
        memory: str | None = None,
        no_mmap: bool = False,
        keep_formulas: bool = False,
    ) -> None: ...

    def encode_text(
        self,
        texts: Iterable[str],
    ) -> np.ndarray: ...

    def compute_alignment_energy(
        self,
        eeg_emb: ArrayLike,
        text_emb: ArrayLike,
    ) -> np.ndarray: ...

    def evaluate(
        self,
        eeg_embeddings: ArrayLike,
        generated_texts: Iterable[str] | ArrayLike,
        reference_texts: Iterable[str] | ArrayLike | None = None,
        fluency_weight: float | None = None,
    ) -> DocumentResults[Score | Undefined]: ...

    def __call__(
        self,
        eeg_embeddings: ArrayLike,
        generated_texts: Iterable[str] | ArrayLike,
        reference_texts: Iterable[str] | ArrayLike | None = None,
        fluency_weight: float | None = None,
    ) -> DocumentResults[Score | Undefined]: ...

    def get_sample_scores(
        self,
        eeg_embeddings: ArrayLike,
        generated_texts: Iterable[str] | ArrayLike,
        reference_texts: Iterable[str] | ArrayLike | None = None,
    ) -> list[dict[str, Any]]: ...
