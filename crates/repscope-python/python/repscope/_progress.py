# SPDX-License-Identifier: MIT
"""A progress bar for long calls: a line in a terminal, an HTML element in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

#: Seconds before the bar appears.
_PATIENCE = 0.7
_WIDTH = 30


class Bar:
    """Progress callback: call it with the stage, the number of finished steps and the total."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._stage = ("", self._began)
        self._display: Any = None
        self._is_shown = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage[0]:
            self._stage = (stage, now)
        if now - self._began < _PATIENCE or not stage:
            return
        share = done / total if total else 0.0
        passed = now - self._stage[1]
        left = f"{passed / share - passed:.0f} s left" if share > 0.02 else ""
        self._draw(stage, share, left)

    def close(self) -> None:
        """Removes the bar."""
        if not self._is_shown:
            return
        self._is_shown = False
        if self._display is not None:
            self._display.update(_raw_html(""))
        else:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def _draw(self, stage: str, share: float, left: str) -> None:
        self._is_shown = True
        if self._display is not None:
            self._display.update(_raw_html(_element(stage, share, left)))
        elif in_notebook():
            from IPython.display import display

            self._display = display(_raw_html(_element(stage, share, left)), display_id=True)
        else:
            full = round(share * _WIDTH)
            bar = "━" * full + "─" * (_WIDTH - full)
            sys.stderr.write(f"\r\033[K{stage} {bar} {share:4.0%}  {left}")
            sys.stderr.flush()


def bar(progress: bool | None) -> Bar | None:
    """A bar if `progress` is True, or if it is None and output is interactive."""
    if progress is None:
        progress = in_notebook() or bool(getattr(sys.stderr, "isatty", lambda: False)())
    return Bar() if progress else None


def in_notebook() -> bool:
    """Whether output is shown in a notebook."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    own = shell.get_ipython()
    return own is not None and type(own).__name__ == "ZMQInteractiveShell"


def _element(stage: str, share: float, left: str) -> str:
    from html import escape

    return (
        f'<div style="font-family:sans-serif;font-size:90%">{escape(stage)} '
        f'<progress value="{share:.4f}" max="1" style="width:20em;vertical-align:middle"></progress> '
        f"{share:.0%} {left}</div>"
    )


def _raw_html(text: str) -> Any:
    from IPython.display import HTML

    return HTML(text)
