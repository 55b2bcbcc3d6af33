"""Matches, tournaments and strength."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

from claimeven import _native, positions
from claimeven._native import Agent, Decision, Game, Limits, Position, Setup
from claimeven._progress import Progress, callback
from claimeven._solver import Solver, repeatable

if TYPE_CHECKING:
    from claimeven._solver import Boards


class Decider(Protocol):
    """An object that plays, written by you."""

    def decide(self, position: Position, /) -> int | Decision:
        """Chooses a column, from 1."""
        ...


class LimitedDecider(Protocol):
    """An object that plays, written by you, and is told the limits of its search."""

    def decide(self, position: Position, limits: Limits) -> int | Decision:
        """Chooses a column, from 1."""
        ...


class LimitedFunction(Protocol):
    """A function that plays and is told the limits of its search."""

    def __call__(self, position: Position, limits: Limits) -> int | Decision: ...


Player = (
    str
    | Agent
    | Callable[[Position], int | Decision]
    | LimitedFunction
    | Decider
    | LimitedDecider
    | type[Decider]
    | type[LimitedDecider]
)
"""An agent text, an Agent, a function of a position, or an object or class with ``decide(position)``. Functions and
``decide`` may have a parameter ``limits``."""


@dataclass(frozen=True)
class AgentInfo:
    """A kind of player."""

    name: str
    about: str
    has_tree: bool
    parameters: dict[str, str]
    """A description of each parameter and its values."""


def agents() -> list[AgentInfo]:
    """The built-in players, the simplest first.

    >>> import claimeven
    >>> [agent.name for agent in claimeven.agents()][:4]
    ['random', 'influence', 'minimax', 'alphabeta']
    """
    return [
        AgentInfo(
            name=kind["name"],
            about=kind["about"],
            has_tree=kind["has_tree"],
            parameters={name: f"{about}: {values}" for name, about, values in kind["parameters"]},
        )
        for kind in json.loads(_native.agent_names())
    ]


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % confidence interval."""

    low: float
    estimate: float
    high: float


@dataclass(frozen=True)
class Results:
    """Games won, drawn and lost."""

    won: int
    drawn: int
    lost: int

    @property
    def games(self) -> int:
        return self.won + self.drawn + self.lost


@dataclass(frozen=True)
class MatchResult:
    """The result of a match, from the first player's point of view."""

    players: tuple[str, str]
    results: Results
    score: Interval
    """Points per game, from 0 to 1."""
    elo: Interval
    """The Elo difference between the players."""
    first_mover: Results
    """The results of the player who moved first."""
    sprt: str | None
    """'accepted' or 'rejected' if a sequential test was decided."""
    games: list[Game] = field(repr=False)

    def __str__(self) -> str:
        first, second = self.players
        won, drawn, lost = self.results.won, self.results.drawn, self.results.lost
        return (
            f"{first} vs {second}: {self.results.games} games\n"
            f"  won {won}, drawn {drawn}, lost {lost}\n"
            f"  score {100 * self.score.estimate:.1f} % "
            f"(95 % CI: {100 * self.score.low:.1f} to {100 * self.score.high:.1f})\n"
            f"  Elo   {self.elo.estimate:+.0f} (95 % CI: {self.elo.low:+.0f} to {self.elo.high:+.0f})"
        )


def match(
    first: Player,
    second: Player,
    games: int = 100,
    *,
    setup: Setup | None = None,
    openings: str | None = None,
    seed: int = 1,
    threads: int | None = None,
    sprt: tuple[float, float] | None = None,
    forfeit: bool = False,
    progress: Progress = None,
) -> MatchResult:
    """Plays pairs of games: from each opening, each player moves first once.

    A player is an agent text, an ``Agent``, a function that takes a position and returns a column from 1, or a class with
    ``decide(position)``, which is instantiated for every game. A player of your own may have a second parameter
    ``limits``; ``position.moves`` are those of the game. ``openings`` is 'none', 'random:PLIES' or 'balanced:PLIES' (drawn
    under perfect play; the default where boards can be solved). ``sprt=(elo0, elo1)`` ends the match when a sequential
    test is decided. An exception or an illegal move of a player is raised here, or loses the game with ``forfeit=True``.

    >>> import claimeven
    >>> def centre(position):
    ...     return min(position.legal_moves, key=lambda column: abs(column - 4))
    >>> result = claimeven.match(centre, 'random', games=20)
    >>> result.players, result.results.games
    (('centre', 'random'), 20)
    """
    summary, played = _native.play_match(
        first, second, games, setup, openings, seed, threads, sprt, forfeit,
        callback(progress, "games"),
    )  # fmt: skip
    found: dict[str, Any] = json.loads(summary)
    return MatchResult(
        players=(found["players"][0], found["players"][1]),
        results=Results(*found["results"]),
        score=Interval(**found["score"]),
        elo=Interval(**found["elo"]),
        first_mover=Results(*found["first_mover"]),
        sprt=found["sprt"],
        games=played,
    )


@dataclass(frozen=True)
class Standing:
    """A player's place in a tournament."""

    name: str
    elo: Interval
    results: Results
    points: float
    ms_per_move: float
    nodes_per_move: float
    forfeited: int


@dataclass(frozen=True)
class TournamentResult:
    """The result of a tournament, the strongest player first."""

    standings: list[Standing]
    head_to_head: list[list[Results]]
    """The results of each player against each other player, in the order of the standings."""
    first_player: Results
    games: list[Game] = field(repr=False)

    def __str__(self) -> str:
        width = max((len(player.name) for player in self.standings), default=0)
        lines = [f"{'':>3} {'player':<{width}}  {'Elo':>6}  {'95 % CI':>16}  {'points':>7}  won  drawn  lost"]
        for place, player in enumerate(self.standings, start=1):
            interval = f"{player.elo.low:+.0f} to {player.elo.high:+.0f}"
            results = player.results
            lines.append(
                f"{place:>3} {player.name:<{width}}  {player.elo.estimate:>+6.0f}  {interval:>16}  "
                f"{player.points:>7.1f}  {results.won:>3}  {results.drawn:>5}  {results.lost:>4}"
            )
        return "\n".join(lines)


def tournament(
    players: Sequence[Player],
    games: int = 20,
    *,
    setup: Setup | None = None,
    openings: str | None = None,
    seed: int = 1,
    threads: int | None = None,
    forfeit: bool = False,
    progress: Progress = None,
) -> TournamentResult:
    """A round robin with ``games`` games per pairing; see ``match`` for the other arguments.

    >>> import claimeven
    >>> table = claimeven.tournament(['random', 'level:1', 'alphabeta:depth=4'], games=4)
    >>> table.standings[0].name
    'alphabeta:depth=4'
    """
    summary, played = _native.play_tournament(
        list(players), games, setup, openings, seed, threads, forfeit, callback(progress, "games")
    )
    report: dict[str, Any] = json.loads(summary)
    standings = [
        Standing(
            name=player["name"],
            elo=Interval(**player["elo"]),
            results=Results(player["won"], player["drawn"], player["lost"]),
            points=player["points"],
            ms_per_move=player["ms_per_move"],
            nodes_per_move=player["nodes_per_move"],
            forfeited=player["forfeited"],
        )
        for player in report["players"]
    ]
    head_to_head = [[Results(**cell) for cell in row] for row in report["head_to_head"]]
    return TournamentResult(standings, head_to_head, Results(**report["first_player"]), played)


@dataclass(frozen=True)
class Strength:
    """A player's moves compared with perfect play."""

    positions: int
    errors: int
    """Moves that gave away a win or a draw."""
    wins_drawn: int
    wins_lost: int
    draws_lost: int
    error_rate: Interval
    best_rate: Interval
    """The share of moves that keep the exact score: the fastest win, the slowest loss."""
    seconds_per_move: float

    def __str__(self) -> str:
        def percent(share: Interval) -> str:
            return f"{100 * share.estimate:.2f} % ({100 * share.low:.2f} to {100 * share.high:.2f})"

        return (
            f"{self.positions} positions: gave away a win or a draw in {percent(self.error_rate)}, "
            f"best move in {percent(self.best_rate)}"
        )


def evaluate(
    agent: Player,
    boards: Boards | int = 1000,
    *,
    setup: Setup | None = None,
    plies: tuple[int, int] = (8, 30),
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = None,
) -> Strength:
    """Compares a player's moves with exact scores, in given positions or in a number of random ones.

    >>> import claimeven
    >>> claimeven.evaluate('perfect', 50, plies=(12, 30)).errors
    0
    """
    if isinstance(boards, (int, Integral)):
        chosen: Any = positions.random(boards, plies, seed, setup)
    else:
        chosen = repeatable(boards)
    solver = Solver(threads=threads)
    scores = solver.score_batch(chosen, setup, progress=progress)
    found: dict[str, Any] = json.loads(
        _native.evaluate(
            agent, chosen, scores.tolist(), setup, seed, threads, callback(progress, "moves")
        )
    )
    strength = found["strength"]

    def interval(rate: dict[str, float]) -> Interval:
        return Interval(rate["low"], rate["share"], rate["high"])

    return Strength(
        positions=strength["positions"],
        errors=found["errors"],
        wins_drawn=strength["wins_drawn"],
        wins_lost=strength["wins_lost"],
        draws_lost=strength["draws_lost"],
        error_rate=interval(found["error_rate"]),
        best_rate=interval(found["best_rate"]),
        seconds_per_move=strength["seconds"],
    )
