#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A Hugging Face text encoder: encodes captions and label descriptions; the descriptions retrieve captions.
# Needs repscope only (on PATH, or REPSCOPE=path). TEXT_ENCODER=folder uses another model than the tiny one of golden/text.
set -euo pipefail
repscope=$(command -v "${REPSCOPE:-repscope}") || { echo "no repscope: put it on PATH or set REPSCOPE" >&2; exit 2; }
[[ $repscope == /* ]] || repscope=$PWD/$repscope
encoder=${TEXT_ENCODER:+$(cd "$TEXT_ENCODER" && pwd)}
cd "$(dirname "$0")"
encoder=${encoder:-../../golden/text/bert}
mkdir -p out
export REPSCOPE_CACHE=$PWD/out/cache

"$repscope" encode --encoder "$encoder" --input 'captions.jsonl#caption' --output out/text.npy
"$repscope" retrieval --text_embeddings out/text.npy --labels 'captions.jsonl#label' --use_prototypes \
    --metadata metadata.json --dataset_name flat --caption_style plain --text_encoder "$encoder" \
    --directions prototype2text text2text --k_values 1 3 6 --output out/flat.json --output-dir out/evaluation
"$repscope" retrieval --text_embeddings out/text.npy --labels 'captions.jsonl#label' --use_prototypes \
    --metadata metadata.json --dataset_name flat --caption_style multiple_desc --text_encoder "$encoder" \
    --directions prototype2text --k_values 1 3 6 --output-dir out/multiple --quiet
test -s out/flat.json
