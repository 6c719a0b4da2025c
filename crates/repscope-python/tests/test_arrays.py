# SPDX-License-Identifier: MIT
"""Anything that holds rows is taken, without a copy where its layout allows that."""

from __future__ import annotations

import numpy as np
import pytest
import repscope
from repscope._arrays import lend

CODES = np.random.default_rng(0).normal(size=(80, 6))


@pytest.mark.parametrize("dtype", ["f4", "f8", "u1", "i8", "u8", "?"])
def test_arrays_in_c_order_are_lent_and_not_copied(dtype):
    array = np.zeros((5, 3), dtype=dtype)
    lent, _ = lend(array, "z")
    assert np.shares_memory(lent, array) and lent.dtype == array.dtype


def test_a_lent_array_is_the_memory_that_is_read():
    # A read-only map of a file cannot have been written to, and a view of it is still the map.
    array = np.arange(60, dtype="f4").reshape(20, 3)
    array.setflags(write=False)
    assert lend(array, "z")[0] is array or np.shares_memory(lend(array, "z")[0], array)
    assert repscope.participation_ratio(array) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda z: np.asfortranarray(z), id="Fortran order"),
        pytest.param(lambda z: np.repeat(z, 2, axis=1)[:, ::2], id="strided"),
        pytest.param(lambda z: z[::-1][::-1], id="negative strides"),
        pytest.param(lambda z: z.astype(">f8"), id="big endian"),
        pytest.param(lambda z: z.astype("longdouble"), id="long double"),
        pytest.param(lambda z: z.tolist(), id="lists"),
        pytest.param(lambda z: [row for row in z], id="list of arrays"),
        pytest.param(
            lambda z: np.frombuffer(b"\0" + z.tobytes(), dtype="u1")[1:].view("f8").reshape(z.shape), id="unaligned"
        ),
        pytest.param(lambda z: z.astype(object), id="objects"),
    ],
)
def test_every_layout_gives_the_same_bits(form):
    assert repscope.two_nn(form(CODES)) == repscope.two_nn(CODES)


def test_small_types_are_widened_exactly():
    for dtype in ("f2", "i1", "i2", "u2", "i4", "u4"):
        small = (CODES * 10).astype(dtype) if dtype[0] != "u" else np.abs(CODES * 10).astype(dtype)
        assert repscope.participation_ratio(small) == pytest.approx(
            repscope.participation_ratio(small.astype("f8")), rel=1e-6
        )
        assert lend(small, "z")[1] in ("f16", "i8", "i16", "u16", "i32", "u32")


def test_memory_maps_are_read_where_they_lie(tmp_path):
    np.save(tmp_path / "z.npy", CODES.astype("f4"))
    mapped = np.load(tmp_path / "z.npy", mmap_mode="r")
    assert np.shares_memory(lend(mapped, "z")[0], mapped)
    assert repscope.two_nn(mapped) == repscope.two_nn(CODES.astype("f4"))
    assert repscope.two_nn(tmp_path / "z.npy") == repscope.two_nn(mapped)


def test_frames_and_columns_of_pandas_and_polars():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    labels = np.array(["a", "b"] * 40)
    expected = repscope.silhouette(CODES, labels)
    for library in (pandas, polars):
        frame = library.DataFrame({str(i): CODES[:, i] for i in range(6)})
        column = library.Series(labels)
        assert repscope.silhouette(frame, column) == expected
    category = pandas.Series(labels, dtype="category")
    assert repscope.silhouette(CODES, category) == expected


def test_labels_of_any_kind_name_the_same_classes():
    numbers = np.arange(80) % 4
    expected = repscope.silhouette(CODES, numbers)
    kinds = [
        numbers.astype("i1"), numbers.astype("u8"), numbers.astype("f4"), numbers.tolist(), [str(n) for n in numbers],
        np.array([str(n) for n in numbers], dtype=object), np.array([str(n).encode() for n in numbers]), iter(numbers),
    ]  # fmt: skip
    for labels in kinds:
        assert repscope.silhouette(CODES, labels) == expected
    half = numbers < 2
    assert repscope.silhouette(CODES, half) == repscope.silhouette(CODES, half.astype(int))


def test_anything_with_array_or_dlpack_is_taken():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return CODES

    class Capsule:
        def __dlpack__(self, **options):
            return CODES.__dlpack__(**options)

        def __dlpack_device__(self):
            return CODES.__dlpack_device__()

    assert repscope.two_nn(Wrapped()) == repscope.two_nn(CODES) == repscope.two_nn(Capsule())
    assert np.shares_memory(lend(Capsule(), "z")[0], CODES)


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(CODES)
    assert np.shares_memory(lend(tensor, "z")[0], CODES)
    assert repscope.two_nn(tensor.clone().requires_grad_()) == repscope.two_nn(CODES)
    half = tensor.to(torch.bfloat16)
    assert repscope.two_nn(half) == repscope.two_nn(half.float().numpy())


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    array = jax.numpy.asarray(CODES, dtype="float32")
    assert repscope.two_nn(array) == repscope.two_nn(CODES.astype("f4"))


def test_what_cannot_be_taken_is_refused_with_its_type_and_shape():
    with pytest.raises(TypeError, match="`Z` has dtype complex128"):
        repscope.two_nn(CODES + 1j)
    with pytest.raises(TypeError, match="`Z` is of type int"):
        repscope.two_nn(3)
    with pytest.raises(ValueError, match="single value"):
        repscope.two_nn(np.float64(3.0))
    with pytest.raises(ValueError, match="different lengths"):
        repscope.two_nn([[1.0, 2.0], [3.0]])
    with pytest.raises(ValueError, match=r"numbers of rows differ: .* 80, .* 79"):
        repscope.trustworthiness(CODES, CODES[1:], k=3)
    with pytest.raises(ValueError, match="holds NaN at row 3, column 2"):
        broken = CODES.copy()
        broken[3, 2] = np.nan
        repscope.two_nn(broken)
    with pytest.raises(ValueError, match="is empty"):
        repscope.two_nn(np.zeros((0, 3)))
    with pytest.raises(ValueError, match="holds text"):
        repscope.two_nn(["a", "b", "c"])
    with pytest.raises(ValueError, match="pooling"):
        repscope.two_nn(np.zeros((4, 2, 2, 2)))
