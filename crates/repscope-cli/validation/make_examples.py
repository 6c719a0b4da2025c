# SPDX-License-Identifier: MIT
"""The two data sets of `repscope validate`, and the values it expects that need more than a pocket calculator.

    python make_examples.py DIR     # writes DIR/blobs.npy and DIR/matrix.npy, prints the values
    python make_examples.py --check # compares with the files beside this script

`repscope validate` has both files built in; `repscope validate --data DIR` takes yours instead. They were made with
Python 3.11.7, numpy 2.4.6, scipy 1.17.1, scikit-learn 1.9.1 and scikit-dimension 0.5.0. No value comes from repscope.
"""
import math
import sys
from pathlib import Path

import numpy as np
import skdim
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

HERE = Path(__file__).parent


def examples():
    """The data of document 002's validation run."""
    blobs, _ = make_blobs(200, centers=3, n_features=10, cluster_std=1.0, random_state=42)
    rng = np.random.RandomState(42)
    U, V = rng.randn(100, 20), rng.randn(20, 50)
    matrix = ((U * ([10, 5, 2, 1] + [0.1] * 16)) @ V).astype(np.float32)
    return {"blobs": blobs, "matrix": matrix}


def entropy_rank(shares, eps_inside=0.0):
    return math.exp(-math.fsum(p * math.log(p + eps_inside) for p in shares))


def rankme_paper(singular):
    """Garrido et al.: singular values of the embeddings as they are; 1e-7 is added after normalizing."""
    total = math.fsum(singular)
    return entropy_rank([s / total + 1e-7 for s in singular])


def rankme_spec(singular):
    """Document 002: squared singular values of the centered embeddings; 1e-12 is added inside the logarithm."""
    total = math.fsum(s * s for s in singular)
    return entropy_rank([s * s / total for s in singular], 1e-12)


def power_law(exponent, directions):
    """Four ranks of eigenvalues i^-exponent, from their definitions."""
    eigenvalues = [i**-exponent for i in range(1, directions + 1)]
    singular = [math.sqrt(e) for e in eigenvalues]
    total = math.fsum(eigenvalues)
    return {
        "effective rank (no 1e-7)": entropy_rank([s / math.fsum(singular) for s in singular]),
        "RankMe (paper)": rankme_paper(singular),
        "RankMe (spec)": rankme_spec(singular),
        "participation ratio": total**2 / math.fsum(e * e for e in eigenvalues),
        "stable rank": total / eigenvalues[0],
    }


def two_nn(rows):
    """The linear fit of TwoNN without rows that have a duplicate, and the maximum likelihood of all ratios."""
    nearest = np.sort(cdist(rows, rows), axis=1)[:, 1:3]
    kept = nearest[nearest[:, 0] > 0]
    logs = np.sort(np.log(kept[:, 1] / kept[:, 0]))
    n = len(logs)
    first = int(0.9 * n)
    x, y = logs[:first], -np.log(1 - np.arange(1, first + 1) / n)
    return n, float(x @ y / (x @ x)), float((n - 1) / logs.sum())


def values(blobs, matrix):
    rows = matrix.astype(np.float64)
    raw = np.linalg.svd(rows, compute_uv=False)
    centered = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    yield "matrix, RankMe (spec)", rankme_spec(centered)
    yield "matrix, RankMe (paper)", rankme_paper(raw)
    yield "matrix, singular values above 1 % of the largest", int((centered > 0.01 * centered[0]).sum())
    yield "blobs, scikit-dimension's TwoNN", skdim.id.TwoNN(discard_fraction=0.1).fit(blobs).dimension_
    yield "blobs, TwoNN (rows, fit, maximum likelihood)", two_nn(blobs)
    yield "blobs and their first 20 rows again, TwoNN", two_nn(np.vstack([blobs, blobs[:20]]))
    yield "eigenvalues 1/i, 512 directions", power_law(1.0, 512)
    yield "eigenvalues i^-1.5, 256 directions", power_law(1.5, 256)
    yield "7 equal directions of 20, RankMe (paper)", rankme_paper([1.0] * 7 + [0.0] * 13)
    yield "28 rows, 4 on each of them, and a mean 1000 away, RankMe (paper)", rankme_paper(
        [1000 * math.sqrt(28)] + [2.0] * 7 + [0.0] * 12)
    yield "1 direction of 20, RankMe (paper)", rankme_paper([1.0] + [0.0] * 19)


def main(argument):
    arrays = examples()
    for name, array in arrays.items():
        if argument == "--check":
            shipped = np.load(HERE / f"{name}.npy")
            same = shipped.dtype == array.dtype and shipped.shape == array.shape and shipped.tobytes() == array.tobytes()
            print(f"{name}.npy: {'the same bytes' if same else 'DIFFERENT'}")
        else:
            np.save(Path(argument) / f"{name}.npy", array)
    for what, value in values(**arrays):
        print(f"{what}: {value}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
