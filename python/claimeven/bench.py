"""The speed of this package compared with others in the same run: ``python -m claimeven.bench``.

Peers that are not installed are skipped with a message: bitbully, pettingzoo, open_spiel, pgx, pufferlib, onnxruntime.
Every measurement checks that both sides have the same results.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from claimeven import Game, Network, Position, Solver, positions


@dataclass(frozen=True)
class Measurement:
    """A figure compared with that of a peer."""

    what: str
    peer: str
    unit: str
    ours: float
    theirs: float
    bar: float | None
    """The target ratio."""

    @property
    def ratio(self) -> float:
        """How many times as fast as the peer we are: more per second, or less time."""
        return self.ours / self.theirs if self.unit.endswith("/s") else self.theirs / self.ours

    @property
    def is_met(self) -> bool | None:
        return None if self.bar is None else self.ratio >= self.bar


@contextmanager
def one_core() -> Iterator[None]:
    """Pins the process to one processor, if the system supports it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def best_of(times: int, *runs: Callable[[], Any]) -> list[float]:
    """The shortest processor time of each run in seconds, which other load on the machine does not affect.

    The runs alternate; garbage collection is not measured.
    """
    best = [float("inf")] * len(runs)
    for _ in range(times):
        for index, run in enumerate(runs):
            gc.collect()
            start = time.process_time()
            run()
            best[index] = min(best[index], time.process_time() - start)
    return best


# The sets with the number of positions that are solved and the ratio to bitbully, both as in docs/solver.md.
SETS = {
    "End-Easy": ("Test_L3_R1", 1000, 23.1),
    "Middle-Easy": ("Test_L2_R1", 1000, 16.9),
    "Middle-Medium": ("Test_L2_R2", 1000, 10.1),
    "Begin-Easy": ("Test_L1_R1", 1000, 49.4),
    "Begin-Medium": ("Test_L1_R2", 1000, 9.5),
    "Begin-Hard": ("Test_L1_R3", 30, 30.2),
}


# Both solvers take turns this many times in each set.
BLOCKS = 10


def single_scores(options: argparse.Namespace) -> Iterator[Measurement]:
    """One position at a time, no book, the table cleared before each: the six public sets.

    Short sets are solved several times, and the shortest time of each position counts: one interruption by the system
    takes as long as thousands of easy positions.
    """
    import bitbully

    if options.sets is None:
        print("skipped: single scores require --sets DIR with the public test sets", file=sys.stderr)
        return
    solver, peer = Solver(book=False, threads=1), bitbully.BitBully(opening_book=None)
    for name in options.set or SETS:
        file, count, ratio = SETS[name]
        lines = [line.split() for line in (options.sets / file).read_text().splitlines()[:count]]
        scores = [int(score) for _, score in lines]
        own = [Position(moves) for moves, _ in lines]
        their = [bitbully.Board.from_moves([int(move) - 1 for move in moves]) for moves, _ in lines]
        # In turns, because the speed of a shared machine changes within minutes, but in blocks: clearing the peer's larger
        # table evicts ours from the processor's caches.
        ours = theirs = 0.0
        size = max(1, len(lines) // BLOCKS)
        for start in range(0, len(lines), size):
            block = slice(start, start + size)
            ours += sum_of_times(solver.score, solver.clear, own[block], scores[block]) / len(lines)
            theirs += sum_of_times(peer.mtdf, peer.reset_transposition_table, their[block], scores[block]) / len(lines)
        what = f"one score, {name} ({len(lines)} positions)"
        yield Measurement(what, "bitbully", "us", 1e6 * ours, 1e6 * theirs, 0.8 * ratio)


def sum_of_times(
    score: Callable[[Any], int], clear: Callable[[], object], given: list[Any], expected: list[int]
) -> float:
    """The sum of the shortest times in seconds, of up to ten passes within a second."""
    best = [float("inf")] * len(given)
    end = time.perf_counter() + 1
    for _ in range(10):
        for index, position in enumerate(given):
            clear()
            start = time.perf_counter()
            found = score(position)
            best[index] = min(best[index], time.perf_counter() - start)
            assert found == expected[index], (position, found)
        if time.perf_counter() > end:
            break
    return sum(best)


def all_columns(options: argparse.Namespace) -> Iterator[Measurement]:
    """The scores of all columns of random positions in one call, with books on both sides."""
    import bitbully

    boards = positions.random(100_000, plies=(0, 36), seed=1)
    solver = Solver()
    start, processor = time.perf_counter(), time.process_time()
    scores = solver.scores_batch(boards)
    ours = len(boards) / (time.perf_counter() - start)
    our_core = len(boards) / (time.process_time() - processor)
    peer = bitbully.BitBully(opening_book="12-ply-dist")
    count = 0
    spent = spent_processor = 0.0
    for board, columns in zip(boards, scores, strict=True):
        own = bitbully.Board.from_array(board.tolist())
        start, processor = time.perf_counter(), time.process_time()
        found = peer.score_all_moves(own)
        spent += time.perf_counter() - start
        spent_processor += time.process_time() - processor
        count += 1
        assert found == {c: s for c, s in enumerate(columns.tolist()) if s is not None}, own
        if spent > options.seconds:
            break
    what = f"scores of all columns of 100 000 random positions in one call (peer: the first {count})"
    yield Measurement(what, "bitbully", "positions/s", ours, count / spent, bar=20)
    # On a busy machine, two threads lose more than one.
    what = "the same in processor time, one core each"
    yield Measurement(what, "bitbully", "positions/s", our_core, count / spent_processor, bar=None)


def playing(options: argparse.Namespace) -> Iterator[Measurement]:
    """Random games, one ``play`` at a time, until the game is over."""
    import bitbully

    draw = random.Random(1).random
    games = []
    for _ in range(500):
        game = Game()
        while not game.is_over:
            legal = game.legal_moves
            game.play(legal[int(draw() * len(legal))])
        games.append([int(move) for move in game.moves])
    plies = sum(map(len, games))
    other = [[move - 1 for move in moves] for moves in games]

    def ours() -> None:
        for moves in games:
            game = Game()
            for move in moves:
                game.play(move)
            assert game.is_over

    def theirs() -> None:
        for moves in other:
            board = bitbully.Board()
            for move in moves:
                board.play(move)
            assert board.is_game_over()

    def our_copies() -> None:
        for moves in games:
            position = Position()
            for move in moves:
                position = position.play(move)
            assert position.is_over

    def their_copies() -> None:
        for moves in other:
            board = bitbully.Board()
            for move in moves:
                board = board.play_on_copy(move)
            assert board.is_game_over()

    def our_choice() -> None:
        draw = random.Random(1).random
        for _ in games:
            game = Game()
            while not game.is_over:
                legal = game.legal_moves
                game.play(legal[int(draw() * len(legal))])

    def their_choice() -> None:
        draw = random.Random(1).random
        for _ in games:
            board = bitbully.Board()
            while not board.is_game_over():
                legal = board.legal_moves()
                board.play(legal[int(draw() * len(legal))])

    with one_core():
        times = best_of(20, ours, theirs, our_copies, their_copies, our_choice, their_choice)
    what = ["given moves, one play at a time", "given moves, a new position each", "random choice of the legal moves"]
    for index, text in enumerate(what):
        own, their = (plies / seconds for seconds in times[2 * index : 2 * index + 2])
        bar = 10 if index == 0 else None
        yield Measurement(f"playing random games: {text}", "bitbully", "plies/s", own, their, bar)


GAMES = 1024


def vector_steps(seconds: float) -> float:
    """Steps per second of processor time of random games in our vector environment, resets included."""
    from claimeven.envs.gymnasium import ConnectFourVectorEnv

    env = ConnectFourVectorEnv(GAMES, autoreset_mode="SameStep", copy=False)
    env.reset(seed=1)
    for _ in range(100):
        env.step(env.random_actions())
    steps, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        for _ in range(100):
            env.step(env.random_actions())
        steps += 100 * GAMES
    return steps / (time.process_time() - start)


def environments(options: argparse.Namespace) -> Iterator[Measurement]:
    """Random games on one core: ours 1024 at a time, the others as they are meant to be used."""
    peers: list[tuple[str, Callable[[float], float], float | None]] = [
        ("pettingzoo", pettingzoo_steps, 500),
        ("open_spiel", open_spiel_steps, 20),
        ("pgx", pgx_steps, 1),
        ("pufferlib", pufferlib_steps, 1),
    ]
    for name, run, bar in peers:
        try:
            with one_core():
                theirs = run(options.seconds / 4)
                ours = vector_steps(options.seconds / 4)
        except ImportError as error:
            print(f"skipped: {name} is not installed ({error})", file=sys.stderr)
            continue
        what = f"environment, random games, {GAMES} at once, one core"
        yield Measurement(what, name, "steps/s", ours, theirs, bar)


def pettingzoo_steps(seconds: float) -> float:
    import numpy as np
    from pettingzoo.classic import connect_four_v3

    env = connect_four_v3.env()
    rng = np.random.default_rng(1)
    steps, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
            steps += 1
    return steps / (time.process_time() - start)


def open_spiel_steps(seconds: float) -> float:
    import pyspiel

    game = pyspiel.load_game("connect_four")
    rng = random.Random(1)
    steps, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
            state.observation_tensor(0)
            steps += 1
    return steps / (time.process_time() - start)


def pgx_steps(seconds: float) -> float:
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("connect_four")
    init, step = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))
    length = 100

    def play(state: Any, key: Any) -> Any:
        action_key, reset_key = jax.random.split(key)
        logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
        action = jax.random.categorical(action_key, logits, axis=1)
        return step(state, action, jax.random.split(reset_key, GAMES)), state.observation.sum()

    run = jax.jit(lambda state, key: jax.lax.scan(play, state, jax.random.split(key, length)))
    state = jax.jit(init)(jax.random.split(jax.random.PRNGKey(1), GAMES))
    state, seen = run(state, jax.random.PRNGKey(2))
    seen.block_until_ready()
    steps, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        state, seen = run(state, jax.random.PRNGKey(steps))
        seen.block_until_ready()
        steps += length * GAMES
    return steps / (time.process_time() - start)


def pufferlib_steps(seconds: float) -> float:
    import numpy as np
    from pufferlib.ocean.connect4 import connect4

    env = connect4.Connect4(num_envs=GAMES)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    actions = rng.integers(0, 7, (100, GAMES))
    steps, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        for action in actions:
            env.step(action)
        steps += 100 * GAMES
    return steps / (time.process_time() - start)


def predicting(options: argparse.Namespace) -> Iterator[Measurement]:
    """The built-in network on 4096 positions, one core; the peer gets precomputed input planes."""
    import numpy as np
    import onnxruntime

    network = Network()
    boards = positions.random(4096, plies=(0, 36), seed=1)
    planes = network.planes(boards)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(network.to_onnx(), settings, providers=["CPUExecutionProvider"])
    _, own = network.predict(boards, threads=1)
    _, their = session.run(None, {"planes": planes})
    assert np.abs(own - their).max() < 1e-4
    with one_core():
        times = best_of(
            8, lambda: network.predict(boards, threads=1), lambda: session.run(None, {"planes": planes})
        )
    figures = [len(boards) / seconds for seconds in times]
    yield Measurement("network, 4096 positions, one core", "onnxruntime", "positions/s", figures[0], figures[1], 1)


BENCHMARKS: dict[str, Callable[[argparse.Namespace], Iterator[Measurement]]] = {
    "scores": single_scores,
    "columns": all_columns,
    "environments": environments,
    "playing": playing,
    "network": predicting,
}


def figure(value: float) -> str:
    """A figure with three significant digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def main(arguments: list[str] | None = None) -> int:
    """Runs the benchmarks and prints a table."""
    parser = argparse.ArgumentParser(prog="python -m claimeven.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"benchmarks to run: {', '.join(BENCHMARKS)}")
    parser.add_argument("--sets", type=Path, metavar="DIR", help="folder of the public test sets (Test_L1_R1 and so on)")
    parser.add_argument("--set", action="append", choices=SETS, help="only this test set (may be repeated)")
    parser.add_argument("--seconds", type=float, default=20.0, help="maximum time for slow peers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON, keeping others in the file")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark '{unknown[0]}' (available: {', '.join(BENCHMARKS)})")
    found: list[Measurement] = []
    print("| what | peer | ours | theirs | ratio | bar |\n|---|---|---|---|---|---|")
    for name, benchmark in BENCHMARKS.items():
        if options.names and name not in options.names:
            continue
        try:
            for measured in benchmark(options):
                found.append(measured)
                ours, theirs = (f"{figure(value)} {measured.unit}" for value in (measured.ours, measured.theirs))
                bar = "" if measured.bar is None else f"{measured.bar:.3g}"
                missed = " (missed)" if measured.is_met is False else ""
                row = (measured.what, measured.peer, ours, theirs, f"{measured.ratio:.3g}", bar + missed)
                print(f"| {' | '.join(row)} |", flush=True)
        except ImportError as error:
            print(f"skipped: {name} ({error})", file=sys.stderr)
    if options.json is not None:
        old = json.loads(options.json.read_text()) if options.json.exists() else []
        rows = {(row["what"], row["peer"]): row for row in old}
        for measured in found:
            rows[measured.what, measured.peer] = {**asdict(measured), "ratio": measured.ratio}
        options.json.write_text(json.dumps([*rows.values()], indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
