# SPDX-License-Identifier: MIT
"""Shorter and quantized embeddings, layers, and several views."""

import numpy as np
import pytest
import repscope


def arrays(columns=8, rows=90, seed=3):
    rng = np.random.default_rng(seed)
    labels = np.arange(rows) % 3
    return rng.standard_normal((rows, columns)) + 3 * np.eye(3, columns)[labels], labels


def test_versions_have_scores_and_changes():
    z, y = arrays()
    results = repscope.evaluate({"m": z}, labels=y, prefix=[2, 4], quantize="binary", only=["geometry", "manifold"])
    kinds = [(own["columns"], own["precision"]) for own in results.versions]
    assert kinds == [(2, "float"), (4, "float"), (2, "binary"), (4, "binary"), (None, "binary")]
    frame = results.versions_to_pandas()
    row = frame[(frame["columns"] == 4) & (frame["precision"] == "float") & (frame["metric"] == "knn_accuracy@5")].iloc[
        0
    ]
    alone = repscope.knn_accuracy(z[:, :4], y)
    assert row["value"] == pytest.approx(float(alone))
    whole = results["m", "knn_accuracy@5"]
    assert row["change"] == pytest.approx(row["value"] - whole.value)
    assert len(results.scores) == len([score for score in results.scores if score.model == "m"])


def test_a_mapping_of_arrays_and_a_callable_that_gives_one_are_layers():
    z, y = arrays()
    layers = {"block_0": z[:, 3:], "block_1": z}
    from_arrays = repscope.evaluate({"vit": layers}, labels=y, only=["geometry"])
    assert [(own["model"], own["depth"]) for own in from_arrays.layers] == [("vit/block_0", 0), ("vit/block_1", 1)]
    calls = []

    def encode(batch):
        calls.append(len(batch))
        return {"block_0": batch[:, 3:], "block_1": batch}

    encoded = repscope.evaluate({"vit": encode}, states=z, labels=y, only=["geometry"], batch_size=30)
    assert calls == [30, 30, 30]
    assert encoded.layers == from_arrays.layers
    assert encoded["vit/block_1", "knn_accuracy@5"].value == from_arrays["vit/block_1", "knn_accuracy@5"].value
    assert any(name.endswith("layers") for name in encoded.figures)


def test_layers_that_are_none_are_refused():
    z, _ = arrays()
    with pytest.raises(ValueError, match="no layers"):
        repscope.evaluate({"vit": {}})
    with pytest.raises(ValueError, match="other layers"):
        repscope.evaluate({"vit": lambda batch: {str(batch[0, 0]): batch}}, states=z, batch_size=30)


def test_a_list_of_views_is_for_lidar():
    z, _ = arrays()
    rng = np.random.default_rng(5)
    views = [z + 0.1 * rng.standard_normal(z.shape) for _ in range(3)]
    results = repscope.evaluate({"m": z}, views={"m": views}, only=["rankme"])
    assert "4 views" in results["m", "lidar"].note
