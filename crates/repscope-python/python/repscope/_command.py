# SPDX-License-Identifier: MIT
"""Entry point of the repscope command."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs the command with the arguments of the process."""
    from . import _repscope

    # Ctrl-C stops the command immediately, like the binary.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = [sys.executable, "-m", "repscope._command"]
    return _repscope.main(["repscope", *sys.argv[1:]], program)


if __name__ == "__main__":
    sys.exit(main())
