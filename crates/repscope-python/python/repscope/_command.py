# SPDX-License-Identifier: MIT
"""Entry point of the repscope command."""

from __future__ import annotations

import signal
import sys
from typing import Any


def main() -> int:
    """Runs the command with the arguments of the process."""
    from . import _repscope

    # Ctrl-C stops the command immediately, like the binary.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = [sys.executable, "-m", "repscope._command"]
    return _repscope.main(["repscope", *sys.argv[1:]], program, _connect)


def _connect(address: str, memory: int | None, partials: str | None) -> Any:
    """Reaches a cluster for `--cluster`; Ray is imported only here."""
    from .cluster import Ray
    from .cluster._stages import Stages

    return Stages(Ray(address), memory, None if partials is None else str(partials))


if __name__ == "__main__":
    sys.exit(main())
