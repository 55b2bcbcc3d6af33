"""Comparison with independent packages."""

import random

import numpy as np
import pytest

from claimeven import Position, Solver, openspiel, positions

SIZES = [(6, 7, 4), (5, 4, 3), (7, 8, 4), (4, 4, 2), (8, 9, 5)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_openspiel_plays_the_same_game(size: tuple[int, int, int]) -> None:
    """10 000 random games in all, with equal legal actions, boards, observations and returns at every ply."""
    import pyspiel

    parameters = dict(zip(("rows", "columns", "x_in_row"), size, strict=True))
    theirs, ours = pyspiel.load_game("connect_four", parameters), openspiel.load_game("connect_four", parameters)
    assert ours.num_distinct_actions() == theirs.num_distinct_actions()
    assert ours.observation_tensor_shape() == theirs.observation_tensor_shape()
    rng = random.Random(str(size))
    for game in range(10_000 // len(SIZES)):
        state, own = theirs.new_initial_state(), ours.new_initial_state()
        while True:
            assert own.is_terminal() == state.is_terminal()
            assert own.current_player() == state.current_player()
            assert own.legal_actions() == state.legal_actions()
            assert str(own) == str(state)
            assert own.returns() == state.returns()
            assert own.history() == state.history()
            if game % 20 == 0:
                assert own.observation_tensor(0) == list(state.observation_tensor(0))
                assert own.legal_actions_mask() == list(state.legal_actions_mask())
            if state.is_terminal():
                break
            action = rng.choice(state.legal_actions())
            assert own.action_to_string(own.current_player(), action) == state.action_to_string(action)
            state.apply_action(action)
            own.apply_action(action)


def test_a_bot_plays_in_openspiel() -> None:
    import pyspiel

    game = pyspiel.load_game("connect_four")
    bot = openspiel.ConnectFourBot("alphabeta:depth=4")
    opponent = pyspiel.make_uniform_random_bot(1, 7)
    points = 0.0
    for _ in range(20):
        state = game.new_initial_state()
        while not state.is_terminal():
            player = bot if state.current_player() == 0 else opponent
            state.apply_action(player.step(state))
        points += state.returns()[0]
    assert points > 15


def test_bitbully_has_the_same_scores() -> None:
    """All moves of 1 000 random positions."""
    import bitbully

    peer = bitbully.BitBully(opening_book="12-ply-dist")
    boards = positions.random(1000, plies=(4, 36), seed=11)
    scores = Solver().scores_batch(boards)
    for board, columns in zip(boards, scores, strict=True):
        found = peer.score_all_moves(bitbully.Board.from_array(board.tolist()))
        assert found == {column: score for column, score in enumerate(columns.tolist()) if score is not None}


def test_pgx_has_the_same_observations() -> None:
    import jax
    import pgx

    env = pgx.make("connect_four")
    init, step = jax.jit(env.init), jax.jit(env.step)
    rng = np.random.default_rng(1)
    for game in range(20):
        state, position = init(jax.random.PRNGKey(game)), Position()
        while not position.is_over:
            assert (np.asarray(state.observation) == position.planes()).all()
            assert (np.asarray(state.legal_action_mask) == position.action_mask()).all()
            column = int(rng.choice(position.legal_moves))
            state, position = step(state, column - 1), position.play(column)
        assert bool(state.terminated)
        winner = position.winner
        assert sorted(np.asarray(state.rewards).tolist()) == ([0, 0] if winner is None else [-1, 1])
