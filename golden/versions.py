# SPDX-License-Identifier: MIT
"""Shorter and quantized embeddings as NumPy computes them: writes `versions.json`; `--check` recomputes it and compares.

A prefix is `Z[:, :d]`, divided by its length where the rows of Z have unit length (Kusupati et al. 2022). `int8` has the 256 levels of
`quantize_embeddings` of sentence-transformers, from the smallest to the largest value of each column in 255 steps; a value is read
back as the nearest level. `binary` is `Z > 0` as +1 and -1.
"""
import json
import sys
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "versions.json"


def version(rows, columns, precision):
    is_unit = np.allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=0, atol=1e-3)
    kept = rows if columns is None else rows[:, :columns]
    if columns is not None and is_unit:
        lengths = np.linalg.norm(kept, axis=1, keepdims=True)
        kept = np.divide(kept, lengths, out=kept.copy(), where=lengths > 0)
    if precision == "binary":
        return np.where(kept > 0, 1.0, -1.0)
    if precision == "int8":
        low, high = kept.min(axis=0), kept.max(axis=0)
        step = np.where(high > low, (high - low) / 255, 1.0)
        return low + step * np.round((kept - low) / step)
    return kept


def cases():
    rng = np.random.default_rng(2101)
    labels = np.arange(40) % 3
    plain = rng.standard_normal((40, 12)) * 0.8 ** np.arange(12) + 1.5 * np.eye(3, 12)[labels]
    unit = plain / np.linalg.norm(plain, axis=1, keepdims=True)
    positive = np.abs(plain) + 1
    constant = plain.copy()
    constant[:, 2] = 7.0
    empty = unit.copy()
    empty[5, :4] = 0.0
    empty[5] /= np.linalg.norm(empty[5])
    yield "plain", plain
    yield "unit", unit
    yield "positive: all signs are the same", positive
    yield "constant column", constant
    yield "unit, but a prefix of zeros", empty


def document():
    found = []
    for name, rows in cases():
        versions = []
        for columns, precision in [(4, "float"), (11, "float"), (None, "int8"), (None, "binary"), (4, "int8"), (4, "binary")]:
            made = version(rows, columns, precision)
            versions.append({"columns": columns, "precision": precision, "rows": made.ravel().tolist()})
        found.append({"name": name, "shape": list(rows.shape), "rows": rows.ravel().tolist(), "versions": versions})
    return json.dumps(found, indent=0) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        stored, now = json.loads(FILE.read_text()), json.loads(document())
        for old, new in zip(stored, now, strict=True):
            for a, b in zip(old["versions"], new["versions"], strict=True):
                np.testing.assert_allclose(a["rows"], b["rows"], rtol=1e-12, atol=1e-15)
    else:
        FILE.write_text(document())
