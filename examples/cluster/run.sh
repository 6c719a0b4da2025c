#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two models in shards, evaluated by a Ray cluster on this machine; a second run takes everything from the folder of partials.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p out
"${PYTHON:-python3}" cluster.py out
