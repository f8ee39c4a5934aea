"""What every tuner offers: one per role, side by side, that choose values and learn from rewards.

A combination of values that is in use has a *slot*: for values of single simulations a row of the
search's settings; a tuner of values that hold for a batch or a move has one slot.

Letters: B slots, R roles, d variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from ggp_agent.tuning.space import F32, F64, I32

if TYPE_CHECKING:
    from ggp_agent.search.trace import Trace


class SearchFacts:
    """What a tuner may need to know of the search that it works in."""

    def __init__(
        self, in_flight: int, samples: int = 0, trace: Callable[[], Trace] | None = None
    ) -> None:
        self.in_flight = in_flight
        """simulations that may be in flight at most; 1 is exactly the papers' algorithms"""
        self.samples = samples
        """simulations that the tuner is to learn from, 0 where it has to estimate that"""
        self.trace = trace
        """where to see how long simulated games are; it may come later"""

    def mean_length(self) -> float:
        """The mean length of simulated games, from the root to the end; 0 where it is unknown."""
        if self.trace is None:
            return 0.0
        trace = self.trace()
        in_playouts = trace.visited_nodes - trace.mean_depth * trace.simulations
        return trace.mean_depth + in_playouts / max(1, trace.playouts)


class ValueTuner(Protocol):
    """One tuner per role, side by side.

    What is asked for is rewarded sooner or later: most of it before the next `ask`, some after it.
    """

    def prepare(self, facts: SearchFacts) -> None:
        """Called once, before the first `ask`."""

    def ask(self, slots: I32, weights: I32) -> None:
        """Choose combinations for the `slots` (n,), which are free.

        Each is for so many simulations as its one of the `weights` (n,).
        """

    def write(self, slots: I32, values: F32, own: F32, columns: I32) -> None:
        """Write to `values` (B, R, columns) what was chosen last for the `slots` (n,).

        The variables have the `columns` (d,), the others get the agent's `own` (columns,).
        """

    def picks_at(self, slots: I32) -> I32:
        """(n, R, d) the same as numbers of values; of continuous tuners the nearest ones."""

    def tell(self, slots: I32, totals: F64, weights: I32) -> None:
        """What simulations brought with the combinations in the `slots` (n,), all different.

        For each so many as its one of the `weights` (n,), which are not 0 and may be more than were
        asked for; `totals` (n, R) sum up the rewards of every role, each in [0, 1].
        """

    def new_move(self) -> None:
        """The game went on by a real move; the first time the start clock is over."""

    def report(self, role: int, others: Sequence[Self] = ()) -> dict[str, Any]:
        """What it knows for a role, together with `others` of its kind: see `tuner_report`."""
