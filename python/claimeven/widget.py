"""A board for notebooks: play, set up and explore positions with exact values under the columns.

>>> from claimeven.widget import BoardWidget
>>> board = BoardWidget('4453', opponent='level:5')
>>> board.position.ply
4

It takes anywidget: ``pip install 'claimeven[notebook]'``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

try:
    import anywidget
    import traitlets
except ImportError as error:  # pragma: no cover
    raise ImportError("the widget takes anywidget: pip install 'claimeven[notebook]'") from error

from claimeven._native import Agent, Position, Setup
from claimeven._solver import Solver

_CSS = """
.claimeven-message { min-height: 1.4em; font-family: system-ui, sans-serif; }
.claimeven-controls { display: flex; gap: 0.5em; flex-wrap: wrap; align-items: center; }
.claimeven text { font: 13px system-ui, sans-serif; text-anchor: middle; fill: currentColor; }
.claimeven .claimeven-value { font-weight: 600; }
.claimeven .claimeven-column { cursor: pointer; }
.claimeven .claimeven-column:hover, .claimeven .claimeven-column:focus { fill: #ffffff22; outline: none; }
"""


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
        moves: str = "",
        *,
        setup: Setup | None = None,
        opponent: str | None = None,
        show_values: bool = True,
        seconds: float = 2.0,
    ) -> None:
        """``opponent`` answers every move; ``seconds`` is the time limit for exact values."""
        self._setup = setup or Setup()
        self._solver = Solver()
        self._opponent = None if opponent is None else Agent(opponent)
        self._seconds = seconds
        self.position = Position(moves, self._setup)
        super().__init__(rows=self._setup.rows, cols=self._setup.cols, show_values=show_values)
        self.on_msg(self._receive)
        self.observe(lambda _: self._show(), names="show_values")
        self.observe(self._moves_were_set, names="moves")
        self._show()

    def play(self, column: int) -> None:
        """Plays a move, and the opponent's answer."""
        self.position = self.position.play(column)
        if self._opponent is not None and not self.position.is_over:
            self.position = self.position.play(self._opponent(self.position))
        self._show()

    def undo(self) -> None:
        """Takes back a move, or a move and its answer."""
        moves = self.position.moves or ""
        self.position = Position(moves[: -2 if self._opponent is not None else -1], self._setup)
        self._show()

    def _moves_were_set(self, change: Any) -> None:
        if change["new"] != self.position.moves:
            self.position = Position(change["new"], self._setup)
            self._show()

    def _receive(self, _: Any, content: dict[str, Any], __: Any) -> None:
        try:
            match content:
                case {"action": "play", "column": int(column)}:
                    self.play(column)
                case {"action": "undo"}:
                    self.undo()
                case {"action": "reset"}:
                    self.position = Position("", self._setup)
                    self._show()
                case {"action": "best"}:
                    self.play(Agent("perfect")(self.position))
                case {"action": "set", "moves": str(moves)}:
                    self.position = Position(moves, self._setup)
                    self._show()
        except ValueError as error:
            self.message = str(error)

    def _show(self) -> None:
        position, setup = self.position, self._setup
        self.cells = position.to_kaggle()
        self.won = [
            (setup.rows - row) * setup.cols + column - 1 for column, row in position.winning_cells()
        ]
        self.values = self._values() if self.show_values else [""] * setup.cols
        if position.is_draw:
            self.message = "Draw"
        elif position.is_over:
            self.message = f"{'XO'[(position.winner or 1) - 1]} wins"
        else:
            self.message = f"{'XO'[position.player - 1]} to move"
        self.description = f"{self.message}\n{position}"
        self.moves = position.moves or ""

    def _values(self) -> list[str]:
        """The exact value of every column; empty where it was not found in time."""
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
    # The discs that the winner still had before the move, less those that the score leaves.
    moves = (empty + 2) // 2 + 1 - score if score > 0 else (empty + 1) // 2 + 1 + score
    return f"{'W' if score > 0 else 'L'}{moves}"
