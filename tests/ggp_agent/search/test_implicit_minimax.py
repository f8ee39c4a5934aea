"""Implicit minimax backups: values of states, how they are backed up, and what they do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from gdl.state_machine import Move
from ggp_agent.search.blocks import statistics
from ggp_agent.search.edges import follow
from ggp_agent.search.final import RootMove, choose_move
from ggp_agent.search.memory import NO_BLOCK, UNIT
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.parallel import ParallelSearch
from ggp_agent.search.search_thread import SearchThread
from ggp_agent.search.tree import (
    BACKED_UP,
    CLOSED,
    FRESH,
    NO_NODE,
    OPEN,
    OWN,
    SEVERAL,
    TERMINAL,
    UNUSED,
)
from tests.ggp_agent.search.positions import (
    agent,
    machine_of,
    native,
    nodes_of,
    search_on,
)

WEIGHT = 0.4


def weights_for(game: str, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Some weights (R, F) and biases (R,)."""
    compiled = machine_of(game).compiled
    random, roles = np.random.default_rng(seed), len(compiled.moves)
    weights = random.normal(0, 1, (roles, compiled.layout.fluents)).astype(np.float32)
    return weights, random.normal(0, 0.3, roles).astype(np.float32)


def evaluating(game: str, seed: int = 1, **settings: float | str) -> NativeSearch:
    """A search with some evaluation."""
    options = {"minimax": WEIGHT, "playout": "mast", **settings}
    search = native(game, 0, seed, **options)
    search.evaluate_by(*weights_for(game))
    return search


def value_of(game: str, state: bytes, role: int) -> float:
    """What the weights say of a state, in plain Python."""
    weights, bias = weights_for(game)
    bits = np.unpackbits(np.frombuffer(state, np.uint8), bitorder="little")
    return 1 / (1 + math.exp(-(float(weights[role] @ bits[: weights.shape[1]]) + bias[role])))


def used_nodes(search: NativeSearch) -> Iterator[int]:
    tree = search.tree
    kinds = tree.nodes["kind"][: int(tree.counters[FRESH])]
    yield from np.flatnonzero(kinds != UNUSED).tolist()


@pytest.mark.parametrize("game", ["ticTacToe", "ticTacToe3Player", "biddingTicTacToe"])
def test_the_value_of_a_new_node_is_its_evaluation(game: str) -> None:
    search = evaluating(game, simulations=700)
    search_on(search)
    tree, roles = search.tree, len(machine_of(game).roles)
    seen = 0
    for node in used_nodes(search):
        for role in range(roles):
            expected = value_of(game, tree.states[node].tobytes(), role)
            assert tree.values[node, role, OWN] == pytest.approx(expected, abs=1e-4)
            seen += 1
    assert seen > 100 * roles


# Decision 51
@pytest.mark.parametrize(
    "game",
    ["ticTacToe", "ticTacToe3Player", "biddingTicTacToe", "rockPaperScissors", "connectFour"],
)
def test_values_are_backed_up_by_max_n(game: str) -> None:
    search = evaluating(game, simulations=3000, solver="on")
    search_on(search)
    tree, roles, looked_at = search.tree, len(machine_of(game).roles), 0
    for node in used_nodes(search):
        record, values = tree.nodes[node], tree.values[node]
        if record["kind"] != OPEN:
            continue
        if record["stats"] == NO_BLOCK or record["mover"] == SEVERAL:
            assert (values[:, OWN] == values[:, BACKED_UP]).all()
            continue
        known, mover = statistics(tree, node), int(record["mover"])
        start = int(record["moves"]) * UNIT
        low, high = tree.pool.words[start + mover : start + mover + 2].tolist()
        of_moves = known.values[low:high]
        if of_moves.max() < 0:  # nobody has come back from a move yet
            assert (values[:, OWN] == values[:, BACKED_UP]).all()
            continue
        if (of_moves < 0).any() and of_moves.max() < values[mover, OWN]:
            assert (values[:, OWN] == values[:, BACKED_UP]).all()
            continue
        assert values[mover, BACKED_UP] == pytest.approx(of_moves.max(), abs=1e-6)
        looked_at += 1
        best = low + int(of_moves.argmax())
        child = follow(tree, int(known.entries["child"][best]))
        if roles == 2 and child != NO_NODE and tree.nodes[child]["kind"] == TERMINAL:
            assert values[:, BACKED_UP] == pytest.approx(tree.scores[child, :, 0] / 100)
    assert looked_at > 10 or game in ("biddingTicTacToe", "rockPaperScissors")


class Mixed(NamedTuple):
    """A move that was tried."""

    mean: float
    """as selection reads it"""
    rewards: float
    """their mean"""
    value: float
    visits: int

    def is_of(self, half: float) -> float:
        """What the mean should be if the weight is halved after so many visits."""
        weight = WEIGHT * (1.0 if math.isinf(half) else half / (half + self.visits))
        return (1 - weight) * self.rewards + weight * self.value


def mixed_means(search: NativeSearch) -> Iterator[Mixed]:
    """All moves that were tried, where one role moves."""
    tree = search.tree
    for node in used_nodes(search):
        record = tree.nodes[node]
        if record["kind"] == TERMINAL or record["stats"] == NO_BLOCK:
            continue
        if record["mover"] == SEVERAL:
            continue
        known, start = statistics(tree, node), int(record["moves"]) * UNIT + int(record["mover"])
        for place in range(*tree.pool.words[start : start + 2].tolist()):
            entry, mean = known.entries[place], float(known.scanned[0, place])
            visits = int(entry["visits"])
            if visits and mean > CLOSED / 2:
                yield Mixed(
                    mean, float(entry["total"]) / visits, float(known.values[place]), visits
                )


@pytest.mark.parametrize("half", [math.inf, 300.0, 2.0])
def test_selection_goes_by_the_mean_and_the_value(half: float) -> None:
    search = evaluating("connectFour", simulations=4000, minimax_visits=half)
    search_on(search)
    moves = list(mixed_means(search))
    assert len(moves) > 1000
    for move in moves:
        assert move.mean == pytest.approx(move.is_of(half), abs=1e-4)


@pytest.mark.parametrize("half", [math.inf, 300.0, 2.0])
def test_several_threads_mix_the_same(half: float) -> None:
    game = machine_of("connectFour").compiled
    settings = {"minimax": WEIGHT, "minimax_visits": half, "simulations": 20_000}
    own = agent(**settings, playout="mast", threads=2, memory=64)
    first = NativeSearch(game, 0, own, 1)
    search = ParallelSearch(first, [SearchThread(game, 0, own, 2, None, first)])
    search.evaluate_by(*weights_for("connectFour"))
    search_on(search)  # type: ignore[arg-type]
    off = [abs(move.mean - move.is_of(half)) for move in mixed_means(first)]
    assert len(off) > 1000
    assert np.mean(np.array(off) > 0.02) < 0.01  # the last ones in flight were told at once


def test_nothing_changes_before_anything_is_learnt() -> None:
    trees = []
    for weight in (0.0, WEIGHT):
        search = native("connectFour", 0, minimax=weight, playout="mast", simulations=2000)
        search_on(search)
        trees.append(nodes_of(search))
    assert trees[0] == trees[1]


def test_without_a_weight_values_change_nothing() -> None:
    trees = []
    for learns in (False, True):
        search = native("connectFour", 0, playout="mast", simulations=2000)
        if learns:
            search.evaluate_by(*weights_for("connectFour"))
        search_on(search)
        assert len(search.tree.values) == 0
        trees.append(nodes_of(search))
    assert trees[0] == trees[1]


def shares_of(weights: np.ndarray, weight: float) -> dict[Move, float]:
    """The shares of the root's visits in tic-tac-toe, with these weights (2, F)."""
    search = native("ticTacToe", 0, minimax=weight, simulations=600, C=0.1, in_flight=1)
    search.evaluate_by(weights, np.zeros(2, np.float32))
    search_on(search)
    moves = search.root_moves()
    return {move.move: move.visits / 600 for move in moves}


def test_what_the_evaluation_warns_of_is_left_alone() -> None:
    machine = machine_of("ticTacToe")
    weights = np.zeros((2, machine.compiled.layout.fluents), np.float32)
    before = shares_of(weights, 0.0)
    usual = max(before, key=before.__getitem__)
    other = min(before, key=before.__getitem__)
    bits = []
    for move in (usual, other):
        joint = (move, machine.legal_moves(machine.initial_state, 1)[0])
        after = machine.next_state(machine.initial_state, joint)
        bits.append(np.unpackbits(np.frombuffer(after, np.uint8), bitorder="little"))
    mark = np.flatnonzero(bits[0] > bits[1])
    assert len(mark) == 1
    weights[0, mark], weights[1, mark] = -3.0, 3.0
    assert shares_of(weights, 1.0)[usual] < 0.02 < 0.3 < before[usual]


@pytest.mark.parametrize("game", ["connectFour", "ticTacToe3Player", "breakthrough"])
def test_a_full_tree_goes_on(game: str) -> None:
    search = evaluating(game, simulations=6000, nodes=1024, solver="on", selection="grave")
    search_on(search)
    assert search.trace().recycled > 0
    for move in mixed_means(search):
        assert -1 <= move.value <= 1
        assert 0 <= move.mean <= 1.0001


def test_the_final_choice_goes_by_what_selection_goes_by() -> None:
    dice = np.random.default_rng(1)
    sound = RootMove(("sound",), 100, 55.0, value=0.7, weight=0.5)
    lucky = RootMove(("lucky",), 100, 60.0, value=0.4, weight=0.5)
    assert sound.estimate == pytest.approx(0.625)
    assert choose_move([sound, lucky], "mean", dice) == ("sound",)
    plain = [RootMove(("sound",), 100, 55.0), RootMove(("lucky",), 100, 60.0)]
    assert choose_move(plain, "mean", dice) == ("lucky",)
    assert RootMove(("untried",), value=1.0, weight=0.5).estimate == -1


@pytest.mark.parametrize("half", [math.inf, 300.0])
def test_estimates_of_the_final_choice_are_the_means_of_selection(half: float) -> None:
    search = evaluating("connectFour", simulations=3000, minimax_visits=half)
    search_on(search)
    means = statistics(search.tree, search._root).scanned[0]
    estimates = [move.estimate for move in search.root_moves()]
    assert estimates == pytest.approx(means[: len(estimates)].tolist(), abs=1e-5)


def test_the_trace_has_values_where_there_are_some() -> None:
    search = evaluating("connectFour", simulations=300)
    search_on(search)
    moves = search.trace().as_json()["moves"]
    assert all(0 < move["value"] < 100 for move in moves)  # type: ignore[attr-defined]
    search = native("connectFour", simulations=300)
    search_on(search)
    assert "value" not in search.trace().as_json()["moves"][0]  # type: ignore[index]
