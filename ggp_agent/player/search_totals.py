"""What thinking took over a match: simulations, visited nodes, seconds by two clocks.

The seconds of the processor are fewer than those on the clock where a thinker had to wait for its
core: the machine was too loaded for the match to be a fair one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(slots=True)
class SearchTotals:
    """The sum over the moves of a player in a match.

    `nodes` counts one per tree edge and playout step of every simulation; what a thinker doesn't
    report counts as 0.
    """

    moves: int = 0
    simulations: int = 0
    nodes: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def add(self, report: Mapping[str, object]) -> None:
        """Count a move by what was reported with it (`ggp_agent.mind.thinker.Thinker.report`)."""
        self.moves += 1
        simulations = _number(report, "simulations")
        self.simulations += int(simulations)
        edges = simulations * _number(report, "mean_depth")
        nodes = _number(report, "visited_nodes") or edges + _number(report, "transitions")
        self.nodes += round(nodes)
        self.seconds += _number(report, "thinking_s")
        self.cpu_seconds += _number(report, "cpu_s")


def _number(report: Mapping[str, object], key: str) -> float:
    value = report.get(key)
    return value if isinstance(value, int | float) else 0.0
