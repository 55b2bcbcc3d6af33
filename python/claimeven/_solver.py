"""The solver with its batches as NumPy arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from claimeven import _native
from claimeven._progress import Progress, callback

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from claimeven._native import Position, Setup

    Boards = NDArray[np.uint8] | NDArray[np.int8] | Iterable[str | Position]


def repeatable(boards: Boards) -> Boards:
    """Boards that can be read several times, unlike those of an iterator."""
    return boards if hasattr(boards, "__len__") else list(boards)


@dataclass(frozen=True)
class Analysis:
    """The analysis of a position by exact scores."""

    score: int
    """The score of the position."""
    text: str
    """The score in words: 'wins in 3'."""
    scores: tuple[int | None, ...]
    """The score of every column, from the left; None if it is not a legal move."""
    best: tuple[int, ...]
    """The best columns, from 1."""
    pv: str
    """The principal variation to the end of the game."""

    def __str__(self) -> str:
        columns = " ".join("." if score is None else str(score) for score in self.scores)
        best = ", ".join(map(str, self.best))
        return f"{self.text}; best: {best}; columns: {columns}; pv: {self.pv}"


class Solver(_native.Solver):
    __doc__ = _native.Solver.__doc__
    __slots__ = ()

    def analyze(self, position: Position | str) -> Analysis:
        """The scores of a position and of its columns, the best moves and the principal variation.

        >>> from claimeven import Solver
        >>> print(Solver().analyze('4455'))
        wins in 2; best: 3, 6; columns: -4 -3 18 2 2 18 -3; pv: 342
        """
        scores = self.scores(position)
        legal = [score for score in scores if score is not None]
        best = max(legal, default=None)
        return Analysis(
            score=self.score(position) if best is None else best,
            text=self.describe(position),
            scores=tuple(scores),
            best=tuple(
                column
                for column, score in enumerate(scores, start=1)
                if score is not None and score == best
            ),
            pv=self.principal_variation(position),
        )

    def best_line(self, position: Position | str) -> str:
        """Best play from a position to the end of the game, as moves: another name of ``principal_variation``.

        >>> from claimeven import Solver
        >>> Solver().best_line('4455')
        '342'
        """
        return self.principal_variation(position)

    def score_batch(
        self, boards: Boards, setup: Setup | None = None, *, progress: Progress = None
    ) -> NDArray[np.int8]:
        """The exact score of every board, as an int8 array of shape (n,), on all cores.

        ``boards`` is a uint8 array of shape (n, rows, cols), or positions and move texts. ``progress=True`` shows a bar.

        >>> from claimeven import Solver
        >>> Solver().score_batch(['', '4', '4455'])
        array([ 1, -1, 18], dtype=int8)
        """
        return self._score_batch(boards, setup, callback(progress, "solved"))

    def scores_batch(
        self, boards: Boards, setup: Setup | None = None, *, progress: Progress = None
    ) -> np.ma.MaskedArray[Any, np.dtype[np.int8]]:
        """The exact score of every column of every board, as a masked int8 array of shape (n, cols).

        Columns that are not legal moves are masked (their value is -128), so that ``argmax(axis=1)`` is a best move.

        >>> from claimeven import Solver
        >>> Solver().scores_batch(['444444'])[0].tolist()
        [-1, 0, 1, None, 1, 0, -1]
        """
        import numpy as np

        scores = self._scores_batch(boards, setup, callback(progress, "solved"))
        return np.ma.MaskedArray(scores, mask=scores == -128, fill_value=-128)
