"""Which matches are played: assignments, rounds, order, seeds."""

from __future__ import annotations

from collections import Counter

from ggp_agent.manager.tournament.design import (
    Fixture,
    assignments,
    line_ups,
    match_id,
    rounds_for,
    schedule,
)


def test_all_assignments_but_the_uniform_ones() -> None:
    assert assignments((0, 1), 2) == [(0, 1), (1, 0)]
    three = assignments((0, 1), 3)
    assert len(three) == 6
    assert (0, 0, 0) not in three and (1, 1, 1) not in three
    assert {seats.count(0) for seats in three} == {1, 2}


def test_more_agents_meet_in_pairs() -> None:
    assert line_ups(3, 2) == [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]
    assert all(len(set(seats)) == 2 for seats in line_ups(4, 3))
    assert len(line_ups(4, 3)) == 6 * 6


def test_a_game_for_one_role_is_played_alone() -> None:
    assert line_ups(3, 1) == [(0,), (1,), (2,)]
    assert rounds_for(10, 1) == 10


def test_whole_rounds_up_to_the_number_of_matches() -> None:
    """As in the paper: until at least 500 matches have been played."""
    assert rounds_for(500, 2) == 250
    assert rounds_for(500, 3) == 84


def test_every_assignment_comes_equally_often_round_by_round() -> None:
    fixtures = list(schedule({"two": 2, "three": 3, "one": 1}, 2, 12))
    assert len({fixture.key for fixture in fixtures}) == len(fixtures)
    counts = Counter((fixture.game, fixture.seats) for fixture in fixtures)
    assert {counts["two", s] for s in line_ups(2, 2)} == {6}
    assert {counts["three", s] for s in line_ups(2, 3)} == {2}
    assert {counts["one", s] for s in line_ups(2, 1)} == {12}
    rounds = [fixture.round for fixture in fixtures]
    assert rounds == sorted(rounds)


def test_a_longer_tournament_keeps_the_matches_it_has() -> None:
    short, long = (set(schedule({"two": 2, "three": 3}, 3, n)) for n in (12, 30))
    assert short < long
    assert {f: f.seed(1) for f in short}.items() <= {f: f.seed(1) for f in long}.items()


def test_seeds_follow_from_the_master_seed_and_the_match() -> None:
    fixtures = list(schedule({"two": 2}, 2, 100))
    seeds = [fixture.seed(5) for fixture in fixtures]
    assert len(set(seeds)) == 100
    assert seeds != [fixture.seed(6) for fixture in fixtures]
    assert all(0 <= seed < 2**32 for seed in seeds)
    assert Fixture("two", 0, (0, 1)).seed(5) == seeds[0]


def test_the_id_says_which_match_it_is() -> None:
    assert match_id("t", Fixture("a b", 2, (0, 1, 0))) == "t.a_b.0003.1-2-1"
