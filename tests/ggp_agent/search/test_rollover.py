"""Playouts that take much longer than the others go on with the next batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ggp_agent.agents import find_agent
from ggp_agent.parameters import Scope
from ggp_agent.search.arrays import EDGES, TRANSITIONS
from ggp_agent.search.batch_sizes import MANY, ROLLOVER
from ggp_agent.search.blocks import statistics
from ggp_agent.search.memory import UNIT
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.settings import F32, F64
from ggp_agent.search.slots import IDLE, PICKS
from ggp_agent.search.strategies.move_history import GOALS, TIMES
from ggp_agent.tuning.cma_es import CmaTuner
from ggp_agent.tuning.discrete import DiscreteTuner
from ggp_agent.tuning.model import ALL, ASKED, FIRST, KNOWN, MEAN
from ggp_agent.tuning.self_adaptive import adaptive
from ggp_agent.tuning.tuners import TUNERS
from propnet.layout import I32
from tests.ggp_agent.search.positions import machine_of, native, nodes_of, search_on

LONG = 80

# Two of ten first moves lead to games of 80 moves, the others to games of 3; every move switches a
# lamp, and what the first one is in the end is what counts.
UNEVEN = f"""
(role one) (role two)
{"".join(f"(lamp {i})" for i in range(10))}
{"".join(f"(succ {i} {i + 1})" for i in range(LONG))}
(init (left start))
(<= (legal one (press ?x)) (lamp ?x))
(<= (legal two (press ?x)) (lamp ?x))
(<= (next (left {LONG})) (true (left start)) (does one (press 0)))
(<= (next (left {LONG})) (true (left start)) (does one (press 1)))
(<= (next (left 3)) (true (left start)) (does one (press ?x)) (distinct ?x 0) (distinct ?x 1))
(<= (next (left ?x)) (true (left ?y)) (succ ?x ?y))
(<= (switched ?x) (does one (press ?x)) (not (does two (press ?x))))
(<= (switched ?x) (does two (press ?x)) (not (does one (press ?x))))
(<= (next (on ?x)) (lamp ?x) (true (on ?x)) (not (switched ?x)))
(<= (next (on ?x)) (lamp ?x) (not (true (on ?x))) (switched ?x))
(<= terminal (true (left 0)))
(<= (goal one 100) (true (on 0))) (<= (goal one 0) (not (true (on 0))))
(<= (goal two 100) (not (true (on 0)))) (<= (goal two 0) (true (on 0)))
"""

MANY_IN_FLIGHT = {"in_flight": 256, "ramp": 0, "memory": 64}


def watch(search: NativeSearch) -> list[int]:
    """How many playouts are left after each batch, from now on."""
    left: list[int] = []
    simulate: Callable[[int, int, int, int], int] = search.simulate

    def watched(batch: int, playouts: int = 1, rollover: int = 0, repeats: int = 1) -> int:
        batches = simulate(batch, playouts, rollover, repeats)
        left.append(search._playing)
        assert search._playing <= rollover
        return batches

    search.simulate = watched  # type: ignore[method-assign]
    return left


@pytest.mark.parametrize("name", ["uct", "sp", "ap"])
def test_everything_is_counted_once(name: str) -> None:
    settings = {**find_agent(name).settings, **MANY_IN_FLIGHT, "amaf_from": 1}
    search = native(UNEVEN, simulations=6000, **settings)
    left = watch(search)
    search_on(search)
    assert max(left) > 0 and left[-1] == 0
    assert (search._arrays.slots.stage == IDLE).all()
    assert search.trace().simulations == search.trace().root_visits == 6000
    for node in nodes_of(search).values():
        for entries in node.entries:
            assert sum(tries for _, tries, _ in entries) <= node.visits
    totals = search._arrays.totals
    moves = totals[EDGES] + totals[TRANSITIONS]
    mast, span = search._arrays.history.sums, search._layout.span
    if name != "uct":
        for role in range(2):
            assert mast[span[role] : span[role + 1], TIMES].sum() == moves
    if name == "ap":  # the root has its AMAF table from the first simulation on
        tree = search._tree
        start = int(tree.nodes[search._root]["amaf"]) * UNIT
        amaf = tree.pool.words[start : start + 2 * len(mast)].view(np.float32).reshape(-1, 2)
        assert amaf[:, TIMES].tolist() == mast[:, TIMES].tolist()
        assert 100 * amaf[:, GOALS] == pytest.approx(mast[:, GOALS], rel=1e-3)


def test_the_root_has_the_rewards_that_were_told() -> None:
    search = native(UNEVEN, simulations=5000, **MANY_IN_FLIGHT)
    told: list[tuple[float, float, float]] = []
    search.tuner.tell = lambda _, totals, weights: told.append(  # type: ignore
        (*totals.sum(axis=0), weights.sum())
    )
    left = watch(search)
    search_on(search)
    assert max(left) > 0
    first, second, number = np.sum(told, axis=0)
    assert first + second == number == 5000
    _, visits, root = search.root_statistics()
    assert visits.sum() == 5000
    assert root.sum() == pytest.approx(first)


# Decision 25
def test_means_are_those_of_the_rewards_that_are_there() -> None:
    search = native(UNEVEN, **MANY_IN_FLIGHT)
    for _ in range(20):
        search.simulate(256, 1, 64)
        if search._playing:
            (means, _), entries = _statistics_of_root(search)
            playing = np.flatnonzero(search._arrays.slots.stage)
            under_way = np.bincount(_picks(search, playing), minlength=len(entries))
            known = entries["visits"] - under_way
            assert (known >= 0).all()
            some = known > 0
            assert means[some] == pytest.approx(entries["total"][some] / known[some], rel=1e-5)
            return
    pytest.fail("nothing lingered")


def _statistics_of_root(search: NativeSearch) -> tuple[Any, Any]:
    """(2, m) means and spreads, and (m,) entries of the first role's moves."""
    scanned, entries, _ = statistics(search._tree, search._root)
    count = search._layout.span[1]
    return scanned[:, :count], entries[:count]


def _picks(search: NativeSearch, simulations: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return search._arrays.slots.path[simulations, 0, PICKS]


def test_the_same_seed_gives_the_same_tree() -> None:
    trees = []
    for _ in range(2):
        search = native(UNEVEN, simulations=4000, **find_agent("ap").settings | MANY_IN_FLIGHT)
        search_on(search)
        trees.append(nodes_of(search))
    assert trees[0] == trees[1]


# Decision 28
@pytest.mark.parametrize(
    "settings", [{"in_flight": MANY - 1}, {"playouts": 2}], ids=["few in flight", "two playouts"]
)
def test_nothing_lingers_where_it_may_not(settings: dict[str, int]) -> None:
    search = native(UNEVEN, simulations=3000, **{**MANY_IN_FLIGHT, **settings})
    left = watch(search)
    search_on(search)
    assert max(left) == 0


# Decision 28
def test_at_most_so_many_linger() -> None:
    search = native(UNEVEN, simulations=3000, **MANY_IN_FLIGHT)
    left = watch(search)
    search_on(search)
    assert 0 < max(left) <= 256 // ROLLOVER


# Decision 28
def test_nothing_is_recycled_under_playouts_that_go_on() -> None:
    """In a full tree everybody finishes before nodes go; nothing is written into freed blocks."""
    settings = {**find_agent("ap").settings, **MANY_IN_FLIGHT, "nodes": 1500, "simulations": 60000}
    search = native(UNEVEN, **settings)
    left = watch(search)
    search_on(search)
    assert max(left) > 0
    assert search.trace().recycled > 1000
    assert search.trace().root_visits == 60000
    for node in nodes_of(search).values():
        for entries in node.entries:
            for _, tries, total in entries:
                assert 0 <= total <= tries


def test_real_moves_find_nothing_in_flight() -> None:
    machine = machine_of(UNEVEN)
    search = native(UNEVEN, simulations=2000, **find_agent("ap").settings | MANY_IN_FLIGHT)
    left = watch(search)
    state = machine.initial_state
    for _ in range(3):
        search_on(search)
        assert search._playing == 0
        joint = [machine.legal_moves(state, role)[0] for role in range(2)]
        state = machine.next_state(state, joint)
        search.enter(state, joint)
    assert max(left) > 0


@pytest.mark.parametrize("name", TUNERS)
def test_tuners_are_told_everything(name: str) -> None:
    settings = ["in_flight=512", "ramp=0", "simulations=12000", "memory=64", "tune=2"]
    tuned = find_agent(f"ap-{name}").with_settings(settings)
    tuner = adaptive(tuned, 2, 512, seed=1)
    assert tuner is not None
    search = NativeSearch(machine_of(UNEVEN).compiled, 0, tuned, 1, tuner)
    left = watch(search)
    search_on(search)
    assert max(left) > 0
    assert not search._arrays.settings.left.any()
    assert search._arrays.settings.free.tolist() == list(range(512))
    learned = tuner.tuners[Scope.SIMULATION]
    if isinstance(learned, CmaTuner):  # without what comes after its generation
        assert 0 <= 12000 - learned.state_of(0)[0] < 3000
        return
    assert isinstance(learned, DiscreteTuner)
    arms = learned.model.arms[:, ALL]
    assert arms[:, KNOWN].tolist() == [12000, 12000]
    if name != "fixed-random-values":
        assert arms[:, ASKED].tolist() == [12000, 12000]


@pytest.mark.parametrize("name", ["random-values", "nmc", "ntbea", "lsi", "ea"])
def test_rewards_go_to_the_values_that_brought_them(name: str) -> None:
    tuned = find_agent(f"ap-{name}").with_settings(
        ["in_flight=512", "ramp=0", "simulations=12000", "memory=64", "tune=2"]
    )
    tuner = adaptive(tuned, 2, 512, seed=1)
    assert tuner is not None
    learned = tuner.tuners[Scope.SIMULATION]
    assert isinstance(learned, DiscreteTuner)
    model = learned.model
    search = NativeSearch(machine_of(UNEVEN).compiled, 0, tuned, 1, tuner)
    arrays, ask = search._arrays, tuner.ask
    values, begun = np.zeros((512, 2), np.int32), np.zeros(512, np.int32)
    counts = np.zeros((2, model.arms.shape[1]))
    totals = np.zeros_like(counts)

    def asked(rows: I32, weights: I32, values_there: F32) -> None:
        ask(rows, weights, values_there)
        new = arrays.slots.idle[: weights.sum()]
        begun[new] = 1
        values[new] = np.repeat(model.picks[rows, :, 0], weights, axis=0)

    def told(rows: I32, sums: F64, weights: I32) -> None:
        done = (begun == 1) & (arrays.slots.stage == IDLE)
        begun[done] = 0
        for role in range(2):
            arms = model.shape[FIRST, 0] + values[done, role]
            np.add.at(counts[role], arms, 1)
            np.add.at(totals[role], arms, arrays.slots.rewards[done, role])
        tell(rows, sums, weights)

    tell = tuner.tell
    tuner.ask, tuner.tell = asked, told  # type: ignore[method-assign]
    left = watch(search)
    search_on(search)
    assert max(left) > 0
    arms = slice(model.shape[FIRST, 0], model.shape[FIRST, 1])
    assert (model.arms[:, arms, KNOWN] == counts[:, arms]).all()
    sums = model.arms[:, arms, KNOWN] * model.arms[:, arms, MEAN]
    assert sums == pytest.approx(totals[:, arms], rel=1e-4, abs=0.1)


# Decision 28
@pytest.mark.parametrize("name", ["random-values", "nmc", "cmaes"])
def test_values_stay_while_a_playout_goes_on(name: str) -> None:
    tuned = find_agent(f"ap-{name}").with_settings(["memory=64", "tune=2"])
    tuner = adaptive(tuned, 2, 512, seed=1)
    assert tuner is not None
    search = NativeSearch(machine_of(UNEVEN).compiled, 0, tuned, 1, tuner)
    settings, stage = search._arrays.settings, search._arrays.slots.stage
    compared = 0
    for _ in range(30):
        before = np.flatnonzero(stage)
        values = settings.values[settings.row[before]].copy()
        search.simulate(256, 1, 85)
        for simulation, value in zip(before, values, strict=True):
            if stage[simulation]:
                assert (settings.values[settings.row[simulation]] == value).all()
                compared += 1
    assert compared > 100
