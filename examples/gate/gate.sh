#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The check, as called by a build:  gate.sh EMBEDDINGS STATES LABELS OUT [BASELINE]
# Exit code 0: all limits are met; 1: a limit is not met or a score dropped; 2: the check itself is wrong.
set -euo pipefail
codes=$1 states=$2 labels=$3 out=$4 baseline=${5:-}

# Absolute limits, for the whole interval.
limits=(--gate 'trustworthiness@10>=0.98' --gate 'knn_accuracy@5>=0.9' --gate-on interval)
# Maximum drop below the main branch, in the units of the metric. Numbers differ slightly between runs of a training, so
# allow the variation of a rerun, and no more.
if [[ -n $baseline ]]; then
    limits+=(--baseline "$baseline" --max-drop trustworthiness@10=0.005 --max-drop knn_accuracy@5=0.01 --max-drop uniformity=0.1)
fi
exec "${REPSCOPE:-repscope}" compare --model encoder="$codes" --states "$states" --labels "$labels" \
    --only neighborhood geometry "${limits[@]}" --output-dir "$out" --no-figures --quiet
