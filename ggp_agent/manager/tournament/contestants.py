"""Who plays in a tournament: an agent with its parameters, run here, or a player behind URLs.

As text: `uct`, `uct:C=0.4:in_flight=1`, `http://host:9147`; with a name of its own in front,
`strong=uct:C=0.4`.  A player over HTTP plays one role at a time: one that is to play several roles
of a match has as many URLs, `strong=http://host:9147,http://host:9148`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from gdl.errors import GgpError
from ggp_agent.agents import Agent, find_agent
from ggp_agent.errors import TournamentError
from ggp_agent.manager.players import HttpPlayer
from ggp_agent.mind.agents import read_agent
from ggp_agent.search.parallel import threads_of

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

_NAME = re.compile(r"[A-Za-z0-9_.:,=/+-]{1,60}")
_MINDLESS = ("random", "legal")
"""The strategies that do not think."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A name for tables, and either `urls` or an agent's name and its `KEY=VALUE` settings.

    Raises `TournamentError` for what can't play.
    """

    name: str
    agent: str = ""
    settings: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what can't play."""
        if not _NAME.fullmatch(self.name):
            raise TournamentError(
                f"{self.name[:80]!r} can't be an agent's name; use up to 60 letters, digits and "
                "the signs _ . : , = / + -"
            )
        try:
            if self.urls:
                for url in self.urls:
                    HttpPlayer(url)
            else:
                find_agent(self.agent)  # a name alone
                self.as_agent()
        except GgpError as error:
            raise TournamentError(f"agent {self.name}: {error}") from error

    @classmethod
    def parse(cls, text: str) -> Contestant:
        """The contestant that a text describes (see the module)."""
        head, colon, rest = text.partition(":")
        name, equals, kind = head.rpartition("=")
        spec = kind + colon + rest
        if "://" in spec:
            return cls(name if equals else text, urls=tuple(spec.split(",")))
        agent, *settings = spec.split(":")
        return cls(name if equals else text, agent, tuple(settings))

    @classmethod
    def from_table(cls, name: str, table: Mapping[str, Any]) -> Contestant:
        """From a config file's table: `url`, or `agent` and any parameters beside it."""
        values = dict(table)
        url, agent = values.pop("url", None), values.pop("agent", None)
        if (url is None) == (agent is None):
            raise TournamentError(f"agent {name}: give it either 'agent' or 'url'")
        if url is not None:
            if values:
                raise TournamentError(f"agent {name}: a player at a URL has no '{min(values)}'")
            urls = [url] if isinstance(url, str) else url
            if not isinstance(urls, list) or not urls or not all(isinstance(u, str) for u in urls):
                raise TournamentError(f"agent {name}: 'url' must be a text or a list of texts")
            return cls(name, urls=tuple(urls))
        settings = tuple(f"{key}={value}" for key, value in values.items())
        return cls(name, str(agent), settings)

    def as_json(self) -> dict[str, Any]:
        """The contestant as a JSON object."""
        if self.urls:
            return {"name": self.name, "urls": list(self.urls)}
        return {"name": self.name, "agent": self.agent, "settings": list(self.settings)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Contestant:
        """The inverse of `as_json`."""
        urls, settings = tuple(values.get("urls", ())), tuple(values.get("settings", ()))
        return cls(values["name"], values.get("agent", ""), settings, urls)

    def agent_text(self, simulations: int = 0) -> str:
        """The agent as a text, for one that is run here; `simulations` a move or its own.

        It thinks with one thread unless it has been told otherwise.
        """
        budget = [f"simulations={simulations}"] if simulations else []
        return ":".join([self.agent, "threads=1", *budget, *self.settings])

    def as_agent(self, simulations: int = 0) -> Agent:
        """The agent of `agent_text`, under the contestant's name."""
        agent = read_agent(self.agent_text(simulations))
        return Agent(self.name, agent.summary, agent.settings)

    def cores(self) -> int:
        """How many cores of this machine it thinks with, as far as one can tell."""
        if self.urls:
            return int(any(urlsplit(url).hostname in LOCAL_HOSTS for url in self.urls))
        agent = self.as_agent()
        return 0 if agent["strategy"] in _MINDLESS else threads_of(agent)

    def needs_clock(self, simulations: int = 0) -> bool:
        """Whether the clock decides how long it thinks."""
        if self.urls:
            return True
        agent = self.as_agent(simulations)
        has_budget = agent["simulations"] or agent["seconds"]
        return agent["strategy"] not in _MINDLESS and not has_budget


def distinct(contestants: Iterable[Contestant]) -> tuple[Contestant, ...]:
    """The contestants.  Raises `TournamentError` where two have the same name or URL."""
    chosen = tuple(contestants)
    for what, all_of in (
        ("name", [contestant.name for contestant in chosen]),
        ("URL", [url for contestant in chosen for url in contestant.urls]),
    ):
        for item in all_of:
            if all_of.count(item) > 1:
                raise TournamentError(
                    f"two agents have the {what} {item}; write NAME=AGENT to tell them apart"
                )
    return chosen
