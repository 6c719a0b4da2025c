# SPDX-License-Identifier: MIT
"""Figures in axes of matplotlib: what is drawn is what the description holds."""

import json

import numpy as np
import pytest
import repscope

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from repscope._axes import _PANELS, draw  # noqa: E402

RNG = np.random.default_rng(8)
X = RNG.normal(size=(300, 8)).astype("f4")
Y = np.array(["left", "right"])[(X[:, 0] > 0).astype(int)]


@pytest.fixture(scope="module")
def results():
    models = {"good": X[:, :4] @ RNG.normal(size=(4, 5)).astype("f4"), "noise": RNG.normal(size=(300, 5))}
    return repscope.evaluate(models, states=X, labels=Y, progress=False)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def described(results, name):
    return json.loads(results._run.figure_description(name))["figure"]


def axes_of(results, name):
    panels = described(results, name)["panels"]
    axes = np.atleast_1d(plt.subplots(1, len(panels), squeeze=False)[1][0])
    results.figure(name, ax=axes)
    return list(zip(axes, panels, strict=True))


def document(content, series=("one", "two"), **more):
    figure = {
        "title": "",
        "description": "",
        "columns": 1,
        "series": list(series),
        "legend": "Auto",
        "letters": "Shown",
        "notes": [],
    }
    panel = {"title": "A panel", "content": content, "span": 1, "note": ""}
    colors = {
        "series_colors": ["#0072b2", "#e69f00"],
        "class_colors": [f"#0000{i:02x}" for i in range(20)],
        "value_colors": ["#000000", "#ffffff"],
    }
    return json.dumps({"figure": {**figure, "panels": [panel], **more}, **colors})


AXIS = {"label": "value", "scale": "Linear", "covers": []}


def test_every_panel_of_every_figure_is_drawn_with_its_title_and_labels(results):
    kinds = set()
    for name in results.figures:
        for ax, panel in axes_of(results, name):
            ((kind, content),) = panel["content"].items()
            kinds.add(kind)
            assert panel["title"] in ax.get_title(loc="left").replace("\n", " ")
            assert not ax.images, "lines and points, no picture"
            if kind == "Bars" and content["orientation"] == "Vertical":
                assert ax.get_ylabel() == content["axis"]["label"]
            if kind == "Lines":
                assert (ax.get_xlabel().split("\n")[0], ax.get_ylabel()) == (
                    content["x"]["label"],
                    content["y"]["label"],
                )
        plt.gcf().canvas.draw()
        plt.close("all")
    assert {"Bars", "Lines", "Map", "Histogram", "Table"} <= kinds


def test_curves_bars_and_points_have_the_numbers_of_the_description(results):
    for name in ["neighborhood", "geometry", "map_by_label"]:
        for ax, panel in axes_of(results, name):
            ((kind, content),) = panel["content"].items()
            if kind == "Lines":
                for line, curve in zip(ax.lines, content["curves"], strict=False):
                    np.testing.assert_allclose(line.get_ydata(), [point["y"] for point in curve["points"]])
            elif kind == "Bars":
                drawn = sorted(patch.get_height() for patch in ax.patches)
                values = sorted(
                    bar["value"] for row in content["rows"] for bar in row["bars"] if bar["value"] is not None
                )
                assert drawn == pytest.approx(values)
            elif kind == "Map":
                points = np.concatenate([group.get_offsets() for group in ax.collections])
                np.testing.assert_allclose(np.sort(points[:, 0]), np.sort([point[0] for point in content["points"]]))
                assert [text.get_text() for text in ax.get_legend().get_texts()] == content["colored_by"]["Class"][
                    "names"
                ]


def test_one_axes_is_divided_among_the_panels_and_others_are_left_alone(results):
    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    drawn = results.figure("geometry", ax=left)
    assert drawn.format == "svg"
    panels = described(results, "geometry")["panels"]
    assert len(figure.axes) == 2 + len(panels)
    assert not left.axison
    assert right.axison
    assert not right.lines
    # Axes that stand free are divided, too.
    free = plt.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    results.figure("geometry", ax=free)
    assert len(free.child_axes) == len(panels)


def test_as_many_axes_as_panels_are_needed(results):
    panels = len(described(results, "geometry")["panels"])
    _, axes = plt.subplots(1, 2)
    with pytest.raises(ValueError, match=f"has {panels} panels, and 2 axes were given"):
        results.figure("geometry", ax=axes)


def test_kinds_that_few_figures_have_are_drawn():
    box = {"q1": 1, "median": 2, "q3": 3, "low": 0, "high": 4, "outliers": [9.0]}
    shared = {
        "axis": AXIS,
        "orientation": "Horizontal",
        "categories": ["a", "b"],
        "category_label": "letter",
        "references": [],
    }
    bars = {
        **shared,
        "rows": [{"series": 0, "bars": [{"value": 1.0, "interval": [0.5, 2.0]}, {"value": None, "interval": None}]}],
    }
    reference = {"at": {"Horizontal": 0.5}, "label": "chance", "series": None}
    contents = {
        "Scatter": {
            "x": AXIS,
            "y": {**AXIS, "scale": "Log", "covers": [100.0]},
            "clouds": [{"series": 1, "points": [[1, 2], [3, None], [2, 5]]}],
            "fits": [{"series": 1, "slope": 2.0, "intercept": 1.0, "label": "slope 2"}],
            "references": [{"at": "Diagonal", "label": "", "series": None}, reference],
        },
        "Boxes": {**shared, "rows": [{"series": 0, "boxes": [box, None]}, {"series": 1, "boxes": [box, box]}]},
        "Bars": {**bars, "chance": [0.1], "look": "Points", "grouping": "Series", "along": None},
        "Heatmap": {
            "rows": ["r"], "columns": ["c", "d"], "row_label": "true", "column_label": "found", "values": [[0.5, None]],
            "value_label": "share", "range": None, "colors": "Diverging", "decimals": 2,
        },
        "Shares": {"names": ["m"], "parts": ["p", "q"], "values": [[1.0, 3.0]]},
        "Tree": {"names": ["a", "b", "c"], "merges": [{"left": 0, "right": 1, "at": 1.0}, {"left": 3, "right": 2, "at": 2.0}], "label": "distance"},
        "Images": {"columns": 2, "images": [{"caption": "x", "width": 2, "height": 1, "channels": "Gray", "pixels": [0, 255]}]},
        "Text": "there is nothing to draw",
    }  # fmt: skip
    drawn = {}
    for kind, content in contents.items():
        ax = drawn[kind] = plt.subplots()[1]
        draw(document({kind: content}), ax)
        ax.figure.canvas.draw()
        assert ax.get_title(loc="left") == "A panel"
    scatter = drawn["Scatter"]
    assert scatter.get_yscale() == "log"
    assert scatter.get_ylim()[1] >= 100
    assert len(scatter.collections[0].get_offsets()) == 3
    assert [line.get_label() for line in scatter.lines if not line.get_label().startswith("_")] == ["slope 2", "chance"]
    assert len(drawn["Boxes"].patches) == 3
    assert [text.get_text() for text in drawn["Boxes"].get_yticklabels()] == ["a", "b"]
    assert len(drawn["Bars"].containers) == 1
    assert [text.get_text() for text in drawn["Heatmap"].texts] == ["0.50"]
    assert [round(patch.get_width(), 2) for patch in drawn["Shares"].patches] == [0.25, 0.75]
    assert [list(line.get_ydata()) for line in drawn["Tree"].lines] == [[0, 0, 1, 1], [0.5, 0.5, 2, 2]]
    assert drawn["Images"].images[0].get_array().tolist() == [[0, 255]]
    assert drawn["Text"].texts[0].get_text() == "there is nothing to draw"
    tested = {"Bars", "Lines", "Map", "Histogram", "Table"} | set(contents)
    assert tested == set(_PANELS), "every kind of panel is drawn by a test"
