# SPDX-License-Identifier: MIT
"""Writes the files beside this script with PyTorch itself, and what they hold into `expected.safetensors`.

The tests read them without Python. Run `python make.py` only to add or change a file, with the versions
that are named in `versions.txt`.
"""

import argparse
import io
import os
import pathlib
import pickle
import sys
import types
import warnings
import zipfile

import numpy as np
import safetensors.numpy
import safetensors.torch
import torch
from torch import nn

HERE = pathlib.Path(__file__).parent
EXPECTED = {}

# The container of before PyTorch 1.6. It names blocks by their address, so these files differ each time.
OLD = {"_use_new_zipfile_serialization": False}

warnings.filterwarnings("ignore")
torch.manual_seed(20)


def save(name, value, **options):
    """As torch.save, but the archive inside is not named after the file, so that bytes stay the same."""
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    (HERE / name).write_bytes(buffer.getvalue())


def expect(file, tensors):
    for key, tensor in tensors.items():
        array = tensor.detach()
        if array.dtype in (torch.bfloat16, torch.float16):
            array = array.float()
        EXPECTED[f"{file}#{key}"] = np.atleast_1d(array.numpy().copy())


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_layers = nn.ModuleList([nn.Conv2d(1, 2, 3)])
        self.norm = nn.BatchNorm2d(2)
        self.fc = nn.Linear(2, 3)


def move(kind, module):
    """Puts a class into a module that only its author has."""
    for part in [module[:i] for i, c in enumerate(module + ".") if c == "."]:
        sys.modules.setdefault(part, types.ModuleType(part))
    kind.__module__ = module
    kind.__qualname__ = kind.__name__
    setattr(sys.modules[module], kind.__name__, kind)
    return kind


def state_dicts():
    encoder = Encoder()
    state = encoder.state_dict()
    save("state_dict.pth", state)
    expect("state_dict.pth", state)
    save("old_state_dict.pth", state, **OLD)
    safetensors.torch.save_file({f"module.{k}": v for k, v in state.items()}, HERE / "module.safetensors")
    (HERE / "module.safetensors").chmod(0o644)
    predictor = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(predictor.parameters())
    predictor(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    checkpoint = {
        "epoch": 3,
        "encoder_state_dict": state,
        "predictor_state_dict": predictor.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "losses": {"train_loss": 0.25, "val_loss": [0.5, 0.375]},
        "config": argparse.Namespace(latent_dim=64, conv_channels=[32, 64], path=pathlib.PurePosixPath("runs/a")),
    }
    save("checkpoint.pth", checkpoint)
    expect("checkpoint.pth", {f"predictor_state_dict.{k}": v for k, v in predictor.state_dict().items()})
    expect("checkpoint.pth", {"optimizer_state_dict.state.0.exp_avg": optimizer.state_dict()["state"][0]["exp_avg"]})
    move(Encoder, "src.models.encoder")
    save("model.pt", encoder)


def trainers():
    linear = nn.Linear(2, 2).state_dict()
    Callback = move(type("ModelCheckpoint", (), {}), "lightning.pytorch.callbacks")
    callback = Callback()
    callback.best_model_score = torch.tensor(0.5)
    save(
        "lightning.ckpt",
        {
            "epoch": 1,
            "global_step": 20,
            "pytorch-lightning_version": "2.5.0",
            "state_dict": {f"model.{k}": v for k, v in linear.items()},
            "callbacks": {"checkpoint": callback},
            "optimizer_states": [{"state": {0: {"exp_avg": torch.zeros(2)}}}],
            "hyper_parameters": {"lr": np.float64(1e-3), "shape": (3, 4), "seen": {7}},
            "generator": np.random.PCG64(3).state,
        },
    )
    expect("lightning.ckpt", {f"state_dict.model.{k}": v for k, v in linear.items()})
    moco = {f"module.encoder_{side}.{k}": v for side in "qk" for k, v in linear.items()}
    save("moco.pth.tar", {"state_dict": {**moco, "module.queue": torch.ones(2, 3)}, "best_acc1": torch.tensor(71.5)})
    expect("moco.pth.tar", {f"state_dict.module.encoder_q.{k}": v for k, v in linear.items()})


def kinds():
    matrix = torch.arange(12).reshape(4, 3) * 1.5 - 3
    whole = torch.tensor([-2, 0, 1, 100])
    block = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    tensors = {
        "f16": matrix.half(),
        "bf16": matrix.bfloat16(),
        "f32": matrix,
        "f64": matrix.double(),
        "i8": whole.to(torch.int8),
        "i16": whole.to(torch.int16),
        "i32": whole.to(torch.int32),
        "i64": whole - 2**60,
        "u8": (whole + 2).to(torch.uint8),
        "u16": (whole + 2).to(torch.uint16),
        "bool": whole > 0,
        "scalar": torch.tensor(2.5),
        "empty": torch.zeros(0, 3),
        "transposed": matrix.T,
        "permuted": block.permute(2, 0, 1),
        "slice": block[:, 1, 1:3],
        "steps": block.flatten()[5:20:4],
        "row": matrix[2],
        "expanded": matrix[1:2].expand(3, 3),
        "parameter": nn.Parameter(matrix[:2]),
        "shared": block,
        "one_by_many": torch.as_strided(matrix, (1, 3), (7, 1)),
    }
    refused = {
        "complex": torch.tensor([1 + 2j]),
        "sparse": torch.eye(2).to_sparse(),
        "quantised": torch.quantize_per_tensor(torch.tensor([1.0, 2.0]), 0.5, 0, torch.quint8),
        "float8": torch.ones(2).to(torch.float8_e5m2),
    }
    save("kinds.pt", {**tensors, **refused})
    save("old_kinds.pt", {**tensors, **refused}, **OLD)
    expect("kinds.pt", tensors)
    save("protocol_5.pt", {"a": matrix, "b": {"c": [whole, (matrix.T,)]}}, pickle_protocol=5)
    expect("protocol_5.pt", {"a": matrix, "b.c.0": whole, "b.c.1.0": matrix.T})
    save("tensor.pt", matrix, **OLD)
    expect("tensor.pt", {"": matrix})
    save("refused.pt", {"sparse": refused["sparse"]}, **OLD)
    save("no_tensor.pt", {"epoch": 3, "config": {"lr": 0.1, "layers": list(range(20))}, "note": "a\x1b[2J"}, **OLD)


def datasets():
    Dataset = move(type("ExperienceDataset", (), {}), "src.data.dataset")

    def dataset(start, count):
        made = Dataset()
        made.sequence_length = 4
        made.states = torch.arange(start, start + count * 4, dtype=torch.float32).reshape(1, count, 2, 2)
        made.actions = torch.arange(count, dtype=torch.int32)
        made.stop_episodes = torch.arange(count) == count - 1
        made.valid_start_indices = list(range(count - 1))
        return made

    value = {"train_dataset": dataset(0, 5), "val_dataset": dataset(100, 3), "metadata": {"environment_name": "ALE"}}
    save("dataset.pth", value)
    for part in ["train_dataset", "val_dataset"]:
        expect("dataset.pth", {f"{part}.{k}": getattr(value[part], k) for k in ["states", "actions", "stop_episodes"]})
    arrays = {"latent": np.arange(6.0).reshape(2, 3), "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
              "names": np.array(["a", "ü"]), "none": np.zeros((0, 2), "f4"), "labels": ["cat", "dog"]}
    save("numpy.pt", arrays)
    for protocol in [2, 4, 5]:
        (HERE / f"pickle_{protocol}.bin").write_bytes(pickle.dumps(arrays, protocol=protocol))
    for key in ["latent", "columns", "none"]:
        EXPECTED[f"numpy.pt#{key}"] = np.ascontiguousarray(arrays[key])


def rewrite(name, change, method=zipfile.ZIP_STORED):
    """A small file with members changed. A ZipInfo has a fixed date."""
    buffer = io.BytesIO()
    torch.save({"w": torch.tensor([1.5, -2.0, 3.25]), "n": torch.tensor([7, 2**40])}, buffer)
    source = zipfile.ZipFile(buffer)
    with zipfile.ZipFile(HERE / name, "w", method) as target:
        for info in source.infolist():
            changed = change(info.filename, source.read(info))
            if changed is not None:
                target.writestr(zipfile.ZipInfo(info.filename), changed, method)


def containers():
    def big(name, data):
        if name.endswith("/byteorder"):
            return b"big"
        width = {"0": 4, "1": 8}.get(name.rpartition("/data/")[2], len(data))
        parts = [data[i : i + width] for i in range(0, len(data), width)]
        return b"".join(part[::-1] if "/data/" in name else part for part in parts)

    rewrite("big_endian.pth", big)
    loaded = torch.load(HERE / "big_endian.pth")
    assert loaded["w"].tolist() == [1.5, -2.0, 3.25] and loaded["n"].tolist() == [7, 2**40]
    rewrite("packed.pth", lambda _, data: data, zipfile.ZIP_DEFLATED)

    def harm(name, data):
        """The first block is too short, the second is missing."""
        if name.endswith("/data/1"):
            return None
        return data[:5] if name.endswith("/data/0") else data

    rewrite("bad_blocks.pth", harm)
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(nn.Linear(1, 1)), buffer)
    (HERE / "scripted.pt").write_bytes(buffer.getvalue())
    with zipfile.ZipFile(HERE / "wrapped.pth", "w") as archive:
        archive.writestr(zipfile.ZipInfo("checkpoint_0100.pth.tar"), b"x")


def evil():
    class Evil:
        def __reduce__(self):
            return os.system, ("touch repscope-torch-was-here",)

    class Eval:
        def __reduce__(self):
            return eval, ("open('repscope-torch-was-here', 'w')",)

    save("evil_zip.pth", {"state_dict": {"w": torch.ones(1)}, "config": Evil()})
    save("evil_old.pth", {"w": torch.ones(1), "config": Evil()}, **OLD)
    (HERE / "evil_bare.pth").write_bytes(pickle.dumps(Evil()))
    (HERE / "evil_eval.bin").write_bytes(pickle.dumps(Eval(), protocol=2))


for write in [state_dicts, trainers, kinds, datasets, containers, evil]:
    write()
safetensors.numpy.save_file(EXPECTED, HERE / "expected.safetensors")
(HERE / "expected.safetensors").chmod(0o644)
(HERE / "versions.txt").write_text(f"torch {torch.__version__}\nnumpy {np.__version__}\n")
print(sum(path.stat().st_size for path in HERE.iterdir()), "bytes in all")
