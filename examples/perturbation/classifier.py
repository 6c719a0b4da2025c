# SPDX-License-Identifier: MIT
"""A nearest-centroid classifier of handwritten digits, as an example of a program that predicts (NumPy and Pillow).

    python classifier.py images OUT          writes OUT/images/DIGIT/*.png: 600 digits of 24 × 24 pixels
    python classifier.py predict OUT         writes OUT/predictions from OUT/images and OUT/masked

The classifier learns the mean image of each digit from the other 1,197 images, so training and test images are
disjoint. Its predictions are rows of scores (the negative distance to each mean image); repscope takes the largest.
"""
import re
import sys
from pathlib import Path

import numpy as np
from PIL import Image

DIGITS = Path(__file__).resolve().parent.parent / "digits"
LEARN, SIDE = 1197, 24
NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def enlarged(rows):
    """8 × 8 images of 0…16 as 24 × 24 images of bytes."""
    pictures = (Image.fromarray(np.uint8(row.reshape(8, 8) * 15)) for row in rows)
    return np.stack([np.asarray(p.resize((SIDE, SIDE), Image.Resampling.BILINEAR)) for p in pictures])


def load():
    states, labels = np.load(DIGITS / "states.npy"), np.load(DIGITS / "labels.npy")
    return enlarged(states[:LEARN]), labels[:LEARN], enlarged(states[LEARN:]), labels[LEARN:]


def write_images(out):
    _, _, images, labels = load()
    for at, (image, label) in enumerate(zip(images, labels)):
        folder = out / "images" / label
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / f"{at:03}.png")


def read(paths):
    return np.stack([np.asarray(Image.open(path), dtype=np.float64) for path in paths]).reshape(len(paths), -1)


def predict(out):
    images, labels, _, _ = load()
    flat = images.reshape(len(images), -1).astype(np.float64)
    means = np.stack([flat[labels == name].mean(axis=0) for name in NAMES])

    originals = sorted((out / "images").glob("*/*.png"))
    masks = sorted({re.search(r"_([a-z]+\d+)_blackout$", path.stem)[1] for path in (out / "masked").glob("*/*.png")})
    save(out, "labels", np.array([path.parent.name for path in originals]), originals)
    lit = read(originals)
    save(out, "baseline", scores(lit, means), originals)
    for mask in masks:
        masked = read([out / "masked" / path.parent.name / f"{path.stem}_{mask}_blackout.png" for path in originals])
        save(out, mask, scores(masked, means), originals)
        # For each image: the fraction of its lit pixels, and of all its pixels, that was actually masked.
        taken = (lit > 0) & (masked == 0)
        np.save(out / "predictions" / mask / "masked.npy",
                np.stack([taken.sum(axis=1) / (lit > 0).sum(axis=1), taken.mean(axis=1)], axis=1))
    (out / "predictions" / "classes").mkdir(exist_ok=True)
    (out / "predictions" / "classes" / "digit.txt").write_text("\n".join(NAMES) + "\n")


def scores(rows, means):
    return -((rows[:, None, :] - means[None]) ** 2).sum(axis=2)


def save(out, name, values, paths):
    folder = out / "predictions" / name
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "digit.npy", values)
    np.save(folder / "ids.npy", np.array([f"{path.parent.name}/{path.stem}" for path in paths]))


if __name__ == "__main__":
    {"images": write_images, "predict": predict}[sys.argv[1]](Path(sys.argv[2]))
