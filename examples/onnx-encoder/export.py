# SPDX-License-Identifier: MIT
"""Trains a small autoencoder with torch and exports its encoder: writes out/autoencoder.onnx (needs torch and onnx).

    python export.py && repscope evaluate --states frames.npy --episodes episodes.npy --scale 255 \
        --model autoencoder=out/autoencoder.onnx

Only `export` matters for repscope: evaluation mode, one row per sample, and a dynamic batch axis.
"""
from pathlib import Path

import numpy as np
import torch
from torch import nn

import frames

HERE = Path(__file__).parent
WIDTH = 8


def encoder():
    return nn.Sequential(
        nn.Conv2d(1, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(256, WIDTH)
    )


def decoder():
    return nn.Sequential(
        nn.Linear(WIDTH, 256), nn.ReLU(), nn.Unflatten(1, (16, 4, 4)),
        nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1),
    )


def train(encode, decode, images, steps=1500, batch=64):
    optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=2e-3)
    for step in range(steps):
        x = images[torch.randint(len(images), (batch,))]
        loss = nn.functional.mse_loss(decode(encode(x)), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 250 == 0:
            print(f"step {step:4}  mean squared error {loss.item():.4f}")


def export(encode, path):
    encode.eval()
    example = torch.zeros(2, 1, frames.SIDE, frames.SIDE)
    torch.onnx.export(
        encode, (example,), str(path), input_names=["frames"], output_names=["code"], opset_version=17,
        dynamic_axes={"frames": {0: "batch"}, "code": {0: "batch"}}, dynamo=False,
    )


def main():
    torch.manual_seed(0)
    images = np.concatenate([frames.make(seed)[0] for seed in range(100, 106)])
    encode, decode = encoder(), decoder()
    train(encode, decode, torch.from_numpy(images).float() / 255)
    (HERE / "out").mkdir(exist_ok=True)
    export(encode, HERE / "out" / "autoencoder.onnx")


if __name__ == "__main__":
    main()
