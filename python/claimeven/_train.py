"""Training of networks by self-play."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from claimeven import _native
from claimeven._native import Network

if TYPE_CHECKING:
    import os

    from claimeven._native import Setup


@dataclass(frozen=True)
class TrainingEvent:
    """An event of a training run."""

    stage: str
    """'exam' (being prepared), 'self-play', 'played', 'learning', 'testing' or 'done' (with an iteration)."""
    iteration: int | None
    done: int | None
    of: int | None
    metrics: Mapping[str, Any] | None
    """The figures of a finished iteration: losses, games, the results of gate and exam."""


def train(
    folder: str | os.PathLike[str],
    *,
    iterations: int | None = None,
    minutes: float | None = None,
    preset: str = "10min",
    parameters: Mapping[str, float | str] | None = None,
    setup: Setup | None = None,
    resume: bool = False,
    threads: int | None = None,
    progress: Callable[[TrainingEvent], object] | None = None,
) -> Network:
    """Trains a network by self-play (AlphaZero) in its own folder and returns the best one.

    The run ends after ``iterations`` or ``minutes``, earlier sessions included; Ctrl-C leaves it at the last finished
    iteration, from which ``resume=True`` continues. ``parameters`` overrides those of the preset, for example
    ``{'architecture.channels': 16, 'self_play.games': 100}``. ``progress`` is called with events.
    """
    if iterations is None and minutes is None:
        raise ValueError("specify when to stop: iterations or minutes")

    def report(text: str) -> None:
        if progress is not None:
            event: dict[str, Any] = json.loads(text)
            none: dict[str, Any] = dict.fromkeys(("iteration", "done", "of", "metrics"))
            progress(TrainingEvent(**(none | event)))

    given = [(name, str(value)) for name, value in (parameters or {}).items()]
    seconds = None if minutes is None else 60 * minutes
    _native.train(
        folder, preset, given, setup, iterations, seconds, resume, threads, report if progress else None
    )
    return Network.load(folder)
