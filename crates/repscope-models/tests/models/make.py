# SPDX-License-Identifier: MIT
"""Makes the small models of the tests, the rows that are fed to them, and what torch answers.

Needs torch, onnx, onnxscript and numpy. Run it in this folder: python make.py
"""
import pathlib

import numpy as np
import onnx
import torch
from torch import nn

torch.manual_seed(20240817)
torch.set_num_threads(1)
random = np.random.default_rng(7)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.Flatten()
        )
        self.z = nn.Linear(256, 8)
        self.p = nn.Linear(256, 5)

    def forward(self, x):
        y = self.body(x)
        return self.z(y), self.p(y)


class Tokens(nn.Module):
    """Takes channels last, gives one vector for each patch."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, 4)

    def forward(self, x):
        return self.patches(x.permute(0, 3, 1, 2)).flatten(2).transpose(1, 2)


class Determinant(nn.Module):
    def forward(self, x):
        return torch.linalg.det(x.reshape(-1, 3, 3)).unsqueeze(1)


def export(name, model, rows, outputs, dynamic=True, external=False):
    model.eval()
    dims = ({0: torch.export.Dim("batch")},) if dynamic else None
    sample = torch.from_numpy(rows[:8]).float()
    program = torch.onnx.export(
        model, (sample,), input_names=["x"], output_names=outputs, dynamic_shapes=dims, opset_version=18, dynamo=True, verbose=False
    )
    graph = program.model_proto
    del graph.metadata_props[:], graph.graph.metadata_props[:]
    for node in graph.graph.node:  # Where in the source each node came from: not needed, and it names folders.
        del node.metadata_props[:]
        node.doc_string = ""
    for value in [*graph.graph.value_info, *graph.graph.input, *graph.graph.output, *graph.graph.initializer]:
        del value.metadata_props[:]
    if external:
        pathlib.Path(f"{name}.onnx.data").unlink(missing_ok=True)
        onnx.save(graph, f"{name}.onnx", save_as_external_data=True, location=f"{name}.onnx.data", size_threshold=0)
    else:
        onnx.save(graph, f"{name}.onnx")
    with torch.no_grad():
        answers = model(torch.from_numpy(rows).float())
    answers = answers if isinstance(answers, tuple) else (answers,)
    for output, answer in zip(outputs, answers):
        np.save(f"{name}_{output}.npy", answer.numpy())


images = random.normal(size=(37, 3, 16, 16)).astype(np.float32)
vectors = random.normal(size=(37, 12)).astype(np.float32)
gray = random.integers(0, 256, size=(11, 16, 16), dtype=np.uint8)
np.save("images.npy", images)
np.save("vectors.npy", vectors)
np.save("gray.npy", gray)

two_heads = TwoHeads()
with torch.no_grad():  # Statistics that are not those of a fresh layer.
    two_heads.body[1].running_mean.uniform_(-0.5, 0.5)
    two_heads.body[1].running_var.uniform_(0.5, 2.0)
export("two_heads", two_heads, images, ["z", "p"])
mlp = nn.Sequential(nn.Linear(12, 64), nn.GELU(), nn.Linear(64, 96), nn.Tanh(), nn.Linear(96, 6))
export("mlp", mlp, vectors, ["z"])
scaled = (gray[:, None].astype(np.float32) / np.float32(255) - np.float32(0.5)) / np.float32(0.25)
fixed = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(2)).eval()
export("fixed_batch", fixed, scaled, ["z"], dynamic=False)
export("channels_last", Tokens(), np.ascontiguousarray(images.transpose(0, 2, 3, 1)), ["z"])
matrices = random.normal(size=(8, 9)).astype(np.float32)
np.save("matrices.npy", matrices)
export("determinant", Determinant(), matrices, ["z"])
export("apart", nn.Linear(12, 4), vectors, ["z"], external=True)
