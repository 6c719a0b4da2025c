# SPDX-License-Identifier: MIT
"""A function for each metric: values against references, what is given back, and which options change it."""

from __future__ import annotations

import inspect
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import repscope
from repscope import _functions, _repscope
from repscope._call import Call
from repscope._results import Results
from sklearn import manifold
from sklearn import metrics as sk

METRICS = _functions.declared()
OF_CODES = [metric for metric in METRICS if _functions.is_of_embeddings(metric)]


def arguments(metric, digits):
    """The arguments by position of a function of embeddings."""
    view = digits.pca + np.random.default_rng(3).normal(size=digits.pca.shape).astype("f4")
    known = {
        "states": digits.states,
        "embeddings": digits.pca,
        "labels": digits.labels,
        "labels_if_any": digits.labels,
        "values_if_any": digits.states[:, 18:20].astype("f8"),
        "view": view,
        "reference": view[:100] + 0.5,
        "batches": np.arange(len(digits.pca)) % 3,
    }
    return [known[what] for what in metric["takes"]]


def test_every_metric_is_a_function_with_its_page_as_documentation():
    assert len(repscope.metrics()) == len(METRICS) > 40
    for metric in METRICS:
        function = getattr(repscope, metric["id"])
        assert callable(function), metric["id"]
        if metric["id"] != "robustness":
            assert metric["page"].strip().splitlines()[0] in function.__doc__, metric["id"]


@pytest.mark.parametrize("metric", OF_CODES, ids=lambda metric: metric["id"])
def test_a_function_gives_what_the_command_gives(metric, digits, tmp_path):
    np.save(tmp_path / "states.npy", digits.states)
    np.save(tmp_path / "labels.npy", digits.labels)
    given = arguments(metric, digits)
    if "view" in metric["takes"]:
        np.save(tmp_path / "view.npy", given[-1])
    if "values_if_any" in metric["takes"]:
        np.save(tmp_path / "targets.npy", given[-1])
    for what in {"reference", "batches"} & set(metric["takes"]):
        np.save(tmp_path / f"{what}.npy", given[metric["takes"].index(what)])
    np.save(tmp_path / "model.npy", digits.pca)
    words = [metric["command"], "--model", "model.npy", "--output-dir", "out", "--no-figures", "--json", "--quiet"]
    takes = metric["takes"]
    words += ["--states", "states.npy"] * ("states" in takes)
    words += ["--labels", "labels.npy"] * any(what.startswith("labels") for what in takes)
    words += ["--views", "view.npy"] * ("view" in takes)
    words += ["--targets", "targets.npy"] * ("values_if_any" in takes)
    words += ["--against", "reference.npy"] * ("reference" in takes)
    words += ["--batches", "batches.npy"] * ("batches" in takes)
    for name, value in _functions.DEFAULTS.get(metric["id"], {}).items():
        words += [f"--{name}", str(value)]
    ran = subprocess.run(
        [sys.executable, "-m", "repscope", *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    expected = {score["metric"]: score for score in json.loads(ran.stdout)["scores"]}
    got = getattr(repscope, metric["id"])(*given)
    scores = got if isinstance(got, repscope.Scores) else got.all
    assert len(scores) > 0
    for score in scores.values():
        own = expected[score.metric]
        assert score.value == own["value"], score.metric
        assert list(score.interval or []) == (own["interval"] or []), score.metric


def test_values_agree_with_scikit_learn(digits):
    near = pytest.approx
    # Whole numbers of pixels are equally far at times; these are not.
    states = digits.pca + np.random.default_rng(2).normal(size=digits.pca.shape)
    expected = manifold.trustworthiness(states, digits.pca, n_neighbors=10)
    assert repscope.trustworthiness(states, digits.pca, k=10) == near(expected, abs=1e-12)
    expected = manifold.trustworthiness(digits.pca, states, n_neighbors=10)
    assert repscope.continuity(states, digits.pca, k=10) == near(expected, abs=1e-12)
    expected = sk.silhouette_score(digits.pca.astype("f8"), digits.labels)
    assert repscope.silhouette(digits.pca, digits.labels) == near(expected, abs=1e-6)


def test_two_nn_agrees_with_scikit_dimension(digits):
    skdim = pytest.importorskip("skdim")
    expected = skdim.id.TwoNN(discard_fraction=0.1).fit(digits.pca.astype("f8")).dimension_
    assert repscope.two_nn(digits.pca) == pytest.approx(expected, rel=1e-9)


def test_uniformity_and_ranks_agree_with_numpy(digits):
    codes = digits.pca.astype("f8")
    unit = codes / np.linalg.norm(codes, axis=1, keepdims=True)
    squared = np.clip(2 - 2 * unit @ unit.T, 0, None)[np.triu_indices(len(unit), 1)]
    assert repscope.uniformity(codes) == pytest.approx(np.log(np.exp(-2 * squared).mean()), abs=1e-9)
    share = np.linalg.svd(codes, compute_uv=False)
    share = share / share.sum() + 1e-7
    paper = repscope.rankme(codes, variant="paper")
    assert paper == pytest.approx(np.exp(-(share * np.log(share)).sum()), rel=1e-9)
    squares = np.linalg.svd(codes - codes.mean(axis=0), compute_uv=False) ** 2
    assert repscope.participation_ratio(codes) == pytest.approx(squares.sum() ** 2 / (squares**2).sum(), rel=1e-9)


def test_retrieval_agrees_with_numpy(digits):
    codes = digits.pca.astype("f8")
    unit = codes / np.linalg.norm(codes, axis=1, keepdims=True)
    similarity = unit @ unit.T
    np.fill_diagonal(similarity, -np.inf)
    first = np.argsort(-similarity, axis=1, kind="stable")[:, :5]
    hits = digits.labels[first] == digits.labels[:, None]
    assert repscope.label_precision(codes, None, digits.labels, k=5) == pytest.approx(hits.mean(), abs=1e-12)
    several = repscope.label_hit(codes, None, digits.labels, k=[1, 5])
    assert several[5] == pytest.approx(hits.any(axis=1).mean(), abs=1e-12)
    assert list(several) == [1, 5]
    with pytest.raises(ValueError, match="600 queries and 500 targets"):
        repscope.label_precision(codes, codes[:500], digits.labels)
    apart = repscope.label_precision(codes[:100], codes[100:], digits.labels[:100], target_labels=digits.labels[100:])
    near = np.argsort(-(unit[:100] @ unit[100:].T), axis=1, kind="stable")[:, :10]
    expected = (digits.labels[100:][near] == digits.labels[:100, None]).mean()
    assert apart == pytest.approx(expected, abs=1e-12)


def test_energies_agree_with_numpy():
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(50, 8))
    text = signal + rng.normal(size=(50, 8))
    energy = -(signal * text).sum(1) / np.linalg.norm(signal, axis=1) / np.linalg.norm(text, axis=1)
    scores = repscope.etes(signal, text, permutations=0)
    assert scores.alignment == pytest.approx(energy.mean(), abs=1e-12)
    assert scores["median"] == pytest.approx(np.median(energy), abs=1e-12)


def test_texts_and_predictions_have_known_answers():
    assert repscope.wer(["a cat"], ["a dog"]) == 0.5
    assert repscope.bleu(["the cat sat on the mat"], ["the cat sat on the mat"])[4] == pytest.approx(100.0)
    assert repscope.rouge(["a cat"], ["a dog"])["1"] == pytest.approx(0.5)
    labels = np.array([0, 1] * 50)
    masked = labels.copy()
    masked[:10] = 1 - masked[:10]
    assert repscope.accuracy(labels, labels)["class@baseline"] == 1.0
    # A tenth of the accuracy is lost to 2 % of the pixels.
    assert repscope.pis(labels, labels, {"top2": masked})["class@top2"] == pytest.approx(5.0)
    heads = repscope.accuracy({"a": labels, "b": labels}, {"a": labels, "b": masked})
    assert heads["b@baseline"] == pytest.approx(0.9)


def test_a_pool_of_models_relates_scores_to_performance(digits):
    rng = np.random.default_rng(1)
    models = {f"m{i}": digits.pca[:200, : 4 + 2 * i] + i * rng.normal(size=(200, 4 + 2 * i)) for i in range(5)}
    results = repscope.performance(models, {name: float(i) for i, name in enumerate(models)}, repeats=1)
    related = results.breakdown("performance")
    assert "rankme(variant=paper)" in str(related) and len(results.breakdown("weighted_clid")) > 1
    with pytest.raises(KeyError, match="there is no table"):
        results.breakdown("two_nn")


def test_a_score_is_a_float_that_knows_its_interval(digits):
    score = repscope.two_nn(digits.pca)
    assert isinstance(score, float) and score.value == float(score)
    assert score.interval[0] < score < score.interval[1]
    assert (score.metric, score.level, score.n, score.better) == ("two_nn", 0.95, 600, "neither")
    assert list(score.all) == ["two_nn", "two_nn(fit=mle)"]
    assert repscope.two_nn(digits.pca, fit="mle") == score.all["two_nn(fit=mle)"]
    again = pickle.loads(pickle.dumps(score))
    assert again == score and again.interval == score.interval
    assert "two_nn = " in repr(score) and "<td>" in score._repr_html_()
    wide = repscope.two_nn(digits.pca, level=0.5)
    assert wide == score and wide.interval[1] < score.interval[1]


def test_an_undefined_score_says_why_and_is_no_number():
    score = repscope.two_nn(np.zeros((2, 3)))
    assert score.value is None and "at least 3 rows" in score.reason and not score
    with pytest.raises(ValueError, match="at least 3 rows"):
        float(score)
    assert pickle.loads(pickle.dumps(score)).reason == score.reason


def test_one_k_gives_a_score_and_several_give_one_each(digits):
    one = repscope.trustworthiness(digits.states, digits.pca, k=5)
    several = repscope.trustworthiness(digits.states, digits.pca, k=np.array([5, 7]))
    assert list(several) == [5, 7] and several[5] == one
    with pytest.raises(KeyError, match="there are 5, 7"):
        several[6]


def test_steps_to_given_next_states(digits):
    last = len(digits.states) - 1
    both = repscope.smoothness(
        digits.states[:last], digits.pca[:last], next_states=digits.states[1:], next_codes=digits.pca[1:]
    )
    rows = repscope.smoothness(digits.states, digits.pca)
    assert both.slope == pytest.approx(rows.slope, rel=1e-12)
    with pytest.raises(ValueError, match="belong together"):
        repscope.smoothness(digits.states, digits.pca, next_states=digits.states)


#: Another value for each option, that must change a metric that declares it and no other.
OTHER = {
    "k": 3, "distance": "cosine", "sample": 60, "discard": 0.3, "t": 3.0, "clusters": 7, "restarts": 1, "splits": 3,
    "gam1": 2.0, "gam2": 2.0, "eps": 0.05, "alpha": 1.0, "preset": "paper", "standardize": "no", "unit-length": "all",
    "repeats": 2, "id-norm": "pool", "threshold": 0.3,
    "bandwidth": 0.5, "perplexity": 5.0, "significance": 0.3,
}  # fmt: skip
#: Options that may change nothing on these data: k-means may find the same clusters from fewer starts, and one model
#: has no pool.
MAY_CHANGE_NOTHING = {"restarts", "id-norm"}


@pytest.mark.parametrize("metric", OF_CODES, ids=lambda metric: metric["id"])
def test_options_change_the_metrics_that_declare_them_and_no_others(metric, digits):
    rng = np.random.default_rng(5)
    codes = rng.normal(size=(120, 12)) * np.linspace(0.5, 3, 12) + 2
    states = codes @ rng.normal(size=(12, 9)) + rng.normal(size=(120, 9))
    labels = None if metric["id"] in ("silhouette", "mcr2") else rng.integers(0, 3, size=120)
    batches = (codes[:, 0] + np.random.default_rng(8).normal(size=120) > 2).astype(int)
    declared = {option["name"] for option in metric["options"]}
    of_command = {option["name"] for option in json.loads(_repscope.declared_options(metric["command"]))}

    def values(**option):
        call = Call(metric["command"])
        call.add("models", "model", call.array("codes", codes))
        if "states" in metric["takes"]:
            call.lent("states", states)
        if "labels" in of_command:
            call.lent("labels", labels)
        if "view" in metric["takes"]:
            call.lent("views", codes + np.random.default_rng(6).normal(size=codes.shape), "view")
        if "reference" in metric["takes"]:
            call.lent("against", codes[:90] + np.random.default_rng(7).normal(size=(90, 12)), "reference")
        if "batches" in metric["takes"]:
            call.lent("batches", batches)
        for name, value in option.items():
            call.option(name, value)
        scores = Results(call.run([metric["id"]])).scores
        return [(score.metric, score.value, score.interval) for score in scores]

    plain = values()
    for name in sorted(of_command & set(OTHER)):
        if name == "id-norm":
            continue
        changed = values(**{name: OTHER[name]}) != plain
        if name in declared:
            assert changed or name in MAY_CHANGE_NOTHING, f"{name} is declared, but changes nothing"
        else:
            assert not changed, f"{name} is not declared, but changes the score"


def test_an_argument_that_does_not_exist_is_refused_as_python_does(digits):
    with pytest.raises(TypeError, match="discrad"):
        repscope.two_nn(digits.pca, discrad=0.2)
    with pytest.raises(TypeError, match="missing a required argument: 'Z'"):
        repscope.two_nn()
    with pytest.raises(ValueError, match="rankme has variant 'paper' or 'spec'"):
        repscope.rankme(digits.pca, variant="papre")
    form = inspect.signature(repscope.trustworthiness)
    assert list(form.parameters)[:3] == ["X", "Z", "k"] and form.parameters["k"].default == 10


def test_the_seed_decides_every_random_choice(digits):
    ask = repscope.knn_accuracy
    one, same, other = (ask(digits.noise, digits.labels, seed=seed) for seed in (1, 1, 2))
    assert one == same and one != other


def test_the_number_of_threads_changes_no_bit(digits):
    for ask in (repscope.uniformity, repscope.two_nn, repscope.inertia):
        assert ask(digits.pca, threads=1) == ask(digits.pca, threads=3)
    with pytest.raises(ValueError, match="threads = 0"):
        repscope.two_nn(digits.pca, threads=0)


def test_ranks_take_the_threshold_and_the_eps_of_document_002(digits):
    # Document 002: eigenvals = s ** 2 / sum, exp(-sum(p * log(p + eps))), and int(sum(s_normalized > threshold)).
    codes = digits.pca.astype("f8")
    s = np.linalg.svd(codes - codes.mean(axis=0), compute_uv=False)
    p = s**2 / np.sum(s**2)
    for eps in (1e-12, 1e-3):
        expected = np.exp(-np.sum(p * np.log(p + eps)))
        assert repscope.rankme(digits.pca, variant="spec", eps=eps) == pytest.approx(expected, rel=1e-9)
    raw = np.linalg.svd(codes, compute_uv=False)
    q = raw / raw.sum() + 1e-3
    assert repscope.rankme(digits.pca, eps=1e-3) == pytest.approx(np.exp(-np.sum(q * np.log(q))), rel=1e-9)
    for threshold in (0.01, 0.3, 0.6):
        expected = int(np.sum(s / s.max() > threshold))
        assert repscope.numerical_rank(digits.pca, threshold=threshold) == expected
    with pytest.raises(ValueError, match="threshold"):
        repscope.numerical_rank(digits.pca, threshold=1.5)
