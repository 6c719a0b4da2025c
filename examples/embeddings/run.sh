#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Embeddings from NumPy, evaluated and compared. Needs repscope (on PATH, or REPSCOPE=path) and Python with NumPy (PYTHON=path).
set -euo pipefail
repscope=$(command -v "${REPSCOPE:-repscope}") || { echo "no repscope: put it on PATH or set REPSCOPE" >&2; exit 2; }
[[ $repscope == /* ]] || repscope=$PWD/$repscope
cd "$(dirname "$0")"

"${PYTHON:-python3}" make_embeddings.py out
"$repscope" check out/states.npy out/labels.npy out/pca.npy out/patches.npy
"$repscope" evaluate --states out/states.npy --labels out/labels.npy --model pca=out/pca.npy --model patches=out/patches.npy \
    --output-dir out/evaluation --skip smoothness --quiet
"$repscope" compare --states out/states.npy --labels out/labels.npy --model pca=out/pca.npy --model patches=out/patches.npy \
    --only neighborhood geometry --output-dir out/evaluation --quiet
test -s out/evaluation/report.html
