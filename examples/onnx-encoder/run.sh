#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two ONNX encoders on the frames of a small world. Needs repscope only (on PATH, or REPSCOPE=path).
set -euo pipefail
repscope=$(command -v "${REPSCOPE:-repscope}") || { echo "no repscope: put it on PATH or set REPSCOPE" >&2; exit 2; }
[[ $repscope == /* ]] || repscope=$PWD/$repscope
cd "$(dirname "$0")"
mkdir -p out
export REPSCOPE_CACHE=$PWD/out/cache

"$repscope" encode --encoder trained.onnx --input frames.npy --scale 255 --output out/trained.npy --quiet
"$repscope" check out/trained.npy
"$repscope" evaluate --states frames.npy --episodes episodes.npy --model trained.onnx --model random.onnx --scale 255 \
    --only robustness neighborhood manifold --set robustness.noise=5,25,50 --set robustness.draws=3 \
    --output-dir out/evaluation --quiet
test -s out/trained.npy
test -s out/evaluation/report.html
