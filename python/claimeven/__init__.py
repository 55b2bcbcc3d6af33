"""Connect Four, solved: exact scores for whole arrays, players, networks and environments, on any board.

Columns are numbered from 1, as on the board and in move texts such as ``'4453'``; arrays are indexed from 0. Boards as
arrays hold 0 for an empty cell and 1 and 2 for the discs of the first and second player, the top row first.

>>> import claimeven
>>> solver = claimeven.Solver()
>>> solver.score('4453')
-2
>>> solver.scores_batch(['', '4455']).argmax(axis=1) + 1
array([4, 3])
"""

from __future__ import annotations

from claimeven import datasets, positions
from claimeven._native import Agent, Decision, Game, Limits, Network, Position, Setup, Value
from claimeven._play import (
    AgentInfo,
    Interval,
    MatchResult,
    Results,
    Standing,
    Strength,
    TournamentResult,
    agents,
    evaluate,
    match,
    tournament,
)
from claimeven._progress import Progress
from claimeven._review import Choice, MoveReview, PlayerReview, Review, review
from claimeven._solver import Analysis, Solver
from claimeven._train import TrainingEvent, train
from claimeven._tree import SearchTree, TreeNode, search_tree

__all__ = [
    "Agent",
    "AgentInfo",
    "Analysis",
    "Choice",
    "Decision",
    "Game",
    "Interval",
    "Limits",
    "MatchResult",
    "MoveReview",
    "Network",
    "PlayerReview",
    "Position",
    "Progress",
    "Results",
    "Review",
    "SearchTree",
    "Setup",
    "Solver",
    "Standing",
    "Strength",
    "TournamentResult",
    "TrainingEvent",
    "TreeNode",
    "Value",
    "agents",
    "datasets",
    "evaluate",
    "match",
    "positions",
    "review",
    "search_tree",
    "tournament",
    "train",
]
