# SPDX-License-Identifier: MIT
"""The example notebook runs, and what it shows is what comes out."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[3] / "examples" / "notebook" / "digits.ipynb"


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


def test_the_notebook_prints_what_it_shows():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict = {}
    compared = 0
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), names)
        shown = "".join("".join(out["text"]) for out in cell["outputs"] if out.get("name") == "stdout")
        # p-values far below anything that matters differ between processors.
        both = [[n for n in numbers(text) if abs(n) > 1e-4] for text in (shown, printed.getvalue())]
        assert both[1] == pytest.approx(both[0], rel=1e-2)
        compared += len(both[0])
    assert compared > 8
