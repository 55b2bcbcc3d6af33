"""States, a game and a bot like those of OpenSpiel's ``pyspiel``, with our rules and players.

>>> from claimeven import openspiel
>>> state = openspiel.load_game().new_initial_state()
>>> state.apply_action(3)
>>> state.current_player(), state.legal_actions()
(1, [0, 1, 2, 3, 4, 5, 6])

Actions are columns from 0. ``ConnectFourBot`` plays with OpenSpiel's own states too, for example in
``pyspiel.evaluate_bots``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from claimeven._native import Agent, Position, Setup

if TYPE_CHECKING:
    from collections.abc import Sequence

TERMINAL_PLAYER = -4
"""The player of a finished state, as in ``pyspiel.PlayerId.TERMINAL``."""


class Game:
    """The game, with the parameters of OpenSpiel."""

    def __init__(self, rows: int = 6, columns: int = 7, x_in_row: int = 4) -> None:
        self.setup = Setup(columns, rows, x_in_row)

    def new_initial_state(self) -> State:
        return State(self, Position("", self.setup))

    def num_distinct_actions(self) -> int:
        return self.setup.cols

    def num_players(self) -> int:
        return 2

    def max_game_length(self) -> int:
        return self.setup.cells

    def observation_tensor_shape(self) -> list[int]:
        return [3, self.setup.rows, self.setup.cols]

    def min_utility(self) -> float:
        return -1.0

    def max_utility(self) -> float:
        return 1.0


def load_game(name: str = "connect_four", parameters: dict[str, int] | None = None) -> Game:
    """The game, as ``pyspiel.load_game('connect_four', {'rows': 6, 'columns': 7, 'x_in_row': 4})``."""
    if name != "connect_four":
        raise ValueError(f"unknown game '{name}' (available: connect_four)")
    return Game(**(parameters or {}))


class State:
    """A state of the game."""

    __slots__ = ("_game", "position")

    def __init__(self, game: Game, position: Position) -> None:
        self._game = game
        self.position = position

    def get_game(self) -> Game:
        return self._game

    def current_player(self) -> int:
        return TERMINAL_PLAYER if self.position.is_over else self.position.player - 1

    def is_terminal(self) -> bool:
        return self.position.is_over

    def is_chance_node(self) -> bool:
        return False

    def legal_actions(self, player: int | None = None) -> list[int]:
        if player is not None and player != self.current_player():
            return []
        return [column - 1 for column in self.position.legal_moves]

    def legal_actions_mask(self) -> list[int]:
        mask = [0] * self._game.setup.cols
        for action in self.legal_actions():
            mask[action] = 1
        return mask

    def apply_action(self, action: int) -> None:
        self.position = self.position.play(int(action) + 1)

    def child(self, action: int) -> State:
        return State(self._game, self.position.play(int(action) + 1))

    def clone(self) -> State:
        return State(self._game, self.position)

    def history(self) -> list[int]:
        return ["123456789abcdefghijklmnopqrstuvwxyz".index(move) for move in self.position.moves or ""]

    def move_number(self) -> int:
        return self.position.ply

    def returns(self) -> list[float]:
        match self.position.winner:
            case 1:
                return [1.0, -1.0]
            case 2:
                return [-1.0, 1.0]
            case _:
                return [0.0, 0.0]

    def rewards(self) -> list[float]:
        return self.returns()

    def player_return(self, player: int) -> float:
        return self.returns()[player]

    def action_to_string(self, player: int, action: int) -> str:
        return f"{'xo'[player]}{action}"

    def observation_string(self, player: int | None = None) -> str:
        return str(self)

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """One plane each for x, o and empty cells, as in OpenSpiel 2, the bottom row first."""
        board = self.position.to_array()[::-1]
        return [float(cell) for plane in (1, 2, 0) for cell in (board == plane).ravel()]

    def __str__(self) -> str:
        return self.position.to_openspiel()


class ConnectFourBot:
    """A built-in player as an OpenSpiel bot, for our states and those of ``pyspiel``."""

    def __init__(self, agent: str = "perfect", *, seed: int = 1) -> None:
        self._agent = Agent(agent, seed=seed)

    def step(self, state: Any) -> int:
        """The action that the player chooses."""
        return self._agent(self._position(state)) - 1

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        action = self.step(state)
        return [(a, 1.0 if a == action else 0.0) for a in state.legal_actions()], action

    def restart(self) -> None:
        """Does nothing: no state is kept between games."""

    def restart_at(self, state: Any) -> None:
        """Does nothing: no state is kept between games."""

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Does nothing: the state contains all moves."""

    def provides_policy(self) -> bool:
        return False

    @staticmethod
    def _position(state: Any) -> Position:
        if isinstance(state, State):
            return state.position
        parameters = state.get_game().get_parameters()
        setup = Setup(
            parameters.get("columns", 7), parameters.get("rows", 6), parameters.get("x_in_row", 4)
        )
        actions: Sequence[int] = state.history()
        letters = "123456789abcdefghijklmnopqrstuvwxyz"
        return Position("".join(letters[action] for action in actions), setup)
