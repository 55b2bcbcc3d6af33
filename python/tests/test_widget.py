"""The notebook widget, without a browser."""

import re

import pytest

from claimeven import Position, Setup, Solver, positions

pytest.importorskip("anywidget")
from claimeven.widget import BoardWidget, _short  # noqa: E402


def test_a_game_on_the_widget() -> None:
    board = BoardWidget("445")
    assert board.message == "O to move" and board.cells.count(1) == 2
    board._receive(None, {"action": "play", "column": 3}, None)
    assert board.moves == "4453" and board.position == Position("4453")
    board._receive(None, {"action": "play", "column": 9}, None)
    assert "no column 9" in board.message and board.moves == "4453"
    board._receive(None, {"action": "undo"}, None)
    assert board.moves == "445"
    board._receive(None, {"action": "set", "moves": "1212121"}, None)
    assert board.message == "X wins" and len(board.won) == 4 and board.values == [""] * 7
    board.moves = "4455"
    assert board.values == ["L16", "L17", "W2", "W18", "W18", "W2", "L17"]
    board.show_values = False
    assert board.values == [""] * 7
    board._receive(None, {"action": "best"}, None)
    assert board.moves == "44553"
    board._receive(None, {"action": "reset"}, None)
    assert board.moves == ""


def test_an_opponent_answers() -> None:
    board = BoardWidget("", setup=Setup(5, 4, 3), opponent="random", show_values=False)
    board.play(3)
    assert board.position.ply == 2
    board.undo()
    assert board.position.ply == 0


def test_short_values_are_those_of_the_solver() -> None:
    solver = Solver()
    for position in positions.from_array(positions.random(50, plies=(10, 36), seed=3)):
        for column in position.legal_moves:
            child = position.play(column)
            score = -solver.score(child)
            text = solver.describe(child)
            number = int((re.findall(r"\d+", text) or ["0"])[0])
            if child.is_over:
                expected = "=" if child.is_draw else "W1"
            elif text.startswith("loses"):
                expected = f"W{number + 1}"
            elif text.startswith("wins"):
                expected = f"L{number}"
            else:
                expected = "="
            assert _short(score, child) == expected, (text, score)
