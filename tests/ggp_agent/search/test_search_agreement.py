"""The native search against its readable reference, and the reference by itself.

The two share no random numbers, so they are compared by their statistics: with one simulation in
flight and one playout a leaf, the share of visits that each root move gets, and the value of the
root, must have the same mean over many seeds.  The difference of two means is held against four
times its standard error: about one false alarm in 16,000 comparisons, and the seeds are fixed.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.rules import Term
from gdl.state_machine import State
from ggp_agent.parameters import Value
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.plain import PlainSearch
from tests.ggp_agent.search.positions import (
    GUARD,
    SEQUENTIAL,
    machine_of,
    native,
    plain,
    position,
    search_on,
)

SEEDS = 40
SIMULATIONS = 120

GAMBLE = """
; Bets on a coin, of one or nothing; the coin is chance's.  Sure money first, then a fair game.
(role random) (role gambler) (init (at 0)) (init (money 2))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
(legal random heads) (legal random tails) (legal random edge)
(legal gambler pass) (<= (legal gambler bet) (not (true (money 0))))
(<= wins (does gambler bet) (does random heads)) (<= loses (does gambler bet) (not wins))
(<= (next (money ?n)) (true (money ?m)) (succ ?m ?n) wins)
(<= (next (money ?n)) (true (money ?m)) (succ ?n ?m) loses)
(<= (next (money ?m)) (true (money ?m)) (does gambler pass))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
(<= terminal (true (at 3)))
(worth 0 0) (worth 1 20) (worth 2 40) (worth 3 60) (worth 4 80) (worth 5 100)
(<= (goal gambler ?g) (true (money ?m)) (worth ?m ?g)) (goal random 0)
"""

TTT_MIDDLE = "(control x) (mark 1 3 x) (mark 2 2 o) (mark 3 3 x) (mark 2 3 o)"
CASES = [
    ("ticTacToe", 0, TTT_MIDDLE),
    ("rockPaperScissors", 1, "(rounds 3) (points left 60) (points right 40)"),
    (
        "ticTacToe3Player",
        2,
        "(control plus) (mark 1 1 cross) (mark 2 1 cross) (mark 4 4 nought) (mark 5 4 nought) "
        "(mark 3 3 plus) " + " ".join(f"(mark {c} 2 plus)" for c in (1, 4)),
    ),
    ("nim", 0, "(control first) (heap a 1) (heap b 2) (heap c 2) (heap d 0)"),
    (GAMBLE, 1, "(at 0) (money 2)"),
]


def shares(search: NativeSearch | PlainSearch) -> NDArray[np.float64]:
    """Each root move's share of the visits, and last the mean reward."""
    _, counts, rewards = search.root_statistics()
    total = sum(counts)
    return np.array([*(count / total for count in counts), sum(rewards) / total])


def samples(
    make: type[NativeSearch] | type[PlainSearch],
    case: tuple[str, int, str],
    seeds: int = SEEDS,
    **settings: Value,
) -> NDArray[np.float64]:
    """(seeds, moves + 1) what searches with different seeds found in a position."""
    game, role, fluents = case
    state = position(game, fluents)
    found = []
    for seed in range(seeds):
        build = native if make is NativeSearch else plain
        search = build(game, role, seed, simulations=SIMULATIONS, **{**SEQUENTIAL, **settings})
        search_on(search, state)
        found.append(shares(search))
    return np.array(found)


def distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The largest difference of two columns' means, in standard errors."""
    variances = [x.var(axis=0, ddof=1) / len(x) for x in (first, second)]
    error = np.sqrt(sum(variances))
    difference = np.abs(first.mean(axis=0) - second.mean(axis=0))
    return float((difference / np.maximum(error, 1e-9)).max())


class TestAgreement:
    @pytest.mark.slow
    @pytest.mark.parametrize("case", CASES, ids=[case[0].split()[0] for case in CASES])
    def test_with_the_defaults(self, case: tuple[str, int, str]) -> None:
        assert distance(samples(NativeSearch, case), samples(PlainSearch, case)) < 4

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "settings",
        [{"C": 1.0}, {"FPU": 0.2}, {"VO": 0.3}, {"depth": 1}, {"T": 40.0}],
        ids=lambda s: next(iter(s)),
    )
    def test_with_other_parameters(self, settings: dict[str, Value]) -> None:
        """Both take the parameter, in the same way, and it makes a difference."""
        case = CASES[0]
        changed = samples(NativeSearch, case, 4 * SEEDS, **settings)
        assert distance(changed[:SEEDS], samples(PlainSearch, case, **settings)) < 4
        # the effect of FPU is 4 standard errors with SEEDS samples, of which half are below
        assert distance(changed, samples(NativeSearch, case, 4 * SEEDS)) > 4

    # Decision 20
    @pytest.mark.slow
    @pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[4]], ids=["ttt", "rps", "gamble"])
    @pytest.mark.parametrize("agent", ["sp", "ap", "gibbs"])
    def test_with_the_strategies(self, agent: str, case: tuple[str, int, str]) -> None:
        """AMAF from the first visit on, and a reference that is found in a small tree."""
        settings: dict[str, Value] = {
            "sp": {"playout": "mast"},
            "ap": {"playout": "mast", "selection": "grave", "amaf_from": 1, "Ref": 10.0},
            "gibbs": {"playout": "gibbs", "tau": 20.0},
        }[agent]
        found = samples(NativeSearch, case, **settings)
        assert distance(found, samples(PlainSearch, case, **settings)) < 4


class TestPlainSearch:
    def test_the_same_seed_gives_the_same_statistics(self) -> None:
        found = []
        for seed in (3, 3, 4):
            search = plain("ticTacToe", seed=seed, simulations=60)
            search_on(search)
            found.append(search.root_statistics())
        assert found[0] == found[1]
        assert found[0] != found[2]

    def test_counts_add_up(self) -> None:
        search = plain("ticTacToe", simulations=50)
        search_on(search)
        moves, counts, rewards = search.root_statistics()
        assert tuple(moves) == machine_of("ticTacToe").legal_moves(self.start(), 0)
        assert sum(counts) == search.report()["root_visits"] == 50
        assert all(0 <= r <= n for n, r in zip(counts, rewards, strict=True))

    def test_wins_in_one_move(self) -> None:
        fluents = "(control x) (mark 1 3 x) (mark 2 3 x) (mark 1 1 o) (mark 2 2 o)"
        search = plain("ticTacToe", simulations=150)
        search_on(search, position("ticTacToe", fluents))
        assert search.choose() == ("place", "3", "3")

    def test_keeps_its_tree_between_moves(self) -> None:
        search = plain("ticTacToe", simulations=100)
        search_on(search)
        moves, counts, _ = search.root_statistics()
        best = max(range(len(moves)), key=counts.__getitem__)
        joint_move = (moves[best], "noop")
        search.enter(machine_of("ticTacToe").next_state(self.start(), joint_move), joint_move)
        assert search.trace().simulations == 0
        assert search.trace().root_visits >= counts[best]

    def test_an_illegal_joint_move_starts_a_new_tree(self) -> None:
        """A manager that lets it happen is right."""
        search = plain("ticTacToe", simulations=20)
        search_on(search)
        search.enter(position("ticTacToe", TTT_MIDDLE), (("place", "9", "9"), "noop"))
        assert search.report()["root_visits"] == 0
        assert len(search.root_statistics()[0]) == 5

    def test_stops_at_the_deadline_and_when_interrupted(self) -> None:
        search = plain("ticTacToe")
        search.think(time.monotonic() - 1, lambda: False)
        search.think(time.monotonic() + GUARD, lambda: True)
        assert search.report()["simulations"] == 0
        assert search.choose() in machine_of("ticTacToe").legal_moves(self.start(), 0)
        deadline = time.monotonic() + 0.2
        search.think(deadline, lambda: False)
        assert time.monotonic() < deadline + 20  # a guard only

    def test_a_role_without_legal_moves_ends_the_game(self) -> None:
        stuck = """
            (role a) (role b) (init fresh) (legal a go) (<= (legal b go) (true fresh))
            (<= (next fresh) (true never)) (<= terminal (true never)) (goal a 70) (goal b 30)
        """
        for search in (plain(stuck, simulations=20), native(stuck, simulations=20)):
            search_on(search)
            _, counts, rewards = search.root_statistics()
            assert (list(counts), list(rewards)) == ([20], [pytest.approx(14)])

    @staticmethod
    def start() -> State:
        return machine_of("ticTacToe").initial_state


def test_terms_are_the_same_for_both() -> None:
    """Both name the root's moves alike, in the same order."""
    for game in ("connectFour", "rockPaperScissors"):
        found: list[list[Term]] = []
        for search in (plain(game, simulations=1), native(game, simulations=1)):
            search_on(search)
            found.append(search.root_statistics()[0])
        assert found[0] == found[1]
