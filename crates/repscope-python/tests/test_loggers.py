# SPDX-License-Identifier: MIT
"""Scores in the loggers and frameworks that people have. Those that are not installed are skipped; none is asked for the network."""

import pickle
import time
import types

import numpy as np
import pytest
import repscope
from repscope import Monitor
from repscope.lightning import EmbeddingMonitor
from repscope.sklearn import scorer
from repscope.transformers import EmbeddingCallback

RNG = np.random.default_rng(8)
X = RNG.normal(size=(300, 8)).astype("f4")
Z = X[:, :4] @ RNG.normal(size=(4, 5)).astype("f4")
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture(scope="module")
def results():
    return repscope.evaluate({"good": Z, "noise": RNG.normal(size=Z.shape)}, states=X, labels=Y, progress=False)


def watched():
    made = Monitor(["rankme", "two_nn"])
    made.update(Z)
    return made


def expected():
    return {f"repscope/{name}": score.value for name, score in watched().compute().items()}


def test_a_function_gets_all_scores_at_once():
    calls = []
    watched().log(lambda values, step: calls.append((values, step)), 7)
    assert calls == [(expected(), 7)]


def test_what_cannot_log_is_said_to_be_no_logger():
    with pytest.raises(TypeError, match="int is no logger"):
        watched().log(3, 1)


def test_results_are_logged_per_model(results):
    values = {}
    results.log(lambda numbers, step: values.update(numbers), prefix="")
    assert values["good/two_nn"] == results["good", "two_nn"].value
    assert all(np.isfinite(list(values.values())))


def test_weights_and_biases_records_scores_offline(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(project="p", dir=str(tmp_path), settings=wandb.Settings(console="off"))
    watched().log(run, 3)
    run.finish()
    (stored,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    # Another process writes the file, and may still do so when the run is finished.
    end = time.monotonic() + 30
    wanted = [part.encode() for name, value in expected().items() for part in (name, repr(value)[:12])]
    while missing := [part for part in wanted if part not in stored.read_bytes()]:
        assert time.monotonic() < end, missing
        time.sleep(0.2)


def test_mlflow_records_scores_in_a_local_store(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    with mlflow.start_run() as run:
        watched().log(mlflow, 3)
        stored = mlflow.get_run(run.info.run_id).data.metrics
    # Its names take neither parentheses nor an equals sign.
    assert stored["repscope/rankme_variant_paper"] == pytest.approx(expected()["repscope/rankme(variant=paper)"])
    assert stored["repscope/two_nn"] == pytest.approx(expected()["repscope/two_nn"])


def test_trackio_is_given_a_dict_and_a_step(tmp_path, monkeypatch):
    trackio = pytest.importorskip("trackio")
    calls = []
    monkeypatch.setattr(trackio, "log", lambda metrics, step=None: calls.append((metrics, step)))
    watched().log(trackio, 5)
    assert calls == [(expected(), 5)]


def test_tensorboard_gets_scalars(tmp_path):
    tensorboard = pytest.importorskip("tensorboardX")
    with tensorboard.SummaryWriter(str(tmp_path)) as writer:
        watched().log(writer, 2)
    assert any(tmp_path.iterdir())


class Module:
    """What callbacks ask of a model."""

    def __init__(self):
        self.training = True
        self.modes = []

    def eval(self):
        self.training = False

    def train(self):
        self.training = True

    def __call__(self, batch):
        self.modes.append(self.training)
        return batch


def test_the_callback_of_lightning_evaluates_every_n_steps_in_evaluation_mode():
    logged, module = [], Module()
    logger = types.SimpleNamespace(log_metrics=lambda values, step: logged.append((step, values)))
    callback = EmbeddingMonitor([Z[:150], Z[150:]], ["rankme", "two_nn"], every=2)
    for step in [1, 2, 2, 3, 4]:
        trainer = types.SimpleNamespace(global_step=step, logger=logger, is_global_zero=True)
        callback.on_train_batch_end(trainer, module, None, None, 0)
    assert [step for step, _ in logged] == [2, 4]
    assert logged[0][1] == expected()
    assert module.modes == [False] * 4
    assert module.training
    assert [step for step, _ in callback.history] == [2, 4]


def test_the_callback_of_lightning_is_one_of_lightning():
    callbacks = pytest.importorskip("lightning.pytorch.callbacks")
    assert isinstance(EmbeddingMonitor([]), callbacks.Callback)


def test_the_callback_of_hugging_face_writes_the_log_history():
    callback = EmbeddingCallback([Z], ["rankme", "two_nn"], every=10, logger=lambda *_: None)
    state = types.SimpleNamespace(global_step=10, log_history=[], is_world_process_zero=True)
    callback.on_step_end(None, state, None, model=Module())
    state.global_step = 11
    callback.on_step_end(None, state, None, model=Module())
    assert state.log_history == [{**expected(), "step": 10}]


def test_the_callback_of_hugging_face_is_one_of_transformers():
    transformers = pytest.importorskip("transformers")
    assert isinstance(EmbeddingCallback([]), transformers.TrainerCallback)


def test_scorers_judge_estimators_by_the_embeddings_of_held_out_rows():
    decomposition = pytest.importorskip("sklearn.decomposition")
    selection = pytest.importorskip("sklearn.model_selection")
    scoring = {
        "classes": scorer("knn_accuracy", k=5),
        "dimension": scorer("participation_ratio"),
        "spread": scorer("uniformity"),
        "neighbors": scorer("trustworthiness", k=5),
    }
    split = selection.KFold(3)
    pca = decomposition.PCA(3)
    scores = selection.cross_validate(pca, X, Y, scoring=scoring, cv=split)
    train, test = next(split.split(X))
    embeddings = pca.fit(X[train]).transform(X[test])
    assert scores["test_dimension"][0] == pytest.approx(repscope.participation_ratio(embeddings).value)
    assert scores["test_spread"][0] == pytest.approx(-repscope.uniformity(embeddings).value), "less is better"
    assert scores["test_neighbors"][0] == pytest.approx(repscope.trustworthiness(X[test], embeddings, k=5).value)
    assert np.isfinite(scores["test_classes"]).all()
    assert pickle.loads(pickle.dumps(scoring["classes"])).options == {"k": 5}
    with pytest.raises(ValueError, match="no metric of embeddings"):
        scorer("nonsense")


def test_gates_pass_or_say_what_failed(results):
    results.assert_gate(["two_nn>0", "good:two_nn<1e3"])
    with pytest.raises(AssertionError, match="two_nn"):
        results.assert_gate("two_nn>1e6")
    with pytest.raises(ValueError, match="no metric"):
        results.assert_gate("nonsense>1")
    with pytest.raises(ValueError, match="nothing to hold"):
        results.assert_gate([])


def test_scores_of_samples_are_a_frame(results):
    pytest.importorskip("pandas")
    frame = results.samples_to_pandas()
    assert len(frame.columns)
    name = frame.columns[0]
    np.testing.assert_array_equal(frame[name], results.samples[name])


def test_long_tables_are_folded_behind_the_verdict(results):
    page = results._repr_html_()
    assert page.index("<ul>") < page.index("<details")
    assert f"<summary>{len({score.metric for score in results.scores})} scores</summary>" in page


class Lent:
    """Numbers behind the interface of NumPy alone."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


def test_arrays_of_other_libraries_are_taken():
    value = repscope.two_nn(Z).value
    assert repscope.two_nn(Lent(Z)).value == value


def test_lists_of_arrow_are_embeddings_without_a_copy():
    pa = pytest.importorskip("pyarrow")
    from repscope._arrow import from_arrow

    flat = pa.array(Z.ravel())
    fixed = pa.FixedSizeListArray.from_arrays(flat, 5)
    varying = pa.ListArray.from_arrays(pa.array(np.arange(len(Z) + 1) * 5, type=pa.int32()), flat)
    for array in (fixed, varying, fixed[10:], varying[10:]):
        rows = len(array)
        np.testing.assert_array_equal(from_arrow(array), Z[-rows:])
    assert from_arrow(fixed).__array_interface__["data"][0] == flat.buffers()[1].address
    assert repscope.two_nn(fixed).value == repscope.two_nn(Z).value
    assert from_arrow(pa.array([1.0, None])) is None
    assert repscope.knn_accuracy(Z, pa.array([str(label) for label in Y]), k=5).value > 0.5
