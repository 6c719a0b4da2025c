# SPDX-License-Identifier: MIT
"""A training loop in NumPy in which a representation collapses, and a monitor that shows it.

    python train.py [FILE.csv]

A linear encoder of 64 pixels to 16 columns learns to map a digit and the same digit shifted by a pixel to the same
embedding. With this loss alone the cheapest solution is a collapse: the directions that a shift changes shrink one
after the other, until about two are left. The second run adds a term that keeps the covariance of the embeddings near
the identity. The loss of the first run always looks better; only the monitor shows the collapse.
"""
import csv
import sys
from pathlib import Path

import numpy as np
import repscope

DIGITS = Path(__file__).resolve().parent.parent / "digits"
LEARN, STEPS, EVERY, BATCH, WIDTH, RATE = 1197, 1200, 200, 256, 16, 0.02


class Writer:
    """Implements the method of a TensorBoard SummaryWriter that a monitor calls, and stores rows for a CSV file."""

    def __init__(self, run):
        self.run, self.rows = run, []

    def add_scalar(self, name, value, step):
        self.rows.append((self.run, step, name, value))


def shifted(rows, generator):
    """Each image shifted cyclically by −1, 0 or 1 pixel down and to the right."""
    images, by = rows.reshape(-1, 8, 8), generator.integers(-1, 2, (len(rows), 2))
    moved = np.empty_like(images)
    for shift in {tuple(pair) for pair in by}:
        is_shift = (by == shift).all(axis=1)
        moved[is_shift] = np.roll(images[is_shift], shift, axis=(1, 2))
    return moved.reshape(len(rows), -1)


def gradient(weights, first, second, keeps_spread):
    """Gradient of the mean squared distance of two views, plus ten times ‖covariance − identity‖² if requested."""
    apart = first - second
    slope = 2 * weights @ (apart.T @ apart) / len(first)
    if keeps_spread:
        covariance = np.cov(first.T, bias=True)
        slope += 40 * (weights @ covariance @ weights.T - np.eye(WIDTH)) @ weights @ covariance
    return slope, ((apart @ weights.T) ** 2).sum(axis=1).mean()


def train(name, learn, held_out, keeps_spread):
    generator = np.random.default_rng(5)
    weights = generator.standard_normal((WIDTH, 64)) / 8
    monitor, writer = repscope.Monitor(["rankme", "uniformity", "two_nn"]), Writer(name)
    print(f"{name}\n  step   loss  rankme  uniformity  two_nn")
    for step in range(STEPS + 1):
        rows = learn[generator.choice(len(learn), BATCH, replace=False)]
        slope, loss = gradient(weights, shifted(rows, generator), shifted(rows, generator), keeps_spread)
        if step % EVERY == 0:
            for batch in np.array_split(held_out, 6):
                monitor.update(batch @ weights.T)
            scores = monitor.log(writer, step)
            monitor.reset()
            print(f"{step:6}{loss:7.2f}{scores['rankme']:8.2f}{scores['uniformity']:12.3f}{scores['two_nn']:8.2f}")
        weights -= RATE * slope
    return writer.rows, scores


def main(path):
    pixels = np.load(DIGITS / "states.npy") / 16
    pixels = pixels - pixels[:LEARN].mean(axis=0)
    learn, held_out = pixels[:LEARN], pixels[LEARN:]
    rows, collapsed = train("alignment alone", learn, held_out, keeps_spread=False)
    more, kept = train("alignment, and spread kept", learn, held_out, keeps_spread=True)
    if path:
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([("run", "step", "name", "value"), *rows, *more])
    interval = collapsed["rankme"].interval
    print(f"at the end: {collapsed['rankme']!r} and {kept['rankme']!r} of {WIDTH}")
    if not (interval[1] < 10 < 14 < kept["rankme"].interval[0]):
        sys.exit("the collapse is not to be seen")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
