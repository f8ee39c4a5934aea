"""Self-play: whose moves are searched with which settings, what is learnt, and what is chosen."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from ggp_agent.agents import Agent, find_agent
from ggp_agent.mind.prepared import PreparedSearch, seconds_for
from ggp_agent.mind.search_factory import make_thinker
from ggp_agent.search.blocks import statistics
from ggp_agent.search.self_play import SEARCHES, Searches, SelfPlay
from ggp_agent.search.settings import settings_row
from ggp_agent.tuning.evaluation import fit
from ggp_agent.tuning.self_play import Positions, Scores, SelfPlayGames, Size
from ggp_agent.tuning.self_play_crew import SelfPlayCrew
from ggp_agent.tuning.start_clock import (
    MATCH_SIMULATIONS,
    choose_by_self_play,
    extrapolated,
)
from tests.ggp_agent.search.positions import GUARD, machine_of

SMALL = Size(32, 16, apart=False)


def agent(*settings: str) -> Agent:
    return find_agent("default").with_settings(["memory=64", "threads=1", *settings])


def never() -> bool:
    return False


def games_of(game: str, *settings: str) -> SelfPlayGames:
    return SelfPlayGames(machine_of(game).compiled, agent(*settings), 1)


def play(games: SelfPlayGames, entrants: list[Agent], wanted: int, size: Size = SMALL) -> Scores:
    """Play until so many games have come to an end."""
    end = games.finished + wanted
    return games.play(entrants, size, time.monotonic() + GUARD, lambda: games.finished >= end)


def test_searches_side_by_side_know_nothing_of_each_other() -> None:
    machine = machine_of("ticTacToe")
    search = SelfPlay(machine.compiled, agent(), 64 * SEARCHES, 1)
    states = search.initial_states(SEARCHES)
    nodes, goals, choices = search.see(states)
    assert len(set(nodes.tolist())) == SEARCHES  # the same state, and yet as many nodes
    assert (goals == 255).all()
    assert (choices == [9, 1]).all()
    rows = np.tile(settings_row(agent()), (SEARCHES, 1))
    search.search(Searches(nodes, rows, np.zeros(SEARCHES, np.bool_), 0), 64)
    visits = search._tree.nodes["visits"][nodes]
    assert (visits == 64).all()
    tags = search._tree.states[: int(search._tree.counters[1]), -1]
    assert set(tags.tolist()) == set(range(SEARCHES))


# Decision 49
def test_a_search_has_its_own_settings() -> None:
    machine = machine_of("ticTacToe")
    search = SelfPlay(machine.compiled, agent(), 16 * 256, 1)
    nodes, _, _ = search.see(search.initial_states(16))
    rows = np.tile(settings_row(agent()), (16, 1))
    rows[8:] = settings_row(agent("T=inf", "epsilon=1"))  # the tree's moves at random, too
    search.search(Searches(nodes, rows, np.zeros(16, np.bool_), 0), 256)
    spread = [np.std(statistics(search._tree, node)[1]["visits"][:9]) for node in nodes.tolist()]
    assert min(spread[:8]) > max(spread[8:])


@pytest.mark.parametrize(
    "game", ["ticTacToe", "biddingTicTacToe", "ticTacToe3Player", "rockPaperScissors"]
)
def test_games_are_played_to_their_ends(game: str) -> None:
    games, machine = games_of(game), machine_of(game)
    scores = play(games, [agent(), agent("epsilon=0.2")], 40, SMALL._replace(apart=True))
    assert games.finished >= 40
    assert scores.games.sum() == games.finished * len(machine.roles)
    assert 0 < scores.totals.sum() <= scores.games.sum()
    states = [state.tobytes() for state in games.positions.states]
    assert machine.initial_state in states
    assert not any(machine.is_terminal(state) for state in states)


def test_the_better_entrant_scores_more() -> None:
    bad = agent("T=inf", "epsilon=1")
    # with decisive moves even bad searches draw most games of tic-tac-toe
    scores = play(games_of("ticTacToe", "decisive=off"), [agent(), bad], 150)
    assert scores.means[0] > 0.6 > 0.4 > scores.means[1]
    assert scores.games.tolist() == [scores.games[0]] * 2


def test_threads_play_games_of_their_own() -> None:
    crew = SelfPlayCrew(machine_of("ticTacToe").compiled, agent(), 1, 2)
    each = crew._all

    def have_played() -> bool:
        return min(games.finished for games in each) >= 20

    entrants = [agent(), agent("epsilon=0.2")]
    scores = crew.play(entrants, SMALL, time.monotonic() + GUARD, have_played)
    assert scores.games.sum() == 2 * sum(games.finished for games in each)
    assert crew.finished_last == sum(games.finished for games in each)
    states = [[state.tobytes() for state in games.positions.states] for games in each]
    assert [state.tobytes() for state in crew.positions.states] == states[0] + states[1]
    assert len(crew.positions.rewards) == len(crew.positions.states)
    assert states[0][: len(states[1])] != states[1][: len(states[0])]  # other seeds
    assert crew.simulations_per_second > max(games.simulations_per_second for games in each)
    assert 3 < crew.searches_per_game < 20  # those of games that go on are counted, too


def test_what_goes_wrong_in_a_thread_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> Scores:
        raise ValueError("no")

    monkeypatch.setattr(SelfPlayGames, "play", fail)
    crew = SelfPlayCrew(machine_of("ticTacToe").compiled, agent(), 1, 2)
    with pytest.raises(ValueError, match="no"):
        crew.play([agent()], SMALL, time.monotonic() + GUARD, never)


def test_positions_tell_what_a_fluent_is_worth() -> None:
    random = np.random.default_rng(1)
    bits = random.random((4000, 70)) < 0.3
    chances = 1 / (1 + np.exp(-(2.0 * bits[:, 3] - 1.0 * bits[:, 69])))
    wins = (random.random(4000) < chances).astype(float)
    padded = np.zeros((4000, 128), np.bool_)
    padded[:, :70] = bits
    words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    positions = Positions(list(words), [np.array([win, 1 - win]) for win in wins])
    found = fit(positions, 70, random)
    assert found is not None
    weights, bias = found
    assert weights[0, 3] == pytest.approx(2.0, abs=0.35)
    assert weights[0, 69] == pytest.approx(-1.0, abs=0.35)
    assert np.abs(np.delete(weights[0], [3, 69])).max() < 0.5
    assert weights[1] == pytest.approx(-weights[0], abs=0.01)
    assert bias[1] == pytest.approx(-bias[0], abs=0.01)
    few = Positions(positions.states[:900], positions.rewards[:900])
    assert fit(few, 70, random) is None


class TestChoice:
    """What is done with a start clock."""

    # Decision 50
    @pytest.mark.parametrize(
        ("games", "shares", "chosen"),
        [
            (400, (0.6, 0.7), "0.2"),  # wins more the larger the searches are
            (400, (0.8, 0.6), "0.7"),  # only wins small searches
            (7, (0.6, 0.7), "0.7"),  # which nobody can tell from so few games
            (0, (0.5, 0.5), "0.7"),
        ],
    )
    def test_what_wins_clearly_in_large_searches_is_chosen(
        self,
        monkeypatch: pytest.MonkeyPatch,
        games: int,
        shares: tuple[float, float],
        chosen: str,
    ) -> None:
        def scripted(
            self: SelfPlayGames, entrants: list[Agent], size: Size, *rest: object, **more: object
        ) -> Scores:
            share = shares[size.simulations > 64]
            good = [share if entrant["epsilon"] == 0.2 else 1 - share for entrant in entrants]
            self.simulations_per_second, self.searches_per_game = 6e7, 10.0
            self.finished_last = games
            return Scores(games * np.array(good), np.full(len(entrants), float(games)))

        monkeypatch.setattr(SelfPlayGames, "play", scripted)
        machine = machine_of("ticTacToe")
        choice = choose_by_self_play(machine.compiled, agent(), 1, time.monotonic() + 9, never)
        assert choice.report["epsilon"]["chosen"] == chosen  # type: ignore[index]
        assert str(choice.agent["epsilon"]) == chosen
        assert choice.evaluation is None  # there are no positions to learn from

    def test_who_knows_less_and_wins_small_searches_is_chosen(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sizes = []

        def scripted(
            self: SelfPlayGames, entrants: list[Agent], size: Size, *rest: object, **more: object
        ) -> Scores:
            sizes.append(size.simulations)
            self.simulations_per_second, self.searches_per_game, self.finished_last = 6e7, 10.0, 99
            good = [0.65 if entrant["epsilon"] == 1.0 else 0.45 for entrant in entrants]
            return Scores(99 * np.array(good), np.full(len(entrants), 99.0))

        monkeypatch.setattr(SelfPlayGames, "play", scripted)
        machine = machine_of("ticTacToe")
        choice = choose_by_self_play(machine.compiled, agent(), 1, time.monotonic() + 9, never)
        assert choice.agent["epsilon"] == 1.0
        assert sizes == [64]

    @pytest.mark.parametrize(("share", "chosen"), [(0.7, "0.5"), (0.45, "0.0")])
    def test_large_searches_alone_tell_whether_the_evaluation_is_backed_up(
        self, monkeypatch: pytest.MonkeyPatch, share: float, chosen: str
    ) -> None:
        asked = []

        def scripted(
            self: SelfPlayGames, entrants: list[Agent], size: Size, *rest: object, **more: object
        ) -> Scores:
            values = {entrant["minimax"] for entrant in entrants}
            asked.append((size.simulations > 64, values))
            self.simulations_per_second, self.searches_per_game, self.finished_last = 6e7, 10.0, 99
            states = np.random.default_rng(1).integers(0, 2**19, (2000, 1), np.uint64)
            self.positions = Positions(list(states), [np.array([1.0, 0.0])] * len(states))
            good = [share if entrant["minimax"] else 1 - share for entrant in entrants]
            return Scores(99 * np.array(good), np.full(len(entrants), 99.0))

        monkeypatch.setattr(SelfPlayGames, "play", scripted)
        machine = machine_of("ticTacToe")
        choice = choose_by_self_play(machine.compiled, agent(), 1, time.monotonic() + 9, never)
        assert choice.report["minimax"]["chosen"] == chosen  # type: ignore[index]
        assert str(choice.agent["minimax"]) == chosen
        assert (choice.evaluation is not None) == (chosen != "0.0")
        assert asked[1] == (True, {0.0, 0.5})

    @pytest.mark.parametrize(
        ("game", "takes_turns"),
        [("ticTacToe", True), ("connectFour", True), ("chinook", False), ("battle", False)],
    )
    def test_it_is_seen_whether_roles_take_turns(self, game: str, takes_turns: bool) -> None:
        crew = SelfPlayCrew(machine_of(game).compiled, agent(), 1, 1)
        crew.play([agent()], SMALL, time.monotonic() + GUARD, lambda: crew._all[0].searches > 50)
        assert crew.takes_turns is takes_turns

    def test_odds_are_extrapolated_as_a_line(self) -> None:
        def scores(share: float) -> Scores:
            return Scores(1e6 * np.array([1 - share, share]), np.full(2, 1e6))

        small, large = scores(0.5), scores(0.6)
        odds, error = extrapolated(small, 64, large, 64 * 8)
        slope = math.log(0.6 / 0.4) / math.log(8)
        assert odds == pytest.approx(slope * math.log(MATCH_SIMULATIONS / 64), rel=1e-3)
        assert 0 < error < 0.02
        assert extrapolated(small, 64, large, 64)[0] == pytest.approx(math.log(1.5), rel=1e-3)

    def test_without_time_everything_stays_as_it_is(self) -> None:
        machine = machine_of("ticTacToe")
        choice = choose_by_self_play(machine.compiled, agent(), 1, time.monotonic() - 1, never)
        assert choice.agent == agent()
        assert choice.evaluation is None

    def test_an_interruption_ends_it(self) -> None:
        machine = machine_of("ticTacToe")
        asked = iter([False] * 20 + [True] * 10**6)
        choice = choose_by_self_play(
            machine.compiled, agent(), 1, time.monotonic() + GUARD, lambda: next(asked)
        )
        assert choice.agent == agent()

    def test_a_match_begins_with_it(self) -> None:
        machine = machine_of("ticTacToe")
        thinker = make_thinker(machine, 0, agent("threads=1", "self_play=2.5"), 1)
        assert isinstance(thinker, PreparedSearch)
        thinker.think(time.monotonic() + 4, never)
        report = thinker.report()
        assert "epsilon" in report["self_play"]  # type: ignore[operator]
        assert "self_play" not in thinker.report()
        move = thinker.choose()
        assert move in machine.legal_moves(machine.initial_state, 0)
        joint = (move, machine.legal_moves(machine.initial_state, 1)[0])
        thinker.enter(machine.next_state(machine.initial_state, joint), joint)
        thinker.think(time.monotonic() + 0.05, never)
        assert "self_play" not in thinker.report()

    def test_a_match_that_has_begun_is_not_held_up(self) -> None:
        machine = machine_of("ticTacToe")
        thinker = make_thinker(machine, 1, agent("threads=1"), 1)
        joint = tuple(machine.legal_moves(machine.initial_state, role)[0] for role in (0, 1))
        thinker.enter(machine.next_state(machine.initial_state, joint), joint)
        thinker.think(time.monotonic() + 0.3, lambda: False)
        assert "self_play" not in thinker.report()

    def test_a_position_that_is_entered_is_searched_not_the_initial_state(self) -> None:
        machine = machine_of("ticTacToe")
        joint = tuple(machine.legal_moves(machine.initial_state, role)[0] for role in (0, 1))
        state = machine.next_state(machine.initial_state, joint)
        thinker = make_thinker(machine, 1, agent("threads=1", "self_play=3", "seconds=0.1"), 1)
        thinker.enter(state, None)
        thinker.think(time.monotonic() + 4, never)
        assert "self_play" not in thinker.report()
        assert thinker.choose() in machine.legal_moves(state, 1)

    def test_who_takes_how_much(self) -> None:
        assert seconds_for(agent()) == math.inf
        assert seconds_for(agent("seconds=0.2")) == 0.2
        assert seconds_for(agent("simulations=100")) == 0
        assert seconds_for(agent("simulations=100", "self_play=5")) == 5
        assert seconds_for(find_agent("ap")) == 0

    def test_only_agents_that_want_it_and_have_an_opponent(self) -> None:
        for game, name in (("ticTacToe", "ap"), ("eightPuzzle", "default")):
            thinker = make_thinker(machine_of(game), 0, find_agent(name), 1)
            assert not isinstance(thinker, PreparedSearch)
