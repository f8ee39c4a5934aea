"""Several threads in one tree: nothing is lost, nobody is in anybody's way, and all end."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ggp_agent.agents import Agent, find_agent
from ggp_agent.mind.agents import read_agent
from ggp_agent.mind.search_factory import native_search
from ggp_agent.parameters import Scope
from ggp_agent.search.blocks import statistics
from ggp_agent.search.locks import SHARED
from ggp_agent.search.memory import NO_BLOCK, UNIT
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.parallel import JOIN, Gate, ParallelSearch, threads_of
from ggp_agent.search.search_thread import SearchThread
from ggp_agent.search.slots import IDLE, PICKS, PLAYING
from ggp_agent.search.stopping import Interrupted
from ggp_agent.search.strategies.move_history import TIMES
from ggp_agent.search.tree import FRESH, OPEN
from ggp_agent.system.cores import cores
from ggp_agent.tuning.cma_es import CmaTuner
from ggp_agent.tuning.self_adaptive import SelfAdaptive
from ggp_agent.tuning.space import F64
from tests.ggp_agent.search.positions import GUARD, agent, machine_of, nodes_of, position, root_of

ONE_MOVE_WIN = "(mark 1 1 x) (mark 1 2 x) (mark 2 1 o) (mark 2 2 o) (control x)"


def threads_on(game: str, chosen: Agent, seed: int = 1) -> ParallelSearch:
    """A search of the first role with several threads."""
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


def test_how_many_threads_there_are() -> None:
    assert threads_of(agent()) == cores()
    assert threads_of(agent(threads=3)) == 3
    assert threads_of(agent(threads=3, simulations=100)) == 3
    assert threads_of(agent(simulations=100)) == 1
    assert threads_of(agent(threads=3, simulations=2)) == 2


def all_work(search: ParallelSearch) -> Interrupted:
    """Interrupts a search once every thread has made some thousand simulations."""

    def done() -> bool:
        return all(thread.counts().simulations > 3000 for thread in threads_in(search))

    return done


def threads_in(search: ParallelSearch) -> list[SearchThread]:
    """All threads, the first one first."""
    return [search._first, *search._others]


def check(search: ParallelSearch) -> None:
    """Nothing is in flight, nobody has a lock, and nothing was lost in the tree."""
    first, tree = search._first, search._first.tree
    assert not tree.locks.any()
    for thread in threads_in(search):
        assert thread.tree is tree
        assert (thread._arrays.slots.stage == IDLE).all()
        assert not thread._arrays.settings.left.any()
    for node in nodes_of(first).values():
        for entries in node.entries:
            assert sum(tries for _, tries, _ in entries) <= node.visits
            assert all(-1e-9 <= total <= tries for _, tries, total in entries)


# Decision 30
@pytest.mark.parametrize("number", [2, 4])
@pytest.mark.parametrize("game", ["connectFour", "biddingTicTacToe", "ticTacToe3Player"])
@pytest.mark.parametrize(
    "name", ["ap", "default", "sp:playout=gibbs:selection=progressive_history"]
)
def test_all_threads_work_on_one_tree_and_nothing_is_lost(
    name: str, game: str, number: int
) -> None:
    chosen = read_agent(f"{name}:threads={number}:memory=256:solver=off:ramp=16:amaf_from=1")
    search = native_search(machine_of(game).compiled, 0, chosen, 1)
    assert isinstance(search, ParallelSearch)
    search.think(time.monotonic() + GUARD, all_work(search))
    check(search)
    parts = [thread.counts() for thread in threads_in(search)]
    trace, first = search.trace(), search._first
    assert all(part.simulations > 3000 for part in parts)
    assert trace.simulations == sum(part.simulations for part in parts) == trace.root_visits
    assert trace.visited_nodes == sum(part.visited_nodes for part in parts)
    assert trace.tree_nodes == parts[0].tree_nodes > 1000
    for entries in root_of(first).entries:
        assert sum(tries for _, tries, _ in entries) == trace.simulations
    sums, span = first._arrays.history.sums, first._layout.span
    for role in range(len(span) - 1):  # an edge or a playout's move is a move of every role
        assert sums[span[role] : span[role + 1], TIMES].sum() == trace.visited_nodes
    if name == "ap":  # here additions may be lost, many where a thread is held up in one
        start = int(first.tree.nodes[first.root]["amaf"]) * UNIT
        amaf = first.tree.pool.words[start : start + 2 * len(sums)].view(np.float32)
        assert (amaf[::2] <= sums[:, TIMES] + 20).all()
        assert amaf[::2].sum() > 0.5 * sums[:, TIMES].sum()


# Decision 30
def test_means_are_those_of_all_rewards_once_nothing_is_in_flight() -> None:
    search = threads_on("connectFour", agent(threads=3, memory=64, solver="off", ramp=4))
    search.think(time.monotonic() + GUARD, all_work(search))
    tree, checked = search._first.tree, 0
    for number in np.flatnonzero(tree.nodes["stats"][: int(tree.counters[FRESH])] != NO_BLOCK):
        if tree.nodes[number]["kind"] == OPEN:
            (means, near), entries, _ = statistics(tree, int(number))
            low = int(tree.nodes[number]["mover"])
            start = int(tree.nodes[number]["moves"]) * UNIT + low
            own = slice(*tree.pool.words[start : start + 2].tolist())
            tried = entries["visits"][own] > 0
            mean = entries["total"][own][tried] / entries["visits"][own][tried]
            assert means[own][tried] == pytest.approx(mean, rel=1e-5, abs=1e-6)
            assert (near[own][~tried] == 0).all()
            checked += 1
    assert checked > 500


# Decision 30
def test_means_leave_out_what_other_threads_have_in_flight() -> None:
    search = threads_on("connectFour", agent(threads=2, memory=64, in_flight=256, ramp=0))
    one, other = threads_in(search)
    one.tree.locks[SHARED] = 1
    one.simulate(256)
    compared = 0
    for _ in range(10):
        other.simulate(256, 1, 85)
        if not other.playing:
            continue
        going = np.flatnonzero(other._arrays.slots.stage == PLAYING)
        one.simulate(128)
        (means, _), entries, _ = statistics(one.tree, one.root)
        moves = len(one.root_moves())
        flying = np.bincount(other._arrays.slots.path[going, 0, PICKS], minlength=moves)[:moves]
        completed = entries["visits"][:moves] - flying
        some = completed > 0
        known = entries["total"][:moves][some] / completed[some]
        assert means[:moves][some] == pytest.approx(known, rel=1e-5)
        compared += 1
    assert compared > 3


# Decision 30
@pytest.mark.parametrize("number", [2, 4])
@pytest.mark.parametrize("solver", ["on", "off"])
@pytest.mark.parametrize("game", ["connectFour", "biddingTicTacToe"])
def test_nothing_is_recycled_under_simulations_in_flight(
    game: str, solver: str, number: int
) -> None:
    chosen = read_agent(f"ap:threads={number}:memory=16:nodes=3000:ramp=8:solver={solver}")
    search = native_search(machine_of(game).compiled, 0, chosen, 1)
    assert isinstance(search, ParallelSearch)

    def done() -> bool:
        threads = [thread.counts() for thread in threads_in(search)]
        enough = threads[0].recycled > 20_000 and all(t.simulations > 2000 for t in threads)
        return enough or time.monotonic() > begun + GUARD

    begun = time.monotonic()
    search.think(begun + GUARD, done)
    check(search)
    trace = search.trace()
    assert trace.recycled > 20_000 or trace.low == trace.high
    assert trace.root_visits == trace.simulations


def test_budgets_are_exact_and_those_of_all_threads() -> None:
    for budget in (600, 5000, 20_011):
        search = threads_on("connectFour", agent(threads=3, simulations=budget, memory=48))
        search.think(time.monotonic() + GUARD, lambda: False)
        assert search.trace().simulations == search.trace().root_visits == budget
        search.think(time.monotonic() + GUARD, lambda: False)
        assert search.trace().simulations == budget
        check(search)


# Decision 30
def test_a_small_tree_is_that_of_one_thread() -> None:
    settings = {"simulations": JOIN, "memory": 48}
    search = threads_on("ticTacToe", agent(threads=3, **settings))
    search.think(time.monotonic() + GUARD, lambda: False)
    alone = native_search(machine_of("ticTacToe").compiled, 0, agent(**settings), 1)
    assert isinstance(alone, NativeSearch)
    alone.think(time.monotonic() + GUARD, lambda: False)
    assert reported(search) == reported(alone)
    assert nodes_of(search._first) == nodes_of(alone)


def test_threads_have_random_numbers_of_their_own() -> None:
    search = threads_on("ticTacToe", agent(threads=3, memory=48))
    numbers = {int(thread._arrays.random[0]) for thread in threads_in(search)}
    assert len(numbers) == 3


def test_all_threads_stop_once_one_has_nothing_left_to_find_out() -> None:
    search = threads_on("ticTacToe", agent(threads=2, solver="on", memory=32))
    search.enter(position("ticTacToe", ONE_MOVE_WIN), None)
    slow = search._others[0]
    slow.is_worth_it = lambda: True  # type: ignore[method-assign]
    begun = time.monotonic()
    search.think(begun + GUARD, lambda: False)
    assert time.monotonic() - begun < GUARD / 2
    assert search.trace().low == 100
    assert search.choose() == ("place", "1", "3")


@pytest.mark.parametrize("number", [0, 1])
def test_an_error_in_one_thread_ends_the_others(number: int) -> None:
    search = threads_on("connectFour", agent(threads=3, memory=48, nodes=2000))
    thread = threads_in(search)[number]
    simulate, batches = thread.simulate, 0

    def fail(*asked: int) -> int:
        nonlocal batches
        batches += 1
        if batches > 200:
            raise MemoryError
        return simulate(*asked)

    thread.simulate = fail  # type: ignore[method-assign]
    begun = time.monotonic()
    with pytest.raises(MemoryError):
        search.think(begun + GUARD, lambda: False)
    assert time.monotonic() - begun < GUARD / 2
    assert not search._first.tree.locks.any()


def test_an_interruption_ends_all_threads() -> None:
    search = threads_on("connectFour", agent(threads=2, memory=64))
    begun = time.monotonic()
    search.think(begun + GUARD, lambda: time.monotonic() > begun + 0.2)
    assert time.monotonic() - begun < GUARD / 2
    check(search)


def test_a_deadline_ends_all_threads() -> None:
    search = threads_on("connectFour", agent(threads=2, memory=64))
    search.think(time.monotonic() - 1, lambda: False)
    assert search.trace().simulations == 0
    search.think(time.monotonic() + 0.2, lambda: False)
    assert search.trace().simulations > 0
    check(search)
    limited = threads_on("connectFour", agent(threads=2, memory=64, seconds=0.2))
    begun = time.monotonic()
    limited.think(begun + GUARD, lambda: False)
    assert time.monotonic() - begun < GUARD / 2


def test_threads_go_on_through_a_match() -> None:
    machine, search = (
        machine_of("ticTacToe"),
        threads_on("ticTacToe", find_agent("default").with_settings(["threads=2"])),
    )
    state, moves = machine.initial_state, 0
    while not machine.is_terminal(state):
        search.think(time.monotonic() + 0.02, lambda: False)
        own = search.choose()
        assert own in machine.legal_moves(state, 0)
        joint = [own, machine.legal_moves(state, 1)[0]]
        state = machine.next_state(state, joint)
        search.enter(state, joint)
        check(search)
        moves += 1
    assert machine.goals(state)[0] == 100 and moves <= 9


# Decision 30
def test_the_values_for_a_move_are_the_first_threads() -> None:
    chosen = find_agent("ap-nmc").with_settings(["tune=decay", "threads=2", "memory=64"])
    search = threads_on("connectFour", chosen)
    told: list[int] = []
    tuner = search._first.tuner
    tuner.tell_move = lambda totals, weight: told.append(weight)  # type: ignore[method-assign]
    search._others[0].tuner.tell_move = None  # type: ignore
    search.think(time.monotonic() + GUARD, all_work(search))
    machine, simulations = machine_of("connectFour"), search.trace().simulations
    joint = [machine.legal_moves(machine.initial_state, role)[0] for role in range(2)]
    search.enter(machine.next_state(machine.initial_state, joint), joint)
    assert told == [simulations]


class TestGate:
    """Who works alone does so while nobody else is inside."""

    def test_many_who_want_to_be_alone(self) -> None:
        gate, inside, most, alone = Gate(), 0, 0, 0
        guard = threading.Lock()

        def work(number: int) -> None:
            nonlocal inside, most, alone
            gate.enter()
            for step in range(200):
                with guard:
                    inside += 1
                    most = max(most, inside)
                if step % 7 == 0:
                    time.sleep(0)
                with guard:
                    inside -= 1
                if step % 10 == number:
                    gate.alone(lambda: True, lone)
                elif gate.is_to_be_left:
                    gate.leave()
                    gate.enter()
            gate.leave()

        def lone() -> None:
            nonlocal alone
            with guard:
                assert inside == 0
                alone += 1

        with ThreadPoolExecutor(4) as pool:
            for task in [pool.submit(work, number) for number in range(4)]:
                task.result(GUARD)
        assert alone == 80

    def test_what_another_one_has_done_is_not_done_again(self) -> None:
        gate, done = Gate(), 0

        def work() -> None:
            nonlocal done
            done += 1

        def one() -> None:
            gate.enter()
            gate.alone(lambda: done == 0, work)
            gate.leave()

        with ThreadPoolExecutor(4) as pool:
            for task in [pool.submit(one) for _ in range(4)]:
                task.result(GUARD)
        assert done == 1


def middle_of(search: SearchThread, role: int) -> F64:
    """The middle of a role's search distribution."""
    assert isinstance(search.tuner, SelfAdaptive)
    tuner = search.tuner.tuners[Scope.SIMULATION]
    assert isinstance(tuner, CmaTuner)
    return tuner.state_of(role)[2]


@pytest.mark.parametrize("tuner", ["ntbea", "choosing", "cmaes", "lsi"])
def test_what_the_tuners_of_all_threads_have_learned_is_put_together(tuner: str) -> None:
    names = "C,epsilon"
    chosen = find_agent(f"sp-{tuner}").with_settings(
        [f"tune={names}", "threads=2", "simulations=3000", "in_flight=8", "ramp=0", "memory=32"]
    )
    search = threads_on("ticTacToe", chosen)
    search.think(time.monotonic() + GUARD, lambda: False)
    told = reported(search)["tuning"]["roles"]
    parts = [search._first.tuner.report(), search._others[0].tuner.report()]
    parts = [json.loads(json.dumps(part))["tuning"]["roles"] for part in parts]
    for role, (both, first, second) in enumerate(zip(told, *parts, strict=True)):
        assert both["samples"] == first["samples"] + second["samples"] == 3000
        mean = sum(part["samples"] * part["mean"] for part in (first, second)) / 3000
        assert both["mean"] == pytest.approx(mean, abs=0.011)
        if tuner == "cmaes":
            middles = [middle_of(one, role) for one in threads_in(search)]
            middle = float(np.clip(np.mean(middles, axis=0), 0, 1)[0])
            assert both["distribution"]["C"]["middle"] == pytest.approx(middle, abs=1e-3)
            continue
        tables = [part["values"]["C"] for part in (both, first, second)]
        samples = [np.array(table["samples"]) for table in tables]
        totals = [np.array(t["means"]) * s for t, s in zip(tables, samples, strict=True)]
        assert (samples[0] == samples[1] + samples[2]).all()
        rounded = 0.011 * samples[0].max()
        np.testing.assert_allclose(totals[0], totals[1] + totals[2], atol=rounded)
        if tuner == "choosing":
            numbers = [part["tuned"]["number"]["samples"] for part in (both, first, second)]
            assert numbers[0] == [a + b for a, b in zip(*numbers[1:], strict=True)]
