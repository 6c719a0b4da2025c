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
from ._types import Any, ArrayLike, Callable, DataFrame, Iterable, Literal, Mapping, Model, PathLike, Sequence, SummaryWriter, SupportsDLPack, TextEncoder
from . import compat as compat
from . import retrieval as retrieval
from ._repscope import DataError as DataError
from ._repscope import InputError as InputError
from ._repscope import InternalError as InternalError
from .etes import ETESEvaluator
from .monitor import Monitor as Monitor

__version__: str

def metrics() -> list[str]: ...

def evaluate(
    models: Mapping[str, Model | Replicates] | Model,
    states: ArrayLike | None = None,
    next_states: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    episodes: ArrayLike | None = None,
    *,
    views: Mapping[str, ArrayLike] | ArrayLike | None = None,
    performance: Mapping[str, float] | PathLike | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    batch_size: int = 256,
    threads: int | None = None,
    progress: bool | None = None,
    ordered: bool = False,
    pool: Literal['last', 'mean', 'first', 'flatten'] = 'last',
    ids: Mapping[str, ArrayLike] | ArrayLike | None = None,
    runtime: Literal['rust', 'onnxruntime'] = 'rust',
    runtime_library: PathLike | None = None,
    provider: Literal['cpu', 'cuda'] | None = None,
    no_cache: bool = False,
    architecture: Literal['conv-encoder', 'resnet', 'two-head', 'vit'] | None = None,
    input_name: str | None = None,
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
    only: Literal['smoothness', 'robustness', 'neighborhood', 'manifold', 'geometry', 'rankme', 'clid', 'retrieval', 'etes', 'perturb'] | Sequence[Literal['smoothness', 'robustness', 'neighborhood', 'manifold', 'geometry', 'rankme', 'clid', 'retrieval', 'etes', 'perturb']] | None = None,
    skip: Literal['smoothness', 'robustness', 'neighborhood', 'manifold', 'geometry', 'rankme', 'clid', 'retrieval', 'etes', 'perturb'] | Sequence[Literal['smoothness', 'robustness', 'neighborhood', 'manifold', 'geometry', 'rankme', 'clid', 'retrieval', 'etes', 'perturb']] | None = None,
    k: int | Sequence[int] | None = None,
    knn_k: int | None = None,
    sample: int | None = None,
    rank_by: str | Sequence[str] | None = None,
    clusters: int | None = None,
    preset: Literal['spec', 'robust', 'paper'] | None = None,
    memory: str | None = None,
    no_mmap: bool = False,
    keep_formulas: bool = False,
    seed: int = 42,
    level: float = 0.95,
) -> Results: ...

def compare(
    models: Mapping[str, Model | Replicates],
    states: ArrayLike | None = None,
    next_states: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    episodes: ArrayLike | None = None,
    *,
    views: Mapping[str, ArrayLike] | ArrayLike | None = None,
    batch_size: int = 256,
    threads: int | None = None,
    progress: bool | None = None,
    reference: str | None = None,
    equivalent: str | Sequence[str] | None = None,
    ordered: bool = False,
    pool: Literal['last', 'mean', 'first', 'flatten'] = 'last',
    ids: Mapping[str, ArrayLike] | ArrayLike | None = None,
    runtime: Literal['rust', 'onnxruntime'] = 'rust',
    runtime_library: PathLike | None = None,
    provider: Literal['cpu', 'cuda'] | None = None,
    no_cache: bool = False,
    architecture: Literal['conv-encoder', 'resnet', 'two-head', 'vit'] | None = None,
    input_name: str | None = None,
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
    only: Literal['smoothness', 'robustness', 'neighborhood', 'manifold', 'geometry', 'rankme', 'clid', 'retrieval', 'etes', 'perturb'] | Sequence[Literal['smoothness', 'robustness', 'neighborhood', 'manifold', 'geometry', 'rankme', 'clid', 'retrieval', 'etes', 'perturb']] | None = None,
    skip: Literal['smoothness', 'robustness', 'neighborhood', 'manifold', 'geometry', 'rankme', 'clid', 'retrieval', 'etes', 'perturb'] | Sequence[Literal['smoothness', 'robustness', 'neighborhood', 'manifold', 'geometry', 'rankme', 'clid', 'retrieval', 'etes', 'perturb']] | None = None,
    k: int | Sequence[int] | None = None,
    knn_k: int | None = None,
    sample: int | None = None,
    rank_by: str | Sequence[str] | None = None,
    clusters: int | None = None,
    memory: str | None = None,
    no_mmap: bool = False,
    keep_formulas: bool = False,
    seed: int = 42,
    level: float = 0.95,
) -> Results: ...

def robustness(
    encoders: Mapping[str, Callable[[Any], Any] | PathLike] | Callable[[Any], Any] | PathLike,
    states: ArrayLike,
    *,
    episodes: ArrayLike | None = None,
    batch_size: int = 256,
    threads: int | None = None,
    progress: bool | None = None,
    kind: Literal['gaussian', 'uniform', 'salt-and-pepper', 'blur', 'brightness', 'contrast', 'occlusion'] = 'gaussian',
    noise: float | str | Sequence[float | str] | None = None,
    draws: int = 1,
    clamp: float | str | Sequence[float | str] | None = None,
    pool: Literal['last', 'mean', 'first', 'flatten'] = 'last',
    runtime: Literal['rust', 'onnxruntime'] = 'rust',
    runtime_library: PathLike | None = None,
    provider: Literal['cpu', 'cuda'] | None = None,
    no_cache: bool = False,
    architecture: Literal['conv-encoder', 'resnet', 'two-head', 'vit'] | None = None,
    input_name: str | None = None,
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
    seed: int = 42,
    level: float = 0.95,
) -> Results: ...

def encode(
    encoder: PathLike,
    data: ArrayLike,
    *,
    threads: int | None = None,
    progress: bool | None = None,
    runtime: Literal['rust', 'onnxruntime'] = 'rust',
    runtime_library: PathLike | None = None,
    provider: Literal['cpu', 'cuda'] | None = None,
    batch_size: int = 32,
    no_cache: bool = False,
    architecture: Literal['conv-encoder', 'resnet', 'two-head', 'vit'] | None = None,
    input_name: str | None = None,
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
) -> np.ndarray | dict[str, np.ndarray]: ...

def smoothness(
    X: ArrayLike,
    Z: ArrayLike,
    *,
    next_states: ArrayLike | None = None,
    next_codes: ArrayLike | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

@overload
def trustworthiness(
    X: ArrayLike,
    Z: ArrayLike,
    *,
    k: int = 10,
    distance: Literal['euclidean', 'cosine'] = 'euclidean',
    sample: int | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...
@overload
def trustworthiness(
    X: ArrayLike,
    Z: ArrayLike,
    *,
    k: Sequence[int],
    distance: Literal['euclidean', 'cosine'] = 'euclidean',
    sample: int | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

@overload
def continuity(
    X: ArrayLike,
    Z: ArrayLike,
    *,
    k: int = 10,
    distance: Literal['euclidean', 'cosine'] = 'euclidean',
    sample: int | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...
@overload
def continuity(
    X: ArrayLike,
    Z: ArrayLike,
    *,
    k: Sequence[int],
    distance: Literal['euclidean', 'cosine'] = 'euclidean',
    sample: int | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

def participation_ratio(
    Z: ArrayLike,
    *,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def dimension_usage(
    Z: ArrayLike,
    *,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def spectrum(
    Z: ArrayLike,
    *,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

def two_nn(
    Z: ArrayLike,
    *,
    fit: Literal[None, 'mle'] = None,
    sample: int | None = None,
    discard: float = 0.1,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def uniformity(
    Z: ArrayLike,
    *,
    t: float = 2.0,
    sample: int | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def silhouette(
    Z: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    clusters: int | None = None,
    restarts: int = 10,
    sample: int | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def nmi(
    Z: ArrayLike,
    labels: ArrayLike,
    *,
    clusters: int | None = None,
    restarts: int = 10,
    clusterings: int = 5,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def ami(
    Z: ArrayLike,
    labels: ArrayLike,
    *,
    clusters: int | None = None,
    restarts: int = 10,
    clusterings: int = 5,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def inertia(
    Z: ArrayLike,
    *,
    clusters: int | None = None,
    restarts: int = 10,
    clusterings: int = 5,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def cluster_balance(
    Z: ArrayLike,
    *,
    clusters: int | None = None,
    restarts: int = 10,
    clusterings: int = 5,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def knn_accuracy(
    Z: ArrayLike,
    labels: ArrayLike,
    *,
    k: int | None = None,
    splits: int = 10,
    sample: int | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def rankme(
    Z: ArrayLike,
    *,
    variant: Literal['paper', 'spec'] = 'paper',
    eps: float | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def numerical_rank(
    Z: ArrayLike,
    *,
    threshold: float = 0.01,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def stable_rank(
    Z: ArrayLike,
    *,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def alpha_req(
    Z: ArrayLike,
    *,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def condition_number(
    Z: ArrayLike,
    *,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def std_collapse(
    Z: ArrayLike,
    *,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def clid(
    Z: ArrayLike,
    *,
    preset: Literal['spec', 'robust', 'paper'] = 'robust',
    standardize: bool | None = None,
    unit_length: Literal['none', 'vote', 'all'] | None = None,
    clusters: int | str | None = None,
    restarts: int | None = None,
    k: int | None = None,
    repeats: int | None = None,
    splits: int | None = None,
    id_norm: Literal['dim', 'pool'] | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def mcr2(
    Z: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    clusters: int | str | None = None,
    restarts: int | None = None,
    gam1: float = 1.0,
    gam2: float = 1.0,
    eps: float = 0.01,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

def alignment(
    Z: ArrayLike,
    view: ArrayLike,
    *,
    alpha: float = 2.0,
    t: float = 2.0,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def weighted_clid(
    models: Mapping[str, ArrayLike],
    performance: Mapping[str, float] | PathLike,
    *,
    pool: Literal['last', 'mean', 'first', 'flatten'] = 'last',
    ids: Mapping[str, ArrayLike] | ArrayLike | None = None,
    runtime: Literal['rust', 'onnxruntime'] = 'rust',
    runtime_library: PathLike | None = None,
    provider: Literal['cpu', 'cuda'] | None = None,
    batch_size: int = 32,
    no_cache: bool = False,
    architecture: Literal['conv-encoder', 'resnet', 'two-head', 'vit'] | None = None,
    input_name: str | None = None,
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
    states: ArrayLike | None = None,
    views: Mapping[str, ArrayLike] | ArrayLike | None = None,
    labels: ArrayLike | None = None,
    episodes: ArrayLike | None = None,
    preset: Literal['spec', 'robust', 'paper'] = 'robust',
    standardize: bool | None = None,
    unit_length: Literal['none', 'vote', 'all'] | None = None,
    clusters: int | str | None = None,
    restarts: int | None = None,
    k: int | None = None,
    repeats: int | None = None,
    splits: int | None = None,
    id_norm: Literal['dim', 'pool'] | None = None,
    alpha: float = 2.0,
    t: float = 2.0,
    eps: float = 0.01,
    gam1: float = 1.0,
    gam2: float = 1.0,
    no_mmap: bool = False,
    keep_formulas: bool = False,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Results: ...

def performance(
    models: Mapping[str, ArrayLike],
    performance: Mapping[str, float] | PathLike,
    *,
    pool: Literal['last', 'mean', 'first', 'flatten'] = 'last',
    ids: Mapping[str, ArrayLike] | ArrayLike | None = None,
    runtime: Literal['rust', 'onnxruntime'] = 'rust',
    runtime_library: PathLike | None = None,
    provider: Literal['cpu', 'cuda'] | None = None,
    batch_size: int = 32,
    no_cache: bool = False,
    architecture: Literal['conv-encoder', 'resnet', 'two-head', 'vit'] | None = None,
    input_name: str | None = None,
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
    states: ArrayLike | None = None,
    views: Mapping[str, ArrayLike] | ArrayLike | None = None,
    labels: ArrayLike | None = None,
    episodes: ArrayLike | None = None,
    preset: Literal['spec', 'robust', 'paper'] = 'robust',
    standardize: bool | None = None,
    unit_length: Literal['none', 'vote', 'all'] | None = None,
    clusters: int | str | None = None,
    restarts: int | None = None,
    k: int | None = None,
    repeats: int | None = None,
    splits: int | None = None,
    id_norm: Literal['dim', 'pool'] | None = None,
    alpha: float = 2.0,
    t: float = 2.0,
    eps: float = 0.01,
    gam1: float = 1.0,
    gam2: float = 1.0,
    no_mmap: bool = False,
    keep_formulas: bool = False,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Results: ...

@overload
def label_precision(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    k: int = 10,
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...
@overload
def label_precision(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    k: Sequence[int],
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

@overload
def label_recall(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    k: int = 10,
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...
@overload
def label_recall(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    k: Sequence[int],
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

@overload
def label_hit(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    k: int = 10,
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...
@overload
def label_hit(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    k: Sequence[int],
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

@overload
def label_ndcg(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    k: int = 10,
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...
@overload
def label_ndcg(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    k: Sequence[int],
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

def r_precision(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def map_at_r(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def mrr(
    queries: ArrayLike,
    targets: ArrayLike | None,
    labels: ArrayLike,
    *,
    target_labels: ArrayLike | None = None,
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

@overload
def pair_recall(
    queries: ArrayLike,
    targets: ArrayLike | None,
    *,
    k: int = 10,
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...
@overload
def pair_recall(
    queries: ArrayLike,
    targets: ArrayLike | None,
    *,
    k: Sequence[int],
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

@overload
def hubness(
    queries: ArrayLike,
    targets: ArrayLike | None,
    *,
    k: int = 10,
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...
@overload
def hubness(
    queries: ArrayLike,
    targets: ArrayLike | None,
    *,
    k: Sequence[int],
    normalize: bool = True,
    interval: Literal['population', 'gallery'] = 'population',
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

def modality_gap(
    queries: ArrayLike,
    targets: ArrayLike | None,
    *,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

def accuracy(
    labels: ArrayLike | Mapping[str, ArrayLike],
    baseline: ArrayLike | Mapping[str, ArrayLike],
    perturbed: Mapping[str, ArrayLike | Mapping[str, ArrayLike]] | None = None,
    *,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

def pis(
    labels: ArrayLike | Mapping[str, ArrayLike],
    baseline: ArrayLike | Mapping[str, ArrayLike],
    perturbed: Mapping[str, ArrayLike | Mapping[str, ArrayLike]] | None = None,
    *,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

def bleu(
    generated: Iterable[str],
    references: Iterable[str],
    *,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

def rouge(
    generated: Iterable[str],
    references: Iterable[str],
    *,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Scores: ...

def wer(
    generated: Iterable[str],
    references: Iterable[str],
    *,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined: ...

class _Etes(Protocol):
    BANDS: tuple[float, ...]
    ETESEvaluator: type[ETESEvaluator]

    def __call__(
        self,
        signal: ArrayLike,
        generated: ArrayLike,
        reference: ArrayLike | None = None,
        *,
        texts: Iterable[str] | None = None,
        reference_texts: Iterable[str] | None = None,
        fluency: ArrayLike | None = None,
        fluency_weight: float = 0.1,
        bands: float | Sequence[float] = (-0.8, -0.5, -0.2, 0.0),
        k: int | Sequence[int] = (1, 5, 10),
        permutations: int = 999,
        seed: int = 42,
        level: float = 0.95,
        threads: int | None = None,
        memory: str | None = None,
        progress: bool | None = None,
    ) -> Scores: ...

etes: _Etes
