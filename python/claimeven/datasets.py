"""Data sets with exact labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claimeven import positions
from claimeven._progress import Progress
from claimeven._solver import Solver, repeatable

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import NDArray

    from claimeven._native import Setup
    from claimeven._solver import Boards


@dataclass(frozen=True)
class Dataset:
    """Boards with the exact score of each, from the point of view of the side to move."""

    boards: NDArray[np.uint8]
    """uint8 (n, rows, cols)"""
    scores: NDArray[np.int8]
    """int8 (n,)"""

    def __len__(self) -> int:
        return len(self.boards)

    @property
    def outcomes(self) -> NDArray[np.int8]:
        """1 where the side to move wins, 0 for a draw, -1 where it loses."""
        import numpy as np

        return np.sign(self.scores)

    def counts(self) -> dict[str, int]:
        """The number of positions that are won, lost and drawn."""
        outcomes = self.outcomes
        names = (("win", 1), ("loss", -1), ("draw", 0))
        return {name: int((outcomes == sign).sum()) for name, sign in names}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the data set in the format of the file extension.

        ``.npz``: the arrays ``boards`` and ``scores``. ``.parquet`` (with pyarrow): a column per cell, named ``a1`` to
        ``g6`` as in the UCI data set, and ``score`` and ``class``. ``.data`` or ``.csv``: the lines of the UCI data set.
        """
        import numpy as np

        path = Path(path)
        match path.suffix:
            case ".npz":
                np.savez_compressed(path, boards=self.boards, scores=self.scores)
            case ".parquet":
                self._save_parquet(path)
            case ".data" | ".csv":
                path.write_text("".join(line + "\n" for line in self._lines()))
            case suffix:
                raise ValueError(f"unknown format '{suffix}' (available: .npz, .parquet, .data, .csv)")

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Dataset:
        """Reads a data set that ``save`` wrote as .npz."""
        import numpy as np

        with np.load(path) as arrays:
            return Dataset(boards=arrays["boards"], scores=arrays["scores"])

    def _cells(self) -> tuple[list[str], NDArray[np.uint8]]:
        """The cells column by column from the bottom, with their names."""
        _, rows, cols = self.boards.shape
        names = [f"{chr(ord('a') + col)}{row + 1}" for col in range(cols) for row in range(rows)]
        cells = self.boards[:, ::-1, :].transpose(0, 2, 1).reshape(len(self), rows * cols)
        return names, cells

    def _classes(self) -> list[str]:
        return [("draw", "win", "loss")[sign] for sign in self.outcomes.tolist()]

    def _lines(self) -> list[str]:
        _, cells = self._cells()
        rows = cells.tolist()
        return [
            ",".join("bxo"[cell] for cell in row) + f",{name}"
            for row, name in zip(rows, self._classes(), strict=True)
        ]

    def _save_parquet(self, path: Path) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise ImportError("writing Parquet requires pyarrow: pip install 'claimeven[data]'") from error
        names, cells = self._cells()
        columns: dict[str, Any] = {name: cells[:, index] for index, name in enumerate(names)}
        columns["score"] = self.scores
        columns["class"] = self._classes()
        pyarrow.parquet.write_table(pyarrow.table(columns), path)


def label(
    boards: Boards,
    setup: Setup | None = None,
    *,
    solver: Solver | None = None,
    progress: Progress = None,
) -> Dataset:
    """Labels boards with their exact scores, on all cores. ``boards`` may also be positions and move texts.

    >>> from claimeven import datasets, positions
    >>> data = datasets.label(positions.random(100, plies=20, seed=3))
    >>> sum(data.counts().values())
    100
    >>> datasets.label(['4455', '44']).scores.tolist()
    [18, 1]
    """
    import numpy as np

    solver = solver or Solver()
    if isinstance(boards, np.ndarray):
        return Dataset(boards.astype(np.uint8, copy=False), solver.score_batch(boards, setup, progress=progress))
    given = repeatable(boards)
    # The scores first: the setup may be that of the positions, which an array does not have.
    scores = solver.score_batch(given, setup, progress=progress)
    return Dataset(positions.to_array(given, setup), scores)


def uci(*, progress: Progress = None) -> Dataset:
    """The UCI Connect-4 data set, rebuilt: the 67 557 positions with 8 discs in which neither player can win with the next
    disc, mirror images once. 44 473 are won for the side to move (the first player), 16 635 lost and 6 449 drawn.

    >>> from claimeven import datasets
    >>> datasets.uci().counts()
    {'win': 44473, 'loss': 16635, 'draw': 6449}
    """
    boards = positions.all(8, mirrored=False)
    is_quiet = [
        not any(
            row == 1 + sum(1 for cell in board[:, column - 1] if cell)
            for player in (1, 2)
            for column, row in position.threats(player)
        )
        for board, position in zip(boards, positions.from_array(boards), strict=True)
    ]
    return label(boards[is_quiet], progress=progress)
