# SPDX-License-Identifier: MIT
"""The repscope command, as the package installs it."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs the command on the words behind it."""
    from . import _repscope

    # Ctrl-C ends the command at once, as it does the binary.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _repscope.main(["repscope", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
