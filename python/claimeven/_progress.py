"""Progress of long work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

Progress = bool | Callable[[int, int], object] | None
"""False or None for nothing, True for a bar on standard error, or a function of (done, total)."""


def callback(progress: Progress, what: str) -> Callable[[int, int], object] | None:
    """The function that native code calls several times a second."""
    if callable(progress):
        return progress
    return Bar(what) if progress else None


class Bar:
    """A progress bar on standard error, with the speed and the remaining time."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.start = time.monotonic()
        self.shown = 0.0
        self.is_finished = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        is_end = done >= total
        if self.is_finished or (now - self.shown < 0.1 and not is_end):
            return
        self.shown = now
        self.is_finished = is_end
        seconds = max(now - self.start, 1e-9)
        share = done / total if total else 1.0
        filled = round(30 * share)
        left = seconds / share - seconds if share > 0 else 0.0
        line = (
            f"\r{self.what} [{'#' * filled}{'.' * (30 - filled)}] {done}/{total} "
            f"{done / seconds:,.0f}/s, {seconds:.0f} s, {left:.0f} s left "
        )
        sys.stderr.write(line + ("\n" if is_end else ""))
        sys.stderr.flush()
