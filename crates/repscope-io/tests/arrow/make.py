# SPDX-License-Identifier: MIT
"""Makes the Arrow files beside this file: two batches of twelve rows in all. Written with pyarrow 26.0.1 and numpy 2.4.6:

    python crates/repscope-io/tests/arrow/make.py
"""

import json
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.feather

HERE = pathlib.Path(__file__).parent
matrix = np.arange(60, dtype=np.float32).reshape(12, 5) / 8


def table(rows):
    part = matrix[rows]
    count = len(part)
    numbers = np.arange(12)[rows]
    words = [f"w{i % 3}" for i in numbers]
    missing = [None if i % 4 == 1 else f"w{i}" for i in numbers]
    codes = pa.DictionaryArray.from_arrays(pa.array([i % 3 for i in numbers], type=pa.int8()), pa.array(["a", "bé", "c"]))
    return pa.table(
        {
            "embedding": pa.FixedSizeListArray.from_arrays(pa.array(part.ravel()), 5),
            "lists": pa.ListArray.from_arrays(pa.array(np.arange(count + 1) * 5, type=pa.int32()), pa.array(part.ravel().astype(np.float64))),
            "large": pa.LargeListArray.from_arrays(pa.array(np.arange(count + 1) * 5), pa.array(part.ravel().astype(np.float16))),
            "id": pa.array(numbers),
            "small": pa.array(numbers.astype(np.uint8)),
            "truth": pa.array([bool(i % 3 == 0) for i in numbers]),
            "word": pa.array(words),
            "long": pa.array(words, type=pa.large_string()),
            "missing": pa.array(missing),
            "label": codes,
            "pair": pa.array([{"a": 1}] * count),
        }
    )


parts = [table(slice(0, 7)), table(slice(7, 12))]
whole = pa.concat_tables(parts)
with pa.ipc.new_stream(HERE / "stream.arrow", whole.schema) as writer:
    for part in parts:
        writer.write_table(part)
with pa.ipc.new_file(HERE / "file.arrow", whole.schema) as writer:
    for part in parts:
        writer.write_table(part)
pyarrow.feather.write_feather(whole, HERE / "lz4.feather", compression="lz4", chunksize=7)
pyarrow.feather.write_feather(whole, HERE / "zstd.feather", compression="zstd", chunksize=7)
# A folder as datasets.Dataset.save_to_disk writes it: two shards of a stream and their list.
folder = HERE / "dataset"
folder.mkdir(exist_ok=True)
names = []
for at, part in enumerate(parts):
    names.append({"filename": f"data-{at:05}-of-00002.arrow"})
    with pa.ipc.new_stream(folder / names[-1]["filename"], whole.schema) as writer:
        writer.write_table(part.select(whole.column_names))
(folder / "state.json").write_text(json.dumps({"_data_files": names, "_fingerprint": "x"}, indent=1))
(folder / "dataset_info.json").write_text(json.dumps({"features": {}}))
