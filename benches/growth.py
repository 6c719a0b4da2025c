#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does time grow smoothly with rows and models?

    cargo build --release
    python3 benches/growth.py                                  # about 20 minutes; the table of docs/benchmarks.md
    python3 benches/growth.py --binary target/debug/repscope --rows 500 1000 2000 --models 1 5

Every metric of `geometry` and `manifold`, and the comparisons between the models, on uniform noise around five classes. First the rows
grow (one model, 32 columns), then the models (500 rows). Between two neighbors of a series, `power` is log(time ratio) / log(size ratio):
2 is all pairs of rows, 1 is one pass. A cliff is a power far above 2 over rows, or above 2 over models, and the script then fails; times
below a tenth of a second are start-up and do not count.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

ROWS = [500, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12000, 20000, 30000, 60000]
MODELS = [1, 2, 5, 10, 11, 20, 50]
#: The steepest that two neighbors may rise. Pairs of rows are 2; noise of a shared machine is on top of it.
STEEPEST = {"rows": 3.0, "models": 2.2}
SHORT = 0.1


def seconds(binary, rows, models, columns, rounds):
    """The median time of metrics and comparisons, in seconds."""
    command = [binary, "bench", "comparisons", "--rows", str(rows), "--columns", str(columns), "--models", str(models)]
    times = []
    for _ in range(rounds):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        answer = json.loads(done.stdout)
        times.append((answer["seconds of metrics"] + answer["seconds"], answer["seconds"]))
    return [statistics.median(part) for part in zip(*times)]


def power(before, now):
    """How time grows between two sizes; nothing where it is too short to say."""
    (size, time), (next_size, next_time) = before, now
    if min(time, next_time) < SHORT:
        return None
    return math.log(next_time / time) / math.log(next_size / size)


def series(name, sizes, measure):
    """Prints a table over one size, and returns the steps that are too steep."""
    print(f"| {name} | total (s) | of it comparisons (s) | power |\n|---|---|---|---|")
    steep, before = [], None
    for size in sizes:
        total, comparisons = measure(size)
        rise = power(before, (size, total)) if before else None
        print(f"| {size:,} | {total:.2f} | {comparisons:.2f} | {'' if rise is None else f'{rise:.1f}'} |", flush=True)
        if rise is not None and rise > STEEPEST[name]:
            steep.append(f"from {before[0]:,} to {size:,} {name} time grows with the power {rise:.1f}, more than {STEEPEST[name]}")
        before = (size, total)
    print()
    return steep


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).resolve().parent.parent / "target" / "release" / "repscope"
    parser.add_argument("--binary", default=str(default))
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS, help="numbers of rows, one model")
    parser.add_argument("--models", type=int, nargs="*", default=MODELS, help="numbers of models, 500 rows")
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3, help="runs of which the median counts")
    options = parser.parse_args()
    if not Path(options.binary).is_file():
        sys.exit(f"{options.binary} does not exist; run `cargo build --release`, or give --binary")

    def of(rows, models):
        return seconds(options.binary, rows, models, options.columns, options.rounds)

    steep = series("rows", options.rows, lambda rows: of(rows, 1))
    steep += series("models", options.models, lambda models: of(500, models))
    if steep:
        sys.exit("a cliff: " + "; ".join(steep))


if __name__ == "__main__":
    main()
