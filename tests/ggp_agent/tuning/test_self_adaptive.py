"""Tuners at work in the searches."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ggp_agent.agents import find_agent
from ggp_agent.parameters import Scope, parameters_of
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.plain import PlainSearch
from ggp_agent.search.plain_tree import Position, Simulation
from ggp_agent.search.settings import F32, new_settings, settings_row
from ggp_agent.tuning.discrete import DiscreteTuner
from ggp_agent.tuning.model import ALL, KNOWN, MEAN, Model
from ggp_agent.tuning.self_adaptive import SelfAdaptive, adaptive
from ggp_agent.tuning.side_information import MOVES_AHEAD, LsiTuner
from ggp_agent.tuning.tuners import TUNERS
from tests.ggp_agent.search.positions import machine_of, search_on

FIRST = np.arange(512, dtype=np.int32)
"""Rows of settings."""
ONES = np.ones(512, np.int32)
PER_SIMULATION = parameters_of(Scope.SIMULATION)
K, REF = PER_SIMULATION.index("K"), PER_SIMULATION.index("Ref")


def tuned(name: str, *settings: str, roles: int = 2) -> SelfAdaptive:
    agent = find_agent(name).with_settings(settings)
    result = adaptive(agent, roles, 64, seed=1)
    assert result is not None
    return result


def model_of(tuner: SelfAdaptive, scope: Scope = Scope.SIMULATION) -> Model:
    learned = tuner.tuners[scope]
    assert isinstance(learned, DiscreteTuner)
    return learned.model


def lsi_of(tuner: SelfAdaptive) -> LsiTuner:
    learned = tuner.tuners[Scope.SIMULATION]
    assert isinstance(learned, LsiTuner)
    return learned


def asked(tuner: SelfAdaptive, count: int, roles: int = 2) -> F32:
    """The values of `count` simulations, asked for in the first rows of many."""
    values = new_settings(512, roles).values
    values[:] = np.nan
    tuner.ask(FIRST[:count], ONES[:count], values)
    assert np.isnan(values[count:]).all()
    return values[:count]


def test_rows_have_the_tuned_values_and_the_agents_own() -> None:
    tuner = tuned("ap-random-values", "tune=K=0,10,Ref=50,inf", "C=0.7")
    rows = asked(tuner, 64)
    pairs = {tuple(row) for row in rows[:, :, [K, REF]].reshape(-1, 2).tolist()}
    assert pairs == {(0, math.inf), (10, 50), (10, math.inf)}
    fixed = [i for i in range(len(PER_SIMULATION)) if i not in (K, REF)]
    assert (
        rows[:, :, fixed] == settings_row(find_agent("ap").with_settings(["C=0.7"]))[fixed]
    ).all()
    assert {tuple(row) for row in rows[:, 0].tolist()} == {tuple(r) for r in rows[:, 1].tolist()}
    assert not np.array_equal(rows[:, 0], rows[:, 1]), "every role by itself"


# Decision 21
def test_strategies_are_rows_like_any_other() -> None:
    rows = asked(tuned("ap-random-values", "tune=selection,playout", "K=500", "epsilon=0.25"), 64)
    epsilon = PER_SIMULATION.index("epsilon")
    pairs = {tuple(row) for row in rows[:, :, [K, epsilon]].reshape(-1, 2).tolist()}
    assert pairs == {(0, 1), (0, 0.25), (500, 1), (500, 0.25)}


def test_continuous_values_lie_in_their_intervals() -> None:
    tuner = tuned("ap-cmaes", "tune=K,C=0.2,0.4")
    rows = asked(tuner, 64)
    assert (rows[:, :, K] >= 0).all()
    assert (rows[:, :, K] <= 2000).all()
    c = rows[:, :, PER_SIMULATION.index("C")]
    assert len(np.unique(c)) > 4
    assert c.min() >= np.float32(0.2)
    assert c.max() <= np.float32(0.4)


# Decision 12
@pytest.mark.parametrize("name", TUNERS)
@pytest.mark.parametrize("in_flight", [1, 64])
def test_the_native_search_tells_every_role_its_rewards(name: str, in_flight: int) -> None:
    agent = find_agent(f"ap-{name}").with_settings(
        [f"in_flight={in_flight}", "ramp=0", "simulations=256", "memory=16", "tune=4"]
    )
    tuner = adaptive(agent, 2, 64, seed=1)
    assert tuner is not None
    machine = machine_of("ticTacToe")
    search = NativeSearch(machine.compiled, 0, agent, 1, tuner)
    search_on(search)
    if name.startswith("cmaes"):
        return
    first, second = model_of(tuner).arms[:, ALL]
    assert first[KNOWN] == second[KNOWN] == 256
    assert first[MEAN] + second[MEAN] == pytest.approx(1, abs=1e-4)  # a zero-sum game
    total = sum(move.total for move in search.root_moves())
    assert first[MEAN] * 256 == pytest.approx(total, rel=0.02)


def test_the_plain_search_does_too() -> None:
    tuner = tuned("ap-ntbea")
    agent = find_agent("ap-ntbea").with_settings(["simulations=40"])
    search = PlainSearch(machine_of("ticTacToe"), 0, agent, 1, tuner)
    used, back_up = [], search._back_up

    def noted(simulation: Simulation, leaf: Position, rewards: tuple[float, ...]) -> None:
        used.append(simulation.settings.copy())
        back_up(simulation, leaf, rewards)

    search._back_up = noted  # type: ignore[method-assign]
    search_on(search)
    values = np.array(used)[:, :, K]
    assert set(values.ravel().tolist()) <= set(tuner.spaces[Scope.SIMULATION].domains[0])
    assert len(np.unique(values)) > 3
    assert model_of(tuner).arms[:, ALL, KNOWN].tolist() == [40, 40]


# Decision 12
def test_statistics_live_for_the_game() -> None:
    tuner = tuned("sp-nmc")
    asked(tuner, 40)
    tuner.tell(FIRST[:40], np.ones((40, 2)), ONES[:40])
    tuner.new_move()
    assert model_of(tuner).arms[:, ALL, KNOWN].tolist() == [40, 40]
    assert model_of(tuner).arms[:, ALL, MEAN].tolist() == [1, 1]


# Decision 14
def test_lsi_learns_its_budget_by_the_start_clock() -> None:
    agent = find_agent("sp-lsi").with_settings(["simulations=200", "memory=16"])
    tuner = adaptive(agent, 2, 512, seed=1)
    assert tuner is not None
    machine = machine_of("ticTacToe")
    search = NativeSearch(machine.compiled, 0, agent, 1, tuner)
    tuner.watch(search.trace)
    search_on(search)
    assert lsi_of(tuner).samples is None
    moves = [machine.legal_moves(machine.initial_state, role)[0] for role in range(2)]
    search.enter(machine.next_state(machine.initial_state, moves), moves)
    samples = lsi_of(tuner).samples
    assert samples is not None
    assert 5 <= samples / (200 * MOVES_AHEAD) <= 9  # moves of tic-tac-toe
    assert lsi_of(tuned("sp-lsi", "tuner_samples=77")).samples == 77


# Decision 32
@pytest.mark.parametrize("name", ["ap-ntbea", "ap-cmaes"])
def test_neighbours_in_flight_share_combinations(name: str) -> None:
    tuner = adaptive(find_agent(name), 2, 512, seed=1)
    assert tuner is not None
    for count, share in ((1, 1), (31, 1), (32, 2), (100, 6), (512, 32)):
        assert tuner.share(count) == share
        search = NativeSearch(machine_of("ticTacToe").compiled, 0, find_agent(name), 1, tuner)
        search.simulate(count)
        values, row = search._arrays.settings.values, search._arrays.settings.row
        assert len(set(row[:count].tolist())) == -(-count // share)
        for first in range(0, count, share):
            assert (row[first : min(first + share, count)] == row[first]).all()
        used = values[sorted(set(row[:count].tolist()))].reshape(-1, values[0].size)
        assert len({tuple(each) for each in used.tolist()}) > (len(used) > 1)


def test_agents_without_a_tuner() -> None:
    assert adaptive(find_agent("ap"), 2, 64, 1) is None
    assert adaptive(find_agent("random"), 2, 64, 1) is None
