"""Numbers that are out of range."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import claimeven
from claimeven import Agent, Game, Limits, Network, Position, Setup, Solver, _native, positions

EMPTY = np.zeros((1, 6, 7), np.uint8)

# A part of the message for every argument that is a whole number, and a call with it.
WHOLE: list[tuple[str, Callable[[Any], object]]] = [
    ("threads", lambda n: Solver(threads=n)),
    ("table_mb", lambda n: Solver(table_mb=n)),
    ("nodes", lambda n: Solver().bounds("", nodes=n)),
    ("depth", lambda n: Limits(depth=n)),
    ("nodes", lambda n: Limits(nodes=n)),
    ("simulations", lambda n: Limits(simulations=n)),
    ("seed", lambda n: Agent("random", seed=n)),
    ("games", lambda n: claimeven.match("random", "random", games=n)),
    ("seed", lambda n: claimeven.match("random", "random", games=2, seed=n)),
    ("threads", lambda n: claimeven.match("random", "random", games=2, threads=n)),
    ("column", lambda n: claimeven.match(lambda position: n, "random", games=2)),
    ("games", lambda n: claimeven.tournament(["random", "level:1"], games=n)),
    ("seed", lambda n: claimeven.tournament(["random", "level:1"], games=2, seed=n)),
    ("threads", lambda n: claimeven.tournament(["random", "level:1"], games=2, threads=n)),
    ("boards", lambda n: claimeven.evaluate("random", n)),
    ("seed", lambda n: claimeven.evaluate("random", ["44"], seed=n)),
    ("threads", lambda n: claimeven.evaluate("random", ["44"], threads=n)),
    ("plies", lambda n: claimeven.evaluate("random", 2, plies=n)),
    ("iterations", lambda n: claimeven.train("never made", iterations=n)),
    ("threads", lambda n: claimeven.train("never made", iterations=1, threads=n)),
    ("max_nodes", lambda n: claimeven.search_tree("", "minimax:depth=2", max_nodes=n)),
    ("boards", lambda n: positions.random(n)),
    ("plies", lambda n: positions.random(1, plies=n)),
    ("plies", lambda n: positions.random(1, plies=(0, n))),
    ("plies", lambda n: positions.random(1, plies=(n, n))),
    ("seed", lambda n: positions.random(1, seed=n)),
    ("plies", lambda n: positions.all(n)),
    ("blocks", lambda n: Network.untrained(blocks=n)),
    ("channels", lambda n: Network.untrained(channels=n)),
    ("seed", lambda n: Network.untrained(seed=n)),
    ("threads", lambda n: Network().predict(EMPTY, threads=n)),
    ("count", lambda n: _native.GameBatch(n, None, None, "agent", "Disabled", 1)),
    ("seed", lambda n: _native.GameBatch(1, None, None, "agent", "Disabled", n)),
    ("seed", lambda n: _native.GameBatch(1, None, None, "agent", "Disabled", 1).seed(n)),
    ("cols", lambda n: Setup(cols=n)),
    ("rows", lambda n: Setup(rows=n)),
    ("connect", lambda n: Setup(connect=n)),
    ("connect", lambda n: Position.from_array(EMPTY[0], connect=n)),
    ("index 3", lambda n: Position.from_kaggle([0, 0, 0, n] + 38 * [0])),
    ("player", lambda n: Position().threats(n)),
    ("player", lambda n: Position().planes(n)),
    ("cell", lambda n: Position().to_image(n)),
    ("column", lambda n: Position().play(n)),
    ("column", lambda n: Game().play(n)),
]


@pytest.mark.parametrize(("name", "call"), WHOLE)
@pytest.mark.parametrize("number", [-1, -(2**70), 2**70, 10**30, np.int64(-1)])
def test_whole_numbers_out_of_range_are_a_value_error_with_name_and_value(
    number: int, name: str, call: Callable[[Any], object]
) -> None:
    with pytest.raises(ValueError, match=name) as raised:
        call(number)
    assert str(number) in str(raised.value)


@pytest.mark.parametrize(("name", "call"), WHOLE)
def test_other_types_are_a_type_error(name: str, call: Callable[[Any], object]) -> None:
    for value in ("1x", 1.5, [1]):
        with pytest.raises((TypeError, ValueError)):
            call(value)


@pytest.mark.parametrize(("name", "call"), WHOLE)
def test_numbers_too_long_to_write_are_a_value_error(name: str, call: Callable[[Any], object]) -> None:
    with pytest.raises(ValueError):
        call(10**5000)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("seconds", lambda n: Limits(seconds=n)),
        ("seconds", lambda n: Solver().bounds("", seconds=n)),
        ("seconds", lambda n: claimeven.review("44", seconds=n)),
        ("seconds", lambda n: claimeven.train("never made", minutes=n)),
        ("sprt", lambda n: claimeven.match("random", "random", games=2, sprt=(0, n))),
    ],
)
@pytest.mark.parametrize("number", [-(10**400), 10**400, math.nan, math.inf, -math.inf])
def test_times_and_ratings_out_of_range_are_a_value_error(
    number: float, name: str, call: Callable[[Any], object]
) -> None:
    with pytest.raises(ValueError, match=name):
        call(number)


def test_a_column_that_no_board_has_is_not_legal() -> None:
    assert not Position().is_legal(2**70) and not Position().is_legal(-(2**70))
    assert Position().is_legal(np.int64(4))  # type: ignore[arg-type]


def test_a_vector_needs_a_number_of_games() -> None:
    envs = pytest.importorskip("claimeven.envs.gymnasium")
    for number in (-1, 2**70):
        with pytest.raises(ValueError, match=str(number)):
            envs.ConnectFourVectorEnv(number)
