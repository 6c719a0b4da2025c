#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files of this folder from scikit-learn's digits (scikit-learn 1.9.1, NumPy 2.4.6)."""
import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

WORDS = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
PARITY = np.array(["even", "odd"])
HERE = Path(__file__).parent
WIDTH = 16
HELD_OUT = 900  # the last rows; the maps are fitted on the 897 before them
RIDGE = 1.0  # added to both covariances: some pixels at the border are almost always 0


def inverse_root(covariance):
    values, vectors = np.linalg.eigh(covariance)
    return vectors @ np.diag(values ** -0.5) @ vectors.T


def canonical_maps(left, right):
    """Ridge CCA: for each half, a linear map into a space in which both halves of an image agree as well as possible.
    Directions are scaled by their correlation, and their signs are fixed."""
    left, right = left - left.mean(axis=0), right - right.mean(axis=0)
    roots = [inverse_root(half.T @ half / len(half) + RIDGE * np.eye(half.shape[1])) for half in (left, right)]
    U, correlations, Vt = np.linalg.svd(roots[0] @ (left.T @ right / len(left)) @ roots[1])
    U, V, weights = U[:, :WIDTH], Vt[:WIDTH].T, correlations[:WIDTH]
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(WIDTH)])
    return roots[0] @ U * (signs * weights), roots[1] @ V * (signs * weights)


def metadata():
    """The layout of the label retrieval metadata: sentences per label, and the coarse label of each label."""
    names = WORDS.tolist()
    return {"digits": {
        "name": "Halves of handwritten digits",
        "label_l2": {name: str(PARITY[digit % 2]) for digit, name in enumerate(names)},
        "label_to_text_plain": {name: f"A handwritten {name}" for name in names},
        "label_to_text": {name: {"short_desc": name, "multiple_desc": [f"The left half of a handwritten {name}",
                                                                       f"The right half of a handwritten {name}"]}
                          for name in names},
    }}


def main():
    pixels, classes = load_digits(return_X_y=True)
    images = pixels.reshape(-1, 8, 8)
    halves = images[:, :, :4].reshape(-1, 32), images[:, :, 4:].reshape(-1, 32)
    fitted = slice(0, len(pixels) - HELD_OUT)
    maps = canonical_maps(*(half[fitted] for half in halves))
    # Six decimals, so that the files do not depend on the linear algebra library.
    codes = [np.round((half - half[fitted].mean(axis=0)) @ way, 6) for half, way in zip(halves, maps)]
    prototypes = [code[fitted][classes[fitted] == digit].mean(axis=0) for digit in range(10) for code in codes]
    digit = classes[-HELD_OUT:]
    arrays = {
        "left": codes[0][-HELD_OUT:].astype(np.float32),
        "right": codes[1][-HELD_OUT:].astype(np.float32),
        "digit": WORDS[digit],
        "parity": PARITY[digit % 2],
        "prototypes": np.round(prototypes, 6).astype(np.float32),
        "prototype_labels": np.repeat(WORDS, 2),
    }
    for name, array in arrays.items():
        np.save(HERE / f"{name}.npy", array)
        print(f"{name}.npy {array.shape} {array.dtype}")
    (HERE / "metadata.json").write_text(json.dumps(metadata(), indent=1) + "\n")


if __name__ == "__main__":
    main()
