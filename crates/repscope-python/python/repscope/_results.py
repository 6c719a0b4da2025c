# SPDX-License-Identifier: MIT
"""Results of a run: scores as tables, data frames, figures and an HTML page."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from . import _repscope
from ._axes import draw
from ._loggers import write
from ._scores import Score, Scores, Undefined
from ._scores import score as _score
from ._types import DataFrame, Logger, PathLike

#: A table with more rows is folded in notebooks.
_UNFOLDED = 12


class Results:
    """Return value of :func:`evaluate`, :func:`compare`, :func:`robustness` and :func:`load`.

    It prints as the table of the command. ``results["jepa", "two_nn"]`` is one score, ``results["jepa"]`` the scores of
    one model, ``results.figure("smoothness")`` a figure.
    """

    def __init__(self, run: _repscope.Run) -> None:
        self._run = run

    @cached_property
    def _document(self) -> dict[str, Any]:
        return json.loads(self._run.document())

    @cached_property
    def scores(self) -> list[Score | Undefined]:
        """Every score, in the order of the table."""
        return [_score(entry) for entry in self._document["scores"]]

    @property
    def models(self) -> list[str]:
        """The models that have scores."""
        return list(dict.fromkeys(score.model for score in self.scores))

    @property
    def warnings(self) -> list[str]:
        """Warnings of the run."""
        return list(self._document["warnings"])

    @property
    def differences(self) -> list[dict[str, Any]]:
        """Differences between models, with intervals and p-values; empty for a single model."""
        return list(self._document.get("differences", []))

    @property
    def versions(self) -> list[dict[str, Any]]:
        """What shorter and quantized embeddings score (``prefix``, ``quantize``), one entry per version.

        ``columns`` (None: all) and ``precision`` say which version it is, ``scores`` what it scores, ``changes`` how that
        differs from the whole embeddings, with intervals and adjusted p-values.
        """
        return list(self._document.get("versions", []))

    @property
    def layers(self) -> list[dict[str, Any]]:
        """Which models are layers of one: ``model``, ``of`` and ``depth``."""
        return list(self._document.get("layers", []))

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What is wrong with the data or a model: ``trouble``, ``model`` and ``text``."""
        return list(self._document.get("findings", []))

    def verdict(self) -> Verdict:
        """What is wrong, and the answer to each question that was asked."""
        return Verdict(*self._run.verdict())

    def breakdown(self, metric: str, model: str = "") -> dict[str, list[Any]]:
        """The breakdown of a metric as columns: by label, by cluster, or correlations with performance."""
        tables = self._document.get("breakdowns", [])
        for table in tables:
            if (table["metric"], table["model"]) == (metric, model):
                return {column["name"]: column["values"] for column in table["keys"] + table["columns"]}
        known = ", ".join(repr((table["metric"], table["model"])) for table in tables) or "none"
        raise KeyError(f"there is no table {(metric, model)!r}; there are {known}")

    @cached_property
    def samples(self) -> dict[str, np.ndarray]:
        """Scores of single samples, with the names of `samples.npz`."""
        with np.load(io.BytesIO(self._run.samples())) as stored:
            return {name: stored[name] for name in stored.files}

    @property
    def figures(self) -> list[str]:
        """The names of the available figures."""
        return self._run.figure_names()

    @overload
    def __getitem__(self, key: str) -> Scores: ...

    @overload
    def __getitem__(self, key: tuple[str, str]) -> Score | Undefined: ...

    def __getitem__(self, key: str | tuple[str, str]) -> Score | Undefined | Scores:
        model, metric = key if isinstance(key, tuple) else (key, None)
        own = {score.metric: score for score in self.scores if score.model == model}
        if not own:
            raise KeyError(f"there is no model {model!r}; there are {', '.join(self.models)}")
        if metric is None:
            return Scores(own, self.warnings)
        if metric not in own:
            raise KeyError(f"`{model}` has no score {metric!r}; it has {', '.join(own)}")
        return own[metric]

    def __iter__(self) -> Iterator[Score | Undefined]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def to_dict(self) -> dict[str, Any]:
        """The content of results.json."""
        return json.loads(self._run.document())

    def versions_to_pandas(self) -> DataFrame:
        """A data frame with one row per score of shorter and quantized embeddings.

        ``columns`` and ``precision`` come first; ``change`` is the difference from the whole embeddings, with its interval
        and adjusted p-value behind it.
        """
        rows = []
        for own in self.versions:
            changes = {(change["a"], change["metric"]): change for change in own["changes"]}
            for score in own["scores"]:
                change = changes.get((score["model"], score["metric"]), {})
                low, high = change.get("interval") or (None, None)
                columns = own["columns"] or own["columns_of"].get(score["model"])
                behind = {"change": change.get("value"), "change_low": low, "change_high": high}
                behind["change_p_adjusted"] = change.get("p_adjusted")
                rows.append({"columns": columns, "precision": own["precision"], **score, **behind})
        return _frame(rows)

    def to_pandas(self) -> DataFrame:
        """A data frame with one row per score."""
        return _frame(self._document["scores"])

    def log(self, logger: Logger, step: int | None = None, prefix: str = "repscope/") -> None:
        """Write every score under ``prefix + model/metric``; undefined scores are not written.

        ``logger`` is a SummaryWriter, ``wandb``, ``mlflow`` or ``trackio`` (the module or a run), a logger of Lightning, or
        a function of a dict and a step. MLflow takes fewer characters in names: others become ``_``.
        """
        named = ((f"{prefix}{score.model}/{score.metric}", score.value) for score in self.scores)
        write(logger, {name: value for name, value in named if value is not None}, step)

    def assert_gate(self, gates: str | Iterable[str], *, on: Literal["value", "interval"] = "value") -> None:
        """Raise an ``AssertionError`` with a table unless all scores keep these limits.

        ::

            results.assert_gate("trustworthiness@10>=0.95")
            results.assert_gate(["two_nn>4", "jepa:uniformity<-2"], on="interval")

        A limit is that of ``repscope compare --gate``: for every model, or for the one before the colon;
        ``equivalent(trustworthiness@10, 0.01)`` holds where every two models are the same within 0.01. With
        ``on="interval"``, all of the interval must keep it.
        """
        limits = [gates] if isinstance(gates, str) else list(gates)
        if not limits:
            raise ValueError('there is nothing to hold; give a limit, such as "trustworthiness@10>=0.95"')
        if on not in ("value", "interval"):
            raise ValueError(f"on = {on!r} must be 'value' or 'interval'")
        is_kept, table = self._run.gate(limits, on == "interval")
        if not is_kept:
            raise AssertionError(f"a limit is not kept\n{table}")

    def samples_to_pandas(self) -> DataFrame:
        """Scores of single samples as a data frame: a row per sample, a column per name of :attr:`samples`.

        Arrays with other rows than most are left out; they are in :attr:`samples`.
        """
        import pandas

        arrays = {name: array for name, array in self.samples.items() if array.ndim == 1}
        lengths = [len(array) for array in arrays.values()]
        usual = max(set(lengths), key=lengths.count) if lengths else 0
        return pandas.DataFrame({name: array for name, array in arrays.items() if len(array) == usual})

    def table(self, format: str = "table", *, all: bool = False) -> str:
        """The verdict and the scores as text: ``table``, ``markdown``, ``latex`` or ``csv``.

        Only scores that answer a question are shown, unless ``all`` is set; ``csv`` has every score.
        """
        return self._run.table(format, all)

    def save(self, folder: PathLike, *, figures: bool = True) -> None:
        """Write all files of the command into a folder: results.json, samples, CSV files, figures, report.html."""
        self._run.save(os.fspath(folder), figures)

    def figure(
        self,
        name: str,
        path: PathLike | None = None,
        *,
        format: str | None = None,
        width: float | None = None,
        ax: Any = None,
    ) -> Figure:
        """Draw a figure; with a path, also write it there, and with axes of matplotlib, into them.

        Parameters
        ----------
        name : str
            The name of an analysis such as ``smoothness``, or one of :attr:`figures`.
        path : path, optional
            Where to write it; its extension sets the format.
        format : str, default ``svg``
            ``png``, ``svg`` or ``pdf``.
        width : float, optional
            Width in millimeters: 88 is one column of a journal, 180 (the default) two columns.
        ax : matplotlib axes, optional
            Axes to draw into, with lines, bars and points of matplotlib: one axes, which is divided where the figure has
            several panels, or one for each panel.
        """
        if format is None:
            format = os.path.splitext(os.fspath(path))[1].lstrip(".").lower() if path is not None else "svg"
        figure = Figure(self._run.figure(name, format, width), format)
        if path is not None:
            figure.save(path)
        if ax is not None:
            draw(self._run.figure_description(name), ax)
        return figure

    def report(self, path: PathLike = "report.html") -> str:
        """Write the HTML page with all tables, figures and definitions; return its path."""
        self._run.write_html(os.fspath(path))
        return os.fspath(path)

    def __repr__(self) -> str:
        return self.table().rstrip("\n")

    def _repr_html_(self) -> str:
        """The verdict, and the scores as an HTML table: one row per metric, one column per model."""
        from html import escape

        models = self.models
        by_metric: dict[str, dict[str, Any]] = {}
        for score in self.scores:
            by_metric.setdefault(score.metric, {})[score.model] = score
        head = "".join(f"<th>{escape(model)}</th>" for model in models)
        rows = []
        for metric, own in by_metric.items():
            first = next(iter(own.values()))
            arrow = {"higher": "↑", "lower": "↓"}.get(first.better, "·")
            cells = "".join(f"<td>{_cell(own.get(model))}</td>" for model in models)
            chance = "" if first.chance is None else f"{first.chance:.3g}"
            rows.append(f"<tr><th style='text-align:left'>{escape(metric)} {arrow}</th>{cells}<td>{chance}</td></tr>")
        notes = "".join(f"<div>⚠ {escape(warning)}</div>" for warning in self.warnings)
        table = f"<table><thead><tr><th></th>{head}<th>chance</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        # The verdict answers; the numbers behind it unfold.
        is_open = " open" if len(rows) <= _UNFOLDED else ""
        folded = f"<details{is_open}><summary>{len(rows)} scores</summary>{table}</details>"
        return f"{self.verdict()._repr_html_()}{folded}{notes}"


class Verdict:
    """What a run says: the problems, then one answer for each question.

    It prints as the first lines of the table.

    Attributes
    ----------
    problems : list[str]
        What is wrong with the data or a model.
    answers : list[dict]
        One for each question: ``analysis``, ``title``, ``question``, ``sentence``, ``metric``, ``values``, ``best``,
        ``p_adjusted`` and ``n``. ``best`` is None where no model is better than every other.
    """

    problems: list[str]
    answers: list[dict[str, Any]]

    def __init__(self, document: str, text: str) -> None:
        parsed = json.loads(document)
        self.problems, self.answers, self._text = parsed["problems"], parsed["answers"], text

    def __getitem__(self, analysis: str) -> dict[str, Any]:
        for answer in self.answers:
            if answer["analysis"] == analysis:
                return answer
        known = ", ".join(answer["analysis"] for answer in self.answers) or "none"
        raise KeyError(f"there is no answer of {analysis!r}; there are {known}")

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        from html import escape

        lines = [("⚠", problem) for problem in self.problems]
        lines += [(answer["title"], answer["sentence"]) for answer in self.answers]
        items = "".join(f"<li><b>{escape(head)}</b> {escape(text)}</li>" for head, text in lines)
        return f"<ul>{items}</ul>" if items else ""


class Figure:
    """A drawn figure: its bytes in one format, displayed inline in notebooks."""

    def __init__(self, data: bytes, format: str) -> None:
        self.data = data
        self.format = format

    def save(self, path: PathLike) -> None:
        """Write the figure to a file, atomically."""
        path = os.fspath(path)
        ending = os.path.splitext(path)[1].lstrip(".").lower()
        if ending != self.format:
            raise ValueError(f"{path} ends in .{ending}, but the figure is drawn as {self.format}")
        part = f"{path}.part"
        with open(part, "wb") as file:
            file.write(self.data)
        os.replace(part, path)

    def _repr_svg_(self) -> str | None:
        return self.data.decode("utf-8") if self.format == "svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.data if self.format == "png" else None

    def __repr__(self) -> str:
        return f"<figure, {self.format}, {len(self.data)} bytes>"


def load(path: PathLike) -> Results:
    """Read the ``results.json`` of an earlier run, or of its folder, without computing."""
    return Results(_repscope.load(os.fspath(path)))


def _frame(scores: list[dict[str, Any]]) -> DataFrame:
    """Scores as a data frame."""
    import pandas

    frame = pandas.DataFrame(scores)
    ends = frame.pop("interval") if "interval" in frame else []
    at = list(frame.columns).index("value") + 1 if len(frame) else 0
    for place, name in enumerate(("low", "high")):
        values = [None if interval is None else interval[place] for interval in ends]
        frame.insert(at + place, name, np.array(values, dtype="f8") if len(values) else [])
    if len(frame):
        frame["value"] = frame["value"].astype("f8")
    return frame


def _cell(score: Score | Undefined | None) -> str:
    from html import escape

    if score is None:
        return ""
    if score.value is None:
        return f"<span title='{escape(str(score.reason), quote=True)}'>—</span>"
    text = f"{score.value:.4g}"
    if score.interval is not None:
        text += f" <small>[{score.interval[0]:.3g}, {score.interval[1]:.3g}]</small>"
    return text
