# SPDX-License-Identifier: MIT
"""Whole analyses: the numbers of the command, encoders that are callables, results in every form, errors."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import repscope

WEIGHTS = np.random.default_rng(0).normal(size=(64, 8)).astype("f4") / 16


def encode(batch):
    """A small encoder. NumPy's products differ in their last bits with the size of a batch; rounded, they do not."""
    return np.round(np.tanh(np.asarray(batch, dtype="f8") @ WEIGHTS), 5)


@pytest.fixture(scope="module")
def results(digits):
    return repscope.evaluate(
        {"pca": digits.pca, "tanh": encode}, states=digits.states, labels=digits.labels, episodes=digits.episodes
    )


def test_scores_are_those_of_the_command(results, digits, tmp_path):
    for name in ("states", "pca", "labels", "episodes"):
        np.save(tmp_path / f"{name}.npy", getattr(digits, name))
    np.save(tmp_path / "tanh.npy", encode(digits.states))
    words = ["evaluate", "pca.npy", "tanh.npy", "--states", "states.npy", "--labels", "labels.npy"]
    words += ["--episodes", "episodes.npy", "--no-figures", "--json", "--quiet"]
    ran = subprocess.run([sys.executable, "-m", "repscope", *words], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    expected = {(s["model"], s["metric"]): s for s in json.loads(ran.stdout)["scores"]}
    assert len(expected) > 100
    for (model, metric), own in expected.items():
        got = results[model, metric]
        assert (got.value, list(got.interval or [])) == (own["value"], own["interval"] or []), (model, metric)


def test_an_encoder_is_shown_noise_too(results):
    names = [score.metric for score in results if score.model == "tanh"]
    # The digits reach from 0 to 16, and the default levels are shares of that.
    assert "robustness@1.6" in names
    assert not any(score.metric.startswith("robustness") for score in results if score.model == "pca")


def test_the_verdict_answers_each_question_and_names_what_is_wrong(digits):
    results = repscope.evaluate({"pca": digits.pca, "flat": np.ones_like(digits.pca)}, labels=digits.labels)
    verdict = results.verdict()
    assert verdict.problems == ["flat has collapsed: it gives the same embedding for all rows"]
    assert results.findings[0]["trouble"] == "collapsed" and results.findings[0]["model"] == "flat"
    geometry = verdict["geometry"]
    assert geometry["metric"] == "knn_accuracy@5" and geometry["n"] > 0
    assert repr(verdict).startswith("Problem") and repr(results).startswith(repr(verdict))
    assert "flat has collapsed" in results._repr_html_() and "<li>" in verdict._repr_html_()
    with pytest.raises(KeyError, match="there is no answer of 'etes'"):
        verdict["etes"]
    assert "inertia.share" not in results.table() and "inertia.share" in results.table(all=True)


def test_a_list_of_arrays_is_asked_for_names(digits):
    with pytest.raises(TypeError, match="name the models"):
        repscope.evaluate([digits.pca, digits.pca])


def test_results_have_every_form(results, tmp_path):
    assert results.models == ["pca", "tanh"]
    assert results["pca", "two_nn"].interval is not None
    assert "trustworthiness@10" in results["pca"]
    document = results.to_dict()
    assert document["schema"] == 1 and document["command"] == "evaluate"
    pandas = pytest.importorskip("pandas")
    frame = results.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(results)
    assert {"model", "metric", "value", "low", "high", "n"} <= set(frame.columns)
    row = frame[(frame.model == "pca") & (frame.metric == "two_nn")].iloc[0]
    assert (row.value, row.low) == (results["pca", "two_nn"], results["pca", "two_nn"].interval[0])
    assert "two_nn" in repr(results) and results.table("latex").count("\\") > 10
    html = results._repr_html_()
    assert html.count("<tr>") > 40 and "pca" in html
    assert results.samples


def test_figures_and_the_page_are_drawn_without_computing(results, tmp_path):
    assert any("smoothness" in name for name in results.figures)
    svg = results.figure("smoothness")
    assert svg._repr_svg_().startswith("<svg") and svg._repr_png_() is None
    results.figure("geometry", tmp_path / "g.png", width=88)
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    results.figure("manifold", tmp_path / "m.pdf")
    assert (tmp_path / "m.pdf").read_bytes().startswith(b"%PDF")
    assert results.report(tmp_path / "r.html") == str(tmp_path / "r.html")
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="no figure `nothing`"):
        results.figure("nothing")
    with pytest.raises(ValueError, match="png, svg or pdf"):
        results.figure("geometry", format="gif")
    with pytest.raises(ValueError, match="ends in .png"):
        svg.save(tmp_path / "x.png")


def test_saved_results_load_as_they_were(results, tmp_path):
    results.save(tmp_path / "out", figures=False)
    assert (tmp_path / "out" / "report.html").exists()
    again = repscope.load(tmp_path / "out")
    assert again.to_dict() == results.to_dict()
    assert (
        again.report(tmp_path / "again.html")
        and (tmp_path / "again.html").read_bytes() == (tmp_path / "out" / "report.html").read_bytes()
    )


def test_batches_do_not_change_the_embeddings(digits):
    seen = []

    def counting(batch):
        seen.append(len(batch))
        return encode(batch)

    ask = {"states": digits.states, "only": "manifold"}
    one = repscope.evaluate(counting, batch_size=250, **ask)
    assert seen == [250, 250, 100]
    assert one["model", "two_nn"] == repscope.evaluate(encode, **ask)["model", "two_nn"]


def test_encoders_see_next_states(digits):
    states, following = digits.states[:-1], digits.states[1:]
    ask = {"states": states, "next_states": following, "only": ["smoothness"]}
    run = repscope.evaluate({"e": encode}, **ask)
    stored = repscope.evaluate({"e": (encode(states), encode(following))}, **ask)
    assert run["e", "smoothness.slope"] == stored["e", "smoothness.slope"]


def test_robustness_of_a_callable_is_that_of_its_stored_embeddings(digits):
    run = repscope.robustness({"e": encode}, digits.states, noise=[0.5, 2.0], draws=2)
    again = repscope.robustness({"e": encode}, digits.states, noise=[0.5, 2.0], draws=2, batch_size=7, threads=1)
    assert [s.value for s in run] == [s.value for s in again]
    assert run["e", "robustness@0.5"] < run["e", "robustness@2.0"]
    # By the definition: the mean distance between embeddings of noisy and of clean inputs. Gaussian noise of this size moves
    # the embeddings of a nearly linear encoder by about sigma times the length of its weights.
    flat = repscope.robustness(lambda batch: np.asarray(batch, dtype="f8") @ WEIGHTS, digits.states, noise=0.5)
    expected = 0.5 * np.sqrt((WEIGHTS**2).sum())
    assert flat["model", "robustness@0.5"] == pytest.approx(expected, rel=0.05)
    cut = repscope.robustness(encode, digits.states, noise=5.0, clamp="data")
    assert (
        cut["model", "robustness@5.0"]
        < repscope.robustness(encode, digits.states, noise=5.0)["model", "robustness@5.0"]
    )


def test_a_model_may_be_a_path(digits, folder):
    run = repscope.evaluate({"a": folder / "pca16.npy", "b": str(folder / "noise16.npy")}, only="rankme")
    assert run["a", "rankme(variant=spec)"] < run["b", "rankme(variant=spec)"]


def test_compare_tells_models_apart(digits):
    run = repscope.compare({"pca": digits.pca, "noise": digits.noise}, labels=digits.labels, only=["geometry"])
    silhouette = next(d for d in run.differences if d["metric"] == "silhouette")
    assert silhouette["value"] > 0 and silhouette["p_adjusted"] < 0.001
    assert silhouette["value"] == pytest.approx(run["pca", "silhouette"] - run["noise", "silhouette"])
    with pytest.raises(ValueError, match="at least 2 models"):
        repscope.compare({"pca": digits.pca})


def test_options_reach_their_analysis(digits):
    run = repscope.evaluate(digits.pca, labels=digits.labels, knn_k=3, settings={"geometry": {"splits": 4}}, seed=5)
    assert "knn_accuracy@3" in run["model"]
    assert run.to_dict()["spec"]["analyses"]["geometry"].get("splits", run.to_dict()["spec"].get("splits")) == 4
    assert run.to_dict()["spec"]["seed"] == 5
    with pytest.raises(TypeError, match="no argument 'sates'; did you mean 'states'"):
        repscope.evaluate(digits.pca, sates=digits.states)
    for name in ("output_dir", "gate", "gate_on", "json", "model", "resume", "set"):
        with pytest.raises(TypeError, match=f"no argument '{name}'"):
            repscope.evaluate(digits.pca, **{name: "x"})
    with pytest.raises(ValueError, match="`splitz`.* did you mean `splits`"):
        repscope.evaluate(digits.pca, settings={"geometry": {"splitz": 20}})


def test_ids_join_arrays(digits):
    order = np.random.default_rng(0).permutation(len(digits.pca))
    names = np.array([f"id{i}" for i in range(len(order))])
    run = repscope.evaluate(
        {"z": digits.pca[order]},
        labels=digits.labels,
        only="geometry",
        ids={"z": names[order], "labels": names},
    )
    assert run["z", "silhouette"] == pytest.approx(repscope.silhouette(digits.pca, digits.labels), abs=1e-9)


def test_performance_is_a_mapping(digits):
    models = {f"m{i}": digits.pca[:150, : 3 + i] for i in range(5)}
    run = repscope.evaluate(models, only="clid", performance={name: i / 10 for i, name in enumerate(models)})
    assert len(run.breakdown("performance")) > 2


def test_errors_are_exceptions_of_the_right_kind(digits, tmp_path):
    with pytest.raises(FileNotFoundError, match="missing.npy"):
        repscope.evaluate({"a": tmp_path / "missing.npy"})
    with pytest.raises(FileNotFoundError):
        repscope.load(tmp_path / "results.json")
    with pytest.raises(repscope.InputError, match="numbers of rows differ"):
        repscope.evaluate({"a": digits.pca, "b": digits.noise[:50]})
    with pytest.raises(repscope.DataError, match="`a` holds NaN at row 2"):
        broken = digits.pca.copy()
        broken[2, 0] = np.nan
        repscope.evaluate({"a": broken})
    assert issubclass(repscope.DataError, repscope.InputError) and issubclass(repscope.InputError, ValueError)
    assert issubclass(repscope.InternalError, RuntimeError)
    with pytest.raises(ValueError, match="level"):
        repscope.two_nn(digits.pca, level=float("nan"))
    with pytest.raises(ValueError, match="nothing to run it on"):
        repscope.evaluate(encode)
    with pytest.raises(TypeError, match="noise goes into what an encoder sees"):
        repscope.robustness(digits.pca, digits.states)
    with pytest.raises(TypeError, match="load the states"):
        repscope.evaluate(encode, states="states.npy")
    with pytest.raises(ValueError, match="cannot be called 'a=b'"):
        repscope.evaluate({"a=b": digits.pca})
    with pytest.raises(ValueError, match="no model"):
        repscope.evaluate({})
    with pytest.raises(ValueError, match="batch_size = 0"):
        repscope.evaluate(encode, states=digits.states, batch_size=0)
    with pytest.raises(ValueError, match="`geometri`.* one of .*`geometry`"):
        repscope.evaluate(digits.pca, only="geometri")


def test_an_encoder_that_fails_raises_its_own_exception(digits):
    class Own(Exception):
        pass

    def fails(batch):
        raise Own("mine")

    def fails_with_noise(batch):
        if batch.dtype == np.float32:
            raise Own("noise")
        return encode(batch)

    with pytest.raises(Own, match="mine"):
        repscope.evaluate(fails, states=digits.states)
    with pytest.raises(Own, match="noise"):
        repscope.robustness(fails_with_noise, digits.states)
    with pytest.raises(ValueError, match=r"shown 256 rows and gave embeddings of shape \(255, 8\)"):
        repscope.evaluate(lambda batch: encode(batch)[:255], states=digits.states)


def test_a_torch_module_is_run_in_evaluation_mode_without_gradients(digits):
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = torch.nn.Dropout(0.5)
            self.linear = torch.nn.Linear(64, 8)
            self.modes = set()

        def forward(self, batch):
            self.modes.add((self.training, torch.is_grad_enabled()))
            return self.linear(self.drop(batch))

    net = Net().train()
    states = torch.from_numpy(digits.states.astype("f4"))
    run = repscope.evaluate({"net": net}, states=states, only=["manifold", "robustness"])
    assert net.modes == {(False, False)} and net.training and net.drop.training
    net.eval()
    with torch.no_grad():
        expected = repscope.two_nn(net(states))
    assert run["net", "two_nn"] == pytest.approx(expected, rel=1e-4)


def test_encode_runs_a_model_that_the_command_reads(folder):
    golden = folder.parents[1] / "golden" / "text"
    texts = json.loads((golden / "texts.json").read_text(encoding="utf-8"))
    texts = texts if isinstance(texts, list) else texts["texts"]
    codes = repscope.encode(golden / "bert", texts, token_pooling="mean", no_cache=True)
    assert np.abs(codes - np.load(golden / "bert" / "mean.npy")).max() < 1e-5


def test_training_runs_speak_about_their_recipe(digits):
    generator = np.random.default_rng(1)
    runs = [digits.pca + generator.normal(size=digits.pca.shape) for _ in range(3)]
    models = {"jepa": repscope.Replicates(runs), "noise": digits.noise}
    results = repscope.compare(models, labels=digits.labels, only="geometry", equivalent="knn_accuracy@5=0.9")
    alone = repscope.evaluate({str(i): run for i, run in enumerate(runs)}, labels=digits.labels, only="geometry")
    scores = {(s["model"], s["metric"]): s for s in results.to_dict()["scores"]}
    own = scores["jepa", "knn_accuracy@5"]
    assert own["replicates"] == [alone[str(i), "knn_accuracy@5"].value for i in range(3)]
    assert own["value"] == pytest.approx(np.mean(own["replicates"])) and own["runs"] == 3
    assert scores["noise", "knn_accuracy@5"]["runs"] == 1
    found = next(d for d in results.differences if d["metric"] == "knn_accuracy@5")
    assert (found["a"], found["b"], found["runs"]) == ("noise", "jepa", [1, 3])  # recipes stand behind single models
    assert found["winner"] == "jepa" and found["effect_size"] < 0
    assert found["equivalent"]["within"] == 0.9
    assert "noise: 1 run, another training run may differ" in results._repr_html_() + repr(results)


def test_training_runs_may_be_encoders_and_files(digits, tmp_path):
    for i in range(2):
        np.save(tmp_path / f"run-{i}.npy", digits.pca * (1 + i))
    models = {"files": repscope.Replicates(tmp_path / "run-*.npy"), "tanh": repscope.Replicates([encode, encode])}
    results = repscope.evaluate(models, states=digits.states, only="neighborhood")
    assert {score.model for score in results} == {"files", "tanh"}
    with pytest.raises(ValueError, match="at least 2 training runs, but 1 is given"):
        repscope.Replicates([digits.pca])
    with pytest.raises(TypeError, match="shape"):
        repscope.Replicates(digits.pca)


def test_encoders_are_run_on_the_inputs_of_reference_rows(digits):
    pixels = digits.states.reshape(len(digits.states), -1).astype("f4")
    directions = np.random.default_rng(3).normal(size=(pixels.shape[1], 6)).astype("f4")

    def encoder(batch):
        return batch @ directions

    new, old = pixels[:200], pixels[200:500]
    options = {"only": ["drift"], "settings": {"drift": {"permutations": 19}}}
    stored = repscope.evaluate({"m": encoder(new)}, against={"m": encoder(old)}, **options)
    found = repscope.evaluate({"m": encoder}, states=new, against_states=old, **options)
    assert [(s.metric, s.value) for s in found.scores] == [(s.metric, s.value) for s in stored.scores]
    with pytest.raises(TypeError, match="`z` is none"):
        repscope.evaluate({"m": encoder, "z": encoder(new)}, states=new, against_states=old, **options)
    with pytest.raises(ValueError, match="holds embeddings"):
        repscope.evaluate({"z": encoder(new)}, against_states=old, **options)
