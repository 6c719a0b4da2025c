# SPDX-License-Identifier: MIT
"""Writes the files beside this script with the real libraries: NumPy, pandas, pyarrow, safetensors.

The tests read them without Python. Run `python generate.py` only to add or change a file, with the
versions that are named in `versions.txt`.
"""

import io
import json
import os
import pathlib
import pickle
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import safetensors
import safetensors.numpy

HERE = pathlib.Path(__file__).parent

# -3.0, -1.5, 0.0, … 13.5: exact in every float type.
MATRIX = (np.arange(12, dtype="f8") * 1.5 - 3).reshape(4, 3)
WORDS = ["Katze", "Hündin", "猫", "🐈‍⬛ cat", ""]
CLASSES = ["cat", "dog", "cat", "élan"]


def save(name, array, version=None):
    with open(HERE / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, np.asanyarray(array), version=version)


def npy():
    for kind in ["f2", "f4", "f8"]:
        save(f"little_{kind}", MATRIX.astype("<" + kind))
        save(f"big_{kind}", MATRIX.astype(">" + kind))
    for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
        limits = np.iinfo(kind)
        values = [limits.min, 0, 1, limits.max]
        save(f"little_{kind}", np.array(values, dtype="<" + kind))
        save(f"big_{kind}", np.array(values, dtype=">" + kind))
    save("bool", np.array([True, False, True]))
    for version in [1, 2, 3]:
        save(f"version_{version}", MATRIX.astype("<f4"), (version, 0))
    save("fortran", np.asfortranarray(MATRIX))
    save("fortran_3d", np.asfortranarray(np.arange(24, dtype="i4").reshape(2, 3, 4)))
    save("sequence_3d", np.arange(24, dtype="f4").reshape(2, 3, 4))
    save("no_rows", np.zeros((0, 3)))
    save("zero_d", np.array(3.0))
    save("unicode_little", np.array(WORDS, dtype="<U8"))
    save("unicode_big", np.array(WORDS, dtype=">U8"))
    save("bytes", np.array([w.encode() for w in CLASSES]))
    save("dates", np.array(["2024-01-01"], dtype="M8[D]"))
    save("complex", np.array([1j]))
    save("record", np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]))


def objects():
    def save_object(name, values):
        array = np.empty(len(values), dtype=object)
        array[:] = values
        save(name, array)

    save_object("object_text", CLASSES)
    save_object("object_mixed", ["Cooking", None, 3, 2.5, True, 2**70, float("nan"), pd.NA])
    save_object("object_integers", [3, -1, 2**40])
    save_object("object_numpy_scalars", [np.str_("Hündin"), np.int64(-7), np.float32(2.5), np.bool_(True), np.bytes_(b"x")])
    save("object_fortran", np.asfortranarray(np.array([["a", "b"], ["c", "d"]], dtype=object)))
    save_object("object_lists", [[1], [2, 3]])
    save_object("object_dates", [pd.Timestamp(0).to_pydatetime()])
    save_object("object_many", [f"row {i % 300}" for i in range(1200)])
    for protocol in range(6):
        array = np.array(CLASSES + [None, 7, 2.5, False], dtype=object)
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(buffer, {"descr": "|O", "fortran_order": False, "shape": array.shape})
        pickle.dump(array, buffer, protocol=protocol)
        (HERE / f"object_protocol_{protocol}.npy").write_bytes(buffer.getvalue())

    class Hostile:
        def __reduce__(self):
            return os.system, ("touch repscope-was-here",)

    save_object("object_hostile", ["cat", Hostile()])


def npz():
    arrays = {"latent": MATRIX.astype("f4"), "labels": np.array([0, 1, 1, 0]), "names": np.array(CLASSES)}
    np.savez(HERE / "stored.npz", **arrays)
    np.savez_compressed(HERE / "deflated.npz", **arrays, objects=np.array(CLASSES, dtype=object))
    np.savez(HERE / "one.npz", z=MATRIX)
    # A member that unpacks to far more than its header promises.
    member = io.BytesIO()
    np.lib.format.write_array(member, MATRIX)
    with zipfile.ZipFile(HERE / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        # A ZipInfo has a fixed date, so that the file is the same each time.
        archive.writestr(zipfile.ZipInfo("z.npy"), member.getvalue() + bytes(20_000_000), zipfile.ZIP_DEFLATED)


def tensors():
    safetensors.numpy.save_file(
        {
            "latent": MATRIX.astype("f4"),
            "double": MATRIX,
            "half": MATRIX.astype("f2"),
            "labels": np.array([0, 1, 1, 0]),
            "pixels": np.arange(256, dtype="u1").reshape(4, 8, 8),
            "flags": np.array([True, False, False, True]),
            "scalar": np.array(1.0),
        },
        HERE / "many.safetensors",
        metadata={"format": "np"},
    )
    safetensors.numpy.save_file({"z": MATRIX}, HERE / "one.safetensors")
    for path in HERE.glob("*.safetensors"):
        path.chmod(0o644)


def parquet():
    rows = MATRIX.tolist()
    table = pa.table(
        {
            "list": pa.array(rows, pa.list_(pa.float32())),
            "large": pa.array(rows, pa.large_list(pa.float64())),
            "fixed": pa.array(rows, pa.list_(pa.float32(), 3)),
            "half": pa.array(np.arange(4, dtype="f2")),
            "number": pa.array([0.5, 1.5, 2.5, 3.5]),
            "small": pa.array([-128, 0, 1, 127], pa.int8()),
            "pixel": pa.array([0, 1, 2, 255], pa.uint8()),
            "word": pa.array([0, 1, 2, 2**32 - 1], pa.uint32()),
            "integer": pa.array([0, 1, 1, -(2**60)]),
            "unsigned": pa.array([0, 1, 2, 2**64 - 1], pa.uint64()),
            "flag": pa.array([True, False, False, True]),
            "text": pa.array(CLASSES),
            "large_text": pa.array(CLASSES, pa.large_string()),
            "category": pa.array(CLASSES).dictionary_encode(),
            "ragged": pa.array([[1.0], [1.0], [1.0, 2.0], [1.0]]),
            "gap": pa.array([1.0, 2.0, None, 3.0]),
            "gap_text": pa.array(["a", "b", None, "c"]),
            "gap_list": pa.array([[1.0], None, [2.0], [3.0]]),
            "gap_in_list": pa.array([[1.0], [2.0], [None], [3.0]]),
            "date": pa.array(pd.date_range("2024-01-01", periods=4)),
        }
    )
    pq.write_table(table, HERE / "columns.parquet")
    many = pa.table({"z": pa.array((np.arange(20_000) % 7).reshape(-1, 2).tolist(), pa.list_(pa.float32(), 2))})
    pq.write_table(many, HERE / "many_rows.parquet", row_group_size=6000, data_page_version="2.0", compression="gzip")
    pq.write_table(table.select(["number"]), HERE / "lz4.parquet", compression="lz4")
    pq.write_table(table.select(["number"]), HERE / "zstd.parquet", compression="zstd")
    pq.write_table(many, HERE / "zstd_pages.parquet", row_group_size=6000, data_page_version="2.0", compression="zstd")
    pq.write_table(table.select(["number"]), HERE / "brotli.parquet", compression="brotli")
    items = {"z": rows, "label": CLASSES, "integer": [0, 1, 1, -(2**60)]}
    pl.DataFrame(items, schema_overrides={"z": pl.Array(pl.Float32, 3)}).write_parquet(HERE / "polars.parquet")  # zstd
    frame = pd.DataFrame({"label": CLASSES}, index=["a", "b", "c", "d"])
    frame.to_parquet(HERE / "pandas.parquet")


def text():
    frame = pd.DataFrame(MATRIX, columns=["x", "y", "größe"])
    frame.to_csv(HERE / "matrix.csv", index=False)
    frame.to_csv(HERE / "indexed.csv")
    frame.to_csv(HERE / "matrix.tsv", index=False, sep="\t")
    frame.to_csv(HERE / "no_names.csv", index=False, header=False)
    frame.assign(label=CLASSES).to_csv(HERE / "mixed.csv", index=False)
    pd.Series(CLASSES, name="label").to_csv(HERE / "labels.csv", index=False)
    frame.assign(gap=[1, None, 3, 4]).to_csv(HERE / "gap.csv", index=False)
    frame.to_csv(HERE / "spreadsheet.csv", index=False, encoding="utf-8-sig", lineterminator="\r\n", quoting=1)


def lines():
    (HERE / "lines.txt").write_bytes("\ufeffEin Satz.\r\n\r\n猫 sits\r\n  last ".encode())
    texts, languages = ["Ein Satz.", "", "猫 sits"], ["de", "none", "zh"]
    numbers = zip([0.1, -2.5e-300, 3], [[0.5, 1], [2, -3], [4, 5.25]])
    rows = [
        {"id": i + 1, "text": text, "score": score, "ok": i != 1, "z": z, "meta": {"lang": language}, "tags": ["a"]}
        for i, (text, language, (score, z)) in enumerate(zip(texts, languages, numbers))
    ]
    objects = [json.dumps(row, ensure_ascii=i == 0) for i, row in enumerate(rows)]
    (HERE / "objects.jsonl").write_text("\n".join([*objects[:2], "", objects[2]]) + "\n", encoding="utf-8")


for write in [npy, objects, npz, tensors, parquet, text, lines]:
    write()
(HERE / "versions.txt").write_text(
    "".join(f"{m.__name__} {m.__version__}\n" for m in [np, pd, pa, safetensors])
)
