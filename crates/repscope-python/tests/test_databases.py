# SPDX-License-Identifier: MIT
"""Embeddings out of databases, as docs/how-to/input-files.md writes it. Databases that are not installed are skipped."""

import tempfile

import numpy as np
import pytest
import repscope

Z = np.random.default_rng(3).normal(size=(60, 4)).astype("f4")
LABELS = ["a", "b", "c"] * 20


def test_duckdb_gives_arrays_of_arrow(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    vectors = pa.FixedSizeListArray.from_arrays(pa.array(Z.ravel()), 4)
    pyarrow.parquet.write_table(pa.table({"vector": vectors, "label": LABELS}), tmp_path / "items.parquet")
    rows = duckdb.sql(f"SELECT vector::FLOAT[4] AS vector, label FROM '{tmp_path}/items.parquet'").to_arrow_table()
    vectors, labels = rows["vector"].combine_chunks(), rows["label"].to_pylist()
    assert repscope.two_nn(vectors).value == repscope.two_nn(Z).value
    assert labels == LABELS


def test_lancedb_gives_arrays_of_arrow(tmp_path):
    lancedb = pytest.importorskip("lancedb")
    items = [{"vector": row, "label": label} for row, label in zip(Z, LABELS, strict=True)]
    lancedb.connect(str(tmp_path)).create_table("items", items)
    table = lancedb.connect(str(tmp_path)).open_table("items").to_arrow()
    assert repscope.two_nn(table["vector"].combine_chunks()).value == repscope.two_nn(Z).value
    assert table["label"].to_pylist() == LABELS


def test_qdrant_gives_lists_of_points(tmp_path):
    qdrant = pytest.importorskip("qdrant_client")
    client = qdrant.QdrantClient(path=str(tmp_path))
    like = qdrant.models.VectorParams(size=4, distance=qdrant.models.Distance.EUCLID)
    client.create_collection("items", vectors_config=like)
    points = [
        qdrant.models.PointStruct(id=at, vector=row.tolist(), payload={"label": label})
        for at, (row, label) in enumerate(zip(Z, LABELS, strict=True))
    ]
    client.upsert("items", points)
    found, _ = client.scroll("items", limit=1000, with_vectors=True)
    assert repscope.two_nn([point.vector for point in found]).value == pytest.approx(repscope.two_nn(Z).value, rel=1e-6)
    assert [point.payload["label"] for point in found] == LABELS
    client.close()


@pytest.fixture
def postgres(tmp_path):
    """A real PostgreSQL with pgvector, which the package pgserver brings along."""
    pgserver = pytest.importorskip("pgserver")
    server = pgserver.get_server(tempfile.mkdtemp(prefix="repscope-postgres"), cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


def test_pgvector_gives_vectors_that_become_arrays(postgres):
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("pgvector")
    import pgvector.psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE TABLE items (id bigserial PRIMARY KEY, vector vector(4), label text)")
        pgvector.psycopg.register_vector(connection)
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO items (vector, label) VALUES (%s, %s)", list(zip(Z, LABELS, strict=True)))
        rows = connection.execute("SELECT vector, label FROM items ORDER BY id").fetchall()
    vectors, labels = np.stack([row[0].to_numpy() for row in rows]), [row[1] for row in rows]
    np.testing.assert_array_equal(vectors, Z)
    assert repscope.two_nn(vectors).value == repscope.two_nn(Z).value
    assert labels == LABELS


def test_zarr_arrays_are_arrays(tmp_path):
    zarr = pytest.importorskip("zarr")
    for version in (2, 3):
        array = zarr.create_array(
            tmp_path / f"v{version}.zarr", shape=Z.shape, dtype="f4", chunks=(25, 3), zarr_format=version
        )
        array[...] = Z
        assert repscope.two_nn(array).value == repscope.two_nn(Z).value
        # The command and the paths of evaluate read the same store.
        assert repscope.two_nn(str(tmp_path / f"v{version}.zarr")).value == repscope.two_nn(Z).value
