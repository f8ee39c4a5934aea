"""Which move a role takes in a node of the tree.

Every role selects for itself, whatever the others do (decoupled selection).  Among moves within VO
of the best value, which a strategy of selection gives them, one is drawn uniformly; in nodes with
fewer than T visits the playout's policy picks; chance draws.
"""

from __future__ import annotations

import math

import numpy as np

from ggp_agent.parameters import TABLE_1, Parameter, Scope, column_of, declare
from ggp_agent.search.arrays import Arrays
from ggp_agent.search.candidates import Candidates
from ggp_agent.search.kernel import part
from ggp_agent.search.memory import UNIT, get_int
from ggp_agent.search.random_numbers import random_below
from ggp_agent.search.scoring import draw_near_best
from ggp_agent.search.strategies import dispatch
from ggp_agent.search.tree import INVERSE_ROOT, MEAN, Tree

declare(
    Parameter(
        "VO",
        0.01,
        "a move is drawn among those whose value is within VO of the best",
        high=1.0,
        source=TABLE_1,
        discrete=(0.001, 0.005, 0.01, 0.015, 0.02, 0.025),
        continuous=(0.0, 0.025),
        scope=Scope.SIMULATION,
    ),
    Parameter(
        "T",
        0.0,
        "in nodes with fewer visits the playout's policy picks the move",
        infinite=True,
        unit="visits",
        source=TABLE_1,
        discrete=(0, 5, 10, 20, 30, 40, 50, 100, 200, math.inf),
        continuous=(0.0, 200.0),
        scope=Scope.SIMULATION,
    ),
)
VO, T = column_of("VO"), column_of("T")


@part
def select_move(tree: Tree, arrays: Arrays, slot: int, node: int, role: int) -> int:
    """The place, in an open node's moves, of the one that a role takes.

    The node has its statistics, and the simulation has been added to its visits.
    """
    record, words = tree.nodes[node], tree.pool.words
    start = np.int64(record.moves) * UNIT
    low, high = get_int(words, start + role), get_int(words, start + role + 1)
    count = high - low
    if count == 1:
        return int(low)
    if role == arrays.options.chance:
        return int(low + random_below(arrays.random, count))
    settings = arrays.settings.values[arrays.settings.row[slot], role]
    stats, size = np.int64(record.stats) * UNIT, record.count
    moves = Candidates(
        words,
        start + len(tree.best) + 1 + low,
        stats + MEAN * size + low,
        stats + INVERSE_ROOT * size + low,
        int(count),
        int(record.visits - 1),
    )
    if moves.visits < settings[T]:
        return int(low + dispatch.pick_move(arrays, slot, role, moves))
    best = dispatch.value_moves(tree, arrays, slot, role, moves)
    return int(
        low + draw_near_best(arrays.scratch.values, count, best - settings[VO], arrays.random)
    )
