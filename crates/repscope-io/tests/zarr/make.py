# SPDX-License-Identifier: MIT
"""Makes the Zarr stores in stores.zip beside this file: hundreds of small files. Written with zarr 3.1.6, numcodecs 0.16.6, anndata 0.12.19 and numpy 2.4.6:

    python crates/repscope-io/tests/zarr/make.py
"""

import pathlib
import tempfile
import warnings
import zipfile

import anndata
import numcodecs
import numpy as np
import pandas as pd
import scipy.sparse
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

warnings.simplefilter("ignore")  # of types that version 3 does not name yet
HERE = pathlib.Path(tempfile.mkdtemp())
matrix = np.arange(60, dtype=np.float32).reshape(12, 5) / 8
wide = np.arange(12000, dtype=np.float32).reshape(60, 200)
words = np.array(["a", "bé", ""] * 4, dtype=object)


def new(name, version):
    return zarr.open_group(HERE / name, mode="w", zarr_format=version)


def put(group, name, data, chunks=None, **more):
    array = group.create_array(name, shape=data.shape, dtype=more.pop("dtype", data.dtype), chunks=chunks or data.shape, **more)
    array[...] = data


store = new("three.zarr", 3)
put(store, "usual", matrix, (5, 3))
put(store, "deep/er/none", matrix, (5, 3), compressors=None)
put(store, "gzip", matrix, (12, 2), compressors=GzipCodec())
put(store, "sum", matrix, (12, 5), compressors=[ZstdCodec(checksum=True), Crc32cCodec()])
put(store, "turned", matrix, (5, 3), filters=TransposeCodec(order=(1, 0)))
put(store, "dots", matrix, (6, 5), chunk_key_encoding={"name": "default", "separator": "."})
put(store, "old_names", matrix, (6, 5), chunk_key_encoding={"name": "v2", "separator": "."})
put(store, "shards", matrix, (3, 3), shards=(6, 6))
put(store, "big", matrix, (5, 3), serializer=BytesCodec(endian="big"))
put(store, "words", words, (5,), dtype=str)
put(store, "short", np.array(["cat", "hörse"] * 6), (7,))
put(store, "long", np.arange(12) - 2**40, (5,))
put(store, "truth", np.arange(12) % 3 == 0, (12,))
put(store, "cube", np.arange(24, dtype=np.float64).reshape(2, 3, 4), (1, 2, 3))
for cname, shuffle in [("lz4", "shuffle"), ("zstd", "bitshuffle"), ("zlib", "noshuffle"), ("lz4", "bitshuffle")]:
    put(store, f"wide_{cname}_{shuffle}", wide, compressors=BloscCodec(cname=cname, shuffle=shuffle, blocksize=4096, clevel=9))
put(store, "blosclz", wide, compressors=BloscCodec(cname="blosclz"))
partly = store.create_array("partly", shape=(12, 2), dtype="f4", chunks=(4, 2), fill_value=1.5)
partly[4:8] = 3
store.create_array("never", shape=(12, 2), dtype="f2", chunks=(4, 2), fill_value=np.nan)
store.create_array("single", shape=(), dtype="f4")
store.create_array("grown", shape=(0, 5), dtype="f4", chunks=(2, 5))
put(store, "times", np.array(["2024-01-01"] * 3, dtype="datetime64[D]"))

store = new("two.zarr", 2)
put(store, "usual", matrix, (5, 3), compressors=numcodecs.Blosc(cname="lz4", clevel=5, shuffle=1))
put(store, "zstd", matrix, (5, 3), compressors=numcodecs.Zstd())
put(store, "zlib", matrix, (5, 3), compressors=numcodecs.Zlib())
put(store, "lz4", matrix, (5, 3), compressors=numcodecs.LZ4())
put(store, "none", matrix, (5, 3), compressors=None)
put(store, "shuffled", matrix, (5, 3), compressors=numcodecs.GZip(), filters=[numcodecs.Shuffle(4)])
put(store, "turned", matrix, (5, 3), compressors=numcodecs.Zstd(), order="F")
put(store, "nested/folders", matrix, (5, 3), chunk_key_encoding={"name": "v2", "separator": "/"}, compressors=None)
put(store, "big", matrix.astype(">f8"), (5, 3))
put(store, "words", words, (5,), dtype=str)
put(store, "short", np.array(["cat", "hörse"] * 6), (7,))
put(store, "bytes", np.array([b"cat", b"horse"] * 6), (7,))
put(store, "small", np.arange(12, dtype=np.uint8), (5,))
put(store, "bz2", matrix, compressors=numcodecs.BZ2())

for name, version in [("one.zarr", 3), ("old_one.zarr", 2)]:
    array = zarr.create_array(HERE / name, shape=matrix.shape, dtype="f4", chunks=(6, 5), zarr_format=version)
    array[...] = matrix

cells = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 0], [3, 0, 4]], dtype=np.float32)
table = pd.DataFrame({"cell_type": pd.Categorical(["T", "B", "B", "NK"])}, index=["c1", "c2", "c3", "c4"])
data = anndata.AnnData(
    X=scipy.sparse.csr_matrix(cells), obs=table, obsm={"X_pca": cells[:, :2] * 2}, layers={"columns": scipy.sparse.csc_matrix(cells)}
)
for version in (2, 3):
    anndata.settings.zarr_write_format = version
    data.write_zarr(HERE / f"cells{version}.zarr")

with zipfile.ZipFile(pathlib.Path(__file__).parent / "stores.zip", "w", zipfile.ZIP_DEFLATED) as packed:
    for file in sorted(path for path in HERE.rglob("*") if path.is_file()):
        packed.writestr(zipfile.ZipInfo(str(file.relative_to(HERE))), file.read_bytes(), zipfile.ZIP_DEFLATED)
