"""Progressive History: UCT's value plus H·W / (n - s + 1).

J. A. M. Nijssen, M. H. M. Winands, "Enhancements for Multi-Player Monte-Carlo Tree Search" (2011).
H is the move's mean reward over all simulations, wherever it was made (1 where it never was), s the
sum of its rewards here and n its visits, those in flight included: the bonus of a move fades with
what it has not won.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggp_agent.parameters import Parameter, Scope, column_of, declare
from ggp_agent.search.candidates import Candidates
from ggp_agent.search.kernel import part
from ggp_agent.search.memory import get_float, get_int
from ggp_agent.search.plain_tree import Node, Values
from ggp_agent.search.scoring import LEAST
from ggp_agent.search.strategies import uct
from ggp_agent.search.strategies.move_history import GOALS, TIMES, MoveHistory
from ggp_agent.search.tree import CLOSED

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays

declare(
    Parameter(
        "W",
        1.0,
        "weight of a move's history in Progressive History; 0 is UCT",
        high=1000.0,
        source="Nijssen, Winands: Enhancements for Multi-Player MCTS (2011); domain: Sironi, "
        "Winands: Analysis of Self-Adaptive MCTS in General Video Game Playing (2018)",
        discrete=(0.1, 0.25, 0.5, 1, 3, 5, 7.5, 10, 20, 50),
        continuous=(0.0, 50.0),
        scope=Scope.SIMULATION,
        used_by=(("selection", "progressive_history"),),
    ),
)
W = column_of("W")


@part
def _history(history: MoveHistory, move: int) -> float:
    """H."""
    times = history.sums[move, TIMES]
    return 0.01 * history.sums[move, GOALS] / times if times > 0.0 else 1.0


@part
def value_moves(arrays: Arrays, slot: int, role: int, moves: Candidates) -> float:
    """Write the moves' values to `scratch.values`; returns the highest."""
    uct.value_moves(arrays, slot, role, moves)
    weight = arrays.settings.values[arrays.settings.row[slot], role, W]
    values, best = arrays.scratch.values, np.float32(LEAST)
    for i in range(moves.size):
        mean = get_float(moves.words, moves.means + i)
        if mean > np.float32(CLOSED * 0.5):
            root = get_float(moves.words, moves.inverse_roots + i)
            lost = (np.float32(1.0) - mean) / (root * root) if root > 0.0 else np.float32(0.0)
            worth = _history(arrays.history, get_int(moves.words, moves.numbers + i))
            values[i] += np.float32(weight * worth / (lost + 1.0))
        best = max(best, values[i])
    return best  # type: ignore[return-value]  # single precision, as the others


class PlainProgressiveHistory(uct.PlainUct):
    """The selection for the plain search."""

    def value(self, role: int, node: Node, place: int, settings: Values) -> float:
        """See `PlainSelection.value`."""
        own = node.statistics[place]
        lost = own.count - self._game.ranges[role].normalise(own.total, own.count)
        worth = self._game.history.means(role, [node.moves[place]])[0] / 100
        bonus = float(settings[W]) * worth / (lost + 1)
        return super().value(role, node, place, settings) + bonus
