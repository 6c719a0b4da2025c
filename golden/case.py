# SPDX-License-Identifier: MIT
"""What all families of golden cases share: a case with its files, data to make cases of, and arithmetic."""
import io
import json
import os
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # one summation order, so the same last digit

import numpy as np
import scipy
import sklearn
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits

CASES_DIR = Path(__file__).parent / "cases"
VERSIONS = {
    "numpy": np.__version__,
    "scipy": scipy.__version__,
    "scikit-learn": sklearn.__version__,
    "scikit-dimension": version("scikit-dimension"),
    "zadu": version("zadu"),
    "ranx": version("ranx"),
}
WORDS = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
CASES = []


class Case:
    """One input with its expected and undefined values."""

    def __init__(self, family, name, about, arrays, options=None):
        self.family, self.name, self.about = family, name, about
        self.arrays, self.options = arrays, options or {}
        self.expected, self.undefined = [], []
        CASES.append(self)

    def expect(self, metric, value, tolerance, kind, library, call, **where):
        """`where` names a part of a score other than its value: its chance level, a cell of its breakdown."""
        value = [float(v) for v in value] if np.ndim(value) else float(value)
        if not np.all(np.isfinite(value)):
            sys.exit(f"{self.family}/{self.name}: {metric} is {value}; say `undefine` and why")
        self.expected.append({
            "metric": metric, **where, "value": value, "tolerance": float(f"{tolerance:.0e}"), "kind": kind,
            "library": library, "version": VERSIONS[library], "call": call,
        })

    def undefine(self, metric, why, **where):
        self.undefined.append({"metric": metric, **where, "why": why})

    def files(self):
        document = {"case": f"{self.family}/{self.name}", "about": self.about, "options": self.options,
                    "expected": self.expected, "undefined": self.undefined}
        text = json.dumps(document, indent=1, allow_nan=False) + "\n"
        answers = {"expected.json": text.encode()}
        return ({"input.npz": npz(self.arrays)} if self.arrays else {}) | answers


def npz(arrays):
    """The bytes of an uncompressed .npz with fixed timestamps, so that a rerun gives the same file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for key, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{key}.npy", (1980, 1, 1, 0, 0, 0)), member.getvalue())
    return out.getvalue()


def agree(what, value, reference, tolerance):
    """Two ways to the same number; a disagreement means that the case is ill-posed or a formula is wrong."""
    if not abs(value - reference) <= tolerance * max(1.0, abs(reference)):
        sys.exit(f"{what}: {value!r} and {reference!r} differ by more than {tolerance}")


# ---------------------------------------------------------------- shared arithmetic


def f64(rows):
    return np.asarray(rows, dtype=np.float64)


def unit(rows):
    rows = f64(rows)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def squared_distances(rows):
    """Squared distances from differences: no cancellation under a common offset."""
    rows = f64(rows)
    return ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)


def neighbor_order(rows):
    """The other rows of each row, nearest first, ties by row number; self is excluded by index."""
    d2 = squared_distances(rows)
    np.fill_diagonal(d2, -1.0)
    return np.argsort(d2, axis=1, kind="stable")[:, 1:]


def no_near_ties(what, rows, margin, exact_ties_allowed):
    """Any two distances seen from one row differ by more than rounding, relative to them, or not at all."""
    d2 = np.sort(squared_distances(rows), axis=1)[:, 1:]
    gaps = np.diff(d2, axis=1) / np.maximum(d2[:, 1:], 1e-300)
    if exact_ties_allowed:
        gaps = gaps[gaps > 0]
    if gaps.size and gaps.min() < margin:
        sys.exit(f"{what}: relative gap {gaps.min():.1e} is below {margin}; pick another seed")


def principal_codes(rows, width):
    """PCA codes with signs fixed and six decimals kept, so that they do not depend on the linear algebra library."""
    centred = f64(rows) - f64(rows).mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:width]
    axes *= np.sign(axes[np.arange(width), np.abs(axes).argmax(axis=1)])[:, None]
    return np.round(centred @ axes.T, 6)


def digits(rows=300):
    """The first rows of scikit-learn's digits: pixels, and the class as a word."""
    pixels, classes = load_digits(return_X_y=True)
    return pixels[:rows], WORDS[classes[:rows]]


def blobs(rng, sizes, width, spread=1.0, distance=25.0):
    """Well separated Gaussian blobs in shuffled order, and the blob of each row."""
    centres = rng.standard_normal((len(sizes), width))
    while pdist(centres).min() * distance < 12 * spread * np.sqrt(width):
        centres = rng.standard_normal((len(sizes), width))
    blob = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return centres[blob] * distance + spread * rng.standard_normal((len(blob), width)), blob
