# SPDX-License-Identifier: MIT
"""Probes beside scikit-learn: the same predictions of rows that only test."""

import numpy as np
import pytest
import repscope

sklearn = pytest.importorskip("sklearn")


def test_probes_of_given_rows_agree_with_scikit_learn(digits):
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.metrics import accuracy_score, log_loss, r2_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    codes, labels = digits.pca.astype("f8"), digits.labels
    targets = digits.states.reshape(len(codes), -1)[:, 18:20].astype("f8")
    train, test = slice(0, 400), slice(400, 600)
    found = repscope.probe(
        codes[train],
        labels[train],
        targets[train],
        test_model=codes[test],
        test_labels=labels[test],
        test_targets=targets[test],
        penalties=[2.0],
        shots=[1],
    )
    ridge = make_pipeline(StandardScaler(), Ridge(alpha=2.0)).fit(codes[train], targets[train]).predict(codes[test])
    assert found["linear.r2"] == pytest.approx(r2_score(targets[test], ridge), abs=1e-9)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(C=0.5, tol=1e-10, max_iter=10000))
    logistic.fit(codes[train], labels[train])
    assert found["linear.accuracy"] == accuracy_score(labels[test], logistic.predict(codes[test]))
    loss = log_loss(labels[test], logistic.predict_proba(codes[test]))
    assert found["linear.log_loss"] == pytest.approx(loss, abs=1e-6)
    assert found["linear.accuracy"].n == 200


def test_what_is_read_out_decides_what_is_said(digits):
    codes = digits.pca
    only = repscope.probe(codes, targets=np.arange(len(codes)) * 1.0, shots=[1])
    assert "linear.r2(target=0)" in only and "linear.accuracy" not in only
    with pytest.raises(ValueError, match="labels"):
        repscope.probe(codes)
    with pytest.raises(ValueError, match="not an integer"):
        repscope.probe(codes, np.linspace(0, 1, len(codes)))


def test_an_evaluation_with_targets_has_probes(digits):
    results = repscope.evaluate(
        {"pca": digits.pca}, targets=digits.states.reshape(len(digits.pca), -1)[:, :1], only=["probe"]
    )
    assert any(score.metric == "probe.linear.r2" for score in results.scores)
