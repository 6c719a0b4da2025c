# SPDX-License-Identifier: MIT
"""Shards, executors, and the same bytes whoever runs the tasks."""

from __future__ import annotations

import json
import os
import signal
import struct
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import repscope
import repscope.cluster as rc
from repscope.cluster._shards import open_matrix
from repscope.cluster._stages import bytes_of
from repscope.cluster._work import Bits, Keep, Keeping

#: A little more than one super-block, so that blocks have to be merged.
ROWS = 18_432 + 600


def scores(results: Any) -> str:
    """Scores with all their digits."""
    return json.dumps(results.to_dict()["scores"])


def blobs(seed: int, rows: int, columns: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(5, columns))
    return (centers[np.arange(rows) * 7919 % 5] + rng.normal(size=(rows, columns))).astype("f4")


@pytest.fixture(scope="session")
def shards(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Two models and inputs in shards of different sizes, and the same in one piece."""
    folder = tmp_path_factory.mktemp("shards")
    whole = {"jepa": blobs(1, ROWS, 12), "pca": blobs(2, ROWS, 6), "states": blobs(3, ROWS, 9)}
    cuts = [0, 5_000, 5_003, 14_000, ROWS]
    for name, values in whole.items():
        for number, (first, last) in enumerate(zip(cuts, cuts[1:])):
            np.save(folder / f"{name}-{number}.npy", values[first:last])
    labels = np.arange(ROWS) * 7919 % 5
    return SimpleNamespace(folder=folder, labels=labels, episodes=np.arange(ROWS) // 40, **whole)


def of_shards(shards: SimpleNamespace, name: str) -> str:
    return str(shards.folder / f"{name}-*.npy")


@pytest.fixture(scope="session")
def local() -> rc.Local:
    return rc.Local(2)


METRICS = ["trustworthiness", "continuity", "two_nn", "uniformity", "silhouette", "knn_accuracy", "rankme"]
METRICS += ["participation_ratio", "alpha_req"]


def test_an_evaluation_of_shards_has_the_bytes_of_one_in_memory(shards: SimpleNamespace, local: rc.Local) -> None:
    models = {"jepa": shards.jepa, "pca": shards.pca}
    patterns = {name: of_shards(shards, name) for name in models}
    options: dict[str, Any] = {"sample": 200, "episodes": shards.episodes, "labels": shards.labels}
    found = rc.evaluate(patterns, of_shards(shards, "states"), metrics=METRICS, executor=local, **options)
    only = ["neighborhood", "manifold", "geometry", "rankme"]
    expected = repscope.evaluate(models, shards.states, only=only, **options)
    wanted = {score["metric"] for score in found.to_dict()["scores"]}
    assert {name.partition("@")[0].partition("(")[0].partition(".")[0] for name in wanted} == set(METRICS)
    of_memory = [score for score in expected.to_dict()["scores"] if score["metric"] in wanted]
    by_name = lambda score: (score["model"], score["metric"])  # noqa: E731
    assert sorted(found.to_dict()["scores"], key=by_name) == sorted(of_memory, key=by_name)
    assert found.differences and "jepa" in str(found)


@pytest.mark.parametrize(
    "metric", ["two_nn", "uniformity", "silhouette", "participation_ratio", "rankme", "knn_accuracy"]
)
def test_a_function_of_shards_has_the_value_of_one_of_an_array(
    shards: SimpleNamespace, local: rc.Local, metric: str
) -> None:
    labels = {"labels": shards.labels} if metric in ("silhouette", "knn_accuracy") else {}
    sample = {} if metric in ("participation_ratio", "rankme") else {"sample": 100}
    found = getattr(rc, metric)(of_shards(shards, "pca"), **labels, **sample, executor=local)
    expected = getattr(repscope, metric)(shards.pca, **labels, **sample)
    assert found.value == expected.value and found.interval == expected.interval
    assert found.value is not None and expected.interval is not None


def test_label_precision_across_modalities_is_the_same(shards: SimpleNamespace, local: rc.Local) -> None:
    # Queries in shards search targets in shards; both are views of the same rows.
    text, sensor = of_shards(shards, "pca"), of_shards(shards, "states")
    other = str(shards.folder / "pca-*.npy")
    found = rc.label_precision(text, other, shards.labels, k=[5, 10], executor=local)
    expected = repscope.label_precision(shards.pca, shards.pca, shards.labels, k=[5, 10])
    for k in (5, 10):
        assert found[k].value == expected[k].value and found[k].interval == expected[k].interval
    alone = rc.label_precision(sensor, None, shards.labels, k=3, executor=local)
    expected = repscope.label_precision(shards.states, None, shards.labels, k=3)
    assert alone.value == expected.value and alone.interval == expected.interval and alone.value > 0.3


def test_scores_of_k_means_are_the_same(shards: SimpleNamespace, local: rc.Local) -> None:
    found = rc.inertia(of_shards(shards, "pca"), executor=local, restarts=2)
    expected = repscope.inertia(shards.pca, restarts=2)
    assert found.value == expected.value and found.interval == expected.interval


def test_k_means_needs_no_worker_that_holds_all_rows(shards: SimpleNamespace) -> None:
    most = 0

    class Looking(rc.Local):
        """Looks at what tasks read."""

        def submit(self, function: Any, args: Any) -> object:
            nonlocal most
            for task in args[0]:
                for _, span, single in task.reads:
                    rows = single.rows() if isinstance(single, Bits) else single
                    most = max(most, span[1] - span[0] if span is not None else len(rows))
            return super().submit(function, args)

    # Neither room to keep anything nor for all rows.
    rows = 18_432 * (6 * (2 * 4 + 16) + 1024)
    options: dict[str, Any] = {"restarts": 2, "clusters": 4}
    found = rc.nmi(
        of_shards(shards, "pca"), shards.labels, executor=Looking(2), memory=rows * 8 // 7 + 200_000, **options
    )
    expected = repscope.nmi(shards.pca, shards.labels, **options)
    assert found.value == expected.value and found.interval == expected.interval
    assert most == 18_432
    with pytest.raises(repscope.InputError, match="k-means: a task needs about .* raise memory"):
        rc.nmi(of_shards(shards, "pca"), shards.labels, executor=rc.Local(2), memory=rows + 10_000, **options)


def test_rows_of_a_half_travel_as_bits() -> None:
    half = np.flatnonzero(np.random.default_rng(0).random(30_000) < 0.5).astype("u4")[100:]
    sent = Bits.of(half)
    assert isinstance(sent, Bits) and len(sent.bits) < 4_000 and (sent.rows() == half).all()
    for others in (half[::-1], np.array([3, 1_000_000], dtype="u4"), np.array([], dtype="u4")):
        assert Bits.of(others) is others


def test_a_worker_keeps_no_more_than_it_may(shards: SimpleNamespace) -> None:
    taken: list[int] = []

    class Counted(Keeping):
        def put(self, key: Any, kept: Any, keep: Keep) -> None:
            super().put(key, kept, keep._replace(most=most))
            taken.append(sum(own[1] for own in self._all.values()))

    expected = repscope.inertia(shards.jepa, restarts=2)
    for most in (0, 1_500_000, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            kept = Counted()
            patch.setattr("repscope.cluster._work.KEEPING", kept)
            patch.setattr("repscope.cluster._stages.KEEPING", kept)
            taken.clear()
            found = rc.inertia(of_shards(shards, "jepa"), executor=rc.Local(1), restarts=2)
            assert found.value == expected.value and found.interval == expected.interval
            assert max(taken) <= most and (max(taken) > 0) == (most > 0)
            assert not kept._all, "what was kept goes with the run"


def test_all_rows_as_queries_have_the_same_neighbors(shards: SimpleNamespace, local: rc.Local) -> None:
    queries, rows, distances = rc.neighbors(of_shards(shards, "pca"), 3, executor=local)
    assert (queries == np.arange(ROWS)).all() and rows.shape == distances.shape == (ROWS, 3)
    for query in (0, 5_001, ROWS - 1):
        squared = ((shards.pca.astype("f8") - shards.pca[query].astype("f8")) ** 2).sum(1)
        squared[query] = np.inf
        assert (rows[query] == np.argsort(squared, kind="stable")[:3]).all()
    some, of_some, _ = rc.neighbors(of_shards(shards, "pca"), 3, sample=50, executor=local)
    assert len(some) == 50 and (of_some == rows[some]).all()


def test_formats_and_types_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(50, 4))
    np.save(tmp_path / "f8.npy", rows)
    np.save(tmp_path / "f2.npy", rows.astype("f2"))
    np.save(tmp_path / "i4.npy", (100 * rows).astype("i4"))
    np.save(tmp_path / "big.npy", rows.astype(">f4"))
    for name, expected in [
        ("f8", rows),
        ("f2", rows.astype("f2").astype("f4")),
        ("i4", (100 * rows).astype("i4").astype("f8")),
        ("big", rows.astype("f4")),
    ]:
        matrix = open_matrix("z", str(tmp_path / f"{name}.npy"))
        read = matrix.read(7, 31)
        assert read.dtype == expected.dtype and (read == expected[7:31]).all(), name
        assert (matrix.pick([0, 2, 49]) == expected[[0, 2, 49]]).all()


def write_safetensors(path: Path, tensors: dict[str, tuple[str, np.ndarray]]) -> None:
    header, data = {}, b""
    for key, (dtype, values) in tensors.items():
        header[key] = {"dtype": dtype, "shape": values.shape, "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_safetensors_are_read_by_ranges_of_bytes(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 3)).astype("f4")
    halves = (rows.view("u4") >> 16).astype("u2")
    write_safetensors(tmp_path / "z.safetensors", {"a": ("F32", rows), "b": ("BF16", halves)})
    assert (open_matrix("z", str(tmp_path / "z.safetensors#a")).read(5, 40) == rows[5:]).all()
    expected = (halves.astype("u4") << 16).view("f4")
    assert (open_matrix("z", str(tmp_path / "z.safetensors#b")).read(0, 9) == expected[:9]).all()
    with pytest.raises(repscope.InputError, match="there are a, b"):
        open_matrix("z", str(tmp_path / "z.safetensors"))


def test_parquet_is_read_by_row_groups(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = np.random.default_rng(0).normal(size=(100, 3)).astype("f4")
    classes = ["a", "b"] * 50
    table = arrow.table({"z": list(rows), "class": classes})
    parquet.write_table(table, tmp_path / "z.parquet", row_group_size=17)
    matrix = open_matrix("z", str(tmp_path / "z.parquet#z"))
    assert matrix.columns == 3 and matrix.kind == "f4"
    assert (matrix.read(10, 90) == rows[10:90]).all()
    assert (
        rc.knn_accuracy(str(tmp_path / "z.parquet#z"), str(tmp_path / "z.parquet#class"), executor=rc.Local(1)).value
        == repscope.knn_accuracy(rows, classes).value
    )
    with pytest.raises(repscope.InputError, match="there is no column `y`; there are z, class"):
        open_matrix("z", str(tmp_path / "z.parquet#y"))
    ragged = arrow.table({"z": [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]]})
    parquet.write_table(ragged, tmp_path / "ragged.parquet")
    with pytest.raises(repscope.InputError, match="a list of 1 numbers at row 1"):
        open_matrix("z", str(tmp_path / "ragged.parquet#z")).read(0, 3)


def test_shards_on_an_object_store_are_read_through_fsspec(shards: SimpleNamespace) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for path in sorted(shards.folder.glob("pca-*.npy")):
        store.pipe_file(f"/shards/{path.name}", path.read_bytes())
    found = rc.two_nn("memory://shards/pca-*.npy", sample=50, executor=rc.Local(1))
    assert found.value == repscope.two_nn(shards.pca, sample=50).value


def test_shards_in_a_bucket_are_read_and_partials_are_kept_there(
    shards: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Runs where a server of buckets is installed: pip install "moto[server]" s3fs
    server, s3fs = pytest.importorskip("moto.server"), pytest.importorskip("s3fs")
    started = server.ThreadedMotoServer(port=0)
    started.start()
    try:
        host, port = started.get_host_and_port()
        for name, value in bucket_environment(f"http://{host}:{port}").items():
            monkeypatch.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()
        store = s3fs.S3FileSystem()
        store.mkdir("rows")
        for path in sorted(shards.folder.glob("pca-*.npy")):
            store.put(str(path), f"rows/{path.name}")
        call = {"sample": 50, "resume": "s3://rows/partials", "executor": Counting()}
        assert rc.two_nn("s3://rows/pca-*.npy", **call).value == repscope.two_nn(shards.pca, sample=50).value
        assert call["executor"].count > 0
        again = Counting()
        assert rc.two_nn("s3://rows/pca-*.npy", **(call | {"executor": again})).value is not None
        assert again.count == 0
        # Other contents under the same name are noticed, and so is a shard that is gone.
        changed = shards.pca[5_000:5_003] + 1
        np.save(shards.folder / "changed.npy", changed)
        store.put(str(shards.folder / "changed.npy"), "rows/pca-1.npy")
        whole = np.concatenate([shards.pca[:5_000], changed, shards.pca[5_003:]])
        assert rc.two_nn("s3://rows/pca-*.npy", **call).value == repscope.two_nn(whole, sample=50).value
        matrix = open_matrix("pca", "s3://rows/pca-*.npy")
        store.rm("rows/pca-2.npy")
        with pytest.raises(FileNotFoundError, match=r"s3://rows/pca-2\.npy: not found on .*all machines see them"):
            matrix.read(6_000, 6_010)
    finally:
        started.stop()


def bucket_environment(endpoint: str) -> dict[str, str]:
    keys = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}
    return keys | {"AWS_ENDPOINT_URL": endpoint, "AWS_ENDPOINT_URL_S3": endpoint}


def test_ids_join_shards_in_another_order(shards: SimpleNamespace, local: rc.Local, tmp_path: Path) -> None:
    # One model lacks rows and has the others in another order, nearly and wholly; labels have an order of their own.
    rng = np.random.default_rng(4)
    names = np.array([f"row {row}" for row in range(ROWS)])
    near = np.concatenate([np.arange(9_000, ROWS), np.arange(0, 8_900)])
    far = rng.permutation(ROWS)[:-7]
    for name, rows in (("near", near), ("far", far)):
        for number, own in enumerate(np.array_split(rows, 3)):
            np.save(tmp_path / f"{name}-{number}.npy", shards.pca[own])
    order = rng.permutation(ROWS)
    options: dict[str, Any] = {"labels": shards.labels[order], "sample": 150}
    ids = {"jepa": names, "near": names[near], "far": names[far], "states": names, "labels": names[order]}
    np.save(tmp_path / "ids.npy", names)
    found = rc.evaluate(
        {"jepa": of_shards(shards, "jepa"), "near": f"{tmp_path}/near-*.npy", "far": f"{tmp_path}/far-*.npy"},
        of_shards(shards, "states"),
        metrics=["two_nn", "trustworthiness", "silhouette", "participation_ratio"],
        ids=ids | {"jepa": tmp_path / "ids.npy"},
        executor=local,
        **options,
    )
    expected = repscope.evaluate(
        {"jepa": shards.jepa, "near": shards.pca[near], "far": shards.pca[far]},
        shards.states,
        only=["manifold", "neighborhood", "geometry"],
        ids=ids,
        **options,
    )
    wanted = {score["metric"] for score in found.to_dict()["scores"]}
    by_name = lambda score: (score["model"], score["metric"])  # noqa: E731
    of_memory = [score for score in expected.to_dict()["scores"] if score["metric"] in wanted]
    assert sorted(found.to_dict()["scores"], key=by_name) == sorted(of_memory, key=by_name)
    assert found["near", "two_nn"].value == found["far", "two_nn"].value
    assert any("have an id that other arrays lack" in str(own) for own in found.warnings)


def test_ids_that_are_missing_or_too_few_are_told(shards: SimpleNamespace, local: rc.Local) -> None:
    call = {"metrics": ["two_nn"], "sample": 20, "executor": local}
    models = {"jepa": of_shards(shards, "jepa"), "pca": of_shards(shards, "pca")}
    with pytest.raises(repscope.InputError, match="there are no ids for `pca`"):
        rc.evaluate(models, ids={"jepa": np.arange(ROWS)}, **call)
    with pytest.raises(repscope.InputError, match=f"`pca` has {ROWS} rows but {ROWS - 1} ids"):
        rc.evaluate(models, ids={"jepa": np.arange(ROWS), "pca": np.arange(ROWS - 1)}, **call)


def test_ctrl_c_ends_a_run(shards: SimpleNamespace) -> None:
    class Interrupted(rc.Local):
        def __init__(self) -> None:
            super().__init__(1)
            self.cancelled = 0

        def wait(self, handles: Any) -> list[Any]:
            # As the terminal does; nothing ever ends.
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            return []

        def cancel(self, handles: Any) -> None:
            self.cancelled += len(list(handles))

    for run in (rc.two_nn, rc.neighbors):
        executor = Interrupted()
        with pytest.raises(KeyboardInterrupt):
            run(of_shards(shards, "pca"), sample=20, executor=executor)
        # Calls that nobody waits for are taken back.
        assert executor.cancelled > 0


def test_files_come_in_natural_order(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        np.save(tmp_path / f"z-{number}.npy", np.full((2, 1), number, dtype="f4"))
    assert open_matrix("z", str(tmp_path / "z-*.npy")).read(0, 6).ravel().tolist() == [1, 1, 2, 2, 10, 10]


def test_a_missing_shard_is_named_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no file matches"):
        rc.two_nn(str(tmp_path / "z-*.npy"), executor=rc.Local(1))
    with pytest.raises(FileNotFoundError, match=r"b\.npy: not found on .*all machines see them"):
        rc.two_nn([str(tmp_path / "b.npy")], executor=rc.Local(1))


def test_a_cut_shard_is_named_before_any_work(shards: SimpleNamespace, tmp_path: Path) -> None:
    path = tmp_path / "cut.npy"
    path.write_bytes((shards.folder / "pca-0.npy").read_bytes()[:-100])
    with pytest.raises(
        repscope.InputError, match=r"cut\.npy is cut: its header says 120128 bytes and there are 120028"
    ):
        rc.two_nn([of_shards(shards, "pca"), str(path)], executor=rc.Local(1))


def test_shards_of_different_widths_are_named_with_both(shards: SimpleNamespace) -> None:
    paths = [str(shards.folder / "pca-0.npy"), str(shards.folder / "jepa-1.npy")]
    with pytest.raises(repscope.InputError, match=r"pca-0\.npy has 6 and .*jepa-1\.npy has 12"):
        rc.two_nn(paths, executor=rc.Local(1))


def test_nan_is_named_by_shard_and_row(shards: SimpleNamespace, tmp_path: Path) -> None:
    rows = shards.pca[14_000:].copy()
    rows[321, 2] = np.nan
    np.save(tmp_path / "bad.npy", rows)
    paths = [str(shards.folder / f"pca-{number}.npy") for number in range(3)] + [str(tmp_path / "bad.npy")]
    with pytest.raises(repscope.DataError, match=r"bad\.npy holds nan at row 321 of the shard, column 2"):
        rc.uniformity(paths, sample=10, executor=rc.Local(2))


def test_rows_and_labels_that_do_not_match_are_told_with_both_numbers(shards: SimpleNamespace) -> None:
    with pytest.raises(repscope.InputError, match="the labels 7, model `model` 19032"):
        rc.silhouette(of_shards(shards, "pca"), np.arange(7), executor=rc.Local(1))


def test_a_worker_with_too_little_memory_is_refused_with_both_numbers(shards: SimpleNamespace) -> None:
    with pytest.raises(repscope.InputError, match="needs about .* and a worker may use 0.0 GiB"):
        rc.two_nn(of_shards(shards, "pca"), sample=10, memory="100K", executor=rc.Local(1))
    assert bytes_of("1.5G") == 3 << 29 and bytes_of("20MB") == 20 << 20 and bytes_of(7) == 7


class Counting(rc.Local):
    """Counts the tasks that reach a worker, and dies after some."""

    def __init__(self, dies_after: int | None = None) -> None:
        super().__init__(1)
        self.count, self._left = 0, dies_after

    def submit(self, function: Any, args: Any) -> object:
        if self._left is not None and self.count >= self._left:
            raise KeyboardInterrupt
        self.count += len(args[0])
        return super().submit(function, args)


def test_a_run_that_was_stopped_goes_on_and_computes_nothing_twice(shards: SimpleNamespace, tmp_path: Path) -> None:
    call = {"metrics": ["two_nn", "uniformity"], "sample": 60, "resume": tmp_path / "partials"}
    models = {"pca": of_shards(shards, "pca")}
    whole = Counting()
    expected = rc.evaluate(models, **(call | {"resume": None}), executor=whole)
    stopped = Counting(dies_after=whole.count // 2)
    with pytest.raises(KeyboardInterrupt):
        rc.evaluate(models, **call, executor=stopped)

    def count_stored() -> int:
        return sum(path.is_file() for path in (tmp_path / "partials").rglob("*"))

    before, rest = count_stored(), Counting()
    assert scores(rc.evaluate(models, **call, executor=rest)) == scores(expected)
    assert 0 < before == stopped.count and count_stored() == before + rest.count
    again = Counting()
    assert scores(rc.evaluate(models, **call, executor=again)) == scores(expected)
    assert again.count == 0


def test_a_damaged_partial_is_computed_again(shards: SimpleNamespace, tmp_path: Path) -> None:
    call = {"sample": 20, "resume": tmp_path}
    expected = rc.two_nn(of_shards(shards, "pca"), **call, executor=rc.Local(1)).value
    for path in tmp_path.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert rc.two_nn(of_shards(shards, "pca"), **call, executor=rc.Local(1)).value == expected


def test_another_content_of_a_shard_is_another_partial(tmp_path: Path) -> None:
    def value(seed: int) -> float | None:
        np.save(tmp_path / "z.npy", blobs(seed, ROWS, 3))
        return rc.two_nn(str(tmp_path / "z.npy"), sample=20, resume=tmp_path / "partials", executor=rc.Local(1)).value

    assert value(5) == repscope.two_nn(blobs(5, ROWS, 3), sample=20).value
    assert value(6) == repscope.two_nn(blobs(6, ROWS, 3), sample=20).value


def test_partials_come_in_the_order_of_tasks(shards: SimpleNamespace) -> None:
    class Backwards(rc.Local):
        def wait(self, handles: Any) -> list[Any]:
            super().gather(handles)
            return list(handles)[::-1]

    found = rc.participation_ratio(of_shards(shards, "jepa"), executor=Backwards(3))
    assert found.value == repscope.participation_ratio(shards.jepa).value


def test_what_is_not_computed_of_shards_is_told(shards: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match="'clid' is not computed of shards; there are"):
        rc.evaluate(of_shards(shards, "pca"), metrics=["clid"], executor=rc.Local(1))
