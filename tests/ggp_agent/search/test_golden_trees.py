"""Root statistics of searches with fixed seeds, as text.

They change with every intended change of the search's rules or of its dice; then
`python -m tests.ggp_agent.search.test_golden_trees` writes them anew, and the difference belongs
into the review.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.rules import write_term
from ggp_agent.agents import find_agent
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.plain import PlainSearch
from tests.ggp_agent.search.positions import SEQUENTIAL, native, plain, search_on

GOLDEN = Path(__file__).parents[2] / "golden" / "trees"

CASES = [
    (made, game, agent, batch)
    for made, game, batch in (
        ("plain", "ticTacToe", 1),
        ("native", "ticTacToe", 1),
        ("native", "connectFour", 1),
        ("native", "breakthrough", 16),
        ("native", "rockPaperScissors", 64),
    )
    for agent in ("uct", "sp", "ap")
]


def dump(made: str, game: str, agent: str, batch: int) -> str:
    """The root of a search, the last one of two moves."""
    settings = {**find_agent(agent).settings, **SEQUENTIAL, "in_flight": batch}
    search: NativeSearch | PlainSearch
    if made == "plain":
        search = plain(game, seed=7, simulations=150, **settings)
    else:
        search = native(game, seed=7, simulations=600, **settings)
    search_on(search)
    trace = search.trace()
    lines = [f"{made} {game} {agent}, {batch} in flight: {trace.simulations} simulations"]
    lines.append(f"nodes {trace.tree_nodes} visited {trace.visited_nodes} depth {trace.deepest}")
    lines += [f"{write_term(m.move)} {m.visits} {m.total:.4f}" for m in trace.moves]
    return "\n".join(lines) + "\n"


def golden_file(made: str, game: str, agent: str, batch: int) -> Path:
    """Where the text of a case is."""
    return GOLDEN / f"{made}-{game}-{agent}-{batch}.txt"


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_the_tree_is_the_golden_one(case: tuple[str, str, str, int]) -> None:
    assert dump(*case) == golden_file(*case).read_text()


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for case in CASES:
        golden_file(*case).write_text(dump(*case))
