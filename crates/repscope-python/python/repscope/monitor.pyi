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

class Monitor:

    def __init__(
        self,
        metrics: str | Iterable[str],
        *,
        rows: int = 10000,
        seed: int = 42,
        stream: int = 0,
        level: float | None = None,
        threads: int | None = None,
        memory: str | None = None,
        progress: bool | None = None,
        fit: Literal[None, 'mle'] | None = None,
        sample: int | None = None,
        discard: float | None = None,
        normalizer: Literal[None, 'k-2'] | None = None,
        k: int | Sequence[int] | None = None,
        gride_k: int | None = None,
        version: Literal[None, 'fan', 'participation'] | Literal[None, 'fractional'] | None = None,
        local_k: int | None = None,
        danco_k: int | None = None,
        danco_rows: int | None = None,
        t: float | None = None,
        clusters: int | None | str = None,
        restarts: int | None = None,
        clusterings: int | None = None,
        variant: Literal['paper', 'spec'] | None = None,
        eps: float | None = None,
        threshold: float | None = None,
        pcs: Literal['1', '10'] | None = None,
        scale: Literal[None, 'none'] | None = None,
        preset: Literal['spec', 'robust', 'paper'] | None = None,
        standardize: bool | None = None,
        unit_length: Literal['none', 'vote', 'all'] | None = None,
        repeats: int | None = None,
        splits: int | None = None,
        id_norm: Literal['dim', 'pool'] | None = None,
        gam1: float | None = None,
        gam2: float | None = None,
    ) -> None: ...
    @property
    def metrics(self) -> list[str]: ...
    @property
    def seen(self) -> int: ...

    def reset(self) -> None: ...

    def update(
        self,
        batch: ArrayLike,
    ) -> None: ...

    def merge(
        self,
        other: Monitor,
    ) -> Monitor: ...

    def compute(self) -> Scores: ...

    def log(
        self,
        writer: Logger,
        step: int,
        prefix: str = 'repscope/',
    ) -> Scores: ...

    def __len__(self) -> int: ...

    def __bool__(self) -> bool: ...

    def __repr__(self) -> str: ...
