"""What the tuners that choose among numbered values have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ggp_agent.search.kernel import direct, entry
from ggp_agent.tuning.model import new_model, tell_rewards
from ggp_agent.tuning.space import F32, F64, I32, Space
from ggp_agent.tuning.tuner_report import report_of_values
from ggp_agent.tuning.value_tuner import SearchFacts


class DiscreteTuner:
    """A `ValueTuner` with statistics of values and combinations; it lacks `ask`."""

    def __init__(self, space: Space, roles: int, slots: int, seed: int) -> None:
        self.space = space
        self.model = new_model(space, roles, slots, seed)
        """the statistics, and the combinations in use"""
        self._table = space.table().astype(np.float32)

    def prepare(self, facts: SearchFacts) -> None:
        """See `ValueTuner.prepare`; most need to know nothing."""

    def write(self, slots: I32, values: F32, own: F32, columns: I32) -> None:
        """See `ValueTuner.write`."""
        write_picks(values, slots, self.model.picks, own, self._table, columns)

    def picks_at(self, slots: I32) -> I32:
        """See `ValueTuner.picks_at`."""
        return self.model.picks[slots]

    def tell(self, slots: I32, totals: F64, weights: I32) -> None:
        """See `ValueTuner.tell`."""
        tell_rewards(self.model, slots, totals, weights)

    def new_move(self) -> None:
        """See `ValueTuner.new_move`; what was learned is kept."""

    def report(self, role: int, others: Sequence[Self] = ()) -> dict[str, Any]:
        """See `ValueTuner.report`."""
        return report_of_values(self.space, [tuner.model for tuner in (self, *others)], role)


@direct
@entry
def write_picks(values: F32, slots: I32, picks: I32, own: F32, table: F32, columns: I32) -> None:
    """See `ValueTuner.write`; `picks` (B, R, d) are by slot, numbers of values in `table`."""
    for slot in slots:
        for role in range(picks.shape[1]):
            for column in range(len(own)):
                values[slot, role, column] = own[column]
            for i in range(picks.shape[2]):
                values[slot, role, columns[i]] = table[i, picks[slot, role, i]]
