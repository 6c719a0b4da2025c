# SPDX-License-Identifier: MIT
"""Data that several tests read: handwritten digits that come with the repository."""

from __future__ import annotations

import signal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

# A shell ignores Ctrl-C for what it starts in the background, and tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"


@pytest.fixture(scope="session")
def digits() -> SimpleNamespace:
    """States, two models' codes, labels and episodes of 600 handwritten digits."""
    names = {"states": "states", "pca": "pca16", "noise": "noise16", "labels": "labels", "episodes": "episodes"}
    return SimpleNamespace(**{name: np.load(DIGITS / f"{file}.npy")[:600] for name, file in names.items()})


@pytest.fixture(scope="session")
def folder() -> Path:
    """Where the digits are."""
    return DIGITS
