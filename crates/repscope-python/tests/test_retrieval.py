# SPDX-License-Identifier: MIT
"""The library calls of document 001: its snippets as printed, and every value against NumPy."""

from __future__ import annotations

import collections
import contextlib
import copy
import csv
import io
import json
import math
import pickle
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import repscope
from repscope import _repscope
from repscope.retrieval import (
    compute_label_recall_at_k,
    compute_prototype_retrieval_metrics,
    create_text_encoder_from_checkpoint,
    encode_text_prototypes,
    get_optimal_device,
    load_text_prototypes_from_metadata,
    print_results_summary,
    save_results,
)

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "text"
LABELS = ("Cooking", "Sleep", "Work", "Leave_Home")
TEXTS = {label: f"A person is busy with {label}." for label in LABELS}

#: "As a Library", instances: only the import is changed, and the evident slip `:)` is a `)`.
INSTANCES = """
import numpy as np
from repscope.retrieval import (
    compute_label_recall_at_k,
    print_results_summary
)

# Load your data
sensor_embeddings = np.load('sensor_emb.npy')  # Shape: (N, D_sensor)
text_embeddings = np.load('text_emb.npy')      # Shape: (N, D_text)
labels = np.load('labels.npy')                 # Shape: (N,)

# Compute retrieval metrics
results = compute_label_recall_at_k(
    sensor_embeddings=sensor_embeddings,
    text_embeddings=text_embeddings,
    labels=labels,
    k_values=[10, 50, 100],
    directions=['text2sensor', 'sensor2text'],
    normalize=True,  # L2-normalize before computing similarity
    verbose=True
)

# Print formatted results
print_results_summary(results)

# To include sensor/text self-checks, extend `directions`:
results_self = compute_label_recall_at_k(
    sensor_embeddings=sensor_embeddings,
    text_embeddings=text_embeddings,
    labels=labels,
    k_values=[10, 50, 100],
    directions=['text2sensor', 'sensor2text', 'text2text', 'sensor2sensor'],
    normalize=True,
    verbose=True
)
# Access results programmatically
text2sensor_recall_at_10 = results['text2sensor'][10]
sensor2text_recall_at_50 = results['sensor2text'][50]
"""

#: "As a Library", prototypes: only the imports are changed.
PROTOTYPES = """
import numpy as np
import torch
from repscope.retrieval import (
    load_text_prototypes_from_metadata,
    encode_text_prototypes,
    compute_prototype_retrieval_metrics,
    print_results_summary
)
from repscope.retrieval import create_text_encoder_from_checkpoint
from repscope.retrieval import get_optimal_device

# Load text prototypes from metadata
label_to_text = load_text_prototypes_from_metadata(
    metadata_path='metadata/casas_metadata.json',
    dataset_name='milan',
    style='sourish'
)

# Load text encoder from checkpoint
device = get_optimal_device()
checkpoint = torch.load('trained_models/best_model.pt', map_location=device, weights_only=False)
text_encoder = create_text_encoder_from_checkpoint(checkpoint, device)

# Encode text prototypes
prototype_emb, prototype_labels = encode_text_prototypes(
    label_to_text=label_to_text,
    text_encoder=text_encoder,
    device=str(device),
    normalize=True
)

# Load target embeddings
sensor_embeddings = np.load('sensor_emb.npy')
text_embeddings = np.load('text_emb.npy')
target_labels = np.load('labels.npy')  # Should be string labels matching prototype_labels

# Compute prototype retrieval metrics
results = compute_prototype_retrieval_metrics(
    prototype_embeddings=prototype_emb,
    prototype_labels=prototype_labels,
    sensor_embeddings=sensor_embeddings,
    text_embeddings=text_embeddings,
    target_labels=target_labels,
    k_values=[10, 50, 100],
    directions=['prototype2sensor', 'prototype2text'],
    normalize=True,
    verbose=True
)

print_results_summary(results)

# Access results
proto2sensor_recall_at_10 = results['prototype2sensor'][10]
proto2text_recall_at_50 = results['prototype2text'][50]
"""

#: The lines of it that load an encoder with torch.
LOADING = PROTOTYPES[PROTOTYPES.index("# Load text encoder") : PROTOTYPES.index("# Encode text prototypes")]

#: "Integration with evaluate_embeddings.py", instances.
INTEGRATED = """
# In evaluate_embeddings.py, after extracting embeddings:

from repscope.retrieval import compute_label_recall_at_k, print_results_summary

# Extract embeddings for train/test splits
train_sensor_emb, train_labels_l1, train_labels_l2 = self.extract_embeddings_and_labels('train')
test_sensor_emb, test_labels_l1, test_labels_l2 = self.extract_embeddings_and_labels('test')

# Get text embeddings (using text encoder)
train_text_labels = convert_labels_to_text(train_labels_l1, train_labels_l2)
test_text_labels = convert_labels_to_text(test_labels_l1, test_labels_l2)

train_text_emb = self.text_encoder.encode_texts_clip(train_text_labels, self.device)
test_text_emb = self.text_encoder.encode_texts_clip(test_text_labels, self.device)

train_text_emb = train_text_emb.cpu().numpy()
test_text_emb = test_text_emb.cpu().numpy()

# Compute retrieval metrics on test set
retrieval_results = compute_label_recall_at_k(
    sensor_embeddings=test_sensor_emb,
    text_embeddings=test_text_emb,
    labels=np.array(test_labels_l1),  # or test_labels_l2 for L2 labels
    k_values=[10, 50, 100],
    directions=['text2sensor', 'sensor2text'],
    normalize=True,
    verbose=True
)

print_results_summary(retrieval_results)

# Save to output directory
import json
output_path = Path(self.config['output_dir']) / 'retrieval_metrics.json'
with open(output_path, 'w') as f:
    json.dump({
        direction: {str(k): float(v) for k, v in k_results.items()}
        for direction, k_results in retrieval_results.items()
    }, f, indent=2)
"""

#: The same with prototypes; `save_results` is imported, which the document forgot.
INTEGRATED_PROTOTYPES = """
# In evaluate_embeddings.py:

from repscope.retrieval import (
    load_text_prototypes_from_metadata,
    encode_text_prototypes,
    compute_prototype_retrieval_metrics,
    print_results_summary,
    save_results
)

# Extract test embeddings
test_sensor_emb, test_labels_l1, test_labels_l2 = self.extract_embeddings_and_labels('test')

# Load and encode text prototypes
label_to_text = load_text_prototypes_from_metadata(
    metadata_path='metadata/casas_metadata.json',
    dataset_name='milan',
    style='sourish'
)

prototype_emb, prototype_labels = encode_text_prototypes(
    label_to_text=label_to_text,
    text_encoder=self.text_encoder,
    device=str(self.device),
    normalize=True
)

# Optionally encode test text embeddings too
test_text_labels = convert_labels_to_text(test_labels_l1, test_labels_l2)
test_text_emb = self.text_encoder.encode_texts_clip(test_text_labels, self.device)
test_text_emb = F.normalize(test_text_emb, p=2, dim=-1).cpu().numpy()

# Compute prototype retrieval metrics
prototype_results = compute_prototype_retrieval_metrics(
    prototype_embeddings=prototype_emb,
    prototype_labels=prototype_labels,
    sensor_embeddings=test_sensor_emb,
    text_embeddings=test_text_emb,
    target_labels=np.array(test_labels_l1),  # Must be string labels
    k_values=[10, 50, 100],
    directions=['prototype2sensor', 'prototype2text'],
    normalize=True,
    verbose=True
)

print_results_summary(prototype_results)

# Save results
output_path = Path(self.config['output_dir']) / 'prototype_retrieval_metrics.json'
save_results(prototype_results, str(output_path))
"""

INSTANCE_SUMMARY = """\
======================================================================
LABEL-RECALL@K RESULTS SUMMARY
======================================================================

Text -> Sensor:
----------------------------------------
  K= 10  =>  Label-Recall@K = 0.7234 (72.34%)
  K= 50  =>  Label-Recall@K = 0.6891 (68.91%)
  K=100  =>  Label-Recall@K = 0.6523 (65.23%)

Sensor -> Text:
----------------------------------------
  K= 10  =>  Label-Recall@K = 0.7156 (71.56%)
  K= 50  =>  Label-Recall@K = 0.6812 (68.12%)
  K=100  =>  Label-Recall@K = 0.6478 (64.78%)

======================================================================
"""

PROTOTYPE_SUMMARY = """\
======================================================================
LABEL-RECALL@K RESULTS SUMMARY
======================================================================

Text Prototype -> Sensor:
----------------------------------------
  K= 10  =>  Label-Recall@K = 0.8345 (83.45%)
  K= 50  =>  Label-Recall@K = 0.7923 (79.23%)
  K=100  =>  Label-Recall@K = 0.7634 (76.34%)

Text Prototype -> Text:
----------------------------------------
  K= 10  =>  Label-Recall@K = 0.8123 (81.23%)
  K= 50  =>  Label-Recall@K = 0.7845 (78.45%)
  K=100  =>  Label-Recall@K = 0.7567 (75.67%)

======================================================================
"""

INSTANCE_VALUES = {
    "text2sensor": {10: 0.7234, 50: 0.6891, 100: 0.6523},
    "sensor2text": {10: 0.7156, 50: 0.6812, 100: 0.6478},
}
PROTOTYPE_VALUES = {
    "prototype2sensor": {10: 0.8345, 50: 0.7923, 100: 0.7634},
    "prototype2text": {10: 0.8123, 50: 0.7845, 100: 0.7567},
}


def precision(queries, targets, labels, target_labels, k, *, is_self=False, normalize=True):
    """Steps 1 to 5 of the document, in NumPy."""
    queries, targets = np.asarray(queries, "f8"), np.asarray(targets, "f8")
    if normalize:
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        targets = targets / np.linalg.norm(targets, axis=1, keepdims=True)
    similarity = queries @ targets.T
    if is_self:
        np.fill_diagonal(similarity, -np.inf)
    k = min(k, len(targets) - is_self)
    first = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    return np.mean(np.asarray(target_labels)[first] == np.asarray(labels)[:, None])


@pytest.fixture
def data() -> SimpleNamespace:
    """120 samples around a center per label, seen by a sensor and as texts, and a prototype per label."""
    random = np.random.default_rng(1)
    labels = np.array(LABELS)[random.integers(0, len(LABELS), 120)]
    centers = dict(zip(LABELS, random.normal(size=(len(LABELS), 12))))
    middle = np.stack([centers[label] for label in labels])
    return SimpleNamespace(
        sensor=(middle + 2 * random.normal(size=middle.shape)).astype("f4"),
        text=(middle + 1.5 * random.normal(size=middle.shape)).astype("f4"),
        labels=labels,
        prototypes={TEXTS[label]: centers[label] + 0.5 * random.normal(size=12) for label in LABELS},
    )


@pytest.fixture
def files(data, tmp_path, monkeypatch):
    """The document's files in the current folder."""
    monkeypatch.chdir(tmp_path)
    np.save("sensor_emb.npy", data.sensor)
    np.save("text_emb.npy", data.text)
    np.save("labels.npy", data.labels)
    (tmp_path / "metadata").mkdir()
    metadata = {"milan": {"name": "Milan", "label_to_text_sourish": TEXTS}}
    (tmp_path / "metadata" / "casas_metadata.json").write_text(json.dumps(metadata))
    return tmp_path


class Tensor:
    """As much of a tensor as the document's snippets use."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def cpu(self):
        return self

    def to(self, device):
        assert str(device) == "cpu"
        return self

    def detach(self):
        return self

    def numpy(self):
        return self.values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


class TextEncoder:
    """The text encoder of the document: texts become tensors on a device."""

    def __init__(self, vectors):
        self.vectors = vectors
        self.devices = []

    def encode_texts_clip(self, texts, device):
        self.devices.append(device)
        return Tensor([self.vectors[text] for text in texts])


def test_the_document_s_snippet_on_instances_gives_what_numpy_gives(data, files, capsys):
    snippet: dict = {}
    exec(INSTANCES, snippet)
    results, results_self = snippet["results"], snippet["results_self"]
    assert list(results) == ["text2sensor", "sensor2text"]
    assert list(results_self) == ["text2sensor", "sensor2text", "text2text", "sensor2sensor"]
    spaces = {"text": data.text, "sensor": data.sensor}
    for direction, own in [*results.items(), *results_self.items()]:
        assert list(own) == [10, 50, 100]
        query, target = direction.split("2")
        for k, value in own.items():
            expected = precision(spaces[query], spaces[target], data.labels, data.labels, k, is_self=query == target)
            assert isinstance(value, float)
            assert value == pytest.approx(expected, abs=1e-12), (direction, k)
    assert snippet["text2sensor_recall_at_10"] == results["text2sensor"][10]
    assert snippet["sensor2text_recall_at_50"] == results["sensor2text"][50]
    printed = capsys.readouterr().out
    first = results["text2sensor"][10]
    assert f"\n  K= 10  =>  Label-Recall@K = {first:.4f} ({first * 100:.2f}%)\n" in printed


class Checkpoint(pickle.Unpickler):
    """A file of torch.save, read without torch."""

    TYPES = {"FloatStorage": "<f4", "LongStorage": "<i8", "DoubleStorage": "<f8"}

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path)
        self.root = next(name for name in self.archive.namelist() if name.endswith("data.pkl")).removesuffix("data.pkl")
        super().__init__(io.BytesIO(self.archive.read(f"{self.root}data.pkl")))

    def find_class(self, module, name):
        if name == "_rebuild_tensor_v2":
            return lambda values, at, size, *_: Tensor(values[at : at + math.prod(size)].reshape(size))
        own = {**self.TYPES, "OrderedDict": collections.OrderedDict}
        return own[name] if name in own else super().find_class(module, name)

    def persistent_load(self, place):
        _, dtype, key, *_ = place
        return np.frombuffer(self.archive.read(f"{self.root}data/{key}"), dtype)


@pytest.fixture
def with_torch(monkeypatch):
    """PyTorch, or as much of it as the document's snippet uses."""
    try:
        import torch  # noqa: F401
    except ImportError:
        stand_in = ModuleType("torch")
        stand_in.load = lambda path, map_location, weights_only: Checkpoint(path).load()
        stand_in.from_numpy = Tensor
        stand_in.device = str
        stand_in.cuda = SimpleNamespace(is_available=lambda: False)
        stand_in.backends = SimpleNamespace()
        stand_in.nn = SimpleNamespace(Module=type("Module", (), {}))
        stand_in.no_grad = stand_in.inference_mode = contextlib.nullcontext
        monkeypatch.setitem(sys.modules, "torch", stand_in)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A Hugging Face cache that holds the text encoder of the checkpoints, `somebody/bert`."""
    model = tmp_path / "hf" / "hub" / "models--somebody--bert"
    shutil.copytree(GOLDEN / "bert", model / "snapshots" / "0a1b")
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("0a1b")
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "hf"


@pytest.fixture
def checkpoint(files, monkeypatch):
    """The checkpoint of the document: a linear projection to 7 numbers, trained with `somebody/bert`."""
    # It holds an object of a class of its author.
    config = ModuleType("alignment.config")
    config.AlignmentConfig = type("AlignmentConfig", (), {"__module__": "alignment.config"})
    monkeypatch.setitem(sys.modules, "alignment", ModuleType("alignment"))
    monkeypatch.setitem(sys.modules, "alignment.config", config)
    path = files / "trained_models" / "best_model.pt"
    path.parent.mkdir()
    shutil.copy(GOLDEN / "checkpoints" / "linear.pt", path)
    return path


def test_the_document_s_snippet_on_prototypes_runs_with_its_own_imports(
    data, files, cache, checkpoint, with_torch, capsys
):
    rng = np.random.default_rng(3)
    spaces = {"prototype2sensor": rng.normal(size=(120, 7)), "prototype2text": rng.normal(size=(120, 7))}
    np.save("sensor_emb.npy", spaces["prototype2sensor"])
    np.save("text_emb.npy", spaces["prototype2text"])
    snippet: dict = {}
    exec(PROTOTYPES, snippet)
    rows = repscope.encode(GOLDEN / "bert", list(TEXTS.values()), checkpoint=GOLDEN / "checkpoints" / "linear.pt")
    assert rows.shape == (4, 7)
    assert np.allclose(snippet["prototype_emb"], rows, atol=1e-6)
    assert snippet["prototype_labels"].tolist() == list(LABELS)
    for direction, targets in spaces.items():
        for k in (10, 50, 100):
            expected = precision(rows, targets, LABELS, data.labels, k)
            assert snippet["results"][direction][k] == pytest.approx(expected, abs=1e-12), (direction, k)
    assert snippet["proto2sensor_recall_at_10"] == snippet["results"]["prototype2sensor"][10]
    assert "Text Prototype -> Sensor:\n" in capsys.readouterr().out


def test_a_checkpoint_is_given_as_a_path_or_as_what_was_loaded(cache, checkpoint, with_torch):
    by_path = create_text_encoder_from_checkpoint(checkpoint, "cpu")
    loaded = sys.modules["torch"].load(checkpoint, map_location="cpu", weights_only=False)
    by_value = create_text_encoder_from_checkpoint(loaded, "cpu")
    assert by_path.text_encoder == by_value.text_encoder == "somebody/bert"
    assert np.array_equal(by_path.encode(["a cat", "a dog"]), by_value.encode(["a cat", "a dog"]))
    embeddings, labels = encode_text_prototypes({"cat": "a cat", "dog": "a dog"}, by_path, device="cpu")
    assert np.allclose(embeddings, by_path.encode(["a cat", "a dog"]), atol=1e-6)
    assert labels.tolist() == ["cat", "dog"]


def test_a_text_encoder_that_is_not_there_is_named_with_where_it_was_looked_for(
    cache, checkpoint, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "empty"))
    with pytest.raises(ValueError, match="somebody/bert.*nothing is downloaded.*models--somebody--bert") as raised:
        create_text_encoder_from_checkpoint(checkpoint)
    assert str(tmp_path / "empty") in str(raised.value)
    # A folder is as good as a name.
    encoder = create_text_encoder_from_checkpoint(checkpoint, text_encoder=GOLDEN / "bert")
    assert encoder.encode(["a cat"]).shape == (1, 7)
    with pytest.raises(ValueError, match="does not name the text encoder"):
        create_text_encoder_from_checkpoint({"model": {"weight": np.ones((2, 2))}})
    with pytest.raises(ValueError, match="no text projection.*model"):
        create_text_encoder_from_checkpoint({"model": {"weight": np.ones((2, 2))}}, text_encoder=GOLDEN / "bert")
    with pytest.raises(TypeError, match="of type int"):
        create_text_encoder_from_checkpoint(3)


def test_the_device_is_the_cpu_where_nothing_better_is_known(with_torch):
    assert str(get_optimal_device()) in ("cpu", "cuda", "mps")


def test_prototypes_of_any_callable_give_what_numpy_gives(data, files, capsys):
    def text_encoder(texts):
        return np.stack([data.prototypes[text] for text in texts]).astype("f4")

    snippet: dict = {"text_encoder": text_encoder, "device": "cpu"}
    exec(PROTOTYPES.replace("import torch\n", "").replace(LOADING, ""), snippet)
    rows = np.stack([data.prototypes[TEXTS[label]] for label in LABELS]).astype("f4")
    assert np.allclose(snippet["prototype_emb"], rows / np.linalg.norm(rows, axis=1, keepdims=True), atol=1e-6)
    assert snippet["prototype_labels"].tolist() == list(LABELS)
    spaces = {"prototype2sensor": data.sensor, "prototype2text": data.text}
    assert list(snippet["results"]) == list(spaces)
    for direction, targets in spaces.items():
        for k in (10, 50, 100):
            expected = precision(rows, targets, LABELS, data.labels, k)
            assert snippet["results"][direction][k] == pytest.approx(expected, abs=1e-12), (direction, k)
    assert snippet["proto2sensor_recall_at_10"] == snippet["results"]["prototype2sensor"][10]
    assert "Text Prototype -> Sensor:\n----------------------------------------\n" in capsys.readouterr().out


def test_the_document_s_integration_snippets_run_and_save(data, files):
    vectors = data.prototypes
    evaluator = SimpleNamespace(
        text_encoder=TextEncoder(vectors),
        device="cpu",
        config={"output_dir": str(files)},
        extract_embeddings_and_labels=lambda split: (data.sensor, list(data.labels), ["Home"] * len(data.labels)),
    )
    given = {
        "self": evaluator,
        "np": np,
        "Path": Path,
        "convert_labels_to_text": lambda l1, l2: [TEXTS[label] for label in l1],
        "F": SimpleNamespace(
            normalize=lambda x, p, dim: Tensor(x.values / np.linalg.norm(x.values, axis=dim, keepdims=True))
        ),
    }
    exec(INTEGRATED, given)
    exec(INTEGRATED_PROTOTYPES, given)
    texts = np.stack([vectors[TEXTS[label]] for label in data.labels])
    instances = json.loads((files / "retrieval_metrics.json").read_text())
    for k in (10, 50, 100):
        expected = precision(data.sensor, texts, data.labels, data.labels, k)
        assert instances["sensor2text"][str(k)] == pytest.approx(expected, abs=1e-12)
    rows = np.stack([vectors[TEXTS[label]] for label in LABELS])
    prototypes = json.loads((files / "prototype_retrieval_metrics.json").read_text())
    assert list(prototypes) == ["prototype2sensor", "prototype2text"]
    for k in (10, 50, 100):
        expected = precision(rows, data.sensor, LABELS, data.labels, k)
        assert prototypes["prototype2sensor"][str(k)] == pytest.approx(expected, abs=1e-12)
    assert evaluator.text_encoder.devices and set(evaluator.text_encoder.devices) == {"cpu"}


@pytest.mark.parametrize(
    ("values", "expected"), [(INSTANCE_VALUES, INSTANCE_SUMMARY), (PROTOTYPE_VALUES, PROTOTYPE_SUMMARY)]
)
def test_the_summary_is_the_document_s_to_the_letter(values, expected, capsys):
    print_results_summary(values)
    assert capsys.readouterr().out == expected


def test_the_summary_is_that_of_the_command(data, files, capfd):
    words = ["--sensor_embeddings=sensor_emb.npy", "--text_embeddings=text_emb.npy", "--labels=labels.npy"]
    words += ["--directions", "both", "sensor2sensor", "--k_values", "1", "100", "--output-dir=out", "--no-figures"]
    assert _repscope.main(["repscope", "retrieval", "--quiet", *words]) == 0
    by_command = capfd.readouterr().out
    directions = ["both", "sensor2sensor"]
    results = compute_label_recall_at_k(data.sensor, data.text, data.labels, [1, 100], directions, verbose=False)
    print_results_summary(results)
    assert capfd.readouterr().out == by_command


def test_the_saved_json_is_the_document_s(tmp_path):
    save_results(PROTOTYPE_VALUES, tmp_path / "prototype_retrieval.json")
    expected = """{
  "prototype2sensor": {
    "10": 0.8345,
    "50": 0.7923,
    "100": 0.7634
  },
  "prototype2text": {
    "10": 0.8123,
    "50": 0.7845,
    "100": 0.7567
  }
}
"""
    assert (tmp_path / "prototype_retrieval.json").read_text() == expected


def test_results_that_cannot_be_saved_leave_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "results.json"
    save_results(INSTANCE_VALUES, path)
    before = path.read_text()
    with pytest.raises(ValueError):
        save_results({"text2sensor": {10: "many"}}, path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        save_results(INSTANCE_VALUES, tmp_path / "folder")
    assert path.read_text() == before
    assert sorted(own.name for own in tmp_path.iterdir()) == ["folder", "results.json"]


def test_values_know_their_interval_and_results_what_is_behind_them(data):
    results = compute_label_recall_at_k(data.sensor, data.text, data.labels, 10, "both", verbose=False)
    value = results["text2sensor"][10]
    assert isinstance(value, repscope.Score)
    assert value.interval[0] < value < value.interval[1]
    shares = np.unique(data.labels, return_counts=True)[1] / len(data.labels)
    assert value.chance == pytest.approx(np.sum(shares**2), abs=1e-12)
    assert "label_precision.text2sensor.macro@10" in [score.metric for score in results.scores]
    assert results.warnings == []


def test_both_is_the_two_directions_between_text_and_sensor(data):
    results = compute_label_recall_at_k(data.sensor, data.text, data.labels, [5], ["both"], verbose=False)
    assert list(results) == ["text2sensor", "sensor2text"]


def test_without_normalization_rows_are_compared_by_inner_product(data):
    sensor = data.sensor * np.linspace(0.1, 10, len(data.sensor))[:, None]
    given = (sensor, data.text, data.labels, 10, "text2sensor")
    results = compute_label_recall_at_k(*given, normalize=False, verbose=False)
    plain = precision(data.text, sensor, data.labels, data.labels, 10, normalize=False)
    cosine = precision(data.text, sensor, data.labels, data.labels, 10)
    assert results["text2sensor"][10] == pytest.approx(plain, abs=1e-12)
    assert plain != pytest.approx(cosine, abs=1e-3)


def test_a_row_never_finds_itself(data):
    # Two rows per label and unlike rows: only a row itself could be its nearest.
    codes, labels = np.eye(8)[[0, 1, 2, 3, 4, 5]], list("aabbcc")
    results = compute_label_recall_at_k(codes, None, labels, 5, "sensor2sensor", verbose=False)
    assert results["sensor2sensor"][5] == pytest.approx(1 / 5)
    with pytest.raises(ValueError, match="never return the query"):
        compute_label_recall_at_k(codes, None, labels, 5, "sensor2sensor", exclude_self=False)


def test_exclude_self_changes_nothing_where_no_space_searches_itself(data):
    given = (data.sensor, data.text, data.labels, [10], ["both"])
    assert compute_label_recall_at_k(*given, verbose=False, exclude_self=False) == compute_label_recall_at_k(
        *given, verbose=False
    )


@pytest.mark.parametrize(
    "convert", [list, lambda a: np.array(a, dtype=object), lambda a: np.unique(a, return_inverse=True)[1]]
)
def test_labels_of_any_kind_give_the_same(data, convert):
    expected = precision(data.text, data.sensor, data.labels, data.labels, 10)
    results = compute_label_recall_at_k(data.sensor, data.text, convert(data.labels), 10, "text2sensor", verbose=False)
    assert results["text2sensor"][10] == pytest.approx(expected, abs=1e-12)


def test_a_k_beyond_the_targets_is_cut_and_said_so(data, capsys):
    results = compute_label_recall_at_k(data.sensor, data.text, data.labels, [500], "text2sensor")
    expected = precision(data.text, data.sensor, data.labels, data.labels, 120)
    assert results["text2sensor"][500] == pytest.approx(expected, abs=1e-12)
    assert any("K = 500" in warning for warning in results.warnings)
    assert "warning: text2sensor: K = 500" in capsys.readouterr().out


def test_what_no_query_can_find_is_undefined_and_null_in_the_json(data, tmp_path, capsys):
    results = compute_label_recall_at_k(data.sensor, None, np.arange(120), 10, "sensor2sensor", verbose=False)
    value = results["sensor2sensor"][10]
    assert isinstance(value, repscope.Undefined)
    assert "single row" in value.reason
    print_results_summary(results)
    assert f"  K= 10  =>  Label-Recall@K = n/a ({value.reason})\n" in capsys.readouterr().out
    save_results(results, tmp_path / "results.json")
    assert json.loads((tmp_path / "results.json").read_text()) == {"sensor2sensor": {"10": None}}


def test_one_sample_finds_its_partner():
    results = compute_label_recall_at_k(np.ones((1, 3)), np.ones((1, 3)), ["a"], [1], verbose=False)
    assert {direction: own[1].value for direction, own in results.items()} == {"text2sensor": 1.0, "sensor2text": 1.0}
    assert results["text2sensor"][1].interval is None


def test_quiet_calls_print_nothing_and_verbose_ones_their_values(data, capsys):
    compute_label_recall_at_k(data.sensor, data.text, data.labels, 10, verbose=False)
    assert capsys.readouterr().out == ""
    results = compute_label_recall_at_k(data.sensor, data.text, data.labels, 10)
    assert f"Text -> Sensor: Label-Recall@10 = {results['text2sensor'][10]:.4f}" in capsys.readouterr().out


def test_results_can_be_copied_and_pickled(data):
    results = compute_label_recall_at_k(data.sensor, data.text, data.labels, [10, 500], verbose=False)
    for other in (pickle.loads(pickle.dumps(results)), copy.deepcopy(results)):
        assert other == results
        assert other.warnings == results.warnings
        assert other["text2sensor"][10].interval == results["text2sensor"][10].interval


@pytest.mark.parametrize(
    ("change", "error", "fact"),
    [
        ({"text_embeddings": np.ones((7, 12))}, ValueError, "`sensor` has 120 rows but `text` has 7"),
        ({"text_embeddings": np.ones((120, 5))}, ValueError, "`text` has 5 columns but `sensor` has 12"),
        ({"labels": ["a"] * 3}, ValueError, "has 3 rows but `sensor` has 120"),
        ({"directions": ["text2smell"]}, ValueError, "there is no direction `text2smell`"),
        ({"directions": []}, ValueError, "directions is empty"),
        ({"text_embeddings": None}, ValueError, "`text_embeddings`, which was not given"),
        ({"k_values": []}, ValueError, "k_values is empty"),
        ({"k_values": [0]}, ValueError, "at least 1"),
        ({"k_values": [2.5]}, TypeError, "integer"),
        ({"levle": 0.9}, TypeError, "did you mean 'level'"),
        ({"sensor_embeddings": "sensor.npy", "text_embeddings": "text.npy"}, FileNotFoundError, "sensor.npy"),
    ],
)
def test_wrong_calls_are_refused_with_what_is_wrong(data, change, error, fact):
    given = {"sensor_embeddings": data.sensor, "text_embeddings": data.text, "labels": data.labels} | change
    with pytest.raises(error) as raised:
        compute_label_recall_at_k(**given)
    assert fact in str(raised.value)


def test_prototypes_that_match_no_label_are_refused_with_both_lists(data):
    given = (data.sensor[:4], list(LABELS), data.sensor, None)
    with pytest.raises(repscope.InputError) as raised:
        compute_prototype_retrieval_metrics(*given, target_labels=np.arange(120) % 3, k_values=[5])
    for fact in ("no prototype has a label of the data", "`Cooking`", "`0`, `1`, `2`"):
        assert fact in str(raised.value)


def test_prototypes_of_labels_that_no_target_has_are_left_out_and_named(data):
    rows = np.stack([*(data.prototypes[TEXTS[label]] for label in LABELS), np.ones(12)])
    results = compute_prototype_retrieval_metrics(
        rows, [*LABELS, "Fly"], data.sensor, target_labels=data.labels, k_values=[10], verbose=False
    )
    assert list(results) == ["prototype2sensor"]
    expected = precision(rows[:-1], data.sensor, LABELS, data.labels, 10)
    assert results["prototype2sensor"][10] == pytest.approx(expected, abs=1e-12)
    assert any("`Fly`" in warning and "left out" in warning for warning in results.warnings)


def test_prototype_calls_that_lack_something_say_what(data):
    rows = data.sensor[:4]
    with pytest.raises(TypeError, match="target_labels"):
        compute_prototype_retrieval_metrics(rows, LABELS, data.sensor)
    with pytest.raises(ValueError, match="nothing to search"):
        compute_prototype_retrieval_metrics(rows, LABELS, target_labels=data.labels)
    with pytest.raises(ValueError, match="4 prototypes but .* 3 labels"):
        compute_prototype_retrieval_metrics(rows, LABELS[:3], data.sensor, target_labels=data.labels)
    with pytest.raises(ValueError, match="needs .*text.embeddings"):
        compute_prototype_retrieval_metrics(
            rows, LABELS, data.sensor, target_labels=data.labels, directions=["prototype2text"]
        )


class WithEncode:
    """As sentence-transformers encode; also callable, which is not meant."""

    def encode(self, texts, device="nowhere"):
        return [[len(text), float(device == "cuda:1")] for text in texts]

    def __call__(self, batch):
        raise AssertionError("encode is there")


def test_an_object_with_encode_is_a_text_encoder_and_gets_the_device():
    rows, labels = encode_text_prototypes({"a": "xxx", "b": "yyyy"}, WithEncode(), device="cuda:1", normalize=False)
    assert rows.tolist() == [[3, 1], [4, 1]]
    assert labels.tolist() == ["a", "b"]
    rows, _ = encode_text_prototypes({"a": "xxx"}, WithEncode(), normalize=False)
    assert rows.tolist() == [[3, 0]]


def test_texts_are_encoded_in_batches():
    sizes = []

    def encoder(texts):
        sizes.append(len(texts))
        return np.array([[int(text), 1.0] for text in texts])

    rows, _ = encode_text_prototypes({i: str(i) for i in range(7)}, encoder, normalize=False, batch_size=3)
    assert sizes == [3, 3, 1]
    assert rows[:, 0].tolist() == list(range(7))


def test_prototypes_have_length_one_unless_they_have_none():
    rows, _ = encode_text_prototypes({"a": "x", "b": "y"}, lambda texts: np.array([[3.0, 4.0], [0.0, 0.0]], dtype="f2"))
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8], [0.0, 0.0]])


def test_a_label_with_several_texts_has_several_prototypes():
    texts = {"a": ["x", "yy"], "b": "zzz"}
    rows, labels = encode_text_prototypes(texts, lambda texts: [[len(t), 0.0] for t in texts], normalize=False)
    assert rows[:, 0].tolist() == [1, 2, 3]
    assert labels.tolist() == ["a", "a", "b"]


def test_an_encoder_that_squeezes_a_batch_of_one_is_understood():
    rows, _ = encode_text_prototypes({"a": "x"}, lambda texts: np.squeeze(np.array([[3.0, 4.0]])))
    assert np.allclose(rows, [[0.6, 0.8]])


@pytest.mark.parametrize(
    ("texts", "encoder", "options", "error", "fact"),
    [
        ({}, len, {}, ValueError, "has no text"),
        (["x"], len, {}, TypeError, "give a mapping"),
        ({"a": 3}, len, {}, TypeError, "label 'a' has 3"),
        ({"a": "x"}, 7, {}, TypeError, "of type int"),
        ({"a": "x"}, len, {"checkpoint": "model.pt"}, TypeError, "checkpoint"),
        (
            {"a": "x", "b": "y"},
            lambda texts: np.ones((3, 2)),
            {},
            ValueError,
            "2 rows and gave embeddings of shape (3, 2)",
        ),
        ({"a": "x", "b": "y"}, lambda texts: np.ones((2, 5, 3)), {}, ValueError, "(2, 5, 3)"),
        ({"a": "x"}, lambda texts: np.ones((1, 3)), {"batch_size": 0}, ValueError, "batch_size = 0"),
        ({"a": "x"}, "no/such/model", {}, (FileNotFoundError, ValueError), "no/such/model"),
    ],
)
def test_texts_that_cannot_be_encoded_are_refused(texts, encoder, options, error, fact):
    with pytest.raises(error) as raised:
        encode_text_prototypes(texts, encoder, **options)
    assert fact in str(raised.value)


def test_a_path_is_a_text_encoder_that_the_command_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("REPSCOPE_CACHE", str(tmp_path))
    texts = json.loads((GOLDEN / "texts.json").read_text())
    # What sentence-transformers gave; see golden/text.py.
    expected = np.load(GOLDEN / "sentence" / "codes.npy")
    rows, labels = encode_text_prototypes(dict(enumerate(texts)), GOLDEN / "sentence")
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5)
    assert labels.tolist() == list(range(len(texts)))


VILLA = {
    "villa": {
        "name": "Villa",
        "label_to_text_plain": {"Nap": "A person dozes", "Boil_Egg": 'A person heats "water", say', "Rest": "Quiet"},
        "label_to_text": {
            "Nap": {
                "short_desc": "napping",
                "long_desc": ["Little motion."],
                "multiple_desc": ["Dozing.", "Still."],
                "color": "#336699",
            },
            "Rest": {"short_desc": ""},
        },
    },
    "hut": {"label_to_text_old": {"Nap": ["One.", "Two."], "Sit": None, "Lie": " "}},
    "barn": {"name": "B"},
    "shed": 7,
    "list": {"label_to_text_s": ["x"]},
    "number": {"label_to_text_s": {"x": 3}},
    "nested": {"label_to_text_s": {"x": [["y"]]}},
    "deep": {"label_to_text": {"x": {"a_desc": {"b": "c"}}}},
    "empty": {"label_to_text_s": {}},
}


@pytest.fixture
def villa(tmp_path) -> Path:
    path = tmp_path / "villa.json"
    path.write_text(json.dumps(VILLA), encoding="utf-8-sig")
    return path


def by_the_command(path: Path, dataset: str, style: str) -> tuple[int, list[tuple[str, str]]]:
    """The texts that the command writes, and its exit code; what it says goes to the standard error."""
    out = path.with_suffix(".csv")
    out.unlink(missing_ok=True)
    words = [f"--metadata={path}", f"--dataset-name={dataset}", f"--caption-style={style}", f"--prototype-texts={out}"]
    code = subprocess.run([sys.executable, "-m", "repscope", "retrieval", *words]).returncode
    if not out.exists():
        return code, []
    with open(out, encoding="utf-8", newline="") as file:
        return code, [(row["label"], row["text"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    ("dataset", "style"),
    [
        ("villa", "plain"),
        ("villa", "label_to_text_plain"),
        ("villa", "long_desc"),
        ("villa", "sourish"),
        ("hut", "old"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_texts_of_metadata_and_warnings_are_those_of_the_command(villa, dataset, style, capfd):
    found = load_text_prototypes_from_metadata(villa, dataset, style)
    pairs = [(label, text) for label, own in found.items() for text in ([own] if isinstance(own, str) else own)]
    code, expected = by_the_command(villa, dataset, style)
    assert code == 0 and expected
    assert pairs == expected
    said = " ".join(capfd.readouterr().err.split())
    assert f"texts of {found.source} are written" in said
    for warning in found.warnings:
        assert f"warning: {warning}" in said
    assert said.count("warning: ") == len(found.warnings)


@pytest.mark.parametrize(
    ("dataset", "style"),
    [
        ("vila", "plain"), ("hut", "older"), ("barn", "plain"), ("shed", "plain"), ("list", "s"), ("number", "s"),
        ("nested", "s"), ("deep", "s"), ("empty", "s"),
    ],
)  # fmt: skip
def test_metadata_are_refused_in_the_words_of_the_command(villa, dataset, style, capfd):
    with pytest.raises(repscope.InputError) as raised:
        load_text_prototypes_from_metadata(villa, dataset, style)
    code, _ = by_the_command(villa, dataset, style)
    assert code != 0
    assert " ".join(str(raised.value).split()) in " ".join(capfd.readouterr().err.split())


def test_a_style_that_is_missing_is_replaced_with_a_warning(villa):
    with pytest.warns(UserWarning) as said:
        found = load_text_prototypes_from_metadata(villa, "villa")
    assert "no style `sourish` (its styles are `plain`): all descriptions" in str(said[0].message)
    assert found == {"Nap": ["napping", "Little motion.", "Dozing.", "Still."]}
    assert len(said) == 2 and "`Rest`" in str(said[1].message)
    assert Path(said[0].filename) == Path(__file__)


def test_of_a_label_that_stands_twice_the_last_text_counts(tmp_path):
    path = tmp_path / "twice.json"
    path.write_text('{"a": {"label_to_text_s": {"x": "1", "y": "why", "x": "because"}}}')
    with pytest.warns(UserWarning, match="label `x` stands more than once"):
        found = load_text_prototypes_from_metadata(path, "a", "s")
    assert list(found.items()) == [("x", "because"), ("y", "why")]


def test_files_that_are_no_metadata_are_refused(tmp_path):
    path = tmp_path / "bad.json"
    for text, fact in [("{", "not a readable JSON file"), ("[1]", "holds a list"), ("{}", "It holds nothing")]:
        path.write_text(text)
        with pytest.raises(ValueError) as raised:
            load_text_prototypes_from_metadata(path, "milan", "sourish")
        assert fact in str(raised.value) and "bad.json" in str(raised.value)
    with pytest.raises(FileNotFoundError, match="missing.json"):
        load_text_prototypes_from_metadata(tmp_path / "missing.json")
