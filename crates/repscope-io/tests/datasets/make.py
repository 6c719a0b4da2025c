# SPDX-License-Identifier: MIT
"""Writes files of states with stop flags with PyTorch itself, as an agent's author saves them.

The state of channel c, step t, row h and column w is 1000 c + 10 t + 2 h + w, so the tests know what to expect. They
read the files without Python. Run `python make.py` only to add or change a file.
"""

import io
import pathlib
import sys
import types

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent


def states(channels, steps):
    c, t, h, w = np.ogrid[0:channels, 0:steps, 0:2, 0:2]
    return torch.from_numpy((1000 * c + 10 * t + 2 * h + w).astype("f4"))


def stops(steps):
    """An episode ends with every third state, and with the last."""
    return torch.tensor([t % 3 == 2 or t == steps - 1 for t in range(steps)])


class ExperienceDataset:
    def __init__(self, states, stops):
        self.sequence_length = 4
        self.states = states
        self.actions = torch.zeros(len(stops), dtype=torch.int32)
        self.stop_episodes = stops
        self.valid_start_indices = [0]


# A class in a module that only its author has.
for module in ["src", "src.data", "src.data.dataset"]:
    sys.modules[module] = types.ModuleType(module)
ExperienceDataset.__module__ = "src.data.dataset"
sys.modules["src.data.dataset"].ExperienceDataset = ExperienceDataset


def save(name, value, **options):
    """As torch.save, but the archive inside is not named after the file, so that bytes stay the same."""
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    (HERE / name).write_bytes(buffer.getvalue())


def parts(channels, train, val):
    make = lambda steps: ExperienceDataset(states(channels, steps), stops(steps))
    return {"train_dataset": make(train), "val_dataset": make(val), "metadata": {"environment_name": "ALE"}}


save("one_channel.pth", parts(1, 7, 5))
save("three_channels.pth", parts(3, 7, 5))
save("train_only.pth", {"train_dataset": parts(1, 7, 5)["train_dataset"]})
bare = {"states": states(2, 4).transpose(0, 1).contiguous(), "stop_episodes": stops(4)}
save("bare.pth", bare)
# Stored step by step and seen channel by channel.
save("view.pth", {"states": bare["states"].transpose(0, 1), "stop_episodes": stops(4)})
save("numpy.pth", {"states": states(2, 4).numpy(), "stop_episodes": stops(4).numpy()})
save("numbers.pth", {"states": states(1, 4).to(torch.uint8), "stop_episodes": stops(4).to(torch.int64)})
save("bad_flags.pth", {"states": states(1, 4), "stop_episodes": torch.tensor([0, 0, 1, 2])})
save("ambiguous.pth", {"states": states(4, 4), "stop_episodes": stops(4)})
save("unequal.pth", {"val_dataset": ExperienceDataset(states(1, 5), stops(6))})
save("two.pth", {name: {"states": states(1, 4), "stop_episodes": stops(4)} for name in ["a", "b"]})
save("vectors.pth", {"states": torch.zeros(4, 3), "stop_episodes": stops(4)})
(HERE / "versions.txt").write_text(f"torch {torch.__version__}\nnumpy {np.__version__}\n")
print(sum(path.stat().st_size for path in HERE.iterdir()), "bytes in all")
