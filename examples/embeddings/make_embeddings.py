# SPDX-License-Identifier: MIT
"""Embeddings of 600 handwritten digits by two models, with NumPy alone.

    python make_embeddings.py FOLDER

writes states.npy, labels.npy, pca.npy and patches.npy into FOLDER. Both models are fitted on the other 1,197 digits
of examples/digits, without labels: `pca` are their first 32 principal components, `patches` the similarity of each
part of the image to eight typical patches of 3 × 3 pixels, summed over the four quarters (4 × 8 columns; after Coates
and Ng, 2012).
"""
import sys
from pathlib import Path

import numpy as np

DIGITS = Path(__file__).resolve().parent.parent / "digits"
LEARN, PATCHES = 1197, 8


def principal_components(learn, rows, columns=32):
    center = learn.mean(axis=0)
    directions = np.linalg.svd(learn - center, full_matrices=False)[2][:columns]
    return (rows - center) @ directions.T


def patches_of(rows):
    """Every patch of 3 × 3 pixels, centered: rows × 36 positions × 9 pixels."""
    images = rows.reshape(-1, 8, 8)
    cut = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2)).reshape(len(images), 36, 9)
    return cut - cut.mean(axis=2, keepdims=True)


def k_means(points, count, generator, steps=30):
    centers = points[generator.choice(len(points), count, replace=False)]
    for _ in range(steps):
        nearest = squared_distances(points, centers).argmin(axis=1)
        centers = np.stack([points[nearest == c].mean(axis=0) for c in range(count)])
    return centers


def squared_distances(points, centers):
    return ((points[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)


def patch_code(learn, rows, generator):
    places = patches_of(learn).reshape(-1, 9)
    centers = k_means(places[generator.choice(len(places), 4000, replace=False)], PATCHES, generator)
    distance = np.sqrt(squared_distances(patches_of(rows).reshape(-1, 9), centers))
    near = np.maximum(0, distance.mean(axis=1, keepdims=True) - distance)
    quarters = near.reshape(len(rows), 2, 3, 2, 3, PATCHES).sum(axis=(2, 4))
    return quarters.reshape(len(rows), -1)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    pixels = np.load(DIGITS / "states.npy").astype(np.float64)
    learn, rows = pixels[:LEARN], pixels[LEARN:]
    np.save(folder / "states.npy", rows.astype(np.float32))
    np.save(folder / "labels.npy", np.load(DIGITS / "labels.npy")[LEARN:])
    np.save(folder / "pca.npy", principal_components(learn, rows).astype(np.float32))
    np.save(folder / "patches.npy", patch_code(learn, rows, np.random.default_rng(7)).astype(np.float32))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
