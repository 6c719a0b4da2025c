# SPDX-License-Identifier: MIT
"""The library calls of the label retrieval script: Label-Recall@K between sensor and text embeddings, and prototypes.

They work as in the script; only the import changes. Label-Recall@K is ``label_precision`` here: of the K targets most
similar to a query, the share with the query's label, averaged over queries. ``results["text2sensor"][10]`` is a float
with its confidence interval.
"""

from __future__ import annotations

import inspect
import json
import math
import operator
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from ._arrays import to_numpy
from ._call import Call
from ._encoders import Encoder
from ._evaluate import encode
from ._repscope import prototype_texts, trained_with
from ._results import Results
from ._scores import Score, Scores, Undefined
from ._signatures import put_options, with_options
from ._types import ArrayLike, PathLike, SupportsDLPack, TextEncoder

__all__ = [
    "CheckpointTextEncoder",
    "DocumentResults",
    "LabelTexts",
    "compute_label_recall_at_k",
    "compute_prototype_retrieval_metrics",
    "create_text_encoder_from_checkpoint",
    "encode_text_prototypes",
    "get_optimal_device",
    "load_text_prototypes_from_metadata",
    "print_results_summary",
    "save_results",
]

_Value = TypeVar("_Value")
#: Default batch size for texts, as in the command.
BATCH = 32


class DocumentResults(dict[str, _Value], Generic[_Value]):
    """Results in the layout of the original script.

    Attributes
    ----------
    scores : Results or None
        Every score of the call, with intervals, chance levels and figures; None after unpickling.
    warnings : list[str]
        Warnings of the run.
    """

    scores: Results | None
    warnings: list[str]

    def __init__(
        self, values: Mapping[str, _Value], scores: Results | None = None, warnings: Iterable[str] = ()
    ) -> None:
        super().__init__(values)
        self.scores = scores
        self.warnings = list(warnings)

    def __reduce__(self) -> tuple[Any, ...]:
        return (DocumentResults, (dict(self), None, self.warnings))


class LabelTexts(dict[str, str | list[str]]):
    """Texts by label from the metadata: one text, or a list if a label has several.

    Attributes
    ----------
    source : str
        The metadata field, such as ``label_to_text_sourish``.
    warnings : list[str]
        Deviations from the request.
    """

    source: str
    warnings: list[str]

    def __init__(
        self, texts: Mapping[str, str | list[str]] | None = None, source: str = "", warnings: Iterable[str] = ()
    ) -> None:
        super().__init__(texts or {})
        self.source = source
        self.warnings = list(warnings)


@with_options("retrieval", without=("no_normalize",))
def compute_label_recall_at_k(
    sensor_embeddings: ArrayLike | None,
    text_embeddings: ArrayLike | None,
    labels: ArrayLike,
    k_values: int | Iterable[int] = (10, 50, 100),
    directions: str | Iterable[str] = ("text2sensor", "sensor2text"),
    normalize: bool = True,
    verbose: bool = True,
    *,
    exclude_self: bool = True,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> DocumentResults[dict[int, Score | Undefined]]:
    """Label-Recall@K between embeddings whose rows are the same samples.

    Parameters
    ----------
    sensor_embeddings, text_embeddings : array or None
        One row per sample, in the same order. One of them may be None if only the other one is searched with itself.
    labels : array
        A label per row, of any kind.
    k_values : integers
        Numbers K of first targets to score.
    directions : names
        text2sensor, sensor2text, sensor2sensor, text2text; ``both`` is the first two. When a space searches itself, a
        row is never its own target.
    normalize : bool
        Cosine similarity; False: inner product of the rows without normalization.
    verbose : bool
        Print the values and warnings.
    exclude_self : bool
        Only True is supported: a query that finds itself would count as a hit.

    Returns
    -------
    DocumentResults
        ``results[direction][k]``: a :class:`~repscope.Score`, which is a float, or an :class:`~repscope.Undefined`.
        Queries whose label has no relevant targets are left out of the mean; ``results.warnings`` counts them. A K
        larger than the number of targets becomes that number. With ``split`` or ``train_labels``, the values are those of
        the held-out rows; ``results.scores`` has those of training as the model ``train``.
    """
    directions = _directions(directions)
    if not exclude_self and any(_searches_itself(direction) for direction in directions):
        raise ValueError(
            "exclude_self=False: every row would find itself first and count that as a hit, which says nothing of the "
            "embeddings. Document 001 has self-checks that never return the query; leave exclude_self out"
        )
    call = Call("retrieval")
    call.lent("sensor_embeddings", sensor_embeddings).lent("text_embeddings", text_embeddings).lent("labels", labels)
    put_options(compute_label_recall_at_k, "retrieval", call, options)
    return _search(call, k_values, directions, normalize, verbose, threads, progress)


@with_options("retrieval", without=("labels", "no_normalize"))
def compute_prototype_retrieval_metrics(
    prototype_embeddings: ArrayLike,
    prototype_labels: ArrayLike,
    sensor_embeddings: ArrayLike | None = None,
    text_embeddings: ArrayLike | None = None,
    target_labels: ArrayLike | None = None,
    k_values: int | Iterable[int] = (10, 50, 100),
    directions: str | Iterable[str] = "both",
    normalize: bool = True,
    verbose: bool = True,
    *,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> DocumentResults[dict[int, Score | Undefined]]:
    """Label-Recall@K with prototypes as queries: one or more embeddings per label.

    Parameters
    ----------
    prototype_embeddings, prototype_labels : array
        One row per prototype, and its label; a label may have several. :func:`encode_text_prototypes` returns both.
    sensor_embeddings, text_embeddings : array, optional
        The targets; at least one of them is required.
    target_labels : array
        A label per row, spelled like those of the prototypes. Prototypes whose label has no targets are left out and
        listed in ``results.warnings``; it is an error if none remain.
    directions : names
        prototype2sensor, prototype2text; ``both`` is those whose embeddings are given.

    The other parameters and the return value are those of :func:`compute_label_recall_at_k`.
    """
    if target_labels is None:
        raise TypeError("target_labels is missing: give the label of each row that is searched")
    call = Call("retrieval")
    call.lent("prototype_embeddings", prototype_embeddings).lent("prototype_labels", prototype_labels)
    call.lent("sensor_embeddings", sensor_embeddings).lent("text_embeddings", text_embeddings)
    call.lent("labels", target_labels, "target_labels")
    put_options(compute_prototype_retrieval_metrics, "retrieval", call, options)
    return _search(call, k_values, _directions(directions), normalize, verbose, threads, progress)


def load_text_prototypes_from_metadata(
    metadata_path: PathLike, dataset_name: str = "milan", style: str = "sourish"
) -> LabelTexts:
    """The texts that describe the labels of a dataset: ``{label: text}``, in the order of the file.

    Reads the field ``label_to_text_<style>``. If it is missing, reads ``label_to_text``: its field of that name
    (``long_desc``), or all of its descriptions, with a warning. A label with several texts has a list.
    """
    pairs, source, notes = prototype_texts(os.fspath(metadata_path), dataset_name, style)
    found = LabelTexts(source=source, warnings=notes)
    for label, text in pairs:
        if label in found:
            own = found[label]
            found[label] = [*(own if isinstance(own, list) else [own]), text]
        else:
            found[label] = text
    for warning in notes:
        warnings.warn(warning, stacklevel=2)
    return found


@with_options("encode", without=("encoder", "input", "threads"))
def encode_text_prototypes(
    label_to_text: Mapping[Any, str | Iterable[str]],
    text_encoder: TextEncoder,
    device: Any = None,
    normalize: bool = True,
    *,
    batch_size: int = BATCH,
    progress: bool | None = None,
    **options: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """The embeddings of the texts of labels, and the label of each row.

    Parameters
    ----------
    label_to_text : mapping
        ``{label: text}``, or a list of texts per label, each of which becomes a prototype.
    text_encoder : callable, object or path
        Any callable ``(list of str) -> (N, D) array``; an object with ``encode_texts_clip(texts, device)``, as in the
        original script, or with ``encode(texts)``, as in sentence-transformers; or the path of a text model supported
        by :func:`repscope.encode`. A torch module is run in evaluation mode and without gradients.
    device : optional
        Passed to the encoder if it takes a device.
    normalize : bool
        Scale each row to unit length.
    batch_size : int
        Number of texts per batch.

    The other parameters are for an encoder that is a path.
    """
    if not isinstance(label_to_text, Mapping):
        raise TypeError(f"label_to_text is of type {type(label_to_text).__name__}; give a mapping {{label: text}}")
    pairs = [(label, text) for label, own in label_to_text.items() for text in _texts_of_label(label, own)]
    if not pairs:
        raise ValueError("label_to_text has no text; give {label: text}")
    labels, texts = zip(*pairs)
    embeddings = encode_texts(list(texts), text_encoder, device, batch_size, progress, options)
    if normalize:
        wide = embeddings.astype("f8")
        wide /= np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12)
        embeddings = wide.astype(np.result_type(embeddings.dtype, "f4"))
    is_one_kind = len({type(label) for label in labels}) == 1
    return embeddings, np.array(labels) if is_one_kind else np.array(labels, dtype=object)


class CheckpointTextEncoder:
    """A text encoder with the text projection of a checkpoint, run by repscope on the CPU.

    Attributes
    ----------
    text_encoder : str
        The folder of the text encoder, or its name in the Hugging Face cache.
    device : object
        Where tensors go, in a program that uses torch.
    """

    text_encoder: str
    device: Any

    def __init__(self, text_encoder: PathLike, checkpoint: PathLike, device: Any, options: Mapping[str, Any]) -> None:
        self.text_encoder = os.fspath(text_encoder)
        self.device = device
        self._checkpoint = checkpoint
        self._options = dict(options)

    def encode(self, texts: Iterable[str], *, progress: bool | None = False) -> np.ndarray:
        """One embedding per text, of unit length, as a NumPy array."""
        options = {"checkpoint": os.fspath(self._checkpoint), **self._options}
        embeddings = encode(self.text_encoder, list(texts), progress=progress, **options)
        if not isinstance(embeddings, np.ndarray):
            raise ValueError(f"the text encoder has the outputs {', '.join(embeddings)}; name one with output_name")
        return embeddings

    def encode_texts_clip(self, texts: Iterable[str], device: Any = None) -> np.ndarray | SupportsDLPack:
        """The same as a tensor on the device, in a program that has imported torch; as a NumPy array otherwise."""
        embeddings = self.encode(texts)
        torch = sys.modules.get("torch")
        if torch is None:
            return embeddings
        return torch.from_numpy(embeddings).to(self.device if device is None else device)


@with_options("encode", without=("encoder", "input", "threads", "checkpoint"))
def create_text_encoder_from_checkpoint(
    checkpoint: Mapping[str, Any] | PathLike,
    device: Any = None,
    *,
    text_encoder: PathLike | None = None,
    **options: Any,
) -> CheckpointTextEncoder:
    """The text encoder that a model was trained with, followed by the text projection of its checkpoint.

    Nothing is downloaded: the text encoder must be in the Hugging Face cache (``HF_HOME``, ``HF_HUB_CACHE``,
    ``TRANSFORMERS_CACHE``), or in a folder.

    Parameters
    ----------
    checkpoint : mapping or path
        A checkpoint as ``torch.load`` returns it, or its path. It names the text encoder in
        ``checkpoint["text_encoder_metadata"]["model_name"]``.
    device : optional
        Where tensors of :meth:`CheckpointTextEncoder.encode_texts_clip` go. repscope itself runs on the CPU.
    text_encoder : path, optional
        The folder of the text encoder, or another name than that of the checkpoint.

    The other parameters are those of :func:`repscope.encode`.

    Returns
    -------
    CheckpointTextEncoder
        For :func:`encode_text_prototypes`, or to be called by itself.
    """
    is_path = isinstance(checkpoint, (str, os.PathLike))
    if not is_path and not isinstance(checkpoint, Mapping):
        kind = type(checkpoint).__name__
        raise TypeError(f"checkpoint is of type {kind}; give what torch.load returns, or the path of a checkpoint")
    if text_encoder is None:
        text_encoder = trained_with(os.fspath(checkpoint)) if is_path else _trained_with(checkpoint)
    if text_encoder is None:
        raise ValueError(
            "the checkpoint does not name the text encoder that it was trained with "
            "(text_encoder_metadata.model_name); give text_encoder, its folder or its name"
        )
    stored = checkpoint if is_path else _StoredProjection(checkpoint)
    encoder = CheckpointTextEncoder(text_encoder, stored, device, options)
    # A model that is not on this machine, or a checkpoint without a projection, is an error here and not later.
    encoder.encode(["a"])
    return encoder


def get_optimal_device() -> object:
    """CUDA if there is one, else MPS, else the CPU: a ``torch.device``, or ``"cpu"`` without torch."""
    try:
        import torch
    except ImportError:
        return "cpu"
    if torch.cuda.is_available():
        return torch.device("cuda")
    mps = getattr(torch.backends, "mps", None)
    return torch.device("mps" if mps is not None and mps.is_available() else "cpu")


def print_results_summary(results: Mapping[str, Mapping[Any, Any]]) -> None:
    """Print the Label-Recall@K summary: a block per direction, a line per K."""
    wide = "=" * 70
    lines = [wide, "LABEL-RECALL@K RESULTS SUMMARY", wide, ""]
    for direction, own in results.items():
        lines += [f"{_title(direction)}:", "-" * 40]
        lines += [f"  K={k:>3}  =>  Label-Recall@K = {_value(value)}{_limited(value)}" for k, value in own.items()]
        lines.append("")
    print("\n".join([*lines, wide]))


def save_results(results: Mapping[str, Mapping[Any, Any]], path: PathLike) -> None:
    """Write the results as flat JSON, ``{"text2sensor": {"10": 0.72, …}, …}``, atomically.

    Undefined values become null.
    """
    flat = {direction: {str(k): _number(value) for k, value in own.items()} for direction, own in results.items()}
    path = os.fspath(path)
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(json.dumps(flat, indent=2, ensure_ascii=False) + "\n")
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.remove(part)
        raise


def encode_texts(
    texts: list[str],
    text_encoder: Any,
    device: Any,
    batch_size: int,
    progress: bool | None,
    options: Mapping[str, Any],
) -> np.ndarray:
    """One embedding per text, from any kind of text encoder."""
    check_encoder(text_encoder, options)
    if isinstance(text_encoder, (str, os.PathLike)):
        embeddings = encode(text_encoder, texts, progress=progress, **{"batch_size": batch_size, **options})
    else:
        embeddings = _TextEncoder(text_encoder, texts, batch_size, device).embeddings(texts, progress)
    if not isinstance(embeddings, np.ndarray) or embeddings.ndim != 2 or embeddings.dtype.kind not in "fiu":
        found = (
            f"shape {embeddings.shape}, {embeddings.dtype}"
            if isinstance(embeddings, np.ndarray)
            else f"a {type(embeddings).__name__}"
        )
        raise ValueError(f"the text encoder gave {found} for {len(texts)} texts; it must give a vector of numbers each")
    return embeddings


def check_encoder(text_encoder: Any, options: Mapping[str, Any]) -> None:
    """Raises TypeError for objects that cannot encode texts and for unused options."""
    if isinstance(text_encoder, (str, os.PathLike)):
        return
    if _method(text_encoder) is None:
        raise TypeError(
            f"the text encoder is of type {type(text_encoder).__name__}; give a callable (list of str) -> (N, D) "
            "array, an object with encode(texts) or encode_texts_clip(texts, device), or the path of a text model"
        )
    if options:
        names = ", ".join(sorted(options))
        raise TypeError(f"{names}: these are options of a text encoder that is read from a path, and this one is not")


class _TextEncoder(Encoder):
    """A text encoder passed by the caller, run on batches of texts."""

    def __init__(self, function: Any, texts: list[str], batch_size: int, device: Any) -> None:
        if isinstance(batch_size, bool) or int(batch_size) != batch_size or batch_size < 1:
            raise ValueError(f"batch_size = {batch_size!r} must be an integer of at least 1")
        super().__init__("the text encoder", function, texts, int(batch_size))
        self._device = device

    def _call(self, batch: list[str]) -> Any:
        encoder, device = self._function, self._device
        method: Any = _method(encoder)
        if hasattr(encoder, "encode_texts_clip"):
            embeddings = method(batch, getattr(encoder, "device", "cpu") if device is None else device)
        elif device is not None and _takes(method, "device"):
            embeddings = method(batch, device=device)
        else:
            embeddings = method(batch)
        array = to_numpy(embeddings, "embeddings of the text encoder")
        # Encoders that squeeze their output lose the batch axis of a single text.
        if len(batch) == 1 and isinstance(array, np.ndarray) and array.ndim == 1:
            return array.reshape(1, -1)
        return array


class _StoredProjection:
    """The text projection of a checkpoint in memory, as a file that lives as long as this object."""

    #: Parts of the names of the tensors that a projection of texts consists of.
    PARTS = ("text_projection", "aligner")

    def __init__(self, checkpoint: Mapping[str, Any]) -> None:
        named = list(_tensors(checkpoint, ""))
        kept = [(name, array) for name, array in named if any(part in name for part in self.PARTS)]
        if not kept:
            held = ", ".join(sorted({name.partition(".")[0] for name, _ in named})) or "no tensor"
            raise ValueError(
                f"the checkpoint holds no text projection (text_projection or aligner); it holds {held}. For the text "
                "encoder alone give its path to encode_text_prototypes"
            )
        self._folder = tempfile.TemporaryDirectory(prefix="repscope-")
        self._path = os.path.join(self._folder.name, "checkpoint.safetensors")
        _write_safetensors(self._path, kept)

    def __fspath__(self) -> str:
        return self._path


def _trained_with(checkpoint: Mapping[str, Any]) -> str | None:
    metadata = checkpoint.get("text_encoder_metadata")
    name = metadata.get("model_name") if isinstance(metadata, Mapping) else None
    return name.strip() or None if isinstance(name, str) else None


def _tensors(value: Any, name: str) -> Iterator[tuple[str, np.ndarray]]:
    """The tensors in nested dicts, by the keys that lead to them, joined with dots."""
    if isinstance(value, Mapping):
        for key, own in value.items():
            yield from _tensors(own, f"{name}.{key}" if name else str(key))
    elif hasattr(value, "detach") or isinstance(value, np.ndarray):
        array = to_numpy(value.detach() if hasattr(value, "detach") else value, name)
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            yield name, array


def _write_safetensors(path: str, tensors: list[tuple[str, np.ndarray]]) -> None:
    header: dict[str, Any] = {}
    blocks = []
    at = 0
    for name, array in tensors:
        block = np.ascontiguousarray(array, dtype="<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + len(block)]}
        blocks.append(block)
        at += len(block)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(blocks))


def _method(encoder: Any) -> Callable[..., Any] | None:
    """The callable for texts. The encoder itself comes last: a torch module with `encode` is also callable."""
    for name in ("encode_texts_clip", "encode"):
        method = getattr(encoder, name, None)
        if callable(method):
            return method
    return encoder if callable(encoder) else None


def _takes(function: Callable[..., Any], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _search(
    call: Call,
    k_values: int | Iterable[int],
    directions: list[str],
    normalize: bool,
    verbose: bool,
    threads: int | None,
    progress: bool | None,
) -> DocumentResults[dict[int, Score | Undefined]]:
    call.option("k_values", _whole(k_values)).option("directions", directions).option("no_normalize", not normalize)
    run = Results(call.run(["label_precision"], threads=threads, progress=progress))
    values: dict[str, dict[int, Score | Undefined]] = {}
    # Of held-out and training rows, the held-out ones come first; `results.scores` has both.
    model = run.scores[0].model if run.scores else ""
    everything = Scores({score.metric: score for score in run.scores if score.model == model}, run.warnings)
    for score in run.scores:
        if score.model != model:
            continue
        identity = re.fullmatch(r"label_precision\.(\w+)@(\d+)", score.metric)
        if identity is not None:
            score.all, score.warnings = everything, run.warnings
            values.setdefault(identity[1], {})[int(identity[2])] = score
    results = DocumentResults(values, run, run.warnings)
    if verbose:
        for direction, own in results.items():
            shown = (f"Label-Recall@{k} = {_value(value)}" for k, value in own.items())
            print(f"{_title(direction)}: {', '.join(shown)}")
        for warning in results.warnings:
            print(f"warning: {warning}")
    return results


def _directions(directions: str | Iterable[str]) -> list[str]:
    names = [directions] if isinstance(directions, str) else [str(name) for name in directions]
    if not names:
        raise ValueError("directions is empty; name at least one, such as 'text2sensor'")
    return names


def _searches_itself(direction: str) -> bool:
    query, _, target = direction.partition("2")
    return query == target


def _whole(k_values: int | Iterable[int]) -> list[int]:
    given = list(k_values) if hasattr(k_values, "__iter__") else [k_values]
    if not given:
        raise ValueError("k_values is empty; give at least one K")
    try:
        return [operator.index(k) for k in given]
    except TypeError:
        raise TypeError(f"k_values = {k_values!r}: K counts targets and must be an integer") from None


def _title(direction: str) -> str:
    """The title of a direction: `text2sensor` is `Text -> Sensor`."""
    query, _, target = direction.partition("2")
    first = "Text Prototype" if direction in ("prototype2sensor", "prototype2text") else query[:1].upper() + query[1:]
    return f"{first} -> {target[:1].upper() + target[1:]}"


def _value(value: Any) -> str:
    number = _number(value)
    if number is None:
        return f"n/a ({getattr(value, 'reason', None) or 'no reason was recorded'})"
    return f"{number:.4f} ({number * 100:.2f}%)"


def _limited(value: Any) -> str:
    """What a K beyond the targets came to."""
    found = value.to_dict().get("effective_k") if isinstance(value, Score) else None
    return "" if found is None else f"  [K = {found}: there are only {found} targets]"


def _number(value: Any) -> float | None:
    """A plain number, or None."""
    if value is None or isinstance(value, Undefined):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _texts_of_label(label: Any, own: Any) -> list[str]:
    texts = [own] if isinstance(own, str) or not isinstance(own, Iterable) else list(own)
    for text in texts:
        if not isinstance(text, str):
            kind = type(text).__name__
            raise TypeError(f"label {label!r} has {text!r}, of type {kind}; give a text or a list of texts")
    return [str(text) for text in texts]
