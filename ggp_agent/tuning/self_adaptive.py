"""Tuners at work in the search: from an agent's parameters to rows of settings.

Sironi, Liu, Winands (2020), section IV-A: before each simulation the tuner of every role chooses a
combination of values, all of which control that simulation together, and afterwards each learns its
role's reward.  What they have learned lives for one game.

With many simulations in flight neighbours share a combination (see `SelfAdaptive.share`), for
choosing one would take as long as a good part of the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ggp_agent.agents import Agent
from ggp_agent.errors import ParameterError
from ggp_agent.parameters import PER_SIMULATION
from ggp_agent.search.kernel import direct, entry
from ggp_agent.search.settings import Tuner, settings_row
from ggp_agent.search.trace import Trace
from ggp_agent.tuning.cma_es import CmaTuner
from ggp_agent.tuning.model import ALL, KNOWN
from ggp_agent.tuning.side_information import LsiTuner
from ggp_agent.tuning.space import F32, F64, I32, Space, read_space
from ggp_agent.tuning.tuner_report import insight
from ggp_agent.tuning.tuners import make_tuner

MOVES_AHEAD = 3
"""LSI's budget: simulations of the start clock times the mean length of a simulated game times
this, for simulations become more (and shorter) as the game goes on."""
LOOK_EVERY = 64
"""Batches between looks at the mean length."""
MOST_SHARING = 32
"""Simulations in flight that share a combination, at most."""
LEAST_COMBINATIONS = 16
"""Combinations in flight below which none is shared."""


class SelfAdaptive:
    """A `ggp_agent.search.settings.Tuner` that leaves the choice to one tuner per role."""

    def __init__(self, agent: Agent, roles: int, most: int, seed: int) -> None:
        """For at most `most` simulations in flight.  Raises `ParameterError`."""
        self.space = space_of(agent)
        self._name = str(agent["tuner"])
        self.tuner = make_tuner(self._name, self.space, roles, most, seed)
        self._row = settings_row(agent)
        if isinstance(self.tuner, CmaTuner):
            self._rows = np.tile(self._row, (len(self.tuner.points), roles, 1))
            self._version = -1
        self._columns = np.array([PER_SIMULATION.index(n) for n in self.space.columns], np.int32)
        self._table = self.space.table().astype(np.float32)
        self._trace: Callable[[], Trace] | None = None
        self._batches, self._length = 0, 0.0
        if isinstance(self.tuner, CmaTuner):
            self.tuner.most = int(agent.number("in_flight"))
        if isinstance(self.tuner, LsiTuner):
            self.tuner.samples = int(agent.number("tuner_samples")) or None

    def watch(self, trace: Callable[[], Trace]) -> None:
        """Where to learn how long simulated games are; LSI needs this for its budget."""
        self._trace = trace

    def share(self, count: int) -> int:
        """See `Tuner.share`."""
        return max(1, min(MOST_SHARING, count // LEAST_COMBINATIONS))

    def ask(self, rows: I32, weights: I32, values: F32) -> None:
        """See `Tuner.ask`."""
        tuner = self.tuner
        tuner.ask(rows, weights)
        if isinstance(tuner, CmaTuner):
            if tuner.version != self._version:
                self._version = tuner.version
                self._rows[:, :, self._columns] = self.space.values_between(tuner.points)
            copy_rows(values, rows, tuner.turn_at, self._rows)
        else:
            fill_rows(values, rows, tuner.model.picks, self._row, self._table, self._columns)

    def tell(self, rows: I32, totals: F64, weights: I32) -> None:
        """See `Tuner.tell`."""
        self.tuner.tell(rows, totals, weights)
        if isinstance(self.tuner, LsiTuner) and self.tuner.samples is None and self._trace:
            if self._batches % LOOK_EVERY == 0:
                self._length = mean_length(self._trace())
            self._batches += 1

    def report(self, others: Sequence[Tuner] = ()) -> dict[str, object]:
        """See `Tuner.report`."""
        alike = [other.tuner for other in others if isinstance(other, SelfAdaptive)]
        return {"tuning": insight(self._name, self.space, [self.tuner, *alike])}

    def new_move(self) -> None:
        """See `Tuner.new_move`; after the start clock LSI's budget is fixed."""
        if isinstance(self.tuner, LsiTuner) and self.tuner.samples is None:
            told = self.tuner.model.arms[0, ALL, KNOWN]
            if told:
                self.tuner.samples = round(told * MOVES_AHEAD * max(1.0, self._length))


def mean_length(trace: Trace) -> float:
    """The mean length of a search's simulated games, from the root to the end."""
    in_playouts = trace.visited_nodes - trace.mean_depth * trace.simulations
    return trace.mean_depth + in_playouts / max(1, trace.playouts)


def adaptive(agent: Agent, roles: int, most: int, seed: int) -> SelfAdaptive | None:
    """The tuning that an agent asks for, if any.  Raises `ParameterError`."""
    if agent["tuner"] == "off" or agent["strategy"] != "mcts":
        return None
    return SelfAdaptive(agent, roles, most, seed)


def check_tuning(agent: Agent) -> None:
    """Raise `ParameterError` for tuning that can't be."""
    if agent["tuner"] != "off":
        if agent["strategy"] != "mcts":
            raise ParameterError(f"{agent.name} does not search: there is nothing to tune")
        space_of(agent)
    elif agent["tune"]:
        raise ParameterError("what is to be tuned needs a tuner; none is set")


def space_of(agent: Agent) -> Space:
    """The parameters that an agent tunes.  Raises `ParameterError` where one has no effect."""
    text = str(agent["tune"]) or "2"
    if text.isdecimal():
        text = ",".join(usual_parameters(agent, int(text)))
    space = read_space(text, {name: agent.number(name) for name in PER_SIMULATION})
    for name, column in zip(space.names, space.columns, strict=True):
        if column in ("K", "Ref") and agent["selection"] != "grave":
            raise ParameterError(f"{name} can only be tuned with selection=grave")
        if column == "epsilon" and agent["playout"] != "mast":
            raise ParameterError(f"{name} can only be tuned with playout=mast")
    return space


def usual_parameters(agent: Agent, count: int) -> tuple[str, ...]:
    """The papers' sets: K, Ref, C, epsilon, VO and T in this order, without those of no effect.

    Raises `ParameterError` if there are not so many.
    """
    names = (("K", "Ref"), ("C",), ("epsilon",), ("VO", "T"))
    use = (agent["selection"] == "grave", True, agent["playout"] == "mast", True)
    chosen = [name for group, used in zip(names, use, strict=True) if used for name in group]
    if not 1 <= count <= len(chosen):
        raise ParameterError(
            f"{agent.name} has {len(chosen)} parameters to tune ({', '.join(chosen)}), not {count}"
        )
    return tuple(chosen[:count])


@direct
@entry
def fill_rows(values: F32, rows: I32, picks: I32, row: F32, table: F32, columns: I32) -> None:
    """Write what was picked for these rows (n,) to `values`, and else an agent's own `row`.

    `picks` (B, R, d) are by row, the `columns` (d,) those of the variables, whose values are in
    `table`; `row` is (COLUMNS,).
    """
    for place in rows:
        for role in range(picks.shape[1]):
            for column in range(len(row)):
                values[place, role, column] = row[column]
            for i in range(picks.shape[2]):
                values[place, role, columns[i]] = table[i, picks[place, role, i]]


@direct
@entry
def copy_rows(values: F32, rows: I32, turn_at: I32, turns: F32) -> None:
    """Write the values of `turns` (T, R, COLUMNS) that these rows (n,) were given."""
    for place in rows:
        for role in range(turns.shape[1]):
            for column in range(turns.shape[2]):
                values[place, role, column] = turns[turn_at[place], role, column]
