#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A monitor in a training loop. Needs Python with NumPy and repscope (`pip install .` in the repository; PYTHON=path).
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p out
"${PYTHON:-python3}" train.py out/scores.csv
test -s out/scores.csv
