"""The native search: what its tree must look like, what it finds, and when it stops."""

from __future__ import annotations

import math
import time
from itertools import product

import numpy as np
import pytest

from gdl.rules import read_term
from gdl.state_machine import Move
from ggp_agent.agents import find_agent
from ggp_agent.parameters import Value
from ggp_agent.search.memory import NO_BLOCK
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.tree import FRESH, OPEN, TERMINAL, USED
from tests.ggp_agent.search.arena import goals_against_random, play
from tests.ggp_agent.search.positions import (
    GUARD,
    SEQUENTIAL,
    agent,
    machine_of,
    native,
    nodes_of,
    position,
    root_of,
    search_on,
)

GAMES = [
    "ticTacToe",
    "connectFour",
    "breakthrough",
    "ticTacToe3Player",
    "nim",
    "rockPaperScissors",
    "eightPuzzle",
]
PARALLEL: dict[str, int] = {}
"""The defaults: many in flight."""
STRATEGIES = ["uct", "sp", "ap", "gibbs"]


def settings_of(name: str) -> dict[str, Value]:
    """The settings of an agent; `gibbs` is SP with the Gibbs measure."""
    if name == "gibbs":
        return {"playout": "gibbs"}
    return dict(find_agent(name).settings)


def report(search: NativeSearch, key: str) -> int:
    value = search.report()[key]
    assert isinstance(value, int)
    return value


class TestRepeatability:
    def test_the_same_seed_gives_the_same_tree(self) -> None:
        trees = []
        for seed in (5, 5, 6):
            search = native("connectFour", seed=seed, simulations=500, **SEQUENTIAL)
            search_on(search)
            trees.append(nodes_of(search))
        assert trees[0] == trees[1]
        assert trees[0] != trees[2]

    def test_also_over_several_moves(self) -> None:
        machine = machine_of("connectFour")
        runs = []
        for _ in range(2):
            search, state, moves = native("connectFour", simulations=200), machine.initial_state, []
            for turn in range(4):
                search_on(search)
                moves.append(search.choose())
                joint = (moves[-1], "noop") if turn % 2 == 0 else ("noop", ("drop", "1"))
                state = machine.next_state(state, joint)
                search.enter(state, joint)
            runs.append((moves, nodes_of(search)))
        assert runs[0] == runs[1]


class TestTree:
    """What holds in every tree that the search has grown, counted by hand."""

    @pytest.mark.parametrize("strategy", STRATEGIES)
    @pytest.mark.parametrize("game", GAMES)
    def test_batches(self, game: str, strategy: str) -> None:
        search = native(game, simulations=5000, **settings_of(strategy))
        search_on(search)
        nodes = nodes_of(search)
        assert report(search, "simulations") == root_of(search).visits == 5000
        assert len(nodes) <= 5001
        for node in nodes.values():
            assert node.kind in (OPEN, TERMINAL)
            assert node.visits >= 1
            for entries in node.entries:
                # several simulations of one batch may have ended in a node when it was new
                total = sum(tries for _, tries, _ in entries)
                assert total <= node.visits
                assert all(0 <= reward <= tries for _, tries, reward in entries)

    @pytest.mark.parametrize("settings", [SEQUENTIAL, PARALLEL])
    @pytest.mark.parametrize("game", GAMES)
    def test_nodes_are_what_the_rules_say(self, game: str, settings: dict[str, int]) -> None:
        """Legal moves, end and goals of every node, against the state machine."""
        machine = machine_of(game)
        search = native(game, simulations=150, **settings)
        search_on(search)
        for state, node in nodes_of(search).items():
            assert machine.is_terminal(state) == (node.kind == TERMINAL)
            if node.kind == TERMINAL:
                assert node.goals == machine.goals(state)
                continue
            for role, entries in enumerate(node.entries):
                moves = tuple(move for move, _, _ in entries)
                assert moves == machine.legal_moves(state, role)

    @pytest.mark.parametrize("game", ["rockPaperScissors", "connectFour"])
    def test_every_node_follows_from_another(self, game: str) -> None:
        machine = machine_of(game)
        search = native(game, simulations=200)
        search_on(search)
        nodes = nodes_of(search)
        reached = {machine.initial_state}
        for state, node in nodes.items():
            if node.kind == OPEN:
                for joint in product(*([m for m, _, _ in role] for role in node.entries)):
                    reached.add(machine.next_state(state, joint))
        assert set(nodes) <= reached

    def test_all_joint_moves_of_a_simultaneous_game_are_tried(self) -> None:
        machine = machine_of("rockPaperScissors")
        search = native("rockPaperScissors", simulations=2000)
        search_on(search)
        start = machine.initial_state
        moves = [machine.legal_moves(start, role) for role in (0, 1)]
        children = {machine.next_state(start, joint) for joint in product(*moves)}
        assert children <= set(nodes_of(search))

    @pytest.mark.parametrize("settings", [SEQUENTIAL, PARALLEL])
    def test_the_depth_limit_ends_simulations(self, settings: dict[str, int]) -> None:
        """Tree and playout together: the goal is the number of steps that were made."""
        for depth in (1, 2, 7, 30):
            search = native(COUNTER, simulations=300, depth=depth, **settings)
            search_on(search)
            assert search.trace().deepest <= depth
            _, counts, rewards = search.root_statistics()
            assert rewards == pytest.approx(counts * min(depth, 20) / 100)

    def test_all_moves_of_both_roles_are_tried_in_a_simultaneous_game(self) -> None:
        for role in (0, 1):
            search = native("rockPaperScissors", role, simulations=50, **SEQUENTIAL)
            search_on(search)
            moves, counts, _ = search.root_statistics()
            assert moves == [("show", hand) for hand in ("paper", "rock", "scissors")]
            assert (counts > 0).all() and counts.sum() == 50
            assert search.choose() in moves

    def test_simultaneous_play_against_a_fixed_opponent_would_win(self) -> None:
        """In a one-sided variant, in which `right` can only show rock, paper wins."""
        game = ROCK_ONLY
        for role, best in ((0, ("show", "paper")), (1, ("show", "rock"))):
            search = native(game, role, simulations=300)
            search_on(search)
            assert search.choose() == best


COUNTER = f"""
(role counter) (init (at 0)) {" ".join(f"(succ {n} {n + 1})" for n in range(20))}
(legal counter up) (legal counter on)
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
(<= (at_end ?x) (true (at ?x)) (lines ?x)) (lines 20)
(<= terminal (at_end 20))
(<= (goal counter ?x) (true (at ?x)))
"""

ROCK_ONLY = """
(role left) (role right) (init fresh)
(hand rock) (hand paper) (hand scissors)
(<= (legal left (show ?hand)) (hand ?hand)) (legal right (show rock))
(<= (next won) (does left (show paper))) (<= (next lost) (does left (show scissors)))
(<= terminal (not (true fresh)))
(<= (goal left 100) (true won)) (<= (goal left 0) (true lost))
(<= (goal left 50) (not (true won)) (not (true lost)))
(<= (goal right 0) (true won)) (<= (goal right 100) (true lost))
(<= (goal right 50) (not (true won)) (not (true lost)))
"""

TTT = "ticTacToe"
X_TO_MOVE, O_TO_MOVE = "(control x)", "(control o)"

TACTICS = [
    # x wins by the third of the lower row
    (TTT, 0, f"{X_TO_MOVE} (mark 1 3 x) (mark 2 3 x) (mark 1 1 o) (mark 2 2 o)", "(place 3 3)"),
    # o wins on the diagonal rather than block x
    (
        TTT,
        1,
        f"{O_TO_MOVE} (mark 1 3 x) (mark 2 3 x) (mark 3 2 x) (mark 1 1 o) (mark 2 2 o)",
        "(place 3 3)",
    ),
    # o must block the lower row
    (TTT, 1, f"{O_TO_MOVE} (mark 1 3 x) (mark 2 3 x) (mark 2 2 o)", "(place 3 3)"),
    # x must block the left column
    (TTT, 0, f"{X_TO_MOVE} (mark 1 1 o) (mark 1 2 o) (mark 2 2 x) (mark 3 2 x)", "(place 1 3)"),
    # red completes a column
    (
        "connectFour",
        0,
        "(control red) (disc 4 1 red) (disc 4 2 red) (disc 4 3 red) (disc 1 1 yellow) "
        "(disc 2 1 yellow) (disc 6 1 yellow)",
        "(drop 4)",
    ),
    # yellow must stop that column
    (
        "connectFour",
        1,
        "(control yellow) (disc 4 1 red) (disc 4 2 red) (disc 4 3 red) (disc 1 1 yellow) "
        "(disc 7 1 yellow)",
        "(drop 4)",
    ),
    # red must stop the row that yellow has closed on one side
    (
        "connectFour",
        0,
        "(control red) (disc 1 1 red) (disc 2 1 yellow) (disc 3 1 yellow) (disc 4 1 yellow) "
        "(disc 3 2 red) (disc 7 1 red)",
        "(drop 5)",
    ),
]


class TestTactics:
    @pytest.mark.parametrize("settings", [SEQUENTIAL, PARALLEL], ids=["sequential", "batches"])
    @pytest.mark.parametrize(("game", "role", "fluents", "move"), TACTICS)
    def test_finds_the_only_move(
        self, game: str, role: int, fluents: str, move: str, settings: dict[str, int]
    ) -> None:
        """Wins where one move wins, and stops what would lose in one."""
        state = position(game, fluents)
        for seed in range(3):
            search = native(game, role, seed, simulations=2000, **settings)
            search_on(search, state)
            assert search.choose() == read_term(move)

    def test_the_last_slide_of_a_puzzle(self) -> None:
        tiles = "".join(
            f"(tile {column} {row} {tile})"
            for column, row, tile in [
                *((1, 1, 1), (2, 1, 2), (3, 1, 3), (1, 2, 4), (2, 2, 5), (3, 2, 6)),
                *((1, 3, 7), (3, 3, 8)),
            ]
        )
        search = native("eightPuzzle", simulations=2000)
        search_on(search, position("eightPuzzle", f"{tiles} (gap 2 3) (step 38)"))
        assert search.choose() == ("slide", "8")

    def test_three_players_each_for_themselves(self) -> None:
        """The second player has two in a row and takes the third."""
        marks = "(mark 1 1 nought) (mark 2 1 nought) (mark 5 5 cross) (mark 3 5 plus)"
        search = native("ticTacToe3Player", 1, simulations=3000)
        search_on(search, position("ticTacToe3Player", f"{marks} (control nought)"))
        assert search.choose() == ("place", "3", "1")


class TestPlay:
    @pytest.mark.parametrize("role", [0, 1])
    def test_never_loses_tic_tac_toe_against_random(self, role: int) -> None:
        assert min(goals_against_random(TTT, role, 10, simulations=500)) >= 50

    def test_draws_tic_tac_toe_against_itself(self) -> None:
        for seed in range(4):
            players = [native(TTT, role, 2 * seed + role, simulations=3000) for role in (0, 1)]
            assert play(TTT, players) == (50, 50)


def take_turn(search: NativeSearch, game: str, joint_move: tuple[Move, ...]) -> None:
    """Enter the state that follows from the initial one."""
    machine = machine_of(game)
    search.enter(machine.next_state(machine.initial_state, joint_move), joint_move)


class TestBetweenMoves:
    def test_the_tree_is_kept(self) -> None:
        search = native(TTT, simulations=500)
        search_on(search)
        joint_move = (("place", "2", "2"), "noop")
        machine = machine_of(TTT)
        before = nodes_of(search)[machine.next_state(machine.initial_state, joint_move)].visits
        assert before > 0
        take_turn(search, TTT, joint_move)
        assert root_of(search).visits == report(search, "root_visits") == before
        assert report(search, "simulations") == 0
        search_on(search)
        assert root_of(search).visits == before + 500

    def test_a_state_that_was_never_reached_gets_a_new_root(self) -> None:
        search = native(TTT, simulations=1, **SEQUENTIAL)
        search_on(search)
        moves, counts, _ = search.root_statistics()
        untried = moves[int(np.argmin(counts))]
        take_turn(search, TTT, (untried, "noop"))
        assert root_of(search).visits == 0
        assert len(search.root_statistics()[0]) == 1  # x waits

    def test_a_new_game_clears_the_tree(self) -> None:
        search = native(TTT, simulations=100)
        search_on(search)
        search.enter(machine_of(TTT).initial_state, None)
        assert (search._tree.counters[USED], root_of(search).visits) == (1, 0)

    def test_the_managers_state_counts_whatever_the_joint_move_says(self) -> None:
        search = native(TTT, simulations=500)
        search_on(search)
        other = position(TTT, "(control o) (mark 3 3 x) (mark 1 1 x)")
        search.enter(other, (("place", "2", "2"), "noop"))
        assert root_of(search).visits == 0
        assert {move for move, _, _ in root_of(search).entries[1]} == set(
            machine_of(TTT).legal_moves(other, 1)
        )

    def test_nobody_moves_on_from_a_terminal_state(self) -> None:
        search = native(TTT, simulations=10)
        over = position(TTT, "(control o) (mark 1 1 x) (mark 2 1 x) (mark 3 1 x)")
        search.enter(over, None)
        assert search.is_over
        search.enter(machine_of(TTT).initial_state, (("place", "2", "2"), "noop"))
        assert not search.is_over


class TestLimits:
    # Decision 31
    @pytest.mark.parametrize("strategy", ["uct", "ap"])
    @pytest.mark.parametrize("game", ["connectFour", "rockPaperScissors", "breakthrough"])
    def test_a_full_tree_is_recycled_and_stays_sound(self, game: str, strategy: str) -> None:
        settings = settings_of(strategy)
        search = native(game, memory=16, nodes=2000, simulations=30000, **settings)
        search_on(search)
        tree = search._tree
        assert tree.counters[USED] <= 2000
        assert report(search, "simulations") == 30000
        if game != "rockPaperScissors":
            assert report(search, "recycled") > 10000
        machine = machine_of(game)
        for state, node in nodes_of(search).items():
            assert machine.is_terminal(state) == (node.kind == TERMINAL)
            for role, entries in enumerate(node.entries):
                assert tuple(m for m, _, _ in entries) == machine.legal_moves(state, role)
        assert root_of(search).visits == 30000

    def test_a_full_pool_is_recycled(self) -> None:
        """Moves and AMAF tables take all of the memory before the nodes run out."""
        search = native(
            "breakthrough", memory=16, simulations=40000, amaf_from=1, **settings_of("ap")
        )
        search_on(search)
        assert report(search, "recycled") > 1000
        assert report(search, "simulations") == 40000
        machine = machine_of("breakthrough")
        assert search.choose() in machine.legal_moves(machine.initial_state, 0)

    # Decision 31
    def test_what_the_game_has_left_behind_is_recycled_first(self) -> None:
        search = native("connectFour", memory=16, nodes=3000, simulations=2500, playouts=1)
        machine = machine_of("connectFour")
        state = machine.initial_state
        for turn in range(8):
            search_on(search)
            joint = [machine.legal_moves(state, role)[0] for role in (0, 1)]
            state = machine.next_state(state, joint)
            search.enter(state, joint)
            assert turn == 0 or report(search, "root_visits") >= 0
        search_on(search)
        assert search._tree.counters[USED] <= 3000
        assert root_of(search).visits >= 2500

    def test_a_pool_free_in_small_pieces_is_no_end_of_the_search(self) -> None:
        """AMAF tables of 449 cache lines each fill it; nodes that are visited still get theirs."""
        machine = machine_of("skirmish")
        compilation = machine.compile()
        assert compilation is not None and compilation.wait(60)
        greedy = agent(memory=32, simulations=60000, **settings_of("ap"))
        search = NativeSearch(machine.compiled, 0, greedy, 1)
        search_on(search)
        nodes = search._tree.nodes[: int(search._tree.counters[FRESH])]
        closed = nodes[(nodes["kind"] == OPEN) & (nodes["stats"] == NO_BLOCK)]
        assert report(search, "recycled") > 1000
        assert closed["visits"].max() < 20

    def test_memory_bounds_the_tree(self) -> None:
        for game in GAMES:
            tree = native(game, memory=16, selection="grave")._tree
            arrays = [item for item in (*tree, *tree.pool) if isinstance(item, np.ndarray)]
            assert 2 * 2**20 < sum(array.nbytes for array in arrays) <= 16.5 * 2**20

    def test_a_deadline_that_has_passed_ends_the_search(self) -> None:
        search = native(TTT)
        search.think(time.monotonic() - 1, lambda: False)
        assert report(search, "simulations") == 0
        assert search.choose() in machine_of(TTT).legal_moves(machine_of(TTT).initial_state, 0)

    def test_a_batch_that_was_held_up_does_not_stop_the_next_move(self) -> None:
        """The process was stopped for a while, say."""
        search = native(TTT, **SEQUENTIAL)
        search.think(time.monotonic() + 0.1, lambda: False)
        search._batch_seconds = 100.0
        take_turn(search, TTT, (("place", "2", "2"), "noop"))
        search.think(time.monotonic() + 0.5, lambda: False)
        assert report(search, "simulations") > 0

    def test_thinks_until_the_deadline(self) -> None:
        search = native(TTT, simulations=10)
        search_on(search)  # kernels are loaded
        search = native("connectFour")
        deadline = time.monotonic() + 0.3
        search.think(deadline, lambda: False)
        assert time.monotonic() < deadline + 20  # a guard only
        assert report(search, "simulations") > 0

    def test_an_interruption_ends_the_search_between_batches(self) -> None:
        search = native(TTT, **SEQUENTIAL)
        asked = 0

        def interrupted() -> bool:
            nonlocal asked
            asked += 1
            return asked > 3

        search.think(time.monotonic() + GUARD, interrupted)
        assert asked == 4
        assert report(search, "simulations") >= 3  # small batches follow one another unasked

    def test_an_interrupted_search_goes_on_later(self) -> None:
        search = native(TTT, simulations=100)
        search.think(time.monotonic() + GUARD, lambda: True)
        assert report(search, "simulations") == 0
        search_on(search)
        assert report(search, "simulations") == 100

    # Decision 26
    @pytest.mark.parametrize(
        ("settings", "expected"),
        [
            ({}, {0: 1, 64: 1, 640: 10, 8192: 256, 16384: 512, 10**6: 512}),
            ({"ramp_doubling": 0}, {640: 10, 8192: 128, 16384: 256, 10**6: 512}),
            ({"ramp": 16, "in_flight": 32}, {64: 4, 512: 32, 8192: 32}),
            ({"ramp": 0}, {0: 512}),
        ],
    )
    def test_the_more_visits_the_more_are_in_flight(
        self, settings: dict[str, float], expected: dict[int, int]
    ) -> None:
        search = native("ticTacToe", memory=16, **settings)
        for visits, count in expected.items():
            search._visits = visits
            assert search._in_flight(math.inf) == count

    def test_in_flight_and_playouts_are_obeyed(self) -> None:
        search = native("connectFour", simulations=40, in_flight=4, ramp=0, playouts=3)
        search_on(search)
        assert report(search, "simulations") == 40
        assert report(search, "playouts") == 120

    # Decision 29
    def test_several_playouts_of_a_leaf_bring_their_mean(self) -> None:
        rewards = set()
        for seed in range(20):
            search = native("connectFour", seed=seed, simulations=1, memory=16, ramp=0, playouts=4)
            search_on(search)
            _, visits, totals = search.root_statistics()
            assert (visits.sum(), report(search, "playouts")) == (1, 4)
            rewards.add(float(totals.sum()))
        assert all((8 * reward).is_integer() for reward in rewards)
        assert rewards - {0.0, 0.5, 1.0}

    def test_there_is_nothing_to_search_in_a_terminal_state(self) -> None:
        search = native(TTT)
        search_on(search, position(TTT, "(control o) (mark 1 1 x) (mark 2 1 x) (mark 3 1 x)"))
        assert report(search, "simulations") == 0


STUCK = """
; After the first step `b` has no legal move although the game goes on.
(role a) (role b) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(legal a go) (legal a stay)
(<= (legal b go) (true (at 0))) (<= (legal b stay) (true (at 0)))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
(<= terminal (true (at 3)))
(<= (goal a 100) (true (at 3))) (<= (goal b 30) (true (at 1))) (goal b 0)
"""


class TestFaultyRules:
    # Decision 24
    def test_a_role_without_legal_moves_ends_the_game_for_the_search(self) -> None:
        search = native(STUCK, simulations=500)
        search_on(search)
        assert root_of(search).kind == OPEN
        assert sorted(node.kind for node in nodes_of(search).values()) == [OPEN, TERMINAL]
        assert search.choose() in ("go", "stay")

    # Decision 24
    def test_a_move_is_still_chosen_where_the_game_goes_on(self) -> None:
        search = native(STUCK, simulations=500)
        search_on(search)
        take_turn(search, STUCK, ("go", "stay"))
        search_on(search)
        assert search.choose() in ("go", "stay")

    def test_also_where_it_is_the_first_state(self) -> None:
        search = native(STUCK, simulations=500)
        search_on(search, position(STUCK, "(at 1)"))
        assert report(search, "simulations") == 0
        assert search.choose() in ("go", "stay")
