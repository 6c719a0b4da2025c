# SPDX-License-Identifier: MIT
"""The evaluator of document 004, and the module that is the metric, too."""

from __future__ import annotations

import inspect
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import repscope
from repscope.etes import ETESEvaluator

GOLDEN = Path(__file__).resolve().parents[3] / "golden"
#: Cases whose expected scores were made with torch; see golden/etes.py.
CASES = {case["name"]: case for case in json.loads((GOLDEN / "etes.json").read_text())["cases"]}
KEYS = [
    "etes_alignment", "etes_alignment_std", "etes_total", "etes_total_std", "etes_min", "etes_max", "etes_median",
    "etes_p10", "etes_p90",
]  # fmt: skip
GENERATED = ["he was born", "she won twice", "", "a slow story", "the plot is slow"]
REFERENCES = ["he was born in Ohio", "she won the award", "a film", "a story", "the end comes late"]


def text_encoder(texts):
    """A vector per text, by its letters."""
    return np.array([[text.count(letter) + 0.5 for letter in "aeios t"] for text in texts])


def energies(signals, texts):
    """Negative cosines, in NumPy."""
    lengths = np.linalg.norm(signals, axis=1) * np.linalg.norm(texts, axis=1)
    return -np.sum(signals * texts, axis=1) / lengths


def statistics(energy, total):
    """What the document reports, in NumPy: the distribution is that of alignment, standard deviations have n − 1."""
    p10, median, p90 = np.quantile(energy, [0.1, 0.5, 0.9])
    return {
        "etes_alignment": energy.mean(), "etes_alignment_std": energy.std(ddof=1), "etes_total": total.mean(),
        "etes_total_std": total.std(ddof=1), "etes_min": energy.min(), "etes_max": energy.max(), "etes_median": median,
        "etes_p10": p10, "etes_p90": p90,
    }  # fmt: skip


@pytest.fixture
def signals() -> np.ndarray:
    return np.random.default_rng(4).normal(size=(len(GENERATED), 7)) + 0.5


def test_scores_of_texts_are_those_of_numpy(signals):
    results = ETESEvaluator(text_encoder)(signals, GENERATED)
    energy = energies(signals, text_encoder(GENERATED))
    assert list(results) == KEYS
    assert dict(results) == pytest.approx(statistics(energy, energy), abs=1e-12)
    assert all(isinstance(value, float) for value in results.values())
    assert results["etes_alignment"].interval[0] < results["etes_alignment"] < results["etes_alignment"].interval[1]
    assert results["etes_alignment"].better == "lower"


def test_references_add_their_energy_and_the_gap(signals):
    results = ETESEvaluator(text_encoder).evaluate(signals, GENERATED, REFERENCES)
    energy, of_references = (energies(signals, text_encoder(texts)) for texts in (GENERATED, REFERENCES))
    assert list(results) == [*KEYS, "etes_reference", "etes_gap"]
    assert results["etes_reference"] == pytest.approx(of_references.mean(), abs=1e-12)
    assert results["etes_gap"] == pytest.approx(np.mean(energy - of_references), abs=1e-12)


def test_fluency_is_part_of_the_total_alone(signals):
    def fluency(texts):
        return [1.0 + len(text) / 7 for text in texts]

    energy = energies(signals, text_encoder(GENERATED))
    total = energy + 0.1 * np.array(fluency(GENERATED)) / 10
    evaluator = ETESEvaluator(text_encoder, fluency)
    assert dict(evaluator(signals, GENERATED)) == pytest.approx(statistics(energy, total), abs=1e-12)
    heavy = evaluator(signals, GENERATED, fluency_weight=5.0)
    total = energy + 5.0 * np.array(fluency(GENERATED)) / 10
    assert dict(heavy) == pytest.approx(statistics(energy, total), abs=1e-12)
    as_perplexity = ETESEvaluator(text_encoder, lambda texts: np.exp(fluency(texts)), fluency_kind="perplexity")
    assert as_perplexity(signals, GENERATED)["etes_total"] == pytest.approx(evaluator(signals, GENERATED)["etes_total"])
    samples = evaluator.get_sample_scores(signals, GENERATED)
    assert [own["total"] for own in samples] == pytest.approx(energy + np.array(fluency(GENERATED)) / 100)
    assert [own["log_perplexity"] for own in samples] == pytest.approx(fluency(GENERATED))


def test_fluency_comes_from_the_folder_of_a_language_model(signals):
    texts = json.loads((GOLDEN / "text" / "texts.json").read_text())[: len(GENERATED)]
    expected = np.load(GOLDEN / "text" / "gpt2" / "log_perplexity.npy")[: len(GENERATED)]
    evaluator = ETESEvaluator(text_encoder, GOLDEN / "text" / "gpt2")
    samples = evaluator.get_sample_scores(signals, texts)
    assert [own["log_perplexity"] for own in samples] == pytest.approx(expected, rel=1e-5)
    total = energies(signals, text_encoder(texts)) + 0.1 * expected / 10
    assert evaluator(signals, texts)["etes_total"] == pytest.approx(total.mean(), rel=1e-5)


def test_a_text_encoder_without_an_aligner_is_a_warning():
    folder = GOLDEN / "text" / "t5_gated"
    signals = np.random.default_rng(0).normal(size=(3, 16))
    results = ETESEvaluator(folder).evaluate(signals, ["a cat", "tea", "the sea"])
    assert any("without the aligner" in warning for warning in results.warnings)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "fluency" not in case])
def test_scores_of_embeddings_are_those_of_torch(name):
    case = CASES[name]
    results = ETESEvaluator().evaluate(np.array(case["signal"]), np.array(case["generated"]), case.get("reference"))
    of_keys = {"etes_alignment": "etes.alignment", "etes_alignment_std": "etes.std", "etes_total": "etes.total"}
    of_keys |= {key: key.replace("_", ".") for key in ("etes_min", "etes_max", "etes_median", "etes_p10", "etes_p90")}
    if case.get("reference") is not None:
        of_keys |= {"etes_reference": "etes.reference", "etes_gap": "etes.gap"}
    compared = 0
    for key, metric in of_keys.items():
        if metric in case["expected"]:
            expected = case["expected"][metric]
            assert results[key].value == (None if expected is None else pytest.approx(expected, abs=1e-9)), (name, key)
            compared += 1
    assert compared > 0


def test_energies_are_one_number_per_pair(signals):
    texts = text_encoder(GENERATED)
    found = ETESEvaluator().compute_alignment_energy(signals, texts)
    assert found.shape == (len(GENERATED),)
    assert found == pytest.approx(energies(signals, texts), abs=1e-12)
    texts[2] = 0
    found = ETESEvaluator().compute_alignment_energy(signals, texts)
    assert np.flatnonzero(np.isnan(found)).tolist() == [2]


def test_samples_have_their_text_energy_and_quality(signals):
    samples = ETESEvaluator(text_encoder).get_sample_scores(signals, GENERATED)
    energy = energies(signals, text_encoder(GENERATED))
    assert [list(own) for own in samples] == [["index", "text", "etes", "quality"]] * len(GENERATED)
    assert [own["index"] for own in samples] == list(range(len(GENERATED)))
    assert [own["text"] for own in samples] == GENERATED
    assert [own["etes"] for own in samples] == pytest.approx(energy, abs=1e-12)
    assert [own["quality"] for own in samples] == [ETESEvaluator._interpret_score(value) for value in energy]


def test_samples_with_references_have_their_energy_and_the_gap(signals):
    samples = ETESEvaluator(text_encoder).get_sample_scores(signals, GENERATED, REFERENCES)
    energy, of_references = (energies(signals, text_encoder(texts)) for texts in (GENERATED, REFERENCES))
    assert list(samples[0]) == ["index", "text", "etes", "quality", "reference", "reference_energy", "gap"]
    for key in ("reference", "reference_energy"):
        assert [own[key] for own in samples] == pytest.approx(of_references, abs=1e-12)
    assert [own["gap"] for own in samples] == pytest.approx(energy - of_references, abs=1e-12)


def test_a_sample_without_direction_has_no_energy_and_is_named(signals):
    texts = text_encoder(GENERATED)
    texts[1] = 0
    evaluator = ETESEvaluator()
    samples = evaluator.get_sample_scores(signals, texts)
    assert np.isnan(samples[1]["etes"]) and samples[1]["quality"] is None and samples[1]["text"] is None
    results = evaluator(signals, texts)
    kept = [0, 2, 3, 4]
    assert results["etes_alignment"] == pytest.approx(energies(signals[kept], texts[kept]).mean(), abs=1e-12)
    assert any("row 1" in warning for warning in results.warnings)


def test_qualities_are_the_bands_of_the_document():
    cases = {-0.9: "excellent", -0.8: "good", -0.6: "good", -0.5: "fair", -0.2: "weak", 0.0: "weak", 0.01: "poor"}
    assert {energy: ETESEvaluator._interpret_score(energy) for energy in cases} == cases
    with pytest.raises(ValueError, match="nan"):
        ETESEvaluator._interpret_score(float("nan"))


def test_bands_can_be_set(signals):
    samples = ETESEvaluator(text_encoder, bands=(-1, -0.99, -0.98, 1)).get_sample_scores(signals, GENERATED)
    assert {own["quality"] for own in samples} == {"weak"}


def test_empty_texts_are_scored_and_counted(signals):
    results = ETESEvaluator(text_encoder)(signals, GENERATED)
    assert any("1 of 5 texts" in warning and "empty" in warning for warning in results.warnings)


def test_scores_behind_the_results_say_whether_texts_fit_their_own_signal(signals):
    results = ETESEvaluator(text_encoder)(signals, GENERATED)
    others = (
        -(signals / np.linalg.norm(signals, axis=1, keepdims=True))
        @ (text_encoder(GENERATED) / np.linalg.norm(text_encoder(GENERATED), axis=1, keepdims=True)).T
    )
    assert results.scores["system", "etes.shuffled"] == pytest.approx(others.mean(), abs=1e-12)
    assert results["etes_alignment"].chance == pytest.approx(others.mean(), abs=1e-12)


def test_one_sample_has_an_energy_but_no_spread():
    for shape in ((1, 2), (2,)):
        results = ETESEvaluator()(np.array([3.0, 4.0]).reshape(shape), np.array([1.0, 0.0]).reshape(shape))
        assert results["etes_alignment"] == pytest.approx(-0.6)
        assert results["etes_median"] == pytest.approx(-0.6)
        for key in ("etes_alignment_std", "etes_total_std"):
            assert isinstance(results[key], repscope.Undefined) and "one sample" in results[key].reason
    squeezing = ETESEvaluator(lambda texts: np.squeeze([[1.0, 0.0]] * len(texts)))
    assert squeezing([[3.0, 4.0]], ["a text"])["etes_alignment"] == pytest.approx(-0.6)


def test_texts_may_be_an_array_or_a_column(signals):
    import pandas

    expected = ETESEvaluator(text_encoder)(signals, GENERATED)
    for texts in (np.array(GENERATED), np.array(GENERATED, dtype=object), pandas.Series(GENERATED), tuple(GENERATED)):
        assert dict(ETESEvaluator(text_encoder)(signals, texts)) == dict(expected)


def test_texts_are_encoded_in_batches_without_changing_anything(signals):
    sizes = []

    def counting(texts):
        sizes.append(len(texts))
        return text_encoder(texts)

    results = ETESEvaluator(counting, batch_size=2)(signals, GENERATED)
    assert sizes == [2, 2, 1]
    assert dict(results) == dict(ETESEvaluator(text_encoder)(signals, GENERATED))


def test_a_path_with_checkpoint_and_template_is_a_text_encoder(tmp_path, monkeypatch):
    monkeypatch.setenv("REPSCOPE_CACHE", str(tmp_path))
    folder = GOLDEN / "text"
    texts = json.loads((folder / "texts.json").read_text())
    # What torch gave with the aligner behind the text model; see golden/text.py.
    expected = np.load(folder / "checkpoints" / "aligner.npy")
    checkpoint = folder / "checkpoints" / "aligner.pt"
    evaluator = ETESEvaluator(folder / "t5_gated", checkpoint=checkpoint, template="To English: {}", max_tokens=20)
    assert np.allclose(evaluator.encode_text(texts), expected, atol=1e-4)
    signals = np.random.default_rng(0).normal(size=expected.shape)
    found = evaluator(signals, texts)["etes_alignment"]
    assert found == pytest.approx(energies(signals, expected).mean(), abs=1e-4)


@pytest.mark.parametrize(
    ("texts", "references", "error", "fact"),
    [
        (["a"], None, ValueError, "5 signals and 1 generated_texts"),
        ([], None, ValueError, "5 signals and 0 generated_texts"),
        (GENERATED, ["a"], ValueError, "5 signals and 1 reference_texts"),
        ("he was born", None, TypeError, "is one string"),
        (["a", None, "b", "c", "d"], None, TypeError, "holds None at 1"),
        (np.ones((4, 7)), None, ValueError, "are 4 but its signals are 5"),
        (np.ones((5, 3)), None, ValueError, "have 3 columns but its signals have 7"),
        (np.full((5, 7), np.nan), None, ValueError, "nan"),
    ],
)
def test_texts_that_do_not_fit_the_signals_are_refused(signals, texts, references, error, fact):
    with pytest.raises(error) as raised:
        ETESEvaluator(text_encoder)(signals, texts, references)
    assert fact.lower() in str(raised.value).lower()


def test_evaluators_that_cannot_work_say_what_they_lack(signals):
    with pytest.raises(ValueError, match="no text encoder"):
        ETESEvaluator()(signals, GENERATED)
    with pytest.raises(ValueError, match="fluency is of texts"):
        ETESEvaluator(fluency=len)(signals, text_encoder(GENERATED))
    with pytest.raises(ValueError, match=r"shown 5 texts and gave shape \(2,\)"):
        ETESEvaluator(text_encoder, lambda texts: [1.0, 2.0])(signals, GENERATED)
    with pytest.raises(ValueError, match="log-perplexity is at least 0"):
        ETESEvaluator(text_encoder, lambda texts: [-1.0] * len(texts))(signals, GENERATED)
    with pytest.raises(TypeError, match="of type int"):
        ETESEvaluator(7)
    with pytest.raises(TypeError, match="fluency is of type"):
        ETESEvaluator(text_encoder, fluency=3)
    with pytest.raises(TypeError, match="template"):
        ETESEvaluator(text_encoder, template="To English: {}")
    with pytest.raises(TypeError, match="template"):
        ETESEvaluator(template="To English: {}")


def test_the_module_is_the_metric_too(signals):
    texts, references = text_encoder(GENERATED), text_encoder(REFERENCES)
    scores = repscope.etes(signals, texts, references, permutations=0)
    assert scores["alignment"] == pytest.approx(energies(signals, texts).mean(), abs=1e-12)
    assert scores["gap"] == ETESEvaluator()(signals, texts, references)["etes_gap"]


def test_the_module_shows_how_it_is_called_and_what_it_is():
    assert callable(repscope.etes) and inspect.ismodule(repscope.etes)
    assert list(inspect.signature(repscope.etes).parameters)[:3] == ["signal", "generated", "reference"]
    assert "repscope.etes(signal, generated, reference=None" in repr(repscope.etes)
    assert "negative cosine" in inspect.getdoc(repscope.etes)
    assert repscope.etes.ETESEvaluator is ETESEvaluator
    assert pickle.loads(pickle.dumps(repscope.etes)) is repscope.etes
