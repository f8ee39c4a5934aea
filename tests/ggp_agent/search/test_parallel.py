"""Several trees at once: what they share, that they are put together, and that all end."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ggp_agent.agents import Agent, find_agent
from ggp_agent.mind.search_factory import native_search
from ggp_agent.parameters import Scope
from ggp_agent.search.final import RootMove, choose_move, put_together
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.parallel import ParallelSearch, share_of, threads_of
from ggp_agent.search.stopping import Interrupted
from ggp_agent.system.cores import cores
from ggp_agent.tuning.cma_es import CmaTuner
from ggp_agent.tuning.self_adaptive import SelfAdaptive
from ggp_agent.tuning.space import F64
from tests.ggp_agent.search.positions import GUARD, agent, machine_of, position

ONE_MOVE_WIN = "(mark 1 1 x) (mark 1 2 x) (mark 2 1 o) (mark 2 2 o) (control x)"


def trees(game: str, chosen: Agent, seed: int = 1) -> ParallelSearch:
    """A search of the first role with several trees."""
    search = native_search(machine_of(game).compiled, 0, chosen, seed)
    assert isinstance(search, ParallelSearch)
    return search


def reported(search: ParallelSearch | NativeSearch) -> dict[str, Any]:
    """What a search reports, but for the time."""
    report = json.loads(json.dumps(search.report()))
    del report["seconds"]
    return dict(report)


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 8), ("50000 100000", 1), ("250000 100000", 2), ("9900000 100000", 8), ("?", 8)],
)
def test_a_container_says_how_many_cores_there_are(
    quota: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)))
    file = tmp_path / "cpu.max"
    file.write_text(quota + "\n")
    assert cores(file) == expected
    assert cores(tmp_path / "none") == 8


def test_how_many_trees_there_are() -> None:
    assert threads_of(agent()) == cores()
    assert threads_of(agent(threads=3)) == 3
    assert threads_of(agent(threads=3, simulations=100)) == 3
    assert threads_of(agent(simulations=100)) == 1
    assert threads_of(agent(threads=3, simulations=2)) == 2


# Decision 30
def test_trees_share_what_is_for_all_of_them() -> None:
    whole = agent(memory=100, nodes=50_000, simulations=1001, C=0.7)
    shares = [share_of(whole, 3, number) for number in range(3)]
    for name in ("memory", "nodes", "simulations"):
        assert sum(share.number(name) for share in shares) == whole.number(name)
        values = {share.number(name) for share in shares}
        assert max(values) - min(values) <= 1
    assert all(share["C"] == 0.7 for share in shares)


def test_a_seed_fixes_all_trees_and_the_first_is_that_of_one_thread() -> None:
    settings = agent(threads=3, simulations=301, in_flight=1, memory=48)
    reports = []
    for _ in range(2):
        search = trees("ticTacToe", settings)
        search.think(time.monotonic() + GUARD, lambda: False)
        reports.append(reported(search))
    assert reports[0] == reports[1]
    alone = native_search(
        machine_of("ticTacToe").compiled, 0, agent(simulations=101, in_flight=1), 1
    )
    assert isinstance(alone, NativeSearch)
    alone.think(time.monotonic() + GUARD, lambda: False)
    assert reported(search._searches[0]) == reported(alone)
    others = [reported(one)["moves"] for one in search._searches]
    assert others[0] != others[1] != others[2] != others[0]


def test_what_the_trees_know_is_put_together() -> None:
    search = trees("connectFour", agent(threads=2, simulations=400, memory=32))
    search.think(time.monotonic() + GUARD, lambda: False)
    first, second = (one.trace() for one in search._searches)
    both = search.trace()
    assert both.simulations == first.simulations + second.simulations == 400
    assert both.visited_nodes == first.visited_nodes + second.visited_nodes
    assert both.tree_nodes == first.tree_nodes + second.tree_nodes
    assert both.mean_depth == pytest.approx((first.mean_depth + second.mean_depth) / 2)
    for move, one, other in zip(both.moves, first.moves, second.moves, strict=True):
        assert move.move == one.move == other.move
        assert move.visits == one.visits + other.visits
        assert move.mean == pytest.approx((one.mean + other.mean) / 2)
    best = max(both.moves, key=lambda move: move.mean)
    assert search.choose() == best.move


# Decision 30
def test_what_one_tree_has_proven_counts() -> None:
    unknown, won = RootMove("a", 10, 2.0), RootMove("a", 5, 5.0, low=100, ends=True)
    together = put_together([[unknown, RootMove("b", 3, 1.5)], [won], [RootMove("b")], []])
    assert together == [
        RootMove("a", 15, 15 * 0.6, low=100, high=100, ends=True),
        RootMove("b", 3, 1.5),
    ]


# Decision 30
def test_a_tree_that_has_left_a_move_counts_as_much_as_one_that_has_not() -> None:
    refuted = [RootMove("a", 100, 30.0), RootMove("b", 9900, 5445.0)]
    believed = [RootMove("a", 9900, 5742.0), RootMove("b", 100, 54.0)]
    dice = np.random.default_rng(1)
    assert choose_move(put_together([refuted, believed]), "mean", dice) == "b"


def test_all_trees_stop_once_one_has_nothing_left_to_find_out() -> None:
    search = trees("ticTacToe", agent(threads=2, solver="on", memory=32))
    search.enter(position("ticTacToe", ONE_MOVE_WIN), None)
    slow = search._searches[1]
    slow.is_worth_it = lambda: True  # type: ignore[method-assign]
    begun = time.monotonic()
    search.think(begun + GUARD, lambda: False)
    assert time.monotonic() - begun < GUARD / 2
    assert search.trace().low == 100
    assert search.choose() == ("place", "1", "3")


def test_an_error_in_one_tree_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    search = trees("ticTacToe", agent(threads=3, memory=48))
    thinking = NativeSearch.think

    def think(one: NativeSearch, deadline: float, interrupted: Interrupted) -> None:
        if one is search._searches[1]:
            raise MemoryError
        thinking(one, deadline, interrupted)

    monkeypatch.setattr(NativeSearch, "think", think)
    begun = time.monotonic()
    with pytest.raises(MemoryError):
        search.think(begun + GUARD, lambda: False)
    assert time.monotonic() - begun < GUARD / 2


def test_an_interruption_ends_all_trees() -> None:
    search = trees("connectFour", agent(threads=2, memory=64))
    begun = time.monotonic()
    search.think(begun + GUARD, lambda: time.monotonic() > begun + 0.2)
    assert time.monotonic() - begun < GUARD / 2
    assert all(one.trace().simulations > 0 for one in search._searches)


def test_trees_go_on_through_a_match() -> None:
    machine, search = (
        machine_of("ticTacToe"),
        trees("ticTacToe", find_agent("default").with_settings(["threads=2"])),
    )
    state, moves = machine.initial_state, 0
    while not machine.is_terminal(state):
        search.think(time.monotonic() + 0.02, lambda: False)
        own = search.choose()
        assert own in machine.legal_moves(state, 0)
        joint = [own, machine.legal_moves(state, 1)[0]]
        state = machine.next_state(state, joint)
        search.enter(state, joint)
        moves += 1
    assert machine.goals(state)[0] == 100 and moves <= 9


def middle_of(search: NativeSearch, role: int) -> F64:
    """The middle of a role's search distribution."""
    assert isinstance(search.tuner, SelfAdaptive)
    tuner = search.tuner.tuners[Scope.SIMULATION]
    assert isinstance(tuner, CmaTuner)
    return tuner.state_of(role)[2]


@pytest.mark.parametrize("tuner", ["ntbea", "choosing", "cmaes", "lsi"])
def test_what_the_tuners_of_all_trees_have_learned_is_put_together(tuner: str) -> None:
    names = "C,epsilon"
    chosen = find_agent(f"sp-{tuner}").with_settings(
        [f"tune={names}", "threads=2", "simulations=300", "in_flight=8", "ramp=0", "memory=32"]
    )
    search = trees("ticTacToe", chosen)
    search.think(time.monotonic() + GUARD, lambda: False)
    told = reported(search)["tuning"]["roles"]
    parts = [reported(one)["tuning"]["roles"] for one in search._searches]
    for role, (both, first, second) in enumerate(zip(told, *parts, strict=True)):
        assert both["samples"] == first["samples"] + second["samples"] == 300
        assert both["mean"] == pytest.approx((first["mean"] + second["mean"]) / 2, abs=0.01)
        if tuner == "cmaes":
            middles = [middle_of(one, role) for one in search._searches]
            middle = float(np.clip(np.mean(middles, axis=0), 0, 1)[0])
            assert both["distribution"]["C"]["middle"] == pytest.approx(middle, abs=1e-3)
            continue
        tables = [part["values"]["C"] for part in (both, first, second)]
        samples = [np.array(table["samples"]) for table in tables]
        totals = [np.array(t["means"]) * s for t, s in zip(tables, samples, strict=True)]
        assert (samples[0] == samples[1] + samples[2]).all()
        np.testing.assert_allclose(totals[0], totals[1] + totals[2], atol=3.0)
        if tuner == "choosing":
            numbers = [part["tuned"]["number"]["samples"] for part in (both, first, second)]
            assert numbers[0] == [a + b for a, b in zip(*numbers[1:], strict=True)]
