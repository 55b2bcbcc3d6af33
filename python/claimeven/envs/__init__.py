"""Environments for reinforcement learning, stepped in Rust.

- ``claimeven.envs.pettingzoo``: an AEC environment compatible with PettingZoo's ``classic/connect_four-v3``, for any board.
- ``claimeven.envs.gymnasium``: ``ConnectFourEnv`` against any built-in player, and ``ConnectFourVectorEnv`` with many games
  at once. Importing this package registers them for ``gymnasium.make('claimeven/ConnectFour-v0')`` and ``make_vec``.
- ``claimeven.openspiel``: states and a bot like those of ``pyspiel``.

Actions are columns numbered from 0 here, as in those libraries.
"""

from __future__ import annotations


def _register() -> None:
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:  # The other environments do not need it.
        return
    name = "claimeven/ConnectFour-v0"
    if name not in registry:
        register(
            id=name,
            entry_point="claimeven.envs.gymnasium:ConnectFourEnv",
            vector_entry_point="claimeven.envs.gymnasium:ConnectFourVectorEnv",
        )


_register()
