# SPDX-License-Identifier: MIT
"""ETES, the signal-text energy score of document 004.

``from repscope.etes import ETESEvaluator`` is the evaluator of the document; ``repscope.etes(signal, generated)`` is the
metric on embeddings. Energies are negative cosines: lower is better.
"""

from __future__ import annotations
