#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The check itself, as a build would call it:  gate.sh CODES STATES LABELS OUT [BASELINE]
# Exit code 0: all is well; 1: the codes broke a limit or dropped; 2: something is wrong with the check.
set -euo pipefail
codes=$1 states=$2 labels=$3 out=$4 baseline=${5:-}

# What must hold whatever was there before, with all of its interval.
limits=(--gate 'trustworthiness@10>=0.98' --gate 'knn_accuracy@5>=0.9' --gate-on interval)
# What must not get worse than on the main branch, each in its own units. Numbers differ a little between runs of a
# training, so allow what a rerun of the same training does, and no more.
if [[ -n $baseline ]]; then
    limits+=(--baseline "$baseline" --max-drop trustworthiness@10=0.005 --max-drop knn_accuracy@5=0.01 --max-drop uniformity=0.1)
fi
exec "${REPSCOPE:-repscope}" compare --model encoder="$codes" --states "$states" --labels "$labels" \
    --only neighborhood geometry "${limits[@]}" --output-dir "$out" --no-figures --quiet
