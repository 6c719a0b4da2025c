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

_Value = TypeVar("_Value")

class CheckpointTextEncoder:
    text_encoder: str
    device: Any

    def __init__(
        self,
        text_encoder: PathLike,
        checkpoint: PathLike,
        device: Any,
        options: Mapping[str, Any],
    ) -> None: ...

    def encode(
        self,
        texts: Iterable[str],
        *,
        progress: bool | None = False,
    ) -> np.ndarray: ...

    def encode_texts_clip(
        self,
        texts: Iterable[str],
        device: Any = None,
    ) -> np.ndarray | SupportsDLPack: ...

class DocumentResults(dict[str, _Value], Generic[_Value]):
    scores: Results | None
    warnings: list[str]

    def __init__(
        self,
        values: Mapping[str, _Value],
        scores: Results | None = None,
        warnings: Iterable[str] = (),
    ) -> None: ...

class LabelTexts(dict[str, str | list[str]]):
    source: str
    warnings: list[str]

    def __init__(
        self,
        texts: Mapping[str, str | list[str]] | None = None,
        source: str = '',
        warnings: Iterable[str] = (),
    ) -> None: ...

def compute_label_recall_at_k(
    sensor_embeddings: ArrayLike | None,
    text_embeddings: ArrayLike | None,
    labels: ArrayLike,
    k_values: int | Iterable[int] = (10, 50, 100),
    directions: str | Iterable[str] = ('text2sensor', 'sensor2text'),
    normalize: bool = True,
    verbose: bool = True,
    *,
    exclude_self: bool = True,
    threads: int | None = None,
    progress: bool | None = None,
    space: Mapping[str, ArrayLike] | ArrayLike | None = None,
    sensor_key: str | None = None,
    text_key: str | None = None,
    labels_key: str | None = None,
    ids: Mapping[str, ArrayLike] | ArrayLike | None = None,
    groups: Mapping[str, ArrayLike] | ArrayLike | None = None,
    split: ArrayLike | None = None,
    train_sensor_embeddings: ArrayLike | None = None,
    train_text_embeddings: ArrayLike | None = None,
    train_labels: Mapping[str, ArrayLike] | ArrayLike | None = None,
    exclude_labels: float | str | Sequence[float | str] | None = None,
    ignore_case: bool = False,
    name: str = 'embeddings',
    first_only: bool = False,
    interval: Literal['population', 'gallery'] = 'population',
    prefix: int | Sequence[int] | None = None,
    quantize: Literal['int8', 'binary'] | Sequence[Literal['int8', 'binary']] | None = None,
    use_prototypes: bool = False,
    prototype_embeddings: ArrayLike | None = None,
    prototype_labels: ArrayLike | None = None,
    metadata: PathLike | None = None,
    dataset_name: str = 'milan',
    caption_style: str = 'sourish',
    text_encoder: PathLike | None = None,
    checkpoint: PathLike | None = None,
    runtime: Literal['auto', 'builtin', 'rust', 'onnxruntime'] = 'auto',
    runtime_library: PathLike | None = None,
    provider: Literal['cpu', 'cuda'] | None = None,
    batch_size: int = 32,
    no_cache: bool = False,
    template: str | None = None,
    max_tokens: int | None = None,
    token_pooling: Literal['mean', 'cls', 'max', 'last', 'pooler', 'eos'] | None = None,
    no_projection: bool = False,
    aligner_heads: int = 8,
    memory: str | None = None,
    no_mmap: bool = False,
    keep_formulas: bool = False,
    seed: int = 42,
    level: float = 0.95,
) -> DocumentResults[dict[int, Score | Undefined]]: ...

def compute_prototype_retrieval_metrics(
    prototype_embeddings: ArrayLike,
    prototype_labels: ArrayLike,
    sensor_embeddings: ArrayLike | None = None,
    text_embeddings: ArrayLike | None = None,
    target_labels: ArrayLike | None = None,
    k_values: int | Iterable[int] = (10, 50, 100),
    directions: str | Iterable[str] = 'both',
    normalize: bool = True,
    verbose: bool = True,
    *,
    threads: int | None = None,
    progress: bool | None = None,
    space: Mapping[str, ArrayLike] | ArrayLike | None = None,
    sensor_key: str | None = None,
    text_key: str | None = None,
    labels_key: str | None = None,
    ids: Mapping[str, ArrayLike] | ArrayLike | None = None,
    groups: Mapping[str, ArrayLike] | ArrayLike | None = None,
    split: ArrayLike | None = None,
    train_sensor_embeddings: ArrayLike | None = None,
    train_text_embeddings: ArrayLike | None = None,
    train_labels: Mapping[str, ArrayLike] | ArrayLike | None = None,
    exclude_labels: float | str | Sequence[float | str] | None = None,
    ignore_case: bool = False,
    name: str = 'embeddings',
    first_only: bool = False,
    interval: Literal['population', 'gallery'] = 'population',
    prefix: int | Sequence[int] | None = None,
    quantize: Literal['int8', 'binary'] | Sequence[Literal['int8', 'binary']] | None = None,
    use_prototypes: bool = False,
    metadata: PathLike | None = None,
    dataset_name: str = 'milan',
    caption_style: str = 'sourish',
    text_encoder: PathLike | None = None,
    checkpoint: PathLike | None = None,
    runtime: Literal['auto', 'builtin', 'rust', 'onnxruntime'] = 'auto',
    runtime_library: PathLike | None = None,
    provider: Literal['cpu', 'cuda'] | None = None,
    batch_size: int = 32,
    no_cache: bool = False,
    template: str | None = None,
    max_tokens: int | None = None,
    token_pooling: Literal['mean', 'cls', 'max', 'last', 'pooler', 'eos'] | None = None,
    no_projection: bool = False,
    aligner_heads: int = 8,
    memory: str | None = None,
    no_mmap: bool = False,
    keep_formulas: bool = False,
    seed: int = 42,
    level: float = 0.95,
) -> DocumentResults[dict[int, Score | Undefined]]: ...

def create_text_encoder_from_checkpoint(
    checkpoint: Mapping[str, Any] | PathLike,
    device: Any = None,
    *,
    text_encoder: PathLike | None = None,
    ids: ArrayLike | None = None,
    runtime: Literal['auto', 'builtin', 'rust', 'onnxruntime'] = 'auto',
    runtime_library: PathLike | None = None,
    provider: Literal['cpu', 'cuda'] | None = None,
    batch_size: int = 32,
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
    template: str | None = None,
    max_tokens: int | None = None,
    token_pooling: Literal['mean', 'cls', 'max', 'last', 'pooler', 'eos'] | None = None,
    no_projection: bool = False,
    aligner_heads: int = 8,
    memory: str | None = None,
    no_mmap: bool = False,
    keep_formulas: bool = False,
) -> CheckpointTextEncoder: ...

def encode_text_prototypes(
    label_to_text: Mapping[Any, str | Iterable[str]],
    text_encoder: TextEncoder,
    device: Any = None,
    normalize: bool = True,
    *,
    batch_size: int = 32,
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
) -> tuple[np.ndarray, np.ndarray]: ...

def get_optimal_device() -> object: ...

def load_text_prototypes_from_metadata(
    metadata_path: PathLike,
    dataset_name: str = 'milan',
    style: str = 'sourish',
) -> LabelTexts: ...

def print_results_summary(results: Mapping[str, Mapping[Any, Any]]) -> None: ...

def save_results(
    results: Mapping[str, Mapping[Any, Any]],
    path: PathLike,
) -> None: ...
