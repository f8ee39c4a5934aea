"""A tournament before it is played: settings made complete, games found, the schedule known."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gdl.rules import RuleSheet
from gdl.state_machine import CHANCE_ROLE
from ggp_agent.agents import tuners_of
from ggp_agent.errors import TournamentError
from ggp_agent.library import games as library
from ggp_agent.manager.tournament.contestants import Contestant, distinct
from ggp_agent.manager.tournament.design import Fixture, line_ups, match_id, schedule
from ggp_agent.manager.tournament.results import has_results, read_results
from ggp_agent.manager.tournament.settings import check_settings
from ggp_agent.player.rule_sheets import stated_roles
from ggp_agent.statistics import Sprt
from ggp_agent.system.cores import cores

RESULTS = "results.jsonl"
RECORDS = "records"
ALL_GAMES = "all"

DEFAULT_MATCHES = 100
CLOCK = 1.0
GUARD_CLOCK = 60.0
"""Seconds for a move where simulations are the budget: who takes longer hangs."""

_SAVED = ("name", "start_clock", "play_clock", "scramble", "seed")
_FIXED = (*_SAVED, "agents", "simulations")
"""What stays: more matches, or another stopping rule, leave the matches that there are alone."""

_NAME = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,79}")


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """A game of the tournament; `roles` without `random` ones, as the rule sheet writes them."""

    key: str
    path: str
    text: str
    roles: tuple[str, ...]

    @property
    def url(self) -> str:
        """The address of this version of the rules, for match records."""
        return f"{Path(self.path).resolve().parent.as_uri()}/v0/"

    @property
    def digest(self) -> str:
        """A fingerprint of the rules."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that a tournament is.  `make_plan` and `resumed_plan` make one."""

    name: str
    games: tuple[PlannedGame, ...]
    agents: tuple[Contestant, ...]
    matches: int
    simulations: int
    start_clock: float
    play_clock: float
    scramble: bool
    seed: int
    cores: int
    cores_per_match: int
    directory: Path
    sprt: Sprt | None
    fixtures: tuple[Fixture, ...] = field(repr=False)

    @property
    def results_path(self) -> Path:
        """The results file."""
        return self.directory / RESULTS

    @property
    def records_path(self) -> Path:
        """The folder of the match records."""
        return self.directory / RECORDS

    @property
    def tuners(self) -> list[str]:
        """The tuners that agents run here use."""
        return tuners_of(agent.as_agent() for agent in self.agents if not agent.urls)

    def match_id(self, fixture: Fixture) -> str:
        """The id of a match, which no other match of the tournament has."""
        return match_id(self.name, fixture)

    def game(self, key: str) -> PlannedGame:
        """The game of this key."""
        return next(game for game in self.games if game.key == key)

    def header(self) -> dict[str, Any]:
        """The plan as a JSON object, from which `resumed_plan` makes it again."""
        test = self.sprt
        return {
            "name": self.name,
            "games": {
                game.key: {"path": game.path, "digest": game.digest, "roles": list(game.roles)}
                for game in self.games
            },
            "agents": [agent.as_json() for agent in self.agents],
            "matches": self.matches,
            "simulations": self.simulations,
            "start_clock": self.start_clock,
            "play_clock": self.play_clock,
            "scramble": self.scramble,
            "seed": self.seed,
            "sprt": [100 * test.h0, 100 * test.h1, test.alpha, test.beta] if test else None,
        }

    def differences(self, header: Mapping[str, Any]) -> list[str]:
        """What forbids to go on with results that have this header, one line each."""
        own = self.header()
        found = [
            f"{key} was {header.get(key)!r}, now {own[key]!r}"
            for key in _FIXED
            if header.get(key) != own[key]
        ]
        before = {key: game["digest"] for key, game in header.get("games", {}).items()}
        for key, game in own["games"].items():
            if before.pop(key, None) != game["digest"]:
                found.append(f"the rules of {key} have changed, or it was not there")
        return found + [f"the game {key} is missing" for key in before]


def make_plan(values: Mapping[str, Any]) -> Plan:
    """The plan for checked settings (`settings`); missing ones get their defaults.

    Where the folder has results already, their seed is taken unless one is given.
    Raises `TournamentError`, and `GgpError` for games that can't be found or read.
    """
    for needed in ("games", "agents"):
        if needed not in values:
            raise TournamentError(f"there are no {needed}: set '{needed}' in the config file or "
                                  f"with --{needed}")  # fmt: skip
    name = _checked_name(values.get("name", "tournament"))
    games = _games(values["games"])
    agents = distinct(values["agents"])
    simulations = values.get("simulations", 0)
    clock = GUARD_CLOCK if simulations else CLOCK
    directory = Path(values.get("directory", f"tournaments/{name}"))
    matches = values.get("matches", DEFAULT_MATCHES)
    plan = Plan(
        name=name,
        games=games,
        agents=agents,
        matches=matches,
        simulations=simulations,
        start_clock=float(values.get("start_clock", clock)),
        play_clock=float(values.get("play_clock", clock)),
        scramble=values.get("scramble", False),
        seed=values["seed"] if "seed" in values else _seed(directory),
        cores=values.get("cores", cores()),
        cores_per_match=values.get("cores_per_match", 0),
        directory=directory,
        sprt=_sprt(values),
        fixtures=tuple(schedule({g.key: len(g.roles) for g in games}, len(agents), matches)),
    )
    _check(plan)
    return plan


def resumed_plan(directory: Path, values: Mapping[str, Any]) -> Plan:
    """The plan of the tournament whose results are in this folder, with some settings changed."""
    path = directory / RESULTS
    header, _ = read_results(path)
    try:
        saved = {key: header[key] for key in (*_SAVED, "matches")}
        saved["games"] = [game["path"] for game in header["games"].values()]
        if header["simulations"]:
            saved["simulations"] = header["simulations"]
        if header["sprt"]:
            *saved["sprt"], saved["alpha"], saved["beta"] = header["sprt"]
        agents = tuple(map(Contestant.from_json, header["agents"]))
    except (KeyError, TypeError, ValueError) as error:
        raise TournamentError(f"{path}: line 1 does not describe a tournament: {error}") from error
    saved = check_settings(saved, str(path)) | {"agents": agents, "directory": str(directory)}
    return make_plan({**saved, **values})


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise TournamentError(
            f"{name!r} can't be a tournament's name; use letters, digits and _ . + -"
        )
    return name


def _games(names: list[str]) -> tuple[PlannedGame, ...]:
    found: dict[str, PlannedGame] = {}
    for name in names:
        chosen = library.games() if name == ALL_GAMES else (library.find_game(name),)
        for game in chosen:
            if game.key in found and found[game.key].path != str(game.path):
                raise TournamentError(f"two games have the key {game.key}; rename one's file")
            found[game.key] = _planned(game)
    return tuple(found.values())


def _planned(game: library.Game) -> PlannedGame:
    text = game.text()
    sheet = RuleSheet.from_text(text, str(game.path))
    roles = [sheet.write(role) for role in stated_roles(sheet) if role != CHANCE_ROLE]
    if not roles:
        raise TournamentError(
            f"{game.key} does not state its roles as facts, (role NAME); such a game can be played "
            "by `ggp-agent match` only"
        )
    return PlannedGame(game.key, str(game.path), text, tuple(roles))


def _seed(directory: Path) -> int:
    """The seed of the results that are there, or else a new one."""
    path = directory / RESULTS
    if has_results(path):
        seed = read_results(path)[0].get("seed")
        if isinstance(seed, int):
            return seed
    return secrets.randbelow(2**32)


def _sprt(values: Mapping[str, Any]) -> Sprt | None:
    if "sprt" not in values:
        return None
    h0, h1 = values["sprt"]
    return Sprt(h0 / 100, h1 / 100, values.get("alpha", 0.05), values.get("beta", 0.05))


def _check(plan: Plan) -> None:
    """What single settings don't show."""
    if not plan.fixtures:
        raise TournamentError("one agent alone can only play games for one role; name two or more")
    if plan.sprt is not None and len(plan.agents) != 2:
        raise TournamentError(f"a sequential test compares two agents, not {len(plan.agents)}")
    if plan.sprt is not None and all(len(game.roles) == 1 for game in plan.games):
        raise TournamentError("a sequential test needs a game for two roles or more")
    ids = {plan.match_id(fixture) for fixture in plan.fixtures}
    if len(ids) != len(plan.fixtures):
        raise TournamentError("two games have names that differ in special characters only")
    for game in plan.games:
        most = max(1, len(game.roles) - 1)
        for agent in plan.agents:
            if agent.urls and len(agent.urls) < most and line_ups(len(plan.agents), most):
                raise TournamentError(
                    f"{agent.name} is to play {most} roles at once in {game.key}, but has only "
                    f"{len(agent.urls)} URL; name more: {agent.name}=http://...,http://..."
                )
