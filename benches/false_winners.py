#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often does `compare` name a winner among two equal models?

    python benches/false_winners.py [REPEATS]

Two models see the same 240 rows with independent noise of the same size, so neither is better. Rows are independent, or come in
episodes whose rows are alike. With p-values adjusted for all comparisons of a run, at most 5 % of the runs may name a winner in
anything. Needs the Python package of this repository.
"""
import sys

import numpy as np
import repscope

ROWS, COLUMNS, NOISE = 240, 8, 0.4
#: What rows are drawn from, and how many episodes they come in; 0: rows are independent.
DESIGNS = [("gauss", 0), ("clusters", 0), ("heavy tails", 0), ("gauss", 24), ("clusters", 24), ("heavy tails", 24), ("gauss", 8)]


def draw(generator, kind, count):
    rows = generator.standard_normal((count, COLUMNS))
    if kind == "clusters":
        rows += 3 * generator.standard_normal((6, COLUMNS))[generator.integers(0, 6, count)]
    return generator.standard_t(2.1, (count, COLUMNS)) if kind == "heavy tails" else rows


def winners(kind, episodes, seed):
    """The scores in which one of two equal models is called better."""
    generator = np.random.default_rng(seed)
    groups = np.repeat(np.arange(episodes), ROWS // episodes) if episodes else None
    if groups is None:
        inputs = draw(generator, kind, ROWS)
    else:
        inputs = draw(generator, kind, episodes)[groups] + 0.5 * draw(generator, "gauss", ROWS)

    def model():
        own = generator.standard_normal(inputs.shape)
        if groups is not None:
            own = 0.7 * own + 0.7 * generator.standard_normal((episodes, COLUMNS))[groups]
        return inputs + NOISE * inputs.std() * own

    labels = generator.integers(0, 4, ROWS)
    models = {"a": model(), "b": model()}
    results = repscope.compare(models, states=inputs, labels=labels, episodes=groups, progress=False)
    return [difference["metric"] for difference in results.differences if difference["winner"]]


def main(repeats):
    print("rows          episodes   runs with a false winner")
    for kind, episodes in DESIGNS:
        found = [winners(kind, episodes, seed) for seed in range(repeats)]
        wrong = [names for names in found if names]
        named = sorted({name for names in wrong for name in names})
        print(f"{kind:12}  {episodes or '—':>8}   {len(wrong):3} of {repeats} ({100 * len(wrong) / repeats:.1f} %)  {', '.join(named)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
