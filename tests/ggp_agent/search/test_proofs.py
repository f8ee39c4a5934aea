"""What is proven stays proven, however small the tree: whole matches in trees that are full."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest

from gdl.rules import read_term
from gdl.state_machine import JointMove, Move
from ggp_agent.agents import Agent, find_agent
from ggp_agent.mind.search_factory import native_search
from ggp_agent.search.blocks import statistics
from ggp_agent.search.edges import follow
from ggp_agent.search.final import LEAST_SHARE, RootMove, choose_move
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.parallel import ParallelSearch
from ggp_agent.search.tree import EVER, LIMIT, NO_NODE, RECYCLED, SOLVED
from tests.ggp_agent.search.positions import GUARD, machine_of, native

SMALLEST = 1024
"""Nodes that a tree has at least."""

GAMES = (
    "connectFour",
    "breakthrough",
    "knightthrough",
    "ticTacToe3D",
    "connectFive",
    "pentago",
    "reversi",
    "sheepAndWolf",
    "nineBoardTicTacToe",
    "ticTacToe3Player",
    "biddingTicTacToe",
    "ttcc4TwoPlayer",
)

SLICES = 3
"""How often it is looked at what is proven while a search thinks about a move."""


class Watched:
    """A search that fails the test where it forgets anything or plays a move proven to be worse."""

    def __init__(self, search: NativeSearch | ParallelSearch, simulations: int) -> None:
        self.search, self._simulations = search, simulations
        self.proofs = 0
        self._known: dict[Move, tuple[int, int]] = {}

    def think(self, role: int) -> Move:
        """Think in slices, and choose."""
        self._known = {}
        for number in range(1, SLICES + 1):
            self._let_think(self._simulations * number // SLICES)
            self._compare(self.moves())
        move = self.search.choose()
        self._check(move)
        return move

    def moves(self) -> list[RootMove]:
        """What is known of the root's moves."""
        return list(self.search.trace().moves)

    def _let_think(self, simulations: int) -> None:
        search, threads = self.search, [self.search]
        if isinstance(search, ParallelSearch):
            threads = [search._first, *search._others]
        for thread in threads:
            thread._agent = thread._agent.with_settings([f"simulations={simulations}"])
        self.search.think(time.monotonic() + GUARD, lambda: False)

    def _compare(self, moves: Sequence[RootMove]) -> None:
        for move in moves:
            low, high = self._known.get(move.move, (0, 100))
            assert move.low >= low, f"{move} was proven to bring {low} at least"
            assert move.high <= high, f"{move} was proven to bring {high} at most"
            self._known[move.move] = move.low, move.high

    def _check(self, chosen: Move) -> None:
        moves = {move.move: move for move in self.moves()}
        assert moves[chosen].high >= max(move.low for move in moves.values())
        if moves[chosen].high == 0:
            assert all(move.high == 0 for move in moves.values())
        self.proofs += sum((move.low, move.high) != (0, 100) for move in moves.values())

    def enter(self, state: bytes, joint_move: JointMove, role: int) -> None:
        """Follow a joint move: what it was proven to bring holds in the state after it."""
        low, high = self._known.get(joint_move[role], (0, 100))
        self.search.enter(state, joint_move)
        trace = self.search.trace()
        assert trace.low >= low
        assert trace.high <= high


def agent_of(**settings: object) -> Agent:
    """The default agent in a tiny tree, in large batches so that it is quick."""
    texts = [f"{name}={value}" for name, value in settings.items()]
    return find_agent("default").with_settings(["nodes=1024", "memory=16", "ramp=8", *texts])


def play(game: str, agent: Agent, seed: int, simulations: int) -> int:
    """A match of the agent against itself, watched; how many proofs were seen at roots."""
    machine = machine_of(game)
    roles = range(len(machine.roles))
    players = [
        Watched(native_search(machine.compiled, role, agent, 10 * seed + role), simulations)
        for role in roles
    ]
    state, dice = machine.initial_state, random.Random(seed)
    while not machine.is_terminal(state):
        joint = [player.think(role) for role, player in enumerate(players)]
        if dice.random() < 0.2:  # into states that the tree has not looked at much
            role = dice.choice(roles)
            joint[role] = dice.choice(machine.legal_moves(state, role))
        state = machine.next_state(state, tuple(joint))
        for role, player in enumerate(players):
            player.enter(state, tuple(joint), role)
    return sum(player.proofs for player in players)


# Decision 47
@pytest.mark.parametrize("game", GAMES)
def test_full_trees_forget_nothing(game: str) -> None:
    assert play(game, agent_of(), 1, 2000) > 0


@pytest.mark.parametrize(
    "settings",
    [
        {"in_flight": 1, "playouts": 1, "ramp": 64},
        {"threads": 2},
        {"threads": 4, "nodes": 2000},
        {"tuner": "random-values"},
        {"final": "visits", "nodes": 3000},
    ],
    ids=str,
)
def test_other_agents_forget_nothing_either(settings: dict[str, object]) -> None:
    for game in ("connectFour", "biddingTicTacToe"):
        assert play(game, agent_of(**settings), 3, 1500) > 0


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("nodes", [1024, 3000, 10_000])
def test_a_thousand_matches(game: str, nodes: int) -> None:
    for seed in range(28):
        settings = ({}, {"threads": 2}, {"tuner": "nmc"})[seed % 3]
        play(game, agent_of(nodes=nodes, **settings), seed, 2 * nodes)


def drops(columns: str) -> list[JointMove]:
    """Moves of connect four by their columns, the first by white."""
    moves = []
    for i, column in enumerate(columns):
        drop, noop = read_term(f"(drop {column})"), read_term("noop")
        moves.append((drop, noop) if i % 2 == 0 else (noop, drop))
    return moves


def test_a_move_refuted_at_once_stays_refuted_in_a_full_tree() -> None:
    search = native("connectFour", 1, nodes=SMALLEST, **find_agent("default").settings)
    machine = machine_of("connectFour")
    state, threat = machine.initial_state, drops("43516")
    for joint_move in threat:
        state = machine.next_state(state, joint_move)
    search.enter(state, threat[-1])
    lost: set[Move] = set()
    for simulations in (5_000, 50_000, 200_000):
        search._agent = search._agent.with_settings([f"simulations={simulations}"])
        search.think(time.monotonic() + GUARD, lambda: False)
        now = {move.move for move in search.root_moves() if move.high == 0}
        assert lost <= now
        lost = now
    assert search._tree.counters[RECYCLED] > 10 * SMALLEST
    assert lost
    assert search.choose() not in lost


def test_a_solved_root_that_was_recycled_is_searched_until_a_move_is_known() -> None:
    game = "connectFour"
    search = native(game, 0, nodes=SMALLEST, **find_agent("default").settings)
    machine = machine_of(game)
    state, moves = machine.initial_state, drops("435361")
    for joint_move in moves:
        state = machine.next_state(state, joint_move)
    search.enter(state, moves[-1])
    search._record["kind"] = SOLVED
    search._bounds[:] = 100  # as if its win had been proven by moves that are forgotten
    search.enter(state, moves[-1])
    assert search.is_worth_it()
    search._agent = search._agent.with_settings(["simulations=50000"])
    search.think(time.monotonic() + GUARD, lambda: False)
    assert not search.is_worth_it()
    chosen = {move.move: move for move in search.root_moves()}[search.choose()]
    assert chosen.low == 100


def test_after_very_many_recycled_nodes_the_tree_begins_anew_but_knows_what_is_proven() -> None:
    search = native("connectFour", 0, nodes=SMALLEST, simulations=3000, solver="on")
    search.think(time.monotonic() + GUARD, lambda: False)
    search._tree.counters[EVER] = 2**30 + 1
    joint_move = drops("4")[0]
    machine = machine_of("connectFour")
    search.enter(machine.next_state(machine.initial_state, joint_move), joint_move)
    assert search._tree.counters[EVER] == 0
    assert search._tree.counters[LIMIT] == 1


def test_an_edge_does_not_lead_to_what_took_the_place_of_its_node() -> None:
    search = native("connectFour", 0, nodes=SMALLEST, simulations=100)
    search.think(time.monotonic() + GUARD, lambda: False)
    tree, root = search._tree, search._root
    edge = int(statistics(tree, root)[1]["child"][0])
    node = int(follow(tree, edge))
    assert tree.nodes[node]["visits"] > 0
    for times in (1, 2**9, 2**12, 2**16):  # of these low bits an edge once had 9
        tree.nodes[node]["stamp"] += times
        assert follow(tree, edge) == NO_NODE
        tree.nodes[node]["stamp"] -= times
    assert follow(tree, edge) == node


# Decision 48
@pytest.mark.parametrize("rule", ["mean", "visits"])
def test_a_mean_of_a_handful_of_visits_does_not_count(rule: str) -> None:
    dice = random.Random(1)
    often, seldom = RootMove(("a",), 1_000_000, 600_000.0), RootMove(("b",), 5, 4.5)
    assert choose_move([often, seldom], rule, dice) == ("a",)
    enough = RootMove(("b",), int(LEAST_SHARE * 1_000_000), 9_000.0)
    assert choose_move([often, enough], "mean", dice) == ("b",)
    known = RootMove(("b",), 5, 4.5, low=100)
    assert choose_move([often, known], rule, dice) == ("b",)
    lost = RootMove(("a",), 1_000_000, 600_000.0, high=0)
    assert choose_move([lost, seldom], rule, dice) == ("b",)
