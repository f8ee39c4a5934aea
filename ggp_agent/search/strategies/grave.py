"""GRAVE: (1 - β)·Q + β·AMAF in place of UCT's mean Q, β = sqrt(K / (3N + K)).

T. Cazenave, "Generalized Rapid Action Value Estimation" (2015); equations (2) and (3) of Sironi,
Liu, Winands (2020).  The AMAF value of a move is its mean reward over all simulations that passed
the reference node and made the move at any later time; that node is the closest above, or this
one, with at least Ref visits.  A move that was never tried counts as the first-play urgency plus
its AMAF value, if there is any.

A node has a table of AMAF statistics from `amaf_from` visits on.  Letters: B slots, R roles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ggp_agent.agents import Agent
from ggp_agent.parameters import TABLE_1, Parameter, Scope, column_of, declare
from ggp_agent.search.blocks import open_amaf
from ggp_agent.search.candidates import Candidates
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.memory import NO_BLOCK, UNIT, get_float, get_int, prefetch, put_float
from ggp_agent.search.plain_tree import Average, JointMove, Node, Position, Values
from ggp_agent.search.played_moves import list_playout
from ggp_agent.search.roots import root_of_log
from ggp_agent.search.scoring import add_pair, score_grave
from ggp_agent.search.slots import AMAF_TABLE, PLAYED
from ggp_agent.search.strategies import uct
from ggp_agent.search.strategies.plain import PlainSelection, exploration
from ggp_agent.search.strategies.uct import FPU, C
from ggp_agent.search.tree import NO_NODE, OPEN, Tree
from propnet.layout import I32, Layout

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays

PAPER = "Cazenave: Generalized Rapid Action Value Estimation (2015)"

declare(
    Parameter(
        "K",
        250.0,
        "visits at which GRAVE weighs AMAF and mean alike; 0 is UCT, inf is AMAF alone",
        infinite=True,
        unit="visits",
        source=f"{PAPER}; {TABLE_1}",
        discrete=(0, 10, 50, 100, 250, 500, 750, 1000, 2000, math.inf),
        continuous=(0.0, 2000.0),
        scope=Scope.SIMULATION,
        used_by=(("selection", "grave"),),
    ),
    Parameter(
        "Ref",
        50.0,
        "GRAVE takes AMAF values from the closest ancestor with so many visits; inf is the root",
        infinite=True,
        unit="visits",
        source=f"{PAPER}; {TABLE_1}",
        discrete=(0, 50, 100, 250, 500, 1000, 10000, math.inf),
        continuous=(0.0, 10000.0),
        scope=Scope.SIMULATION,
        used_by=(("selection", "grave"),),
    ),
    Parameter(
        "amaf_from",
        9,
        "visits from which a node keeps AMAF statistics (and can serve as GRAVE's reference)",
        low=1,
        high=1e6,
        unit="visits",
        used_by=(("selection", "grave"),),
    ),
)
K, REF = column_of("K"), column_of("Ref")

MOST_AMAF = 2.0**22
"""AMAF counts are halved there, for single precision does not count much further."""
VISITS_TO_CHECK = 1 << 14
"""After so many visits of a node its AMAF counts are looked at."""


class AmafReferences(NamedTuple):
    """Where AMAF values come from."""

    node: I32
    """(B, R) the reference node of every simulation and role"""
    from_visits: int
    """visits from which a node has a table"""


def new_amaf_references(most: int, roles: int, agent: Agent) -> AmafReferences:
    """For at most `most` simulations in flight."""
    return AmafReferences(np.zeros((most, roles), np.int32), int(agent.number("amaf_from")))


@part
def begin(arrays: Arrays, slot: int, root: int) -> None:
    """A simulation starts: its reference is the root where no node has enough visits."""
    for role in range(arrays.references.node.shape[1]):
        arrays.references.node[slot, role] = root


@part
def arrive(tree: Tree, arrays: Arrays, slot: int, node: int) -> None:
    """A simulation reaches a node, and counts as one of its visits already."""
    record, references, settings = tree.nodes[node], arrays.references, arrays.settings
    if record.amaf != NO_BLOCK:
        visits, row = record.visits - 1, settings.row[slot]
        for role in range(len(tree.best)):
            if visits >= settings.values[row, role, REF]:
                references.node[slot, role] = node
    if record.amaf == NO_BLOCK:
        if record.visits >= references.from_visits and record.kind == OPEN:
            open_amaf(tree, node, len(arrays.history.order))
    elif record.visits % VISITS_TO_CHECK == 0:
        _halve(tree.pool.words, np.int64(record.amaf) * UNIT, record.amaf_words)


@part
def _halve(words: I32, table: int, size: int) -> None:
    """Keep counts in the range in which single precision can count."""
    for entry in range(table, table + size, 2):
        if get_float(words, entry) > np.float32(MOST_AMAF):
            put_float(words, entry, get_float(words, entry) * np.float32(0.5))
            put_float(words, entry + 1, get_float(words, entry + 1) * np.float32(0.5))


@part
def fetch_tables(tree: Tree, arrays: Arrays, slot: int, most: int) -> None:
    """Have the tables of a simulation's reference nodes under way, if they are `most` words."""
    for role in range(len(tree.best)):
        record = tree.nodes[arrays.references.node[slot, role]]
        if record.amaf != NO_BLOCK and record.amaf_words <= most:
            for line in range(0, record.amaf_words, UNIT):
                prefetch(tree.pool.words, np.int64(record.amaf) * UNIT + line)


@part
def value_moves(tree: Tree, arrays: Arrays, slot: int, role: int, moves: Candidates) -> float:
    """Write the moves' values to `scratch.values`; returns the highest."""
    settings = arrays.settings.values[arrays.settings.row[slot], role]
    amaf, k = tree.nodes[arrays.references.node[slot, role]].amaf, settings[K]
    if not (k > np.float32(0.0) and amaf != NO_BLOCK):
        return uct.value_moves(arrays, slot, role, moves)
    beta = np.float32(1.0)
    if k < np.float32(1e30):
        beta = np.sqrt(k / (np.float32(3.0) * np.float32(moves.visits) + k))
    return score_grave(
        arrays.scratch.values,
        moves,
        settings[C] * root_of_log(arrays.roots, moves.visits),
        settings[FPU],
        np.int64(amaf) * UNIT,
        beta,
    )


@part
def _add(words: I32, table: int, arrays: Arrays, first: int, last: int) -> None:
    """Credit entries `first` to last - 1 of the list of moves to a node's table."""
    scratch = arrays.scratch
    for i in range(first, last):
        entry = table + 2 * np.int64(get_int(scratch.moves, i))
        add_pair(words, entry, get_float(scratch.times, i), get_float(scratch.values, i))


@part
def learn_from_path(tree: Tree, arrays: Arrays, slot: int) -> None:
    """Credit the moves made in the tree, which `scratch` lists by level, to the nodes above."""
    depth, roles = arrays.slots.depth[slot], len(tree.best)
    for level in range(depth):
        block = arrays.slots.path[slot, level, AMAF_TABLE]
        if block != NO_BLOCK:
            _add(tree.pool.words, np.int64(block) * UNIT, arrays, level * roles, depth * roles)


@part
def _table_at(tree: Tree, arrays: Arrays, slot: int, level: int) -> int:
    """The table of the node at a level, the leaf's at the last one; NO_BLOCK for none."""
    if level < arrays.slots.depth[slot]:
        return int(arrays.slots.path[slot, level, AMAF_TABLE])
    leaf = arrays.slots.leaf[slot]
    return int(tree.nodes[leaf].amaf) if leaf != NO_NODE else NO_BLOCK


@part
def _fetch(tree: Tree, block: int, moves: I32, count: int) -> None:
    """Have the entries of a list of moves in a table under way."""
    if block != NO_BLOCK:
        table = np.int64(block) * UNIT
        for i in range(count):
            prefetch(tree.pool.words, table + 2 * np.int64(get_int(moves, i)))


@kernel
def learn_from_playouts(
    layout: Layout, tree: Tree, arrays: Arrays, simulations: int, playouts: int
) -> None:
    """Credit the playouts' moves, which are sorted by lane, to every node on the way there."""
    words, slots = tree.pool.words, arrays.slots
    for slot in range(simulations):
        if slots.stage[slot] != PLAYED:
            continue
        for lane in range(slot * playouts, (slot + 1) * playouts):
            count = list_playout(layout, arrays, lane)
            depth = slots.depth[slot]
            for level in range(depth + 1):
                if level < depth:
                    below = _table_at(tree, arrays, slot, level + 1)
                    _fetch(tree, below, arrays.scratch.moves, count)
                table = _table_at(tree, arrays, slot, level)
                if table != NO_BLOCK:
                    _add(words, np.int64(table) * UNIT, arrays, 0, count)


class PlainGrave(PlainSelection):
    """The selection for the plain search."""

    def begin(self, root: Position) -> None:
        """See `PlainSelection.begin`."""
        self._reference = list(root.nodes)

    def arrive(self, position: Position, settings: Values) -> None:
        """See `PlainSelection.arrive`."""
        for role, node in enumerate(position.nodes):
            if node.amaf is not None and node.visits >= settings[role, REF]:
                self._reference[role] = node

    def value(self, role: int, node: Node, place: int, settings: Values) -> float:
        """See `PlainSelection.value`."""
        own, normalise, amaf = node.statistics[place], self._game.ranges[role].normalise, None
        if settings[K] > 0:
            amaf = (self._reference[role].amaf or {}).get(node.moves[place])
        if not own.count:
            return float(settings[FPU]) + (normalise(amaf.mean) if amaf else 0.0)
        mean = normalise(own.mean)
        if amaf:
            mean += weight_of_amaf(node.visits, float(settings[K])) * (normalise(amaf.mean) - mean)
        return mean + exploration(node, own, float(settings[C]))

    def learn(
        self, position: Position, level: int, moves: Sequence[JointMove], rewards: Sequence[float]
    ) -> None:
        """See `PlainSelection.learn`; every occurrence of a move counts."""
        for role, node in enumerate(position.nodes):
            if node.amaf is None and self._wants_amaf(position, node):
                node.amaf = {}
            if node.amaf is not None:
                for joint in moves[level:]:
                    node.amaf.setdefault(joint[role], Average()).add(rewards[role])

    def _wants_amaf(self, position: Position, node: Node) -> bool:
        return position.rewards is None and node.visits >= self._game.agent.number("amaf_from")


def weight_of_amaf(visits: int, k: float) -> float:
    """β: sqrt(K / (3N + K)); 1 for K = ∞, 0 for K = 0."""
    if math.isinf(k):
        return 1.0
    return math.sqrt(k / (3 * visits + k)) if k else 0.0
