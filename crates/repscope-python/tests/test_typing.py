# SPDX-License-Identifier: MIT
"""Types: every public function shows its parameters, the stubs are those signatures, and a user's script type-checks."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
import types
import typing
from pathlib import Path

import pytest
import repscope
from repscope import _signatures

PACKAGE = Path(repscope.__file__).parent
SOURCE = Path(__file__).resolve().parents[1]
STUBS = sorted(PACKAGE.glob("*.pyi"))
#: Signatures of other libraries, which are theirs: scikit-learn passes on what its metrics take.
THEIRS = {
    "repscope.compat.sklearn.silhouette_score",
    "repscope.compat.skdim.TwoNN.set_params",
    "repscope.sklearn.scorer",  # as make_scorer
    "repscope.transformers.EmbeddingCallback.on_step_end",
}


def modules() -> list[types.ModuleType]:
    """The public modules of the package."""
    names = [found.name for found in pkgutil.walk_packages(repscope.__path__, "repscope.")]
    public = [name for name in names if not any(part.startswith("_") for part in name.split("."))]
    return [repscope, *(importlib.import_module(name) for name in public)]


def callables() -> dict[str, typing.Any]:
    """Every public function and method, by its full name. Exceptions take what Python's own take."""
    found = {}
    for module in modules():
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            full = f"{module.__name__}.{name}"
            if inspect.isclass(value) and issubclass(value, BaseException):
                continue
            if inspect.isclass(value):
                found[full] = value
                for own, method in vars(value).items():
                    method = method.fget if isinstance(method, property) else getattr(method, "__func__", method)
                    if inspect.isfunction(method) and (own in ("__init__", "__call__") or not own.startswith("_")):
                        found[f"{full}.{own}"] = method
            elif callable(value):
                found[full] = value
    return found


CALLABLES = callables()


def test_there_are_many_public_callables():
    assert len(CALLABLES) > 100
    for name in ("repscope.two_nn", "repscope.etes", "repscope.Monitor.__init__", "repscope.Results.to_pandas",
                 "repscope.retrieval.compute_label_recall_at_k", "repscope.etes.ETESEvaluator.__init__",
                 "repscope.compat.sklearn.trustworthiness"):  # fmt: skip
        assert name in CALLABLES


@pytest.mark.parametrize("name", CALLABLES)
def test_a_signature_shows_real_parameters_and_types(name):
    value = CALLABLES[name]
    form = inspect.signature(value)
    parameters = [own for own in form.parameters.values() if own.name not in ("self", "cls")]
    if name not in THEIRS:
        assert not [own.name for own in parameters if own.kind in (own.VAR_POSITIONAL, own.VAR_KEYWORD)]
    assert not [own.name for own in parameters if own.annotation is own.empty]
    if not inspect.isclass(value):
        assert form.return_annotation not in (form.empty, "Any", typing.Any)
    if not inspect.ismodule(value) and not inspect.isclass(value):
        kinds = typing.get_type_hints(value)
        assert set(kinds) >= {own.name for own in parameters} | {"return"}
        assert kinds["return"] is not typing.Any


def test_arguments_that_a_signature_shows_are_taken(digits):
    for name in ("two_nn", "evaluate", "weighted_clid"):
        form = inspect.signature(getattr(repscope, name))
        assert {"seed", "level", "memory", "threads", "progress"} <= set(form.parameters), name
    run = repscope.evaluate(digits.pca[:100], only="manifold", seed=3, level=0.9, pool="mean", memory="1G")
    assert run.to_dict()["spec"]["seed"] == 3 and run["model", "two_nn"].level == 0.9


#: Options that are arguments under another name, or that belong to the calls of single analyses.
ELSEWHERE = {
    "evaluate": {"model", "replicates"},
    "compare": {"model", "replicates"},
    "robustness": {"model", "replicates", "clean", "noisy"},
    "encode": {"input"},
    "retrieval": {"no_normalize"},
    "clid": {"model", "replicates"},
}


@pytest.mark.parametrize("command", ELSEWHERE)
def test_every_declared_option_is_an_argument(command):
    functions = {"retrieval": repscope.retrieval.compute_label_recall_at_k, "clid": repscope.weighted_clid}
    form = inspect.signature(functions.get(command) or getattr(repscope, command))
    assert set(_signatures.options(command)) - set(form.parameters) == ELSEWHERE[command]


def test_the_stubs_are_the_signatures():
    ran = subprocess.run([sys.executable, SOURCE / "stubs.py", "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.name)
def test_no_stub_returns_anything_or_takes_anything(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            assert node.args.vararg is None and node.args.kwarg is None, node.name
            assert node.returns is not None and ast.unparse(node.returns) != "Any", node.name


def test_the_stubs_are_installed_and_name_every_function():
    assert (PACKAGE / "py.typed").exists()
    assert [path.name for path in STUBS] == [
        "__init__.pyi",
        "_repscope.pyi",
        "etes.pyi",
        "monitor.pyi",
        "retrieval.pyi",
    ]
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for name in repscope.metrics():
        own = functions["__call__" if name == "etes" else name].args
        declared = [arg.arg for arg in own.args + own.kwonlyargs if arg.arg != "self"]
        assert declared == list(inspect.signature(getattr(repscope, name)).parameters), name


def test_a_script_passes_mypy_and_runs(tmp_path):
    script = Path(__file__).parent / "typed" / "user.py"
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, script]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_mypy_sees_the_types(tmp_path):
    # Were the package untyped to mypy, every script would pass.
    wrong = {
        "repscope.two_nn(3)": "Argument 1",
        "repscope.two_nn([[1.0]], discrad=0.2)": "Unexpected keyword argument",
        "repscope.evaluate([[1.0]], only='geometri')": 'Argument "only"',
        "repscope.Monitor(['two_nn'], discard='x')": 'Argument "discard"',
        "repscope.etes([[1.0]], [[1.0]], permutations='x')": 'Argument "permutations"',
    }
    (tmp_path / "wrong.py").write_text("import repscope\n" + "\n".join(wrong) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, "wrong.py"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    lines = [line for line in ran.stdout.splitlines() if ": error:" in line]
    assert len(lines) == len(wrong), ran.stdout
    for line, expected in zip(lines, wrong.values()):
        assert expected in line
