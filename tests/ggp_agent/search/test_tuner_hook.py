"""Who sets the parameters: asked before every batch, told the rewards after it, per role."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ggp_agent.agents import Agent
from ggp_agent.parameters import Scope, parameters_of
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.plain import PlainSearch
from ggp_agent.search.settings import F32, F64, Tuner, own_values
from ggp_agent.search.slots import PICKS
from ggp_agent.search.strategies.grave import K
from ggp_agent.search.strategies.mast import EPSILON
from ggp_agent.search.strategies.uct import C
from propnet.layout import I32
from tests.ggp_agent.search.positions import SEQUENTIAL, agent, machine_of, search_on
from tests.ggp_agent.search.test_rules import UP_AND_ON

COLUMNS = len(parameters_of(Scope.SIMULATION))


def own_row(agent: Agent) -> F32:
    return own_values(agent, Scope.SIMULATION).astype(np.float32)


class Recorder:
    """A tuner that takes part in nothing but remembers everything."""

    def __init__(self, row: F32, watches_batches: bool = False) -> None:
        self._row = row
        self.watches_batches = watches_batches
        self.is_fixed = False
        self.batches: list[tuple[float, int]] = []
        self.states: list[tuple[float, int]] = []
        self.tau, self.decay = 10.0, 0.2
        self.asked: list[int] = []
        self.rewards: list[F64] = []
        self.moves = 0

    def share(self, count: int) -> int:
        return 1

    def ask(self, rows: I32, weights: I32, values: F32) -> None:
        assert (weights == 1).all()
        self.asked.append(len(rows))
        values[rows] = self._row

    def tell(self, rows: I32, totals: F64, weights: I32) -> None:
        assert (weights == 1).all()
        self.rewards.append(totals.copy())

    def ask_batch(self, values: F64) -> None:
        values[:] = self.tau

    def tell_batch(self, totals: F64, weight: int) -> None:
        self.batches.append((float(totals[0]), weight))

    def ask_move(self, values: F64) -> None:
        values[:] = self.decay

    def tell_move(self, totals: F64, weight: int) -> None:
        self.states.append((float(totals[0]), weight))

    def new_move(self) -> None:
        self.moves += 1

    def report(self, others: Sequence[Tuner] = ()) -> dict[str, object]:
        return {"moves": self.moves}


def recorder(**settings: float) -> Recorder:
    return Recorder(own_row(agent(selection="grave", playout="mast", **settings)))


def test_one_simulation_in_flight_is_ask_simulate_tell() -> None:
    game = machine_of(UP_AND_ON).compiled
    for tuner, make in ((recorder(), "native"), (recorder(), "plain")):
        settings = agent(simulations=30, **SEQUENTIAL)
        if make == "native":
            search: NativeSearch | PlainSearch = NativeSearch(game, 0, settings, 1, tuner)
        else:
            search = PlainSearch(machine_of(UP_AND_ON), 0, settings, 1, tuner)
        search_on(search)
        assert tuner.asked == [1] * 30 and len(tuner.rewards) == 30
        _, _, totals = search.root_statistics()
        assert sum(r[0, 0] for r in tuner.rewards) == pytest.approx(sum(totals), rel=1e-5)
        assert all(r[0, 1] == pytest.approx(0.07) for r in tuner.rewards)


def test_batches_are_asked_for_and_told_as_a_whole() -> None:
    tuner = recorder()
    search = NativeSearch(
        machine_of(UP_AND_ON).compiled, 0, agent(simulations=1000, in_flight=64, ramp=0), 1, tuner
    )
    search_on(search)
    assert sum(tuner.asked) == 1000 and set(tuner.asked) <= {64, 1000 % 64}
    assert [len(rewards) for rewards in tuner.rewards] == tuner.asked


def test_every_role_and_simulation_has_its_own_values() -> None:
    """Half of a batch explores without end, the other half takes the best move known."""

    class Halves(Recorder):
        def ask(self, rows: I32, weights: I32, values: F32) -> None:
            super().ask(rows, weights, values)
            values[::2, 0, C], values[1::2, 0, C] = 10.0, 0.0

    base = agent(playout="uniform", in_flight=64, ramp=0, VO=0.0)
    search = NativeSearch(machine_of(UP_AND_ON).compiled, 0, base, 1, Halves(own_row(base)))
    explored, greedy = np.zeros(2), np.zeros(2)
    for _ in range(60):
        search.simulate(64)
        picks = search._arrays.slots.path[:64, 0, PICKS]
        explored += np.bincount(picks[::2], minlength=2)
        greedy += np.bincount(picks[1::2], minlength=2)
    on, up = explored / explored.sum(), greedy / greedy.sum()  # moves in order: on, up
    assert on[0] > 0.15 and on[0] > 3 * up[0]


def test_epsilon_may_differ_in_one_batch() -> None:
    """Simulations with ε = 0 play their role's best move only, the others any."""

    class Two(Recorder):
        def ask(self, rows: I32, weights: I32, values: F32) -> None:
            super().ask(rows, weights, values)
            values[::2, 0, EPSILON], values[1::2, 0, EPSILON] = 0.0, 1.0

    base = agent(playout="mast", in_flight=64, ramp=0)
    tuner = Two(own_row(base))
    search = NativeSearch(machine_of(UP_AND_ON).compiled, 0, base, 1, tuner)
    search._arrays.history.sums[:] = 1e9
    up = search._game.moves[0].index("up")
    search._arrays.history.sums[up, 1] = 2e9
    search.simulate(64)
    ups = tuner.rewards[-1][:, 0] * 100
    assert (ups[::2] >= 9).all()  # all but the moves that the tree selected, three at most
    assert ups[1::2].mean() < 9


def test_without_a_tuner_all_share_the_agents_own_values() -> None:
    base = agent(C=0.7, in_flight=64, ramp=0)
    search = NativeSearch(machine_of(UP_AND_ON).compiled, 0, base, 1)
    for _ in range(2):
        search.simulate(64)
        settings = search._arrays.settings
        assert (settings.values[settings.row] == own_row(base)).all()
        rows = np.arange(3, dtype=np.int32)
        search.tuner.ask(rows, rows, other := np.zeros((8, 2, COLUMNS), np.float32))
        assert (other == own_row(base)).all()


def test_infinite_values_are_allowed() -> None:
    tuner = recorder(K=float("inf"), Ref=float("inf"), T=float("inf"))
    values = np.zeros((1, 2, COLUMNS), np.float32)
    tuner.ask(np.zeros(1, np.int32), np.ones(1, np.int32), values)
    assert np.isinf(values[0, 0, K])
    search = NativeSearch(
        machine_of("ticTacToe").compiled,
        0,
        agent(selection="grave", playout="mast", simulations=2000),
        1,
        tuner,
    )
    search_on(search)
    assert search.trace().simulations == 2000


def test_real_moves_are_told() -> None:
    tuner = recorder()
    machine = machine_of(UP_AND_ON)
    search = NativeSearch(machine.compiled, 0, agent(), 1, tuner)
    search.enter(machine.next_state(machine.initial_state, ("up", "no")), ("up", "no"))
    assert tuner.moves == 1


def played_on(watches: bool) -> tuple[Recorder, NativeSearch]:
    """A search of two states, 20 simulations from each, 8 in flight."""
    base = agent(playout="mast", in_flight=8, ramp=0, simulations=20)
    tuner = Recorder(own_row(base), watches)
    machine = machine_of(UP_AND_ON)
    search = NativeSearch(machine.compiled, 0, base, 1, tuner)
    search_on(search)
    search.enter(machine.next_state(machine.initial_state, ("up", "no")), ("up", "no"))
    search_on(search)
    return tuner, search


def test_a_batch_is_asked_for_and_told_what_it_completed() -> None:
    tuner, search = played_on(watches=True)
    assert [weight for _, weight in tuner.batches] == [8, 8, 4, 8, 8, 4]
    assert sum(total for total, _ in tuner.batches) == pytest.approx(
        sum(rewards[:, 0].sum() for rewards in tuner.rewards)
    )
    assert (search._arrays.settings.of_batch == 10.0).all()


def test_a_move_is_told_what_all_its_simulations_brought() -> None:
    tuner, search = played_on(watches=True)
    assert tuner.states == [(pytest.approx(sum(t for t, _ in tuner.batches[:3])), 20)]
    assert (search._arrays.settings.of_move == 0.2).all()


def test_who_does_not_watch_batches_is_asked_when_a_state_is_entered() -> None:
    tuner, search = played_on(watches=False)
    assert tuner.batches == tuner.states == []
    assert (search._arrays.settings.of_batch == 10.0).all()


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0])
def test_a_tuned_decay_is_used(factor: float) -> None:
    base = agent(playout="mast", in_flight=8, ramp=0)
    tuner = Recorder(own_row(base))
    machine = machine_of(UP_AND_ON)
    search = NativeSearch(machine.compiled, 0, base, 1, tuner)
    search._arrays.history.sums[:] = 10.0, 300.0
    tuner.decay = factor
    search.enter(machine.next_state(machine.initial_state, ("up", "no")), ("up", "no"))
    assert (search._arrays.history.sums == (10 * factor, 300 * factor)).all()
