# SPDX-License-Identifier: MIT
"""Ray clusters of several nodes on one machine: the same bytes, with workers that die and nodes that go."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import repscope
import repscope.cluster as rc

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

ROWS = 2 * 18_432 + 500
METRICS = ["trustworthiness", "continuity", "two_nn", "uniformity", "silhouette", "knn_accuracy", "rankme"]
METRICS += ["participation_ratio", "alpha_req", "nmi", "ami", "inertia", "cluster_balance"]
OPTIONS: dict[str, Any] = {"sample": 150, "settings": {"geometry": {"restarts": 1}}}


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Embeddings, inputs and labels, whole and in shards."""
    folder = tmp_path_factory.mktemp("ray")
    rng = np.random.default_rng(0)
    labels = np.arange(ROWS) * 7919 % 4
    made = {}
    for name, columns in (("z", 12), ("x", 16)):
        centers = 2 * rng.normal(size=(4, columns))
        made[name] = (centers[labels] + rng.normal(size=(ROWS, columns))).astype("f4")
        for number, rows in enumerate(np.array_split(made[name], 5)):
            np.save(folder / f"{name}-{number}.npy", rows)
    return made | {"labels": labels, "folder": folder}


@pytest.fixture(scope="session")
def expected(data: dict[str, Any]) -> list[Any]:
    """The scores in memory."""
    only = ["neighborhood", "manifold", "geometry", "rankme"]
    found = repscope.evaluate({"z": data["z"]}, data["x"], labels=data["labels"], only=only, **OPTIONS)
    return found.to_dict()["scores"]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A head without cores and one node with one core; tests add others."""
    started = cluster_utils.Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "include_dashboard": False, "object_store_memory": 200 << 20},
    )
    started.first = add_node(started)
    ray.init(address=started.address, log_to_driver=False)
    yield started
    ray.shutdown()
    started.shutdown()


def add_node(cluster: Any) -> Any:
    return cluster.add_node(num_cpus=1, object_store_memory=200 << 20)


def evaluated(data: dict[str, Any], **options: Any) -> list[Any]:
    folder = data["folder"]
    found = rc.evaluate(
        {"z": f"{folder}/z-*.npy"}, f"{folder}/x-*.npy", labels=data["labels"], metrics=METRICS, **(OPTIONS | options)
    )
    return found.to_dict()["scores"]


def in_order(scores: list[Any]) -> str:
    return json.dumps(sorted(scores, key=lambda score: score["metric"]))


def same(found: list[Any], expected: list[Any]) -> bool:
    names = {score["metric"] for score in found}
    return in_order(found) == in_order([score for score in expected if score["metric"] in names])


def test_one_two_and_four_nodes_give_the_bytes_of_memory(
    cluster: Any, data: dict[str, Any], expected: list[Any]
) -> None:
    extra = []
    for nodes in (1, 2, 4):
        while len(extra) < nodes - 1:
            extra.append(add_node(cluster))
        cluster.wait_for_nodes()
        while ray.cluster_resources().get("CPU") != nodes:
            time.sleep(0.1)
        metrics = evaluated(data)
        assert same(metrics, expected), nodes
        assert len(metrics) > 15
    for node in extra:
        cluster.remove_node(node, allow_graceful=False)


class Meddling(rc.Ray):
    """Ray, and something that happens after some tasks."""

    def __init__(self, after: int, happens: Any) -> None:
        super().__init__()
        self._after, self._happens = after, happens

    def gather(self, handles: Any) -> list[Any]:
        self._after -= 1
        if self._after == 0:
            self._happens()
        return super().gather(handles)


class Deadly(rc.Ray):
    """Ray, where some tasks kill the process that runs them, at first."""

    def __init__(self, marks: Path, which: tuple[int, ...]) -> None:
        super().__init__()
        self._marks, self._which, self._count = marks, which, 0

        # Not a function of this module, which workers cannot import.
        def dying(mark: Path | None, function: Any, *args: Any) -> Any:
            if mark is not None and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args)

        self._dying = dying

    def submit(self, function: Any, args: Any) -> object:
        self._count += 1
        mark = self._marks / str(self._count) if self._count in self._which else None
        return super().submit(self._dying, [mark, function, *args])


def test_a_worker_that_is_killed_changes_nothing(
    cluster: Any, data: dict[str, Any], expected: list[Any], tmp_path: Path
) -> None:
    which = (2, 5, 9)
    assert same(evaluated(data, executor=Deadly(tmp_path, which)), expected)
    assert sorted(int(mark.name) for mark in tmp_path.iterdir()) == list(which)


def test_a_node_that_goes_changes_nothing(cluster: Any, data: dict[str, Any], expected: list[Any]) -> None:
    second = add_node(cluster)
    cluster.wait_for_nodes()
    gone: list[bool] = []

    def remove() -> None:
        cluster.remove_node(second, allow_graceful=False)
        gone.append(True)

    assert same(evaluated(data, executor=Meddling(6, remove)), expected)
    assert gone


DRIVER = """
import sys, numpy as np, repscope.cluster as rc
address, folder, partials = sys.argv[1:]
found = rc.evaluate({"z": f"{folder}/z-*.npy"}, metrics=["two_nn", "uniformity", "rankme"], sample=150, address=address,
                    resume=partials, progress=False)
import json; print(json.dumps(found.to_dict()["scores"]))
"""


def test_a_driver_that_is_killed_goes_on_where_it_was(
    cluster: Any, data: dict[str, Any], expected: list[Any], tmp_path: Path
) -> None:
    partials = tmp_path / "partials"
    command = [sys.executable, "-c", DRIVER, cluster.address, str(data["folder"]), str(partials)]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stored() -> dict[Path, int]:
        files = [path for path in partials.rglob("*") if path.is_file() and "." not in path.name]
        return {path: path.stat().st_mtime_ns for path in files}

    until = time.monotonic() + 60
    while len(stored()) < 4 and driver.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    assert driver.poll() is None, "the driver was to be killed while it runs"
    driver.kill()
    driver.wait()
    time.sleep(0.5)
    before = stored()
    assert len(before) >= 4
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert same(json.loads(again.stdout), expected)
    after = stored()
    # Nothing that was stored has been written again.
    assert len(after) > len(before) and all(after[path] == when for path, when in before.items())


def test_references_and_datasets_are_shards(cluster: Any, data: dict[str, Any]) -> None:
    refs = [ray.put(rows) for rows in np.array_split(data["z"], 3)]
    expected = repscope.two_nn(data["z"], sample=40).value
    assert rc.two_nn(refs, sample=40).value == expected


def test_a_shard_with_nan_is_named_by_the_worker_that_reads_it(
    cluster: Any, data: dict[str, Any], tmp_path: Path
) -> None:
    rows = data["z"][:20_000].copy()
    rows[19_000, 3] = np.inf
    np.save(tmp_path / "bad.npy", rows)
    with pytest.raises(repscope.DataError, match=r"bad\.npy holds inf at row 19000 of the shard, column 3"):
        rc.two_nn(str(tmp_path / "bad.npy"), sample=10)


def test_the_command_evaluates_shards_of_a_cluster(cluster: Any, data: dict[str, Any], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "repscope", "evaluate", "--only", "manifold", "--sample", "150", "--no-figures"]
    command += ["--cluster", cluster.address, "--output-dir", str(tmp_path / "out"), "--json", "--quiet"]
    command += ["--model", f"z={data['folder']}/z-*.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = {score["metric"]: score["value"] for score in json.loads(done.stdout)["scores"]}
    assert found["two_nn"] == repscope.two_nn(data["z"], sample=150).value


def test_the_command_says_that_a_cluster_does_not_answer(tmp_path: Path) -> None:
    np.save(tmp_path / "z.npy", np.zeros((10, 2), dtype="f4"))
    command = [sys.executable, "-m", "repscope", "evaluate", str(tmp_path / "z.npy"), "--cluster", "auto"]
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    blocked = {"PYTHONPATH": str(tmp_path / "none"), **environment}
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "ray.py").write_text("raise ImportError('no ray')")
    blocked["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "none"), environment.get("PYTHONPATH", "")])
    done = subprocess.run(command, capture_output=True, text=True, env=blocked, cwd=tmp_path)
    assert done.returncode == 2 and 'pip install "repscope[ray]"' in done.stderr, done.stderr
