# SPDX-License-Identifier: MIT
"""ETES, the EEG–text energy score.

``from repscope.etes import ETESEvaluator`` is the evaluator of the original code; ``repscope.etes(signal, generated)``
is the metric on embeddings. Energies are negative cosine similarities (negative cosines): lower is better.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ._arrays import lend, rows_of, to_numpy
from ._call import Call
from ._results import Results
from ._scores import Score, Scores, Undefined
from ._scores import score as _score
from ._signatures import with_options
from ._types import ArrayLike, PathLike, TextEncoder
from .retrieval import BATCH, DocumentResults, check_encoder, encode_texts

__all__ = ["BANDS", "ETESEvaluator"]

#: Upper limits of excellent, good, fair and weak; above them is poor. The specification leaves −0.2 to 0 open.
BANDS = (-0.8, -0.5, -0.2, 0.0)
_QUALITIES = ("excellent", "good", "fair", "weak", "poor")
#: Result keys of the original code.
_KEYS = {
    "etes_alignment": "etes.alignment",
    "etes_alignment_std": "etes.std",
    "etes_total": "etes.total",
    "etes_total_std": "etes.std",
    "etes_min": "etes.min",
    "etes_max": "etes.max",
    "etes_median": "etes.median",
    "etes_p10": "etes.p10",
    "etes_p90": "etes.p90",
}
_KEYS_OF_REFERENCES = {"etes_reference": "etes.reference", "etes_gap": "etes.gap"}
#: Name of the texts as a system of the command.
_SYSTEM = "system"

#: The function of the metric; the package sets it.
_function: Callable[..., Scores]


class ETESEvaluator:
    """Score how well texts match the signals that they were generated from.

    Parameters
    ----------
    text_encoder : callable, object or path, optional
        Maps texts to embeddings in the space of the signals: any callable ``(list of str) -> (N, D) array``, an object
        with ``encode(texts)``, or the path of a text model supported by :func:`repscope.encode`. Without it, pass
        embeddings in place of texts.
    fluency : callable or path, optional
        ``(list of str) -> (N,) numbers``: the log-perplexity (mean negative log-likelihood of the tokens) of each
        text; or the folder of a language model (GPT-2, T5) that gives them. The total energy is then alignment + ``fluency_weight`` · log-perplexity / 10; without it, total equals
        alignment.
    fluency_weight : float
        Weight of fluency in the total.
    fluency_kind : str
        ``log-perplexity``, or ``perplexity`` if the callable returns perplexities.
    bands : four numbers
        Upper limits of the qualities excellent, good, fair and weak; above them is poor.
    device : optional
        Passed to the text encoder if it takes a device.
    batch_size : int
        Number of texts per batch.
    **options
        If the text encoder is a path, options of ``repscope encode``: ``checkpoint="glim.ckpt"`` applies its aligner
        after the text model, ``template="To English: {}"`` wraps each text in the prompt the aligner was trained on.

    Notes ----- Conventions are those of the specification. The original code differs: its min, max, median and
    percentiles describe the total energy, here the alignment, as specified; its median is the lower of the middle
    two, here their mean; its bands have ``poor`` below 0.2 and ``very_poor`` above. Standard deviations have n − 1 in
    both. An embedding of length zero has no cosine: its sample is left out, with a warning.
    """

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

    @with_options("encode", without=("encoder", "input"))
    def __init__(
        self,
        text_encoder: TextEncoder | None = None,
        fluency: Callable[[list[str]], Any] | PathLike | None = None,
        *,
        fluency_weight: float = 0.1,
        fluency_kind: str = "log-perplexity",
        bands: Sequence[float] = BANDS,
        device: Any = None,
        batch_size: int = BATCH,
        threads: int | None = None,
        progress: bool | None = None,
        **options: Any,
    ) -> None:
        if text_encoder is not None:
            check_encoder(text_encoder, options)
        elif options:
            raise TypeError(f"{', '.join(sorted(options))}: there is no text encoder that could have options")
        if fluency is not None and not callable(fluency) and not isinstance(fluency, (str, os.PathLike)):
            kind = type(fluency).__name__
            raise TypeError(
                f"fluency is of type {kind}; give a callable (list of str) -> numbers, or the path of a model"
            )
        self.text_encoder = text_encoder
        is_path = isinstance(text_encoder, (str, os.PathLike))
        self._has_no_aligner = is_path and (options.get("checkpoint") is None or bool(options.get("no_projection")))
        self.fluency = fluency
        self.fluency_weight = fluency_weight
        self.fluency_kind = fluency_kind
        self.bands = tuple(float(band) for band in bands)
        self.device = device
        self.batch_size = batch_size
        self.threads = threads
        self.progress = progress
        self.options = options

    def encode_text(self, texts: Iterable[str]) -> np.ndarray:
        """One embedding per text."""
        return self._encoded(_as_texts(texts, "texts"), "texts")

    def compute_alignment_energy(self, eeg_emb: ArrayLike, text_emb: ArrayLike) -> np.ndarray:
        """The energy −cos of each pair of rows; nan if a row has length zero. Lower is better."""
        call = Call("etes").option("permutations", 0).option("k", 1)
        call.lent("signal", _vectors(eeg_emb, "eeg_emb"))
        call.add("generated", _SYSTEM, call.array("text_emb", _vectors(text_emb, "text_emb")))
        return _column(self._results(call), "energy")

    def evaluate(
        self,
        eeg_embeddings: ArrayLike,
        generated_texts: Iterable[str] | ArrayLike,
        reference_texts: Iterable[str] | ArrayLike | None = None,
        fluency_weight: float | None = None,
    ) -> DocumentResults[Score | Undefined]:
        """The scores of all samples.

        Parameters
        ----------
        eeg_embeddings : array
            Embeddings of the signals, (B, D).
        generated_texts : texts or array
            The text generated from each signal, or its embedding.
        reference_texts : texts or array, optional
            The reference text of each signal, or its embedding.
        fluency_weight : float, optional
            Overrides the weight of the evaluator.

        Returns
        -------
        DocumentResults
            ``etes_alignment``, ``etes_alignment_std``, ``etes_total``, ``etes_total_std``, ``etes_min``, ``etes_max``,
            ``etes_median``, ``etes_p10``, ``etes_p90``, and with references ``etes_reference`` and ``etes_gap``: each a
            :class:`~repscope.Score`, or an :class:`~repscope.Undefined`, for example the standard deviation of one
            sample. ``.scores`` has all other scores, such as ``etes.auc``: whether texts match their own signal best.
        """
        results = self._run(eeg_embeddings, generated_texts, reference_texts, fluency_weight)
        warnings = results.warnings
        if self._has_no_aligner and _are_texts(generated_texts):
            warnings.append(
                f"texts are embedded by {self.text_encoder} alone, without the aligner of a trained model (checkpoint): "
                "energies mean something only if the signals were trained into the space of this encoder"
            )
        own = {score.metric: score for score in results.scores}
        keys = _KEYS if reference_texts is None else _KEYS | _KEYS_OF_REFERENCES
        values = {key: own[metric] for key, metric in keys.items()}
        if self.fluency is not None:
            values["etes_total_std"] = _spread_of_totals(own["etes.std"], _column(results, "total"))
        everything = Scores(own, warnings)
        for score in values.values():
            score.all, score.warnings = everything, warnings
        return DocumentResults(values, results, warnings)

    def __call__(
        self,
        eeg_embeddings: ArrayLike,
        generated_texts: Iterable[str] | ArrayLike,
        reference_texts: Iterable[str] | ArrayLike | None = None,
        fluency_weight: float | None = None,
    ) -> DocumentResults[Score | Undefined]:
        """As :meth:`evaluate`."""
        return self.evaluate(eeg_embeddings, generated_texts, reference_texts, fluency_weight)

    def get_sample_scores(
        self,
        eeg_embeddings: ArrayLike,
        generated_texts: Iterable[str] | ArrayLike,
        reference_texts: Iterable[str] | ArrayLike | None = None,
    ) -> list[dict[str, Any]]:
        """The scores of each sample: ``index``, ``text``, ``etes`` (its alignment energy) and ``quality``.

        With references also ``reference`` (the energy of the reference text; ``reference_energy``, its name in files, is
        the same) and ``gap`` (``etes`` minus ``reference``); with fluency also ``total`` and ``log_perplexity``. ``text`` is None if embeddings were given. A sample whose signal
        or text embedding has length zero has the energy nan and the quality None.
        """
        results = self._run(eeg_embeddings, generated_texts, reference_texts, None)
        columns = {"etes": _column(results, "energy")}
        if reference_texts is not None:
            energies = _column(results, "reference_energy")
            columns |= {"reference": energies, "reference_energy": energies, "gap": _column(results, "gap")}
        if self.fluency is not None:
            columns |= {"total": _column(results, "total"), "log_perplexity": _column(results, "log_perplexity")}
        band = _column(results, "band")
        texts = _as_texts(generated_texts, "generated_texts") if _are_texts(generated_texts) else [None] * len(band)
        return [
            {
                "index": i,
                "text": text,
                "etes": float(columns["etes"][i]),
                "quality": None if np.isnan(band[i]) else _QUALITIES[int(band[i])],
                **{name: float(values[i]) for name, values in columns.items() if name != "etes"},
            }
            for i, text in enumerate(texts)
        ]

    @staticmethod
    def _interpret_score(energy: float, bands: Sequence[float] = BANDS) -> str:
        """The quality of an energy: below −0.8 excellent, below −0.5 good, below −0.2 fair, up to 0 weak, then poor."""
        value = float(energy)
        if np.isnan(value):
            raise ValueError("nan is no energy, so it has no quality")
        return _QUALITIES[4 if value > bands[3] else sum(value >= band for band in bands[:3])]

    def _run(self, signals: Any, generated: Any, references: Any, fluency_weight: float | None) -> Results:
        vectors = _vectors(signals, "eeg_embeddings")
        count = rows_of(vectors)
        call = Call("etes").option("permutations", 0).lent("signal", vectors, "eeg_embeddings")
        call.option("k", [k for k in (1, 5, 10) if k <= max(count, 1)])
        call.option("bands", self.bands)
        texts, embeddings = self._side(generated, "generated_texts", count)
        call.add("generated", _SYSTEM, call.array("generated_texts", embeddings))
        if texts is not None:
            call.add("generated_text", _SYSTEM, call.array("generated_texts as text", texts))
        if references is not None:
            true_texts, embeddings = self._side(references, "reference_texts", count)
            call.lent("reference", embeddings, "reference_texts")
            call.lent("reference_text", true_texts, "reference_texts as text")
        if self.fluency is not None:
            if texts is None:
                raise ValueError("fluency is of texts, but generated_texts are embeddings; give the texts themselves")
            weight = self.fluency_weight if fluency_weight is None else fluency_weight
            call.option("fluency_weight", float(weight))
            if isinstance(self.fluency, (str, os.PathLike)):
                call.option("fluency_model", os.fspath(self.fluency))
                return self._results(call)
            numbers = np.asarray(lend(self.fluency(texts), "fluency")[0])
            if numbers.shape != (count,):
                raise ValueError(
                    f"fluency was shown {count} texts and gave shape {numbers.shape}; it must give one number each"
                )
            call.add("fluency", _SYSTEM, call.array("fluency", numbers))
            call.option("fluency_kind", self.fluency_kind)
        return self._results(call)

    def _side(self, given: Any, name: str, count: int) -> tuple[list[str] | None, Any]:
        """The texts, if texts are given, and their embeddings."""
        if not _are_texts(given):
            return None, _vectors(given, name)
        texts = _as_texts(given, name)
        # Checked before encoding, which may take long.
        if len(texts) != count:
            raise ValueError(f"there are {count} signals and {len(texts)} {name}; give one text per signal")
        return texts, self._encoded(texts, name)

    def _encoded(self, texts: list[str], name: str) -> np.ndarray:
        if self.text_encoder is None:
            raise ValueError(
                f"`{name}` are texts, and this evaluator has no text encoder; construct it with one, or give embeddings"
            )
        if not texts:
            raise ValueError(f"`{name}` is empty; give at least one text")
        return encode_texts(texts, self.text_encoder, self.device, self.batch_size, self.progress, self.options)

    def _results(self, call: Call) -> Results:
        return Results(call.run(["etes"], threads=self.threads, progress=self.progress))


def _are_texts(given: Any) -> bool:
    if isinstance(given, (str, bytes)):
        return True
    array = to_numpy(given, "texts")
    return isinstance(array, list) or array.dtype.kind in "USO" or (array.size == 0 and array.ndim == 1)


def _as_texts(given: Any, name: str) -> list[str]:
    if isinstance(given, (str, bytes)):
        raise TypeError(f"`{name}` is one string; give a list with one text per signal")
    array = to_numpy(given, name)
    texts = array if isinstance(array, list) else array.tolist()
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise TypeError(f"`{name}` holds {text!r} at {place}, of type {kind}; give one text per signal")
    return [str(text) for text in texts]


def _vectors(given: Any, name: str) -> Any:
    """Embeddings with one row per sample."""
    array = to_numpy(given, name)
    # A single axis is one sample: encoders that squeeze their output lose the axis of a batch of one.
    return array.reshape(1, -1) if isinstance(array, np.ndarray) and array.ndim == 1 else array


def _column(results: Results, name: str) -> np.ndarray:
    return results.samples[f"{_SYSTEM}/etes/{name}"]


def _spread_of_totals(std: Score | Undefined, totals: np.ndarray) -> Score | Undefined:
    """The standard deviation of total energies, which differs from that of the alignment if fluency is used."""
    entry = std.to_dict() | dict.fromkeys(("interval", "level", "standard_error", "unit", "method", "note"))
    entry["metric"] = "etes.total.std"
    if entry["value"] is not None:
        entry["value"] = float(np.std(totals[~np.isnan(totals)], ddof=1))
    return _score(entry)


class _Metric(types.ModuleType):
    """The module, which is also the function of the metric."""

    def __call__(self, *args: Any, **kwargs: Any) -> Scores:
        return self._function(*args, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function)

    def __repr__(self) -> str:
        empty = inspect.Parameter.empty
        plain = [own.replace(annotation=empty) for own in self.__signature__.parameters.values()]
        form = inspect.Signature(plain)
        return f"<module and metric {self.__name__!r}: call it as {self.__name__}{form}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (importlib.import_module, (self.__name__,))


sys.modules[__name__].__class__ = _Metric
