"""Random play for measuring: its means are those of random play, its seed repeats it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gdl.grounding import ground
from propnet import kernels
from propnet.layout import layout_of, new_lanes
from propnet.network import Network, compile_network
from propnet.simulator import STEPS_PER_CALL, RandomPlay, Simulator, run_in_threads
from propnet.vectors import LANES, WORDS
from tests.naive import mean_and_deviation, random_tic_tac_toe
from tests.small_sheets import small_sheet, tic_tac_toe


@pytest.fixture(scope="module")
def network() -> Network:
    return compile_network(ground(tic_tac_toe()))


def _simulated(network: Network, seed: int, calls: int) -> tuple[int, list[float]]:
    """Playouts, and the totals of so many calls of the kernel."""
    layout = layout_of(network)
    lanes = new_lanes(layout, seed)
    kernels.reset(layout, lanes, np.full((1, WORDS), kernels.ALL))
    started = np.zeros(LANES, np.int64)
    totals, playouts = np.zeros(4, np.float64), 0
    for call in range(calls):
        playouts += kernels.simulate(layout, lanes, 50, started, 50 * call, totals)
    return playouts, totals.tolist()


def test_mean_length_and_goals_are_those_of_random_play(network: Network) -> None:
    """Within 4 standard errors; games cut off at the end would bias a short run by 1/1000."""
    outcomes = random_tic_tac_toe()
    playouts, (_, length, x, o) = _simulated(network, seed=1, calls=20)
    assert playouts > 50_000
    for total, value in ((length, None), (x, 0), (o, 1)):
        mean, deviation = mean_and_deviation(outcomes, value)
        assert abs(total / playouts - mean) < 4 * deviation / playouts**0.5 + mean / 1000


def test_transitions_are_the_moves_of_all_games(network: Network) -> None:
    """Every step of a lane is a transition but the one that begins a new game."""
    playouts, (transitions, length, _, _) = _simulated(network, seed=2, calls=3)
    assert transitions == 150 * LANES - playouts
    assert length <= transitions < length + 10 * LANES


def test_the_same_seed_gives_the_same_results(network: Network) -> None:
    first, again, other = (_simulated(network, seed, 2) for seed in (7, 7, 8))
    assert first == again != other


def test_a_run_of_no_time_is_one_call(network: Network) -> None:
    play = Simulator(layout_of(network), seed=1).run(0)
    assert 0 < play.playouts < LANES * STEPS_PER_CALL / 5
    assert STEPS_PER_CALL * LANES - play.transitions == play.playouts
    assert 5 <= play.mean_length <= 9
    assert sum(play.mean_goals) == pytest.approx(100)
    assert play.seconds > 0


def test_runs_go_on_where_the_last_one_stopped(network: Network) -> None:
    simulator = Simulator(layout_of(network), seed=1)
    plays = [simulator.run(0) for _ in range(20)]
    games = sum(play.playouts for play in plays)
    lengths = sum(play.playouts * play.mean_length for play in plays)
    mean, deviation = mean_and_deviation(random_tic_tac_toe(), None)
    assert lengths / games == pytest.approx(mean, abs=4 * deviation / games**0.5 + 0.01)


def test_a_game_that_never_ends_has_no_playouts() -> None:
    play = Simulator(layout_of(compile_network(ground(small_sheet("never ends")))), seed=1).run(0)
    assert (play.playouts, play.mean_length, play.mean_goals) == (0, 0, (0,))
    assert play.transitions == STEPS_PER_CALL * LANES


def test_threads_add_up(network: Network) -> None:
    """Two simulators play what they play on their own, at the same time."""
    layout = layout_of(network)
    alone = [Simulator(layout, seed).run(0) for seed in (1, 2)]
    both = run_in_threads([Simulator(layout, seed) for seed in (1, 2)], 0)
    assert both.transitions == alone[0].transitions + alone[1].transitions
    assert both.playouts == alone[0].playouts + alone[1].playouts
    lengths = sum(play.playouts * play.mean_length for play in alone)
    assert both.mean_length == pytest.approx(lengths / both.playouts)
    assert sum(both.mean_goals) == pytest.approx(100)


def test_rates_are_per_second() -> None:
    play = RandomPlay(2.0, 1.0, transitions=100, playouts=10, mean_length=9.0, mean_goals=(50.0,))
    assert (play.transitions_per_second, play.playouts_per_second) == (50.0, 5.0)
    assert play.transitions_per_cpu_second == 100
    assert replace(play, seconds=4.0).playouts_per_second == 2.5
