# SPDX-License-Identifier: MIT
"""Masks of grey images as NumPy and SciPy compute them: writes `masks.json`; `--check` recomputes it and compares.

`top` and `bottom` follow the rule of document 003: pixels at or beyond `numpy.percentile` of the lit (non-zero) pixels become
0. `blur` and `inpaint` put other values at the pixels of `top5`: those of `scipy.ndimage.gaussian_filter(image, 2)`, and
the solution of the linear system in which each masked pixel is the weighted mean of its eight neighbours.
Pixels are written row by row in hexadecimal.
"""
import json
import sys
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.sparse import lil_matrix
from scipy.sparse.linalg import spsolve

FILE = Path(__file__).parent / "masks.json"
PERCENTS = (1, 2.5, 5, 50)


def images():
    rng = np.random.default_rng(1701)

    def histogram(points, spread, size):
        """Points around four places, counted in bins and brought to grey values: few values, most pixels black."""
        places = rng.choice([-0.5, 0.5], (points, 2)) + spread * rng.standard_normal((points, 2))
        counts = np.histogram2d(*places.T, bins=size, range=[[-1.2, 1.2]] * 2)[0]
        grey = np.log1p(counts)
        return np.round(255 * grey / grey.max()).astype(np.uint8)

    yield "histogram", histogram(400, 0.08, (24, 24))
    yield "noisy-histogram", histogram(150, 0.4, (24, 24))
    yield "wide", histogram(300, 0.15, (12, 37))
    yield "all-equal", np.where(rng.random((20, 20)) < 0.3, 90, 0).astype(np.uint8)
    yield "two-values", rng.choice([0, 10, 200], (19, 23)).astype(np.uint8)
    yield "dense", rng.integers(1, 256, (24, 24)).astype(np.uint8)
    yield "gradient", np.add.outer(3 * np.arange(24), 5 * np.arange(24)).astype(np.uint8)
    yield "one-lit", np.eye(1, 63, 31, dtype=np.uint8).reshape(7, 9) * 77
    yield "corner", np.pad(np.array([[255, 3], [1, 2]], dtype=np.uint8), ((0, 8), (0, 8)))
    yield "dark", np.zeros((6, 6), dtype=np.uint8)


def chosen(image, kind, percent):
    lit = image[image > 0]
    if lit.size == 0:
        return np.zeros(image.shape, dtype=bool)
    if kind == "top":
        return image >= np.percentile(lit, 100 - percent)
    return (image > 0) & (image <= np.percentile(lit, percent))


def inpainted(image, mask):
    """The masked pixels at which each is the mean of its neighbours, those beside it counted twice."""
    height, width = image.shape
    places = {place: i for i, place in enumerate(zip(*np.nonzero(mask)))}
    system, right = lil_matrix((len(places), len(places))), np.zeros(len(places))
    for (y, x), i in places.items():
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                other = (y + dy, x + dx)
                if (dy, dx) == (0, 0) or not (0 <= other[0] < height and 0 <= other[1] < width):
                    continue
                weight = 2.0 if dy == 0 or dx == 0 else 1.0
                system[i, i] += weight
                if other in places:
                    system[i, places[other]] -= weight
                else:
                    right[i] += weight * image[other]
    values = image.astype(float)
    if places:
        values[mask] = np.atleast_1d(spsolve(system.tocsr(), right))
    return values


def rounded(values):
    return np.floor(np.clip(values, 0, 255) + 0.5).astype(np.uint8)


def document():
    cases = []
    for name, image in images():
        case = {"name": name, "height": image.shape[0], "width": image.shape[1], "pixels": image.tobytes().hex(), "masked": {}}
        for kind in ("top", "bottom"):
            for percent in PERCENTS:
                mask = chosen(image, kind, percent)
                case["masked"][f"{kind}{percent}"] = np.where(mask, 0, image).astype(np.uint8).tobytes().hex()
        mask = chosen(image, "top", 5)
        blurred = gaussian_filter(image.astype(float), 2)
        case["blur"] = np.where(mask, rounded(blurred), image).astype(np.uint8).tobytes().hex()
        case["inpaint"] = rounded(inpainted(image, mask)).tobytes().hex() if not mask.all() else None
        cases.append(case)
    return json.dumps({"numpy": np.__version__, "cases": cases}, indent=1) + "\n"


if __name__ == "__main__":
    text = document()
    if "--check" in sys.argv:
        fresh, stored = json.loads(text), json.loads(FILE.read_text())
        sys.exit(0 if fresh["cases"] == stored["cases"] else f"{FILE} differs")
    FILE.write_text(text)
    print(f"{len(json.loads(text)['cases'])} images, {len(text) / 1e3:.0f} kB")
