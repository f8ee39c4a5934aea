"""UCT: a move is worth Q + C·sqrt(ln N / n), one that was never tried the first-play urgency.

L. Kocsis, C. Szepesvari, "Bandit based Monte-Carlo planning" (2006); equation (1) of Sironi, Liu,
Winands (2020).  Q is the mean reward, n the visits of the move, those in flight included, and N
those of its node before this simulation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggp_agent.parameters import TABLE_1, Parameter, Scope, column_of, declare
from ggp_agent.search.candidates import Candidates
from ggp_agent.search.kernel import part
from ggp_agent.search.plain_tree import Node, Values
from ggp_agent.search.roots import root_of_log
from ggp_agent.search.scoring import score_uct
from ggp_agent.search.strategies.plain import PlainSelection, exploration

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays

declare(
    Parameter(
        "C",
        0.2,
        "exploration constant of the UCT formula, for rewards in [0, 1]",
        high=10.0,
        source=f"Kocsis, Szepesvari: Bandit based Monte-Carlo planning (2006); {TABLE_1}",
        discrete=tuple(n / 10 for n in range(1, 10)),
        continuous=(0.0, 1.0),
        scope=Scope.SIMULATION,
    ),
    Parameter(
        "FPU",
        1.0,
        "value of a move that was never tried",
        high=1000.0,
        source="Gelly, Wang: Exploration exploitation in Go (2006)",
        scope=Scope.SIMULATION,
    ),
)
C, FPU = column_of("C"), column_of("FPU")


@part
def value_moves(arrays: Arrays, slot: int, role: int, moves: Candidates) -> float:
    """Write the moves' values to `scratch.values`; returns the highest."""
    settings = arrays.settings.values[arrays.settings.row[slot], role]
    return score_uct(
        arrays.scratch.values,
        moves,
        settings[C] * root_of_log(arrays.roots, moves.visits),
        settings[FPU],
    )


class PlainUct(PlainSelection):
    """The selection for the plain search."""

    def value(self, role: int, node: Node, place: int, settings: Values) -> float:
        """See `PlainSelection.value`."""
        own = node.statistics[place]
        if not own.count:
            return float(settings[FPU])
        mean = self._game.ranges[role].normalise(own.mean)
        return mean + exploration(node, own, float(settings[C]))
