"""Setups, positions and games."""

import contextlib
import json
import pickle
import random
import sys
import threading

import numpy as np
import pytest

from claimeven import Game, Position, Setup, positions


def test_setups_compare_hash_and_pickle() -> None:
    wide = Setup(9, 7, connect=5)
    assert wide == Setup.parse("9x7, connect 5") != Setup()
    assert len({wide, Setup(9, 7, 5), Setup()}) == 2
    assert pickle.loads(pickle.dumps(wide)) == wide
    assert eval(repr(wide)) == wide


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Setup(0), "1 to 35 columns, not 0"),
        (lambda: Setup(-1), "cols -1 is out of range"),
        (lambda: Setup(10**9), "cols 1000000000 is out of range"),
        (lambda: Setup(12, 12), "too large"),
        (lambda: Setup(connect=1), "at least 2"),
        (lambda: Setup(ruleset="most"), "unknown ruleset 'most'"),
        (lambda: Setup.parse("7"), "invalid setup '7'"),
        (lambda: Position("48"), "move 2"),
        (lambda: Position("4444444"), "move 7, '4': column 4 is full"),
        (lambda: Position("12121212"), "already over"),
        (lambda: Position("é"), "move 1"),
        (lambda: Position().play(0), "no column 0"),
        (lambda: Position().play(8), "no column 8"),
        (lambda: Position().play(10**30), "no column 1000"),
        (lambda: Position("444444").play(4), "column 4 is full"),
        (lambda: Position("1212121").play(1), "already over"),
        (lambda: Position("", Setup(9, 7)).play(10), "no column"),
        (lambda: Position().play("4x"), "move 2"),
        (lambda: Game().play(0), "no column 0"),
        (lambda: Game().play(-(10**30)), "no column -1000"),
        (lambda: Game().play(8), "no column 8"),
        (lambda: Game("444444").play(4), "column 4 is full"),
        (lambda: Game("1212121").play(1), "already over"),
        (lambda: Position.from_kaggle([0] * 41), "41 values, fewer than the board's 42 cells"),
        (lambda: Position.from_kaggle([3] + [0] * 41), "index 0"),
        (lambda: Position.from_kaggle([-1] + [0] * 41), "value -1 at index 0"),
        (lambda: Position.from_picture("..."), "line 1 has 3 cells"),
        (lambda: Position().threats(3), "a player is 1 or 2, not 3"),
        (lambda: Game.from_json("{}"), "missing field"),
    ],
)
def test_bad_input_is_a_value_error_that_names_it(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]


def test_positions_are_values() -> None:
    position = Position("4453")
    assert position != Position("5443")
    assert Position("4536") == Position("4635") and hash(Position("4536")) == hash(Position("4635"))
    assert position.play(3).moves == "44533"
    assert position.moves == "4453"
    assert position.mirror().moves == "4435"
    with pytest.raises(AttributeError):
        position.ply = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        position.play(3.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("setup", [Setup(), Setup(9, 7, 5), Setup(5, 4, 3, "lines"), Setup(12, 9)])
def test_every_notation_round_trips(setup: Setup) -> None:
    rng = random.Random(3)
    for _ in range(30):
        position = Position("", setup)
        while not position.is_over:
            assert position == pickle.loads(pickle.dumps(position))
            board = position.to_array()
            again = Position.from_array(board, connect=setup.connect, ruleset=setup.ruleset)
            assert again == position and again.moves is None
            assert pickle.loads(pickle.dumps(again)) == position
            assert Position.from_kaggle(position.to_kaggle(), setup) == position
            assert Position.from_openspiel(position.to_openspiel(), setup) == position
            assert Position.from_moves(position.moves or "", setup) == position
            assert position.mirror().mirror() == position
            assert eval(repr(position)) == position
            assert position.legal_moves == [
                column for column in range(1, setup.cols + 1) if board[0, column - 1] == 0
            ]
            position = position.play(rng.choice(position.legal_moves))
        assert position.legal_moves == []
        assert position.is_draw == (position.winner is None)


def test_a_won_game_shows_its_row() -> None:
    position = Position("1212121")
    assert (position.winner, position.is_over, position.is_draw) == (1, True, False)
    assert position.winning_cells() == [(1, row) for row in (1, 2, 3, 4)]
    assert "[X]" in str(position)
    assert position._repr_svg_().startswith("<svg")
    assert Position("121212").threats(1) == [(1, 4)]


def test_arrays_of_any_memory_layout_are_read() -> None:
    boards = positions.random(50, plies=(0, 30), seed=2)
    same = positions.from_array(boards)
    read_only = boards.copy()
    read_only.flags.writeable = False
    mirrored = boards[:, :, ::-1]
    for other in (np.asfortranarray(boards), read_only, boards[::-1][::-1], boards.astype(np.int8)):
        assert positions.to_array(positions.from_array(other)).tolist() == boards.tolist()
    assert [position.mirror() for position in same] == positions.from_array(mirrored)


@pytest.mark.parametrize("setup", [Setup(), Setup(7, 6, 5), Setup(8, 5), Setup(5, 4, 3, "lines"), Setup(9, 7, 5)])
def test_games_and_positions_play_alike(setup: Setup) -> None:
    """With every type of number that can be a column."""
    rng = random.Random(7)
    numbers = [int, np.int64, np.uint8, lambda column: Column(column), lambda column: str(column)]
    for _ in range(40):
        game, position = Game("", setup), Position("", setup)
        while not game.is_over:
            assert game.position == position
            assert (game.legal_moves, game.player) == (position.legal_moves, position.player)
            column = rng.choice(game.legal_moves)
            before, number = position, rng.choice(numbers)
            position = position.play(number(column))
            game.play(column if number is numbers[-1] else number(column))
            assert before.ply == position.ply - 1 == len(game) - 1
        assert position.is_over and game.legal_moves == []
        assert game.moves == position.moves == pickle.loads(pickle.dumps(position)).moves
        for ply in range(len(game), 0, -1):
            assert str(game.undo()) == (position.moves or "")[ply - 1]


class Column:
    """An object that converts to an int."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


def test_play_rejects_invalid_columns() -> None:
    for wrong in (None, 1.5, "x", [4], object()):
        with pytest.raises((TypeError, ValueError)):
            Position().play(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="a column is a number from 1"):
            Game().play(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Position.play(Game(), 4)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Game.play(Position(), 4)  # type: ignore[arg-type]
    for call in (Position().play, Game().play):
        with pytest.raises(TypeError):
            call()  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            call(4, 4)  # type: ignore[call-arg]


def test_playing_leaks_nothing() -> None:
    """Objects are freed, and counts of references stay as they are."""
    column = 4
    position, game = Position("44"), Game("44")
    before = [sys.getrefcount(thing) for thing in (Position, Game, None)]
    for _ in range(10_000):
        position.play(column)
        game.play(column)
        game.undo()
        with contextlib.suppress(ValueError):
            position.play(9)
    after = [sys.getrefcount(thing) for thing in (Position, Game, None)]
    assert all(abs(later - earlier) < 100 for earlier, later in zip(before, after, strict=True))
    assert sys.getrefcount(position) == sys.getrefcount(game)


def test_one_game_may_be_used_by_several_threads() -> None:
    game = Game("", Setup(8, 8))

    def play_and_undo() -> None:
        for _ in range(2000):
            with contextlib.suppress(ValueError):
                game.play(3)
                game.undo()
                game.legal_moves

    threads = [threading.Thread(target=play_and_undo) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert game.position == Position(game.moves, Setup(8, 8))


def test_a_game_keeps_its_record() -> None:
    game = Game("4453")
    game.play(3)
    assert (len(game), game.moves, game.reason, game.winner) == (5, "44533", "unfinished", None)
    assert game.undo() == 3
    assert Game.from_json(game.to_json()) == game == pickle.loads(pickle.dumps(game))
    assert json.loads(game.to_json())["version"] == 1
    assert [position.ply for position in game.positions] == [0, 1, 2, 3, 4]
    won = Game("1212121")
    assert (won.winner, won.reason) == (0, "line")
    assert won.to_pgn().endswith("4. 1 1-0\n")
    broken = json.loads(won.to_json())
    broken["moves"][0]["column"] = 9
    with pytest.raises(ValueError, match="9"):
        Game.from_json(json.dumps(broken))
