#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A perturbation study from stored predictions: repscope masks, your own classifier predicts, repscope scores.
# Needs repscope (on PATH, or REPSCOPE=path) and Python with NumPy and Pillow (PYTHON=path).
set -euo pipefail
repscope=$(command -v "${REPSCOPE:-repscope}") || { echo "no repscope: put it on PATH or set REPSCOPE" >&2; exit 2; }
[[ $repscope == /* ]] || repscope=$PWD/$repscope
cd "$(dirname "$0")"
rm -rf out

"${PYTHON:-python3}" classifier.py images out
"$repscope" perturb generate --source out/images --output out/masked --percents 5 10 20 40 --kinds top bottom random
"${PYTHON:-python3}" classifier.py predict out
"$repscope" perturb evaluate --predictions out/predictions --name centroid --percents 5 10 20 40 --output-dir out/evaluation
test -s out/evaluation/perturbation_analysis/pis_summary.json
