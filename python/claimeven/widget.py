"""A board for notebooks: play, set up and explore positions with exact values under the columns.

>>> from claimeven.widget import BoardWidget
>>> board = BoardWidget('4453', opponent='level:5')
>>> board.position.ply
4

It requires anywidget: ``pip install 'claimeven[notebook]'``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

try:
    import anywidget
    import traitlets
except ImportError as error:  # pragma: no cover
    raise ImportError("the widget requires anywidget: pip install 'claimeven[notebook]'") from error

from claimeven._native import Agent, Limits, Position, Setup
from claimeven._solver import Solver

_CSS = """
.claimeven-message { min-height: 1.4em; font-family: system-ui, sans-serif; }
.claimeven-controls { display: flex; gap: 0.5em; flex-wrap: wrap; align-items: center; }
.claimeven-board { display: block; max-width: 100%; height: auto; }
.claimeven-board text { font: 13px system-ui, sans-serif; text-anchor: middle; fill: currentColor; }
.claimeven-board .claimeven-value { font-weight: 600; }
.claimeven-board .claimeven-column { cursor: pointer; fill: transparent; }
.claimeven-board .claimeven-column:hover { fill: #ffffff22; }
.claimeven-board .claimeven-column:focus-visible { fill: #ffffff22; outline: 2px solid currentColor; }
"""

_NAMES = ("X (red)", "O (yellow)")


class BoardWidget(anywidget.AnyWidget):
    """A board to play on. Values are exact: W3 wins with the third disc, L2 loses to the second, = is a draw."""

    _esm = Path(__file__).parent / "widget.js"
    _css = _CSS

    moves: Any = traitlets.Unicode("").tag(sync=True)
    """The moves, such as '4453'; assign to set up a position."""
    show_values: Any = traitlets.Bool(True).tag(sync=True)
    """Whether exact values are shown."""
    rows: Any = traitlets.Int(6).tag(sync=True)
    cols: Any = traitlets.Int(7).tag(sync=True)
    cells: Any = traitlets.List(traitlets.Int()).tag(sync=True)
    won: Any = traitlets.List(traitlets.Int()).tag(sync=True)
    values: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)
    message: Any = traitlets.Unicode("").tag(sync=True)
    description: Any = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        position: Position | str = "",
        *,
        setup: Setup | None = None,
        opponent: str | None = None,
        show_values: bool = True,
        seconds: float = 2.0,
    ) -> None:
        """``opponent`` replies to every move; ``seconds`` is the time limit for exact values."""
        if isinstance(position, str):
            position = Position(position, setup)
        elif setup is not None and setup != position.setup:
            raise ValueError(f"the position is on {position.setup}, not {setup}")
        self._setup = position.setup
        self._solver = Solver()
        self._opponent = None if opponent is None else Agent(opponent)
        self._seconds = seconds
        self._set_up(position)
        super().__init__(rows=self._setup.rows, cols=self._setup.cols, show_values=show_values)
        self.on_msg(self._receive)
        self.observe(lambda _: self._show(), names="show_values")
        self.observe(self._moves_were_set, names="moves")
        self._show()

    def play(self, column: int) -> None:
        """Plays a move and the opponent's reply."""
        self._push(column)
        if self._opponent is not None and not self.position.is_over:
            self._show_board(f"{self._opponent.text} is thinking")
            self._push(self._opponent(self.position))
        self._show()

    def undo(self) -> None:
        """Takes back a move, or a move and the reply to it."""
        while self._earlier:
            self.position = self._earlier.pop()
            if self._opponent is None or self.position.player == self._person:
                break
        self._show()

    def _set_up(self, position: Position) -> None:
        self.position = position
        self._person: int = position.player
        """The player against the opponent, 1 or 2: the side that was to move."""
        moves = position.moves or ""
        self._earlier: list[Position] = [Position(moves[:ply], self._setup) for ply in range(len(moves))]
        """The positions before this one."""

    def _push(self, column: int) -> None:
        after = self.position.play(column)
        self._earlier.append(self.position)
        self.position = after

    def _moves_were_set(self, change: Any) -> None:
        if change["new"] != (self.position.moves or ""):
            try:
                self._set_up(Position(change["new"], self._setup))
            finally:
                self._show()

    def _receive(self, _: Any, content: dict[str, Any], __: Any) -> None:
        try:
            match content:
                case {"action": "play", "column": int(column)}:
                    self.play(column)
                case {"action": "undo"}:
                    self.undo()
                case {"action": "reset"}:
                    self._set_up(Position("", self._setup))
                    self._show()
                case {"action": "best"}:
                    limits = Limits(seconds=self._seconds)
                    self.play(Agent("perfect").decide(self.position, limits).column)
                case {"action": "set", "moves": str(moves)}:
                    self._set_up(Position(moves, self._setup))
                    self._show()
        except ValueError as error:
            self.message = str(error)

    def _show(self) -> None:
        position = self.position
        if position.is_draw:
            message = "Draw"
        elif position.winner is not None:
            message = f"{_NAMES[position.winner - 1]} wins"
        else:
            message = f"{_NAMES[position.player - 1]} to move"
        self._show_board(message)
        if self.show_values:
            self.values = self._values()

    def _show_board(self, message: str) -> None:
        """Shows the discs immediately; values take longer and follow."""
        position, setup = self.position, self._setup
        with self.hold_sync():
            self.values = [""] * setup.cols
            self.cells = position.to_kaggle()
            self.won = [
                (setup.rows - row) * setup.cols + column - 1 for column, row in position.winning_cells()
            ]
            self.message = message
            self.description = f"{message}\n{position}"
            self.moves = position.moves or ""

    def _values(self) -> list[str]:
        """The exact value of every column; a question mark if it was not found in time."""
        values = []
        for column in range(1, self._setup.cols + 1):
            if not self.position.is_legal(column) or self._setup.ruleset != "standard":
                values.append("")
                continue
            child = self.position.play(column)
            low, high = self._solver.bounds(child, seconds=self._seconds / self._setup.cols)
            values.append(_short(-low, child) if low == high else "?")
        return values


def _short(score: int, child: Position) -> str:
    """The score of a move that led to a position, in as few characters as possible."""
    if score == 0:
        return "="
    empty = child.setup.cells - child.ply
    # The discs that the winner had left before the move, minus those that the score leaves.
    moves = (empty + 2) // 2 + 1 - score if score > 0 else (empty + 1) // 2 + 1 + score
    return f"{'W' if score > 0 else 'L'}{moves}"
