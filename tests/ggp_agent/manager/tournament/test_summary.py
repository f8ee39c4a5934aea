"""What results add up to, and how tables show it: small cases worked by hand."""

from __future__ import annotations

import csv
import io
import json

import pytest

from ggp_agent.errors import TournamentError
from ggp_agent.manager.tournament.blocks import block_scores
from ggp_agent.manager.tournament.design import schedule
from ggp_agent.manager.tournament.results import MatchResult
from ggp_agent.manager.tournament.summary import (
    Line,
    ratings,
    state_of_test,
    summarize,
    versus,
    warnings,
)
from ggp_agent.manager.tournament.tables import (
    Table,
    games_table,
    ratings_table,
    render,
    summary_table,
    versus_table,
)
from ggp_agent.player.search_totals import SearchTotals
from ggp_agent.statistics import mean_interval


def result(game: str, agents: str, goals: tuple[int, ...], **more: object) -> MatchResult:
    """A match of agents named by letters, one per role."""
    values = {"match": f"{game}.{agents}.{goals}", "round": 0, "seed": 1, "moves": 10, **more}
    roles = tuple(f"r{i}" for i in range(len(agents)))
    return MatchResult(game=game, roles=roles, agents=tuple(agents), goals=goals, **values)  # type: ignore[arg-type]


MATCHES = [
    result("two", "ab", (100, 0), totals=(SearchTotals(5, 1000, 8000, 2.0, 2.0), None), moves=6),
    result("two", "ba", (50, 50), totals=(None, SearchTotals(5, 500, 2000, 1.0, 1.0)), moves=8),
    result("three", "aba", (100, 100, 0), errors={"TO": (1, 0, 2), "IL": (0, 4, 0)}),
    result("three", "bba", (0, 100, 0)),
    result("alone", "a", (30,)),
    result("alone", "b", (60,)),
    result("two", "ab", (), aborted="no legal move"),
]


def line(game: str | None, agent: str, against: str | None = None) -> Line:
    (found,) = [x for x in summarize(MATCHES, against) if (x.game, x.agent) == (game, agent)]
    return found


def test_win_percentages_by_hand() -> None:
    win = line("two", "a").win
    assert win is not None and win == mean_interval([1, 0.5]).scaled(100)
    assert win.value == 75
    three = line("three", "a").win
    assert three is not None and three.value == 25  # half a point, and none
    assert line("alone", "a").win is None
    overall = line(None, "a").win
    assert overall is not None and overall.value == 50  # the games' mean; one role doesn't count


def test_goals_lengths_and_rates_by_hand() -> None:
    a = line("two", "a")
    assert (a.matches, a.goal.value, a.length) == (2, 75, 7)
    assert (a.simulations_per_second, a.nodes_per_second) == (500, pytest.approx(10000 / 3))
    assert line("two", "b").simulations_per_second is None
    assert line("three", "a").goal.value == 25  # the mean of 50 and 0
    assert line(None, "b").goal.value == pytest.approx((25 + 75 + 60) / 3)


def test_errors_are_those_of_the_agents_own_roles() -> None:
    assert line("three", "a").errors == {"TO": 3, "IL": 0, "CE": 0}
    assert line("three", "b").errors == {"TO": 0, "IL": 4, "CE": 0}


def test_only_the_matches_against_one_agent() -> None:
    matches = [*MATCHES, result("two", "ac", (0, 100)), result("two", "bc", (100, 0))]
    table = games_table(matches, "win", against="c")
    assert table.columns == ("game", "a", "b")
    assert [row[0] for row in table.rows] == ["two", "all games"]
    assert [cell.value for cell in table.rows[0][1:]] == [0, 100]  # type: ignore[union-attr]
    found = versus(matches, "a", "c")
    assert found is not None and found.value == 0
    assert versus(matches, "a", "nobody") is None


def test_ratings_rank_by_strength_and_need_opponents() -> None:
    matches = [result("two", "ab", (100, 0))] * 3 + [result("two", "bc", (100, 0))] * 3
    assert [rating.agent for rating in ratings(matches)] == ["a", "b", "c"]
    assert [row[0] for row in ratings_table(matches).rows] == ["a", "b", "c"]
    with pytest.raises(TournamentError, match="connect"):
        ratings_table([result("alone", "a", (30,))])


def test_blocks_in_the_order_of_the_schedule_whatever_came_first() -> None:
    fixtures = list(schedule({"two": 2, "alone": 1}, 2, 6))
    contested = [f for f in fixtures if f.game == "two"]
    wins = {f.key: result("two", "ab", (100, 0)) for f in contested[:2]}
    draws = {f.key: result("two", "ab", (50, 50)) for f in contested[4:]}
    assert list(block_scores(fixtures, {**draws, **wins}, "a")) == [1]
    lost = {f.key: result("two", "ba", (100, 0)) for f in contested[2:4]}
    assert list(block_scores(fixtures, {**draws, **lost, **wins}, "a")) == [1, 0, 0.5]
    aborted = {f.key: result("two", "ab", (), aborted="x") for f in contested[2:4]}
    assert list(block_scores(fixtures, {**draws, **aborted, **wins}, "a")) == [1, 0.5]


def test_the_state_of_a_sequential_test_from_a_file() -> None:
    header = {
        "name": "t",
        "games": {"two": {"roles": ["x", "y"]}},
        "agents": [{"name": "a"}, {"name": "b"}],
        "matches": 8,
        "sprt": [40, 60, 0.2, 0.2],
    }
    matches = [
        result("two", "ab", (100, 0), match=f"t.two.000{number}.{seats}")
        for number in range(1, 5)
        for seats in ("1-2", "2-1")
    ]
    state = state_of_test(header, matches)
    assert state is not None and state.verdict == "h1" and state.blocks == 4
    assert state_of_test({**header, "sprt": None}, matches) is None


def test_warnings() -> None:
    assert len(warnings(MATCHES)) == 1 and "no legal move" in warnings(MATCHES)[0]
    starved = result(
        "two", "ab", (100, 0), totals=(SearchTotals(1, 1, 1, 10.0, 5.0),), by_clock=True
    )
    assert "too loaded in 1 of 1" in warnings([starved])[0]
    assert (
        warnings([result("two", "ab", (100, 0), totals=(SearchTotals(1, 1, 1, 10.0, 5.0),))]) == []
    )
    assert "cut 3 moves" in warnings([result("two", "ab", (100, 0), cut_short=3)])[0]


class TestRendering:
    TABLE = games_table(MATCHES)

    def test_text(self) -> None:
        text = render(self.TABLE, "text", ["a note"])
        assert "75.0 [" in text and "all games" in text and text.endswith("a note\n")
        assert "…" not in render(summary_table(MATCHES), "text")

    def test_markdown(self) -> None:
        lines = render(self.TABLE, "markdown").splitlines()
        assert lines[0] == "**win %**"
        assert lines[2].split("|")[1:4] == [
            " game      ",
            "                 a ",
            "                 b ",
        ]
        assert set(lines[3]) <= set("|-:")

    def test_latex(self) -> None:
        table = Table("50 % of it", ("game", "a_b"), (("x_y", 1.5), ("z", None)))
        text = render(table, "latex")
        assert text.startswith("% 50 % of it\n\\begin{tabular}")
        assert r"x\_y" in text and r"a\_b" in text and "1.5" in text

    def test_csv(self) -> None:
        rows = list(csv.DictReader(io.StringIO(render(summary_table(MATCHES), "csv"))))
        first = rows[0]
        assert (first["game"], first["agent"], first["win%"], first["TO"]) == (
            "two",
            "a",
            "75.0",
            "0",
        )
        assert 0 < float(first["win%_low"]) < 75 < float(first["win%_high"]) < 100
        alone = next(row for row in rows if row["game"] == "alone")
        assert alone["win%"] == alone["win%_low"] == ""

    def test_json(self) -> None:
        values = json.loads(render(versus_table(MATCHES), "json", ["n"]))
        assert values["notes"] == ["n"]
        assert values["rows"][0]["agent"] == "a" and values["rows"][0]["a"] is None
        assert values["rows"][0]["b"]["value"] == 50

    @pytest.mark.parametrize("value", ["goal", "length", "simulations", "nodes", "errors"])
    def test_every_value_has_a_table(self, value: str) -> None:
        table = games_table(MATCHES, value)
        assert [row[0] for row in table.rows] == ["two", "three", "alone", "all games"]
