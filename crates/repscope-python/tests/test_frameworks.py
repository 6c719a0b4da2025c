# SPDX-License-Identifier: MIT
"""Callbacks in real training runs of Lightning and of transformers. They are skipped where torch is not installed."""

import csv
import math

import numpy as np
import pytest
from repscope.lightning import EmbeddingMonitor
from repscope.transformers import EmbeddingCallback

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(4)
X = RNG.normal(size=(64, 8)).astype("f4")
Y = (X[:, 0] > 0).astype("i8")
HELD_OUT = [torch.from_numpy(RNG.normal(size=(40, 8)).astype("f4")) for _ in range(3)]


def network():
    """An encoder whose dropout shows whether it is run as in training, and a head."""
    torch.manual_seed(0)
    encoder = torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(16, 6)
    )
    return encoder, torch.nn.Linear(6, 2)


def weights(module):
    return torch.cat([parameter.detach().ravel() for parameter in module.parameters()])


def test_lightning_evaluates_while_it_trains_and_trains_as_without(tmp_path):
    lightning = pytest.importorskip("lightning.pytorch")
    from lightning.pytorch.loggers import CSVLogger

    modes = []

    class Classifier(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.encoder, self.head = network()

        def forward(self, x):
            modes.append((self.encoder.training, torch.is_grad_enabled()))
            return self.encoder(x)

        def training_step(self, batch, index):
            x, y = batch
            return torch.nn.functional.cross_entropy(self.head(self.encoder(x)), y)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    def train(callbacks):
        module = Classifier()
        data = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
        trainer = lightning.Trainer(
            max_steps=6,
            accelerator="cpu",
            callbacks=callbacks,
            logger=CSVLogger(str(tmp_path), name="runs"),
            log_every_n_steps=1,
            enable_progress_bar=False,
            enable_checkpointing=False,
            enable_model_summary=False,
        )
        torch.manual_seed(1)
        trainer.fit(module, torch.utils.data.DataLoader(data, batch_size=16))
        return module, trainer

    watch = EmbeddingMonitor(HELD_OUT, ["rankme", "uniformity"], every=2)
    module, trainer = train([watch])
    assert [step for step, _ in watch.history] == [2, 4, 6]
    assert set(modes) == {(False, False)}
    assert all(math.isfinite(score.value) for _, scores in watch.history for score in scores.values())
    with open(f"{trainer.logger.log_dir}/metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    name = next(column for column in rows[0] if column.startswith("repscope/rankme"))
    logged = {int(row["step"]): float(row[name]) for row in rows if row[name]}
    expected = {step: scores[name.removeprefix("repscope/")].value for step, scores in watch.history}
    assert logged == pytest.approx(expected)
    alone, _ = train([])
    assert torch.equal(weights(module), weights(alone)), "what is watched trains as what is not"


def test_parts_that_are_frozen_stay_so():
    from types import SimpleNamespace

    encoder, _ = network()
    encoder.train()
    encoder[2].eval()
    watch = EmbeddingMonitor(HELD_OUT, ["rankme"], every=1)
    watch.on_train_batch_end(SimpleNamespace(global_step=1, logger=None, is_global_zero=True), encoder)
    assert len(watch.history) == 1
    assert [encoder.training, encoder[0].training, encoder[2].training] == [True, True, False]


def test_transformers_evaluates_while_it_trains_and_trains_as_without(tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")

    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.head = network()

        def forward(self, x, labels=None):
            logits = self.head(self.encoder(x))
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    def encode(model, batch):
        modes.append((model.training, torch.is_grad_enabled()))
        return model.encoder(batch)

    def train(callbacks):
        model = Classifier()
        arguments = transformers.TrainingArguments(
            output_dir=str(tmp_path),
            max_steps=6,
            per_device_train_batch_size=16,
            learning_rate=0.01,
            logging_steps=3,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            seed=5,
        )
        data = [{"x": torch.from_numpy(x), "labels": int(y)} for x, y in zip(X, Y, strict=True)]
        trainer = transformers.Trainer(model, arguments, train_dataset=data, callbacks=callbacks)
        trainer.train()
        return model, trainer

    modes, logged = [], []
    watch = EmbeddingCallback(
        HELD_OUT,
        ["rankme", "two_nn"],
        every=2,
        encode=encode,
        logger=lambda values, step: logged.append((step, values)),
    )
    model, trainer = train([watch])
    assert [step for step, _ in watch.history] == [2, 4, 6]
    assert set(modes) == {(False, False)}
    own = [entry for entry in trainer.state.log_history if any(name.startswith("repscope/") for name in entry)]
    assert [entry["step"] for entry in own] == [2, 4, 6]
    assert logged == [(entry["step"], {name: entry[name] for name in entry if name != "step"}) for entry in own]
    alone, _ = train([])
    assert torch.equal(weights(model), weights(alone)), "what is watched trains as what is not"
