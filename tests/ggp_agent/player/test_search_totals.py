"""What thinking took over a match."""

from __future__ import annotations

from ggp_agent.player.search_totals import SearchTotals


# Decision 18
def test_nodes_are_edges_of_the_tree_and_moves_of_playouts() -> None:
    totals = SearchTotals()
    totals.add({"simulations": 10, "transitions": 500, "mean_depth": 2.5, "thinking_s": 0.5})
    assert (totals.moves, totals.simulations, totals.nodes) == (1, 10, 525)
    totals.add({"simulations": 5, "visited_nodes": 75, "thinking_s": 1.0, "cpu_s": 0.75})
    assert (totals.moves, totals.simulations, totals.nodes) == (2, 15, 600)
    assert (totals.seconds, totals.cpu_seconds) == (1.5, 0.75)


def test_what_is_not_reported_counts_nothing() -> None:
    totals = SearchTotals()
    totals.add({"simulations": "many", "seconds": None})
    assert totals == SearchTotals(moves=1)
