"""Random playouts have the means that the Prolog reasoner's have, in length and in goals.

Prolog's are golden, since it takes minutes for them.  `python -m tests.propnet.test_random_play`
makes them anew: the same numbers, unless a game, the seed or SWI-Prolog's generator has changed.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.grounding import ground
from gdl.prolog import PrologStateMachine
from ggp_agent.library.games import find_game
from propnet import kernels
from propnet.compiling import compile_in_background
from propnet.layout import layout_of, new_lanes
from propnet.network import compile_network
from propnet.vectors import LANES

GOLDEN = Path(__file__).parents[1] / "golden" / "random_play.json"
PLAYOUTS = {
    "battle": 300,
    "biddingTicTacToe": 500,
    "breakthrough": 300,
    "chinook": 200,
    "connectFour": 1000,
    "knightthrough": 300,
    "nim": 1000,
    "nineBoardTicTacToe": 300,
    "pentago": 300,
    "rockPaperScissors": 1000,
    "runners": 500,
    "sheepAndWolf": 300,
    "ticTacToe": 1000,
    "ticTacToe3D": 300,
    "ticTacToe3Player": 500,
}
"""Game → how often Prolog plays it."""
LIMIT = 500
SEED = 4
BATCHES = 4

Samples = NDArray[np.float64]
"""(playouts, 1 + roles) length and goals"""


def _by_prolog(key: str) -> Samples:
    with closing(PrologStateMachine(find_game(key).rule_sheet())) as prolog:
        prolog.seed(SEED)
        plays = [prolog.playout(LIMIT) for _ in range(PLAYOUTS[key])]
    return np.array([[length, *goals] for length, goals in plays], np.float64)


def _by_simulator(key: str, compiled: bool) -> Samples:
    network = compile_network(ground(find_game(key).rule_sheet()))
    layout = layout_of(network)
    if compiled:
        compilation = compile_in_background(network, layout)
        assert compilation is not None and compilation.wait()
    lanes, roles = new_lanes(layout, SEED), len(network.roles)
    lengths, goals = np.zeros(LANES, np.int32), np.zeros((roles, LANES), np.uint8)
    samples = []
    for _ in range(BATCHES):
        lanes.active[:] = kernels.ALL
        kernels.reset(layout, lanes, lanes.active)
        kernels.playout(layout, lanes, np.full(LANES, LIMIT, np.int32), lengths)
        kernels.read_goals(layout, lanes, goals)
        samples.append(np.vstack((lengths[np.newaxis], goals)).T.astype(np.float64))
    return np.concatenate(samples)


def _means(samples: Samples) -> dict[str, Any]:
    """Means and their standard errors."""
    errors = samples.std(axis=0, ddof=1) / len(samples) ** 0.5
    pairs = zip(samples.mean(axis=0).tolist(), errors.tolist(), strict=True)
    length, *goals = ([round(mean, 5), round(error, 5)] for mean, error in pairs)
    return {"playouts": len(samples), "length": length, "goals": goals}


@pytest.mark.parametrize("key", PLAYOUTS)
def test_means_are_those_of_prolog(key: str) -> None:
    """Within 4 standard errors of the difference; by machine code and by the interpreter."""
    prolog = json.loads(GOLDEN.read_text())[key]
    expected = [prolog["length"], *prolog["goals"]]
    samples = _by_simulator(key, compiled=len(key) % 2 == 0)
    own = _means(samples)
    for name, (mean, error), (seen, own_error) in zip(
        ("length", *(f"goal {role}" for role in range(len(expected) - 1))),
        expected,
        [own["length"], *own["goals"]],
        strict=True,
    ):
        assert abs(seen - mean) <= 4 * (error**2 + own_error**2) ** 0.5 + 1e-5, name


def test_the_golden_means_are_exact_enough() -> None:
    """The golden means are of many games: errors are small beside the means."""
    prolog = json.loads(GOLDEN.read_text())
    assert prolog.keys() == PLAYOUTS.keys()
    for key, means in prolog.items():
        assert means["playouts"] == PLAYOUTS[key]
        assert means["length"][1] < means["length"][0] / 30
        assert all(error < 4 for _, error in means["goals"])


if __name__ == "__main__":
    found = {}
    for game in PLAYOUTS:
        found[game] = _means(_by_prolog(game))
        print(game, found[game], file=sys.stderr, flush=True)
    lines = (f"  {json.dumps(game)}: {json.dumps(means)}" for game, means in found.items())
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
