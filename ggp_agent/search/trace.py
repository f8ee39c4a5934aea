"""What a search has found, for people and for machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from forward_model.compiled import CompiledModel
from gdl.rules import write_term
from gdl.state_machine import JointMove, Move
from ggp_agent.search.blocks import statistics
from ggp_agent.search.edges import follow
from ggp_agent.search.final import RootMove
from ggp_agent.search.memory import NO_BLOCK, UNIT
from ggp_agent.search.tree import NO_NODE, OPEN, SEVERAL, Tree

LONGEST_VARIATION = 20
LEAST_VISITS = 8
"""A variation ends where less is known."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The search for one move."""

    simulations: int
    playouts: int
    visited_nodes: int
    """edges of the tree and moves of playouts"""
    seconds: float
    tree_nodes: int
    recycled: int
    """nodes that were recycled for want of room"""
    memory: int
    """bytes of the tree in use"""
    root_visits: int
    """with those of the searches before"""
    mean_depth: float
    deepest: int
    low: int
    """the goal that we get at least, as far as proven"""
    high: int
    moves: list[RootMove] = field(default_factory=list)
    variation: list[JointMove] = field(default_factory=list)
    """joint moves that the roles select most often, one after the other"""

    def sorted_moves(self) -> list[RootMove]:
        """The root's moves, those tried most often first."""
        return sorted(self.moves, key=lambda m: (m.visits, m.mean), reverse=True)

    def as_json(self, write: Callable[[Move], str] = write_term) -> dict[str, object]:
        """Everything, as JSON values; moves as KIF."""
        return {
            "simulations": self.simulations,
            "playouts": self.playouts,
            "visited_nodes": self.visited_nodes,
            "seconds": round(self.seconds, 4),
            "tree_nodes": self.tree_nodes,
            "recycled": self.recycled,
            "memory_mb": round(self.memory / 2**20, 2),
            "root_visits": self.root_visits,
            "mean_depth": round(self.mean_depth, 2),
            "deepest": self.deepest,
            "proven": [self.low, self.high],
            "variation": [[write(move) for move in joint] for joint in self.variation],
            "moves": [_as_json(move, write) for move in self.sorted_moves()],
        }


def _as_json(move: RootMove, write: Callable[[Move], str]) -> dict[str, object]:
    """A move at the root; with its minimax value, in goals, where it has one."""
    known: dict[str, object] = {
        "move": write(move.move),
        "visits": move.visits,
        "mean": round(100 * move.mean, 2) if move.visits else None,
        "proven": [move.low, move.high],
    }
    if move.weight:
        known["value"] = round(100 * move.value, 2)
    return known


def of_threads(first: Trace, others: Sequence[Trace]) -> Trace:
    """The trace of a tree, found by one of its threads, with what the others have done there."""
    traces = [first, *others]
    simulations = sum(trace.simulations for trace in traces)
    edges = sum(trace.mean_depth * trace.simulations for trace in traces)
    return replace(
        first,
        simulations=simulations,
        playouts=sum(trace.playouts for trace in traces),
        visited_nodes=sum(trace.visited_nodes for trace in traces),
        seconds=max(trace.seconds for trace in traces),
        mean_depth=edges / max(1, simulations),
        deepest=max(trace.deepest for trace in traces),
    )


def principal_variation(tree: Tree, game: CompiledModel, root: int) -> list[JointMove]:
    """The joint moves that are selected most often, from the root on.

    It ends where several roles choose at once, for the tree knows no most likely answer to that,
    after their most frequent moves.
    """
    variation: list[JointMove] = []
    node, span, roles = root, game.layout.span, len(tree.best)
    words = tree.pool.words
    while len(variation) < LONGEST_VARIATION:
        record = tree.nodes[node]
        if record["kind"] != OPEN or record["stats"] == NO_BLOCK:
            break
        if record["visits"] < LEAST_VISITS:
            break
        start, entries = int(record["moves"]) * UNIT, statistics(tree, node)[1]
        joint, places = [], []
        for role in range(roles):
            low, high = words[start + role], words[start + role + 1]
            place = int(low + np.argmax(entries["visits"][low:high]))
            number = words[start + roles + 1 + place] - span[role]
            joint.append(game.moves[role][number])
            places.append(place)
        variation.append(tuple(joint))
        if record["mover"] == SEVERAL:
            break
        edge = int(entries["child"][places[int(record["mover"])]])
        node = int(follow(tree, edge))
        if node == NO_NODE:
            break
    return variation
