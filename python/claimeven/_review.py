"""Reviews of games, move by move."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from claimeven import _native
from claimeven._native import Game


@dataclass(frozen=True)
class Choice:
    """The value of a column for the side to move."""

    column: int
    score: int
    value: str
    """The score in words."""
    exact: bool
    plies: int | None


@dataclass(frozen=True)
class MoveReview:
    """The review of a move."""

    column: int
    judgement: str
    """'best', 'good', 'only', 'slower-win', 'faster-loss', 'mistake', 'blunder' or 'unknown'."""
    choices: tuple[Choice, ...]

    @property
    def best(self) -> tuple[int, ...]:
        """The best columns among those whose value is known."""
        best = max((choice.score for choice in self.choices), default=None)
        return tuple(choice.column for choice in self.choices if choice.score == best)


@dataclass(frozen=True)
class PlayerReview:
    """A player's part of a review."""

    moves: int
    judged: int
    blunders: int
    mistakes: int
    slower_wins: int
    faster_losses: int
    only_moves: int
    accuracy: float | None
    """The share kept of the points that the player's moves could have given away; None if there was nothing to lose."""


@dataclass(frozen=True)
class Review:
    """The moves of a game judged by exact scores."""

    moves: tuple[MoveReview, ...]
    players: tuple[PlayerReview, PlayerReview]

    def __str__(self) -> str:
        lines = []
        for number, move in enumerate(self.moves, start=1):
            best = ", ".join(map(str, move.best))
            better = f" (best: {best})" if move.judgement in ("mistake", "blunder") else ""
            lines.append(f"{number:>3}. column {move.column}: {move.judgement}{better}")
        for name, player in zip("XO", self.players, strict=True):
            accuracy = "" if player.accuracy is None else f", accuracy {100 * player.accuracy:.0f} %"
            lines.append(f"{name}: {player.blunders} blunders, {player.mistakes} mistakes{accuracy}")
        return "\n".join(lines)


def review(game: Game | str, *, seconds: float = 3.0) -> Review:
    """Judges every move of a game; ``seconds`` is the time limit for each position.

    >>> import claimeven
    >>> review = claimeven.review('1221')
    >>> review.moves[0].judgement, review.moves[0].best
    ('blunder', (4,))
    """
    if isinstance(game, str):
        game = Game(game)
    found: dict[str, Any] = json.loads(_native.review(game, seconds))
    moves = tuple(
        MoveReview(
            column=move["column"],
            judgement=move["judgement"],
            choices=tuple(Choice(**choice) for choice in move["choices"]),
        )
        for move in found["moves"]
    )
    first, second = (PlayerReview(**player) for player in found["players"])
    return Review(moves, (first, second))
