#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which ONNX graphs the built-in runtime runs, and how near it comes to ONNX Runtime.

    pip install onnx onnxruntime
    pip download --no-deps -d PACKAGES rapidocr ddddocr nudenet basic-pitch     # 115 MB, only looked into
    cargo build --release -p repscope-models --example run_graph
    benches/onnx_coverage.py --packages PACKAGES [--table docs/onnx_coverage.md]

Two sets: the converted-model tests of the package `onnx` (backend/test/data: pytorch-converted, pytorch-operator, simple) that take
numbers, compared with the outputs that are stored with them; and the graphs that the packages ship, fed with a drawn page
and compared with ONNX Runtime. A graph agrees if no value is off by more than 1e-5 of the largest value of the output.
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

TOLERANCE = 1e-5
onnxruntime.set_default_logger_severity(4)
KINDS = ["pytorch-converted", "pytorch-operator", "simple"]
ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(program, model, inputs):
    """The outputs of a graph, or what the runtime says."""
    with tempfile.TemporaryDirectory() as folder:
        words = []
        for at, (name, value) in enumerate(inputs.items()):
            path = f"{folder}/in{at}.npy"
            np.save(path, value)
            words.append(f"{name}={path}")
        ran = subprocess.run([program, model, folder, *words], capture_output=True, text=True)
        if ran.returncode:
            lines = ran.stderr.strip().splitlines()
            return None, lines[-1] if lines else f"ended with {ran.returncode}"
        files = sorted(pathlib.Path(folder).glob("[0-9]*.npy"), key=lambda path: int(path.stem))
        return [np.load(path) for path in files], ""


def difference(ours, theirs):
    """The largest difference over the largest value, or what else differs."""
    worst = 0.0
    for mine, other in zip(ours, theirs, strict=True):
        if mine.size != other.size:
            return f"shapes {mine.shape} and {other.shape}"
        if other.dtype.kind == "f" and mine.shape != other.shape:
            return f"shapes {mine.shape} and {other.shape}"
        if not other.size:
            continue
        mine, other = mine.reshape(other.shape).astype(np.float64), other.astype(np.float64)
        scale = max(np.abs(other).max(), 1e-12)
        worst = max(worst, float(np.abs(mine - other).max() / scale))
    return worst


def converted(program):
    """(kind, name, result) of each converted-model test that takes numbers."""
    data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    for kind in KINDS:
        for folder in sorted((data / kind).iterdir()):
            model = onnx.load(folder / "model.onnx")
            constants = {tensor.name for tensor in model.graph.initializer}
            inputs = [port for port in model.graph.input if port.name not in constants]
            kinds = [port.type.tensor_type.elem_type for port in inputs]
            if not kinds or any(kind in (onnx.TensorProto.UNDEFINED, onnx.TensorProto.STRING) for kind in kinds):
                continue  # lists and texts are no embeddings
            for data_set in sorted(folder.glob("test_data_set_*")):
                values = [numpy_helper.to_array(onnx.load_tensor(path)) for path in sorted(data_set.glob("input_*.pb"))]
                stored = [numpy_helper.to_array(onnx.load_tensor(path)) for path in sorted(data_set.glob("output_*.pb"))]
                ours, said = run(program, folder / "model.onnx", {port.name: value for port, value in zip(inputs, values)})
                result = said if ours is None else difference(ours, stored)
                yield kind, folder.name.removeprefix("test_"), result
                break


def page(sizes, rng):
    """Dark strokes on a bright page: detectors find nothing in noise, and then all they say is a rounding error."""
    usual = [1, 3, 64, 320]
    shape = [size if isinstance(size, int) else usual[at] for at, size in enumerate(sizes)]
    values = np.full(shape, 0.95, dtype=np.float32) - 0.05 * rng.random(shape, dtype=np.float32)
    if len(shape) < 4:  # a sound
        time = np.arange(values.size, dtype=np.float32).reshape(shape)
        values = np.sin(time * 0.0627) * 0.5 + np.sin(time * 0.188) * 0.3 + 0.02 * rng.standard_normal(shape)
        return values.astype(np.float32)
    if len(shape) == 4:
        last = [axis for axis in range(1, 4) if shape[axis] > 4]
        high, wide = shape[last[0]], shape[last[1]]
        strokes = np.zeros((high, wide), dtype=bool)
        for at in range(high // 6, wide - high // 6, max(4, high // 8)):
            top = high // 4 + int(rng.integers(0, high // 4))
            strokes[top : top + high // 3, at : at + max(2, high // 24)] = True
            if rng.random() < 0.6:
                strokes[top + high // 6 : top + high // 6 + max(2, high // 24), at : at + high // 8] = True
        values = np.where(strokes if last == [2, 3] else strokes[..., None], values * 0.05, values)
    return values


def shipped(program, packages):
    """(package, graph, result, what a change of the input in its 7th digit does to ONNX Runtime itself) of each graph in a wheel."""
    rng = np.random.default_rng(0)
    for wheel in sorted(pathlib.Path(packages).glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
            for name in archive.namelist():
                if not name.endswith(".onnx") or "backend/test" in name or "onnxruntime/" in name:
                    continue
                path = archive.extract(name, folder)
                session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
                fed = {port.name: page(port.shape, rng) for port in session.get_inputs()}
                theirs = session.run(None, fed)
                ours, said = run(program, path, fed)
                result = said if ours is None else difference(ours, theirs)
                moved = {key: (value * (1 + 3e-7 * rng.standard_normal(value.shape))).astype(np.float32) for key, value in fed.items()}
                own = difference(session.run(None, moved), theirs)
                yield wheel.name.split("-")[0], pathlib.PurePath(name).name, result, own


def agrees(result):
    return isinstance(result, float) and result <= TOLERANCE


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("--program", default=str(ROOT / "target" / "release" / "examples" / "run_graph"))
    words.add_argument("--packages", help="a folder of wheels")
    words.add_argument("--table", help="write the table of the documentation here")
    asked = words.parse_args()
    rows = [*converted(asked.program)]
    counts = collections.OrderedDict()
    for kind, _, result in rows:
        good, all_ = counts.get(kind, (0, 0))
        counts[kind] = (good + agrees(result), all_ + 1)
    real = list(shipped(asked.program, asked.packages)) if asked.packages else []
    for kind, name, result in [*rows, *(row[:3] for row in real)]:
        if not agrees(result):
            print(f"{kind}/{name}: {result}", file=sys.stderr)
    worst = max((result for _, _, result in rows if agrees(result)), default=0.0)
    good, all_ = (sum(count[at] for count in counts.values()) for at in (0, 1))
    lines = ["| tests of the package `onnx` | agree | of |", "|---|---:|---:|"]
    lines += [f"| {kind} | {a} | {b} |" for kind, (a, b) in counts.items()]
    lines += [f"| all | {good} | {all_} |", "", f"The largest difference among them: {worst:.1e} of the output's scale.", ""]
    lines += ["| package | graph | difference | of ONNX Runtime to itself |", "|---|---|---:|---:|"]
    for package, name, result, own in real:
        shown = f"{result:.1e}" if isinstance(result, float) else result
        lines.append(f"| {package} | `{name}` | {shown} | {own:.1e} |")
    text = "\n".join(lines) + "\n"
    print(text)
    if asked.table:
        path = pathlib.Path(asked.table)
        whole = path.read_text(encoding="utf-8")
        begin, end = "<!-- coverage -->\n", "<!-- end of coverage -->\n"
        before, rest = whole.split(begin)
        path.write_text(before + begin + text + end + rest.split(end)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
