"""Batches that follow one another in one call are those that Python would have asked for."""

from __future__ import annotations

import math

import pytest

from ggp_agent.agents import find_agent
from ggp_agent.parameters import Value
from ggp_agent.search.batch_sizes import BatchSizes
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.search_thread import SearchThread
from tests.ggp_agent.search.positions import agent, native, search_on


def _searched(
    monkeypatch: pytest.MonkeyPatch, repeats: int, game: str, settings: dict[str, Value]
) -> tuple[NativeSearch, int]:
    """A search with so many batches in a call at most, and how many calls it made."""
    calls = 0
    simulate = SearchThread.simulate

    def counted(self: SearchThread, *numbers: int) -> int:
        nonlocal calls
        calls += 1
        return simulate(self, *numbers)

    def bounded(self: SearchThread, slots: int, available: float, budget: int) -> int:
        return max(1, min(repeats, (budget - self._simulations) // slots))

    with monkeypatch.context() as patch:
        patch.setattr(SearchThread, "_repeats", bounded)
        patch.setattr(SearchThread, "simulate", counted)
        search = native(game, seed=3, **settings)
        search_on(search)
    return search, calls


@pytest.mark.parametrize("name", ["ap", "default"])
@pytest.mark.parametrize("sizes", [{"in_flight": 1}, {"ramp": 16}, {"ramp": 4, "playouts": 2}])
@pytest.mark.parametrize("game", ["ticTacToe", "breakthrough"])
def test_the_tree_is_the_same(
    monkeypatch: pytest.MonkeyPatch, name: str, sizes: dict[str, Value], game: str
) -> None:
    """Decision 52: the number of calls decides nothing; nor does a result that gets proven."""
    settings: dict[str, Value] = {**find_agent(name).settings, **sizes, "simulations": 501}
    one_by_one, calls = _searched(monkeypatch, 1, game, settings)
    expected = one_by_one.trace()
    for repeats in (3, 40):
        search, fewer = _searched(monkeypatch, repeats, game, settings)
        trace = search.trace()
        assert trace.moves == expected.moves
        assert (trace.simulations, trace.playouts) == (expected.simulations, expected.playouts)
        assert trace.visited_nodes == expected.visited_nodes
        assert fewer < calls


@pytest.mark.parametrize("ramp", [1, 7, 64])
@pytest.mark.parametrize("doubling", [0, 100, 8192])
def test_sizes_grow_where_they_are_said_to(ramp: int, doubling: int) -> None:
    """Decision 52: below `grows_at` nothing changes; and it is not far off."""
    sizes = BatchSizes(agent(ramp=ramp, ramp_doubling=doubling))
    for slots in (1, 2, 3, 17, 100):
        at = sizes.grows_at(slots)
        assert sizes.in_flight(int(at) - 1, math.inf) <= slots < sizes.in_flight(int(at) + 2, 1e9)
    assert sizes.grows_at(512) == math.inf
