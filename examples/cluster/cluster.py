# SPDX-License-Identifier: MIT
"""Writes 60,000 rows of two models in shards, has a Ray cluster on this machine evaluate them, and stops and resumes."""

import sys
import time
from pathlib import Path

import numpy as np

import repscope
import repscope.cluster as rc

out = Path(sys.argv[1])
rows, cuts = 60_000, [0, 11_000, 11_500, 40_000, 60_000]

# Ten classes; the second model keeps less of them. Shards need not have the same size.
rng = np.random.default_rng(0)
labels = rng.integers(10, size=rows)
centers = rng.normal(size=(10, 32))
whole = {}
for name, noise in (("sharp", 0.6), ("blurred", 1.6)):
    whole[name] = (centers[labels] + noise * rng.normal(size=(rows, 32))).astype("float32")
    for number, (first, last) in enumerate(zip(cuts, cuts[1:])):
        np.save(out / f"{name}-{number}.npy", whole[name][first:last])
np.save(out / "labels.npy", labels)

# Without Ray, the same tasks run on threads of this process.
try:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    executor = rc.Ray()
except ImportError:
    print('Ray is not installed (pip install "repscope[ray]"): threads of this process run the tasks\n')
    executor = rc.Local(2)


def evaluate():
    began = time.monotonic()
    results = rc.evaluate(
        {name: str(out / f"{name}-*.npy") for name in whole},
        labels=str(out / "labels.npy"),
        metrics=["two_nn", "uniformity", "silhouette", "knn_accuracy", "participation_ratio", "rankme"],
        sample=1000,
        resume=out / "partials",
        executor=executor,
        progress=False,
    )
    return results, time.monotonic() - began


results, first = evaluate()
print(results)

again, second = evaluate()
assert again.to_dict()["scores"] == results.to_dict()["scores"]
assert repscope.two_nn(whole["sharp"], sample=1000).value == results["sharp", "two_nn"].value
print(f"\n{first:.0f} s; again, with all partials stored, {second:.0f} s; two_nn is that of one machine to the last bit")
