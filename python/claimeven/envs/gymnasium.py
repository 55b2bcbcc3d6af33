"""Gymnasium environments: one game against a player, and many games at once.

>>> import gymnasium
>>> import claimeven.envs
>>> env = gymnasium.make('claimeven/ConnectFour-v0', opponent='level:3')
>>> observation, info = env.reset(seed=1)
>>> observation.shape, info['action_mask'].tolist()
((6, 7, 2), [1, 1, 1, 1, 1, 1, 1])
"""

from __future__ import annotations

import secrets
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from claimeven import _native
from claimeven._native import Position, Setup


def _seed(random: np.random.Generator) -> int:
    return int(random.integers(2**63))


def _any_seed() -> int:
    """The seed of an environment that has not been given one."""
    return secrets.randbits(63)


class ConnectFourEnv(gymnasium.Env[NDArray[np.int8], np.int64]):
    """A game against a built-in player.

    The observation is int8 of shape (rows, cols, 2): own discs, then the opponent's, the top row first. An action is a
    column from 0. The reward is 1 for a win, -1 for a loss or an illegal move, which ends the game, and 0 otherwise.
    ``info['action_mask']`` has the legal columns. ``first`` is 'agent', 'opponent' or 'random'. Every episode has an
    opponent of its own, whose random choices depend on the seed.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        opponent: str = "random",
        *,
        first: str = "random",
        setup: Setup | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.setup = setup or Setup()
        self.opponent = opponent
        self.first = first
        self.render_mode = render_mode
        rows, cols = self.setup.rows, self.setup.cols
        self.observation_space = spaces.Box(0, 1, (rows, cols, 2), np.int8)
        self.action_space = spaces.Discrete(cols)
        self._games = _native.GameBatch(1, self.setup, opponent, first, "Disabled", _any_seed())
        self._observations = np.zeros((1, rows, cols, 2), np.int8)
        self._masks = np.zeros((1, cols), np.int8)
        self._rewards = np.zeros(1, np.float64)
        self._terminated = np.zeros(1, np.bool_)

    @property
    def position(self) -> Position:
        """The position of the game."""
        rows, cols = self.setup.rows, self.setup.cols
        board = self._games.boards().reshape(rows, cols)
        setup = self.setup
        return Position.from_array(board, connect=setup.connect, ruleset=setup.ruleset)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self._games.seed(_seed(self.np_random))
        self._games.reset(None, self._observations, self._masks)
        return self._observations[0].copy(), self._info()

    def step(
        self, action: np.int64 | int
    ) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        self._games.step(
            np.array([action], np.int64),
            self._observations,
            self._masks,
            self._rewards,
            self._terminated,
            None,
        )
        observation = self._observations[0].copy()
        return observation, float(self._rewards[0]), bool(self._terminated[0]), False, self._info()

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._masks[0].copy()}

    def render(self) -> Any:
        if self.render_mode == "ansi":
            return str(self.position)
        if self.render_mode == "rgb_array":
            return self.position.to_image(48)
        return None


class ConnectFourVectorEnv(VectorEnv[NDArray[np.int8], NDArray[np.int64], NDArray[Any]]):
    """``num_envs`` games that are stepped together in Rust.

    Without an opponent the actions are those of both sides in turn; the observation and the mask are those of the side to
    move, and the reward is that of the side that has just moved. With an opponent, it is like ``ConnectFourEnv``.

    With ``copy=False`` the arrays that ``step`` returns are the same every time and are written in place. All autoreset
    modes of Gymnasium are supported; with SAME_STEP, ``infos['final_obs']`` and ``infos['final_info']`` have the last
    observations and infos of games that ended, in arrays with a place for every game. ``reset(options={'reset_mask': mask})``
    restarts the games where the mask is true.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        opponent: str | None = None,
        *,
        first: str = "random",
        setup: Setup | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ) -> None:
        self.num_envs = num_envs
        self.setup = setup or Setup()
        self.copy = copy
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.games = _native.GameBatch(
            num_envs, self.setup, opponent, first, self.autoreset_mode.value, _any_seed()
        )
        rows, cols = self.setup.rows, self.setup.cols
        self.single_observation_space = spaces.Box(0, 1, (rows, cols, 2), np.int8)
        self.single_action_space = spaces.Discrete(cols)
        self.observation_space = spaces.Box(0, 1, (num_envs, rows, cols, 2), np.int8)
        self.action_space = spaces.MultiDiscrete([cols] * num_envs)
        self._observations = np.zeros((num_envs, rows, cols, 2), np.int8)
        self._masks = np.zeros((num_envs, cols), np.int8)
        self._rewards = np.zeros(num_envs, np.float64)
        self._terminated = np.zeros(num_envs, np.bool_)
        self._truncated = np.zeros(num_envs, np.bool_)
        self._all = np.ones(num_envs, np.bool_)
        self._no_moves = np.zeros((num_envs, cols), np.int8)
        self._no_moves.flags.writeable = False
        is_same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._last = np.zeros_like(self._observations) if is_same_step else None

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        if isinstance(seed, list):
            if len(seed) != self.num_envs:
                raise ValueError(f"{len(seed)} seeds for {self.num_envs} games")
            # All games share one generator.
            seed = None if None in seed else hash(tuple(seed)) % 2**63
        super().reset(seed=seed)
        if seed is not None:
            self.games.seed(_seed(self.np_random))
        mask = None if options is None else options.get("reset_mask")
        if mask is not None:
            given, mask = mask, np.ascontiguousarray(mask)
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
                raise ValueError(f"reset_mask {given!r}: expected {self.num_envs} values of type bool")
        self.games.reset(mask, self._observations, self._masks)
        self._terminated[... if mask is None else mask] = False
        return self._result(self._observations), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        actions = np.ascontiguousarray(actions, dtype=np.int64)
        self.games.step(
            actions, self._observations, self._masks, self._rewards, self._terminated, self._last
        )
        infos = self._infos()
        if self._last is not None and np.count_nonzero(self._terminated):
            # As in Gymnasium's own vectors. No column is legal in a game that has ended.
            infos["final_obs"] = self._result(self._last)
            infos["final_info"] = {
                "action_mask": self._result(self._no_moves),
                "_action_mask": self._result(self._terminated),
            }
            infos["_final_obs"] = self._result(self._terminated)
            infos["_final_info"] = self._result(self._terminated)
        return (
            self._result(self._observations),
            self._result(self._rewards),
            self._result(self._terminated),
            self._result(self._truncated),
            infos,
        )

    def random_actions(self) -> NDArray[np.int64]:
        """A random legal action for every game."""
        return self.games.random_actions()

    def boards(self) -> NDArray[np.uint8]:
        """The boards of all games: 0, 1 and 2, the top row first."""
        return self.games.boards().reshape(self.num_envs, self.setup.rows, self.setup.cols)

    def _result(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self.copy else array

    def _infos(self) -> dict[str, Any]:
        return {
            "action_mask": self._result(self._masks),
            "_action_mask": self._all.copy(),
        }
