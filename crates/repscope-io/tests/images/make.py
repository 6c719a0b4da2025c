# SPDX-License-Identifier: MIT
"""Writes the images beside this script with Pillow, and the values Pillow reads from them into `expected.npz`.

The tests read them without Python. Run `python make.py` only to add or change a file, with the versions that are
named in `versions.txt`.
"""

import pathlib
import struct
import zlib

import numpy as np
import PIL
from PIL import Image

HERE = pathlib.Path(__file__).parent
HEIGHT, WIDTH = 20, 24
EXPECTED = {}

y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
GRAY = (8 * x + 3 * y).astype("u1")
COLOR = np.stack([10 * x, 12 * y, 255 - 5 * (x + y)], axis=2).astype("u1")


def save(name, image, mode=None, **options):
    """`mode` is what Pillow has to turn the file into to give the values that are expected."""
    image.save(HERE / name, **options)
    opened = Image.open(HERE / name)
    EXPECTED[name] = np.array(opened if mode is None else opened.convert(mode))


def pngs():
    save("gray.png", Image.fromarray(GRAY))
    save("color.png", Image.fromarray(COLOR))
    save("palette.png", Image.fromarray(COLOR).quantize(16), "RGB")
    save("one_bit.png", Image.fromarray(GRAY).convert("1"), "L")
    save("gray_16.png", Image.fromarray((GRAY.astype("u2") * 257 - 3).clip(0, 65535).astype("u2")))
    opaque = np.dstack([COLOR, np.full((HEIGHT, WIDTH), 255, "u1")])
    save("opaque.png", Image.fromarray(opaque), "RGB")
    save("gray_opaque.png", Image.fromarray(np.dstack([GRAY, opaque[:, :, 3]]), mode="LA"), "L")
    glass = opaque.copy()
    glass[HEIGHT - 1, WIDTH - 1, 3] = 254
    save("glass.png", Image.fromarray(glass))
    save("other_size.png", Image.fromarray(GRAY[:, : WIDTH - 1]))


def jpegs():
    save("color.jpg", Image.fromarray(COLOR), quality=90)
    save("color_444.jpg", Image.fromarray(COLOR), quality=90, subsampling=0)
    save("progressive.jpg", Image.fromarray(COLOR), quality=90, progressive=True)
    save("gray.jpg", Image.fromarray(GRAY), quality=90)
    save("cmyk.jpg", Image.fromarray(COLOR).convert("CMYK"))
    # A camera held upright; Pillow does not turn the picture when it is opened.
    exif = Image.Exif()
    exif[0x0112] = 6
    # A thumbnail has an end of image of its own, long before that of the picture.
    exif.get_ifd(0x8769)[0x927C] = b"\xff\xd9" * 4
    save("turned.jpg", Image.fromarray(COLOR), quality=90, exif=exif)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def deep():
    """Colors of 16 bits, which Pillow does not write, by the rules of PNG: no filter, high bytes first."""
    values = (COLOR.astype("u2") * 200 + np.arange(3, dtype="u2")).astype("u2")
    opaque = np.dstack([values, np.full((HEIGHT, WIDTH), 65535, "u2")])
    for name, kind, pixels in [("color_16.png", 2, values), ("opaque_16.png", 6, opaque)]:
        header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 16, kind, 0, 0, 0)
        data = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
        parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")
        (HERE / name).write_bytes(b"\x89PNG\r\n\x1a\n" + parts)
        EXPECTED[name] = values


def bombs():
    """Headers that promise more than anybody wants, with a handful of bytes behind them."""
    for name, side in [("bomb.png", 30_000), ("lie.png", 20_000)]:
        header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
        data = zlib.compress(bytes(10_000), 9)
        parts = chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
        (HERE / name).write_bytes(b"\x89PNG\r\n\x1a\n" + parts)


for write in [pngs, jpegs, deep, bombs]:
    write()
np.savez_compressed(HERE / "expected.npz", **EXPECTED)
(HERE / "versions.txt").write_text(f"Pillow {PIL.__version__}\nnumpy {np.__version__}\n")
print(sum(path.stat().st_size for path in HERE.iterdir()), "bytes in all")
