"""Config files and flags: who plays, what is wrong and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from ggp_agent.cli.tournaments import tournament
from ggp_agent.errors import TournamentError
from ggp_agent.manager.tournament import (
    Contestant,
    check_settings,
    make_plan,
    read_settings,
    resumed_plan,
)
from ggp_agent.manager.tournament.contestants import distinct
from ggp_agent.manager.tournament.results import ResultsFile
from ggp_agent.manager.tournament.settings import SETTINGS

CONFIG = """
games = ["ticTacToe", "nim"]
matches = 10
simulations = 50
sprt = [50, 55]
seed = 3

[agents.strong]
agent = "uct"
C = 0.4

[agents.remote]
url = "http://localhost:9147"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "c.toml"
    path.write_text(text)
    return path


def complaint(tmp_path: Path, text: str) -> str:
    with pytest.raises(TournamentError) as caught:
        make_plan({"directory": str(tmp_path), **read_settings(written(tmp_path, text))})
    return str(caught.value)


class TestContestants:
    @pytest.mark.parametrize(
        ("text", "name", "agent", "settings", "urls"),
        [
            ("uct", "uct", "uct", (), ()),
            ("uct:C=0.4", "uct:C=0.4", "uct", ("C=0.4",), ()),
            ("x=uct:C=0.4:VO=0", "x", "uct", ("C=0.4", "VO=0"), ()),
            ("http://h:1", "http://h:1", "", (), ("http://h:1",)),
            ("y=http://h:1,http://h:2", "y", "", (), ("http://h:1", "http://h:2")),
        ],
    )
    def test_reading(
        self, text: str, name: str, agent: str, settings: tuple[str, ...], urls: tuple[str, ...]
    ) -> None:
        contestant = Contestant.parse(text)
        assert contestant == Contestant(name, agent, settings, urls)
        assert Contestant.from_json(contestant.as_json()) == contestant

    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ("nobody", "unknown agent"),
            ("uct:C=2000", "C must be"),
            ("uct:D=1", "unknown parameter"),
            ("http://nowhere", "write http://HOST:PORT"),
            ("a b=uct", "can't be an agent's name"),
        ],
    )
    def test_what_cannot_play(self, text: str, what: str) -> None:
        with pytest.raises(TournamentError, match=what):
            Contestant.parse(text)

    def test_names_and_urls_must_differ(self) -> None:
        with pytest.raises(TournamentError, match="name uct"):
            distinct(map(Contestant.parse, ["uct", "uct"]))
        with pytest.raises(TournamentError, match="URL http://h:1"):
            distinct(map(Contestant.parse, ["a=http://h:1", "b=http://h:1"]))

    def test_budget_of_simulations(self) -> None:
        assert Contestant.parse("uct").as_agent(70).number("simulations") == 70
        assert Contestant.parse("uct:simulations=9").as_agent(70).number("simulations") == 9

    def test_who_needs_a_core_and_a_clock(self) -> None:
        uct, random = Contestant.parse("uct"), Contestant.parse("random")
        near, far = Contestant.parse("http://localhost:1"), Contestant.parse("http://example.org:1")
        assert [c.cores() for c in (uct, random, near, far)] == [1, 0, 1, 0]
        assert [c.needs_clock() for c in (uct, random, near, far)] == [True, False, True, True]
        assert not uct.needs_clock(100)


class TestFiles:
    def test_a_whole_config(self, tmp_path: Path) -> None:
        plan = make_plan({"directory": str(tmp_path), **read_settings(written(tmp_path, CONFIG))})
        assert [game.key for game in plan.games] == ["ticTacToe", "nim"]
        assert [agent.name for agent in plan.agents] == ["strong", "remote"]
        assert plan.agents[0].settings == ("C=0.4",)
        assert (plan.simulations, plan.play_clock, plan.seed) == (50, 60.0, 3)
        assert plan.sprt is not None and (plan.sprt.h0, plan.sprt.h1) == (0.5, 0.55)
        assert len(plan.fixtures) == 20

    @pytest.mark.parametrize(
        ("old", "new", "where", "what"),
        [
            ("matches", "matchs", "line 3", "unknown key 'matchs' (did you mean 'matches'?)"),
            ("matches = 10", "matches = 0", "line 3", "whole number from 1, not 0"),
            ("matches = 10", 'matches = "10"', "line 3", "'matches' must be"),
            ("[50, 55]", "[55, 50]", "line 5", "H0 < H1"),
            ("C = 0.4", "C = 40", "line 8", "C must be number in [0, 10]"),
            ("C = 0.4", "c = 0.4", "line 8", "unknown parameter 'c'"),
            ('url = "http://localhost:9147"', "", "line 12", "either 'agent' or 'url'"),
            ('agent = "uct"', 'url = "http://h:1"', "line 8", "has no 'C'"),
            ("seed = 3", "seed = ", "c.toml", "is not TOML"),
            ("seed = 3", "seed = true", "line 6", "'seed' must be"),
            ('"nim"', '"nimm"', "", "did you mean nim"),
        ],
    )
    def test_errors_say_where(
        self, tmp_path: Path, old: str, new: str, where: str, what: str
    ) -> None:
        assert old in CONFIG
        with pytest.raises(Exception) as caught:
            make_plan(read_settings(written(tmp_path, CONFIG.replace(old, new))))
        assert where in str(caught.value) and what in str(caught.value)

    def test_what_single_settings_do_not_show(self, tmp_path: Path) -> None:
        assert "--agents" in complaint(tmp_path, 'games = ["nim"]')
        assert "one agent alone" in complaint(tmp_path, 'games = ["nim"]\nagents = ["uct"]')
        three = 'games = ["nim"]\nagents = ["uct", "random", "legal"]\nsprt = [50, 60]'
        assert "two agents" in complaint(tmp_path, three)
        url = 'games = ["ticTacToe3Player"]\nagents = ["x=http://h:1", "uct"]'
        assert "name more: x=http" in complaint(tmp_path, url)

    def test_every_setting_is_a_flag(self) -> None:
        flags = {option for parameter in tournament.params for option in parameter.opts}
        assert {setting.flag for setting in SETTINGS.values()} <= flags

    def test_one_agent_may_play_games_for_one_role(self, tmp_path: Path) -> None:
        values = check_settings({"games": ["eightPuzzle"], "agents": ["uct"]}, "here")
        assert len(make_plan({**values, "directory": str(tmp_path)}).fixtures) == 100


class TestResuming:
    def test_the_plan_is_made_again_from_the_results(self, tmp_path: Path) -> None:
        plan = make_plan({"directory": str(tmp_path), **read_settings(written(tmp_path, CONFIG))})
        ResultsFile(plan.results_path, plan.header()).close()
        again = resumed_plan(tmp_path, {})
        assert again == plan
        longer = resumed_plan(tmp_path, {"matches": 20})
        assert longer.differences(plan.header()) == []
        assert set(longer.fixtures) > set(plan.fixtures)

    def test_a_seed_that_was_not_given_is_that_of_the_results(self, tmp_path: Path) -> None:
        values = check_settings({"games": ["nim"], "agents": ["uct", "random"]}, "here")
        plan = make_plan({**values, "directory": str(tmp_path)})
        ResultsFile(plan.results_path, plan.header()).close()
        assert make_plan({**values, "directory": str(tmp_path)}).seed == plan.seed

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            ({"seed": 4}, "seed was 3, now 4"),
            ({"simulations": 60}, "simulations was 50"),
            ({"games": ["nim"]}, "ticTacToe is missing"),
            ({"games": ["ticTacToe", "nim", "breakthrough"]}, "breakthrough"),
            ({"agents": (Contestant.parse("strong=uct"), Contestant.parse("random"))}, "agents"),
        ],
    )
    def test_another_tournament_is_not_mixed_in(
        self, tmp_path: Path, change: dict[str, object], what: str
    ) -> None:
        settings = {"directory": str(tmp_path), **read_settings(written(tmp_path, CONFIG))}
        header = make_plan(settings).header()
        found = make_plan({**settings, **change}).differences(header)
        assert any(what in line for line in found)
