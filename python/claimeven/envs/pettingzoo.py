"""An AEC environment like PettingZoo's ``connect_four_v3``, for any board.

>>> from claimeven.envs import pettingzoo
>>> env = pettingzoo.env()
>>> env.reset(seed=1)
>>> env.last()[0]['observation'].shape
(6, 7, 2)

Importing this module registers ``claimeven/connect_four-v3`` with ``pettingzoo.make`` where PettingZoo has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pettingzoo as _pettingzoo
from gymnasium import logger, spaces
from gymnasium.utils import EzPickle
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from claimeven._native import Position, Setup


def env(**kwargs: Any) -> Any:
    """The environment with PettingZoo's wrappers: an illegal move ends the game with a reward of -1."""
    wrapped: Any = raw_env(**kwargs)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


class raw_env(AECEnv[str, Any, Any], EzPickle):  # noqa: N801
    """The environment without wrappers."""

    metadata = {  # noqa: RUF012
        "render_modes": ["ansi", "human", "rgb_array"],
        "name": "connect_four_v3",
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        render_mode: str | None = None,
        screen_scaling: int = 9,
        cols: int = 7,
        rows: int = 6,
        connect: int = 4,
        ruleset: str = "standard",
    ) -> None:
        EzPickle.__init__(self, render_mode, screen_scaling, cols, rows, connect, ruleset)
        super().__init__()
        self.render_mode = render_mode
        self.screen_scaling = screen_scaling
        self.setup = Setup(cols, rows, connect, ruleset)
        self.possible_agents = ["player_0", "player_1"]
        self.agents = self.possible_agents[:]
        self._position = Position("", self.setup)
        self._empty = self._position
        space = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (rows, cols, 2), np.int8),
                "action_mask": spaces.Box(0, 1, (cols,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.agents, space)
        self.action_spaces = {agent: spaces.Discrete(cols) for agent in self.agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    @property
    def position(self) -> Position:
        """The position of the game."""
        return self._position

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        player = self.possible_agents.index(agent) + 1
        is_to_move = agent == self.agent_selection
        mask = self._position.action_mask(is_to_move)
        if is_to_move and self._position.is_over:
            # As in PettingZoo, columns that are not full stay in the mask after the end.
            mask[:] = self._position.to_array()[0] == 0
        return {"observation": self._position.planes(player), "action_mask": mask}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._position = self._empty
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def step(self, action: Any) -> None:
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        self._position = self._position.play(int(action) + 1)
        other = self.possible_agents[1 - self.possible_agents.index(mover)]
        self._cumulative_rewards[mover] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if self._position.is_over:
            winner = self._position.winner
            if winner is not None:
                for player, agent in enumerate(self.possible_agents, start=1):
                    self.rewards[agent] = 1.0 if player == winner else -1.0
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = other
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | NDArray[np.uint8] | None:
        if self.render_mode is None:
            logger.warn("You are calling render method without specifying any render mode.")
            return None
        if self.render_mode == "rgb_array":
            return self._position.to_image(9 * self.screen_scaling)
        text = str(self._position)
        if self.render_mode == "human":
            print(text, end="\n\n")
            return None
        return text

    def close(self) -> None:
        pass


if hasattr(_pettingzoo, "make"):
    _pettingzoo.register("aec", "claimeven/connect_four-v3", "claimeven.envs.pettingzoo:env")
