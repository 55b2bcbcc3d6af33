"""Players, matches, tournaments, reviews, trees, networks and training."""

import multiprocessing
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import claimeven
from claimeven import Agent, Limits, Network, Position, Setup, Solver, positions


def centre(position: Position) -> int:
    """A one-line agent."""
    return min(position.legal_moves, key=lambda column: abs(column - 4))


class Blocker:
    """Wins, blocks, or plays in the centre."""

    games = 0

    def __init__(self) -> None:
        Blocker.games += 1

    def decide(self, position: Position) -> int:
        me = position.player
        for player in (me, 3 - me):
            for column, row in position.threats(player):
                heights = (position.to_array()[:, column - 1] > 0).sum()
                if row == heights + 1 and position.is_legal(column):
                    return column
        return centre(position)


def test_agents_decide() -> None:
    agent = Agent("alphabeta:eval=sawwan,depth=6")
    assert agent.text == "alphabeta:depth=6,eval=sawwan"
    decision = agent.decide("4455")
    assert (decision.column, str(decision.value), decision.value.kind) == (3, "wins in 2", "win")
    assert decision.pv[0] == "3" and len(decision.columns) == 7 and decision.nodes > 0
    assert agent("4455") == 3
    assert pickle.loads(pickle.dumps(agent)).text == agent.text
    limited = Agent("mcts:sims=1000000").decide("", Limits(simulations=50))
    assert limited.simulations <= 50 and sum(limited.shares) == pytest.approx(1)
    for kind in claimeven.agents():
        assert kind.about and all(kind.parameters.values())


@pytest.mark.parametrize(
    "agent", ["random", "influence", "minimax:depth=3", "mtdf:depth=4", "mcts:sims=90", "zero:sims=20", "perfect"]
)
def test_decisions_and_their_values_pickle(agent: str) -> None:
    for position in ("4455", "44", "12121"):
        decision = Agent(agent).decide(position)
        again = pickle.loads(pickle.dumps(decision))
        for name in ("column", "value", "columns", "shares", "pv", "nodes", "simulations", "depth", "seconds", "stopped"):
            assert getattr(again, name) == getattr(decision, name), name
        assert repr(again) == repr(decision) and again.__reduce__() == decision.__reduce__()
        assert str(pickle.loads(pickle.dumps(decision.value))) == str(decision.value)
    with pytest.raises(ValueError, match="unknown kind"):
        claimeven.Value._of("x", 1)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_other_processes_decide(method: str) -> None:
    agent, limits, texts = Agent("alphabeta:depth=6"), Limits(depth=3, nodes=10**6, seconds=60), ["44", "4455", "121"]
    expected = [agent.decide(text, limits) for text in texts]
    solver = Solver(threads=1, table_mb=3, book=False)
    with multiprocessing.get_context(method).Pool(2) as pool:
        decided = pool.starmap_async(agent.decide, [(text, limits) for text in texts]).get(timeout=600)
        scores = pool.map_async(solver.score, texts).get(timeout=600)
    assert [(found.pv, found.columns, found.nodes) for found in decided] == [
        (found.pv, found.columns, found.nodes) for found in expected
    ]
    assert scores == [solver.score(text) for text in texts]


def test_limits_and_solvers_pickle() -> None:
    for limits in (Limits(), Limits(depth=3, nodes=2**60, simulations=7, seconds=0.25)):
        assert repr(pickle.loads(pickle.dumps(limits))) == repr(limits)

    for solver in (Solver(), Solver(book=False), Solver(threads=2, table_mb=5, book=True)):
        again = pickle.loads(pickle.dumps(solver))
        assert type(again) is Solver and repr(again) == repr(solver)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Agent("alphabet"), "did you mean alphabeta"),
        (lambda: Agent("mcts:sims=x"), "sims 'x' of mcts"),
        (lambda: Agent("random").decide("1212121"), "the game is over"),
        (lambda: Agent("zero").decide(Position("", Setup(5, 5))), "no embedded network"),
        (lambda: Limits(seconds=-1), "expected a number of at least 0"),
        (lambda: claimeven.match("random", "nobody"), "unknown player 'nobody'"),
        (lambda: claimeven.match("random", "random", games=0), "at least 1 game"),
        (lambda: claimeven.match("random", "random", openings="x"), "unknown openings 'x'"),
        (lambda: claimeven.tournament(["random"]), "player"),
        (lambda: claimeven.search_tree("", "random"), "no search tree"),
        (lambda: claimeven.search_tree(Position.from_array(np.zeros((6, 7), np.uint8)), "mcts"), "not known"),
        (lambda: claimeven.train("x", iterations=1, preset="x"), "unknown preset 'x'"),
        (lambda: claimeven.train("x", iterations=1, parameters={"x": 1}), "unknown parameter 'x'"),
        (lambda: claimeven.train("x"), "iterations or minutes"),
        (lambda: Network.load("no such file"), "no such file"),
        (lambda: Network(Setup(5, 5)), "no embedded network"),
    ],
)
def test_bad_input_is_a_value_error_that_names_it(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


def test_own_agents_play_matches() -> None:
    result = claimeven.match(Blocker, centre, games=20, threads=2)
    assert result.players == ("Blocker", "centre")
    # One more is created before the first game, to check that it can play.
    assert result.results.games == 20 == len(result.games) and Blocker.games == 21
    assert result.elo.low < result.elo.estimate < result.elo.high
    assert result.score.estimate > 0.5
    assert "Elo" in str(result)
    for game in result.games:
        assert game.position.is_over
    same = claimeven.match(Blocker, centre, games=20, threads=1)
    assert [game.moves for game in same.games] == [game.moves for game in result.games]


@pytest.mark.parametrize("openings", ["none", "random:5", None])
def test_own_agents_know_the_moves_of_their_games(openings: str | None) -> None:
    seen: set[str] = set()

    def own(position: Position) -> int:
        assert position.moves is not None and Position(position.moves) == position
        seen.add(position.moves)
        if position.ply % 5 == 0:
            tree = claimeven.search_tree(position, "minimax:depth=2", max_nodes=3)
            assert tree.column in position.legal_moves
        return centre(position)

    result = claimeven.match(own, "random", games=20, openings=openings)
    table = claimeven.tournament([own, "level:1", centre], games=10, openings=openings)
    assert len(seen) > 100
    # Some of the random openings lead to the same position.
    if openings != "random:5":
        assert all(any(game.moves.startswith(moves) for game in result.games + table.games) for moves in seen)


def test_positions_without_a_history_have_no_moves() -> None:
    def own(position: Position) -> int:
        assert position.moves is None
        return centre(position)

    assert claimeven.evaluate(own, 20, plies=(8, 20)).positions == 20


def test_own_agents_may_take_limits() -> None:
    taken: list[tuple[str, object]] = []

    def second(position: Position, limits: Limits) -> int:
        taken.append(("second", limits))
        return centre(position)

    def positional(position: Position, limits: Limits, /) -> int:
        taken.append(("positional", limits))
        return centre(position)

    def keyword(position: Position, *, limits: Limits | None = None) -> int:
        taken.append(("keyword", limits))
        return centre(position)

    def other(position: Position, depth: int = 3, **limits: object) -> int:
        taken.append(("other", depth if not limits else limits))
        return centre(position)

    class Delegate:
        """Passes the limits on."""

        def decide(self, position: Position, limits: Limits) -> claimeven.Decision:
            taken.append(("Delegate", limits))
            return Agent("mcts:sims=20").decide(position, limits)

    for player in (second, positional, keyword, other, Delegate, Agent("mcts:sims=20").decide):
        assert claimeven.match(player, "random", games=2).results.games == 2
        assert claimeven.evaluate(player, ["44"]).positions == 1
    assert {name for name, _ in taken} == {"second", "positional", "keyword", "other", "Delegate"}
    for name, limits in taken:
        assert limits == 3 if name == "other" else isinstance(limits, Limits), name


def test_errors_of_own_agents_are_raised_or_forfeit_the_game() -> None:
    def broken(position: Position) -> int:
        raise ZeroDivisionError("oops")

    def illegal(position: Position) -> int:
        return 99

    def text(position: Position) -> int:
        return "4"  # type: ignore[return-value]

    with pytest.raises(ZeroDivisionError, match="oops"):
        claimeven.match(broken, "random")
    with pytest.raises(ValueError, match="no column 99"):
        claimeven.match("random", illegal)
    with pytest.raises(TypeError, match="must return a column"):
        claimeven.tournament(["random", text])
    with pytest.raises(TypeError, match="a player must be"):
        claimeven.match(3, "random")  # type: ignore[arg-type]
    lost = claimeven.match(broken, "random", games=4, forfeit=True)
    assert lost.results.lost == 4 and {game.reason for game in lost.games} == {"forfeit"}


def test_a_tournament_ranks_its_players() -> None:
    calls: list[tuple[int, int]] = []
    table = claimeven.tournament(
        ["random", Blocker, "alphabeta:depth=6"],
        games=10,
        progress=lambda done, of: calls.append((done, of)),
    )
    assert [player.name for player in table.standings] == ["alphabeta:depth=6", "Blocker", "random"]
    assert calls[-1] == (30, 30) and len(table.games) == 30
    assert table.head_to_head[0][1].games == 10
    assert "alphabeta:depth=6" in str(table)


def test_a_sequential_test_ends_a_match() -> None:
    result = claimeven.match("alphabeta:depth=6", "random", games=400, sprt=(0, 50))
    assert result.sprt == "accepted" and result.results.games < 400


def test_strength_is_measured() -> None:
    perfect = claimeven.evaluate("perfect", 100, plies=(10, 30))
    weak = claimeven.evaluate(centre, 100, plies=(10, 30))
    assert perfect.errors == 0 and perfect.best_rate.estimate == 1.0
    assert weak.errors > 10 and weak.positions == 100
    given = claimeven.evaluate("random", ["4455", "44"])
    assert given.positions == 2
    assert claimeven.evaluate("random", iter(["4455", Position("44")])).positions == 2


def test_a_review_finds_the_blunder() -> None:
    review = claimeven.review("1221")
    assert review.moves[0].judgement == "blunder" and review.moves[0].best == (4,)
    assert review.players[0].blunders >= 1
    assert "blunder (best: 4)" in str(review)


@pytest.mark.parametrize("agent", ["minimax:depth=2", "alphabeta:depth=3", "mtdf:depth=3", "mcts:sims=200"])
def test_search_trees_are_nested(agent: str) -> None:
    tree = claimeven.search_tree("4455", agent, max_nodes=60)
    assert 1 < len(tree) <= 60 and tree.svg.startswith("<svg") and tree.root.column is None
    chosen = [node for node in tree.root.walk() if node.chosen and node.column]
    assert chosen[0].column == tree.column
    if agent == "minimax:depth=2":
        assert [node.column for node in tree.root.children] == [4, 3, 5, 2, 6, 1, 7]


def test_a_network_predicts() -> None:
    network = Network()
    boards = positions.random(100, plies=(0, 30), seed=6)
    policy, wdl = network.predict(boards)
    assert policy.shape == (100, 7) and wdl.shape == (100, 3) and policy.dtype == np.float32
    np.testing.assert_allclose(policy.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(wdl.sum(axis=1), 1, atol=1e-5)
    assert (policy[boards[:, 0, :] != 0] == 0).all()
    alone, _ = network.predict(boards, threads=1)
    assert (alone == policy).all()
    over, _ = network.predict(["1212121"])
    assert (over == 0).all()
    decided = Agent("zero:sims=0").decide("44")
    own = network.predict(["44"])[0][0]
    # The player takes the mean of a position and its mirror image, which is the same here.
    np.testing.assert_allclose(decided.shares, (own + own[::-1]) / 2, atol=1e-5)
    assert (pickle.loads(pickle.dumps(network)).predict(boards)[0] == policy).all()


def test_a_network_predicts_well() -> None:
    """Its preferred moves mostly keep the result."""
    boards = positions.random(300, plies=(8, 24), seed=8)
    scores = Solver().scores_batch(boards)
    chosen = Network().predict(boards)[0].argmax(axis=1)
    signs = np.sign(scores)
    kept = signs[np.arange(300), chosen] == signs.max(axis=1)
    assert kept.mean() > 0.8


def test_weights_can_be_read_and_replaced(tmp_path: Path) -> None:
    network = Network.untrained(Setup(5, 4, 3), blocks=1, channels=8)
    weights = network.weights
    assert weights["stem.conv"].shape == (8, 7, 3, 3) and network.blocks == 1
    path = tmp_path / "small.safetensors"
    network.save(path)
    again = Network.load(path)
    assert all((again.weights[name] == weights[name]).all() for name in weights)
    zeros = network.with_weights({"policy.columns.weight": weights["policy.columns.weight"] * 0})
    policy, _ = zeros.predict([Position("", Setup(5, 4, 3))])
    np.testing.assert_allclose(policy, 0.2, atol=1e-6)
    with pytest.raises(ValueError, match="unknown weights 'x'"):
        network.with_weights({"x": weights["stem.conv"]})
    with pytest.raises(ValueError, match="have shape"):
        network.with_weights({"stem.conv": weights["stem.gain"]})
    with pytest.raises(ValueError, match="float32"):
        network.with_weights({"stem.conv": weights["stem.conv"].astype(np.float64)})  # type: ignore[dict-item]


@pytest.mark.parametrize("setup", [Setup(), Setup(6, 5, 3)])
def test_onnxruntime_agrees_with_the_network(setup: Setup, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    network = Network() if setup == Setup() else Network.untrained(setup, blocks=2, channels=16)
    model = network.to_onnx()
    onnx.checker.check_model(onnx.load_from_string(model), full_check=True)
    boards = positions.random(257, plies=(0, 20), seed=2, setup=setup)
    session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
    logits, wdl = session.run(["policy", "wdl"], {"planes": network.planes(boards)})
    logits[boards[:, 0, :] != 0] = -np.inf
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    policy, own = network.predict(boards)
    np.testing.assert_allclose(policy, exponents / exponents.sum(axis=1, keepdims=True), atol=1e-4)
    np.testing.assert_allclose(own, wdl, atol=1e-4)


def test_training_reports_and_resumes(tmp_path: Path) -> None:
    setup = Setup(4, 4, 3)
    parameters = {
        "architecture.blocks": 1,
        "architecture.channels": 8,
        "self_play.games": 20,
        "self_play.full_simulations": 8,
        "self_play.fast_simulations": 4,
        "gate.every": 1,
        "gate.pairs": 2,
        "exam.positions": 20,
    }
    events: list[claimeven.TrainingEvent] = []
    folder = tmp_path / "run"
    network = claimeven.train(
        folder, iterations=1, parameters=parameters, setup=setup, threads=2, progress=events.append
    )
    assert network.setup == setup and network.channels == 8
    assert events[-1].stage == "done" and events[-1].metrics is not None
    assert events[-1].metrics["games"] == 20
    with pytest.raises(ValueError, match="already|exists"):
        claimeven.train(folder, iterations=2, parameters=parameters, setup=setup)
    claimeven.train(folder, iterations=2, parameters=parameters, setup=setup, resume=True)
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == 2
    game = claimeven.match(f"zero:sims=8,model={folder}", "random", games=2, setup=setup)
    assert game.results.games == 2
    assert os.path.exists(folder / "best.safetensors")
