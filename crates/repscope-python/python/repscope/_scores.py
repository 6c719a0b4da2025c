# SPDX-License-Identifier: MIT
"""Scores: numbers with interval, chance level and metadata; an undefined score has a reason instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ._types import DataFrame


class Score(float):
    """A float with its confidence interval and metadata.

    Attributes
    ----------
    metric : str
        Metric id, such as ``trustworthiness@10``.
    model : str
        Name of the model.
    other : str or None
        Name of the other model, where it speaks of two.
    interval : tuple[float, float] or None
        Confidence interval at ``level``, computed by ``method`` over ``unit``.
    chance : float or None
        Expected value for a meaningless representation.
    better : str
        ``higher``, ``lower`` or ``neither``.
    n : int
        Number of units it was computed from.
    note : str or None
        Remark that is needed to interpret it.
    warnings : list[str]
        Warnings of the run.
    all : Scores
        Every score of the same call.
    """

    metric: str
    model: str
    other: str | None
    interval: tuple[float, float] | None
    level: float | None
    n: int
    better: str
    chance: float | None
    standard_error: float | None
    unit: str | None
    method: str | None
    note: str | None
    reason: None
    warnings: list[str]
    all: Scores
    _entry: dict[str, Any]

    def __new__(cls, entry: Mapping[str, Any]) -> Score:
        self = super().__new__(cls, entry["value"])
        _fill(self, entry)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Score, (self._entry,))

    @property
    def value(self) -> float:
        """The number, as a plain float."""
        return float(self)

    def to_dict(self) -> dict[str, Any]:
        """The score as an entry of results.json."""
        return dict(self._entry)

    def __repr__(self) -> str:
        text = f"{self.metric} = {float(self):.6g}"
        if self.interval is not None:
            text += f" [{self.interval[0]:.4g}, {self.interval[1]:.4g}]"
        if self.note is not None and "circular" in self.note:
            text += f" ({self.note})"
        return text

    def __str__(self) -> str:
        return repr(float(self))

    def _repr_html_(self) -> str:
        return _html([self])


class Undefined:
    """A score that is undefined for the data. ``reason`` says why; ``float()`` raises ValueError."""

    metric: str
    model: str
    other: str | None
    interval: None
    level: float | None
    n: int
    better: str
    chance: float | None
    standard_error: float | None
    unit: str | None
    method: str | None
    note: str | None
    reason: str
    warnings: list[str]
    all: Scores
    _entry: dict[str, Any]
    value: None = None

    def __init__(self, entry: Mapping[str, Any]) -> None:
        _fill(self, entry)

    def to_dict(self) -> dict[str, Any]:
        """The score as an entry of results.json."""
        return dict(self._entry)

    def __float__(self) -> float:
        raise ValueError(f"{self.metric} is undefined: {self.reason}")

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"{self.metric} undefined: {self.reason}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Undefined, (self._entry,))

    def _repr_html_(self) -> str:
        return _html([self])


class Scores(Mapping[str | int, Score | Undefined]):
    """Scores by name, in display order."""

    warnings: list[str]

    def __init__(self, scores: Mapping[Any, Score | Undefined], warnings: list[str] | None = None) -> None:
        self._scores: dict[str | int, Score | Undefined] = dict(scores)
        self.warnings = warnings or []

    def __getitem__(self, name: str | int) -> Score | Undefined:
        try:
            return self._scores[self._full(name)]
        except KeyError:
            known = ", ".join(str(known) for known in self._scores)
            raise KeyError(f"there is no score {name!r}; there are {known}") from None

    def _full(self, name: str | int) -> str | int:
        """The name itself, or the only variant of it."""
        variants = [own for own in self._scores if isinstance(own, str) and own.startswith(f"{name}(")]
        return variants[0] if name not in self._scores and len(variants) == 1 else name

    def __getattr__(self, name: str) -> Score | Undefined:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._scores[self._full(name)]
        except KeyError:
            known = ", ".join(str(known) for known in self._scores)
            raise AttributeError(f"there is no score {name!r}; there are {known}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self._scores if isinstance(name, str) and name.isidentifier())]

    def __iter__(self) -> Iterator[str | int]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def to_dict(self) -> dict[str | int, dict[str, Any]]:
        """Every score as an entry of results.json."""
        return {name: score.to_dict() for name, score in self._scores.items()}

    def to_pandas(self) -> DataFrame:
        """A data frame with one row per score."""
        import pandas

        return pandas.DataFrame([score.to_dict() for score in self._scores.values()])

    def __repr__(self) -> str:
        return "\n".join(repr(score) for score in self._scores.values()) or "no scores"

    def _repr_html_(self) -> str:
        return _html(self._scores.values())


def score(entry: Mapping[str, Any]) -> Score | Undefined:
    """The score of an entry of results.json."""
    return Undefined(entry) if entry["value"] is None else Score(entry)


def _fill(score: Any, entry: Mapping[str, Any]) -> None:
    score._entry = dict(entry)
    for name, value in entry.items():
        if name != "value":
            setattr(score, name, tuple(value) if name == "interval" and value is not None else value)
    for name in ("other", "standard_error", "unit", "method", "note"):
        if name not in entry:
            setattr(score, name, None)
    score.warnings = []


def _html(scores: Iterable[Score | Undefined]) -> str:
    from html import escape

    rows = []
    for score in scores:
        value = "—" if score.value is None else f"{score.value:.6g}"
        interval = "" if score.interval is None else f"[{score.interval[0]:.4g}, {score.interval[1]:.4g}]"
        said = score.reason or score.note or ""
        arrow = {"higher": "↑", "lower": "↓"}.get(score.better, "·")
        chance = "" if score.chance is None else f"{score.chance:.4g}"
        cells = (score.metric, arrow, value, interval, chance, score.n, said)
        rows.append("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{name}</th>" for name in ("metric", "", "value", "interval", "chance", "n", ""))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
