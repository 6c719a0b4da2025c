#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the arrays of this folder from scikit-learn's digits (scikit-learn 1.9.1, NumPy 2.4.6)."""
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

WORDS = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
HERE = Path(__file__).parent
WIDTH = 16


def principal_codes(pixels):
    """Principal components; fixed signs and six decimals, so that they do not depend on the linear algebra library."""
    centered = pixels - pixels.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:WIDTH]
    axes *= np.sign(axes[np.arange(WIDTH), np.abs(axes).argmax(axis=1)])[:, None]
    return np.round(centered @ axes.T, 6)


def supervised_codes(pixels, classes):
    """The last hidden layer of a small network that was trained to tell the classes of these rows apart."""
    network = MLPClassifier((64, WIDTH), activation="tanh", alpha=1e-3, max_iter=300, random_state=3)
    values = pixels / 16
    network.fit(values, classes)
    for weights, offset in zip(network.coefs_[:2], network.intercepts_[:2], strict=True):
        values = np.tanh(values @ weights + offset)
    return np.round(values, 4)


def main():
    pixels, classes = load_digits(return_X_y=True)
    rng = np.random.default_rng(7)
    weights = rng.standard_normal((pixels.shape[1], WIDTH)) / 8
    noise = rng.standard_normal((len(pixels), WIDTH))
    jitter = 1e-4 * rng.standard_normal((len(pixels), WIDTH))
    arrays = {
        "states": pixels.astype(np.uint8),
        "labels": WORDS[classes],
        "episodes": np.arange(len(pixels)) // 30,
        "pca16": principal_codes(pixels).astype(np.float32),
        "supervised16": supervised_codes(pixels, classes).astype(np.float32),
        "tanh16": np.tanh((pixels / 16 - 0.3) @ weights).astype(np.float32),
        "noise16": noise.astype(np.float32),
        "collapsed16": (0.5 + jitter).astype(np.float32),
    }
    for name, array in arrays.items():
        np.save(HERE / f"{name}.npy", array)
        print(f"{name}.npy {array.shape} {array.dtype}")


if __name__ == "__main__":
    main()
