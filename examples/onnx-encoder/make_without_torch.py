# SPDX-License-Identifier: MIT
"""Writes the files beside it: frames.npy, episodes.npy, trained.onnx and random.onnx (needs NumPy and onnx).

The graph is that of export.py: two convolutions with ReLU and a linear layer, from (N, 1, 16, 16) to (N, 8), with a
dynamic batch axis. The convolutions are random in both models. The linear layer of `random` is random too; that of
`trained` is fitted without gradients to the first 8 principal components of the features of the convolutions on 2,000
other frames.
"""
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import frames

HERE = Path(__file__).parent
WIDTH, CHANNELS = 8, (8, 16)


def convolve(x, weight, bias):
    """Kernel 4, stride 2, padding 1, then ReLU, as in the graph below."""
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (4, 4), axis=(2, 3))[:, :, ::2, ::2]
    y = np.einsum("nchwij,ocij->nohw", windows, weight, optimize=True) + bias[:, None, None]
    return np.maximum(y, 0)


def random_weights(generator):
    draw = lambda *shape: (generator.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)
    flat = CHANNELS[1] * 4 * 4
    return {
        "conv1.weight": draw(CHANNELS[0], 1, 4, 4), "conv1.bias": np.zeros(CHANNELS[0], np.float32),
        "conv2.weight": draw(CHANNELS[1], CHANNELS[0], 4, 4), "conv2.bias": np.zeros(CHANNELS[1], np.float32),
        "linear.weight": draw(WIDTH, flat), "linear.bias": np.zeros(WIDTH, np.float32),
    }


def fitted(weights, images):
    x = images.astype(np.float32) / 255
    for layer in ("conv1", "conv2"):
        x = convolve(x, weights[f"{layer}.weight"], weights[f"{layer}.bias"])
    x = x.reshape(len(x), -1).astype(np.float64)
    center = x.mean(axis=0)
    directions = np.linalg.svd(x - center, full_matrices=False)[2][:WIDTH]
    linear = {"linear.weight": directions.astype(np.float32), "linear.bias": (-directions @ center).astype(np.float32)}
    return weights | linear


def graph(weights):
    conv = {"kernel_shape": [4, 4], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Conv", ["frames", "conv1.weight", "conv1.bias"], ["c1"], **conv),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "conv2.weight", "conv2.bias"], ["c2"], **conv),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("Flatten", ["r2"], ["flat"]),
        helper.make_node("Gemm", ["flat", "linear.weight", "linear.bias"], ["code"], transB=1),
    ]
    made = helper.make_graph(
        nodes, "encoder",
        [helper.make_tensor_value_info("frames", TensorProto.FLOAT, ["batch", 1, frames.SIDE, frames.SIDE])],
        [helper.make_tensor_value_info("code", TensorProto.FLOAT, ["batch", WIDTH])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def main():
    images, episodes = frames.make()
    np.save(HERE / "frames.npy", images)
    np.save(HERE / "episodes.npy", episodes)
    weights = random_weights(np.random.default_rng(3))
    others = np.concatenate([frames.make(seed)[0] for seed in range(100, 106)])[:2000]
    onnx.save(graph(weights), HERE / "random.onnx")
    onnx.save(graph(fitted(weights, others)), HERE / "trained.onnx")


if __name__ == "__main__":
    main()
