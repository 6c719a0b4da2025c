# SPDX-License-Identifier: MIT
"""Makes the HDF5 files beside this file. Written with h5py 3.16.0, hdf5plugin 7.1.0 and numpy 2.4.6:

    python crates/repscope-io/tests/hdf5/make.py
"""

import pathlib

import h5py
import hdf5plugin
import numpy as np

HERE = pathlib.Path(__file__).parent
matrix = np.arange(60, dtype=np.float32).reshape(12, 5) / 8


def arrays(file):
    file["plain"] = matrix
    file.create_dataset("deep/er/gzip", data=matrix, chunks=(5, 3), compression="gzip", shuffle=True, fletcher32=True)
    file.create_dataset("lzf", data=np.repeat(matrix, 4, axis=1).astype(np.float64), chunks=(4, 20), compression="lzf")
    file["big"] = np.arange(-3, 9, dtype=">i4")
    file["half"] = matrix[:, 0].astype(np.float16)
    file["long"] = np.arange(12) - 2**40
    file["bytes"] = np.arange(12, dtype=np.uint8)
    file["truth"] = np.arange(12) % 3 == 0
    file["words"] = np.array(["a", "bé", ""] * 4, dtype=h5py.string_dtype())
    file["short"] = np.array([b"cat", b"horse"] * 6)
    file["cube"] = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    file["grown"] = np.zeros((0, 5), dtype=np.float32)
    file["single"] = 7.0
    file["filled"] = np.zeros(12)
    file.create_dataset("never", shape=(12, 2), dtype="f4", fillvalue=1.5)
    file["link"] = h5py.SoftLink("/plain")
    file["outside"] = h5py.ExternalLink("elsewhere.h5", "/secret")
    file["deep/back"] = file["/"]


with h5py.File(HERE / "arrays.h5", "w") as file:
    arrays(file)
with h5py.File(HERE / "latest.h5", "w", libver="latest") as file:
    arrays(file)
    for at in range(20):  # more links than a header holds
        file[f"many/{at:02}"] = np.float32([at])
with h5py.File(HERE / "zstd.h5", "w") as file:
    file.create_dataset("zstd", data=matrix, chunks=(5, 3), shuffle=True, compression=hdf5plugin.Zstd())

cells = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 0], [3, 0, 4]], dtype=np.float32)
names = np.array(["B", "NK", "T"], dtype=h5py.string_dtype())
with h5py.File(HERE / "cells.h5ad", "w") as file:
    file["obsm/X_pca"] = cells[:, :2] * 2
    file["obs/_index"] = np.array(["c1", "c2", "c3", "c4"], dtype=h5py.string_dtype())
    file["obs/cell_type/codes"] = np.array([2, 0, 0, 1], dtype=np.int8)
    file["obs/cell_type/categories"] = names
    file["obs/some/codes"] = np.array([-1, 0, 1, -1], dtype=np.int8)
    file["obs/some/categories"] = names
    for name, kind, data, indices, starts in [
        ("X", "csr_matrix", [2, 1, 3, 4], [1, 0, 0, 2], [0, 1, 2, 2, 4]),
        ("layers/columns", "csc_matrix", [1, 3, 2, 4], [1, 3, 0, 3], [0, 2, 3, 4]),
    ]:
        group = file.create_group(name)
        group.attrs["encoding-type"] = kind
        group.attrs["shape"] = np.array([4, 3])
        group["data"] = np.array(data, dtype=np.float32)
        group["indices"] = np.array(indices, dtype=np.int32)
        group["indptr"] = np.array(starts, dtype=np.int32)
with h5py.File(HERE / "old.h5ad", "w") as file:
    records = np.zeros(4, dtype=[("index", "S4"), ("louvain", "i1"), ("n_counts", "<f4")])
    records["index"], records["louvain"], records["n_counts"] = [b"c1", b"c2", b"c3", b"c4"], [2, 0, 0, 1], [1, 2, 3, 4]
    file["obs"] = records
    file["uns/louvain_categories"] = np.array([b"B", b"NK", b"T"])
    maps = np.zeros(4, dtype=[("X_pca", "<f4", (2,))])
    maps["X_pca"] = cells[:, :2] * 2
    file["obsm"] = maps
