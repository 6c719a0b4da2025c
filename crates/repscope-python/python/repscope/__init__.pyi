# SPDX-License-Identifier: MIT
# Written by stubs.py from what metrics declare.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._evaluate import compare as compare
from ._evaluate import encode as encode
from ._evaluate import evaluate as evaluate
from ._evaluate import robustness as robustness
from ._repscope import InputError as InputError
from ._repscope import InternalError as InternalError
from ._results import Figure as Figure
from ._results import Results as Results
from ._results import load as load
from ._scores import Score as Score
from ._scores import Scores as Scores
from ._scores import Undefined as Undefined
from .monitor import Monitor as Monitor

ArrayLike = Any
__version__: str

def metrics() -> list[str]: ...

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

def trustworthiness(
    X: ArrayLike,
    Z: ArrayLike,
    *,
    k: int | Sequence[int] = 10,
    distance: Literal['euclidean', 'cosine'] = 'euclidean',
    sample: int | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined | Scores: ...

def continuity(
    X: ArrayLike,
    Z: ArrayLike,
    *,
    k: int | Sequence[int] = 10,
    distance: Literal['euclidean', 'cosine'] = 'euclidean',
    sample: int | None = None,
    episodes: ArrayLike | None = None,
    seed: int = 42,
    level: float = 0.95,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool | None = None,
) -> Score | Undefined | Scores: ...

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
    variant: Literal['spec', 'paper'] = 'spec',
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
    preset: Literal['spec', 'paper'] = 'spec',
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
    models: Any,
    performance: Any,
    *,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def performance(
    models: Any,
    performance: Any,
    *,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def label_precision(
    queries: Any,
    targets: Any,
    labels: Any,
    *,
    target_labels: Any = None,
    k: Any = 10,
    normalize: Any = True,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def label_recall(
    queries: Any,
    targets: Any,
    labels: Any,
    *,
    target_labels: Any = None,
    k: Any = 10,
    normalize: Any = True,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def label_hit(
    queries: Any,
    targets: Any,
    labels: Any,
    *,
    target_labels: Any = None,
    k: Any = 10,
    normalize: Any = True,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def label_ndcg(
    queries: Any,
    targets: Any,
    labels: Any,
    *,
    target_labels: Any = None,
    k: Any = 10,
    normalize: Any = True,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def r_precision(
    queries: Any,
    targets: Any,
    labels: Any,
    *,
    target_labels: Any = None,
    normalize: Any = True,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def map_at_r(
    queries: Any,
    targets: Any,
    labels: Any,
    *,
    target_labels: Any = None,
    normalize: Any = True,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def mrr(
    queries: Any,
    targets: Any,
    labels: Any,
    *,
    target_labels: Any = None,
    normalize: Any = True,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def pair_recall(
    queries: Any,
    targets: Any,
    *,
    k: Any = 10,
    normalize: Any = True,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def hubness(
    queries: Any,
    targets: Any,
    *,
    k: Any = 10,
    normalize: Any = True,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def modality_gap(
    queries: Any,
    targets: Any,
    *,
    level: Any = 0.95,
    seed: Any = 42,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def accuracy(
    labels: Any,
    baseline: Any,
    perturbed: Any = None,
    *,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def pis(
    labels: Any,
    baseline: Any,
    perturbed: Any = None,
    *,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def bleu(
    generated: Any,
    references: Any,
    *,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def rouge(
    generated: Any,
    references: Any,
    *,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...

def wer(
    generated: Any,
    references: Any,
    *,
    seed: Any = 42,
    level: Any = 0.95,
    threads: Any = None,
    progress: Any = None,
) -> Any: ...
