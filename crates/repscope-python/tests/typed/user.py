# SPDX-License-Identifier: MIT
"""A script as users write it, for `mypy --strict`: test_typing.py checks that it passes, and runs it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import repscope
from repscope.compat.skdim import TwoNN
from repscope.compat.sklearn import trustworthiness
from repscope.etes import ETESEvaluator
from repscope.retrieval import compute_label_recall_at_k


class Writer:
    """Stands for a SummaryWriter."""

    def __init__(self) -> None:
        self.written: dict[str, float] = {}

    def add_scalar(self, tag: str, scalar_value: Any, global_step: int | None = None) -> None:
        self.written[tag] = float(scalar_value)


def encode(batch: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """An encoder."""
    return np.tanh(batch[:, :4])


def number(score: repscope.Score | repscope.Undefined) -> float:
    """The number of a score, or an error that says why there is none."""
    if score.value is None:
        raise ValueError(score.reason)
    low, high = score.interval or (score.value, score.value)
    return min(max(score.value, low), high)


def functions(inputs: npt.NDArray[np.float64], labels: list[str]) -> dict[str, float]:
    """Functions of metrics."""
    embeddings = encode(inputs)
    dimension = repscope.two_nn(embeddings, discard=0.2, fit="mle")
    one = repscope.trustworthiness(inputs, embeddings, k=5, distance="cosine")
    several = repscope.trustworthiness(inputs, embeddings, k=[5, 10])
    parts: repscope.Scores = repscope.smoothness(inputs, embeddings, threads=1)
    energies = repscope.etes(inputs, inputs[::-1].copy(), permutations=0)
    found = repscope.label_precision(embeddings, None, labels, k=3)
    return {
        "dimension": number(dimension),
        "one": number(one),
        "ten": number(several[10]),
        "slope": number(parts.slope),
        "energy": number(energies["alignment"]),
        "found": number(found),
    }


def analyses(inputs: npt.NDArray[np.float64], labels: list[str], folder: Path) -> list[str]:
    """Whole analyses, and what is done with their results."""
    models = {"encoder": encode, "inputs": inputs}
    results = repscope.evaluate(models, states=inputs, labels=labels, skip=["robustness", "clid"], k=[3, 5], seed=1)
    score = results["encoder", "two_nn"]
    own: repscope.Scores = results["encoder"]
    assert score.value == own["two_nn"].value
    document: dict[str, Any] = results.to_dict()
    frame = results.to_pandas()
    names = [str(name) for name in frame.columns]
    results.save(folder / "out", figures=False)
    results.figure("geometry", folder / "geometry.svg", width=88.0)
    again = repscope.load(os.fspath(folder / "out"))
    against = repscope.compare({"a": inputs, "b": inputs[:, :2]}, labels=labels, only="geometry")
    p_values = [difference["p_adjusted"] for difference in against.differences]
    noisy = repscope.robustness(encode, inputs, noise=[0.1, 0.2], clamp="data")
    assert len(again) == len(results) and len(p_values) > 0 and len(noisy) > 0
    return [*names, *document, results.table("markdown"), *(str(score.metric) for score in results)]


def training(batches: list[npt.NDArray[np.float64]]) -> dict[str, float]:
    """Metrics during training."""
    writer = Writer()
    monitor = repscope.Monitor(["rankme", "two_nn"], rows=100, threads=1)
    for batch in batches:
        monitor.update(batch)
    scores = monitor.log(writer, step=1)
    assert number(scores["two_nn"]) == writer.written["repscope/two_nn"]
    return writer.written


def scripts(inputs: npt.NDArray[np.float64], labels: list[str]) -> float:
    """The library calls of other scripts and libraries."""
    recall = compute_label_recall_at_k(inputs, inputs[::-1].copy(), labels, 5, "text2sensor", verbose=False)
    energies = ETESEvaluator(bands=(-0.9, -0.5, -0.2, 0.0)).evaluate(inputs, inputs)
    estimator = TwoNN(discard_fraction=0.2).fit(inputs)
    like = trustworthiness(inputs, inputs[:, :3], n_neighbors=3)
    return number(recall["text2sensor"][5]) + number(energies["etes_alignment"]) + estimator.dimension_ + like


def main() -> None:
    """Everything once."""
    inputs = np.random.default_rng(0).normal(size=(60, 8))
    labels = ["a", "b", "c"] * 20
    print(functions(inputs, labels))
    with tempfile.TemporaryDirectory() as folder:
        print(len(analyses(inputs, labels, Path(folder))))
    print(training([inputs[:30], inputs[30:]]))
    print(scripts(inputs, labels))
    try:
        repscope.two_nn(inputs * np.nan)
    except repscope.DataError as error:
        print(error)


if __name__ == "__main__":
    main()
