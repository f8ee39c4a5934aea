"""Progressive History: Q + C·sqrt(ln N / n) + H·W / (n - s + 1), in both searches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ggp_agent.agents import find_agent
from ggp_agent.errors import ParameterError
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.strategies.progressive_history import W
from ggp_agent.tuning.self_adaptive import adaptive
from ggp_agent.tuning.tuned_parameters import check_tuning
from tests.ggp_agent.search.benches import Bench, NativeBench, PlainBench, picks
from tests.ggp_agent.search.positions import machine_of, native, plain, root_of, search_on
from tests.ggp_agent.search.test_rules import CHOICE, NO_CHOICE

Make = Callable[..., Bench]
both = pytest.mark.parametrize("make", [NativeBench, PlainBench], ids=["native", "plain"])
PH = {"selection": "progressive_history", "VO": 0.0, "C": 0.0}
N = 100
WON = [(10, 5.0), (10, 4.0), (10, 3.0), (10, 2.0)]


def selected(make: Make, history: list[tuple[int, float]], **settings: float) -> int:
    """The move that is selected where `w` to `z` have been tried 10 times, and won 5, 4, 3, 2."""
    bench = make(CHOICE, **PH, **settings)
    bench.set_root(40, WON, NO_CHOICE)
    bench.set_mast(0, history)
    return picks(bench, 40, WON, NO_CHOICE, times=1).most_common()[0][0]


# Decision 40
@both
def test_history_decides_where_its_weight_is_large(make: Make) -> None:
    """0.5 + 0, 0.4 + 0, 0.3 + 0, 0.2 + W / 9 for a move that has always won elsewhere."""
    history = [(N, 0.0), (N, 0.0), (N, 0.0), (N, 100.0 * N)]
    assert selected(make, history, W=2.6) == 0
    assert selected(make, history, W=2.8) == 3
    assert selected(make, history, W=0.0) == 0


@both
def test_what_was_not_won_fades_the_bonus(make: Make) -> None:
    """The same history for all: 0.5 + W/6·H against 0.2 + W/9·H, the best mean stays best."""
    assert selected(make, [(N, 50.0 * N)] * 4, W=50.0) == 0


# Decision 40
@both
def test_a_move_without_history_counts_as_won(make: Make) -> None:
    """The others' history is 0.3; 0.5 + 0.3 W/6 < 0.2 + W/9 from W = 4.9 on."""
    history = [(N, 30.0 * N), (N, 30.0 * N), (N, 30.0 * N), (0, 0.0)]
    assert selected(make, history, W=4.0) == 0
    assert selected(make, history, W=6.0) == 3


# Decision 40
@both
def test_an_untried_move_has_first_play_urgency_and_its_history(make: Make) -> None:
    bench = make(CHOICE, **PH, FPU=0.0, W=1.0)
    known = [(10, 9.0), (10, 1.0), (0, 0.0), (0, 0.0)]
    bench.set_root(20, known, NO_CHOICE)
    bench.set_mast(0, [(N, 0.0), (N, 0.0), (N, 95.0 * N), (N, 20.0 * N)])
    assert picks(bench, 20, known, NO_CHOICE, times=1) == {2: 1}  # 0.9, 0.1, 0.95, 0.2


def test_native_and_plain_agree() -> None:
    """The share of visits that root moves get, one simulation in flight."""
    shares = []
    for make in (native, plain):
        total: dict[object, float] = {}
        for seed in range(12):
            search = make(
                "ticTacToe",
                seed=seed,
                simulations=400,
                selection="progressive_history",
                playout="mast",
                W=3.0,
                C=0.4,
                in_flight=1,
            )
            search_on(search)
            for move in search.root_moves():
                total[move.move] = total.get(move.move, 0.0) + move.visits / (12 * 400)
        shares.append(total)
    assert shares[0].keys() == shares[1].keys()
    assert max(abs(shares[0][move] - shares[1][move]) for move in shares[0]) < 0.12


def test_it_works_with_many_in_flight_and_uniform_playouts() -> None:
    search = native("connectFour", simulations=5000, selection="progressive_history", memory=64)
    search_on(search)
    assert root_of(search).visits == 5000
    assert search._arrays.history.sums.sum() > 0


def test_w_is_tuned_like_any_parameter() -> None:
    settings = ["selection=progressive_history", "tune=W,C", "simulations=2000", "memory=32"]
    tuned = find_agent("uct-nmc").with_settings(settings)
    tuner = adaptive(tuned, 2, 512, seed=1)
    search = NativeSearch(machine_of("connectFour").compiled, 0, tuned, 1, tuner)
    search_on(search)
    assert len(np.unique(search._arrays.settings.values[:, 0, W])) > 3
    with pytest.raises(ParameterError, match="only be tuned with selection=progressive_history"):
        check_tuning(find_agent("uct-nmc").with_settings(["tune=W,C"]))
