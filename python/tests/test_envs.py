"""Environments, and the official checks of their interfaces."""

import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from claimeven import Position, Setup, openspiel

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.vector import AutoresetMode  # noqa: E402

from claimeven.envs.gymnasium import ConnectFourEnv, ConnectFourVectorEnv  # noqa: E402


@pytest.fixture
def zoo() -> Any:
    pytest.importorskip("pettingzoo")
    from claimeven.envs import pettingzoo

    return pettingzoo


@pytest.mark.parametrize("size", [{}, {"cols": 9, "rows": 7, "connect": 5}])
def test_pettingzoos_own_tests(zoo: Any, size: dict[str, int], capsys: pytest.CaptureFixture[str]) -> None:
    from pettingzoo.test import api_test, performance_benchmark, seed_test

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=UserWarning)
        api_test(zoo.env(**size), num_cycles=200)
        seed_test(lambda: zoo.env(**size), num_cycles=200)
    performance_benchmark(zoo.env(**size))
    assert "turns per second" in capsys.readouterr().out


def test_the_environment_matches_pettingzoo(zoo: Any) -> None:
    """Step by step on random games, illegal moves among them."""
    theirs_module = pytest.importorskip("pettingzoo.classic.connect_four_v3")
    ours, theirs = zoo.env(), theirs_module.env()
    rng = np.random.default_rng(1)
    for game in range(60):
        ours.reset(seed=game)
        theirs.reset(seed=game)
        for agent in theirs.agent_iter():
            own, their = ours.last(), theirs.last()
            assert ours.agent_selection == agent
            assert (own[0]["observation"] == their[0]["observation"]).all()
            assert own[0]["observation"].dtype == their[0]["observation"].dtype == np.int8
            assert (own[0]["action_mask"] == their[0]["action_mask"]).all()
            assert own[1:4] == their[1:4]
            other = ours.possible_agents[1 - ours.possible_agents.index(agent)]
            assert (ours.observe(other)["observation"] == theirs.observe(other)["observation"]).all()
            action = None
            if not (own[2] or own[3]):
                mask = own[0]["action_mask"]
                legal = np.flatnonzero(mask)
                action = int(rng.choice(legal if rng.random() < 0.99 else np.arange(7)))
            ours.step(action)
            theirs.step(action)


def test_pettingzoo_make(zoo: Any) -> None:
    import pettingzoo

    if not hasattr(pettingzoo, "make"):
        pytest.skip("this PettingZoo has no make")
    env = pettingzoo.make("aec", "claimeven/connect_four-v3", cols=8, rows=7)
    env.reset()
    assert env.last()[0]["observation"].shape == (7, 8, 2)
    pixels = zoo.env(render_mode="rgb_array")
    pixels.reset()
    pixels.step(3)
    image = pixels.render()
    assert image.dtype == np.uint8 and image.shape[2] == 3 and len(np.unique(image.reshape(-1, 3), axis=0)) == 3


@pytest.mark.parametrize("opponent", ["random", "alphabeta:depth=2", "level:3"])
def test_gymnasiums_own_check(opponent: str) -> None:
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make("claimeven/ConnectFour-v0", opponent=opponent, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


def test_rewards_match_the_result() -> None:
    env = ConnectFourEnv("random", first="agent")
    results = []
    for seed in range(60):
        _, info = env.reset(seed=seed)
        done = False
        while not done:
            legal = np.flatnonzero(info["action_mask"])
            assert [column - 1 for column in env.position.legal_moves] == legal.tolist()
            _, reward, done, _, info = env.step(legal[len(legal) // 2])
        position = env.position
        assert reward == {None: 0.0, 1: 1.0, 2: -1.0}[position.winner]
        results.append(reward)
    assert np.mean(results) > 0
    env.reset(seed=1)
    _, reward, done, _, _ = env.step(7)
    assert (reward, done) == (-1.0, True)
    with pytest.raises(ValueError, match="must be reset"):
        env.step(0)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("setup", [Setup(), Setup(9, 7, 4), Setup(10, 8, 4), Setup(4, 4, 3, "lines")])
def test_games_of_a_vector_follow_the_rules(mode: AutoresetMode, setup: Setup) -> None:
    """Every game is replayed on positions."""
    env = ConnectFourVectorEnv(16, setup=setup, autoreset_mode=mode)
    observations, infos = env.reset(seed=3)
    games = [Position("", setup) for _ in range(16)]
    finished = 0
    was_over = np.zeros(16, bool)
    for _ in range(200):
        for index, game in enumerate(games):
            assert (observations[index] == game.planes()).all()
            assert (infos["action_mask"][index] == game.action_mask()).all()
        actions = env.random_actions()
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert not truncated.any()
        for index, action in enumerate(actions):
            if mode is AutoresetMode.NEXT_STEP and was_over[index]:
                games[index] = Position("", setup)
                assert (rewards[index], terminated[index]) == (0, False)
                continue
            mover = games[index].player
            games[index] = games[index].play(int(action) + 1)
            assert terminated[index] == games[index].is_over
            winner = games[index].winner
            assert rewards[index] == (0 if winner is None else 1 if winner == mover else -1)
            if terminated[index]:
                finished += 1
                if mode is AutoresetMode.SAME_STEP:
                    assert infos["_final_obs"][index]
                    assert (infos["final_obs"][index] == games[index].planes()).all()
                    games[index] = Position("", setup)
        was_over = terminated
        if mode is AutoresetMode.DISABLED and terminated.any():
            observations, infos = env.reset(options={"reset_mask": terminated})
            for index in np.flatnonzero(terminated):
                games[index] = Position("", setup)
    assert finished > 16


def test_a_vector_environment_matches_gymnasiums_own() -> None:
    """The same spaces, shapes and types as a vector of single environments."""
    ours = gymnasium.make_vec("claimeven/ConnectFour-v0", num_envs=3, vectorization_mode="vector_entry_point")
    theirs = gymnasium.make_vec("claimeven/ConnectFour-v0", num_envs=3, vectorization_mode="sync")
    assert ours.observation_space == theirs.observation_space
    assert ours.single_action_space == theirs.single_action_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    results = [env.reset(seed=1) + env.step(np.array([1, 2, 3])) for env in (ours, theirs)]
    for own, their in zip(*results, strict=True):
        if isinstance(own, np.ndarray):
            assert (own.shape, own.dtype) == (their.shape, their.dtype)
        else:
            assert own["action_mask"].shape == their["action_mask"].shape
            assert own["_action_mask"].all() and their["_action_mask"].all()
    statistics = gymnasium.wrappers.vector.RecordEpisodeStatistics(ours)
    statistics.reset(seed=2)
    for _ in range(100):
        *_, infos = statistics.step(ours.unwrapped.random_actions())
    assert statistics.episode_count > 3


def test_infos_have_the_form_of_gymnasiums_own() -> None:
    """Where games have ended and the next ones have begun in the same step."""
    kwargs = {"autoreset_mode": AutoresetMode.SAME_STEP}
    theirs = gymnasium.make_vec("claimeven/ConnectFour-v0", num_envs=3, vectorization_mode="sync", vector_kwargs=kwargs)
    ours = ConnectFourVectorEnv(3, opponent="random", autoreset_mode=AutoresetMode.SAME_STEP)

    def form(infos: dict[str, Any]) -> dict[str, Any]:
        return {key: form(value) if isinstance(value, dict) else value.shape for key, value in infos.items()}

    def infos_at_an_end(env: Any) -> dict[str, Any]:
        env.reset(seed=1)
        infos: dict[str, Any] = {}
        for _ in range(20):
            if "final_obs" in infos:
                break
            # Sooner or later the column is full.
            *_, infos = env.step(np.zeros(3, np.int64))
        return infos

    own, their = infos_at_an_end(ours), infos_at_an_end(theirs)
    # Ours is an array of numbers instead of one of observations.
    assert form({**own, "final_obs": np.zeros(3)}) == form(their)
    for infos in (own, their):
        ended = infos["_final_info"]
        assert ended.any() and (ended == infos["_final_obs"]).all()
        assert (infos["final_info"]["_action_mask"] == ended).all()
        assert not infos["final_info"]["action_mask"].any()


@pytest.mark.parametrize("copy", [True, False])
def test_a_caller_may_change_infos(copy: bool) -> None:
    env = ConnectFourVectorEnv(4, copy=copy)
    _, infos = env.reset(seed=1)
    infos["_action_mask"][:] = False
    *_, infos = env.step(env.random_actions())
    assert infos["_action_mask"].all()
    env.reset()
    assert env.step(env.random_actions())[4]["_action_mask"].all()


def test_a_reset_mask_may_be_a_list() -> None:
    env = ConnectFourVectorEnv(4)
    env.reset(seed=1)
    env.step(env.random_actions())
    env.reset(options={"reset_mask": [True, False, False, True]})
    assert env.games.plies().tolist() == [0, 1, 1, 0]
    env.reset(options={"reset_mask": np.array([0, 1, 1, 1, 0, 1, 1, 1], bool)[1::2]})
    assert env.games.plies().tolist() == [0, 0, 0, 0]
    for mask in ([1, 0, 0, 1], [True], "abcd", [[True]] * 4, [True, None, False, True]):
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options={"reset_mask": mask})


def test_a_step_that_fails_changes_nothing() -> None:
    env = ConnectFourVectorEnv(4, autoreset_mode="Disabled", copy=False)
    env.reset(seed=1)
    # An illegal move ends the last game.
    observations, *_ = env.step(np.array([0, 1, 2, 7]))
    before = [observations.copy(), env.boards()]
    with pytest.raises(ValueError, match="game 3 is over"):
        env.step(np.array([0, 1, 2, 3]))
    assert all((old == new).all() for old, new in zip(before, [observations, env.boards()], strict=True))


ENGINE = """
import sys

moves = 0
for line in sys.stdin:
    if line.startswith("go"):
        moves += 1
        print("bestmove", 4 if moves == 1 else 9, flush=True)
    elif line.strip() in ("ugi", "isready"):
        print({"ugi": "ugiok", "isready": "readyok"}[line.strip()], flush=True)
"""


def test_an_opponent_that_fails_changes_nothing(tmp_path: Path) -> None:
    """A program that plays its first move and an illegal one for its second."""
    program = tmp_path / "engine.py"
    program.write_text(ENGINE)
    opponent = f'ugi:cmd="{sys.executable} {program}"'
    env = ConnectFourVectorEnv(3, opponent=opponent, first="agent", copy=False)
    env.reset(seed=1)
    observations, *_ = env.step(np.array([1, 1, 1]))
    assert env.games.plies().tolist() == [2, 2, 2]
    before = [observations.copy(), env.boards()]
    # The first game ends with an illegal move and needs no reply.
    with pytest.raises(ValueError, match="game 1: "):
        env.step(np.array([7, 1, 1]))
    assert all((old == new).all() for old, new in zip(before, [observations, env.boards()], strict=True))


def test_seeds_repeat_games_and_arrays_are_written_in_place() -> None:
    def play(seed: int) -> list[int]:
        env = ConnectFourVectorEnv(8, opponent="random")
        env.reset(seed=seed)
        actions = []
        for _ in range(50):
            actions.append(env.random_actions())
            env.step(actions[-1])
        return np.concatenate(actions).tolist()

    assert play(1) == play(1) != play(2)
    env = ConnectFourVectorEnv(4, copy=False)
    first, _ = env.reset(seed=1)
    second, *_ = env.step(env.random_actions())
    assert first is second
    copied = ConnectFourVectorEnv(4)
    first, _ = copied.reset(seed=1)
    second, *_ = copied.step(copied.random_actions())
    assert first is not second and first.sum() == 0


def test_vector_environments_reject_bad_input() -> None:
    env = ConnectFourVectorEnv(4, autoreset_mode="Disabled")
    with pytest.raises(ValueError, match="must be reset"):
        env.step(np.zeros(4, np.int64))
    env.reset(seed=1)
    with pytest.raises(ValueError, match="3 actions for 4 games"):
        env.step(np.zeros(3, np.int64))
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": np.zeros(3, bool)})
    _, rewards, terminated, _, _ = env.step(np.array([-1, 7, 3, 2**40]))
    assert rewards.tolist() == [-1, -1, 0, -1] and terminated.tolist() == [True, True, False, True]
    for arguments in ({"opponent": "nobody"}, {"first": "x"}, {"autoreset_mode": "x"}):
        with pytest.raises(ValueError, match="x|nobody"):
            ConnectFourVectorEnv(2, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="0 games"):
        ConnectFourVectorEnv(0)


@pytest.mark.parametrize("opponent", ["alphabeta:depth=2", "mcts:sims=20"])
def test_opponents_of_a_vector_play(opponent: str) -> None:
    env = ConnectFourVectorEnv(4, opponent=opponent, autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=1)
    total = 0.0
    for _ in range(60):
        _, rewards, *_ = env.step(env.random_actions())
        total += rewards.sum()
    assert total < -5


OPPONENTS = ["level:3", "mcts:sims=60", "random", "level:1"]


@pytest.mark.parametrize("opponent", OPPONENTS)
def test_episodes_differ_and_seeds_repeat_them(opponent: str) -> None:
    """An opponent is not the same function of the position in every episode."""
    env = ConnectFourEnv(opponent, first="opponent")

    def episodes(seed: int, count: int = 8) -> list[list[int]]:
        env.reset(seed=seed)
        boards = []
        for _ in range(count):
            for action in (1, 3, 5):
                env.step(action)
            boards.append(env.position.to_kaggle())
            env.reset()
        return boards

    first = episodes(1)
    assert len({tuple(board) for board in first}) > 1
    assert first == episodes(1) != episodes(2)


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vectors_repeat_episodes_with_a_seed(opponent: str, mode: AutoresetMode) -> None:
    env = ConnectFourVectorEnv(6, opponent=opponent, autoreset_mode=mode)

    def play(seed: int) -> list[list[int]]:
        env.reset(seed=seed)
        boards = []
        for _ in range(40):
            *_, terminated, _, _ = env.step(env.random_actions())
            if mode is AutoresetMode.DISABLED and terminated.any():
                env.reset(options={"reset_mask": terminated})
            boards.append(env.boards().ravel().tolist())
        return boards

    first = play(1)
    assert first == play(1) != play(2)


def test_environments_without_a_seed_differ() -> None:
    def boards() -> tuple[Any, ...]:
        env = ConnectFourVectorEnv(32, opponent="random", first="opponent")
        env.reset()
        return tuple(env.boards().ravel().tolist())

    def board() -> tuple[int, ...]:
        env = ConnectFourEnv("random", first="opponent")
        env.reset()
        return tuple(env.position.to_kaggle())

    assert boards() != boards()
    assert len({board() for _ in range(40)}) > 1


def test_games_against_players_follow_the_rules() -> None:
    """Every game is replayed: the reply is one legal move, and results are those of the agent."""
    env = ConnectFourVectorEnv(16, opponent="level:1", first="random", autoreset_mode=AutoresetMode.SAME_STEP)
    _, infos = env.reset(seed=5)
    finished = 0
    for _ in range(60):
        before = [Position.from_array(board) for board in env.boards()]
        masks = infos["action_mask"].copy()
        actions = env.random_actions()
        observations, rewards, terminated, _, infos = env.step(actions)
        after = [Position.from_array(board) for board in env.boards()]
        for index, action in enumerate(actions):
            assert masks[index, action] == 1
            moved = before[index].play(int(action) + 1)
            replies = [moved] if moved.is_over else [moved.play(column) for column in moved.legal_moves]
            assert (observations[index] == after[index].planes()).all()
            if not terminated[index]:
                assert rewards[index] == 0 and after[index] in replies
                continue
            finished += 1
            last = infos["final_obs"][index]
            (end,) = [reply for reply in replies if reply.is_over and (reply.planes() == last).all()]
            winner = end.winner
            assert rewards[index] == (0 if winner is None else 1 if winner == before[index].player else -1)
            assert after[index].ply <= 1
    assert finished > 20


def test_the_opponents_of_a_vector_use_all_cores() -> None:
    """Each move takes a fixed time, so that the load of the machine hardly matters."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores < 2:
        pytest.skip("one core")
    env = ConnectFourVectorEnv(8, opponent="timed:ms=100", first="opponent")
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        env.reset(seed=1)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.6, seconds


def test_an_interrupted_step_changes_nothing() -> None:
    env = ConnectFourVectorEnv(8, opponent="mcts:sims=10000000", first="agent", copy=False)
    observations, infos = env.reset(seed=1)
    before = [env.boards(), observations.copy(), infos["action_mask"].copy()]
    # A shell lets programs in the background ignore it.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            env.step(np.full(8, 3))
    finally:
        signal.signal(signal.SIGINT, handler)
    assert all((old == new).all() for old, new in zip(before, [env.boards(), observations, infos["action_mask"]]))


def test_the_openspiel_adapter_plays() -> None:
    state = openspiel.load_game("connect_four", {"rows": 5, "columns": 4, "x_in_row": 3}).new_initial_state()
    bot = openspiel.ConnectFourBot("alphabeta:depth=6")
    while not state.is_terminal():
        assert state.legal_actions_mask().count(1) == len(state.legal_actions())
        state.apply_action(bot.step(state))
    assert state.returns() in ([1.0, -1.0], [-1.0, 1.0], [0.0, 0.0])
    assert state.current_player() == openspiel.TERMINAL_PLAYER and state.legal_actions() == []
