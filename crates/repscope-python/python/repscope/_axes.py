# SPDX-License-Identifier: MIT
"""Figures in axes of matplotlib: the description of a figure, drawn as lines, bars and points that can be changed afterwards.

What is drawn is the description that the SVG is made of (the crate repscope-figures); colors are the same. Each kind of panel has a
function of its own in ``_PANELS``.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

#: Markers and dashes of series, in the order of the SVG.
_MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*", "p", ">", "<", "h"]
_DASHES = [
    "-",
    (0, (4.5, 1.6)),
    (0, (1.3, 1.3)),
    (0, (6, 1.5, 1.3, 1.5)),
    (0, (8, 1.8)),
    (0, (4, 1.3, 1.3, 1.3, 1.3, 1.3)),
]

_GRAY = "#5a5a5a"

#: Cells of more rows or columns have no numbers in them.
_NUMBERED = 15

#: Curves of more points have no markers.
_MARKED = 30


class _Look:
    """Names, colors and shapes that all panels share."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.names: list[str] = description["figure"]["series"]
        self.colors: list[str] = description["series_colors"]
        self.classes: list[str] = description["class_colors"]
        self.values: list[str] = description["value_colors"]

    def marker(self, series: int) -> str:
        return _MARKERS[series % len(_MARKERS)]

    def dash(self, series: int) -> Any:
        return _DASHES[series % len(_DASHES)]

    def map(self) -> Any:
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("repscope", self.values)


def draw(document: str, ax: Any) -> None:
    """Draw all panels: into one axes, which is divided where there are several, or into as many axes as there are panels."""
    description = json.loads(document)
    figure = description["figure"]
    panels, look = figure["panels"], _Look(description)
    axes = (
        _given(ax, len(panels)) if isinstance(ax, (Sequence, np.ndarray)) else _divided(ax, panels, figure["columns"])
    )
    is_lettered = len(panels) > 1 and figure["letters"] == "Shown"
    for at, (own, panel) in enumerate(zip(axes, panels, strict=True)):
        ((kind, content),) = panel["content"].items()
        _PANELS[kind](own, content, look)
        letter = f"{chr(ord('a') + at)}  " if is_lettered and at < 26 else ""
        if letter or panel["title"]:
            own.set_title(textwrap.fill(letter + panel["title"], 44), loc="left", fontsize="medium")
        if panel["note"]:
            words = textwrap.fill(panel["note"], 50)
            own.set_xlabel(f"{own.get_xlabel()}\n{words}".lstrip("\n"), fontsize="small")
    if figure["legend"] != "Hidden":
        _legend(axes, look)


def _given(ax: Any, needed: int) -> list[Any]:
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != needed:
        raise ValueError(
            f"the figure has {needed} panels, and {len(axes)} axes were given; give one axes, or one for each panel"
        )
    return axes


def _divided(ax: Any, panels: list[dict[str, Any]], columns: int) -> list[Any]:
    """Axes for the panels in the place of one, row by row."""
    if len(panels) == 1:
        return [ax]
    columns = max(columns, 1)
    places, row, column = [], 0, 0
    for panel in panels:
        span = min(max(panel["span"], 1), columns)
        if column + span > columns:
            row, column = row + 1, 0
        places.append((row, column, span))
        column += span
    rows = row + 1
    ax.set_axis_off()
    spec = ax.get_subplotspec()
    if spec is not None:
        # A layout engine finds the room between the panels by itself.
        room = {} if ax.figure.get_layout_engine() is not None else {"wspace": 0.45, "hspace": 0.9}
        inner = spec.subgridspec(rows, columns, **room)
        return [ax.figure.add_subplot(inner[row, column : column + span]) for row, column, span in places]
    width, height = 1 / columns, 1 / rows
    return [
        ax.inset_axes((column * width, 1 - (row + 0.8) * height, (span - 0.3) * width, 0.6 * height))
        for row, column, span in places
    ]


def _legend(axes: list[Any], look: _Look) -> None:
    """Names of the series, in the first panel that shows several without naming them on its axis."""
    for ax in axes:
        labels = ax.get_legend_handles_labels()[1]
        if len([label for label in labels if label in look.names]) > 1:
            # Above the title, where it covers nothing.
            ax.legend(
                fontsize="small", frameon=False, loc="lower left", bbox_to_anchor=(-0.02, 1.15), ncols=3, borderpad=0
            )
            return


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _axis(ax: Any, which: str, axis: dict[str, Any]) -> None:
    """Label, scale, and what the axis must reach."""
    ax.set(**{f"{which}label": axis["label"]})
    if axis["scale"] == "Log":
        _log_ticks(ax, which)
    covers = [value for value in axis["covers"] if value is not None and (axis["scale"] != "Log" or value > 0)]
    if covers:
        low, high = sorted(getattr(ax, f"get_{which}lim")())
        ax.set(**{f"{which}lim": (min(low, *covers), max(high, *covers))})


def _log_ticks(ax: Any, which: str) -> None:
    """Equal factors. Numbers within one power of ten stand at 1, 2 and 5, as plain numbers where there are few powers."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    ax.set(**{f"{which}scale": "log"})
    own = getattr(ax, f"{which}axis")
    own.set_minor_formatter(NullFormatter())
    low, high = sorted(getattr(ax, f"get_{which}lim")())
    if 0 < low and high / low < 1000:
        own.set_major_locator(LogLocator(subs=(1, 2, 5)))
        own.set_major_formatter(ScalarFormatter())


def _references(ax: Any, references: list[dict[str, Any]], look: _Look) -> None:
    for reference in references:
        color = _GRAY if reference["series"] is None else look.colors[reference["series"]]
        how = {"color": color, "linestyle": ":", "linewidth": 1, "label": reference["label"] or None, "zorder": 1}
        if reference["at"] == "Diagonal":
            ax.axline((0, 0), slope=1, **how)
            continue
        ((direction, value),) = reference["at"].items()
        (ax.axhline if direction == "Horizontal" else ax.axvline)(value, **how)


def _scatter(ax: Any, content: dict[str, Any], look: _Look) -> None:
    for cloud in content["clouds"]:
        points, series = _points(cloud["points"]), cloud["series"]
        how = {"color": look.colors[series], "marker": look.marker(series), "label": look.names[series]}
        ax.scatter(points[:, 0], points[:, 1], s=8, alpha=0.6, linewidths=0, **how)
    for fit in content["fits"]:
        own = [_points(cloud["points"])[:, 0] for cloud in content["clouds"] if cloud["series"] == fit["series"]]
        x = np.array([np.nanmin(own), np.nanmax(own)]) if own and len(own[0]) else np.array([0.0, 1.0])
        ax.plot(x, fit["intercept"] + fit["slope"] * x, color=look.colors[fit["series"]], label=fit["label"] or None)
    _references(ax, content["references"], look)
    _axis(ax, "x", content["x"])
    _axis(ax, "y", content["y"])


def _points(points: Iterable[Iterable[float | None]]) -> np.ndarray:
    return np.array([[_number(value) for value in point] for point in points], dtype=float).reshape(-1, 2)


def _lines(ax: Any, content: dict[str, Any], look: _Look) -> None:
    for curve in content["curves"]:
        points, series = curve["points"], curve["series"]
        x = [_number(point["x"]) for point in points]
        y = [_number(point["y"]) for point in points]
        if curve["look"] == "Faint":
            ax.plot(x, y, color="#b0b0b0", linewidth=0.6, zorder=1)
            continue
        color = look.colors[series]
        marker = look.marker(series) if len(points) <= _MARKED else None
        how = {"linestyle": look.dash(series), "marker": marker, "markersize": 3.5, "label": look.names[series]}
        ax.plot(x, y, color=color, linewidth=1.4, **how)
        bands = [point["band"] or (None, None) for point in points]
        if any(band != (None, None) for band in bands):
            low, high = ([_number(band[end]) for band in bands] for end in (0, 1))
            ax.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    _references(ax, content["references"], look)
    _axis(ax, "x", content["x"])
    _axis(ax, "y", content["y"])


def _slots(rows: list[dict[str, Any]], of: str, categories: list[str]) -> list[tuple[int, int, float, float]]:
    """Series, category, place and width of each mark: groups of series around whole numbers, or one series each."""
    if not categories:
        return [(row["series"], 0, float(at), 0.7) for at, row in enumerate(rows)]
    width = 0.8 / max(len(rows), 1)
    return [
        (row["series"], category, category - 0.4 + (at + 0.5) * width, width * 0.9)
        for at, row in enumerate(rows)
        for category in range(len(row[of]))
    ]


def _named_slots(ax: Any, content: dict[str, Any], names: list[str]) -> None:
    """Names of the groups on the axis across, and the axis of the values."""
    is_vertical = content["orientation"] == "Vertical"
    across, along = ("x", "y") if is_vertical else ("y", "x")
    turned = 30 if is_vertical and sum(map(len, names)) > 30 else 0
    how = {"rotation": turned, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    getattr(ax, f"set_{across}ticks")(range(len(names)), names, **how)
    if not is_vertical:
        ax.invert_yaxis()
    if content["categories"]:
        ax.set(**{f"{across}label": content["category_label"]})
    _axis(ax, along, content["axis"])


def _boxes(ax: Any, content: dict[str, Any], look: _Look) -> None:
    import matplotlib

    is_vertical = content["orientation"] == "Vertical"
    rows = content["rows"]
    by_series = {row["series"]: row["boxes"] for row in rows}
    named = set()
    for series, category, place, width in _slots(rows, "boxes", content["categories"]):
        box = by_series[series][category] if by_series[series] else None
        if box is None:
            continue
        summary = {"med": box["median"], "whislo": box["low"], "whishi": box["high"], "fliers": box["outliers"]}
        summary |= {"q1": box["q1"], "q3": box["q3"]}
        is_new = matplotlib.__version_info__ >= (3, 10)
        pointed = {"orientation": content["orientation"].lower()} if is_new else {"vert": is_vertical}
        color = look.colors[series]
        label = None if series in named or not content["categories"] else look.names[series]
        named.add(series)
        drawn = ax.bxp(
            [summary],
            positions=[place],
            widths=[width],
            patch_artist=True,
            boxprops={"facecolor": color, "alpha": 0.6},
            medianprops={"color": "black"},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": color},
            manage_ticks=False,
            **pointed,
        )
        drawn["boxes"][0].set_label(label)
    _references(ax, content["references"], look)
    _named_slots(ax, content, content["categories"] or [look.names[row["series"]] for row in rows])


def _bars(ax: Any, content: dict[str, Any], look: _Look) -> None:
    rows, categories = content["rows"], content["categories"]
    if content["along"] is not None:
        return _bars_along(ax, content, look)
    is_vertical = content["orientation"] == "Vertical"
    by_series = content["grouping"] == "Series" and categories
    bars = {row["series"]: row["bars"] for row in rows}
    are_points = content["look"] == "Points" or content["axis"]["scale"] == "Log"
    places = {row["series"]: float(at) for at, row in enumerate(rows)}
    named = set()
    for series, category, place, width in _slots(rows, "bars", categories):
        measured = bars[series][category] if category < len(bars[series]) else None
        if measured is None or measured["value"] is None:
            continue
        color, shape, name = look.colors[series], look.marker(series), look.names[series] if categories else None
        if by_series:
            share = 0.8 / len(categories)
            place, width = places[series] - 0.4 + (category + 0.5) * share, 0.9 * share
            color, shape, name = look.classes[category % len(look.classes)], look.marker(category), categories[category]
        label = None if name in named else name
        named.add(name)
        value = measured["value"]
        low, high = measured["interval"] or (value, value)
        reach = [[max(value - low, 0)], [max(high - value, 0)]] if measured["interval"] else None
        if are_points:
            x, y = (place, value) if is_vertical else (value, place)
            reaches = {"yerr": reach} if is_vertical else {"xerr": reach}
            ax.errorbar([x], [y], color=color, marker=shape, markersize=4, linestyle="", label=label, **reaches)
        elif is_vertical:
            ax.bar(place, value, width, color=color, label=label, yerr=reach, error_kw={"linewidth": 1})
        else:
            ax.barh(place, value, width, color=color, label=label, xerr=reach, error_kw={"linewidth": 1})
    names = [look.names[row["series"]] for row in rows] if by_series or not categories else categories
    chance = content["chance"] * len(names) if len(content["chance"]) == 1 else content["chance"]
    for place, level in enumerate(chance):
        if level is not None:
            (ax.hlines if is_vertical else ax.vlines)(
                level, place - 0.45, place + 0.45, color=_GRAY, linestyle="--", linewidth=1
            )
    _references(ax, content["references"], look)
    _named_slots(ax, content if not by_series else {**content, "categories": []}, names)


def _bars_along(ax: Any, content: dict[str, Any], look: _Look) -> None:
    """A line for each category over the numbers that the rows stand for."""
    for category, name in enumerate(content["categories"] or [""]):
        measured = [
            row["bars"][category] if category < len(row["bars"]) else {"value": None, "interval": None}
            for row in content["rows"]
        ]
        values = [_number(one["value"]) for one in measured]
        ends = [one["interval"] or (value, value) for one, value in zip(measured, values, strict=True)]
        reach = [[max(value - low, 0), max(high - value, 0)] for value, (low, high) in zip(values, ends, strict=True)]
        color = look.classes[category % len(look.classes)]
        ax.errorbar(
            content["along"]["at"],
            values,
            yerr=np.nan_to_num(np.array(reach).T),
            color=color,
            marker="o",
            markersize=3,
            label=name or None,
        )
    ax.set_xlabel(content["along"]["label"])
    _references(ax, content["references"], look)
    _axis(ax, "y", content["axis"])


def _histogram(ax: Any, content: dict[str, Any], look: _Look) -> None:
    for bins in content["series"]:
        color, name = look.colors[bins["series"]], look.names[bins["series"]]
        heights = [_number(height) for height in bins["heights"]]
        if bins["look"] == "Filled":
            ax.stairs(heights, bins["edges"], color=color, alpha=0.25, fill=True)
        ax.stairs(heights, bins["edges"], color=color, linestyle="-" if bins["look"] == "Filled" else "--", label=name)
    _references(ax, content["references"], look)
    _axis(ax, "x", content["x"])
    _axis(ax, "y", content["y"])


def _heatmap(ax: Any, content: dict[str, Any], look: _Look) -> None:
    rows, columns = content["rows"], content["columns"]
    values = np.full((len(rows), len(columns)), np.nan)
    for row, own in enumerate(content["values"][: len(rows)]):
        for column, value in enumerate(own[: len(columns)]):
            values[row, column] = _number(value)
    found = values[np.isfinite(values)]
    low, high = content["range"] or ((found.min(), found.max()) if len(found) else (0, 1))
    if content["colors"] == "Diverging":
        high = max(abs(low), abs(high))
        low = -high
    image = ax.imshow(
        values, cmap="RdBu_r" if content["colors"] == "Diverging" else "Blues", vmin=low, vmax=high, aspect="auto"
    )
    ax.set_xticks(range(len(columns)), columns, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), rows)
    ax.set(xlabel=content["column_label"], ylabel=content["row_label"])
    if max(len(rows), len(columns)) <= _NUMBERED:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                color = "white" if _is_dark(image.cmap(image.norm(value))) else "black"
                ax.text(
                    column,
                    row,
                    f"{value:.{content['decimals']}f}",
                    ha="center",
                    va="center",
                    fontsize="small",
                    color=color,
                )
    ax.figure.colorbar(image, ax=ax, label=content["value_label"])


def _is_dark(color: tuple[float, ...]) -> bool:
    return 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2] < 0.5


def _shares(ax: Any, content: dict[str, Any], look: _Look) -> None:
    names, parts = content["names"], content["parts"]
    colors = look.map()(np.linspace(0, 1, max(len(parts), 2)))
    values = np.array([[_number(value) for value in own] for own in content["values"]], dtype=float).reshape(
        len(names), len(parts)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        values = values / values.sum(axis=1, keepdims=True)
    before = np.zeros(len(names))
    for part, name in enumerate(parts):
        ax.barh(
            range(len(names)), np.nan_to_num(values[:, part]), left=before, color=colors[part], label=name, height=0.7
        )
        before = before + np.nan_to_num(values[:, part])
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlabel="share", xlim=(0, 1))
    ax.legend(fontsize="small", frameon=False)


def _tree(ax: Any, content: dict[str, Any], look: _Look) -> None:
    names = content["names"]
    nodes = [(0.0, float(at)) for at in range(len(names))]
    for merge in content["merges"]:
        (x0, y0), (x1, y1) = nodes[merge["left"]], nodes[merge["right"]]
        ax.plot([x0, merge["at"], merge["at"], x1], [y0, y0, y1, y1], color=_GRAY, linewidth=1)
        nodes.append((merge["at"], (y0 + y1) / 2))
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel(content["label"])


def _map(ax: Any, content: dict[str, Any], look: _Look) -> None:
    points, colored = _points(content["points"]), content["colored_by"]
    kind, about = ("Nothing", {}) if colored == "Nothing" else next(iter(colored.items()))
    how = {"s": 6, "alpha": 0.7, "linewidths": 0}
    if kind == "Nothing":
        ax.scatter(points[:, 0], points[:, 1], color=look.classes[0], **how)
    elif kind == "Value":
        low, high = about["range"] or (None, None)
        values = np.array([_number(value) for value in about["of"]], dtype=float)
        drawn = ax.scatter(
            points[:, 0], points[:, 1], c=values, cmap=look.map(), vmin=low, vmax=high, plotnonfinite=True, **how
        )
        ax.figure.colorbar(drawn, ax=ax, label=about["label"])
    else:
        of = np.array([-1 if own is None else own for own in about["of"]])
        counts = np.bincount(of[of >= 0], minlength=len(about["names"]))
        # Beyond the colors that there are, the smallest classes share gray.
        shown = sorted(np.argsort(-counts, kind="stable")[: len(look.classes)])
        for color, name in enumerate(shown):
            own = points[of == name]
            ax.scatter(own[:, 0], own[:, 1], color=look.classes[color], label=about["names"][name], **how)
        rest = points[~np.isin(of, shown)]
        if len(rest):
            ax.scatter(rest[:, 0], rest[:, 1], color="#b0b0b0", label="other", **how)
        ax.legend(fontsize="small", frameon=False, markerscale=1.5)
    ax.set(xlabel=content["x_label"], ylabel=content["y_label"], xticks=[], yticks=[])


def _table(ax: Any, content: dict[str, Any], look: _Look) -> None:
    ax.set_axis_off()
    cells = [[cell["text"] or "–" for cell in row] for row in content["rows"]]
    if not cells:
        return
    table = ax.table(cells, colLabels=content["header"] or None, loc="center", edges="horizontal")
    table.auto_set_font_size(False)
    table.set_fontsize(7)
    table.scale(1, 1.3)
    for row, own in enumerate(content["rows"]):
        for column, cell in enumerate(own):
            if cell["weight"] == "Bold":
                table[row + bool(content["header"]), column].get_text().set_fontweight("bold")


def _images(ax: Any, content: dict[str, Any], look: _Look) -> None:
    ax.set_axis_off()
    columns = max(content["columns"], 1)
    images = content["images"]
    for at, image in enumerate(images):
        row, column = divmod(at, columns)
        channels = 1 if image["channels"] == "Gray" else 3
        pixels = np.array(image["pixels"], dtype=np.uint8)
        left, top = column * 1.1, row * 1.3
        if pixels.size and pixels.size == image["width"] * image["height"] * channels:
            shape = (image["height"], image["width"]) if channels == 1 else (image["height"], image["width"], 3)
            ax.imshow(pixels.reshape(shape), cmap="gray", vmin=0, vmax=255, extent=(left, left + 1, top + 1, top))
        ax.text(left + 0.5, top + 1.05, image["caption"], ha="center", va="top", fontsize="small")
    rows = -(-len(images) // columns)
    ax.set(xlim=(0, max(min(len(images), columns), 1) * 1.1), ylim=(max(rows, 1) * 1.3, 0))


def _text(ax: Any, content: str, look: _Look) -> None:
    ax.set_axis_off()
    ax.text(0.5, 0.5, textwrap.fill(content, 40), ha="center", va="center", color=_GRAY, transform=ax.transAxes)


_PANELS = {
    "Scatter": _scatter,
    "Lines": _lines,
    "Boxes": _boxes,
    "Bars": _bars,
    "Histogram": _histogram,
    "Heatmap": _heatmap,
    "Shares": _shares,
    "Tree": _tree,
    "Map": _map,
    "Table": _table,
    "Images": _images,
    "Text": _text,
}
