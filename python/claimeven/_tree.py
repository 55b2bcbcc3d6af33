"""Search trees as nested objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from claimeven import _native

if TYPE_CHECKING:
    from claimeven._native import Agent, Position


@dataclass
class TreeNode:
    """A node of a search tree. Values are from the point of view of the player to move at the root."""

    column: int | None
    """The move that led to it, from 1; None for the root and for the passes of MTD(f) and iterative deepening."""
    kind: str
    """'max', 'min', 'leaf', 'end' or 'table'."""
    value: str | None
    number: float | None
    """Points, expected result, or plies to a win or loss."""
    bound: str | None
    """'exact', 'lower' or 'upper' in depth-limited searches."""
    alpha: str | None
    beta: str | None
    visits: int | None
    """The number of simulations through it, in Monte Carlo searches."""
    pruned: list[int]
    """Moves that a cutoff pruned."""
    hidden: int
    """Nodes below it that are not part of the tree."""
    chosen: bool
    """Whether it is on the principal variation."""
    name: str | None
    """The name of a pass."""
    children: list[TreeNode] = field(default_factory=list, repr=False)

    def walk(self) -> Iterator[TreeNode]:
        """The node and all its descendants."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class SearchTree:
    """A search tree, which notebooks display as a picture."""

    root: TreeNode
    column: int
    """The move that was chosen."""
    headline: str
    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def __len__(self) -> int:
        return sum(1 for _ in self.root.walk())


def search_tree(
    position: Position | str, agent: Agent | str = "alphabeta:depth=3", *, max_nodes: int = 100
) -> SearchTree:
    """The search tree of a player in a position whose moves are known.

    minimax, alphabeta, mtdf, timed, mcts and zero have one. Nodes beyond ``max_nodes`` are only counted.

    >>> import claimeven
    >>> tree = claimeven.search_tree('4455', 'minimax:depth=2')
    >>> tree.column, len(tree.root.children)
    (3, 7)
    """
    text = agent if isinstance(agent, str) else agent.text
    described, svg = _native.search_tree(position, text, max_nodes)
    found: dict[str, Any] = json.loads(described)
    nodes: list[TreeNode] = []
    for item in found["nodes"]:
        parent = item.pop("parent")
        node = TreeNode(**item)
        nodes.append(node)
        if parent is not None:
            nodes[parent].children.append(node)
    return SearchTree(nodes[0], found["column"], found["headline"], svg)
