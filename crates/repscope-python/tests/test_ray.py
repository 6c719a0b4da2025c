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
OPTIONS: dict[str, Any] = {"sample": 150, "settings": {"geometry": {"restarts": 2, "clusterings": 2}}}


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
    # The later ones are of k-means, and what the worker kept is lost.
    which = (2, 5, 9, 80, 160)
    assert same(evaluated(data, executor=Deadly(tmp_path, which)), expected)
    assert sorted(int(mark.name) for mark in tmp_path.iterdir()) == list(which)


@pytest.mark.parametrize("after", [6, 120])
def test_a_node_that_goes_changes_nothing(cluster: Any, data: dict[str, Any], expected: list[Any], after: int) -> None:
    second = add_node(cluster)
    cluster.wait_for_nodes()
    gone: list[bool] = []

    def remove() -> None:
        cluster.remove_node(second, allow_graceful=False)
        gone.append(True)

    assert same(evaluated(data, executor=Meddling(after, remove)), expected)
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


def test_references_are_shards(cluster: Any, data: dict[str, Any]) -> None:
    refs = [ray.put(rows) for rows in np.array_split(data["z"], 3)]
    expected = repscope.two_nn(data["z"], sample=40).value
    assert rc.two_nn(refs, sample=40).value == expected


def test_a_dataset_of_ray_is_shards(cluster: Any, data: dict[str, Any], tmp_path: Path) -> None:
    of_data, arrow = pytest.importorskip("ray.data"), pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    expected = repscope.two_nn(data["z"], sample=40).value
    # Tensors of NumPy, in several blocks.
    assert rc.two_nn(of_data.from_numpy(np.array_split(data["z"], 3)), sample=40).value == expected
    # Lists in files of Parquet, of which one column is chosen.
    for number, rows in enumerate(np.array_split(data["z"], 2)):
        table = arrow.table({"embedding": list(rows), "id": np.arange(len(rows))})
        parquet.write_table(table, tmp_path / f"part-{number}.parquet")
    read = of_data.read_parquet(sorted(str(path) for path in tmp_path.glob("*.parquet")))
    found = rc.evaluate({"z": read.select_columns(["embedding"])}, metrics=["two_nn"], sample=40)
    assert found["z", "two_nn"].value == expected
    with pytest.raises(repscope.InputError, match="has the columns embedding, id; select the one with the embeddings"):
        rc.two_nn(read, sample=40)


def test_rows_of_a_dataset_keep_their_order(cluster: Any, data: dict[str, Any]) -> None:
    of_data = pytest.importorskip("ray.data")
    first = data["z"][0]

    def slowly(batch: dict[str, Any]) -> dict[str, Any]:
        time.sleep(8 if (batch["data"][0] == first).all() else 0)
        return batch

    second = add_node(cluster)
    cluster.wait_for_nodes()
    try:
        made = of_data.from_numpy(np.array_split(data["z"], 4)).map_batches(slowly, batch_size=None)
        assert rc.two_nn(made, sample=40).value == repscope.two_nn(data["z"], sample=40).value
    finally:
        cluster.remove_node(second, allow_graceful=False)


def test_a_bucket_is_read_by_workers(cluster: Any, data: dict[str, Any]) -> None:
    # Runs where a server of buckets is installed: pip install "moto[server]" s3fs
    server, s3fs = pytest.importorskip("moto.server"), pytest.importorskip("s3fs")
    started = server.ThreadedMotoServer(port=0)
    started.start()
    keys = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}
    try:
        host, port = started.get_host_and_port()
        keys |= dict.fromkeys(["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"], f"http://{host}:{port}")
        with pytest.MonkeyPatch.context() as patch:
            for name, value in keys.items():
                patch.setenv(name, value)
            s3fs.S3FileSystem.clear_instance_cache()
            store = s3fs.S3FileSystem()
            store.mkdir("rows")
            for path in sorted(data["folder"].glob("z-*.npy")):
                store.put(str(path), f"rows/{path.name}")
            executor = rc.Ray(options={"runtime_env": {"env_vars": keys}})
            found = rc.two_nn("s3://rows/z-*.npy", sample=40, executor=executor)
        assert found.value == repscope.two_nn(data["z"], sample=40).value
    finally:
        started.stop()


class Slow(rc.Ray):
    """Ray, where tasks take for ever from some on; `begun` is called when such a task runs."""

    def __init__(self, marks: Path, after: int, begun: Any) -> None:
        super().__init__()
        self._left, self._marks, self._begun = after, marks, begun

        def sleeping(mark: Path, *_: Any) -> Any:
            mark.touch()
            time.sleep(600)

        self._sleeping = sleeping

    def submit(self, function: Any, args: Any) -> object:
        self._left -= 1
        return super().submit(function, args) if self._left >= 0 else super().submit(self._sleeping, [self._mark()])

    def _mark(self) -> Path:
        return self._marks / str(-self._left)

    def wait(self, handles: Any) -> list[Any]:
        while self._left < 0 and not any(self._marks.iterdir()):
            time.sleep(0.05)
        if self._left < 0:
            self._begun()
        return super().wait(handles)


def all_cores_are_free() -> bool:
    return ray.available_resources().get("CPU", 0) == ray.cluster_resources()["CPU"]


@pytest.mark.parametrize("run", [rc.two_nn, rc.neighbors])
def test_ctrl_c_cancels_the_tasks_that_run(cluster: Any, data: dict[str, Any], tmp_path: Path, run: Any) -> None:
    executor = Slow(tmp_path, 2, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run(f"{data['folder']}/z-*.npy", sample=20, executor=executor)
    assert any(tmp_path.iterdir()), "a task was to run"
    until = time.monotonic() + 60
    while not all_cores_are_free() and time.monotonic() < until:
        time.sleep(0.1)
    # The task would have slept for ten minutes.
    assert all_cores_are_free()
    assert rc.two_nn(f"{data['folder']}/z-*.npy", sample=20).value is not None


def test_shards_that_workers_do_not_see_are_named_with_the_machine(
    cluster: Any, data: dict[str, Any], tmp_path: Path
) -> None:
    np.save(tmp_path / "mine.npy", data["z"][:20_000])

    class Hidden(rc.Ray):
        """The machine of the driver sees the file, those of workers do not."""

        def submit(self, function: Any, args: Any) -> object:
            (tmp_path / "mine.npy").unlink(missing_ok=True)
            return super().submit(function, args)

    with pytest.raises(FileNotFoundError, match=r"mine\.npy: not found on \S+; put the shards where all machines see"):
        rc.two_nn(str(tmp_path / "mine.npy"), sample=10, executor=Hidden())


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


def test_the_command_says_at_once_that_nobody_listens_at_an_address(tmp_path: Path) -> None:
    np.save(tmp_path / "z.npy", np.zeros((10, 2), dtype="f4"))
    command = [sys.executable, "-m", "repscope", "evaluate", str(tmp_path / "z.npy"), "--cluster", "127.0.0.1:1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 2 and "no Ray cluster answers at '127.0.0.1:1'" in done.stderr, done.stderr


def test_the_command_is_cancelled_by_ctrl_c(cluster: Any, data: dict[str, Any], tmp_path: Path) -> None:
    partials = tmp_path / "partials"
    command = [sys.executable, "-m", "repscope", "evaluate", "--only", "manifold", "--only", "geometry", "--no-figures"]
    command += ["--cluster", cluster.address, "--output-dir", str(tmp_path / "out"), "--partials", str(partials)]
    command += ["--model", f"z={data['folder']}/z-*.npy"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    while not any(path.is_file() for path in partials.rglob("*")) and time.monotonic() < until:
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode in (130, -signal.SIGINT), told
    while not all_cores_are_free() and time.monotonic() < until:
        time.sleep(0.1)
    assert all_cores_are_free()


def test_the_command_says_what_it_could_not_find(cluster: Any, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "repscope",
        "evaluate",
        "--cluster",
        cluster.address,
        "--model",
        "z=/nowhere/z-*.npy",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and "no file matches /nowhere/z-*.npy" in done.stderr, done.stderr
