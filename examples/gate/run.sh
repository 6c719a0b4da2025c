#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A gate for continuous integration, on four embeddings of examples/digits, with the exit code of each case.
# Needs repscope only (on PATH, or REPSCOPE=path).
set -euo pipefail
repscope=$(command -v "${REPSCOPE:-repscope}") || { echo "no repscope: put it on PATH or set REPSCOPE" >&2; exit 2; }
[[ $repscope == /* ]] || repscope=$PWD/$repscope
export REPSCOPE=$repscope
cd "$(dirname "$0")"
digits=../digits

expect() {
    local wanted=$1 got=0
    shift
    echo "\$ $*"
    "$@" || got=$?
    echo "exit code $got"
    echo
    [[ $got == "$wanted" ]] || { echo "expected exit code $wanted" >&2; exit 1; }
}

# On the main branch: store its scores.
"$repscope" evaluate --model encoder=$digits/pca16.npy --states $digits/states.npy --labels $digits/labels.npy \
    --only neighborhood geometry --output-dir out/main --no-figures --quiet >/dev/null

expect 0 ./gate.sh $digits/pca16.npy $digits/states.npy $digits/labels.npy out/same out/main/results.json
expect 1 ./gate.sh $digits/tanh16.npy $digits/states.npy $digits/labels.npy out/worse out/main/results.json
expect 1 ./gate.sh $digits/collapsed16.npy $digits/states.npy $digits/labels.npy out/collapsed
expect 2 ./gate.sh $digits/no_such_file.npy $digits/states.npy $digits/labels.npy out/missing
