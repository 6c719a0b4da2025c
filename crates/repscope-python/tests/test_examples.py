# SPDX-License-Identifier: MIT
"""The examples of the repository run, with the command and the Python of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NAMES = sorted(script.parent.name for script in EXAMPLES.glob("*/run.sh"))


def test_there_are_the_examples_that_the_index_names():
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert len(NAMES) >= 6
    for name in NAMES:
        assert f"]({name})" in index


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs(name, tmp_path):
    # In a copy, so that nothing is left in the repository; examples use each other's data.
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("out"))
    (tmp_path / "golden").symlink_to(EXAMPLES.parent / "golden")
    command = tmp_path / "repscope"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m repscope "$@"\n')
    command.chmod(0o755)
    environment = {
        **os.environ,
        "REPSCOPE": str(command),
        "PYTHON": sys.executable,
        "REPSCOPE_CACHE": str(tmp_path / "c"),
    }
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    ran = subprocess.run(
        ["bash", str(tmp_path / "examples" / name / "run.sh")],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert len(ran.stdout.splitlines()) > 5
    if name == "monitor":
        page = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
        shown = re.search(r"```text\n(.*?)```", page, re.DOTALL)
        assert shown, "the page shows no output"
        assert_alike(shown[1], ran.stdout)


def assert_alike(shown, printed):
    """The same words; numbers differ in the last digits only, as linear algebra does between machines."""
    number = r"-?\d+\.?\d*"
    assert re.sub(number, "#", shown).split() == re.sub(number, "#", printed).split()
    pairs = zip(re.findall(number, shown), re.findall(number, printed), strict=True)
    for on_page, now in pairs:
        assert float(on_page) == pytest.approx(float(now), rel=0.02, abs=0.011), (on_page, now)
