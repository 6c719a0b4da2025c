# SPDX-License-Identifier: MIT
"""Makes the graphs beside this file, and `graphs.npz` with inputs and the outputs of ONNX Runtime: small graphs that exporters write and the
built-in runtime has to have in other words. Written with onnx 1.23.2, onnxruntime 1.31.1 and numpy 2.4.6:

    python crates/repscope-models/tests/graphs/make.py
"""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(32)
KINDS = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("int64"): TensorProto.INT64, np.dtype("uint8"): TensorProto.UINT8}
STORED = {}


def weights(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def graph(name, nodes, inputs, constants=None, opset=17, outputs=("y",), reference=None):
    """Writes a graph; what it computes is what ONNX Runtime says, or `reference` where that refuses old operators."""
    ports = [helper.make_tensor_value_info(key, KINDS[value.dtype], [None] * value.ndim) for key, value in inputs.items()]
    out = [helper.make_tensor_value_info(key, TensorProto.FLOAT, None) for key in outputs]
    tensors = [numpy_helper.from_array(np.asarray(value), key) for key, value in (constants or {}).items()]
    whole = helper.make_graph(nodes, name, ports, out, tensors)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, HERE / f"{name}.onnx")
    expected = reference
    if expected is None:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        expected = session.run(None, inputs)
    for key, value in inputs.items():
        STORED[f"{name}.in.{key}"] = value
    for at, value in enumerate(expected):
        STORED[f"{name}.out.{at}"] = value.astype(np.float32)


def node(op, inputs, outputs="y", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


images = weights(2, 4, 9, 8)
video = weights(2, 4, 6, 7, 8)
rows = weights(3, 5)

graph("conv_without_sizes", [node("Conv", "x w b")], {"x": images}, {"w": weights(6, 4, 3, 3), "b": weights(6)})
graph("conv_same_lower", [node("Conv", "x w", auto_pad="SAME_LOWER")], {"x": images}, {"w": weights(6, 4, 2, 4)})
graph("conv_transposed", [node("ConvTranspose", "x w", strides=[2, 2])], {"x": images}, {"w": weights(4, 3, 3, 3)})
graph("conv_3d", [node("Conv", "x w b")], {"x": video}, {"w": weights(5, 4, 3, 2, 3), "b": weights(5)})
graph(
    "conv_3d_all",
    [node("Conv", "x w", kernel_shape=[2, 3, 3], strides=[2, 1, 2], dilations=[2, 1, 1], pads=[1, 1, 0, 2, 1, 1], group=2)],
    {"x": video},
    {"w": weights(6, 2, 2, 3, 3)},
)
graph("conv_3d_same", [node("Conv", "x w", auto_pad="SAME_UPPER")], {"x": video}, {"w": weights(5, 4, 3, 2, 3)})
graph("max_pool_3d", [node("MaxPool", "x", kernel_shape=[2, 3, 2], strides=[2, 1, 2], pads=[1, 1, 0, 0, 1, 1])], {"x": video})
graph("max_pool_dilated", [node("MaxPool", "x", kernel_shape=[3, 2], strides=[2, 1], dilations=[2, 3], pads=[1, 0, 1, 0])], {"x": images})
graph("max_pool_dilated_3d", [node("MaxPool", "x", kernel_shape=[2, 2, 2], dilations=[2, 1, 3])], {"x": video})
graph("max_pool_plain", [node("MaxPool", "x", kernel_shape=[2, 2])], {"x": images})
graph("mean_pool_3d", [node("AveragePool", "x", kernel_shape=[3, 2, 2], strides=[1, 2, 1], pads=[1, 1, 0, 1, 0, 1])], {"x": video})
graph(
    "mean_pool_3d_padded",
    [node("AveragePool", "x", kernel_shape=[3, 2, 2], pads=[1, 1, 0, 1, 0, 1], count_include_pad=1)],
    {"x": video},
)
graph("selu", [node("Selu", "x")], {"x": rows})
graph("celu", [node("Celu", "x", alpha=0.7)], {"x": rows})
graph("thresholded_relu", [node("ThresholdedRelu", "x", alpha=0.3)], {"x": rows})
graph("mish", [node("Mish", "x")], {"x": rows}, opset=18)
graph("shrink", [node("Shrink", "x", lambd=0.4, bias=0.1)], {"x": rows})
graph("sign", [node("Sign", "x")], {"x": np.array([[-2.5, -0.0, 0.0, 3.0]], dtype=np.float32)})
graph("lrn", [node("LRN", "x", size=3, alpha=0.1, beta=0.6, bias=1.2)], {"x": images})
graph("lp_pool", [node("LpPool", "x", kernel_shape=[2, 3], strides=[2, 2], pads=[1, 1, 0, 1], p=3)], {"x": images})
graph("mean_variance", [node("MeanVarianceNormalization", "x")], {"x": images}, opset=13)
graph("group_norm", [node("GroupNormalization", "x s b", num_groups=2)], {"x": images}, {"s": weights(4), "b": weights(4)}, opset=21)
graph("space_to_depth", [node("SpaceToDepth", "x", blocksize=2)], {"x": weights(2, 3, 6, 4)})
graph("dropout", [node("Dropout", "x", "y mask", ratio=0.4)], {"x": rows}, opset=10)
graph("dropout_new", [node("Dropout", "x r")], {"x": rows}, {"r": np.float32(0.4)}, opset=13)
slopes = weights(4)
graph(
    "prelu_of_channels",
    [node("PRelu", "x s")],
    {"x": images},
    {"s": slopes},
    opset=6,
    reference=[np.where(images < 0, images * slopes[:, None, None], images)],
)
graph("softmax_of_all", [node("Softmax", "x")], {"x": images}, opset=11)
graph("log_softmax_inner", [node("LogSoftmax", "x", axis=2)], {"x": images}, opset=11)
bias = weights(4)
graph(
    "add_along_an_axis",
    [node("Add", "x b", broadcast=1, axis=1)],
    {"x": images},
    {"b": bias},
    opset=6,
    reference=[images + bias[:, None, None]],
)
mean, var, scale, shift = weights(4), np.abs(weights(4)), weights(4), weights(4)
normal = (images - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5) * scale[:, None, None] + shift[:, None, None]
graph(
    "batch_norm_of_old",
    [node("BatchNormalization", "x s b m v", "y m2 v2 m3 v3", is_test=1, consumed_inputs=[0, 0, 0, 1, 1])],
    {"x": images},
    {"s": scale, "b": shift, "m": mean, "v": var},
    opset=5,
    reference=[normal],
)
graph("split_evenly", [node("Split", "x", "a b", axis=1), node("Sub", "a b")], {"x": images}, opset=11)
graph(
    "resize_of_old",
    [node("Resize", "x s", mode="nearest")],
    {"x": images},
    {"s": np.array([1, 1, 2, 1.5], dtype=np.float32)},
    opset=10,
)
tokens = RNG.integers(0, 256, (2, 3, 6, 6)).astype(np.uint8)
graph(
    "quantized_with_a_border",
    [
        node("ConvInteger", "x w zx zw", "i", pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        node("Cast", "i", to=TensorProto.FLOAT),
    ],
    {"x": tokens},
    {"w": RNG.integers(0, 256, (4, 3, 3, 3)).astype(np.uint8), "zx": np.uint8(120), "zw": np.uint8(7)},
)
# A branch: graphs within graphs are rewritten, too, and see what is around them.
inner = helper.make_graph(
    [node("Conv", "x w", "t")], "then", [], [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)]
)
other = helper.make_graph([node("Selu", "x", "e")], "else", [], [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)])
graph(
    "branches",
    [node("If", "c", then_branch=inner, else_branch=other)],
    {"x": images},
    {"w": weights(3, 4, 3, 3), "c": np.array(True)},
)
state = weights(1, 2, 5), weights(1, 2, 5)
graph(
    "lstm_with_state",
    [helper.make_node("LSTM", ["x", "w", "r", "b", "", "h", "c"], ["all", "y", "cell"], hidden_size=5)],
    {"x": weights(4, 2, 3), "h": state[0], "c": state[1]},
    {"w": weights(1, 20, 3), "r": weights(1, 20, 5), "b": weights(1, 40)},
    outputs=("y", "cell"),
)

# What is refused: the runtime would compute something else, or cannot.
refused = {
    "refused_cubic": ([node("Resize", "x s", mode="cubic")], {"s": np.array([1, 1, 2, 2], dtype=np.float32)}, 10),
    "refused_indices": ([node("MaxPool", "x", "y i", kernel_shape=[2, 2])], {}, 17),
    "refused_same_lower": (
        [node("Conv", "x w", auto_pad="SAME_LOWER", strides=[2, 2], kernel_shape=[3, 3])],
        {"w": weights(2, 4, 3, 3)},
        17,
    ),
}
for name, (nodes, constants, opset) in refused.items():
    port = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None] * 4)
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    tensors = [numpy_helper.from_array(value, key) for key, value in constants.items()]
    whole = helper.make_graph(nodes, name, [port], [out], tensors)
    onnx.save(helper.make_model(whole, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), HERE / f"{name}.onnx")

# Fed as an encoder is: by rows, beside other arrays, numbers and states.
def encoder(name, nodes, inputs, outputs, constants=None):
    """A graph for the tests of encoders, which know what it gives."""
    ports = [helper.make_tensor_value_info(key, kind, shape) for key, (kind, shape) in inputs.items()]
    out = [helper.make_tensor_value_info(key, kind, None) for key, kind in outputs.items()]
    tensors = [numpy_helper.from_array(np.asarray(value), key) for key, value in (constants or {}).items()]
    whole = helper.make_graph(nodes, name, ports, out, tensors)
    onnx.save(helper.make_model(whole, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), HERE / f"encoder_{name}.onnx")


FLOAT = TensorProto.FLOAT
encoder(
    "of_two_inputs",
    [node("Cast", "k", "f", to=FLOAT), node("Add", "x f", "s"), node("Cast", "g", "h", to=FLOAT), node("Mul", "s h", "y")],
    {"x": (FLOAT, ["n", 3]), "k": (TensorProto.INT64, ["n", 1]), "g": (TensorProto.INT64, [])},
    {"y": FLOAT},
)
encoder(
    "with_a_state",
    [node("Add", "x state", "y"), node("Identity", "y", "next")],
    {"x": (FLOAT, ["n", 3]), "state": (FLOAT, ["n", 3])},
    {"y": FLOAT},
)
encoder("rows_second", [node("Transpose", "x", "y", perm=[1, 0, 2])], {"x": (FLOAT, ["n", 2, 3])}, {"y": FLOAT})
for kind in ["FLOAT16", "DOUBLE", "INT32", "INT64", "UINT8"]:
    code = getattr(TensorProto, kind)
    encoder(f"of_{kind.lower()}", [node("Cast", "x", "f", to=FLOAT), node("Neg", "f")], {"x": (code, ["n", 3])}, {"y": FLOAT})

np.savez_compressed(HERE / "graphs.npz", **STORED)
