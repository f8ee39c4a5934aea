"""Selection on hand-made nodes: the UCT formula, untried moves, the VO window, ties, dice."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pytest

from ggp_agent.search.selection import SelectionParameters, random_below, select_move
from ggp_agent.search.tree import OPEN, Tree, clear, new_tree

CHI_SQUARE = {1: 10.83, 2: 13.82, 3: 16.27, 4: 18.47, 6: 22.46, 9: 27.88}
"""Critical values at p = 0.001 by degrees of freedom; the seeds are fixed."""

Statistics = Sequence[tuple[int, float]]
"""(tries, sum of rewards) per move."""


def node_with(*roles: Statistics, visits: int) -> Tree:
    """A tree whose root has these statistics per role."""
    tree = new_tree(2, entries=64, state_words=1, roles=len(roles))
    clear(tree, np.zeros(1, np.uint64))
    tree.kind[0], tree.visits[0] = OPEN, visits
    entry = 0
    for role, statistics in enumerate(roles):
        tree.first[0, role] = entry
        for move, (tries, reward) in enumerate(statistics):
            tree.move[entry], tree.tries[entry], tree.reward[entry] = move, tries, reward
            entry += 1
    tree.first[0, len(roles)] = entry
    return tree


def dice(seed: int = 1) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array([seed], np.uint64)


def selected(
    tree: Tree,
    role: int = 0,
    *,
    c: float = 0.2,
    fpu: float = 1.0,
    vo: float = 0.0,
    times: int = 100,
) -> Counter[int]:
    """How often each entry is selected."""
    parameters, random_state = SelectionParameters(c, fpu, vo), dice()
    return Counter(int(select_move(tree, 0, role, parameters, random_state)) for _ in range(times))


def uct(statistics: Statistics, visits: int, c: float, fpu: float) -> list[float]:
    """The formula once more, from the paper."""
    return [
        reward / tries + c * math.sqrt(math.log(visits) / tries) if tries else fpu
        for tries, reward in statistics
    ]


def assert_uniform(counts: Counter[int], outcomes: Iterable[int]) -> None:
    outcomes = list(outcomes)
    assert set(counts) <= set(outcomes)
    expected = counts.total() / len(outcomes)
    statistic = sum((counts[outcome] - expected) ** 2 / expected for outcome in outcomes)
    assert statistic < CHI_SQUARE[len(outcomes) - 1]


class TestFormula:
    def test_without_exploration_the_highest_mean_is_taken(self) -> None:
        tree = node_with([(100, 40.0), (2, 1.0), (50, 24.0)], visits=152)
        assert set(selected(tree, c=0.0)) == {1}

    def test_exploration_prefers_what_was_tried_less(self) -> None:
        tree = node_with([(100, 50.0), (10, 5.0)], visits=110)
        assert set(selected(tree, c=0.2)) == {1}

    def test_more_exploration_can_change_the_choice(self) -> None:
        statistics = [(100, 60.0), (10, 5.0)]
        # 0.6 + C·0.217 against 0.5 + C·0.686: they meet at C = 0.213
        tree = node_with(statistics, visits=110)
        assert set(selected(tree, c=0.2)) == {0}
        assert set(selected(tree, c=0.22)) == {1}

    @pytest.mark.parametrize("seed", range(30))
    def test_agrees_with_the_formula_on_random_nodes(self, seed: int) -> None:
        rng = random.Random(seed)
        statistics = []
        for _ in range(rng.randint(2, 12)):
            tries = rng.choice([0, 1, 2, 10, 1000])
            statistics.append((tries, rng.randint(0, tries * 4) / 4))
        visits = max(2, sum(tries for tries, _ in statistics))
        c, fpu = rng.choice([0.0, 0.2, 1.4]), rng.choice([0.0, 0.5, 1.0, 1000.0])
        vo = rng.choice([0.0, 0.01, 0.3])
        values = uct(statistics, visits, c, fpu)
        near = {i for i, value in enumerate(values) if value >= max(values) - vo}
        chosen = selected(node_with(statistics, visits=visits), c=c, fpu=fpu, vo=vo, times=400)
        assert set(chosen) == near

    def test_every_role_has_statistics_of_its_own(self) -> None:
        tree = node_with([(5, 5.0), (5, 0.0)], [(5, 0.0), (5, 1.0), (5, 5.0)], visits=10)
        assert set(selected(tree, role=0)) == {0}
        assert set(selected(tree, role=1)) == {4}


class TestUntriedMoves:
    def test_an_untried_move_beats_all_tried_ones_that_are_worth_less(self) -> None:
        tree = node_with([(9, 7.0), (0, 0.0), (1, 0.0)], visits=10)
        assert set(selected(tree, c=0.2)) == {1}

    def test_a_move_that_is_worth_more_than_fpu_goes_first(self) -> None:
        tree = node_with([(9, 9.0), (0, 0.0)], visits=10)  # 1 + 0.2·sqrt(ln 10 / 9) > 1
        assert set(selected(tree, c=0.2, fpu=1.0)) == {0}

    def test_a_low_fpu_leaves_moves_untried(self) -> None:
        tree = node_with([(9, 4.5), (0, 0.0)], visits=10)
        assert set(selected(tree, c=0.0, fpu=0.4)) == {0}
        assert set(selected(tree, c=0.0, fpu=0.6)) == {1}

    def test_a_new_node_is_uniform(self) -> None:
        tree = node_with([(0, 0.0)] * 4, visits=0)
        assert_uniform(selected(tree, times=8000), range(4))


class TestTies:
    def test_equal_moves_are_drawn_uniformly(self) -> None:
        tree = node_with([(4, 2.0), (1, 0.0), (4, 2.0), (2, 0.0), (4, 2.0)], visits=15)
        assert_uniform(selected(tree, c=0.0, times=6000), [0, 2, 4])

    def test_moves_within_vo_are_drawn_uniformly(self) -> None:
        # means 0.5, 0.48, 0.39, 0.4 and a window of 0.105
        tree = node_with([(100, 50.0), (100, 48.0), (100, 39.0), (100, 40.0)], visits=400)
        assert_uniform(selected(tree, c=0.0, vo=0.105, times=6000), [0, 1, 3])

    def test_no_window_no_draw(self) -> None:
        tree = node_with([(100, 50.0), (100, 49.9)], visits=200)
        assert set(selected(tree, c=0.0, vo=0.0)) == {0}

    def test_untried_moves_take_part_in_the_window(self) -> None:
        tree = node_with([(1, 1.0), (0, 0.0)], visits=1)
        assert_uniform(selected(tree, c=0.0, fpu=0.995, vo=0.01, times=4000), [0, 1])


class TestChance:
    def test_the_role_of_chance_draws_uniformly_whatever_was_found(self) -> None:
        tree = node_with([(90, 90.0), (5, 0.0), (0, 0.0)], [(90, 90.0), (5, 0.0)], visits=95)
        parameters, state = SelectionParameters(0.2, 1.0, 0.01, chance=0), dice()
        counts = Counter(int(select_move(tree, 0, 0, parameters, state)) for _ in range(6000))
        assert_uniform(counts, range(3))
        others = {int(select_move(tree, 0, 1, parameters, state)) for _ in range(100)}
        assert others == {3}


class TestOneLegalMove:
    def test_is_taken_whatever_its_value(self) -> None:
        tree = node_with([(3, 3.0), (5, 1.0)], [(8, 0.0)], visits=8)
        assert set(selected(tree, role=1, times=20)) == {2}

    def test_needs_no_dice(self) -> None:
        tree = node_with([(8, 0.0)], visits=8)
        state = dice(5)
        select_move(tree, 0, 0, SelectionParameters(0.2, 1.0, 0.01), state)
        assert state[0] == 5


class TestRandomBelow:
    @pytest.mark.parametrize("bound", [2, 3, 7, 10])
    def test_is_uniform(self, bound: int) -> None:
        state = dice()
        assert_uniform(Counter(random_below(state, bound) for _ in range(20000)), range(bound))

    def test_below_one_is_zero(self) -> None:
        state = dice()
        assert {random_below(state, 1) for _ in range(100)} == {0}

    def test_successive_draws_are_independent(self) -> None:
        state = dice()
        draws = [random_below(state, 2) for _ in range(20001)]
        pairs = Counter(2 * a + b for a, b in pairwise(draws))
        assert_uniform(pairs, range(4))

    def test_goes_on_from_its_state(self) -> None:
        state = dice()
        first = [random_below(state, 1000) for _ in range(10)]
        second = [random_below(state, 1000) for _ in range(10)]
        assert first != second
        assert [random_below(dice(), 1000)] == first[:1]
