# SPDX-License-Identifier: MIT
"""Metrics during training."""


class Monitor:
    """To be written."""
