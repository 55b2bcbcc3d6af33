"""The notebook widget, by itself and in a browser."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from claimeven import Position, Setup, Solver, positions

pytest.importorskip("anywidget")
from widget_page import hosted  # noqa: E402

from claimeven.widget import BoardWidget, _short  # noqa: E402

HERE = Path(__file__).resolve().parent
WEB = HERE.parent.parent / "web"


def test_the_widget_in_a_browser(tmp_path: Path) -> None:
    """Playing, setting up and exploring, with the page's Playwright and the system's Chromium."""
    node = shutil.which("node")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if node is None or chromium is None or not (WEB / "node_modules" / "@playwright").exists():
        pytest.skip("the browser test of the widget requires Node.js, Chromium and npm's packages in web/")
    script = HERE / "widget_browser.mjs"
    screenshot = tmp_path / "widget.png"
    with hosted(BoardWidget("4455")) as board:
        small = BoardWidget("", setup=Setup(5, 4, 3), opponent="random")
        with hosted(small) as opponent:
            command = [node, script, WEB, chromium, board, opponent, screenshot]
            subprocess.run(command, check=True, timeout=600)
    assert screenshot.stat().st_size > 0


def test_a_game_on_the_widget() -> None:
    board = BoardWidget("445")
    assert board.message == "O (yellow) to move" and board.cells.count(1) == 2
    board._receive(None, {"action": "play", "column": 3}, None)
    assert board.moves == "4453" and board.position == Position("4453")
    board._receive(None, {"action": "play", "column": 9}, None)
    assert "no column 9" in board.message and board.moves == "4453"
    board._receive(None, {"action": "undo"}, None)
    assert board.moves == "445"
    board._receive(None, {"action": "set", "moves": "1212121"}, None)
    assert board.message == "X (red) wins" and len(board.won) == 4 and board.values == [""] * 7
    board.moves = "4455"
    assert board.values == ["L16", "L17", "W2", "W18", "W18", "W2", "L17"]
    board.show_values = False
    assert board.values == [""] * 7
    board._receive(None, {"action": "best"}, None)
    assert board.moves == "44553"
    board._receive(None, {"action": "reset"}, None)
    assert board.moves == ""


def test_an_opponent_replies() -> None:
    board = BoardWidget("", setup=Setup(5, 4, 3), opponent="random", show_values=False)
    board.play(3)
    assert board.position.ply == 2
    board.undo()
    assert board.position.ply == 0
    # A game that the person has won ends without a reply, so only one move is taken back.
    won = BoardWidget("121212", opponent="random", show_values=False)
    won.play(1)
    assert won.position.winner == 1
    won.undo()
    assert won.moves == "121212"


def test_a_position_without_moves_is_explored() -> None:
    position = Position.from_array(Position("4455").to_array())
    board = BoardWidget(position)
    assert board.values[2] == "W2"
    board.play(3)
    board.undo()
    board.undo()
    assert board.position == position
    with pytest.raises(ValueError, match="not 8x7"):
        BoardWidget(position, setup=Setup(8, 7))
    with pytest.raises(ValueError, match="9"):
        board.moves = "49"
    assert board.position == position and board.moves == ""


def test_short_values_match_the_solver() -> None:
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
