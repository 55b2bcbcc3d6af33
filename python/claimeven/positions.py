"""Many positions at once, as uint8 arrays of shape (n, rows, cols): 0 empty, 1 and 2, the top row first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from claimeven import _native

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from claimeven._native import Position, Setup


def random(
    n: int, plies: int | tuple[int, int] = (0, 36), seed: int = 1, setup: Setup | None = None
) -> NDArray[np.uint8]:
    """Boards of unfinished games after random moves.

    ``plies`` is the number of discs, or a range from which the number for each board is drawn. The first boards do not
    depend on ``n``.

    >>> from claimeven import positions
    >>> boards = positions.random(1000, plies=12, seed=7)
    >>> boards.shape, boards.dtype.name, int((boards[0] > 0).sum())
    ((1000, 6, 7), 'uint8', 12)
    """
    low, high = plies if isinstance(plies, (tuple, list)) else (plies, plies)
    setup = setup or _native.Setup()
    if n < 0 or low < 0 or high < low:
        raise ValueError(f"{n} boards of {low} to {high} plies: expected numbers of at least 0, the lower first")
    return _native.random_boards(n, low, high, seed, setup)


def all(
    plies: int, setup: Setup | None = None, *, mirrored: bool = True
) -> NDArray[np.uint8]:
    """All distinct boards with this many discs on which the game is not over.

    With ``mirrored=False``, only one of two mirror images is included.

    >>> from claimeven import positions
    >>> [len(positions.all(plies)) for plies in range(5)]
    [1, 7, 49, 238, 1120]
    """
    if plies < 0:
        raise ValueError(f"{plies} plies: expected a number of at least 0")
    return _native.all_boards(plies, mirrored, setup or _native.Setup())


def to_array(
    positions: Iterable[Position | str], setup: Setup | None = None
) -> NDArray[np.uint8]:
    """The boards of positions and move texts.

    >>> from claimeven import positions
    >>> positions.to_array(['4', '44'])[:, -1, 3].tolist()
    [1, 1]
    """
    return _native.boards_of(positions, setup)


def from_array(
    boards: NDArray[np.uint8] | Sequence[NDArray[np.uint8]], setup: Setup | None = None
) -> builtins.list[Position]:
    """The positions of boards.

    >>> from claimeven import positions
    >>> positions.from_array(positions.to_array(['44']))[0].ply
    2
    """
    connect, ruleset = (4, "standard") if setup is None else (setup.connect, setup.ruleset)
    return [
        _native.Position.from_array(board, connect=connect, ruleset=ruleset) for board in boards
    ]
