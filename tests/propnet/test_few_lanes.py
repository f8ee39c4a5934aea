"""64 lanes in one-word vectors do what the first 64 of 512 do, bit by bit (Decision 52)."""

from __future__ import annotations

import numpy as np
import pytest

from ggp_agent.library.games import find_game
from propnet import kernels
from propnet.choice import CHANCE_PLANES
from propnet.few_lanes import borrow_generator, catch_up, return_generator
from propnet.layout import I32, U64, Lanes, Layout, new_few_lanes, new_lanes
from propnet.machine import PropnetStateMachine
from propnet.vectors import LANES, rows

GAMES = ("ticTacToe", "connectFour", "breakthrough", "chineseCheckers3", "biddingTicTacToe")


def _column(values: U64) -> U64:
    """The first 64 lanes of rows of either width."""
    return values[:, 0] if values.ndim == 2 else values


def _begin(layout: Layout, lanes: Lanes, count: int) -> None:
    states = np.tile(layout.initial, (count, 1))
    kernels.load_states(layout, lanes, states, count)
    lanes.active[:] = kernels.NONE
    active = kernels.ALL if count == 64 else np.uint64((1 << count) - 1)
    _column(lanes.active)[0] = active


def _state(layout: Layout, lanes: Lanes, count: int) -> list[list[int]]:
    states = np.zeros((count, len(layout.initial)), np.uint64)
    kernels.save_states(layout, lanes, states, count)
    goals = np.zeros((len(layout.span) - 1, LANES), np.uint8)
    kernels.read_goals(layout, lanes, goals)
    return [*states.tolist(), *goals[:, :count].tolist(), _column(lanes.random).tolist()]


def _step(layout: Layout, lanes: Lanes, order: I32, greedy: U64 | None) -> None:
    kernels.see_position(layout, lanes)
    ended = lanes.values[layout.terminal >> 1]
    lanes.active[0] &= ended if layout.terminal & 1 else ~ended
    if greedy is None:
        kernels.choose_moves(layout, lanes)
    else:
        kernels.choose_moves_greedily(layout, lanes, order, greedy)
    kernels.advance(layout, lanes)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_few_lanes_play_the_same_games(name: str, compiled: bool) -> None:
    """States, goals and generators are the same, lane by lane and where all are done at once."""
    machine = PropnetStateMachine.from_rules(find_game(name).rule_sheet())
    layout = machine.layout
    if compiled:
        compilation = machine.compile()
        assert compilation is not None and compilation.wait(60)
        assert layout.code[2] and not layout.code[3]
    order = np.arange(len(layout.legal), dtype=np.int32)[::-1].copy()
    for low, high in zip(layout.span[:-1], layout.span[1:], strict=True):
        order[low:high] = np.arange(low, high)[::-1]
    for count in (1, 5, 64):
        many, few = new_lanes(layout, 3), new_few_lanes(layout)
        borrow_generator(few, many)
        for lanes in (many, few):
            _begin(layout, lanes, count)
        for step in range(20):
            for lanes in (many, few):
                words = 8 if lanes is many else 1
                greedy = rows(len(layout.span) - 1, words)
                greedy[:] = np.uint64(0b10110)
                _step(layout, lanes, order, greedy if step % 2 else None)
            for lanes in (many, few):
                kernels.see_position(layout, lanes)
            assert _state(layout, many, count) == _state(layout, few, count), (count, step)


def test_generators_catch_up() -> None:
    """What 64 lanes have drawn is what 512 would have, and these go on as if they had."""
    layout = PropnetStateMachine.from_rules(find_game("ticTacToe").rule_sheet()).layout
    expected, many, few = new_lanes(layout, 5), new_lanes(layout, 5), new_few_lanes(layout)
    chance, drawn = rows(CHANCE_PLANES), rows(3)
    chance[:] = np.random.default_rng(1).integers(0, 2**64, chance.shape, np.uint64)
    few_drawn = rows(3, 1)
    for _ in range(2):
        kernels.draw_lanes(expected, chance, drawn)
        borrow_generator(few, many)
        kernels.draw_lanes(few, chance[:, 0].copy(), few_drawn)
        return_generator(few, many)
        assert few_drawn.tolist() == drawn[:, 0].tolist()
    assert few.behind[0] == 2 * 3 * CHANCE_PLANES
    assert (many.random[:, 0] == expected.random[:, 0]).all()
    assert (many.random[:, 1:] != expected.random[:, 1:]).any()
    catch_up(few, many)
    assert few.behind[0] == 0 and (many.random == expected.random).all()
