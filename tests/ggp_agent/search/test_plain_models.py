"""The plain search on games that are not written in GDL.

Scores without bounds and chance in every step (a video game), a puzzle whose best score nobody
knows, and cards that are hidden.
"""

from __future__ import annotations

import statistics
import time
from random import Random

import pytest

from forward_model.model import AnyModel
from ggp_agent.agents import Agent
from ggp_agent.library.playthroughs import random_game
from ggp_agent.mind.thinker import LegalThinker
from ggp_agent.parameters import Value
from ggp_agent.search.plain import PlainSearch
from ggp_agent.search.plain_tree import RewardRange
from tests.forward_model.butterflies import TICKS, Butterflies, Meadow
from tests.forward_model.kuhn_poker import (
    DEALS,
    JACK,
    KING,
    QUEEN,
    WAIT,
    Hand,
    KuhnPoker,
    OpenKuhnPoker,
)
from tests.forward_model.morpion import Morpion

GUARD = 600.0
"""Seconds that end a search which should have ended by itself."""

STRATEGIES: dict[str, dict[str, Value]] = {
    "uct": {},
    "mast": {"playout": "mast"},
    "gibbs": {"playout": "gibbs"},
    "grave": {"selection": "grave", "playout": "mast", "amaf_from": 1, "Ref": 5.0},
}


def search(model: AnyModel, role: int = 0, seed: int = 1, **settings: Value) -> PlainSearch:
    return PlainSearch(model, role, Agent("test", "", settings), seed)


def thought(plain: PlainSearch) -> PlainSearch:
    plain.think(time.monotonic() + GUARD, lambda: False)
    return plain


def result(model: AnyModel, seed: int, **settings: Value) -> float:
    """What a search gets in a game of one role; at random where it has no settings."""
    dice, state = Random(seed), model.initial_state
    plain = search(model, 0, seed, **settings)
    while not model.is_terminal(state):
        move = thought(plain).choose() if settings else dice.choice(model.legal_moves(state, 0))
        state = model.next_state(state, [move], dice)
        plain.enter(state, [move])
    return model.rewards(state)[0]


class TestVideoGame:
    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_a_search_of_some_ticks_ahead_scores_better(self, strategy: str) -> None:
        """The worst of 4 searches beats the mean of random play, which catches one in two games."""
        model, ahead = Butterflies(), {"simulations": 50, "depth": 8}
        found = [result(model, s, **ahead, **STRATEGIES[strategy]) for s in range(4)]
        at_random = [result(model, s) for s in range(40)]
        assert min(found) > statistics.mean(at_random)
        assert statistics.mean(found) > statistics.mean(at_random) + 15

    # Decision 43
    def test_the_heuristic_counts_where_the_depth_limit_ends_a_playout(self) -> None:
        """The butterfly is too far away for a catch; without a heuristic all steps cost alike."""

        class Blind(Butterflies):
            def heuristic(self, state: Meadow) -> tuple[float, ...]:
                return (state.score,)

        start = Meadow(0, (0, 0), (6, 0), 0.0)
        moves = {}
        for model in (Butterflies(), Blind()):
            plain = search(model, simulations=400, depth=3)
            plain.enter(start, None)
            moves[type(model).__name__] = thought(plain).choose()
        assert moves == {"Butterflies": "right", "Blind": "stay"}

    # Decision 43
    def test_at_the_end_of_the_game_the_heuristic_does_not_count(self) -> None:
        """One tick before the end a step towards the butterfly is worth nothing."""
        for depth in (1, 5):
            plain = search(Butterflies(), simulations=100, depth=depth, FPU=10.0)
            plain.enter(Meadow(TICKS - 1, (0, 0), (6, 0), 3.0), None)
            assert thought(plain).choose() == "stay"
            found = {move.move: move.mean for move in plain.root_moves()}
            assert found == {
                "up": 0.0,
                "down": 0.0,
                "left": 0.0,
                "right": 0.0,
                "stay": pytest.approx(1.0),
            }

    # Decision 41
    def test_means_are_normalised_by_the_scores_seen(self) -> None:
        plain = thought(search(Butterflies(), simulations=200, depth=8))
        moves = plain.root_moves()
        assert all(0 <= move.total <= move.visits for move in moves)
        assert 0.1 < sum(move.total for move in moves) / 200 < 0.9

    def test_the_report_has_moves_as_the_model_writes_them(self) -> None:
        report = thought(search(Butterflies(), simulations=20, depth=8)).report()
        moves = report["moves"]
        assert isinstance(moves, list)
        assert {move["move"] for move in moves} == {"UP", "DOWN", "LEFT", "RIGHT", "STAY"}

    def test_one_seed_is_one_search(self) -> None:
        model = Butterflies()
        found = [
            thought(search(model, 0, seed, simulations=80)).root_statistics() for seed in (3, 3, 4)
        ]
        assert found[0] == found[1] != found[2]


class TestPuzzle:
    @pytest.mark.parametrize("strategy", ["uct", pytest.param("mast", marks=pytest.mark.slow)])
    def test_more_lines_than_at_random(self, strategy: str) -> None:
        """5D: ten simulations a move find more lines than the mean of 60 random games and 8."""
        model = Morpion(disjoint=True)
        at_random = [result(model, seed) for seed in range(60)]
        assert 40 < statistics.mean(at_random) < 49
        lines = result(model, 1, simulations=10, **STRATEGIES[strategy])
        assert lines > statistics.mean(at_random) + 8
        assert lines >= 54

    @pytest.mark.slow
    def test_lines_that_touch(self) -> None:
        model = Morpion(disjoint=False)
        at_random = [result(model, seed) for seed in range(60)]
        lines = result(model, 1, simulations=10, playout="mast")
        assert lines > statistics.mean(at_random) + 10
        assert lines >= 68


class TestHiddenCards:
    """The settled questions of Kuhn poker, for three strategies; and what must not be known."""

    BET_FIRST = ("bet",)
    CHECKED_AND_BET = ("pass", "bet")

    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_each_card_is_played_as_it_should_be(self, strategy: str) -> None:
        """The best card calls, the worst gives up, whatever the other one has."""
        for deal in DEALS:
            for role, bets in ((1, self.BET_FIRST), (0, self.CHECKED_AND_BET)):
                plain = self._thought(KuhnPoker(), role, Hand(deal, bets), strategy)
                if deal[role] != QUEEN:
                    assert plain.choose() == ("bet" if deal[role] == KING else "pass")

    # Decision 42
    @pytest.mark.parametrize("strategy", STRATEGIES)
    @pytest.mark.parametrize("bets", [(), ("pass",), ("bet",), ("pass", "bet")])
    def test_the_hidden_card_changes_nothing(self, bets: tuple[str, ...], strategy: str) -> None:
        """The statistics are the same to the last bit, which they are not with open cards."""
        role, found = len(bets) % 2, {}
        for model in (KuhnPoker(), OpenKuhnPoker()):
            for hidden in (JACK, KING):
                cards = (QUEEN, hidden) if role == 0 else (hidden, QUEEN)
                plain = self._thought(model, role, Hand(cards, bets), strategy)
                found[type(model), hidden] = plain.root_statistics()
        assert found[KuhnPoker, JACK] == found[KuhnPoker, KING]
        assert found[OpenKuhnPoker, JACK] != found[OpenKuhnPoker, KING]

    def test_who_sees_the_other_card_plays_by_it(self) -> None:
        for hidden, move in ((JACK, "bet"), (KING, "pass")):
            plain = self._thought(OpenKuhnPoker(), 1, Hand((hidden, QUEEN), ("bet",)), "uct")
            assert plain.choose() == move

    def test_a_hidden_card_is_worth_its_mean(self) -> None:
        """A queen that calls a bet of all hands wins as often as it loses."""
        plain = self._thought(KuhnPoker(), 1, Hand((KING, QUEEN), ("bet",)), "uct")
        moves = {move.move: move for move in plain.root_moves()}
        assert moves["bet"].mean == pytest.approx(0.5, abs=0.1)
        assert moves["pass"].mean == 0.25  # the ante of 1 is lost, between -2 and 2

    # Decision 42
    def test_the_other_role_has_a_node_for_each_of_its_cards(self) -> None:
        """It would know the difference, and bets by its own card, not by ours."""
        plain = self._thought(KuhnPoker(), 0, Hand((QUEEN, JACK), ()), "uct")
        theirs = {
            observation[0]: {m: a.count for m, a in zip(node.moves, node.statistics, strict=True)}
            for observation, node in plain._tree.nodes[1].items()
            if isinstance(observation, tuple) and observation[1] == ("bet",)
        }
        assert set(theirs) == {JACK, KING}
        assert theirs[KING]["bet"] > theirs[KING]["pass"]
        assert theirs[JACK]["pass"] > theirs[JACK]["bet"]

    def test_a_whole_game_from_the_deal_on(self) -> None:
        """The tree is kept from move to move, by what is seen."""
        model, dice = KuhnPoker(), Random(1)
        plain, state = search(model, 0, 1, simulations=300), model.initial_state
        for joint in ((WAIT, WAIT, (KING, QUEEN)), ("pass", WAIT, WAIT), (WAIT, "bet", WAIT)):
            thought(plain)
            state = model.next_state(state, joint, dice)
            plain.enter(state, joint)
        assert plain.trace().root_visits > 0
        assert thought(plain).choose() == "bet"

    @staticmethod
    def _thought(model: AnyModel, role: int, state: Hand, strategy: str) -> PlainSearch:
        plain = search(model, role, 5, simulations=400, **STRATEGIES[strategy])
        plain.enter(state, None)
        return thought(plain)


class TestOtherPlayers:
    """What plays without searching asks the model alone, too."""

    def test_a_random_game(self) -> None:
        first, again = (list(random_game(Butterflies(), seed=1)) for _ in range(2))
        assert first == again
        assert [state.tick for state, _ in first] == list(range(TICKS + 1))
        assert first[-1][1] is None

    def test_the_first_legal_move_and_one_at_random(self) -> None:
        model = Butterflies()
        first, other = (LegalThinker(model, 0, dice) for dice in (None, Random(1)))
        for thinker in (first, other):
            thinker.enter(model.initial_state, None)
        assert first.choose() == "up"
        moves = {other.choose() for _ in range(60)}
        assert moves == set(model.legal_moves(model.initial_state, 0))


class TestRewardRange:
    def test_bounds_that_are_known_are_kept(self) -> None:
        scale = RewardRange(0.0, 1.0)
        for reward in (0.25, 0.5):
            scale.widen(reward)
            assert scale.normalise(reward) == reward
        assert scale.normalise(30.0, 100) == 30.0

    # Decision 41
    def test_a_range_grows_with_what_is_seen(self) -> None:
        scale = RewardRange(float("-inf"), float("inf"))
        assert scale.normalise(7.0) == 0.5
        scale.widen(10.0)
        assert scale.normalise(10.0) == 0.5
        scale.widen(-10.0)
        assert [scale.normalise(r) for r in (-10.0, 0.0, 5.0, 10.0)] == [0.0, 0.5, 0.75, 1.0]
        assert scale.normalise(0.0, 4) == 2.0

    def test_one_bound_may_be_known(self) -> None:
        scale = RewardRange(0.0, float("inf"))
        scale.widen(20.0)
        assert (scale.normalise(5.0), scale.normalise(20.0)) == (0.25, 1.0)
