"""What thinking took: sums over moves, and the two kinds of seconds."""

from __future__ import annotations

import time

import pytest

from ggp_agent.player.search_totals import Effort, Stopwatch


# Decision 18
def test_nodes_are_edges_of_the_tree_and_moves_of_playouts() -> None:
    effort = Effort()
    effort.add({"simulations": 10, "transitions": 500, "mean_depth": 2.5, "thinking_s": 0.5})
    assert (effort.moves, effort.simulations, effort.nodes) == (1, 10, 525)
    effort.add({"simulations": 5, "visited_nodes": 75, "thinking_s": 1.0, "cpu_s": 0.75})
    assert (effort.moves, effort.simulations, effort.nodes) == (2, 15, 600)
    assert (effort.seconds, effort.cpu_seconds) == (1.5, 0.75)


def test_what_is_not_reported_counts_nothing() -> None:
    effort = Effort()
    effort.add({"simulations": "many", "seconds": None})
    assert effort == Effort(moves=1)


def test_a_stopwatch_tells_waiting_from_working() -> None:
    watch = Stopwatch()
    with watch.running():
        time.sleep(0.2)
    waited = watch.lap()
    assert waited["thinking_s"] >= 0.2 and waited["cpu_s"] < 0.1
    with pytest.raises(ZeroDivisionError), watch.running():
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass
        raise ZeroDivisionError
    assert watch.lap()["cpu_s"] >= 0.05, "time is counted whatever ends the block"
    assert watch.lap() == {"thinking_s": 0.0, "cpu_s": 0.0}
