# SPDX-License-Identifier: MIT
"""Types: the stubs say what the functions take."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import repscope

PACKAGE = Path(repscope.__file__).parent
SOURCE = Path(__file__).resolve().parents[1]


def test_the_stubs_are_those_that_the_metrics_declare():
    ran = subprocess.run([sys.executable, SOURCE / "stubs.py", "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_the_stubs_are_installed_and_name_every_function():
    assert (PACKAGE / "py.typed").exists()
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name in set(repscope.metrics()) - {"robustness", "etes"}:
        declared = [arg.arg for arg in functions[name].args.args + functions[name].args.kwonlyargs]
        parameters = inspect.signature(getattr(repscope, name)).parameters.values()
        assert declared == [p.name for p in parameters if p.kind is not p.VAR_KEYWORD], name
